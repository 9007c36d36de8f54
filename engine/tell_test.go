package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// unfit are asks that the desk or the engine refuses before the gate sees them.
func unfit(d *strategy.Desk) {
	m := d.In(1)
	m.Buy(strategy.UpTo(strategy.Risk(market.Percent)))
	m.Buy(strategy.EquityShare(150 * market.Percent))
	m.Buy(strategy.EquityShare(market.Percent), strategy.PartAt(200*at1, 50*market.Percent))
	m.Buy(strategy.EquityShare(market.Percent), strategy.BreakEvenAfter(market.Percent))
	m.Buy(strategy.EquityShare(market.Percent), strategy.At(90*at1), strategy.TWAP(60e9, 3))
	m.Protect(strategy.StopAt(90 * at1))
	m.Target(strategy.Size{})
	m.ClosePart(strategy.Size{})
	m.Close(strategy.PostOnly())
	d.Update(0, strategy.At(at1))
	d.Cancel(-1)
	d.In(9).Protect(strategy.StopAt(at1))
	d.Rebalance(strategy.Portfolio{Weights: []strategy.Weight{{Market: 1, Share: 2 * market.Whole}}})
}

func TestAnAskThatTheGateDoesNotSeeIsLoggedOnceAndCounted(t *testing.T) {
	l := &listener{}
	b := newBench(t, setup{observer: l, slots: []engine.StrategyConfig{{Strategy: &script{
		candle: func(d *strategy.Desk, _ market.Candle) { unfit(d) }}}}})
	b.flat(5, 100)
	require.Empty(t, b.sent)
	require.Equal(t, []risk.Count{{Reason: "malformed", N: 5 * 12}, {Reason: "no_position", N: 5}},
		b.engine.Refused(1))
	require.Len(t, l.heard, 5*13, "the observer hears of each")
	lines := b.log.String()
	require.Equal(t, 11, strings.Count(lines, `"level":"warn"`), "each kind once; two of the asks have the same error")
	require.Contains(t, lines, `"level":"warn","strategy":"s1","ask":"place","error":"meaningless: a size by Risk `+
		`needs a stop: add StopAt below the price","market":"BTC-EUR","side":"buy","message":"ask refused"`)
	require.Contains(t, lines, `"error":"no position to protect","market":"BTC-EUR","side":"sell"`)
}

// A bot that starts has no equity yet: an ask that cannot be measured then is no mistake.
func TestInAWarmUpTheWarmUpIsTheAnswerToEveryAsk(t *testing.T) {
	l := &listener{}
	b := newBench(t, setup{observer: l, noDeposit: true, slots: []engine.StrategyConfig{{Warmup: []int{3},
		Universe: []strategy.Membership{{Markets: []market.ID{}}},
		Strategy: &script{candle: func(d *strategy.Desk, _ market.Candle) {
			m := d.In(1)
			for _, with := range [][]strategy.Option{nil, {strategy.TWAP(60e9, 3)}, {strategy.Trail(market.Percent)},
				{strategy.PartAt(200*at1, 50*market.Percent)}} {
				_, err := m.Buy(strategy.UpTo(strategy.EquityShare(10*market.Percent)), with...)
				require.ErrorContains(t, err, "refused: warm_up: BTC-EUR needs ")
			}
			_, err := m.Sell(strategy.PositionShare(market.Whole))
			require.ErrorContains(t, err, "warm_up")
			_, err = m.Protect(strategy.StopAt(at1))
			require.ErrorContains(t, err, "warm_up")
			_, err = m.Target(strategy.Size{})
			require.ErrorContains(t, err, "warm_up")
		}}}}})
	b.flat(2, 100)
	require.Equal(t, []risk.Count{{Reason: "warm_up", N: 14}}, b.engine.Refused(1))
	require.Len(t, l.heard, 14)
	for _, heard := range l.heard {
		require.Contains(t, heard, ": warm_up")
	}
	require.NotContains(t, b.log.String(), `"level":"warn"`)
	require.NotContains(t, b.log.String(), `"level":"info"`)
}

// An error with another number is of the same kind: a strategy whose stop is too high at each
// candle does not fill the log.
func TestKindsOfUnfitAsksHaveNoNumbers(t *testing.T) {
	b := one(t, &script{candle: func(d *strategy.Desk, c market.Candle) {
		d.In(1).Buy(strategy.Risk(market.Percent), strategy.StopAt(c.Close+1))
	}})
	for price := market.Price(100); price < 120; price++ {
		b.candle(price, price, price, price)
	}
	require.Equal(t, 1, strings.Count(b.log.String(), `"level":"warn"`))
	require.Equal(t, []risk.Count{{Reason: "malformed", N: 20}}, b.engine.Refused(1))
}

func TestALineOfALogNamesItsStrategyOnceAndItsMoment(t *testing.T) {
	var log bytes.Buffer
	catalog := newBench(t, setup{}).catalog
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) {
		d.Log().Info().Msg("own words")
		d.In(1).Buy(strategy.Risk(market.Percent))
		heard := make(chan bool)
		go func() { defer close(heard); d.Log().Info().Msg("elsewhere") }()
		<-heard
	}}
	e := engine.New(engine.Config{Catalog: catalog, Account: state.NewAccount(catalog, 1, nil),
		Gate: risk.New(catalog, risk.Config{Strategies: make([]risk.Limits, 1)}), LogTimes: true,
		Slots: []engine.StrategyConfig{{Name: "mine", Strategy: s, Markets: []market.ID{1},
			Intervals: []market.Interval{market.Interval1m}, Log: zerolog.New(&log)}}})
	e.Step(&market.Event{Kind: market.KindCandles, At: start + minute, Candles: []market.Candle{{Market: 1,
		Interval: market.Interval1m, Start: start, Open: 100, High: 100, Low: 100, Close: 100}}})
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 3)
	for _, line := range lines {
		require.Equal(t, 1, strings.Count(line, `"strategy":"mine"`), line)
		require.Equal(t, 1, strings.Count(line, `"at":"1970-01-01T16:41:00Z"`), line)
	}
}

// An ask that the engine itself refuses is heard of as those of the gate are: bot explain --refused
// shows what the observer hears.
func TestTheObserverHearsWhatTheEngineItselfRefuses(t *testing.T) {
	l := &listener{}
	b := newBench(t, setup{observer: l, limits: []risk.Limits{{MaxOpenOrders: 1}},
		slots: []engine.StrategyConfig{{
			Strategy: &script{candle: minutely(map[int]func(*strategy.Desk){
				1: func(d *strategy.Desk) {
					d.In(1).Buy(strategy.Amount(btc), strategy.MakerFirst(60e9), strategy.Exits(90*at1, 110*at1))
				},
				2: func(d *strategy.Desk) {
					require.Error(t, d.Update(1, strategy.At(101*at1)))
					require.Error(t, d.Update(7, strategy.Trail(5*market.Percent)))
					require.Error(t, d.Cancel(8))
					require.Error(t, d.Rebalance(strategy.Portfolio{Weights: []strategy.Weight{{Market: 1,
						Share: 20 * market.Percent}}}))
				},
			})}}}})
	b.flat(2, 100)
	heard := strings.Join(l.heard, "\n")
	for _, reason := range []string{"malformed", "no_such_order", "max_open_orders"} {
		require.Contains(t, heard, ": "+reason)
	}
	require.Contains(t, heard, "cancel 8 refused")
}
