package results

import (
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
	"github.com/tidemark-trading/tidemark/research/placebo"
)

// The kinds of searches.
const (
	SweepKind   = "sweep"
	PlaceboKind = "placebo"
	StressKind  = "stress"     // its page alone
	CompareKind = "comparison" // its page alone
)

// The states of a search.
const (
	Running  = "running"  // its file has grown within the last minute
	Finished = "finished" // its page has been written, or all sets are there
	Stopped  = "stopped"  // the same command goes on with it
)

// Sweep is a search in the list: the file of a sweep or a placebo; or a page of a search
// that keeps no file.
type Sweep struct {
	Name      string `json:"name"` // its file below the folder of results
	Kind      string `json:"kind"` // sweep, placebo, walk-forward, stress or comparison
	ChangedMS int64  `json:"changed_ms"`
	Bytes     int64  `json:"bytes"`
	Error     string `json:"error,omitempty"` // why it cannot be read
	State     string `json:"state"`           // running, finished or stopped

	Method string   `json:"method,omitempty"`
	Space  []string `json:"space"` // KEY=VALUES of each dimension, or the procedure of a placebo
	Seed   uint64   `json:"seed,omitempty"`
	Code   string   `json:"code_version,omitempty"`
	Data   string   `json:"data_hash,omitempty"`

	Done  int `json:"done"` // sets over the whole range; of a placebo: surrogates
	Parts int `json:"done_on_parts,omitempty"`
	// Total is the number of sets to try; AtMost: it may be less, because the file does not tell
	// what the parameters' own rules leave out. 0: not known.
	Total  int  `json:"total,omitempty"`
	AtMost bool `json:"at_most,omitempty"`
	// Rate is the sets a second since this program began to look, while the search runs; LeftS is
	// the time until Total at this rate, in seconds. null: not known.
	Rate  backtest.Figure `json:"sets_a_second"`
	LeftS backtest.Figure `json:"seconds_left"`
	// Machines says that workers run its sets (bot sweep --listen, or --nats); Workers are those
	// that have joined since the coordinator began, by name.
	Machines bool              `json:"machines,omitempty"`
	Workers  []machines.Worker `json:"workers,omitempty"`
	Page     string            `json:"page,omitempty"` // the page that the search has written, by its path
}

// Sweeps is the list of searches: the answer of /api/v1/sweeps, the newest first.
type Sweeps struct {
	Standing
	Sweeps []Sweep `json:"sweeps"`
}

// watched is a search's file over several looks.
type watched struct {
	sweep Sweep
	kept  *research.Kept // nil: no sweep, or it cannot be read
	steps []step         // by time
}

// step is how far a search was at a time.
type step struct {
	at   time.Time
	done int
}

const (
	liveFor  = time.Minute     // a search whose file has not grown for so long does not run
	rateOver = 5 * time.Minute // the rate is that of so long a time
	maxSteps = 300
)

// read looks at a file that is new or has changed.
func (w watched) read(root *os.Root, p place, now time.Time) watched {
	next := watched{sweep: Sweep{Name: p.path, Kind: SweepKind, ChangedMS: p.changed.UnixMilli(), Bytes: p.size,
		Space: []string{}}, steps: w.steps}
	var err error
	if strings.HasSuffix(p.path, ".placebo") {
		err = next.placebo(root, p)
	} else {
		err = next.glance(root, p, w.kept)
	}
	if err != nil {
		next.sweep.Error = plain(err)
		return next
	}
	next.steps = append(next.steps, step{now, next.sweep.Done + next.sweep.Parts})
	next.steps = slices.DeleteFunc(next.steps, func(s step) bool { return now.Sub(s.at) > rateOver })
	next.steps = next.steps[max(len(next.steps)-maxSteps, 0):]
	return next
}

// glance counts the sets of a sweep.
func (w *watched) glance(root *os.Root, p place, before *research.Kept) error {
	on, _, err := openFile(root, p.path)
	if err != nil {
		return err
	}
	defer on.Close()
	if w.kept, err = research.Glance(on, before); err != nil {
		return err
	}
	s, id := &w.sweep, &w.kept.Identity
	s.Method, s.Space, s.Seed, s.Code, s.Data = string(id.Method), id.Space, id.Seed, id.Code, id.Data
	s.Done, s.Parts = w.kept.Sets, w.kept.Parts
	s.Total, s.AtMost = w.kept.Total()
	return nil
}

// maxPlacebo is the size of the largest file of a placebo: a line has about 40 bytes.
const maxPlacebo = 8 << 20

// placebo counts the surrogates of a placebo.
func (w *watched) placebo(root *os.Root, p place) error {
	w.sweep.Kind = PlaceboKind
	content, err := readFile(root, p.path, maxPlacebo)
	if err != nil {
		return err
	}
	id, thetas, err := placebo.Glance(content)
	if err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	s := &w.sweep
	s.Space, s.Seed, s.Code, s.Data, s.Done = append(s.Space, id.Procedure...), id.Rules.Seed, id.Code, id.Data,
		len(thetas)
	return nil
}

// at is the search as it stands at a time.
func (w *watched) at(now time.Time, seen *seen) Sweep {
	s := w.sweep
	none := backtest.Figure(math.NaN())
	s.Rate, s.LeftS = none, none
	page, written := seen.files[pageOf(s.Name)]
	if written {
		s.Page = page.path
	}
	changed := time.UnixMilli(s.ChangedMS)
	switch {
	case written && !page.changed.Before(changed), s.Total > 0 && s.Done >= s.Total:
		s.State = Finished
	case now.Sub(changed) < liveFor:
		s.State = Running
	default:
		s.State = Stopped
	}
	if s.State != Finished {
		s.Workers, s.Machines = seen.crews[s.Name]
	}
	if first, last := w.span(); s.State == Running && last.done > first.done {
		s.Rate = backtest.Figure(float64(last.done-first.done) / last.at.Sub(first.at).Seconds())
		if s.Total > s.Done {
			s.LeftS = backtest.Figure(float64(s.Total-s.Done) / float64(s.Rate))
		}
	}
	return s
}

// span are the first and the last step that are known.
func (w *watched) span() (first, last step) {
	if len(w.steps) == 0 {
		return first, last
	}
	return w.steps[0], w.steps[len(w.steps)-1]
}

// Sweeps lists the searches: files of sweeps and placebos, walk-forwards, and pages of others.
func (s *Folder) Sweeps() (*Sweeps, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, err := s.look()
	if err != nil {
		return nil, err
	}
	list := &Sweeps{Standing: seen.Standing, Sweeps: []Sweep{}}
	for _, p := range seen.sweeps {
		w := s.sweeps[p.path].value
		list.Sweeps = append(list.Sweeps, w.at(s.Now(), seen))
	}
	for _, p := range seen.results {
		if e := s.entries[p.path].value; e.Kind == WalkForward {
			list.Sweeps = append(list.Sweeps, paged(WalkForward, p, path.Join(p.path, "walkforward.html")))
		}
	}
	for _, p := range seen.pages {
		kind := StressKind
		if strings.HasPrefix(path.Base(p.path), "compare") {
			kind = CompareKind
		}
		list.Sweeps = append(list.Sweeps, paged(kind, p, p.path))
	}
	slices.SortStableFunc(list.Sweeps, func(a, b Sweep) int { return int(b.ChangedMS - a.ChangedMS) })
	return list, nil
}

// paged is a search of which there is a page alone.
func paged(kind string, p place, page string) Sweep {
	none := backtest.Figure(math.NaN())
	return Sweep{Name: p.path, Kind: kind, ChangedMS: p.changed.UnixMilli(), Bytes: p.size, State: Finished,
		Space: []string{}, Rate: none, LeftS: none, Page: page}
}
