package sandbox

// Fault is a fault on demand.
type Fault struct{}
