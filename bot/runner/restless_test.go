package runner

import (
	"math/rand/v2"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// restlessParams are the parameters of restlessKind.
type restlessParams struct {
	Seed int64 `toml:"seed" default:"1" min:"0" doc:"of what it does"`
}

// restlessKind is a strategy that does something by chance with every ticker: it places orders of
// all kinds, moves them, cancels them.
var restlessKind = strategy.Define("restless", "does something by chance with every ticker",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p restlessParams, s strategy.Setup) (strategy.Strategy, error) {
		return &restless{chance: rand.New(rand.NewPCG(uint64(p.Seed), 5))}, nil
	})

type restless struct {
	strategy.Base
	chance *rand.Rand
}

func (s *restless) OnTicker(d *strategy.Desk, t market.Ticker) {
	const hundredth = market.Qty(1_000_000)
	step := market.Price(s.chance.IntN(12)) * 100
	last := t.Last / 100 * 100
	have := d.In(t.Market).Position().Amount
	switch draw := s.chance.IntN(16); { // what is refused is part of the play
	case draw < 4:
		_, _ = d.In(t.Market).Buy(strategy.Amount(hundredth), strategy.At(last-step))
	case draw < 6 && have >= hundredth:
		_, _ = d.In(t.Market).Sell(strategy.Amount(hundredth), strategy.At(last+step))
	case draw == 6:
		_, _ = d.In(t.Market).Buy(strategy.Amount(hundredth))
	case draw == 7 && have >= hundredth:
		_, _ = d.In(t.Market).Sell(strategy.Amount(hundredth), strategy.StopLoss(last-step-500))
	case draw == 8:
		_, _ = d.In(t.Market).Buy(strategy.Amount(hundredth), strategy.Exits(last-5000-step, last+3000+step))
	case draw == 9:
		_, _ = d.In(t.Market).Target(strategy.Amount(0))
	case draw < 15:
		s.change(d, t, draw)
	}
}

// change moves, replaces or cancels an open order.
func (s *restless) change(d *strategy.Desk, t market.Ticker, draw int) {
	open := d.In(t.Market).OpenOrders()
	if len(open) == 0 {
		return
	}
	o := open[s.chance.IntN(len(open))]
	if draw < 12 && o.Type == market.TypeLimit {
		away := market.Price(s.chance.IntN(20)-10) * 100
		_ = d.Update(o.ID, strategy.At(o.Price+away))
		return
	}
	if draw == 14 && o.Type == market.TypeLimit {
		_, _ = d.In(t.Market).Place(o.Side, strategy.Amount(o.AmountRemaining), strategy.At(o.Price-200),
			strategy.Replacing(o.ID))
		return
	}
	_ = d.Cancel(o.ID)
}

// keeperKind places one order to buy far below and leaves it there.
var keeperKind = scripted("keeper", whenFlat(func(m strategy.MarketDesk, _ market.Price) {
	_, _ = m.Buy(strategy.Amount(30_500_000), strategy.At(29_000_00))
}))

const keeperBot = `
[bot]
keep_orders = true
[exchange]
base_url = "https://exchange.test/v2"
key_env = "KEY"
secret_env = "SECRET"
[strategies.keeper]
kind = "keeper"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "12000"
operator_id = 7
`
