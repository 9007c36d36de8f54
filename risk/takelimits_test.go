package risk_test

import (
	"testing"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// limit gives the gate other limits, as a reload does.
func (b *bench) limit(limits risk.Limits, account risk.AccountLimits) {
	account.Currency = b.m.Quote
	b.gate.TakeLimits(risk.New(b.account.Catalog(),
		risk.Config{Account: account, Strategies: []risk.Limits{limits, {}}}))
}

// entry is a buy far below the price.
func entry() market.Command { return limit(buy, btc, 10*at1) }

func TestARaisedLimitLiftsNoHalt(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{MaxDailyLoss: 100 * eur, MaxDrawdown: 20_000_000})
	b.price(90 * at1)
	b.refused(entry(), risk.ReasonDailyLoss)
	b.limit(risk.Limits{}, risk.AccountLimits{MaxDailyLoss: 1000 * eur, MaxDrawdown: 20_000_000})
	b.refused(entry(), risk.ReasonDailyLoss) // used up is used up, until the next day
	b.limit(risk.Limits{}, risk.AccountLimits{})
	b.refused(entry(), risk.ReasonDailyLoss) // without a limit too
	b.now = market.Time(24 * time.Hour)
	b.price(90 * at1)
	b.passes(entry())

	b = newBench(t, risk.Limits{}, risk.AccountLimits{MaxDrawdown: 1_000_000})
	b.price(200 * at1)
	b.price(188 * at1)
	for _, raised := range []market.Rate{50_000_000, 0} {
		b.limit(risk.Limits{}, risk.AccountLimits{MaxDrawdown: raised})
		b.price(200 * at1)
		b.refused(entry(), risk.ReasonDrawdown)
	}
	b.gate.Resume(1) // a person does
	b.passes(entry())

	b.gate.Halt(1)
	b.limit(risk.Limits{MaxOpenOrders: 9}, risk.AccountLimits{})
	b.refused(entry(), risk.ReasonHalted)
}

func TestWhatWasCountedCountsForTheNewLimits(t *testing.T) {
	b := newBench(t, risk.Limits{OrdersPerMinute: 3, CoolDownLosses: 9, CoolDown: time.Hour}, risk.AccountLimits{})
	for range 3 {
		b.passes(entry())
		b.now += 10 * second
	}
	b.refused(entry(), risk.ReasonOrdersPerMinute)
	b.limit(risk.Limits{OrdersPerMinute: 4}, risk.AccountLimits{})
	b.passes(entry())
	b.refused(entry(), risk.ReasonOrdersPerMinute)
	b.limit(risk.Limits{OrdersPerMinute: 2}, risk.AccountLimits{})
	b.refused(entry(), risk.ReasonOrdersPerMinute)
	b.now += 50 * second // the third was sent a minute ago; the fourth counts
	b.passes(entry())
	b.limit(risk.Limits{}, risk.AccountLimits{})
	for range 9 {
		b.passes(entry())
	}

	b = newBench(t, risk.Limits{CoolDownLosses: 3, CoolDown: time.Hour}, risk.AccountLimits{})
	for range 2 {
		b.filled(atMarket(buy, btc), 100*at1)
		b.filled(atMarket(market.Sell, btc), 90*at1)
	}
	b.limit(risk.Limits{CoolDownLosses: 2, CoolDown: time.Hour}, risk.AccountLimits{})
	b.passes(entry()) // the next loss decides
	b.filled(atMarket(buy, btc), 100*at1)
	b.filled(atMarket(market.Sell, btc), 90*at1)
	b.refused(entry(), risk.ReasonCoolDown)
	b.limit(risk.Limits{}, risk.AccountLimits{})
	b.refused(entry(), risk.ReasonCoolDown) // it has begun
}

func TestAFirstLimitOnTheEquityCountsFromNowOn(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	b.price(200 * at1)
	b.price(100 * at1)
	b.limit(risk.Limits{}, risk.AccountLimits{MaxDailyLoss: 100 * eur, MaxDrawdown: 1_000_000})
	b.price(100 * at1)
	b.passes(entry())
	b.price(99*at1 + 5) // a loss of 9.50
	b.passes(entry())
	b.price(85 * at1)
	b.refused(entry(), risk.ReasonDailyLoss)

	b = newBench(t, risk.Limits{}, risk.AccountLimits{MaxDailyLoss: 9000 * eur})
	b.price(200 * at1)
	b.price(150 * at1)
	b.limit(risk.Limits{}, risk.AccountLimits{MaxDailyLoss: 9000 * eur, MaxDrawdown: 1_000_000})
	b.price(150 * at1) // the high-water mark was followed
	b.refused(entry(), risk.ReasonDrawdown)
}
