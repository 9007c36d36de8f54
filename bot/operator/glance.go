package operator

import (
	"errors"
	"path/filepath"

	"github.com/tidemark-trading/tidemark/state/journal"
)

// Glance is status, positions and limits of a bot at one moment: what a dashboard asks for again
// and again.
type Glance struct {
	Status    *Status    `json:"status"`
	Positions *Positions `json:"positions"`
	Risk      *Risk      `json:"risk"`
}

// AskGlance asks for a glance. A running bot takes one look at its loop for it.
func AskGlance() Question[Glance] {
	return Question[Glance]{path: PathGlance, read: func(store *journal.Store) (*Glance, error) {
		g, err := &Glance{}, error(nil)
		if g.Status, err = StoppedStatus(store, filepath.Dir(store.Path())); err != nil {
			return nil, err
		}
		var failed error
		g.Positions, err = StoppedPositions(store)
		g.Risk, failed = StoppedRisk(store)
		return g, errors.Join(err, failed)
	}}
}
