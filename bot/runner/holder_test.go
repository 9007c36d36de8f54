package runner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/internal/lives"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// holderParams are the parameters of holderKind.
type holderParams struct {
	Seed  int64 `toml:"seed" default:"1" min:"0" doc:"of what it does"`
	Style int64 `toml:"style" default:"0" min:"0" doc:"place in holderStyles"`
}

// holderStyles are the styles of holderKind.
var holderStyles = slices.Concat(lives.Styles, lives.WideStyles)

// holderKind is the strategy of lives: it holds a position nearly always, with exits as its style
// has them.
var holderKind = strategy.Define("holder", "holds a position with exits",
	func(holderParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p holderParams, s strategy.Setup) (strategy.Strategy, error) {
		return &holder{style: holderStyles[p.Style], chance: rand.New(rand.NewPCG(uint64(p.Seed), 9)),
			markets: s.Markets}, nil
	})

type holder struct {
	strategy.Base
	style   string
	chance  *rand.Rand
	markets []*market.Market
	next    market.Time
	candles map[market.ID]market.Time // the start of the last one
}

// OnCandle panics where a candle comes twice, or behind a later one.
func (s *holder) OnCandle(_ *strategy.Desk, c market.Candle) {
	if s.candles == nil {
		s.candles = map[market.ID]market.Time{}
	}
	if last := s.candles[c.Market]; c.Start <= last {
		panic(fmt.Sprintf("a candle of %s after that of %s", c.Start, last))
	}
	s.candles[c.Market] = c.Start
}

func (s *holder) OnTicker(d *strategy.Desk, t market.Ticker) {
	m := d.In(t.Market)
	if d.Now() < s.next || m.Working() {
		return
	}
	switch {
	case s.style == "rebalance":
		s.rebalance(d)
	case m.Held() == 0 && len(m.OpenOrders()) == 0:
		s.buy(m, t.Last, 900_00)
	case s.style == "pyramid" && m.Held() < m.AmountOf(strategy.Money(2000_00), t.Last):
		s.buy(m, t.Last, 700_00)
	case s.style == "leave" && s.chance.IntN(2) == 0:
		_ = m.Close()
	case s.style == "leave":
		_ = m.ClosePart(strategy.PositionShare(40 * market.Percent))
	}
	s.next = d.Now().Add(market.Duration(20+s.chance.IntN(40)) * market.Duration(time.Second))
}

func (s *holder) buy(m strategy.MarketDesk, last market.Price, money market.Money) {
	at := func(percent int64) market.Price { return (last + last*market.Price(percent)/100) / 5000 * 5000 }
	exits := []strategy.Option{strategy.Exits(at(-4), at(4))}
	switch s.style {
	case "stop":
		exits = []strategy.Option{strategy.StopAt(at(-4))}
	case "trail":
		exits = []strategy.Option{strategy.Exits(at(-4), at(9)), strategy.Trail(4 * market.Percent),
			strategy.ByPrices()}
	case "parts":
		exits = []strategy.Option{strategy.Exits(at(-4), at(9)), strategy.PartAt(at(4), 40*market.Percent)}
	case "twap":
		exits = append(exits, strategy.TWAP(20*time.Second, 2))
	case "maker":
		exits = append(exits, strategy.MakerFirst(2*time.Second), strategy.TakeAfter(10*time.Second))
	case "limit":
		exits = append(exits, strategy.At((last-last/400)/5000*5000))
	case "count":
		exits = []strategy.Option{strategy.StopAt(at(-4)), strategy.ExitAfter(2)}
	case "after":
		exits = []strategy.Option{strategy.StopAt(at(-4)), strategy.ExitAfterTime(90 * time.Second)}
	}
	_, _ = m.Buy(strategy.Money(money), slices.Clip(exits)...)
}

func (s *holder) rebalance(d *strategy.Desk) {
	first := market.Rate(1 + s.chance.IntN(5))
	_ = d.Rebalance(strategy.Portfolio{Band: market.Percent, Weights: []strategy.Weight{
		{Market: s.markets[0].ID, Share: first * 4 * market.Percent},
		{Market: s.markets[1].ID, Share: (6 - first) * 4 * market.Percent}}})
}
