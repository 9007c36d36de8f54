package risk_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

var names = []string{"one", "two"}

// restart makes the gate anew with the same limits, and lets it go on from what the old one saves.
func (b *bench) restart(limits risk.Limits, account risk.AccountLimits) {
	b.t.Helper()
	text, err := b.gate.Save(nil, names)
	require.NoError(b.t, err)
	b.restartWith(limits, account)
	again, err := b.gate.Save(nil, names)
	require.NoError(b.t, err)
	require.Equal(b.t, string(text), string(again))
}

// restartWith is restart with other limits.
func (b *bench) restartWith(limits risk.Limits, account risk.AccountLimits) {
	b.t.Helper()
	text, err := b.gate.Save(nil, names)
	require.NoError(b.t, err)
	account.Currency = b.m.Quote
	b.gate = risk.New(b.account.Catalog(), risk.Config{Account: account, Strategies: []risk.Limits{limits, {}}})
	require.NoError(b.t, b.gate.Restore(text, names))
	require.False(b.t, b.gate.Changed())
}

func TestARestartDoesNotForgetTheOrdersOfAMinute(t *testing.T) {
	limits := risk.Limits{OrdersPerMinute: 3}
	b := newBench(t, limits, risk.AccountLimits{})
	start := b.now
	for i := range 4 {
		b.now = start + market.Time(i)*25*second // the first is too old by the fourth
		b.passes(limit(buy, btc, 10*at1))
		b.restart(limits, risk.AccountLimits{})
	}
	b.refused(limit(buy, btc, 10*at1), risk.ReasonOrdersPerMinute)
	b.restart(limits, risk.AccountLimits{})
	b.now = start + 85*second
	b.passes(limit(buy, btc, 10*at1))
	// a tighter limit counts what was sent before it
	b.restartWith(risk.Limits{OrdersPerMinute: 2}, risk.AccountLimits{})
	b.refused(limit(buy, btc, 10*at1), risk.ReasonOrdersPerMinute)
	b.restartWith(risk.Limits{OrdersPerMinute: 4}, risk.AccountLimits{})
	b.passes(limit(buy, btc, 10*at1))
	b.restartWith(risk.Limits{}, risk.AccountLimits{})
	b.passes(limit(buy, btc, 10*at1))
}

func TestARestartDoesNotForgetLossesAndHalts(t *testing.T) {
	limits := risk.Limits{OrdersPerMinute: 100, CoolDownLosses: 2, CoolDown: time.Hour}
	b := newBench(t, limits, risk.AccountLimits{})
	for range 2 {
		b.filled(atMarket(buy, btc), 100*at1)
		b.restart(limits, risk.AccountLimits{})
		b.filled(atMarket(market.Sell, btc), 90*at1)
		b.restart(limits, risk.AccountLimits{})
	}
	b.refused(limit(buy, btc, 10*at1), risk.ReasonCoolDown)
	b.restart(limits, risk.AccountLimits{})
	require.Equal(t, []risk.Count{{Reason: "cool_down", N: 1}}, b.gate.Refused(1))
	b.refused(limit(buy, btc, 10*at1), risk.ReasonCoolDown)
	b.refused(limit(buy, 2000*btc, 10*at1), risk.ReasonCoolDown)
	b.now += market.Time(time.Hour)
	b.refused(limit(buy, 2000*btc, 10*at1), risk.ReasonExchange)
	b.gate.Halt(1)
	b.restart(limits, risk.AccountLimits{})
	require.Equal(t, []risk.Count{{Reason: "cool_down", N: 3}, {Reason: "exchange 210", N: 1}}, b.gate.Refused(1))
	b.refused(limit(market.Sell, btc, 110*at1), risk.ReasonHalted)
	b.gate.Resume(1)
	b.restart(limits, risk.AccountLimits{})
	b.passes(limit(buy, btc, 10*at1))
}

func TestARestartDoesNotForgetTodaysLossAndThePeak(t *testing.T) {
	limits, account := risk.Limits{OrdersPerMinute: 100}, risk.AccountLimits{MaxDailyLoss: 100 * eur,
		MaxDrawdown: 2_000_000}
	b := newBench(t, limits, account)
	b.restart(limits, account)
	b.price(95 * at1)
	b.restart(limits, account)
	b.price(90 * at1)
	b.restart(limits, account)
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDailyLoss)
	b.now = market.Time(24 * time.Hour)
	b.restart(limits, account)
	b.price(87*at1 + 5) // 125 EUR of the day before's last 10 900
	b.restart(limits, account)
	b.passes(limit(market.Sell, btc, 200*at1))
	b.passes(limit(buy, btc, 10*at1))
	b.price(78 * at1) // 220 EUR below the peak of 11 000
	b.restart(limits, account)
	b.price(100 * at1)
	b.now += market.Time(24 * time.Hour)
	b.price(100 * at1)
	b.restart(limits, account)
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDrawdown)
}

// A buy of 20 at 90 while the bot was down looks, at the 100 of the run before, like a gain of 200.
func TestFillsOfTheTimeBetweenTwoRunsRaiseNoPeakAtOldPrices(t *testing.T) {
	account := risk.AccountLimits{MaxDrawdown: 2_000_000}
	b := newBench(t, risk.Limits{}, account)
	o := b.sent(limit(buy, 20*btc, 90*at1))
	b.restart(risk.Limits{}, account)
	b.now = b.now.Add(market.Duration(time.Hour))
	b.fills(o, 90*at1)
	b.price(90 * at1) // 100 below the 11 000 of the run before
	b.passes(limit(buy, btc, 10*at1))
	b.price(101 * at1)
	b.restart(risk.Limits{}, account)
	b.price(96 * at1) // 150 below a peak of 11 230
	b.passes(limit(buy, btc, 10*at1))
	b.price(93 * at1)
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDrawdown)
}

func TestAPeakWaitsTenMinutesForPricesThatDoNotCome(t *testing.T) {
	account := risk.AccountLimits{MaxDrawdown: 2_000_000}
	b := newBench(t, risk.Limits{}, account)
	o := b.sent(limit(buy, 20*btc, 90*at1))
	b.restart(risk.Limits{}, account)
	b.now = b.now.Add(market.Duration(time.Hour))
	b.fills(o, 90*at1)
	b.now = b.now.Add(market.Duration(10 * time.Minute))
	b.step(market.Event{Kind: market.KindTimer})
	b.price(90 * at1)
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDrawdown)
}

func TestTheGateSaysWhenItMustBeSaved(t *testing.T) {
	account := risk.AccountLimits{MaxDrawdown: 1_000_000}
	b := newBench(t, risk.Limits{OrdersPerMinute: 9, MaxOrderValue: 100 * eur}, account)
	changed := func() bool {
		was := b.gate.Changed()
		b.gate.Saved()
		return was
	}
	require.True(t, changed())
	for _, row := range []struct {
		happens func()
		want    bool
	}{
		{func() {}, false},
		{func() { b.price(101 * at1) }, true},  // a new peak
		{func() { b.price(100 * at1) }, false}, // nothing but a price
		{func() { b.passes(limit(buy, btc, 10*at1)) }, true},
		{func() { b.refused(limit(buy, 2*btc, 100*at1), risk.ReasonMaxOrderValue) }, false},
		{func() { b.price(80 * at1) }, true}, // the drawdown
		{func() { b.price(79 * at1) }, false},
		{func() { b.gate.Halt(2) }, true},
		{func() { b.gate.Resume(2) }, true},
		{func() { b.step(market.Event{Kind: market.KindTransfer, Asset: b.m.Quote, Money: eur}) }, true},
		{func() { b.now = market.Time(24 * time.Hour); b.price(79 * at1) }, true}, // a new day
	} {
		row.happens()
		require.Equal(t, row.want, changed())
	}
}

// That the day's loss is used up holds although the equity recovers, and so a restart has to know
// it.
func TestADaysLossThatIsUsedUpIsSavedAtOnce(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{MaxDailyLoss: 100 * eur})
	b.price(95 * at1)
	b.gate.Saved()
	b.price(94 * at1)
	require.False(t, b.gate.Changed())
	b.price(89 * at1)
	require.True(t, b.gate.Changed())
}

// The file has a day's loss that is used up, a drawdown that was reached, a cool-down
// and a halt.
func TestASavedGateIsRead(t *testing.T) {
	text, err := os.ReadFile("testdata/gate-v1.json")
	require.NoError(t, err)
	b := newBench(t, risk.Limits{OrdersPerMinute: 9, CoolDownLosses: 1, CoolDown: 1000 * time.Second},
		risk.AccountLimits{MaxDailyLoss: 100 * eur, MaxDrawdown: 1_000_000})
	require.NoError(t, b.gate.Restore(text, names))
	stand, followed := b.gate.Standing()
	require.True(t, followed)
	require.Equal(t, risk.Standing{Latest: 10_790 * eur, DayStart: 11_000 * eur, HighWater: 11_000 * eur, Lost: true,
		Drawn: true}, stand)
	require.True(t, b.gate.Halted(2))
}

func TestAGateThatCannotGoOnSaysWhy(t *testing.T) {
	b := newBench(t, risk.Limits{OrdersPerMinute: 9}, risk.AccountLimits{MaxDrawdown: 1_000_000})
	b.filled(atMarket(buy, btc), 100*at1)
	b.filled(atMarket(market.Sell, btc), 90*at1)
	b.price(80 * at1)
	b.refused(limit(buy, btc, 100*at1), risk.ReasonDrawdown)
	saved, err := b.gate.Save(nil, names)
	require.NoError(t, err)
	text := string(saved)
	for _, c := range []struct{ old, new, want string }{
		{`"version":1`, `"version":2`,
			"gate: saved in version 2, this program knows versions 1 to 1; start it with the program that saved it"},
		{`"currency":"EUR"`, `"currency":"USD"`,
			"gate: the account's currency was USD with 2 decimals and now is EUR with 2"},
		{`"digits":2`, `"digits":3`, "gate: the account's currency was EUR with 3 decimals and now is EUR with 2"},
		{`"amount":8`, `"amount":7`,
			"gate: market BTC-EUR was saved with decimals of price 2, amount 7, quote 2 and now has 2, 8, 2"},
		{`"markets":{"BTC-EUR"`, `"markets":{"ETH-EUR"`, `gate: strategy "one" in "BTC-EUR" has no units`},
		{`"max_drawdown"`, `"mood"`, `gate: strategy "one" was refused for "mood", which is no reason`},
		{`"losses"`, `"wins"`, `unknown field "wins"`},
	} {
		require.Contains(t, text, c.old)
		require.ErrorContains(t, b.gate.Restore([]byte(strings.ReplaceAll(text, c.old, c.new)), names), c.want)
	}
	require.EqualError(t, b.gate.Restore(saved, names[:1]), "gate: 2 strategies have 1 names")
	require.NoError(t, b.gate.Restore(saved, []string{"two", "three"}))
	require.Empty(t, b.gate.Refused(2), "a strategy that is new remembers nothing")
	nothing := risk.New(b.account.Catalog(), risk.Config{Strategies: make([]risk.Limits, 2)})
	require.EqualError(t, nothing.Restore(saved, names), "gate: the account's currency was EUR and now is none")
}

func FuzzRestoreAGate(f *testing.F) {
	b := newBench(f, risk.Limits{OrdersPerMinute: 2}, risk.AccountLimits{MaxDrawdown: 1_000_000})
	b.passes(limit(buy, btc, 10*at1))
	text, err := b.gate.Save(nil, names)
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newBench(t, risk.Limits{OrdersPerMinute: 2}, risk.AccountLimits{MaxDrawdown: 1_000_000})
		if b.gate.Restore(data, names) != nil {
			return
		}
		again, err := b.gate.Save(nil, names)
		require.NoError(t, err)
		require.NoError(t, b.gate.Restore(again, names))
	})
}
