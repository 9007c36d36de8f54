package research

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync"

	"github.com/tidemark-trading/tidemark/backtest"
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

// groupsOf cuts a batch into groups of one kin. A group's sets are spread over its kin's, so that
// each group costs about as much as any other. The cut does not depend on the machine.
func (s *sweep) groupsOf(batch []trial) (groups [][]int) {
	byKin := make([][]int, len(s.chooser.kins))
	for i, t := range batch {
		kin := s.chooser.kin[t.set]
		byKin[kin] = append(byKin[kin], i)
	}
	size := min(max(len(batch)/leastGroups, minGroup), maxGroup)
	for _, places := range byKin {
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
func (s *sweep) run(ctx context.Context, batch []trial) error {
	for len(batch) > 0 {
		values := make([]float64, len(batch))
		if err := s.runBatch(ctx, batch, values); err != nil {
			return err
		}
		var err error
		if batch, err = s.sampler.next(values); err != nil {
			return err
		}
	}
	s.tellBegan()
	return nil
}

// runBatch runs the groups that the file does not have, and adds all to the tries. values are the
// objectives, by place in the batch.
func (s *sweep) runBatch(ctx context.Context, batch []trial, values []float64) error {
	groups := s.groupsOf(batch)
	for len(groups) > 0 && s.groups < s.file.groups() {
		rows, err := s.file.group(s.groups)
		if err != nil {
			return err
		}
		if !s.fit(rows, batch, groups[0]) {
			return fmt.Errorf("%s: group %d has other sets than this sweep would try; move the file away", s.file.path,
				s.groups+1)
		}
		s.add(rows, groups[0], values)
		groups = groups[1:]
	}
	if len(groups) == 0 {
		return nil
	}
	return s.compute(ctx, batch, groups, values)
}

// fit reports whether the rows of the file are those of a group.
func (s *sweep) fit(rows []Row, batch []trial, group []int) bool {
	return slices.EqualFunc(rows, group, func(r Row, at int) bool {
		return r.Set == batch[at].set && r.Rung == batch[at].rung
	})
}

// computed is a group that a worker has run.
type computed struct {
	group int
	rows  []Row
	frame []byte
	err   error
}

// compute runs groups on all workers and writes them in their order. A worker is at most a few
// groups ahead of the file: so much is lost where the process is killed.
func (s *sweep) compute(ctx context.Context, batch []trial, groups [][]int, values []float64) (err error) {
	if s.ran == 0 {
		s.kept = s.done
	}
	ctx, cancel := context.WithCancel(ctx)
	todo := make(chan int, s.job.Workers)
	done := make(chan computed, s.job.Workers)
	var workers sync.WaitGroup
	for range min(s.job.Workers, len(groups)) {
		workers.Go(func() { s.work(ctx, batch, groups, todo, done) })
	}
	defer func() {
		cancel()
		close(todo)
		workers.Wait()
	}()
	ahead := 4 * s.job.Workers
	waiting := map[int]computed{}
	for sent, written := 0, 0; written < len(groups); {
		send := todo
		if sent == len(groups) || sent >= written+ahead {
			send = nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case send <- sent:
			sent++
		case c := <-done:
			waiting[c.group] = c
			if written, err = s.write(groups, waiting, written, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes the groups whose turn it is. An error of a group ends the sweep at its turn, so that
// it is always the same one.
func (s *sweep) write(groups [][]int, waiting map[int]computed, written int, values []float64) (int, error) {
	var frames [][]byte
	first := written
	var failed error
	for c, ready := waiting[written]; ready; c, ready = waiting[written] {
		if failed = c.err; failed != nil {
			break
		}
		frames = append(frames, c.frame)
		written++
	}
	if len(frames) == 0 {
		return written, failed
	}
	if err := s.file.append(frames...); err != nil {
		return written, err
	}
	for g := first; g < written; g++ {
		c := waiting[g]
		delete(waiting, g)
		s.ran++
		s.add(c.rows, groups[g], values)
		s.tellBegan()
	}
	if s.job.Progress != nil {
		s.job.Progress(Progress{Done: s.done, Sets: s.total, Groups: s.ran, Best: s.best})
	}
	return written, failed
}

// work runs groups until there are no more.
func (s *sweep) work(ctx context.Context, batch []trial, groups [][]int, todo <-chan int, done chan<- computed) {
	make, err := s.job.Worker()
	for group := range todo {
		c := computed{group: group, err: err}
		if err == nil {
			c.err = s.runGroup(ctx, make, batch, groups[group], &c)
		}
		select {
		case done <- c:
		case <-ctx.Done():
			return
		}
	}
}

// runGroup runs the sets of a group together.
func (s *sweep) runGroup(ctx context.Context, make Make, batch []trial, group []int, c *computed) error {
	plans := []*backtest.Plan(nil)
	for _, at := range group {
		p, err := make(s.job.Space.Settings(batch[at].set))
		if err != nil {
			return s.failed(batch[at].set, err)
		}
		plans = append(plans, s.upTo(p, batch[at].rung))
	}
	runs, err := backtest.RunTogether(ctx, plans, backtest.Together{From: s.from})
	if err != nil {
		return err
	}
	for i, at := range group {
		r := &runs[i]
		if r.Err != nil {
			return s.failed(batch[at].set, r.Err)
		}
		c.rows = append(c.rows, rowOf(batch[at], r))
	}
	c.frame = bytesOf(c.rows)
	return nil
}

// failed names the set of an error.
func (s *sweep) failed(set uint64, err error) error {
	if errors.Is(err, backtest.ErrNoCandles) && s.from != 0 {
		return fmt.Errorf("%w: the longest warm-up of the space ends on %s, and there are no candles behind it; vary "+
			"less "+
			"far, or get more candles", err, s.from)
	}
	return fmt.Errorf("%s: %w", SettingsText(s.job.Space.Settings(set)), err)
}

// rowOf is what the file keeps of a run.
func rowOf(t trial, r *backtest.Ran) Row {
	row := Row{Set: t.set, Rung: t.rung, Figures: FiguresOf(r.Result), Halted: len(r.Halts) > 0,
		First: int32(r.Track.First / day), Daily: narrow(r.Track.Returns)}
	row.Excess = narrow(r.Track.Excess(nil))
	return row
}

func narrow(list []float64) []float32 {
	to := make([]float32, len(list))
	for i, x := range list {
		to[i] = float32(x)
	}
	return to
}

// day is the length of a UTC day.
const day = market.Time(24 * 60 * 60 * 1_000_000_000)

// upTo is a plan that ends early: with so many rungs to come, on a part of the range.
func (s *sweep) upTo(p *backtest.Plan, rung uint8) *backtest.Plan {
	if rung == 0 {
		return p
	}
	own := *p
	length := s.job.To - s.from
	for range rung {
		length /= halvingPart
	}
	own.To = s.from + max(length/day, 1)*day
	return &own
}

// tellBegan tells once how the sweep has begun.
func (s *sweep) tellBegan() {
	if s.began || s.job.Began == nil {
		return
	}
	s.began = true
	if s.ran == 0 {
		s.kept = s.done
	}
	days := s.days
	if s.to == 0 { // only parts of the range were run
		days, s.to = int((s.job.To-s.from)/day), s.job.To
	}
	s.job.Began(Start{Space: s.job.Space.size, LeftOut: s.chooser.leftOut, Why: s.chooser.why, Sets: s.total,
		Done: s.kept, Torn: s.file.torn, From: s.from, To: s.to, Days: days, Luck: LuckOf(s.total, days)})
}

// add takes rows that are in the file.
func (s *sweep) add(rows []Row, group []int, values []float64) {
	at := s.file.place(s.groups)
	for i := range rows {
		r := &rows[i]
		t := Try{Set: r.Set, Figures: r.Figures, Value: s.job.Objective.Of(r.Figures), rung: r.Rung,
			halted: r.Halted, days: len(r.Daily), at: at, fits: true, series: seriesHash(r.Daily)}
		for _, need := range s.job.Require {
			t.fits = t.fits && need.Holds(r.Figures)
		}
		at += rowSize(r)
		values[group[i]] = t.Value
		s.tries = append(s.tries, t)
		if t.rung != 0 {
			continue
		}
		s.done, s.days = s.done+1, max(s.days, t.days)
		s.to = max(s.to, (market.Time(r.First)+market.Time(len(r.Daily))-1)*day)
		if t.fits && !math.IsNaN(t.Value) && (s.best == nil || t.Value > s.best.Value) {
			t.Settings = s.job.Space.Settings(t.Set)
			s.best = &t
		}
	}
	s.groups++
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
