package stress

import (
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Resample has the outcomes that the run's own record allows: its days, and its round trips, drawn
// again at random. It speaks of the record and not of the future: a day that is not in the record
// cannot be drawn.
type Resample struct {
	Days      int     `json:"days"`
	Resamples int     `json:"resamples"`
	Block     float64 `json:"block_days"` // mean length of the blocks of days (Politis–White)

	Final    []Quantile `json:"final"`    // of the equity at the end, as a part of that at the beginning
	Drawdown []Quantile `json:"drawdown"` // of the deepest drawdown, at closes of days
	Own      Own        `json:"own"`
	Loss     Chance     `json:"loss"`
	Fan      Fan        `json:"fan"`

	Trips        *Trips `json:"trips"` // nil: TripsMissing says why
	TripsMissing string `json:"trips_missing,omitempty"`
}

// Own has the figures of the record itself that are drawn again.
type Own struct {
	Final    backtest.Figure `json:"final"`
	Drawdown backtest.Figure `json:"drawdown"` // at closes of days
}

// Quantile is a value that a part of the resamples does not exceed.
type Quantile struct {
	Part  float64         `json:"part"`
	Value backtest.Figure `json:"value"`
}

// Chance is the share of resamples in which the equity, at the close of some day, was so much
// below its beginning.
type Chance struct {
	Loss   float64         `json:"loss"`   // part of the equity at the beginning
	Within int             `json:"within"` // days
	Share  backtest.Figure `json:"share"`
}

// Fan is the equity over the days, as a part of that at the beginning.
type Fan struct {
	Days  []int       `json:"days"`
	Parts []float64   `json:"parts"`  // quantiles
	Paths [][]float64 `json:"paths"`  // by quantile, then by place in Days
	Own   []float64   `json:"record"` // of the record itself
}

// Trips are the round trips, drawn again one by one: each as the part that it changed the equity
// by.
type Trips struct {
	Count    int        `json:"count"`
	Final    []Quantile `json:"final"`      // of the equity after as many trips
	Drawdown []Quantile `json:"drawdown"`   // at the ends of trips
	Losing   []Quantile `json:"losing_run"` // trips in a row with a loss
}

var (
	finalParts    = []float64{0.05, 0.25, 0.5, 0.75, 0.95}
	drawdownParts = []float64{0.5, 0.75, 0.9, 0.95, 0.99}
)

// fanPoints is about how many days a fan shows.
const fanPoints = 60

// record resamples the record.
func (s *stressed) record() (*Resample, error) {
	days := len(s.returns)
	r := &Resample{Days: days, Resamples: s.job.Resamples, Block: stats.BlockLength(s.returns).Stationary,
		Loss: Chance{Loss: s.job.Loss, Within: s.job.Within}}
	step := (days + fanPoints - 1) / fanPoints
	for day := step; day < days+step; day += step {
		r.Fan.Days = append(r.Fan.Days, min(day, days))
	}
	r.Fan.Parts = finalParts
	own := walk(s.returns, nil, days)
	r.Own = Own{backtest.Figure(own.equity[days-1]), backtest.Figure(own.drawdown)}
	r.Fan.Own = own.at(r.Fan.Days)

	draw := stats.Bootstrap{Days: days, Block: r.Block, Seed: s.job.Seed}
	chosen := make([]int, max(days, s.job.Within))
	finals, drawdowns, lost := []float64{}, []float64{}, 0
	byDay := make([][]float64, len(r.Fan.Days))
	for number := range s.job.Resamples {
		draw.Draw(number, chosen)
		drawn := walk(s.returns, chosen, days)
		finals, drawdowns = append(finals, drawn.equity[days-1]), append(drawdowns, drawn.drawdown)
		for i, equity := range drawn.at(r.Fan.Days) {
			byDay[i] = append(byDay[i], equity)
		}
		if slices.Min(drawn.equity[:s.job.Within]) <= 1-s.job.Loss {
			lost++
		}
	}
	r.Final, r.Drawdown = quantiles(finals, finalParts), quantiles(drawdowns, drawdownParts)
	r.Loss.Share = backtest.Figure(float64(lost) / float64(s.job.Resamples))
	r.Fan.Paths = make([][]float64, len(finalParts))
	for _, day := range byDay {
		for i, q := range quantiles(day, finalParts) {
			r.Fan.Paths[i] = append(r.Fan.Paths[i], float64(q.Value))
		}
	}
	r.Trips, r.TripsMissing = s.trips()
	return r, nil
}

// path is the equity day by day, as a part of that at the beginning.
type path struct {
	equity   []float64
	drawdown float64 // the deepest in the first days
}

// walk compounds the chosen returns (nil: all, in their order). The drawdown is that of the first
// days.
func walk(returns []float64, chosen []int, days int) path {
	p := path{equity: make([]float64, max(days, len(chosen)))}
	equity, peak := 1.0, 1.0
	for i := range p.equity {
		at := i
		if chosen != nil {
			at = chosen[i]
		}
		equity *= 1 + returns[at]
		p.equity[i] = equity
		if i < days {
			peak = max(peak, equity)
			p.drawdown = max(p.drawdown, 1-equity/peak)
		}
	}
	return p
}

// at is the equity at the ends of some days, counted from 1.
func (p *path) at(days []int) (list []float64) {
	for _, day := range days {
		list = append(list, p.equity[day-1])
	}
	return list
}

// quantiles sorts values.
func quantiles(values, parts []float64) (list []Quantile) {
	slices.Sort(values)
	for _, part := range parts {
		list = append(list, Quantile{part, backtest.Figure(stats.Quantile(part, values))})
	}
	return list
}

// changes are the parts by which round trips changed the equity, in the order of their ends: one
// after the other they lead from the first equity to that of all profits.
func changes(start float64, trades []backtest.RoundTrip) (list []float64, whole bool) {
	equity := start
	for i := range trades {
		if !(equity > 0) {
			return nil, false
		}
		profit := trades[i].Profit.Float()
		list = append(list, profit/equity)
		equity += profit
	}
	return list, true
}

// trips resamples the round trips.
func (s *stressed) trips() (*Trips, string) {
	list, whole := changes(s.result.Performance.Start.Float(), s.result.Trades)
	switch {
	case len(list) == 0:
		return nil, "the run ended no round trip"
	case !whole:
		return nil, "the losses of its round trips took all of the equity"
	}
	draw := stats.Bootstrap{Days: len(list), Block: 1, Seed: hash(s.job.Seed, math.MaxUint32)}
	chosen := make([]int, len(list))
	var finals, drawdowns, losing []float64
	for number := range s.job.Resamples {
		draw.Draw(number, chosen)
		drawn := walk(list, chosen, len(list))
		finals, drawdowns = append(finals, drawn.equity[len(list)-1]), append(drawdowns, drawn.drawdown)
		losing = append(losing, losingRun(list, chosen))
	}
	return &Trips{Count: len(list), Final: quantiles(finals, finalParts),
		Drawdown: quantiles(drawdowns, drawdownParts), Losing: quantiles(losing, drawdownParts)}, ""
}

// losingRun is the longest row of losses.
func losingRun(list []float64, chosen []int) float64 {
	longest, row := 0, 0
	for _, at := range chosen {
		if row++; list[at] >= 0 {
			row = 0
		}
		longest = max(longest, row)
	}
	return float64(longest)
}
