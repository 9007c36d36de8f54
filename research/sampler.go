package research

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/strategy"
)

// Method is a way to choose the sets that are tried.
type Method string

// The methods. All but the grid are drawn from the seed.
const (
	Grid    Method = "grid"    // every set
	Random  Method = "random"  // sets at random, none twice
	Sobol   Method = "sobol"   // spread evenly: a scrambled Sobol sequence
	Halving Method = "halving" // many sets on the first part of the data, the best third of them on a longer part …
	CMAES   Method = "cma-es"  // a population that moves to where the objective is higher
)

// Methods lists the methods.
func Methods() []Method { return []Method{Grid, Random, Sobol, Halving, CMAES} }

// Check returns an error for a word that is no method.
func (m Method) Check() error {
	words := make([]string, len(Methods()))
	for i, one := range Methods() {
		if words[i] = string(one); one == m {
			return nil
		}
	}
	return fmt.Errorf("%q is no method; want one of %s; the nearest is %q", string(m), strings.Join(words, ", "),
		strategy.Nearest(string(m), words))
}

// Adaptive reports whether results decide which sets are tried next.
func (m Method) Adaptive() bool { return m == Halving || m == CMAES }

// usualSets is how many sets a method other than the grid tries, unless told.
const usualSets = 1000

// maxGrid is the largest grid. The sets to try are a list in memory.
const maxGrid = 20_000_000

// trial is a set that is to run. With a rung it runs on a part of the data only.
type trial struct {
	set  uint64
	rung uint8 // the number of rungs that come after it; 0: the whole range
}

// sampler chooses trials, batch after batch.
type sampler interface {
	// next returns the next batch, none at the end. values are the objectives of the batch before,
	// by its places; NaN: undefined.
	next(values []float64) ([]trial, error)
}

// chooser knows which sets are allowed, and counts those that are not.
type chooser struct {
	space    *Space
	look     func([]Setting) (dataset string, err error)
	warmup   func([]Setting) (key string, err error) // nil: see Job
	datasets []string                                // by dataset's number
	number   map[string]uint32
	dataset  map[uint64]uint32 // of allowed sets; noDataset: left out
	waits    map[wait]uint64   // the first set of each
	leftOut  int
	why      string // of the first that was left out
}

const noDataset = math.MaxUint32

// wait is the warm-up of a dataset's sets.
type wait struct {
	dataset uint32
	key     string
}

// allowed reports whether a set can run.
func (c *chooser) allowed(set uint64) (bool, error) {
	if dataset, seen := c.dataset[set]; seen {
		return dataset != noDataset, nil
	}
	settings := c.space.Settings(set)
	name, err := c.look(settings)
	var refusal strategy.InvalidError
	switch {
	case errors.As(err, &refusal):
		if c.leftOut++; c.leftOut == 1 {
			c.why = fmt.Sprintf("%s (%v)", SettingsText(settings), refusal)
		}
		c.dataset[set] = noDataset
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", SettingsText(settings), err)
	}
	dataset, known := c.number[name]
	if !known {
		dataset = uint32(len(c.datasets))
		c.datasets, c.number[name] = append(c.datasets, name), dataset
	}
	c.dataset[set] = dataset
	return true, c.wait(dataset, set, settings)
}

// wait keeps the first set of each warm-up.
func (c *chooser) wait(dataset uint32, set uint64, settings []Setting) error {
	if c.warmup == nil {
		return nil
	}
	key, err := c.warmup(settings)
	if err != nil {
		return fmt.Errorf("%s: %w", SettingsText(settings), err)
	}
	if _, seen := c.waits[wait{dataset, key}]; !seen {
		c.waits[wait{dataset, key}] = set
	}
	return nil
}

// newSampler makes the sampler of a method. sets is how many to try; 0: the usual.
func newSampler(m Method, c *chooser, sets int, seed uint64) (sampler, error) {
	if m == Grid && sets != 0 {
		return nil, fmt.Errorf("a grid tries all sets of the space; for %d of them choose random or sobol", sets)
	}
	if sets == 0 {
		sets = usualSets
	}
	switch m {
	case Grid:
		return &once{func() ([]uint64, error) { return c.all() }}, nil
	case Random:
		return &once{func() ([]uint64, error) { return c.draw(newRandom(seed, streamRandom).next, sets) }}, nil
	case Sobol:
		return &once{func() ([]uint64, error) { return c.spread(sets, seed) }}, nil
	case Halving:
		return &halving{choose: func() ([]uint64, error) { return c.spread(sets, seed) }}, nil
	case CMAES:
		return newCMAES(c, sets, seed)
	}
	return nil, m.Check()
}

// once is a sampler of one batch.
type once struct{ choose func() ([]uint64, error) }

func (o *once) next([]float64) ([]trial, error) {
	if o.choose == nil {
		return nil, nil
	}
	sets, err := o.choose()
	o.choose = nil
	return trials(sets, 0), err
}

func trials(sets []uint64, rung uint8) []trial {
	list := make([]trial, len(sets))
	for i := range sets {
		list[i] = trial{sets[i], rung}
	}
	return list
}

// all are the allowed sets of the space.
func (c *chooser) all() (sets []uint64, err error) {
	if c.space.size > maxGrid {
		return nil, fmt.Errorf("a grid of %d sets is more than %d; use --method random or sobol, or larger steps",
			c.space.size, maxGrid)
	}
	for set := range c.space.size {
		ok, err := c.allowed(set)
		if err != nil {
			return nil, err
		}
		if ok {
			sets = append(sets, set)
		}
	}
	return sets, nil
}

// draw takes n different allowed sets from a source, or fewer if the source gives hardly any new
// ones. A space of n sets or fewer is taken whole.
func (c *chooser) draw(next func(space *Space) uint64, n int) (sets []uint64, err error) {
	if c.space.size <= uint64(n) {
		return c.all()
	}
	taken := make(map[uint64]bool, n)
	for idle := 0; len(sets) < n && idle < 100*n+10_000; idle++ {
		set := next(c.space)
		if taken[set] {
			continue
		}
		taken[set] = true
		ok, err := c.allowed(set)
		if err != nil {
			return nil, err
		}
		if ok {
			sets, idle = append(sets, set), 0
		}
	}
	return sets, nil
}

// spread are allowed sets that fill the space evenly.
func (c *chooser) spread(n int, seed uint64) ([]uint64, error) {
	sequence, err := newSobol(len(c.space.dims), seed)
	if err != nil {
		return nil, err
	}
	return c.draw(sequence.next, n)
}

// halving is successive halving, by thirds: all sets on the shortest part of the data, the best
// third of them on a part three times as long, and so on until the whole.
type halving struct {
	choose func() ([]uint64, error)
	batch  []trial
}

const (
	halvingPart  = 3  // each rung keeps a third of its sets, and runs on three times the data
	halvingLeast = 10 // the last rung has so many sets, where there are enough at first
	halvingRungs = 4  // at most: the first rung runs on a 27th of the data
)

// rungs is the number of rungs for so many sets.
func rungs(sets int) (n uint8) {
	for n = 1; n < halvingRungs && sets/halvingPart >= halvingLeast; n++ {
		sets /= halvingPart
	}
	return n
}

func (h *halving) next(values []float64) ([]trial, error) {
	if h.batch == nil {
		sets, err := h.choose()
		if err != nil || len(sets) == 0 {
			return nil, err
		}
		h.batch = trials(sets, rungs(len(sets))-1)
		return h.batch, nil
	}
	rung := h.batch[0].rung
	if rung == 0 {
		return nil, nil
	}
	order := ranked(values)
	keep := order[:max(len(order)/halvingPart, 1)]
	slices.Sort(keep) // in the order in which they came
	batch := make([]trial, len(keep))
	for i, at := range keep {
		batch[i] = trial{h.batch[at].set, rung - 1}
	}
	h.batch = batch
	return batch, nil
}

// ranked are the places of values, the best first; undefined ones last, and of equal ones the
// earlier.
func ranked(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return better(values[a], values[b]) })
	return order
}

// better orders two objectives: -1 where a is the better one.
func better(a, b float64) int {
	switch {
	case a == b || math.IsNaN(a) && math.IsNaN(b):
		return 0
	case a > b || math.IsNaN(b):
		return -1
	}
	return 1
}
