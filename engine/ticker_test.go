package engine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// pricer does at tickers what a sleeper does at candles, and opens brackets.
type pricer struct{ sleeper }

func (p *pricer) OnTicker(d *strategy.Desk, t market.Ticker) {
	p.OnCandle(d, market.Candle{Start: market.Time(t.Last) * minute})
	if r := rand.New(rand.NewPCG(uint64(p.own), uint64(p.count))); r.IntN(30) == 0 {
		d.In(1).Buy(strategy.Amount(btc/100), strategy.Exits(at1, 1000*at1))
	}
}

// pricers is an engine with two of them; the first panics late.
func pricers(t *testing.T, calls *journal, seed int64) *engine.Engine {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: &pricer{}}}}) // for its catalog
	account := state.NewAccount(b.catalog, 2, nil)
	gate := risk.New(b.catalog, risk.Config{Strategies: make([]risk.Limits, 2)})
	slot := engine.StrategyConfig{Markets: []market.ID{1}, Intervals: []market.Interval{market.Interval1m},
		Ticker: true}
	first, second := slot, slot
	first.Strategy = &pricer{sleeper{calls: calls, own: seed, panic: 40 + seed}}
	second.Strategy = &pricer{sleeper{calls: calls, own: seed + 100}}
	e := engine.New(engine.Config{Catalog: b.catalog, Account: account, Gate: gate,
		Slots: []engine.StrategyConfig{first, second}})
	e.Step(&market.Event{Kind: market.KindTransfer, At: start, Asset: 1, Money: 1_000_000 * eur})
	return e
}

// hear steps tickers one by one, or in rows.
func hear(e *engine.Engine, ticks []engine.Tick, calls *journal, rows bool) {
	send := func(commands []market.Command) {
		for i := range commands {
			calls.add("%s at %d", describe(&commands[i]), commands[i].At)
		}
	}
	for len(ticks) > 0 {
		if rows {
			n, commands := e.StepTickers(ticks[:min(len(ticks), 7)])
			send(commands)
			ticks = ticks[n:]
			if n > 0 {
				continue
			}
		}
		send(e.Step(&market.Event{Kind: market.KindTicker, At: max(e.Now(), ticks[0].At), Ticker: &ticks[0].Ticker}))
		ticks = ticks[1:]
	}
}

func TestTickersInARowAreThoseSteppedOneByOne(t *testing.T) {
	ticks := make([]engine.Tick, 200)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range ticks {
		price := market.Price(95+r.IntN(10)) * at1
		ticks[i] = engine.Tick{At: start + market.Time(i)*minute - market.Time(r.IntN(2))*2*minute,
			Ticker: market.Ticker{Market: 1, Last: price, Bid: price - 1, Ask: price + 1}}
	}
	for seed := range int64(40) {
		var stepped, rowed journal
		one, two := pricers(t, &stepped, seed), pricers(t, &rowed, seed)
		hear(one, ticks, &stepped, false)
		hear(two, ticks, &rowed, true)
		require.Equal(t, stepped, rowed, "seed %d", seed)
		require.Equal(t, one.Halts(), two.Halts())
		require.Len(t, one.Halts(), 1)
		require.Equal(t, one.Now(), two.Now())
		require.Equal(t, one.Refused(2), two.Refused(2))
	}
}
