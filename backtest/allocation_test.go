package backtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// allIn buys once, for all its cash at the close.
type allIn struct {
	strategy.Base
	bought bool
}

func (s *allIn) OnCandle(d *strategy.Desk, c market.Candle) {
	if s.bought {
		return
	}
	s.bought = true
	if _, err := d.In(c.Market).Buy(strategy.CashShare(100 * market.Percent)); err != nil {
		d.Log().Error().Err(err).Msg("buy")
	}
}

// lastCash notes the money of two strategies at the end of a run.
type lastCash struct {
	currency market.AssetID
	of       [3]market.Money
}

func (o *lastCash) Filled(*state.Order, *market.Fill)                     {}
func (o *lastCash) Closed(*state.Order)                                   {}
func (o *lastCash) Approved(state.Terms, *market.Command, []state.Figure) {}

func (o *lastCash) Ended(a *state.Account) {
	for s := market.StrategyID(1); s <= 2; s++ {
		o.of[s], _ = a.Balance(s, o.currency)
	}
}

// A market buy by amount that fills dearer than it was decided takes the money of its strategy
// below zero: docs/operate.md says so.
func TestAnAllocationGoesBelowZeroByADearerFill(t *testing.T) {
	buyer := strategy.Define("allin", "", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &allIn{}, nil })
	idler := strategy.Define("idler", "", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return strategy.Base{}, nil })
	p, candles := planOver(t, 3, 0, buyer, nil)
	for i, price := range []market.Price{100_00, 110_00, 110_00} {
		c := &candles[i]
		c.Open, c.High, c.Low, c.Close = price, price, price, price
	}
	p.Fees = Fees{}
	p.Strategies[0].Own = true
	other := p.Strategies[0]
	other.Name, other.Kind = "other", idler
	p.Strategies = append(p.Strategies, other)
	p.Deposits = []Deposit{{Asset: p.Currency.ID, Money: 1_000_00, Owner: 1},
		{Asset: p.Currency.ID, Money: 1_000_00, Owner: 2}}
	end := &lastCash{currency: p.Currency.ID}
	_, err := Run(context.Background(), p, Options{Observer: end})
	require.NoError(t, err)
	require.Equal(t, market.Money(-100_00), end.of[1])
	require.Equal(t, market.Money(1_000_00), end.of[2], "the other strategy's books know nothing of it")
}
