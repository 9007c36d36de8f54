package engine_test

import (
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// twin hears what the engine of a bench hears. It is killed now and then, and a new one goes on
// tradeFrom what it saved.
type twin struct {
	*bench
	random  *rand.Rand
	make    func() []strategy.Strategy
	account *state.Account
	engine  *engine.Engine
	disk    map[string][]byte // what was saved step by step
	history [][]market.Candle
	event   market.Event // a copy: who hears an event may sort its fills
	kills   int
	waiting int // kills while buys waited for sells
}

// shadow gives b a twin whose strategies make makes.
func shadow(b *bench, random *rand.Rand, make func() []strategy.Strategy) *twin {
	w := &twin{bench: b, random: random, make: make, disk: map[string][]byte{}}
	w.account, w.engine = b.remake(make()...)
	b.before = func(ev *market.Event) {
		w.event = *ev
		w.event.Fills = slices.Clone(ev.Fills)
		if ev.Kind == market.KindCandles {
			w.history = append(w.history, slices.Clone(ev.Candles))
		}
	}
	b.after = w.hear
	return w
}

func (w *twin) hear(commands []market.Command) {
	w.t.Helper()
	have := w.engine.Step(&w.event)
	require.True(w.t, slices.Equal(commands, have), "after %d restarts: %v, not %v", w.kills, have, commands)
	require.NoError(w.t, w.engine.Save(w.write))
	if w.random.IntN(20) == 0 {
		w.kill()
	}
}

// signal lets bench and twin hear a signal.
func (w *twin) signal(s market.Signal) {
	w.t.Helper()
	s.Known, s.Time = w.now, w.now
	in := market.Input{Kind: market.InputSignal, At: w.now, Signal: &s}
	commands := slices.Clone(w.bench.engine.Enter(&in).Commands)
	require.True(w.t, slices.Equal(commands, w.engine.Enter(&in).Commands), "after %d restarts", w.kills)
	require.NoError(w.t, w.engine.Save(w.write))
	w.send(commands)
}

func (w *twin) write(part string, data []byte) error {
	if w.disk[part] = slices.Clone(data); data == nil {
		delete(w.disk, part)
	}
	return nil
}

func saveAll(t testing.TB, e *engine.Engine) map[string][]byte {
	all := map[string][]byte{}
	require.NoError(t, e.SaveAll(func(part string, data []byte) error {
		if data != nil {
			all[part] = slices.Clone(data)
		}
		return nil
	}))
	return all
}

// kill requires that twin and engine would save the same, and that nothing of it is missing on the
// disk; then it makes the twin anew.
func (w *twin) kill() {
	w.t.Helper()
	w.kills++
	full := saveAll(w.t, w.engine)
	have := saveAll(w.t, w.bench.engine)
	require.ElementsMatch(w.t, slices.Collect(maps.Keys(full)), slices.Collect(maps.Keys(have)))
	for part := range full {
		require.Equal(w.t, string(have[part]), string(full[part]))
	}
	if strings.Contains(string(full[engine.PartEngine]), `"rebalances"`) {
		w.waiting++
	}
	require.ElementsMatch(w.t, slices.Collect(maps.Keys(full)), slices.Collect(maps.Keys(w.disk)))
	for part := range full {
		if part != engine.PartPrices {
			require.Equal(w.t, lasting(w.t, part, full[part]), lasting(w.t, part, w.disk[part]),
				"%s was not saved when it changed", part)
		}
	}
	w.account, w.engine = w.remake(w.make()...)
	commands, err := w.engine.Restore(0, full, past(w.history))
	require.NoError(w.t, err)
	require.Empty(w.t, commands)
	require.NoError(w.t, w.account.Check())
	again := saveAll(w.t, w.engine)
	for part := range full {
		require.Equal(w.t, string(full[part]), string(again[part]), part)
	}
}

// past yields groups of candles.
func past(groups [][]market.Candle) iter.Seq2[[]market.Candle, error] {
	return func(yield func([]market.Candle, error) bool) {
		for _, group := range groups {
			if !yield(group, nil) {
				return
			}
		}
	}
}

// lasting is a part without what moves with prices and time alone.
func lasting(t testing.TB, part string, data []byte) any {
	switch part {
	case engine.PartEngine:
		var s engine.SavedEngine
		require.NoError(t, market.ParseSaved(data, 1, &s))
		s.Now = 0
		return s
	case engine.PartGate:
		var s risk.SavedGate
		require.NoError(t, market.ParseSaved(data, 1, &s))
		s.Now, s.Equity.Latest = 0, 0
		for name, slot := range s.Strategies {
			slot.Refused, slot.Codes = nil, nil
			s.Strategies[name] = slot
		}
		return s
	}
	return string(data)
}

// drunkard is a gambler whose luck outlives the process. It sets timers, and may fall over.
type drunkard struct {
	gambler
	luck  *rand.PCG
	falls bool
}

func newDrunkard(seed uint64, falls bool) *drunkard {
	d := &drunkard{luck: rand.NewPCG(seed, 1), falls: falls}
	d.random, d.killed = rand.New(d.luck), true
	return d
}

func (d *drunkard) OnCandle(desk *strategy.Desk, c market.Candle) {
	d.gambler.OnCandle(desk, c)
	switch d.random.IntN(200) {
	case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9:
		desk.Timer(desk.Now()+market.Time(d.random.Int64N(int64(3*minute))), int64(c.Market))
	case 10:
		if d.falls {
			panic("drunk")
		}
	case 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30:
		percent := func() market.Rate { return market.Rate(d.random.IntN(9)) * market.Percent }
		desk.Rebalance(strategy.Portfolio{Band: percent() / 4, ToEdge: d.random.IntN(2) == 0,
			Weights: []strategy.Weight{{Market: 1, Share: percent()}, {Market: 2, Share: percent()}}})
	}
}

func (d *drunkard) OnTimer(desk *strategy.Desk, name int64) {
	d.ask(desk, market.ID(name), desk.In(market.ID(name)).Last())
}

func (d *drunkard) Save() ([]byte, error) { return d.luck.MarshalBinary() }

func (d *drunkard) Load(data []byte) error { return d.luck.UnmarshalBinary(data) }

var restartSeeds = flag.Int("seeds", 3,
	"how many seeds TestAfterARestartShippedStrategiesGoOnAsIfNothingHadHappened plays of each strategy; of any "+
		"engine five times as many")

// More seeds of both:
//
//	go test ./engine -run AfterARestart -seeds 50
func TestAfterARestartAnyEngineGoesOnAsIfNothingHadHappened(t *testing.T) {
	asked, kills, halts, swaps, waiting := 0, 0, 0, 0, 0
	for seed := range uint64(5 * *restartSeeds) {
		r := rand.New(rand.NewPCG(seed, 8))
		venue := sim.Config{
			Path: sim.Path(r.IntN(5)), Latency: market.Duration(r.IntN(2)) *
				market.Duration(r.Int64N(int64(2*minute))), VolumeShare: market.Rate(r.IntN(2)) * 10_000,
			HalfSpread: market.Rate(r.IntN(2)) * 100_000, Slippage: market.Rate(r.IntN(2)) *
				50_000, FeeRounding: exchange.FeeRounding(r.IntN(3)),
			Fees: func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} },
		}
		limits := []risk.Limits{{OrdersPerMinute: 3, CoolDownLosses: 2, CoolDown: market.Duration(4 * minute)},
			{OrdersPerMinute: 5, MaxOpenOrders: 8}}
		account := risk.AccountLimits{AllowSelfCross: r.IntN(2) == 0, MaxDailyLoss: market.Money(1+r.IntN(40)) * 10 *
			eur, MaxDrawdown: market.Rate(r.IntN(2)) * 5_000_000}
		if seed%3 == 0 { // a year of such minutes has some hundred per cent
			account.VolatilityTarget, account.VolatilityInterval = 60_000_000, market.Interval1m
		}
		made := func() []strategy.Strategy {
			return []strategy.Strategy{newDrunkard(seed, false), newDrunkard(seed+1000, true)}
		}
		players := made()
		both := []market.ID{1, 2}
		b := newBench(t, setup{markets: 2, venue: venue, limits: limits, account: account, noDeposit: true,
			slots: []engine.StrategyConfig{{Strategy: players[0], Markets: both},
				{Strategy: players[1], Markets: both, Ticker: true}}})
		w := shadow(b, r, made)
		b.deposit(1, 10_000*eur)
		price := [2]market.Price{100, 100}
		for range 60 {
			b.group(randomCandle(r, 1, &price[0]), randomCandle(r, 2, &price[1]))
			b.step(&market.Event{Kind: market.KindTicker, At: b.now,
				Ticker: &market.Ticker{Market: 1, Last: price[0] * at1, Bid: price[0]*at1 - 1, Ask: price[0]*at1 + 1}})
		}
		w.kill()
		asked, kills, halts = asked+players[0].(*drunkard).asked, kills+w.kills, halts+len(b.engine.Halts())
		waiting += w.waiting
		if b.engine.Brackets().Unprotected() > 0 {
			swaps++
		}
	}
	t.Logf("%d orders, %d kills, %d halts, %d swaps, %d while buys waited", asked, kills, halts, swaps, waiting)
	require.Greater(t, waiting, *restartSeeds)
	require.Greater(t, asked, 200**restartSeeds)
	require.Greater(t, kills, 50**restartSeeds)
	require.Greater(t, halts, *restartSeeds/2)
	require.Greater(t, swaps, *restartSeeds)
}

// seated is a strategy with its parameters.
type seated struct {
	kind   strategy.Definition
	values map[string]any
}

// often are the shipped strategies with parameters that trade often.
var often = []seated{
	{shipped.SMACross, map[string]any{"fast": int64(2), "slow": int64(5), "share": "0.4"}},
	{shipped.Breakout, map[string]any{"channel": int64(3), "atr": int64(2), "stop_atr": 1.5, "target_atr": 2.0,
		"share": "0.4", "risk": "0"}},
	{shipped.RSIRevert, map[string]any{"period": int64(2), "low": 45.0, "high": 55.0, "expire": int64(3),
		"offset_bps": "20", "target_bps": "50", "share": "0.3"}},
	{shipped.Grid, map[string]any{"levels": int64(3), "spacing_bps": "100", "recentre_bps": "250", "money": "100"}},
	{shipped.DCA, map[string]any{"money": "10", "every_candles": int64(4)}},
	{shipped.DCA, map[string]any{"money": "10", "every": "150s"}},
	{shipped.Maker, map[string]any{"half_spread_bps": "100", "money": "200", "max_money": "2000"}},
	{shipped.TrendFilter, map[string]any{"fast": int64(1), "slow": int64(3), "days": int64(0), "size": "40% cash"}},
	{shipped.Rotation, map[string]any{"top": int64(1), "candles": int64(2), "every": "5m", "share": "90%"}},
	{shipped.BandRevert, map[string]any{"closes": int64(4), "width": 0.5, "gain": "0%", "atr": int64(2),
		"stop_atr": 2.0}},
	{shipped.Accumulate, map[string]any{"money": "100", "candles": int64(4), "every": "5m", "take": "150s"}},
	{rules.Definition, map[string]any{"rules.entry": "close < sma(n)", "n": int64(3), "rules.trail": "2 * atr(2)",
		"rules.exit": "close < highest_since_entry - 3 or profit > 1", "rules.cooldown": int64(1),
		"rules.add": int64(2), "rules.size": "20% cash", "rules.break_even": "1%"}},
	{rules.Definition, map[string]any{"rules.entry": "close < close[1]", "rules.at": "close - 0.1",
		"rules.exit": "close > entry_price and bars_since_entry > 1", "rules.exit_after": int64(5), "rules.stop": "3%",
		"rules.target": "close + 2 * atr(3)", "rules.size": "up to 2% risk"}},
	{shipped.Follow, map[string]any{"size": "30% cash", "stop": "3%", "target": "2%"}},
	{shipped.Follow, map[string]any{"size": "30% cash", "limit": "1%", "trail": "3%"}},
}

func TestAfterARestartShippedStrategiesGoOnAsIfNothingHadHappened(t *testing.T) {
	for _, kind := range shipped.Definitions() {
		require.True(t, slices.ContainsFunc(often, func(one seated) bool { return one.kind.Name == kind.Name }),
			"%s has no row in often", kind.Name)
	}
	for i, one := range often {
		t.Run(fmt.Sprint(one.kind.Name, i), func(t *testing.T) {
			sent, kills := 0, 0
			for seed := range uint64(*restartSeeds) {
				r := rand.New(rand.NewPCG(seed, 9))
				b, w := stageOf(t, one.kind, one.values, r)
				b.deposit(1, 10_000*eur)
				price := [2]market.Price{100, 100}
				for range 150 {
					b.group(randomCandle(r, 1, &price[0]), randomCandle(r, 2, &price[1]))
					for m, p := range price {
						book := market.OrderBook{Market: market.ID(m + 1),
							Bids: []market.Level{{Price: p*at1 - 10, Amount: btc}}, Asks: []market.Level{{Price: p*at1 +
								10, Amount: btc}}}
						b.step(&market.Event{Kind: market.KindBook, At: b.now, Book: &book})
					}
					if one.kind.Name == shipped.Follow.Name && r.IntN(3) == 0 {
						w.signal(strategytest.RandomSignal(r.IntN, 2))
					}
				}
				w.kill()
				sent, kills = sent+len(b.sent), kills+w.kills
			}
			t.Logf("%d orders, %d kills", sent, kills)
			require.Greater(t, sent, 12**restartSeeds)
			require.Greater(t, kills, 12**restartSeeds)
		})
	}
}

// stageOf is a bench with one shipped strategy in two markets, and its twin.
func stageOf(t *testing.T, kind strategy.Definition, values map[string]any, r *rand.Rand) (*bench, *twin) {
	catalog := newBench(t, setup{markets: 2, slots: []engine.StrategyConfig{{Strategy: idle{}}}}).catalog
	made := func() []strategy.Strategy {
		s, err := kind.New(values, strategy.Setup{Markets: catalog.Markets(), Interval: market.Interval1m})
		require.NoError(t, err)
		return []strategy.Strategy{s}
	}
	needs, err := kind.Needs(values)
	require.NoError(t, err)
	b := newBench(t, setup{markets: 2, noDeposit: true,
		venue: sim.Config{VolumeShare: 50_000_000, Latency: market.Duration(minute / 4)},
		slots: []engine.StrategyConfig{{Name: kind.Name, Strategy: made()[0], Markets: []market.ID{1, 2},
			Ticker: needs.Ticker,
			Book:   needs.Book, Warmup: []int{needs.Warmup}, Signals: needs.Signals}}})
	return b, shadow(b, r, made)
}
