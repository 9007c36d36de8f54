package strategytest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

func TestFillsMoveCashAndPosition(t *testing.T) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 2, 4, 1000_00)
	d := b.Desk()
	id, err := d.In(m.ID).Buy(strategy.Amount(2_0000), strategy.At(100_00))
	require.NoError(t, err)
	require.Equal(t, market.Money(800_00), d.In(m.ID).Cash()) // the order holds the rest

	b.Fill(id, 99_00, 5000)
	o, open := d.Order(id)
	require.True(t, open)
	require.Equal(t, market.Qty(1_5000), o.AmountRemaining)
	require.Equal(t, market.Price(99_00), d.In(m.ID).Cost())
	require.Equal(t, market.Money(950_50), b.Cash(m))

	b.Fill(id, 99_00, 1_5000)
	_, open = d.Order(id)
	require.False(t, open)
	id, err = d.In(m.ID).Sell(strategy.Amount(2_0000))
	require.NoError(t, err)
	b.Fill(id, 101_00, 2_0000)
	require.Zero(t, b.Position(m).Amount)
	require.Zero(t, b.Position(m).Cost.Sign())
	require.Equal(t, market.Money(1004_00), b.Cash(m))
}

func TestARefusalLeavesNoOrder(t *testing.T) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 2, 4, 1000_00)
	why := errors.New("halted")
	b.Refuse = func(*market.Command) error { return why }
	_, err := b.Desk().In(m.ID).Buy(strategy.Money(50_00), strategy.Tag("try"))
	require.ErrorIs(t, err, why)
	require.Empty(t, b.Desk().OpenOrders())
	require.Equal(t, []string{"buy for 50 (try) refused"}, b.Asked())
	require.Empty(t, b.Asked())
}

// Every method and option of a Desk that asks for something, and the line it becomes.
func TestAsksSayEverythingThatIsNotTheDefault(t *testing.T) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 2, 4, 1000_00)
	d := b.Desk()
	asks := []struct {
		ask  func() (market.OrderID, error)
		want string
	}{
		{func() (market.OrderID, error) {
			return d.In(m.ID).Sell(strategy.Amount(1), strategy.At(5), strategy.InForce(market.FOK))
		},
			"sell 0.0001 at 0.05 FOK"},
		{func() (market.OrderID, error) {
			return d.In(m.ID).Sell(strategy.Amount(2_0000), strategy.StopLoss(95_00))
		},
			"sell 2 stopLoss 95 on lastTrade"},
		{func() (market.OrderID, error) {
			return d.In(m.ID).Sell(strategy.Amount(2_0000), strategy.StopLoss(95_00), strategy.At(94_00),
				strategy.Reference(market.BestBid))
		}, "sell 2 at 94 stopLossLimit 95 on bestBid"},
		{func() (market.OrderID, error) {
			return d.In(m.ID).Buy(strategy.Amount(1_0000), strategy.TakeProfit(90_00),
				strategy.SelfTrade(market.CancelNewest))
		}, "buy 1 takeProfit 90 on lastTrade cancelNewest"},
		{func() (market.OrderID, error) {
			return d.In(m.ID).Buy(strategy.Amount(1_0000), strategy.StopAt(95_00), strategy.TargetAt(110_00),
				strategy.Keep(market.KeepTarget))
		}, "buy 1 stop 95 target 110 keeping the target"},
		{func() (market.OrderID, error) {
			return 2, d.Update(2, strategy.Trigger(96_00), strategy.InForce(market.IOC))
		}, "update 2 trigger 96 IOC"},
		{func() (market.OrderID, error) {
			return 1, d.Update(1, strategy.PostOnly(), strategy.SelfTrade(market.CancelBoth))
		}, "update 1 post-only true cancelBoth"},
		{func() (market.OrderID, error) { return 4, d.Update(4, strategy.Resize(strategy.Money(50_00))) },
			"update 4 for 50"},
	}
	for _, a := range asks {
		_, err := a.ask()
		require.NoError(t, err)
		require.Equal(t, []string{a.want}, b.Asked())
	}
	first, _ := d.Order(1)
	second, _ := d.Order(2)
	require.Equal(t, market.Price(96_00), second.TriggerAmount)
	require.Equal(t, market.IOC, second.TimeInForce)
	require.Equal(t, market.CancelBoth, first.SelfTradePrevention)
	require.True(t, first.PostOnly)
}

func ExampleBench() {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 2, 4, 1000_00)
	d := b.Desk() // what a strategy would be called with

	id, _ := d.In(m.ID).Buy(strategy.Amount(1_5000), strategy.At(99_50), strategy.PostOnly(), strategy.Tag("entry"))
	_ = d.Update(id, strategy.At(99_75))
	_ = d.Cancel(id)
	_, _ = d.In(m.ID).Buy(strategy.Amount(1_0000), strategy.StopAt(95_00), strategy.TargetAt(110_00))
	for _, line := range b.Asked() {
		fmt.Println(line)
	}
	// Output:
	// buy 1.5 at 99.5 post-only (entry)
	// update 1 price 99.75
	// cancel 1
	// buy 1 stop 95 target 110
}

// pairs buys the first market of a whole group.
type pairs struct{ strategy.Base }

func (*pairs) OnCandles(d *strategy.Desk, g strategy.Group) {
	if c, found := g.In(1); found && len(g.Missing) == 0 {
		d.In(c.Market).Buy(strategy.Money(10_00))
	}
}

func TestAGroupIsHandedToTheStrategyWithItsMissingMarkets(t *testing.T) {
	var b strategytest.Bench
	first, second := b.Market("BTC-EUR", 2, 4, 1000_00), b.Market("ETH-EUR", 2, 4, 0)
	s, d := &pairs{}, b.Desk()
	one := market.Candle{Market: first.ID, Close: 100_00, Interval: market.Interval1h}
	two := market.Candle{Market: second.ID, Close: 10_00, Interval: market.Interval1h}
	b.Group(s, d, one)
	require.Empty(t, b.Asked())
	b.Group(s, d, one, two)
	require.Equal(t, []string{"buy for 10 on BTC-EUR"}, b.Asked())
}

func TestACloseEndsTheOtherOrdersAndIsFilledByTheTest(t *testing.T) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 2, 4, 1000_00)
	d := b.Desk().In(m.ID)
	require.NoError(t, d.Close())
	id, err := d.Buy(strategy.Amount(2_0000), strategy.At(100_00))
	require.NoError(t, err)
	b.Fill(id, 100_00, 1_0000)
	require.NoError(t, d.ClosePart(strategy.Amount(4000), strategy.Tag("half")))
	require.Len(t, d.OpenOrders(), 2, "the buy stays")
	b.Fill(2, 101_00, 4000)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
	require.Len(t, d.OpenOrders(), 1)
	b.Fill(3, 101_00, 6000)
	require.Zero(t, b.Position(m).Amount)
	require.Equal(t, market.Money(1001_00), b.Cash(m))
	require.Equal(t, []string{"close all", "buy 2 at 100", "close 0.4 (half)", "close all"}, b.Asked())
}

func TestAReplacementDropsTheOldOrderUnlessCancelsArePending(t *testing.T) {
	var b strategytest.Bench
	m := b.Market("BTC-EUR", 2, 4, 1000_00)
	d := b.Desk()
	for _, pending := range []bool{false, true} {
		b.Pending = pending
		old, err := d.In(m.ID).Buy(strategy.Amount(1_0000), strategy.At(100_00))
		require.NoError(t, err)
		id, err := d.In(m.ID).Buy(strategy.Amount(1_0000), strategy.At(90_00), strategy.Replacing(old))
		require.NoError(t, err)
		_, open := d.Order(old)
		require.Equal(t, pending, open)
		require.Equal(t, []string{"buy 1 at 100", fmt.Sprintf("buy 1 at 90 replacing %d", old)}, b.Asked())
		b.Drop(id)
	}
	b.Refuse = func(*market.Command) error { return errors.New("no") }
	_, err := d.In(m.ID).Buy(strategy.Amount(1_0000), strategy.Replacing(1))
	require.EqualError(t, err, "no")
	require.Equal(t, []string{"buy 1 refused replacing 1"}, b.Asked())
}
