package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// others are parameters between which a running strategy changes.
var others = []struct {
	kind          strategy.Definition
	before, after map[string]any
}{
	{shipped.SMACross, map[string]any{"fast": int64(2), "slow": int64(5), "share": "0.4"},
		map[string]any{"fast": int64(3), "slow": int64(7), "share": "0.2"}},
	{shipped.Breakout, map[string]any{"channel": int64(3), "atr": int64(2), "stop_atr": 1.5, "target_atr": 2.0,
		"share": "0.4", "risk": "0"}, map[string]any{"channel": int64(4), "atr": int64(3), "stop_atr": 1.0,
		"target_atr": 3.0, "share": "0.3", "risk": "0"}},
	{shipped.RSIRevert, map[string]any{"period": int64(2), "low": 45.0, "high": 55.0, "expire": int64(3),
		"offset_bps": "20", "target_bps": "50", "share": "0.3"}, map[string]any{"period": int64(3), "low": 40.0,
		"high": 60.0, "expire": int64(2), "offset_bps": "10", "target_bps": "80", "share": "0.2"}},
	{shipped.Grid, map[string]any{"levels": int64(3), "spacing_bps": "100", "recentre_bps": "250", "money": "100"},
		map[string]any{"levels": int64(3), "spacing_bps": "150", "recentre_bps": "300", "money": "50"}},
	{shipped.DCA, map[string]any{"money": "10", "every": "150s"}, map[string]any{"money": "20", "every": "60s"}},
	{shipped.Rotation, map[string]any{"top": int64(1), "candles": int64(2), "every": "5m", "share": "90%"},
		map[string]any{"top": int64(2), "candles": int64(3), "every": "15m", "share": "50%"}},
}

// changing is a bench whose strategies get other parameters while it runs, now and then, and a twin
// that is restarted with them, as at the border of a walk-forward.
type changing struct {
	*bench
	twin    *twin
	made    func(after bool) []strategy.Strategy
	after   bool
	changed []market.StrategyID
	next    *engine.Engine // prepared; nil: none is
	from    int            // groups of the history that it has seen
	times   int
}

// prepare begins a change: beside the bench, which goes on.
func (c *changing) prepare() {
	c.after = !c.after
	_, c.next = c.remake(c.made(c.after)...)
	c.from = len(c.twin.history)
	require.NoError(c.t, c.next.Prepare(c.engine.Now(), saveAll(c.t, c.engine), past(c.twin.history), c.changed))
}

// takeOver ends it.
func (c *changing) takeOver() {
	require.NoError(c.t, c.next.CatchUp(past(c.twin.history[c.from:])))
	at := c.engine.Now()
	commands, err := c.engine.TakeOver(at, c.next, c.changed)
	require.NoError(c.t, err)
	c.next, c.times = nil, c.times+1
	have := slices.Clone(commands)

	w := c.twin
	border := slices.Clone(w.engine.CancelEntries(at))
	saved := saveAll(w.t, w.engine)
	after := c.after
	w.make = func() []strategy.Strategy { return c.made(after) }
	w.account, w.engine = w.remake(w.make()...)
	restored, err := w.engine.Restore(at, saved, past(w.history))
	require.NoError(c.t, err)
	require.True(c.t, slices.Equal(append(border, restored...), have), "%v, not %v", have, border)
	w.disk = saveAll(w.t, w.engine)
	now := saveAll(c.t, c.engine)
	for part := range now {
		require.Equal(c.t, string(w.disk[part]), string(now[part]), part)
	}
	require.NoError(c.t, w.engine.Save(w.write))
	c.send(have)
}

// A handover in a running engine and a restart with other parameters are one: the same cancels, the
// same state afterwards, the same commands from then on. The restart has seen all candles at once,
// the handover those before its preparation and those after it.
func TestATakeoverIsARestartWithOtherParameters(t *testing.T) {
	for i, one := range others {
		t.Run(fmt.Sprint(one.kind.Name, i), func(t *testing.T) {
			sent, times := 0, 0
			for seed := range uint64(2 * *restartSeeds) {
				r := rand.New(rand.NewPCG(seed, 11))
				catalog := newBench(t, setup{markets: 2, slots: []engine.StrategyConfig{{Strategy: idle{}}}}).catalog
				made := func(after bool) []strategy.Strategy {
					values := one.before
					if after {
						values = one.after
					}
					s, err := one.kind.New(values, strategy.Setup{Markets: catalog.Markets(),
						Interval: market.Interval1m})
					require.NoError(t, err)
					return []strategy.Strategy{s}
				}
				needs, err := one.kind.Needs(one.before)
				require.NoError(t, err)
				then, err := one.kind.Needs(one.after)
				require.NoError(t, err)
				b := newBench(t, setup{markets: 2, noDeposit: true,
					venue: sim.Config{VolumeShare: 50_000_000, Latency: market.Duration(minute / 4)},
					slots: []engine.StrategyConfig{{Name: one.kind.Name, Strategy: made(false)[0],
						Markets: []market.ID{1, 2},
						Ticker:  needs.Ticker, Book: needs.Book, Warmup: []int{max(needs.Warmup, then.Warmup)}}}})
				c := &changing{bench: b, made: made, changed: []market.StrategyID{1},
					twin: shadow(b, r, func() []strategy.Strategy { return made(false) })}
				b.deposit(1, 10_000*eur)
				c.play(r, 150)
				sent, times = sent+len(b.sent), times+c.times
			}
			t.Logf("%d orders, %d changes", sent, times)
			require.Greater(t, sent, 12**restartSeeds)
			require.Greater(t, times, 10**restartSeeds)
		})
	}
}

// play lets so many minutes pass, with a change now and then.
func (c *changing) play(r *rand.Rand, minutes int) {
	price := [2]market.Price{100, 100}
	for range minutes {
		c.group(randomCandle(r, 1, &price[0]), randomCandle(r, 2, &price[1]))
		switch {
		case c.next == nil && r.IntN(12) == 0:
			c.prepare()
		case c.next != nil && r.IntN(2) == 0:
			c.takeOver()
		}
	}
	c.twin.kill()
}

// Of two strategies that ask for anything, one changes and the other goes on.
func TestATakeoverLeavesTheOtherStrategyAlone(t *testing.T) {
	times, asked := 0, 0
	for seed := range uint64(5 * *restartSeeds) {
		r := rand.New(rand.NewPCG(seed, 12))
		var quiet *drunkard
		made := func(bool) []strategy.Strategy {
			return []strategy.Strategy{newDrunkard(seed, false), newDrunkard(seed+1000, true)}
		}
		first := made(false)
		quiet = first[1].(*drunkard)
		both := []market.ID{1, 2}
		b := newBench(t, setup{markets: 2, noDeposit: true, limits: []risk.Limits{{OrdersPerMinute: 3}},
			account: risk.AccountLimits{AllowSelfCross: true, MaxDailyLoss: 200 * eur,
				VolatilityTarget: market.Rate(seed%2) * 60_000_000, VolatilityInterval: market.Interval1m},
			slots: []engine.StrategyConfig{{Strategy: first[0], Markets: both}, {Strategy: first[1], Markets: both}}})
		c := &changing{bench: b, made: made, changed: []market.StrategyID{1}}
		c.twin = shadow(b, r, func() []strategy.Strategy { return made(false) })
		b.deposit(1, 10_000*eur)
		price := [2]market.Price{100, 100}
		for range 60 {
			c.group(randomCandle(r, 1, &price[0]), randomCandle(r, 2, &price[1]))
			if r.IntN(10) != 0 {
				continue
			}
			open := b.account.Open(nil, 2, 0)
			c.prepare()
			require.NoError(t, c.next.CatchUp(nil))
			before := slices.Clone(open)
			commands, err := b.engine.TakeOver(b.engine.Now(), c.next, c.changed)
			require.NoError(t, err)
			for i := range commands {
				require.Equal(t, market.StrategyID(1), commands[i].Order.Strategy)
				require.Equal(t, market.CommandCancel, commands[i].Kind)
			}
			c.twinTakesOver(commands)
			c.send(slices.Clone(commands))
			require.Subset(t, before, b.account.Open(nil, 2, 0))
			c.times++
		}
		c.twin.kill()
		times, asked = times+c.times, asked+quiet.asked
	}
	require.Greater(t, times, 10**restartSeeds)
	require.Greater(t, asked, 100**restartSeeds)
}

// twinTakesOver lets the twin take over too: of its own strategies.
func (c *changing) twinTakesOver(want []market.Command) {
	w := c.twin
	_, next := w.remake(w.make()...)
	require.NoError(c.t, next.Prepare(w.engine.Now(), saveAll(c.t, w.engine), past(w.history), c.changed))
	have, err := w.engine.TakeOver(w.engine.Now(), next, c.changed)
	require.NoError(c.t, err)
	require.True(c.t, slices.Equal(want, have))
	require.NoError(c.t, w.engine.Save(w.write))
	c.next = nil
}

// picky loads a state only with its own parameter.
type picky struct {
	script
	loads error
}

func (p *picky) Save() ([]byte, error) { return []byte("state"), nil }
func (p *picky) Load([]byte) error     { return p.loads }

func TestATakeoverThatFailsLeavesTheEngineAsItWas(t *testing.T) {
	calls := 0
	old := &picky{script: script{candle: func(d *strategy.Desk, _ market.Candle) {
		if calls++; calls == 1 {
			_, err := d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
			require.NoError(t, err)
		}
	}}}
	b := newBench(t, setup{limits: []risk.Limits{{MaxOpenOrders: 3}}, slots: []engine.StrategyConfig{{Strategy: old,
		Warmup: []int{1}}}})
	b.flat(2, 100)
	saved := saveAll(t, b.engine)

	next := func(s strategy.Strategy) error {
		_, e := b.remake(s)
		if err := e.Prepare(b.engine.Now(), saved, past([][]market.Candle{{candleOf(1, 100, 100, 100, 100)}}),
			[]market.StrategyID{1}); err != nil {
			return err
		}
		_, err := b.engine.TakeOver(b.engine.Now(), e, []market.StrategyID{1})
		return err
	}
	require.ErrorContains(t, next(&picky{loads: errors.New("of another size")}),
		"strategy s1: load its state with the new parameters: of another size")
	require.ErrorContains(t, next(&picky{script: script{start: func(*strategy.Desk) { panic("no") }}}),
		"strategy s1 cannot take over: panic: no")
	require.ErrorContains(t, next(&picky{script: script{candle: func(*strategy.Desk, market.Candle) { panic("no") }}}),
		"strategy s1 cannot take over")
	require.ErrorContains(t, next(&script{}), "one of the two saves a state")
	require.Len(t, b.account.Open(nil, 1, 0), 1, "the entry rests")
	before := calls
	b.flat(1, 100)
	require.Equal(t, before+1, calls, "the old strategy is still called")
	require.NoError(t, next(&picky{}))
	require.Equal(t, market.CommandCancel, b.account.Own(1).InFlight)
	b.flat(1, 100)
	require.Equal(t, before+1, calls, "the new one is called")
}
