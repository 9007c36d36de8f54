package stress

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidemark-trading/tidemark/backtest"
)

// maxGroup is the largest number of plans that run together: more do not fit into the processor's
// caches.
const maxGroup = 24

// groups cuts the cases into groups whose plans read the same candles. The cut changes no result.
func (s *stressed) groups() (groups [][]int) {
	type key struct {
		kind   kind
		level  int
		number int
	}
	by, order := map[key][]int{}, []key{}
	for i := range s.cases {
		c, k := &s.cases[i], key{kind: kinds}
		if c.change.alone {
			k = key{c.kind, c.level, c.number}
		}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], i)
	}
	for _, k := range order {
		list := by[k]
		parts := max((len(list)+maxGroup-1)/maxGroup, min(4*s.job.Workers, (len(list)+3)/4))
		for part := range parts {
			var group []int
			for i := part; i < len(list); i += parts {
				group = append(group, list[i])
			}
			groups = append(groups, group)
		}
	}
	return groups
}

// runCases runs all cases on all workers. Groups are taken in their order, so the first one with an
// error is the same whatever the number of workers.
func (s *stressed) runCases(ctx context.Context) error {
	groups := s.groups()
	failures := make([]error, len(groups))
	var next atomic.Int64
	var failed atomic.Bool
	var progress sync.Mutex
	ran := 0
	work := func(make Make, err error) {
		for !failed.Load() && ctx.Err() == nil {
			at := int(next.Add(1)) - 1
			if at >= len(groups) {
				return
			}
			if err == nil {
				err = s.runGroup(ctx, make, groups[at])
			}
			if failures[at] = err; err != nil {
				failed.Store(true)
				return
			}
			progress.Lock()
			if ran += len(groups[at]); s.job.Progress != nil {
				s.job.Progress(ran, len(s.cases))
			}
			progress.Unlock()
		}
	}
	var others sync.WaitGroup
	for range min(s.job.Workers, len(groups)) - 1 {
		others.Go(func() { work(s.job.Worker()) })
	}
	work(s.make, nil)
	others.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// runGroup runs the cases of a group together.
func (s *stressed) runGroup(ctx context.Context, make Make, group []int) error {
	plans := []*backtest.Plan(nil)
	for _, at := range group {
		made, err := make()
		if err != nil {
			return err
		}
		p, c := *made, &s.cases[at]
		p.Strategies = slices.Clone(made.Strategies)
		c.change.apply(&p, c.number)
		plans = append(plans, &p)
	}
	runs, err := backtest.RunTogether(ctx, plans, backtest.LockstepOptions{})
	if err != nil {
		return err
	}
	for i, at := range group {
		c := &s.cases[at]
		if err := runs[i].Err; err != nil {
			return fmt.Errorf("%s %s: %w", kindTable[c.kind].title, c.change.label, err)
		}
		c.ran, c.halted = figuresOf(runs[i].Result), len(runs[i].Halts) > 0
	}
	return nil
}
