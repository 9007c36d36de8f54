package backtest

import (
	"slices"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
)

// Track is a run by UTC days, for statistics over returns.
type Track struct {
	// First is the end of the first day that has a return: the second day of the run. The days
	// follow each other without a gap.
	First   market.Time
	Returns []float64 // by day: equity at its last close ÷ at the last close of the day before − 1
	// Exposure is the mean part of the equity that was not cash, over all closes.
	Exposure float64
	// Hold is, by day, the return of a hold of the plan's markets with all equity. Its costs of
	// buying (taker's fee, spread, slippage) are in the first. A hold at Exposure returns
	// Exposure · Hold. Do not change it: tracks share it.
	Hold []float64
}

// Excess appends, by day, the return less that of a hold at the run's own mean exposure.
func (t *Track) Excess(to []float64) []float64 {
	to = slices.Grow(to, len(t.Returns))
	for i, r := range t.Returns {
		to = append(to, r-t.Exposure*t.Hold[i])
	}
	return to
}

// days collects the Track of a run.
type days struct {
	own, hold []report.Day
	share     float64 // sum over closes
	closes    int64
	costs     float64 // of buying, as a part of the money
}

// follow collects the run by day.
func (r *recorder) follow(d *days) {
	r.days, *d = d, days{} // an earlier pass may have filled it
	r.equity.daily, r.hold.track.daily = &d.own, &d.hold
	d.costs = 1 - 1e9/(float64(r.cfg.bought(1e9))*(1+rate(r.cfg.Fees.Taker)))
}

// mark adds the share of the equity that is invested at a close.
func (d *days) mark(equity, cash market.Money) {
	d.closes++
	if equity > 0 {
		d.share += float64(equity-cash) / float64(equity)
	}
}

// markAll is mark for the closes of quiet candles.
func (d *days) markAll(a *stand, series []market.Candle) error {
	for i := range series {
		s, err := a.at(series[:i+1], 0, false)
		if err != nil {
			return err
		}
		d.mark(s.equity, s.cash)
	}
	return nil
}

// track is the Track once the run has ended.
func (d *days) track() (t Track) {
	for _, day := range d.own {
		t.Returns = append(t.Returns, day.Return)
	}
	if len(d.own) == 0 {
		return t
	}
	t.First, t.Hold = d.own[0].End, make([]float64, len(d.own))
	for _, day := range d.hold {
		if at := (day.End - t.First) / dayLength; at >= 0 && int(at) < len(t.Hold) {
			t.Hold[at] = day.Return
		}
	}
	t.Hold[0] -= d.costs
	t.Exposure = d.share / float64(max(d.closes, 1))
	return t
}
