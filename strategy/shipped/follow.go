package shipped

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Follow turns signals from outside into orders: actions, positions or target weights. It has no
// opinion of its own.
//
// # Rules
//
// Of one signal a target goes before a position, and a position before an action.
//
//   - buy, or position long: if the market is flat, buy `size`, at market or `limit` below the
//     latest price, with `stop`, `target` and `trail` as its exits. While there is a position, or
//     its buy is open, nothing: a repeated signal is harmless.
//   - sell, exit, or position flat: leave the position and cancel what is open (MarketDesk.Close).
//     Without either, nothing.
//   - A target weight: buy or sell at market what is missing to that part of the equity, where it
//     is at least `band` of it. 0 leaves the position.
//
// A position and a target are states: what cannot be done now, because of the warm-up, a missing
// price or an order that has to end first, is done at the first candle or report at which it can,
// while the signal holds. An action in the warm-up is dropped; one during a sale waits for its end.
// A stop that sells is the end of what a signal began: the same state heard before it does not buy
// again, the next signal does.
//
// A signal about an earlier time than one that was heard is a revision of the past, and does
// nothing. A refusal of the gate is in the log, and is not tried again.
var Follow = strategy.Define("follow", "turns the signals of a source into orders",
	func(p followParams) strategy.Needs { return strategy.Needs{Signals: []string{p.Source}} }, followParams.build)

type followParams struct {
	Source string        `toml:"source" default:"model" doc:"name of the [signals.NAME] that it follows"`
	Size   strategy.Size `toml:"size" default:"95% cash" doc:"how much a buy, or a long position, takes"`
	Stop   market.Rate   `toml:"stop" default:"0%" min:"0%" max:"90%" doc:"stop below the price of a buy; 0: none"`
	Target market.Rate   `toml:"target" default:"0%" min:"0%" max:"1000%" doc:"target above the price of a buy; 0: none"`
	Trail  market.Rate   `toml:"trail" default:"0%" min:"0%" max:"90%" doc:"trailing stop below the highest close; 0: none"`
	Limit  market.Rate   `toml:"limit" default:"0%" min:"0%" max:"50%" doc:"buys at a limit so far below the price; 0: at market"`
	Band   market.Rate   `toml:"band" default:"1%" min:"0%" max:"100%" doc:"least part of the equity that a target weight moves"`
}

type follow struct {
	strategy.Base
	followParams
	strategy.PerMarket[wish]
	markets []market.ID
}

// wish is what the signals want of one market and is not done yet.
type wish struct {
	Is      int         `json:"is,omitzero"`      // nothing, wantLong, wantFlat or wantWeight
	Weight  market.Rate `json:"weight,omitzero"`  // of wantWeight
	Until   market.Time `json:"until,omitzero"`   // of the signal; 0: it holds
	Heard   market.Time `json:"heard,omitzero"`   // the latest time that a signal was about
	Leaving bool        `json:"leaving,omitzero"` // a Close is under way
}

// What a wish is.
const (
	wantLong = iota + 1
	wantFlat
	wantWeight
)

func (p followParams) build(s strategy.Setup) (strategy.Strategy, error) {
	f := &follow{followParams: p, PerMarket: strategy.Each(s, func(market.Market) wish { return wish{} })}
	for _, m := range s.Markets {
		f.markets = append(f.markets, m.ID)
	}
	return f, nil
}

// OnSignal takes a signal over for its market, or for all.
func (f *follow) OnSignal(d *strategy.Desk, s market.Signal) {
	if s.Market != 0 {
		f.take(d.In(s.Market), &s)
		return
	}
	for _, m := range f.markets {
		f.take(d.In(m), &s)
	}
}

// take makes a wish of a signal, and tries it.
func (f *follow) take(m strategy.MarketDesk, s *market.Signal) {
	w := f.In(m.ID())
	if s.Time < w.Heard {
		return
	}
	w.Heard = s.Time
	is := 0
	switch {
	case s.HasTarget && s.Target > 0:
		is, w.Weight = wantWeight, market.Rate(math.Round(s.Target*float64(100*market.Percent)))
	case s.HasTarget || s.Stance == market.StanceFlat:
		is = wantFlat
	case s.Stance == market.StanceLong:
		is = wantLong
	case m.Warming(): // an action is of its moment
		return
	case s.Action == market.ActBuy:
		is = wantLong
	case s.Action != 0:
		is = wantFlat
	}
	if is != 0 {
		w.Is, w.Until = is, s.Until
		f.try(m)
	}
}

// OnCandle tries what could not be done before.
func (f *follow) OnCandle(d *strategy.Desk, c market.Candle) { f.again(d, c.Market) }

// OnOrder tries what had to wait for the end of an order.
func (f *follow) OnOrder(d *strategy.Desk, o market.Order, _ market.Report) {
	if o.Done() {
		f.again(d, o.Market)
	}
}

// OnCloseFailed tries to leave again, at the next candle, unless something else is wanted now.
func (f *follow) OnCloseFailed(_ *strategy.Desk, failed strategy.CloseFailed) {
	if w := f.In(failed.Market); w.Leaving {
		if w.Leaving = false; w.Is == 0 {
			w.Is, w.Until = wantFlat, 0
		}
	}
}

func (f *follow) again(d *strategy.Desk, in market.ID) {
	w, m := f.In(in), d.In(in)
	w.Leaving = w.Leaving && !m.Flat()
	if w.Is != 0 && w.Until != 0 && d.Now() >= w.Until {
		w.Is = 0
	}
	if w.Is != 0 {
		f.try(m)
	}
}

// try does what a market is to have, if it can be done now.
func (f *follow) try(m strategy.MarketDesk) {
	w := f.In(m.ID())
	if m.Warming() || m.Last() == 0 || w.Leaving && w.Is != wantFlat {
		return
	}
	switch w.Is {
	case wantLong:
		if m.Flat() {
			_, _ = m.Buy(f.Size, f.entry(m)...)
		}
	case wantFlat:
		w.Leaving = !m.Flat() && m.Close(strategy.Tag("signal over")) == nil && !m.Flat()
	case wantWeight:
		f.weigh(m, w.Weight)
	}
	w.Is = 0
}

// entry is the options of a buy.
func (f *follow) entry(m strategy.MarketDesk) []strategy.Option {
	price, with := m.Last(), []strategy.Option{strategy.Tag("signal")}
	if f.Limit > 0 {
		price = price.Below(f.Limit)
		with = append(with, strategy.At(price))
	}
	if f.Stop > 0 {
		with = append(with, strategy.StopAt(price.Below(f.Stop)))
	}
	if f.Target > 0 {
		with = append(with, strategy.TargetAt(price.Above(f.Target)))
	}
	if f.Trail > 0 {
		with = append(with, strategy.Trail(f.Trail))
	}
	return with
}

// weigh brings the position to a part of the equity, where enough is missing.
func (f *follow) weigh(m strategy.MarketDesk, weight market.Rate) {
	price := m.Last()
	missing := m.AmountOf(strategy.EquityShare(weight), price) - m.Position().Amount
	if max(missing, -missing) >= m.AmountOf(strategy.EquityShare(f.Band), price) {
		_, _ = m.Target(strategy.EquityShare(weight), strategy.Tag("signal weight"))
	}
}
