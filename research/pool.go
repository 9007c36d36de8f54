package research

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync"

	"github.com/tidemark-trading/tidemark/market"
)

// maxGroup is the largest number of sets that run together: more do not fit into the processor's
// caches. A batch is cut into at least leastGroups groups, unless they would be smaller than
// minGroup.
const (
	maxGroup    = 24
	minGroup    = 8
	leastGroups = 32
)

// store keeps the groups of a search in their order, and reads them back.
type store interface {
	groups() int // kept so far, by earlier starts too
	group(n int) ([]Row, error)
	append(groups ...[]Row) error // returns when they are kept
	place(group int) int64        // of its first row: the rows follow each other
	size(r *Row) int64            // between the place of a row and that of the next one
	// series writes the daily returns of a try, or those in excess of a hold. Several goroutines
	// may call it.
	series(t *Try, excess bool, into []float64) error
}

// groupsOf cuts a batch into groups of one dataset. A group's sets are spread over its dataset's,
// so that each group costs about as much as any other. The cut does not depend on the machine.
func (s *sweep) groupsOf(batch []trial) (groups [][]int) {
	byDataset := make([][]int, len(s.chooser.datasets))
	for i, t := range batch {
		dataset := s.chooser.dataset[t.set]
		byDataset[dataset] = append(byDataset[dataset], i)
	}
	size := min(max(len(batch)/leastGroups, minGroup), maxGroup)
	for _, places := range byDataset {
		n := (len(places) + size - 1) / size
		for first := range n {
			var group []int
			for i := first; i < len(places); i += n {
				group = append(group, places[i])
			}
			groups = append(groups, group)
		}
	}
	return groups
}

// run runs batch after batch, and leaves the tries in s.
func (s *sweep) run(ctx context.Context, batch []trial) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	ahead := s.runner.Ahead()
	w := &work{todo: make(chan Group, ahead), done: make(chan Done, 8*ahead), ended: make(chan error, 1)}
	var running sync.WaitGroup
	running.Go(func() { w.ended <- s.runner.Run(ctx, w.todo, w.done) })
	defer func() {
		if err != nil {
			cancel()
		}
		close(w.todo) // after the last group the Runner ends by itself: a coordinator removes its folder
		running.Wait()
		cancel()
	}()
	s.work = s.workOf(batch)
	for len(batch) > 0 {
		values := make([]float64, len(batch))
		if err := s.runBatch(ctx, w, batch, values); err != nil {
			return err
		}
		if batch, err = s.sampler.next(values); err != nil {
			return err
		}
	}
	s.tellBegan()
	return nil
}

// work is the data that a sweep and its Runner share.
type work struct {
	todo  chan Group
	done  chan Done
	ended chan error // gets the error of the Runner
}

// runBatch runs the groups that are not kept yet, and adds all to the tries. values are the
// objectives, by place in the batch.
func (s *sweep) runBatch(ctx context.Context, w *work, batch []trial, values []float64) error {
	groups := s.groupsOf(batch)
	for len(groups) > 0 && s.groups < s.store.groups() {
		rows, err := s.store.group(s.groups)
		if err != nil {
			return err
		}
		if !s.fit(rows, batch, groups[0]) {
			return fmt.Errorf("%s: group %d has other sets than this sweep would try; move the file away", s.job.File,
				s.groups+1)
		}
		s.add(rows, groups[0], values)
		kept := s.groupOf(0, batch, groups[0])
		s.work.total -= s.work.of(&kept) // an earlier start has done it
		groups = groups[1:]
	}
	if len(groups) == 0 {
		return nil
	}
	s.tellBegan()
	return s.compute(ctx, w, batch, groups, values)
}

// fit reports whether the rows of the file are those of a group.
func (s *sweep) fit(rows []Row, batch []trial, group []int) bool {
	return slices.EqualFunc(rows, group, func(r Row, at int) bool {
		return r.Set == batch[at].set && r.Rung == batch[at].rung
	})
}

// groupOf is a group for a Runner; places are those of its sets in the batch.
func (s *sweep) groupOf(number int, batch []trial, places []int) Group {
	rung := batch[places[0]].rung
	g := Group{Number: number, Rung: rung, From: s.from, To: s.end(rung)}
	for _, at := range places {
		g.Sets = append(g.Sets, batch[at].set)
	}
	return g
}

// end is the end of the part of the range on which a rung runs; 0: the plans' own.
func (s *sweep) end(rung uint8) market.Time {
	if rung == 0 {
		return 0
	}
	length := s.job.To - s.from
	for range rung {
		length /= halvingPart
	}
	return s.from + max(length/day, 1)*day
}

// compute gives groups to the Runner, and keeps them in their order.
func (s *sweep) compute(ctx context.Context, w *work, batch []trial, groups [][]int, values []float64) (err error) {
	ahead := s.runner.Ahead()
	first, waiting := s.groups, map[int]Done{}
	order, trials := trialFirst(len(groups), ahead)
	onTrial := s.ran == 0 && s.job.Trial != nil
	if !onTrial {
		slices.Sort(order)
	}
	for sent := 0; s.groups < first+len(groups); {
		todo, next := w.todo, Group{}
		if sent == len(groups) || sent >= trials && first+order[sent] >= s.groups+ahead {
			todo = nil
		} else {
			next = s.groupOf(first+order[sent], batch, groups[order[sent]])
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-w.ended:
			return err
		case todo <- next:
			s.work.begin(&next)
			sent++
		case d := <-w.done:
			s.work.done(&d)
			if d.Part == 0 {
				waiting[d.Number] = d
			}
			if onTrial = onTrial && s.onTrial(waiting, first, order[:trials]); onTrial {
				continue
			}
			if err := s.keep(waiting, groups[s.groups-first:], values); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep keeps the groups whose turn it is. An error of a group ends the sweep at its turn, so that
// it is always the same one.
func (s *sweep) keep(waiting map[int]Done, groups [][]int, values []float64) (failed error) {
	var all [][]Row
	for {
		d, ready := waiting[s.groups+len(all)]
		if failed = d.Err; !ready || failed != nil {
			break
		}
		all = append(all, d.Rows)
		delete(waiting, d.Number)
	}
	if len(all) > 0 {
		if err := s.store.append(all...); err != nil {
			return err
		}
		for i, rows := range all {
			s.ran++
			s.add(rows, groups[i], values)
		}
	}
	if s.job.Progress != nil && s.ran > 0 {
		s.job.Progress(Progress{Done: s.done, Sets: s.total, Groups: s.ran, Part: s.work.part(), Best: s.best})
	}
	return failed
}

// day is the length of a UTC day.
const day = market.Time(24 * 60 * 60 * 1_000_000_000)

// tellBegan tells once how the sweep begins. An empty range is not told: its first group fails.
func (s *sweep) tellBegan() {
	if s.began || s.job.Began == nil || s.job.To != 0 && s.job.To <= s.from {
		return
	}
	s.began = true
	days, to := s.length()
	s.job.Began(Start{Space: s.job.Space.size, LeftOut: s.chooser.leftOut, Why: s.chooser.why, Sets: s.total,
		Done: s.done, Torn: s.torn, From: s.from, To: to, Days: days, Luck: LuckOf(s.total, days)})
}

// length is the number of daily returns of a set over the whole range, and the end of their last
// day; 0: it is not known.
func (s *sweep) length() (days int, to market.Time) {
	to = market.CeilTo(s.job.To, day)
	if s.from == 0 || s.job.To <= s.from {
		return 0, to
	}
	return int((to - market.FloorTo(s.from, day)) / day), to
}

// add takes rows that are kept.
func (s *sweep) add(rows []Row, group []int, values []float64) {
	at := s.store.place(s.groups)
	for i := range rows {
		r := &rows[i]
		t := Try{Set: r.Set, Figures: r.Figures, Value: s.job.Objective.Of(r.Figures), rung: r.Rung,
			halted: r.Halted, days: len(r.Daily), first: r.First, at: at, fits: true, series: seriesHash(r.Daily)}
		for _, need := range s.job.Require {
			t.fits = t.fits && need.Holds(r.Figures)
		}
		at += s.store.size(r)
		values[group[i]] = t.Value
		s.tries = append(s.tries, t)
		if t.rung != 0 {
			continue
		}
		s.done, s.days = s.done+1, max(s.days, t.days)
		s.to = max(s.to, (market.Time(r.First)+market.Time(len(r.Daily))-1)*day)
		if t.Ranked() && (s.best == nil || t.Value > s.best.Value) {
			t.Settings = s.job.Space.Settings(t.Set)
			s.best = &t
		}
	}
	s.groups++
	s.tried(rows)
}

// seriesHash is equal for equal series.
func seriesHash(list []float32) uint64 {
	hash := fnv.New64a()
	var b [4]byte
	for _, x := range list {
		bits := math.Float32bits(x + 0) // -0 is 0
		b = [4]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)}
		hash.Write(b[:])
	}
	return hash.Sum64()
}
