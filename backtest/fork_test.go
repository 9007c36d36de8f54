package backtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// wild asks for everything that a desk offers, by a hash of what it sees, and keeps what it is
// given in every kind of memory.
type wild struct {
	strategy.Base
	setup  strategy.Setup
	wishes strategy.Needs
	chance randomSequence
	seen   []market.Candle
	latest *market.Candle // in seen, which moves when it grows
	orders map[market.OrderID]*market.Order
	order  *market.Order
	lists  map[string][]market.OrderID
	log    []string
	any    any
	rule   func(*wild, *strategy.Desk, market.ID, market.Price)
	err    error
}

func wildKind(ticker, book bool, intervals []market.Interval) strategy.Definition {
	needs := strategy.Needs{Warmup: 3, Ticker: ticker, Book: book, Intervals: strategy.Intervals{},
		Signals: []string{"model"}}
	for _, i := range intervals {
		needs.Intervals[i] = 0
	}
	return strategy.Define("wild", "for a test", func(struct{}) strategy.Needs { return needs },
		func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
			return &wild{setup: s, orders: map[market.OrderID]*market.Order{}, lists: map[string][]market.OrderID{},
				chance: 1, rule: act}, nil
		})
}

func (w *wild) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func (w *wild) OnCandle(d *strategy.Desk, c market.Candle) {
	w.seen = append(w.seen, c)
	w.latest = &w.seen[len(w.seen)-1-int(w.chance.below(int64(min(3, len(w.seen)))))]
	w.chance ^= randomSequence(w.latest.Close)
	w.any = []any{w.latest, c.Close, w.orders, w.lists}
	w.rule(w, d, c.Market, c.Close)
}

func (w *wild) OnTicker(d *strategy.Desk, t market.Ticker) {
	if w.chance ^= randomSequence(t.Last); w.chance.below(20) == 0 {
		w.rule(w, d, t.Market, t.Last)
	}
}

func (w *wild) OnBook(d *strategy.Desk, b strategy.OrderBook) {
	if bid, _ := b.Bid(0); w.chance.below(20) == 0 {
		w.rule(w, d, b.Market(), bid.Price)
	}
}

func (w *wild) OnSignal(d *strategy.Desk, s market.Signal) {
	w.chance ^= randomSequence(s.Number)
	now, heard := d.In(1).Signal("model")
	w.note("signal %v at %d, %v %v", s, d.Now(), now, heard)
	if last := d.In(max(1, s.Market)).Last(); last != 0 {
		w.rule(w, d, max(1, s.Market), last)
	}
}

func (w *wild) OnTimer(d *strategy.Desk, name int64) { w.note("timer %d at %d", name, d.Now()) }
func (w *wild) OnFill(_ *strategy.Desk, f market.Fill) {
	w.note("fill %d %s %d %d", f.Order, f.ID, f.Price, f.Amount)
}

func (w *wild) OnOrder(_ *strategy.Desk, o market.Order, r market.Report) {
	w.note("order %d %d %d", o.ID, r.Exec, o.AmountRemaining)
	kept := o
	w.order, w.orders[o.ID] = &kept, &kept
	w.lists[o.Tag] = append(w.lists[o.Tag], o.ID)
	if o.Done() {
		delete(w.orders, o.ID)
	}
}

func (w *wild) OnUnprotected(_ *strategy.Desk, u strategy.Unprotected) { w.note("bare %v", u) }
func (w *wild) OnCloseFailed(_ *strategy.Desk, f strategy.CloseFailed) {
	w.note("close failed %v", f)
}
func (w *wild) OnStop(d *strategy.Desk) { w.note("stop %d", d.Now()) }

// Save shows all that the strategy knows.
func (w *wild) Save() ([]byte, error) {
	return json.Marshal([]any{w.log, w.seen, w.latest, w.orders, w.order, w.lists, w.chance, fmt.Sprint(w.err)})
}
func (w *wild) Load([]byte) error { return nil }

// act asks for something.
func act(w *wild, d *strategy.Desk, m market.ID, price market.Price) {
	away := func(percent int64) market.Price { return price + price*market.Price(percent)/1000 }
	amount, id := market.Qty(100_000*(1+w.chance.below(9))), market.OrderID(0)
	open := d.In(m).OpenOrders()
	switch w.chance.below(16) {
	case 0:
		id, w.err = d.In(m).Buy(strategy.Amount(amount))
	case 1:
		id, w.err = d.In(m).Target(strategy.Amount(amount), strategy.Tag("target"))
	case 2:
		id, w.err = d.In(m).Buy(strategy.Amount(amount), strategy.At(away(-w.chance.below(4))))
	case 3:
		id, w.err = d.In(m).Sell(strategy.Amount(amount), strategy.At(away(w.chance.below(4))), strategy.PostOnly())
	case 4:
		id, w.err = d.In(m).Buy(strategy.Amount(amount), strategy.StopLoss(away(3)))
	case 5, 6:
		id, w.err = d.In(m).Buy(strategy.Amount(amount), strategy.Exits(away(-5), away(w.chance.below(2)*8)),
			strategy.Tag("bracket"))
	case 7:
		id, w.err = d.In(m).Protect(strategy.Exits(away(-4), 0))
	case 8:
		d.Timer(d.Now()+market.Time(w.chance.below(int64(10*time.Minute))), w.chance.below(9))
	case 9:
		if len(open) > 0 {
			id = open[w.chance.below(int64(len(open)))].ID
			w.err = d.Update(id, strategy.Resize(strategy.Amount(amount)))
		}
	case 10:
		if len(open) > 0 {
			id = open[0].ID
			w.err = d.Cancel(id)
		}
	case 11:
		if w.order != nil && w.order.Bracket.Stop != 0 {
			w.err = d.Update(w.order.ID, strategy.Exits(away(-3), w.order.Bracket.Target))
		}
	case 12:
		if w.chance.below(20) == 0 {
			w.err = d.In(m).CancelAll()
		}
	case 13:
		w.err = d.In(m).Close()
	case 14:
		w.err = d.In(m).ClosePart(strategy.Amount(amount))
	case 15:
		p := strategy.Portfolio{Band: market.Percent, ToEdge: w.chance.below(2) == 0}
		for _, in := range w.setup.Markets {
			p.Weights = append(p.Weights, strategy.Weight{Market: in.ID, Share: market.Rate(w.chance.below(7)) *
				market.Percent})
		}
		w.err = d.Rebalance(p)
	}
	w.note("%d %d %v", m, id, w.err)
}

// accountOf draws limits of the account, in half of the plans none.
func accountOf(t *rapid.T, currency market.AssetID) risk.AccountLimits {
	limits := risk.AccountLimits{Currency: currency}
	if rapid.Bool().Draw(t, "limit on the drawdown") {
		limits.MaxDrawdown = 100_000_00
	}
	if rapid.Bool().Draw(t, "other limits") {
		limits.VolatilityTarget = rapid.SampledFrom([]market.Rate{0, 30_000_000, 900_000_000}).Draw(t, "target")
		limits.VolatilityInterval = market.Interval5m
		limits.MaxAssetExposure = map[string]market.Money{"A": 200_000_00, risk.EveryAsset: 400_000_00}
		limits.RefuseOpposite = rapid.Bool().Draw(t, "opposite")
	}
	return limits
}

// forkPlan draws a plan of several strategies over two markets.
func forkPlan(t *rapid.T) *Plan {
	var catalog market.Catalog
	for _, name := range []string{"A", "B"} {
		_, err := catalog.AddAsset(name, 8)
		require.NoError(t, err)
	}
	_, err := catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	eur := catalog.AssetNamed("EUR")
	p := &Plan{Catalog: &catalog, Currency: eur, Deposits: []Deposit{{Asset: eur.ID, Money: 1_000_000_00}},
		Fees: Fees{Maker: 150_000, Taker: 250_000}, Log: zerolog.Nop()}
	candles := map[Feed][]market.Candle{}
	count := rapid.IntRange(50, 800).Draw(t, "candles")
	for _, name := range []string{"A-EUR", "B-EUR"}[:rapid.IntRange(1, 2).Draw(t, "markets")] {
		m := &market.Market{Name: name, PriceDigits: 2, VolumeDigits: 4,
			Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2, TickSize: 1}}
		require.NoError(t, catalog.AddMarket(m))
		fine := Feed{Market: m, Interval: market.Interval1m, Drive: true, Deliver: true}
		candles[fine] = minutes(panicker{}, m, count)
		if rapid.Bool().Draw(t, "holes") {
			candles[fine] = slices.DeleteFunc(candles[fine], func(c market.Candle) bool { return c.Close%11 == 0 })
		}
		p.Feeds = append(p.Feeds, fine)
	}
	var intervals []market.Interval
	if rapid.Bool().Draw(t, "coarse") {
		intervals = append(intervals, market.Interval5m)
		for _, m := range catalog.Markets() {
			f := Feed{Market: m, Interval: market.Interval5m, Deliver: true}
			candles[f] = fives(candles[p.Feeds[m.ID-1]])
			p.Feeds = append(p.Feeds, f)
			if rapid.Bool().Draw(t, "hidden") {
				p.hide(rapid.IntRange(1, 9).Draw(t, "every"), m.ID, candles[f])
			}
		}
	}
	p.Open = func(f Feed, from, to market.Time) (Source, error) {
		n, _ := slices.BinarySearchFunc(candles[f], from,
			func(c market.Candle, at market.Time) int { return int(c.Start - at) })
		return &memory{candles[f][n:]}, nil
	}
	p.SyntheticBook = rapid.Bool().Draw(t, "books")
	kinds := append(shipped.Definitions(),
		wildKind(rapid.Bool().Draw(t, "tickers"), rapid.Bool().Draw(t, "wants books"),
			intervals))
	for i := range rapid.IntRange(1, 3).Draw(t, "strategies") {
		s := StrategyPlan{Name: fmt.Sprint("s", i), Kind: kinds[len(kinds)-1], Markets: catalog.Markets(),
			Interval: market.Interval1m, Own: i > 0 && rapid.Bool().Draw(t, "own")}
		if rapid.Bool().Draw(t, "shipped") {
			s.Kind = rapid.SampledFrom(kinds).Draw(t, "kind")
			if s.Kind.Name == "rotation" {
				s.Values = map[string]any{"every": "5m", "candles": int64(4), "top": int64(1)}
			}
		}
		if s.Own {
			p.Deposits = append(p.Deposits, Deposit{Asset: eur.ID, Money: 50_000_00, Owner: market.StrategyID(i + 1)})
		}
		if rapid.Bool().Draw(t, "one market") {
			s.Markets = s.Markets[:1]
		}
		p.Strategies = append(p.Strategies, s)
	}
	p.Signals = signalsOf(t, catalog.Markets(), count)
	p.OneByOne = rapid.Bool().Draw(t, "one by one")
	p.DataLatency = rapid.SampledFrom([]market.Duration{0, time.Second, 90 * time.Second}).Draw(t, "data latency")
	p.Venue = sim.Config{Latency: rapid.SampledFrom([]market.Duration{0, time.Second, 90 * time.Second}).Draw(t,
		"latency"),
		HalfSpread:      rapid.SampledFrom([]market.Rate{0, 10_000}).Draw(t, "spread"),
		Path:            rapid.SampledFrom([]sim.Path{sim.Adaptive, sim.Pessimistic}).Draw(t, "path"),
		LimitFill:       rapid.SampledFrom([]sim.LimitFill{sim.Touch, sim.Through}).Draw(t, "fill"),
		VolumeShare:     rapid.SampledFrom([]market.Rate{0, 1_000_000}).Draw(t, "volume"),
		MissProbability: rapid.SampledFrom([]market.Rate{0, 50_000_000}).Draw(t, "missed touches"), MissSeed: 1}
	p.Account = accountOf(t, eur.ID)
	return p
}

// signalsOf draws signals over minutes, in half of the plans none.
func signalsOf(t *rapid.T, markets []*market.Market, minutes int) (list []market.Signal) {
	first := market.Time(1640995200_000_000_000) // of minutes()
	for i := range rapid.IntRange(0, 40).Draw(t, "signals") * rapid.IntRange(0, 1).Draw(t, "any") {
		s := market.Signal{Source: "model", Number: int64(i + 1), Value: float64(i), HasValue: true,
			Market: market.ID(rapid.IntRange(0, len(markets)).Draw(t, "of"))}
		s.Known = first + market.Time(rapid.IntRange(-5, minutes+5).Draw(t, "minute"))*market.Time(time.Minute)
		s.Known += market.Time(rapid.SampledFrom([]int64{0, 0, 1, 7e9, 59e9}).Draw(t, "later"))
		s.Time = s.Known - market.Time(rapid.IntRange(0, 2).Draw(t, "age"))*market.Time(time.Minute)
		if rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
			s.Until = s.Known + 90e9
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b market.Signal) int { return int(min(1, max(-1, a.Known-b.Known))) })
	return list
}

// hide lets a market move by every so many of its longer candles, which show more than the finer
// ones do.
func (p *Plan) hide(every int, m market.ID, longer []market.Candle) {
	if p.Coarse == nil {
		p.Coarse = map[market.ID][]CoarseSpan{}
	}
	for i := every - 1; i < len(longer); i += every {
		c := &longer[i]
		c.Low, c.High = c.Low-c.Low/50, c.High+c.High/50
		p.Coarse[m] = append(p.Coarse[m], CoarseSpan{From: c.Start, To: c.End(), Interval: c.Interval})
	}
}

// panicker is a testing.TB for helpers inside rapid.
type panicker struct{ testing.TB }

func (panicker) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (panicker) FailNow()                          { panic("failed") }
func (panicker) Helper()                           {}

// fives are the five-minute candles of minutes.
func fives(fine []market.Candle) (out []market.Candle) {
	for _, c := range fine {
		start := market.Interval5m.Floor(c.Start)
		if n := len(out); n == 0 || out[n-1].Start != start {
			c.Start, c.Interval = start, market.Interval5m
			out = append(out, c)
			continue
		}
		last := &out[len(out)-1]
		last.High, last.Low, last.Close = max(last.High, c.High), min(last.Low, c.Low), c.Close
		last.Volume += c.Volume
	}
	return out
}

// outcome is all that a run has come to.
type outcome struct {
	Commands []string
	State    string
}

// finish ends a run that was driven to the end of its data.
func (o *outcome) finish(t *rapid.T, d *driver) {
	var state bytes.Buffer
	require.NoError(t, d.engine.SaveAll(func(part string, data []byte) error {
		_, err := fmt.Fprintf(&state, "%s: %s\n", part, data)
		return err
	}))
	for _, a := range d.plan.Catalog.Assets() {
		fmt.Fprintln(&state, a.Symbol, d.venue.Balance(a.ID))
	}
	for _, m := range d.plan.Catalog.Markets() {
		fmt.Fprintln(&state, m.Name, d.venue.Last(m.ID), d.venue.Open(m.ID))
	}
	fmt.Fprintln(&state, d.venue.Ambiguous(), d.engine.Halts(), d.engine.Brackets().Unprotected(), d.rejected, d.last)
	for i := range d.plan.Strategies {
		fmt.Fprintln(&state, d.engine.Refused(market.StrategyID(i+1)))
	}
	o.State = state.String()
}

func (o *outcome) add(c *market.Command, sees market.Time) {
	o.Commands = append(o.Commands, fmt.Sprintf("%d %+v", sees, *c))
}

// runForked runs a plan and calls pause before the group at a time.
func runForked(t *rapid.T, p *Plan, at market.Time, pause func(d *driver, o *outcome)) (o outcome) {
	d, err := drive(context.Background(), p, runOptions{tracer: o.add, began: func(d *driver) {
		d.pauseAt = at
		d.pause = func(market.Time) error {
			d.pauseAt = math.MaxInt64
			pause(d, &o)
			return nil
		}
	}})
	require.NoError(t, err)
	o.finish(t, d)
	return o
}

// toTheEnd continues a fork over all candles that it has.
func toTheEnd(t *rapid.T, d *driver, before []string) (o outcome) {
	o.Commands = slices.Clone(before)
	d.tracer = o.add
	require.NoError(t, d.runPast(context.Background(), math.MaxInt64))
	d.knows = math.MaxInt64
	d.send(d.engine.Stop(d.engine.Now()))
	o.finish(t, d)
	return o
}

func TestAForkGoesOnAsItsRunDoesAndNeitherMovesTheOther(t *testing.T) {
	plain := func(s Source, _ Feed) Source { return s }
	rapid.Check(t, func(t *rapid.T) {
		p := forkPlan(t)
		alone := runForked(t, p, math.MaxInt64, nil)
		first, last := p.firstAndLast(t)
		at := first + (last-first)/1000*market.Time(rapid.IntRange(0, 1000).Draw(t, "fork"))
		noise := alteration{noise: true, seed: 3, owned: rapid.Bool().Draw(t, "owned")}
		var forks []outcome
		main := runForked(t, p, at, func(d *driver, o *outcome) {
			forker := newForker(d)
			wild, err := forker.fork(at+1, func(s Source, f Feed) Source { return noise.apply(s, f) }, nil)
			require.NoError(t, err)
			same, err := forker.fork(at+market.Time(time.Hour), plain, nil)
			require.NoError(t, err)
			again, err := newForker(same).fork(at, plain, nil)
			require.NoError(t, err)
			toTheEnd(t, wild, nil)
			forks = append(forks, toTheEnd(t, same, o.Commands), toTheEnd(t, again, o.Commands))
		})
		require.Equal(t, alone, main, "forks have changed the run")
		for _, fork := range forks {
			require.Equal(t, alone, fork)
		}
	})
}

// firstAndLast are the first and the last close of a plan's candles.
func (p *Plan) firstAndLast(t *rapid.T) (first, last market.Time) {
	source, err := p.Open(p.Feeds[0], 0, 0)
	require.NoError(t, err)
	candles := source.(*memory).candles
	return candles[0].End(), candles[len(candles)-1].End()
}
