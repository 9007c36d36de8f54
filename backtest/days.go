package backtest

import (
	"slices"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
)

// Track is a run by UTC days, for statistics over returns.
type Track struct {
	// First is the end of the first day of the run. The days follow each other without a gap.
	First market.Time
	// Returns are by day: equity at its last close ÷ at the last close of the day before − 1; the
	// first day's is held against the start equity.
	Returns []float64
	// Exposure is the mean part of the equity that was not cash: over the closes of a day, and then
	// over the days.
	Exposure float64
	Trips    int64 // round trips: see TripFigures.Count
	// Hold is, by day, the return of a hold of the plan's markets with all equity, as Result.Hold
	// has it, but of one market from its first open and without costs. Costs is the part of the
	// money that buying that one takes: taker's fee, spread, slippage. Tracks share Hold: do not
	// change it.
	Hold  []float64
	Costs float64
}

// Excess appends, by day, the return less that of a hold at the run's own mean exposure. The costs
// of that hold count on the first day.
func (t *Track) Excess(to []float64) []float64 {
	to = slices.Grow(to, len(t.Returns))
	for i, r := range t.Returns {
		hold := t.Hold[i]
		if i == 0 {
			hold = float64((1+hold)*(1-t.Costs)) - 1
		}
		to = append(to, r-float64(t.Exposure*hold))
	}
	return to
}

// days collects the Track of a run.
type days struct {
	own, hold []report.Day

	// The part that is invested: the account stands while candles close, or changes.
	at     balances
	prices int64       // sum of the closes of its market since the account changed or the day began
	closes int64       // their number
	end    market.Time // of the day

	invested, equity float64 // sums over the closes of the day before the account changed
	part             float64 // of the last day
	parts            float64 // sum over days
	number           int64
	price, money     float64 // units of the account's currency that a price times an amount, and a money, have
}

// balances are an account as it stands while only the price of one market changes.
type balances struct {
	base market.Qty   // held in that market
	rest market.Money // equity without base
	cash market.Money
}

// follow collects the run by day. m is the market of its feed, if it has one alone.
func (r *recorder) follow(d *days, m *market.Market) {
	*d = days{own: d.own[:0]} // an earlier pass may have filled it
	d.price, d.money = 1/float64(market.Pow10(m.PriceDigits))/float64(market.Pow10(m.AmountDigits)),
		1/float64(market.Pow10(r.cfg.Currency.Digits))
	r.days, r.equity.daily, r.hold.track.daily = d, &d.own, &d.hold
}

// stay adds closes of one day at which the account stood, with the sum of their prices.
func (d *days) stay(at market.Time, b balances, prices, closes int64) {
	if at > d.end || b != d.at {
		d.change(at, b)
	}
	d.prices += prices
	d.closes += closes
}

// change begins a day, or counts the closes before the account changed.
func (d *days) change(at market.Time, b balances) {
	n := float64(d.closes)
	invested := float64(float64(d.at.rest-d.at.cash)*n*d.money) + float64(float64(d.at.base)*float64(d.prices)*d.price)
	d.invested += invested
	d.equity += invested + float64(float64(d.at.cash)*n*d.money)
	d.at, d.prices, d.closes = b, 0, 0
	if at > d.end {
		d.closeDay(at)
	}
}

// closeDay counts the day, and those without a close up to that of at.
func (d *days) closeDay(at market.Time) {
	next := endOfDay(at)
	if d.end > 0 {
		if d.equity > 0 {
			d.part = d.invested / d.equity
		}
		n := int64((next - d.end) / dayLength)
		d.parts += float64(d.part * float64(n))
		d.number += n
	}
	d.end, d.invested, d.equity = next, 0, 0
}

// quiet adds the closes of quiet candles.
func (d *days) quiet(b balances, series []market.Candle, length market.Time, o outline) {
	for len(series) > 0 {
		last := max(d.end, endOfDay(series[0].Start+length))
		n := untilStart(series, last-length, length)
		d.stay(series[n-1].Start+length, b, o.sum(series[:n]), int64(n))
		series, o = series[n:], o.after(n)
	}
}

// track is the Track once the run has ended.
func (r *recorder) track() (t Track) {
	const price = 1_000_000_000
	d := r.days
	t.Trips = r.tally.trips.Count
	if !r.hold.several() {
		t.Costs = 1 - price/(float64(r.cfg.bought(price))*(1+rate(r.hold.fee)))
	}
	d.change(d.end+1, balances{})
	if d.number > 0 {
		t.Exposure = d.parts / float64(d.number)
	}
	if len(d.own) == 0 {
		return t
	}
	t.First = d.own[0].End
	t.Returns = spreadOut(d.own, t.First, len(d.own))
	if joint := r.hold.joint; joint != nil {
		t.Hold = joint.byDay(t.First, len(d.own))
	} else {
		t.Hold = spreadOut(d.hold, t.First, len(d.own))
	}
	return t
}

// spreadOut are the returns of n days; 0 where there is none.
func spreadOut(list []report.Day, first market.Time, n int) []float64 {
	returns := make([]float64, n)
	for _, day := range list {
		if at := (day.End - first) / dayLength; at >= 0 && int(at) < n {
			returns[at] = day.Return
		}
	}
	return returns
}
