// Package timer keeps the timers that strategies set, until they ring. Engine.Step calls Set.
// Start at Set.Add.
package timer
