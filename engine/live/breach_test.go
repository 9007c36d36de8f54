package live

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// lie gives the loop an answer to a query of an own order, changed.
func (p *play) lie(id market.OrderID, change func(o *market.Order)) {
	p.t.Helper()
	require.NoError(p.t, p.loop.Do(p.t.Context(), func(at market.Time) []market.Command {
		own := p.account.Known(id)
		require.NotNil(p.t, own, "order %d", id)
		record := exchange.WireOrder{Order: own.Order}
		change(&record.Order)
		p.loop.receive(p.loop.queryOf(id), &reply{from: fromQuery, asked: at, record: &record})
		return nil
	}))
	synctest.Wait()
}

func otherSide(o *market.Order) { o.Side = market.Buy + market.Sell - o.Side }

func holdsMore(o *market.Order) { o.OnHold *= 1000 }

func worseLimit(o *market.Order) { o.Price *= 2 }

// bids are the open buys of a strategy.
func (p *play) bids(s market.StrategyID) (ids []market.OrderID) {
	require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) {
		for _, o := range p.account.Open(nil, s, 1) {
			if o.Side == market.Buy {
				ids = append(ids, o.ID)
			}
		}
	}))
	return ids
}

// haltedNow are the strategies that are halted.
func (p *play) haltedNow() (ids []market.StrategyID) {
	require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) {
		for s := range p.account.Strategies() {
			if _, halted := p.loop.Engine.Halted(market.StrategyID(s + 1)); halted {
				ids = append(ids, market.StrategyID(s+1))
			}
		}
	}))
	return ids
}

// breaching is a bot with two strategies: one holds a bracket and rests three bids, the other rests
// two.
func breaching(t *testing.T) *play {
	p := playing(t, nil, func(d *strategy.Desk) {
		_, err := d.In(1).Buy(strategy.Amount(12500000), strategy.StopAt(70_00), strategy.TargetAt(140_00))
		require.NoError(t, err)
	}, bid(80_00), bid(79_00), bid(78_00))
	p.second = &actor{acts: []func(*strategy.Desk){nil, bid(77_00), bid(76_00)}}
	p.begin()
	p.run()
	p.tick(8)
	require.Len(t, p.bids(1), 3)
	require.Len(t, p.bids(2), 2)
	return p
}

func TestTheSecondBreachHaltsTheStrategyAndTheThirdAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := breaching(t)
		mine, theirs := p.bids(1), p.bids(2)
		for range 2 {
			p.lie(mine[0], otherSide)
			p.tick(3)
		}
		require.Len(t, p.loop.Breaches(), 1, "the same answer again counts once")
		require.Len(t, p.journal.breached, 2, "and a metric counts each")
		require.Empty(t, p.haltedNow())
		require.Len(t, p.bids(1), 3)

		p.lie(mine[0], holdsMore) // another rule is another pair
		p.tick(5)
		require.Equal(t, []market.StrategyID{1}, p.haltedNow())
		require.Empty(t, p.bids(1), "a halt cancels")
		require.Len(t, p.bids(2), 2, "the other strategy goes on")
		require.NotEmpty(t, p.exits(), "the exits of the bracket stay")
		why, _ := p.loop.Engine.Halted(1)
		require.Regexp(t, `2 within 24 h; the latest: order \d+, onHold: want .*, got .*; see bot explain`, why.Reason)

		p.lie(theirs[0], otherSide)
		p.tick(5)
		require.Equal(t, []market.StrategyID{1, 2}, p.haltedNow())
		require.Empty(t, p.bids(2))
		require.NotEmpty(t, p.exits())
		rules := make([]string, 0, 3)
		for _, b := range p.loop.Breaches() {
			rules = append(rules, b.Rule)
			require.NotEmpty(t, b.Wanted)
			require.NotEqual(t, b.Wanted, b.Seen)
		}
		require.Equal(t, []string{string(verify.RuleSide), string(verify.RuleHold), string(verify.RuleSide)}, rules)
		p.end()
	})
}

// exits are the open sells.
func (p *play) exits() (ids []market.OrderID) {
	require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) {
		for _, o := range p.account.Open(nil, 0, 1) {
			if o.Side == market.Sell {
				ids = append(ids, o.ID)
			}
		}
	}))
	return ids
}

// The third breach is of another strategy than the first two.
func TestBreachesOfTwoStrategiesHaltTheOneOfTheSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := breaching(t)
		p.lie(p.bids(1)[0], otherSide)
		p.lie(p.bids(2)[0], otherSide)
		require.Equal(t, []market.StrategyID{2}, p.haltedNow())
		p.end()
	})
}

func TestABreachIsForgottenAfterADay(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		want  []market.StrategyID
	}{{23 * time.Hour, []market.StrategyID{1}}, {24*time.Hour + time.Minute, nil}} {
		synctest.Test(t, func(t *testing.T) {
			p := breaching(t)
			p.lie(p.bids(1)[0], otherSide)
			p.box.mu.Lock()
			p.box.shift = c.after
			p.box.mu.Unlock()
			p.tick(2)
			p.lie(p.bids(1)[1], worseLimit)
			require.Equal(t, c.want, p.haltedNow(), c.after)
			require.Len(t, p.loop.Breaches(), len(c.want)+1)
			p.end()
		})
	}
}

// What one process has noted counts in the next one.
func TestABreachOutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := breaching(t)
		id := p.bids(1)[0]
		p.lie(id, otherSide)
		p.loop.KeepOrders = true
		p.stop()
		require.NoError(t, <-p.done)
		p.s, p.second = &actor{}, &actor{}
		p.player = p.s
		p.begin()
		p.run()
		p.tick(3)
		p.lie(id, otherSide)
		require.Empty(t, p.haltedNow(), "the last process has counted it")
		p.lie(id, worseLimit)
		require.Equal(t, []market.StrategyID{1}, p.haltedNow())
		p.end()
	})
}

// The record of an order tells of a filledAmount without its fills. The trades have them: honest,
// and only late.
func TestFillsThatARecordLacksAreTakenFromTheTrades(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(102_00))
		p.box.withholds = true
		p.run()
		p.tick(10)
		require.Empty(t, p.journal.breached)
		require.Equal(t, market.Qty(12500000), p.account.Position(1, 1).Amount)
		require.NotEmpty(t, p.journal.fills)
		for id, times := range p.journal.fills {
			require.Equal(t, 1, times, "fill %s is booked once", id)
		}
		require.NotContains(t, p.s.heard, "rejected place")
		_, open := p.own(1)
		require.False(t, open)
		p.end()
		p.agree()
	})
}

// The trades do not have them either: now it is a lie. When the exchange tells the truth again, the
// order is booked after all.
func TestAFilledAmountThatNoTradesMakeUpIsABreach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(102_00))
		p.box.withholds = true
		p.box.hide("trades")
		p.run()
		p.tick(10)
		require.NotEmpty(t, p.journal.breached)
		b := p.journal.breached[0]
		require.Equal(t, []string{string(verify.RuleFilled), "the sum of the market's trades", "0.125"},
			[]string{b.Rule, b.Wanted, b.Seen})
		require.Len(t, p.loop.Breaches(), 1, "however often it is queried")
		require.Zero(t, p.account.Position(1, 1).Amount, "nothing of it is booked")
		require.False(t, slices.Contains(p.s.heard, "rejected place"), "the outcome is unresolved")
		p.box.hide()
		p.box.mu.Lock()
		p.box.withholds = false
		p.box.mu.Unlock()
		p.tick(90)
		require.Equal(t, market.Qty(12500000), p.account.Position(1, 1).Amount)
		p.end()
		p.agree()
	})
}
