package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// withFees charges 0.15 % to makers and 0.25 % to takers.
func withFees(*market.Market) exchange.Fees {
	return exchange.Fees{Maker: 15 * market.BasisPoint, Taker: 25 * market.BasisPoint}
}

// sized asks once for a buy at 100 with 10,000 EUR and returns what was sent and the answer.
func sized(t *testing.T, size strategy.Size, with ...strategy.Option) (sent []string, answer error) {
	b := newBench(t, setup{venue: sim.Config{Fees: withFees}, slots: []engine.StrategyConfig{{Strategy: &script{
		candle: once(func(d *strategy.Desk) { _, answer = d.In(1).Buy(size, with...) })}}}})
	b.flat(2, 100)
	return b.sent, answer
}

func TestASizeIsWorkedOutAtThePriceOfTheDecision(t *testing.T) {
	text := func(text string) strategy.Size {
		size, err := strategy.ParseSize(text)
		require.NoError(t, err)
		require.Equal(t, text, size.String())
		return size
	}
	for _, c := range []struct {
		size strategy.Size
		with []strategy.Option
		want string
	}{
		{strategy.EquityShare(20 * market.Percent), nil, "buy 20"},
		{text("20% equity"), nil, "buy 20"},
		{text("50% cash"), []strategy.Option{strategy.At(80 * at1)}, "buy 62.5 @ 80"},
		{text("0.01 base"), nil, "buy 0.01"},
		// 25 ÷ (80 · 1.0025): the fee is inside
		{text("25 quote"), []strategy.Option{strategy.At(80 * at1)}, "buy 0.31172069 @ 80"},
		// 100 ÷ (100 · 1.0025 − 95 · 0.9975)
		{text("1% risk"), []strategy.Option{strategy.StopAt(95 * at1)}, "buy 18.22323462"},
		// a maker's fee on the way in: 100 ÷ (100 · 1.0015 − 95 · 0.9975)
		{text("1% risk"), []strategy.Option{strategy.At(100 * at1), strategy.PostOnly(), strategy.StopAt(95 * at1)},
			"buy 18.56148491 @ 100"},
		{text("up to 100% cash"), nil, "buy for 10000"},
		{strategy.UpTo(strategy.Amount(500 * btc)), nil, "buy for 10000"},
		{text("up to 60 base"), nil, "buy for 6015"}, // more than a half: the price may rise
		{text("up to 40 base"), nil, "buy 40"},
		// 10,000 ÷ 100.25, rounded down
		{text("up to 100% cash"), []strategy.Option{strategy.At(100 * at1)}, "buy 99.75062344 @ 100"},
	} {
		sent, err := sized(t, c.size, c.with...)
		require.NoError(t, err, c.size.String())
		require.NotEmpty(t, sent, c.size.String())
		require.Equal(t, c.want, sent[0], c.size.String())
	}
}

func TestASizeThatCashDoesNotCoverIsRefused(t *testing.T) {
	sent, err := sized(t, strategy.CashShare(100*market.Percent)) // no room for the fee
	require.Empty(t, sent)
	require.ErrorContains(t, err, "216")
	_, err = sized(t, strategy.Risk(market.Percent))
	require.ErrorIs(t, err, strategy.ErrMeaningless)
	require.ErrorContains(t, err, "needs a stop")
	_, err = sized(t, strategy.Risk(market.Percent), strategy.StopAt(101*at1))
	require.ErrorContains(t, err, "not below the price")
	_, err = sized(t, strategy.CashShare(101*market.Percent))
	require.ErrorContains(t, err, "at most 100%")
	_, err = sized(t, strategy.Size{})
	require.ErrorIs(t, err, strategy.ErrMeaningless)
}

// The price rises between the decision and the arrival of the order. What takes more than half of
// the cash is an order for money, which no rise makes too large.
func TestUpToIsNotRefusedForAPriceThatRises(t *testing.T) {
	for _, rise := range []market.Price{100, 101, 110, 150, 199, 200, 201, 1000} {
		for _, text := range []string{"up to 100% cash", "up to 100% equity", "up to 99.7% cash", "up to 51% cash",
			"up to 49.88% cash", "up to 49.87% cash", "up to 49% cash", "up to 500 base", "up to 9990 quote",
			"up to 9% risk"} {
			if rise > 200 && strings.HasPrefix(text, "up to 49") && text != "up to 49.88% cash" {
				continue // an amount, whose price has more than doubled
			}
			size, err := strategy.ParseSize(text)
			require.NoError(t, err)
			b := newBench(t, setup{venue: sim.Config{Fees: withFees}, slots: []engine.StrategyConfig{{Strategy: &script{
				candle: once(func(d *strategy.Desk) {
					_, err := d.In(1).Buy(size, strategy.StopAt(90*at1))
					require.NoError(t, err)
				})}}}})
			b.flat(1, 100)
			b.flat(2, rise)
			require.Len(t, b.account.Open(nil, 1, 1), 1, "%s at %d: %v", text, rise, b.sent) // the exit
			require.Positive(t, b.account.Position(1, 1).Amount, "%s at %d: %v", text, rise, b.sent)
			require.GreaterOrEqual(t, b.account.Total(1).Total, market.Money(0))
		}
	}
}

func TestAStopThatFillsLosesTheRiskAndNoMore(t *testing.T) {
	b := newBench(t, setup{venue: sim.Config{Fees: withFees}, slots: []engine.StrategyConfig{{Strategy: &script{
		candle: once(func(d *strategy.Desk) {
			_, err := d.In(1).Buy(strategy.Risk(2*market.Percent), strategy.StopAt(90*at1))
			require.NoError(t, err)
		})}}}})
	b.flat(2, 100)
	b.candle(95, 95, 85, 88)
	left := b.account.Total(1).Total
	require.LessOrEqual(t, left, 9_800*eur)
	require.GreaterOrEqual(t, left, 9_800*eur-2, "each of two orders is rounded to the cent against the client")
}

func TestEquityIsTheStrategysOwn(t *testing.T) {
	var equity, account, cash market.Money
	b := one(t, &script{candle: func(d *strategy.Desk, _ market.Candle) {
		m := d.In(1)
		if m.Flat() {
			m.Buy(strategy.Amount(10 * btc))
		}
		equity, account, cash = m.Equity(), m.AccountEquity(), m.Cash()
	}})
	b.flat(2, 100)
	b.flat(1, 110)
	require.Equal(t, 9_000*eur, cash)
	require.Equal(t, 10_100*eur, equity)
	require.Equal(t, equity, account)
}

func TestTheLogSaysWhyAnAskWasRefusedAndWhatIsInTheWay(t *testing.T) {
	b := one(t, &script{candle: func(d *strategy.Desk, _ market.Candle) {
		m := d.In(1)
		if m.Position().Amount == 0 {
			m.Buy(strategy.Amount(btc), strategy.StopAt(90*at1))
			return
		}
		m.Sell(strategy.Amount(btc)) // the stop holds the base
	}})
	b.flat(4, 100)
	lines := b.log.String()
	require.Contains(t, lines,
		`"level":"info","strategy":"s1","ask":"place","error":"refused: the exchange would answer 216: `+
			`You do not have sufficient balance to complete this operation. (needs 1 BTC, has 0 BTC)","market":"BTC-EUR","side":"sell",`+
			`"in_the_way":"order 2: sell 1, stopLoss at 90","message":"ask refused"`)
	require.Contains(t, lines, `"level":"debug","strategy":"s1"`, "the same refusal again")
}
