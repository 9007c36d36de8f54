package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

func TestWhatAStrategyWritesChangesNothing(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1)) })}
	s.order = func(d *strategy.Desk, o market.Order, r market.Report) {
		own, open := d.Order(1)
		require.True(t, open)
		resting, open := d.Resting(1)
		require.True(t, open)
		require.Equal(t, strategy.Resting{ID: own.ID, Status: own.Status, Price: own.Price, Amount: own.Amount,
			AmountRemaining: own.AmountRemaining}, resting)
		_, open = d.Resting(2)
		require.False(t, open)
		own.OnHold, own.Strategy, own.Amount, own.Side = 0, 9, 0, market.Sell
		list := d.OpenOrders()
		list[0] = market.Order{Strategy: 9}
		o.Amount, r.Amount = 0, 0
		m := d.In(1).Market()
		m.TickSize, m.Name = 12345, "nonsense"
	}
	b := one(t, s)
	before := *b.catalog.Market(1)
	b.flat(2, 100)
	require.Equal(t, before, *b.catalog.Market(1))
	o := b.account.Order(1)
	require.Equal(t, market.StrategyID(1), o.Strategy)
	require.Equal(t, btc, o.Amount)
	require.Empty(t, b.engine.Halts())
	require.NoError(t, b.account.Check())
}

func TestABookReadAfterOnBookHaltsTheStrategy(t *testing.T) {
	var kept strategy.OrderBook
	reads := 0
	s := &script{book: func(_ *strategy.Desk, b strategy.OrderBook) {
		if reads++; reads > 1 {
			kept.Bid(0)
		}
		bid, ok := b.Bid(0)
		require.True(t, ok)
		require.Equal(t, 99*at1, bid.Price)
		_, ok = b.Ask(0)
		require.False(t, ok)
		_, _, both := b.Best()
		require.False(t, both)
		kept = b
	}}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s, Markets: []market.ID{1}, Book: true}}})
	book := &market.OrderBook{Market: 1, Bids: []market.Level{{Price: 99 * at1, Amount: btc}}}
	b.step(&market.Event{Kind: market.KindBook, At: start, Book: book})
	require.Empty(t, b.engine.Halts())
	b.step(&market.Event{Kind: market.KindBook, At: start, Book: book})
	require.Len(t, b.engine.Halts(), 1)
	require.Contains(t, b.engine.Halts()[0].Reason, "an order book was read after the OnBook that was given it")
}

func TestTheBestOfABookAreItsFirstLevels(t *testing.T) {
	reads := 0
	s := &script{book: func(_ *strategy.Desk, b strategy.OrderBook) {
		first, _ := b.Bid(0)
		last, _ := b.Ask(0)
		bid, ask, both := b.Best()
		require.True(t, both)
		require.Equal(t, [2]market.Level{first, last}, [2]market.Level{bid, ask})
		reads++
	}}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s, Markets: []market.ID{1}, Book: true}}})
	book := &market.OrderBook{Market: 1,
		Bids: []market.Level{{Price: 99 * at1, Amount: btc}, {Price: 98 * at1, Amount: btc}},
		Asks: []market.Level{{Price: 100 * at1, Amount: 2 * btc}}}
	b.step(&market.Event{Kind: market.KindBook, At: start, Book: book})
	require.Equal(t, 1, reads)
}
