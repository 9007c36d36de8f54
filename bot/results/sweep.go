package results

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/report"
	"github.com/tidemark-trading/tidemark/view"
)

// maxSweep is the size of the largest file of a sweep that is read: about 30,000 sets of three
// years.
const maxSweep = 256 << 20

// Searched is a sweep whole, as far as its file tells: the answer of /api/v1/sweep.
type Searched struct {
	Sweep
	// Outcome has the best sets, the map and the verdict; the verdict of a sweep that runs is that
	// of the sets so far. SPA and PBO are missing: bot sweep computes them. null: there is none.
	Outcome *research.Outcome `json:"outcome"`
	// Around are the means of the objective over the neighbours of the best sets in the grid, in
	// the order of Outcome.Top: a best set whose neighbours are much worse stands alone.
	Around  []Neighbours `json:"around"`
	Missing string       `json:"missing,omitempty"` // why there is no outcome
	// Objective is the figure by which the sets are ranked; Pairs are the maps that can be drawn.
	Objective string   `json:"objective"`
	Pairs     []string `json:"pairs"`

	page *report.Sweep
}

// Neighbours are the sets one step away from a set, along one parameter each.
type Neighbours struct {
	Mean backtest.Figure `json:"mean"` // of the objective; null: none of them ran
	Sets int             `json:"sets"`
}

// searched is a document that is kept: reading a sweep takes long.
type searched struct {
	name, objective string
	size            int64
	changedMS       int64
	found           *Searched
}

const (
	maxSearched = 3    // documents that are kept
	maxFormula  = 1000 // letters of an objective
)

// Objectives are the figures by which a sweep can be ranked.
func Objectives() []string {
	return []string{"sharpe", "sortino", "calmar", "return", "profit_factor", "expectancy"}
}

// Sweep reads a sweep, and ranks its sets by an objective; empty: that of the sweep, or sharpe.
func (s *Folder) Sweep(name, objective string) (*Searched, error) {
	head, err := s.head(name)
	if err != nil {
		return nil, err
	}
	if objective == "" {
		objective = head.objective()
	} else if !slices.Contains(Objectives(), objective) && objective != head.objective() {
		return nil, WrongError{fmt.Sprintf("objective: want one of %v", Objectives())}
	}
	if head.kept == nil {
		return &Searched{Sweep: head.now, Missing: "the file of a sweep has sets; this is none", Around: []Neighbours{},
			Pairs: []string{}}, nil
	}
	s.search.Lock()
	defer s.search.Unlock()
	at := slices.IndexFunc(s.latest, func(o searched) bool {
		return o.name == name && o.objective == objective && o.size == head.now.Bytes &&
			o.changedMS == head.now.ChangedMS
	})
	if at >= 0 {
		known := *s.latest[at].found
		known.Sweep = head.now
		return &known, nil
	}
	found := &Searched{Sweep: head.now, Around: []Neighbours{}, Pairs: []string{}, Objective: objective}
	if err := s.rank(found); err != nil {
		found.Missing = plain(err)
	}
	s.latest = slices.DeleteFunc(s.latest, func(o searched) bool { return o.name == name && o.objective == objective })
	s.latest = append(s.latest, searched{name, objective, head.now.Bytes, head.now.ChangedMS, found})
	s.latest = s.latest[max(len(s.latest)-maxSearched, 0):]
	return found, nil
}

// head is a sweep's file, as one look has found it.
type head struct {
	now  Sweep
	kept *research.Kept // nil: it is no sweep, or cannot be read
}

// objective is the figure by which the sweep chose, or the Sharpe ratio.
func (h *head) objective() string {
	if h.kept != nil && h.kept.Identity.Objective != "" && len(h.kept.Identity.Objective) <= maxFormula {
		return h.kept.Identity.Objective
	}
	return "sharpe"
}

func (s *Folder) head(name string) (head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, err := s.look()
	if err != nil {
		return head{}, err
	}
	w, known := s.sweeps[name]
	if !known {
		return head{}, notFound("there is no search %q in %s", name, s.Folder)
	}
	return head{w.value.at(s.Now(), seen), w.value.kept}, nil
}

// rank reads the sets of a sweep, ranks them and judges the best.
func (s *Folder) rank(found *Searched) error {
	objective, err := research.Objective(found.Objective)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(s.Folder)
	if err != nil {
		return fmt.Errorf("read the folder of results: %w", err)
	}
	defer root.Close()
	on, info, err := openFile(root, found.Name)
	if err != nil {
		return err
	}
	defer on.Close()
	if info.Size() > maxSweep {
		return fmt.Errorf("the file has %d MB, and a page reads at most %d; the same bot sweep command shows its "+
			"outcome", info.Size()>>20, maxSweep>>20)
	}
	kept, err := research.Glance(on, nil)
	if err != nil {
		return err
	}
	tries, err := kept.Found(objective)
	if err != nil {
		return err
	}
	if len(tries.Tries) == 0 {
		return errors.New("no set has run over the whole range yet")
	}
	o, err := tries.Outcome()
	if err != nil {
		return err
	}
	o.File = found.Name
	found.Outcome, found.page = o, &report.Sweep{Title: found.Name, Found: tries, Outcome: o, Space: kept.Space}
	found.Pairs = found.page.Pairs()
	means, counts := tries.Around(tries.Tries[:len(o.Top)]...)
	for i := range means {
		found.Around = append(found.Around, Neighbours{backtest.Figure(means[i]), counts[i]})
	}
	return nil
}

// Map is the picture of the objective over a pair of parameters; empty: the first pair.
func (f *Searched) Map(pair string) (view.Figure, bool) {
	if f.page == nil {
		return view.Figure{}, false
	}
	return f.page.Map(pair)
}

// Strands is the picture of all parameters at once.
func (f *Searched) Strands() (view.Figure, bool) {
	if f.page == nil {
		return view.Figure{}, false
	}
	return f.page.Strands()
}
