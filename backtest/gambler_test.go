package backtest

import (
	"math/rand/v2"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// gambler asks for anything at any time, as its seed says. It notes each answer and what its desk
// shows.
type gambler struct {
	strategy.Base
	wager
	random *rand.Rand
	note   func(format string, args ...any)
	pile   bool // mostly places orders that rest, hundreds of them
	last   [9]market.Price
	candle int64
	timers int
	asked  int // a strategy that answers its own orders could go on without end
}

// wager are the steps in which a gambler draws prices and amounts, and whether it asks at closes
// alone.
type wager struct {
	Unit int64 `toml:"unit" default:"1" doc:"of a price"`
	Size int64 `toml:"size" default:"250000" doc:"of an amount"`
	Calm bool  `toml:"calm" default:"false" doc:"ask at closes alone"`
}

// gamblers is the kind of a gambler with a seed.
func gamblers(seed uint64, needs strategy.Needs, pile bool, note func(string, ...any)) strategy.Definition {
	return strategy.Define("gambler", "for a test", func(wager) strategy.Needs { return needs },
		func(w wager, _ strategy.Setup) (strategy.Strategy, error) {
			return &gambler{wager: w, random: rand.New(rand.NewPCG(seed, 11)), note: note, pile: pile}, nil
		})
}

func (g *gambler) OnCandle(d *strategy.Desk, c market.Candle) {
	g.candle++
	g.last[c.Market] = c.Close / market.Price(g.Unit)
	for range g.random.IntN(3) {
		if g.pile && g.random.IntN(8) > 0 {
			g.rest(d, c.Market, g.last[c.Market])
		} else {
			g.ask(d, c.Market)
		}
	}
	if g.candle%16 == 0 {
		g.look(d, c.Market)
	}
}

func (g *gambler) OnTicker(d *strategy.Desk, t market.Ticker) {
	if g.last[t.Market] = t.Last / market.Price(g.Unit); !g.Calm && g.random.IntN(20) == 0 {
		g.ask(d, t.Market)
	}
}

func (g *gambler) OnBook(d *strategy.Desk, b strategy.OrderBook) {
	bid, _ := b.Bid(0)
	if !g.Calm && bid.Price > 0 && g.random.IntN(20) == 0 {
		g.last[b.Market()] = bid.Price / market.Price(g.Unit)
		g.ask(d, b.Market())
	}
}

func (g *gambler) OnFill(d *strategy.Desk, f market.Fill) {
	if !g.Calm && g.random.IntN(4) == 0 {
		g.ask(d, f.Market)
	}
}

func (g *gambler) OnOrder(d *strategy.Desk, o market.Order, r market.Report) {
	g.note("order %d %d %d", o.ID, r.Exec, r.Status)
	if !g.Calm && g.random.IntN(12) == 0 {
		g.ask(d, o.Market)
	}
}

func (g *gambler) OnTimer(d *strategy.Desk, name int64) {
	g.timers--
	g.note("timer %d", name)
	g.ask(d, market.ID(name))
}

// look notes the desk: orders, positions, money.
func (g *gambler) look(d *strategy.Desk, m market.ID) {
	for _, in := range [...]market.ID{m, 0} {
		sum, open := int64(0), d.OpenOrders()
		if in != 0 {
			open = d.In(in).OpenOrders()
		}
		for i := range open {
			sum = sum*31 + int64(open[i].ID) + int64(open[i].Status) + int64(open[i].AmountRemaining)
		}
		g.note("open in %d: %d %d", in, len(open), sum)
	}
	p, own := d.In(m).Position(), d.In(m).Market()
	available, held := d.Balance(own.Base)
	g.note("holds %d %s %s %s %d: %d %d %d at %d", p.Amount, p.Cost, p.Realised, p.Fees, p.Opened, available, held,
		d.In(m).Cash(), d.In(m).Last())
}

// ask draws one ask; refusals are part of the game.
func (g *gambler) ask(d *strategy.Desk, m market.ID) {
	price := g.last[m]
	if g.asked++; price == 0 || g.asked > 1500 {
		return
	}
	switch g.random.IntN(16) {
	case 0, 1, 2, 3:
		g.trade(d, m, price)
	case 4, 5:
		g.trigger(d, m, price)
	case 6, 7, 8:
		g.bracket(d, m, price)
	case 9, 10, 11, 12:
		g.change(d, m, price)
	case 13:
		g.rest(d, m, price)
	case 14:
		if g.timers < 4 && !g.Calm {
			g.timers++
			d.Timer(d.Now()+market.Time(g.random.Int64N(int64(market.Interval1m.Fixed())*20)), int64(m))
		}
	case 15:
		if g.random.IntN(6) == 0 {
			if g.random.IntN(2) == 0 {
				g.answer(0, d.CancelAll())
			} else {
				g.answer(0, d.In(m).CancelAll())
			}
		}
	}
}

// in is a price in units of the market.
func (g *gambler) in(price market.Price) market.Price { return price * market.Price(g.Unit) }

// near draws a price up to a half per cent from price.
func (g *gambler) near(price market.Price) market.Price {
	return g.in(max(1, price+market.Price(g.random.Int64N(int64(price)/100+1))-price/200))
}

func (g *gambler) amount() market.Qty { return market.Qty(1+g.random.Int64N(400)) * market.Qty(g.Size) }

// rest places limit orders up to five per cent away.
func (g *gambler) rest(d *strategy.Desk, m market.ID, price market.Price) {
	for range g.random.IntN(6) {
		away := market.Price(g.random.Int64N(int64(price)/20 + 1))
		side := market.Side(1 + g.random.IntN(2))
		if side == market.Buy {
			away = -away
		}
		g.answer(d.In(m).Place(side, strategy.Amount(g.amount()/10+1), strategy.At(g.in(price+away)),
			strategy.PostOnly()))
	}
}

func (g *gambler) trade(d *strategy.Desk, m market.ID, price market.Price) {
	side := market.Side(1 + g.random.IntN(2))
	switch g.random.IntN(5) {
	case 0:
		g.answer(d.In(m).Buy(strategy.Amount(g.amount())))
	case 1:
		g.answer(d.In(m).Sell(strategy.Amount(g.amount()), strategy.Tag("sale")))
	case 2:
		g.answer(d.In(m).Buy(strategy.Money(market.Money(1 + g.random.Int64N(900_00)))))
	case 3:
		g.answer(d.In(m).Place(side, strategy.Amount(g.amount()), strategy.At(g.near(price)),
			strategy.InForce(market.TimeInForce(1+g.random.IntN(3))),
			strategy.SelfTrade(market.SelfTradePrevention(1+g.random.IntN(4)))))
	case 4:
		g.answer(d.In(m).Target(strategy.Amount(g.amount())))
	}
}

func (g *gambler) trigger(d *strategy.Desk, m market.ID, price market.Price) {
	side := market.Side(1 + g.random.IntN(2))
	with := make([]strategy.Option, 1, 2)
	if g.random.IntN(2) == 0 {
		with = append(with, strategy.At(g.near(price)))
	}
	waits := strategy.TakeProfit
	if g.random.IntN(2) == 0 {
		waits = strategy.StopLoss
	}
	size := strategy.Amount(g.amount())
	with[0] = waits(g.near(price))
	g.answer(d.In(m).Place(side, size, with...))
}

func (g *gambler) bracket(d *strategy.Desk, m market.ID, price market.Price) {
	with := []strategy.Option{strategy.Keep(market.Leg(g.random.IntN(2)))}
	if g.random.IntN(2) == 0 {
		with = append(with, strategy.At(g.near(price)))
	}
	stop, target := price-1-price*market.Price(g.random.Int64N(90))/10_000, price+1+price*
		market.Price(g.random.Int64N(90))/10_000
	stop, target = g.in(stop), g.in(target)
	if g.random.IntN(6) == 0 {
		g.answer(d.In(m).Protect(strategy.Exits(stop, target), with[0]))
		return
	}
	g.answer(d.In(m).Buy(strategy.Amount(g.amount()), append(with, strategy.Exits(stop, target))...))
}

// change updates or cancels one of the open orders.
func (g *gambler) change(d *strategy.Desk, m market.ID, price market.Price) {
	open := d.In(m).OpenOrders()
	if g.random.IntN(2) == 0 {
		open = d.OpenOrders()
	}
	if len(open) == 0 {
		return
	}
	id := open[g.random.IntN(len(open))].ID
	switch g.random.IntN(5) {
	case 0:
		g.answer(id, d.Update(id, strategy.At(g.near(price))))
	case 1:
		g.answer(id, d.Update(id, strategy.Resize(strategy.Amount(g.amount()))))
	case 2:
		g.answer(id, d.Update(id, strategy.Trigger(g.near(price))))
	case 3:
		g.answer(id, d.Update(id, strategy.Exits(g.near(price), g.near(price))))
	case 4:
		g.answer(id, d.Cancel(id))
	}
}
