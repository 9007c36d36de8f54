package operator

import (
	"context"
	"errors"
	"time"
)

// Reload is the answer to a reload: what has changed, or with a check, what would.
type Reload struct {
	Done       bool     `json:"done"`       // the settings hold now; false: nothing has changed, or it was a check
	Check      bool     `json:"check"`      // nothing was to be applied
	Changed    []string `json:"changed"`    // a line for each setting, without secrets
	Strategies []string `json:"strategies"` // that were warmed up with other parameters
	// WarmedUpToMS is the time up to which they saw candles before they took over; 0: there are
	// none.
	WarmedUpToMS int64  `json:"warmed_up_to_ms,omitempty"`
	Cancelled    int    `json:"cancelled"`   // resting entries of these strategies, whose cancels are sent
	ConfigHash   string `json:"config_hash"` // of the settings that decide what is traded
}

// AskReload asks the running bot of a folder to take over the settings that its config has now.
func AskReload(ctx context.Context, dir string, ask *Request) (Answer[Reload], error) {
	answer := Answer[Reload]{Value: &Reload{}}
	raw, err := Call(ctx, dir, PathReload, ask, time.Duration(ask.WaitMS)*time.Millisecond+AnswerTimeout, answer.Value)
	answer.Raw = raw
	if errors.Is(err, ErrNoBot) {
		err = explainNoBot(ctx, dir, err)
	}
	return answer, err
}
