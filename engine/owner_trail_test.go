package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// moveByHand is what the exchange tells of an exit whose trigger someone else has moved.
func (b *bench) moveByHand(id market.OrderID, to market.Price) []string {
	b.now += 1e9
	o := *b.account.Order(id)
	o.TriggerAmount, o.Updated = to*at1, b.now
	r := market.ReportOf(&o, market.ExecRestated)
	return b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: &r})
}

// follows prices the market, and answers the move of the stop that follows.
func (b *bench) follows(p market.Price) (sent []string) {
	b.now += 5e9
	commands := b.engine.Step(&market.Event{Kind: market.KindTrade, At: b.now,
		Trade: &market.Trade{Market: 1, Price: p * at1}})
	for i := range commands {
		sent = append(sent, describe(&commands[i]))
		o := *b.account.Order(2)
		o.TriggerAmount = commands[i].Order.TriggerAmount
		r := market.ReportOf(&o, market.ExecUpdated)
		r.Updated = b.now
		b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: &r})
	}
	return sent
}

// A trailing stop that the owner lowers follows at the owner's distance; one that the owner raises
// stays there until the terms pass it.
func TestATrailingStopThatTheOwnerMovesKeepsTheOwnersTerms(t *testing.T) {
	for name, c := range map[string]struct {
		with   []strategy.Option
		to     market.Price
		prices []market.Price
		sent   []string
	}{
		"lowered": {[]strategy.Option{strategy.Trail(10 * percent)}, 80,
			[]market.Price{100, 99, 101, 110, 120}, []string{"update 2 stop 80.8 attached",
				"update 2 stop 88 attached", "update 2 stop 96 attached"}},
		"lowered, a distance": {[]strategy.Option{strategy.TrailBy(10 * at1)}, 80,
			[]market.Price{100, 99, 101, 110}, []string{"update 2 stop 81 attached", "update 2 stop 90 attached"}},
		"raised": {[]strategy.Option{strategy.Trail(10 * percent)}, 95,
			[]market.Price{100, 99, 104, 110}, []string{"update 2 stop 99 attached"}},
		"before the trail begins": {[]strategy.Option{strategy.StopAt(90 * at1), strategy.Trail(10 * percent),
			strategy.TrailAfter(120 * percent)}, 80, []market.Price{100, 109, 120},
			[]string{"update 2 stop 108 attached"}},
		"below break-even": {[]strategy.Option{strategy.StopAt(90 * at1), strategy.BreakEvenAfter(1 * percent)}, 80,
			[]market.Price{103, 110}, nil},
	} {
		s := follower(append(c.with, strategy.ByPrices())...)
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
		b.by(&market.Event{Kind: market.KindCandles, At: b.now,
			Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
		b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: reported(1, 1, market.StatusFilled, btc),
			Fills: []market.Fill{fillNumbered(1, 1, btc)}})
		b.accept(2)
		b.price(100)
		require.Empty(t, b.moveByHand(2, c.to), name)
		var sent []string
		for _, p := range c.prices {
			sent = append(sent, b.follows(p)...)
		}
		require.Equal(t, c.sent, sent, name)
	}
}
