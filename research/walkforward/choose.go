package walkforward

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
)

// choice is the winner of a window's training.
type choice struct {
	settings []research.Setting // nil: no set meets the requirements
	set      uint64
	value    float64   // of the objective, in training
	days     []float64 // the winner's daily returns in training
}

// choose finds the winners. filed: with the job's file and its reports.
func (w *Walk) choose(ctx context.Context, alter func(*backtest.Plan), filed bool) ([]choice, []string, error) {
	if w.apart != "" {
		return w.chooseApart(ctx, alter, filed)
	}
	f, err := search(ctx, w.searcher, alter, filed)
	if err != nil {
		return nil, nil, err
	}
	choices, err := w.pick(f)
	var files []string
	if f.File != "" {
		files = []string{f.File}
	}
	return choices, files, errors.Join(err, f.Close())
}

func search(ctx context.Context, s *research.Searcher, alter func(*backtest.Plan), filed bool) (*research.Found,
	error) {
	if filed {
		return s.Run(ctx)
	}
	return s.Search(ctx, alter)
}

// pick takes the winner of each window from one sweep over the range. Of equal values, the set with
// the lower number wins: the order of the sweep knows the whole range.
func (w *Walk) pick(f *research.Found) ([]choice, error) {
	choices := make([]choice, len(w.spans))
	winners := make([]*research.Try, len(w.spans))
	row, part := make([]float64, f.Days), research.NewPart(append(slices.Clone(w.job.Require), w.job.Objective)...)
	for _, t := range f.Tries {
		if err := f.Returns(t, row); err != nil {
			return nil, err
		}
		part.Of(row[:t.Days()])
		for at := range w.spans {
			s := &w.spans[at]
			figures := part.Figures(placesOf(t.Days(), t.First(), s.From, s.TrainEnd))
			value := w.job.Objective.Of(figures)
			if !backtest.Figure(value).Defined() || !w.fits(figures) {
				continue
			}
			best, have := &choices[at], winners[at]
			if have == nil || value > best.value || value == best.value && t.Set < have.Set {
				winners[at], best.value, best.set = t, value, t.Set
			}
		}
	}
	for at, t := range winners {
		if t == nil {
			continue
		}
		if err := f.Returns(t, row); err != nil {
			return nil, err
		}
		s, c := &w.spans[at], &choices[at]
		c.settings = w.job.Space.Settings(t.Set)
		c.days = append(c.days, daysOf(row[:t.Days()], t.First(), s.From, s.TrainEnd)...)
	}
	return choices, nil
}

// fits reports whether figures meet the requirements.
func (w *Walk) fits(figures research.Figures) bool {
	for _, need := range w.job.Require {
		if !need.Holds(figures) {
			return false
		}
	}
	return true
}

// daysOf are the returns of the days that lie between two times. first is the end of the day of
// row[0].
func daysOf(row []float64, first, from, to market.Time) []float64 {
	a, b := placesOf(len(row), first, from, to)
	return row[a:b]
}

// placesOf are the place of the first of n days that lies between two times, and that behind the
// last. first is the end of the first day.
func placesOf(n int, first, from, to market.Time) (int, int) {
	place := func(at market.Time) int { // of the first day that ends after it
		return int(min(max((market.FloorTo(at, day)-first)/day+1, 0), market.Time(n)))
	}
	if to%day != 0 { // the last day of the data, which is not whole
		to += day
	}
	return place(from), max(place(to), place(from))
}

// chooseApart lets each window search by itself.
func (w *Walk) chooseApart(ctx context.Context, alter func(*backtest.Plan), filed bool) (choices []choice,
	files []string, err error) {
	for at := range w.spans {
		if filed && w.config.Searching != nil {
			w.config.Searching(at+1, len(w.spans))
		}
		s, err := w.searcherOf(at)
		if err != nil {
			return nil, nil, err
		}
		f, err := search(ctx, s, alter, filed)
		if err != nil {
			return nil, nil, fmt.Errorf("window %d: %w", at+1, err)
		}
		c, err := chosen(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, nil, fmt.Errorf("window %d: %w", at+1, err)
		}
		if choices = append(choices, c); f.File != "" {
			files = append(files, f.File)
		}
	}
	return choices, files, nil
}

// chosen is the winner of a search over one training.
func chosen(f *research.Found) (c choice, err error) {
	if f.Winner == nil {
		return c, nil
	}
	c = choice{settings: f.Winner.Settings, set: f.Winner.Set, value: f.Winner.Value,
		days: make([]float64, f.Winner.Days())}
	return c, f.Returns(f.Winner, c.days)
}
