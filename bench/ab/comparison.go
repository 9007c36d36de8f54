package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
)

// comparison is one run of the command: its options, the two trees, and what was measured.
type comparison struct {
	stdout, stderr           io.Writer
	oldRevision, newRevision string // newRevision is empty for the work tree
	pairs, core              int
	rows                     *regexp.Regexp
	bound                    float64
	json                     bool
	resultsOnly              bool // compare results, not speed
	interval                 interval

	old, new *tree
	results  []*result // in order of appearance
	load     [2]string // of the machine before and after the pairs; empty where it is not known
}

// result is one row of the table.
type result struct {
	row, unit string
	old, new  []float64 // a figure of each pair; where one side lacks the row, of the first run
	ratios    []float64 // new's cost divided by old's, one for each pair
}

// run builds both sides, measures all pairs and prints the table. It returns errSlower if a row is
// slower. With resultsOnly it compares results instead.
func (c *comparison) run(ctx context.Context) error {
	scratch, err := os.MkdirTemp("", "ab-")
	if err != nil {
		return fmt.Errorf("make a folder for builds: %w", err)
	}
	defer os.RemoveAll(scratch)
	remove, err := c.checkOut(ctx, scratch)
	defer remove()
	if err != nil {
		return err
	}
	if c.resultsOnly {
		return c.compareResults(ctx, scratch)
	}
	sources, err := c.sources(ctx, scratch)
	if err != nil {
		return err
	}
	if err := c.measure(ctx, sources); err != nil {
		return err
	}
	if err := c.report(); err != nil {
		return err
	}
	if slices.ContainsFunc(c.results, func(r *result) bool { return c.verdict(r) == slower }) {
		return errSlower
	}
	return nil
}

// checkOut finds or makes the source trees of both sides. The caller calls remove in any case.
func (c *comparison) checkOut(ctx context.Context, scratch string) (remove func(), err error) {
	var trees []*tree
	remove = func() {
		for _, t := range trees {
			if err := t.remove(context.WithoutCancel(ctx)); err != nil {
				fmt.Fprintln(c.stderr, "ab:", err)
			}
		}
	}
	for _, side := range [...]struct {
		name, revision string
		tree           **tree
	}{{"old", c.oldRevision, &c.old}, {"new", c.newRevision, &c.new}} {
		t, err := newTree(ctx, side.name, side.revision, scratch)
		if err != nil {
			return remove, err
		}
		trees = append(trees, t)
		*side.tree = t
	}
	return remove, nil
}

// sources builds what the rows need, runs each source once on each side, and returns the sources
// that both sides have. That first run fills the caches of the machine and finds the rows; its
// figures count only for rows that one side lacks. A source that fails on the old side counts as
// absent there, and the reason goes to stderr; on the new side a failure is an error.
func (c *comparison) sources(ctx context.Context, scratch string) (both []*source, err error) {
	all := append(tableSources(), packageSources()...)
	all = append(all, processSources(scratch)...)
	for _, s := range all {
		if len(s.rows) > 0 && !slices.ContainsFunc(s.rows, c.rows.MatchString) {
			continue
		}
		fmt.Fprintf(c.stderr, "build and try %s\n", s.name)
		was, err := c.try(ctx, s, c.old)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			fmt.Fprintln(c.stderr, err)
		}
		is, err := c.try(ctx, s, c.new)
		if err != nil {
			return nil, err
		}
		if c.join(was, is) {
			both = append(both, s)
		}
	}
	if len(c.results) == 0 {
		return nil, fmt.Errorf("no row matches %q", c.rows)
	}
	return both, nil
}

// try prepares a source on one side and runs it once. A side without the source has no figures and
// no error.
func (c *comparison) try(ctx context.Context, s *source, t *tree) ([]figure, error) {
	err := s.prepare(ctx, t)
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", t.name, s.name, err)
	}
	return c.figures(ctx, s, t)
}

// figures runs a source once and returns the figures of the rows asked for.
func (c *comparison) figures(ctx context.Context, s *source, t *tree) ([]figure, error) {
	all, err := s.measure(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", t.name, s.name, err)
	}
	for _, f := range all {
		if f.value <= 0 {
			return nil, fmt.Errorf("%s, %s: row %q is %g; only figures above 0 have a ratio",
				t.name, s.name, f.row, f.value)
		}
	}
	return slices.DeleteFunc(all, func(f figure) bool { return !c.rows.MatchString(f.row) }), nil
}

// join adds the rows of a source and reports whether both sides have one of them.
func (c *comparison) join(was, is []figure) (both bool) {
	for _, f := range is {
		r := &result{row: f.row, unit: f.unit}
		c.results = append(c.results, r)
		if slices.ContainsFunc(was, f.same) {
			both = true
			continue
		}
		r.new = []float64{f.value}
	}
	for _, f := range was {
		if !slices.ContainsFunc(is, f.same) {
			c.results = append(c.results, &result{row: f.row, unit: f.unit, old: []float64{f.value}})
		}
	}
	return both
}

// measure runs all pairs on one core. In every second pair the new side goes first: a machine that
// gets slower while it runs slows both sides equally.
func (c *comparison) measure(ctx context.Context, sources []*source) error {
	runtime.LockOSThread() // a child inherits the core of the thread that starts it
	defer runtime.UnlockOSThread()
	free, err := c.pin()
	if err != nil {
		return err
	}
	defer free()
	before := load()
	for pair := range c.pairs {
		fmt.Fprintf(c.stderr, "pair %d of %d\n", pair+1, c.pairs)
		for _, s := range sources {
			if err := c.pair(ctx, s, pair); err != nil {
				return err
			}
		}
	}
	c.load = [...]string{before, load()}
	for _, r := range c.results {
		if len(r.old) > 0 && len(r.new) > 0 && len(r.ratios) != c.pairs {
			return fmt.Errorf("row %q: only %d of %d pairs have a figure", r.row, len(r.ratios), c.pairs)
		}
	}
	return nil
}

// pair runs a source on both sides, one right after the other, and records the ratios.
func (c *comparison) pair(ctx context.Context, s *source, number int) error {
	order := [...]*tree{c.old, c.new}
	if number%2 == 1 {
		order = [...]*tree{c.new, c.old}
	}
	figures := map[*tree][]figure{}
	for _, t := range order {
		one, err := c.figures(ctx, s, t)
		if err != nil {
			return err
		}
		figures[t] = one
	}
	for _, was := range figures[c.old] {
		if i := slices.IndexFunc(figures[c.new], was.same); i >= 0 {
			c.record(was, figures[c.new][i])
		}
	}
	return nil
}

func (c *comparison) record(was, is figure) {
	i := slices.IndexFunc(c.results, func(r *result) bool { return r.row == was.row && r.unit == was.unit })
	if i < 0 {
		return // a row that the first run did not print
	}
	r := c.results[i]
	r.old, r.new = append(r.old, was.value), append(r.new, is.value)
	r.ratios = append(r.ratios, is.cost()/was.cost())
}

// pin binds the children to come to one core, and returns how to end that.
func (c *comparison) pin() (free func(), err error) {
	core, free, err := pin(c.core)
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Fprintln(c.stderr, "this system cannot bind a process to a core: the figures vary more")
		c.core = -1
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("bind to core %d: %w", c.core, err)
	}
	c.core = core
	return free, nil
}
