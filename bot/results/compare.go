package results

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/research/compare"
)

// MaxCompared is the number of results that a page compares.
const MaxCompared = 5

// maxDays is the most daily returns of a result that is compared: they are drawn again 4,999 times.
const maxDays = 40_000

// Compare holds results against each other: the answer of /api/v1/compare, as bot compare --json
// has it.
func (s *Folder) Compare(names ...string) (*compare.Comparison, error) {
	if len(names) < 2 || len(names) > MaxCompared {
		return nil, WrongError{fmt.Sprintf("%d results: choose 2 to %d", len(names), MaxCompared)}
	}
	runs := make([]*compare.Run, len(names))
	for i, name := range names {
		var err error
		if runs[i], err = s.run(name); err != nil {
			return nil, err
		}
		if n := len(runs[i].Days); n > maxDays {
			return nil, WrongError{fmt.Sprintf("%s has %d daily returns, and a page compares at most %d", name, n,
				maxDays)}
		}
	}
	o, err := compare.Compare(runs)
	if err != nil {
		return nil, WrongError{err.Error()}
	}
	return o, nil
}
