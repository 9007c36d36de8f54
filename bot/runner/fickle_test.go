package runner

import (
	"fmt"
	"math/rand/v2"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// fickleParams are the parameters of fickleKind.
type fickleParams struct {
	Seed   int64 `toml:"seed" default:"1" min:"0" doc:"of what it does"`
	Closes bool  `toml:"closes" default:"false" doc:"it calls Close and replaces orders, too"`
}

// fickleKind is a strategy that does something by chance at every close: orders of every type with
// every condition, brackets, changes of what is open. What it does hangs on its seed, the candle
// and what it has; it looks at nothing in which a backtest and a live bot differ.
var fickleKind = strategy.Define("fickle", "does something by chance at every close",
	func(fickleParams) strategy.Needs { return strategy.Needs{} },
	func(p fickleParams, s strategy.Setup) (strategy.Strategy, error) {
		return &fickle{seed: uint64(p.Seed), closes: p.Closes}, nil
	})

type fickle struct {
	strategy.Base
	seed   uint64
	closes bool
}

// whim is what one close leads to.
type whim struct {
	*strategy.Desk
	chance *rand.Rand
	m      market.Market
	close  market.Price
	amount market.Qty
	have   market.Qty

	// What rests on one side keeps it from resting anything on the other: own orders that meet are
	// kept apart by self-trade prevention, and a backtest's bracket answers that within the path, a
	// live one when it hears of it.
	selling, buying bool
}

// ticks is a price so many ticks from the close, at least.
func (w *whim) ticks(least, most int) market.Price {
	return w.close + w.m.TickSize*market.Price(least+w.chance.IntN(most-least+1))
}

// OnCandle acts. What is refused is part of the play.
func (s *fickle) OnCandle(d *strategy.Desk, c market.Candle) {
	if s.closes && s.close(d.In(c.Market), c) {
		return
	}
	w := &whim{Desk: d, m: d.In(c.Market).Market(), close: c.Close,
		chance: rand.New(rand.NewPCG(s.seed, uint64(c.Start)))}
	w.amount = w.m.RoundAmount(w.m.AmountFor(w.m.MoneyValue(200_00+market.Money(w.chance.IntN(1000_00))), c.Close))
	w.have = d.In(c.Market).Position().Amount
	for _, o := range d.In(c.Market).OpenOrders() {
		if o.Side == market.Sell {
			w.have -= o.AmountRemaining
		}
		w.selling = w.selling || o.Side == market.Sell || o.Bracket != (market.Bracket{})
		w.buying = w.buying || o.Side == market.Buy
	}
	switch draw := w.chance.IntN(24); {
	case w.selling && rests(draw) && draw < 10, w.buying && rests(draw) && draw >= 8:
	case draw < 10:
		w.enter(draw)
	case draw < 16:
		w.leave(draw)
	case draw < 19:
		w.guard(draw)
	default:
		w.change(draw)
	}
}

// close leaves all of the position, or a part of it, at one close of nine, and replaces an order at
// one of seven. It draws apart, so that the rest is as without it.
func (s *fickle) close(m strategy.MarketDesk, c market.Candle) bool {
	chance := rand.New(rand.NewPCG(s.seed+1, uint64(c.Start)))
	switch chance.IntN(27) {
	case 0, 1:
		_ = m.Close()
	case 2:
		_ = m.ClosePart(strategy.Amount(m.Position().Amount / market.Qty(2+chance.IntN(3))))
	case 3, 4, 5, 6:
		return replaceOne(m, chance)
	default:
		return false
	}
	return true
}

// replaceOne puts another limit order, further from the market, in the place of an open one.
func replaceOne(m strategy.MarketDesk, chance *rand.Rand) bool {
	for _, o := range m.OpenOrders() {
		if o.Type != market.TypeLimit {
			continue
		}
		away := m.Market().TickSize * market.Price(1+chance.IntN(3))
		if o.Side == market.Buy {
			away = -away
		}
		size := o.AmountRemaining * market.Qty(2+chance.IntN(3)) / 3 // less, as much, or more
		_, err := m.Place(o.Side, strategy.Amount(size), strategy.At(o.Price+away), strategy.Replacing(o.ID))
		return err == nil
	}
	return false
}

// rests reports whether a whim leads to an order that may rest.
func rests(draw int) bool { return draw < 17 && draw != 3 && draw != 4 && draw != 12 }

// conditions are those of a limit order, by chance.
func (w *whim) conditions() []strategy.Option {
	return [...][]strategy.Option{nil, {strategy.PostOnly()}, {strategy.InForce(market.IOC)},
		{strategy.InForce(market.FOK)}, {strategy.Tag("fickle"),
			strategy.SelfTrade(market.CancelNewest)}}[w.chance.IntN(5)]
}

// reference is what a trigger watches, by chance.
func (w *whim) reference() strategy.Option {
	return strategy.Reference([...]market.TriggerReference{market.LastTrade, market.BestBid, market.BestAsk,
		market.MidPrice}[w.chance.IntN(4)])
}

func (w *whim) enter(draw int) {
	id := w.m.ID
	switch draw {
	case 0, 1, 2:
		at := strategy.At(w.ticks(-4, 1))
		_, _ = w.In(id).Buy(strategy.Amount(w.amount), append(w.conditions(), at)...)
	case 3:
		_, _ = w.In(id).Buy(strategy.Amount(w.amount))
	case 4:
		_, _ = w.In(id).Buy(strategy.Money(market.Money(w.chance.IntN(400_00))))
	case 5:
		_, _ = w.In(id).Buy(strategy.Amount(w.amount), strategy.StopLoss(w.ticks(0, 4)), w.reference())
	case 6:
		trigger := w.ticks(0, 4)
		_, _ = w.In(id).Buy(strategy.Amount(w.amount), strategy.StopLoss(trigger),
			strategy.At(trigger+w.m.TickSize*market.Price(w.chance.IntN(3)-1)), w.reference())
	case 7:
		_, _ = w.In(id).Buy(strategy.Amount(w.amount), strategy.TakeProfit(w.ticks(-4, 0)), w.reference())
	case 8:
		_, _ = w.In(id).Buy(strategy.Amount(w.amount), strategy.Exits(w.ticks(-4, -1), w.ticks(1, 4)),
			strategy.Keep(market.Leg(w.chance.IntN(2))))
	case 9:
		_, _ = w.In(id).Buy(strategy.Amount(w.amount), strategy.Exits(w.ticks(-6, -3), w.ticks(1, 4)),
			strategy.At(w.ticks(-2, 1)), strategy.Keep(market.Leg(w.chance.IntN(2))))
	}
}

func (w *whim) leave(draw int) {
	id, part := w.m.ID, min(w.amount, w.have)
	if w.chance.IntN(2) == 0 {
		part = w.have
	}
	switch draw {
	case 10, 11:
		at := strategy.At(w.ticks(-1, 4))
		_, _ = w.In(id).Sell(strategy.Amount(part), append(w.conditions(), at)...)
	case 12:
		_, _ = w.In(id).Sell(strategy.Amount(part))
	case 13:
		_, _ = w.In(id).Sell(strategy.Amount(part), strategy.StopLoss(w.ticks(-4, 0)), w.reference())
	case 14:
		trigger := w.ticks(-4, 0)
		_, _ = w.In(id).Sell(strategy.Amount(part), strategy.StopLoss(trigger),
			strategy.At(trigger-w.m.TickSize*market.Price(w.chance.IntN(3)-1)), w.reference())
	case 15:
		trigger := w.ticks(0, 4)
		_, _ = w.In(id).Sell(strategy.Amount(part), strategy.TakeProfit(trigger),
			strategy.At(trigger-w.m.TickSize*market.Price(w.chance.IntN(2))), w.reference())
	}
}

func (w *whim) guard(draw int) {
	switch draw {
	case 16:
		_, _ = w.In(w.m.ID).Protect(strategy.Exits(w.ticks(-4, -1), w.ticks(1, 4)),
			strategy.Keep(market.Leg(w.chance.IntN(2))))
	case 17:
		_, _ = w.In(w.m.ID).Target(strategy.Amount(w.amount))
	case 18:
		_ = w.In(w.m.ID).CancelAll()
	}
}

// change alters or cancels one of the open orders.
func (w *whim) change(draw int) {
	open := w.In(w.m.ID).OpenOrders()
	if len(open) == 0 {
		return
	}
	o := open[w.chance.IntN(len(open))]
	switch {
	case draw == 19:
		_ = w.Cancel(o.ID)
	case draw == 20:
		_ = w.Update(o.ID, strategy.Resize(strategy.Amount(o.FilledAmount+w.amount)))
	case o.Type.HasTrigger() && !o.Triggered:
		_ = w.Update(o.ID, strategy.Trigger(o.TriggerAmount+w.m.TickSize*market.Price(w.chance.IntN(5)-2)))
	case draw == 21:
		_ = w.Update(o.ID, strategy.At(w.ticks(-4, 4)), strategy.Resize(strategy.Amount(w.amount)))
	case draw == 22:
		_ = w.Update(o.ID, strategy.InForce(market.IOC))
	default:
		_ = w.Update(o.ID, strategy.At(w.ticks(-4, 4)))
	}
}

// fickleSection is a strategy of the kind in a config, with its own money.
func fickleSection(name, markets string, seed uint64) string {
	return section(name, "fickle", markets, "1m", fmt.Sprintf("allocation = \"8000\"\nparams.seed = %d", seed))
}
