package operator

import "context"

// Canary is the answer to `bot canary`: another program or config that decides in shadow.
type Canary struct {
	Program    string   `json:"program"`             // its version; empty: it has not answered yet
	Config     string   `json:"config,omitempty"`    // hash of its settings; empty: those of the bot
	Equal      int      `json:"equal"`               // commands
	Wanted     int      `json:"wanted"`              // equal commands for its promotion
	Unchecked  int      `json:"unchecked"`           // commands whose events it did not get
	Events     uint64   `json:"events"`              // that it has replayed
	Dropped    int      `json:"dropped,omitempty"`   // parts of the records that it did not get: it did not keep up
	Difference string   `json:"different,omitempty"` // the first command that differs
	Ended      string   `json:"ended,omitempty"`     // why it has ended, where no command differs
	Decided    string   `json:"decided,omitempty"`   // accepted or refused
	Notes      []string `json:"notes"`               // what it could not check
}

// What a person decides about a canary: Request.As.
const (
	CanaryAccept = "accept"
	CanaryRefuse = "refuse"
)

// AskCanary asks a running bot how far its canary is. decide is what a person decides about it;
// empty: nothing.
func AskCanary(ctx context.Context, folder, decide, reason string) (*Canary, error) {
	c := &Canary{}
	_, err := Call(ctx, folder, PathCanary, &Request{As: decide, Reason: reason}, AnswerTimeout, c)
	return c, err
}
