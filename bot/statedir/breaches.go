package statedir

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// breachesVersion is the version of the blob of breaches.
const breachesVersion = 1

// savedBreaches are the answers in the state file that broke a rule.
type savedBreaches struct {
	Breaches []live.Breach `json:"breaches"`
}

// AppendBreaches appends the saved form that ReadBreaches reads.
func AppendBreaches(dst []byte, all []live.Breach) ([]byte, error) {
	return market.AppendSaved(dst, breachesVersion, &savedBreaches{all})
}

// ReadBreaches reads the breaches of the last run.
func ReadBreaches(store *journal.Store) ([]live.Breach, error) {
	text, err := store.Blob(BreachesBlob)
	if err != nil || text == nil {
		return nil, err
	}
	var kept savedBreaches
	if err := market.ParseSaved(text, breachesVersion, &kept); err != nil {
		return nil, fmt.Errorf("breaches in the state file: %w", err)
	}
	return kept.Breaches, nil
}
