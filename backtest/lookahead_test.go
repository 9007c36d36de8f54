package backtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

var quickLook = LookaheadOptions{Places: 6, Decisions: 12, Seed: 1}

func TestShippedStrategiesDecideTheSameWhateverComesLater(t *testing.T) {
	kinds := shipped.Definitions()
	if testing.Short() {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		t.Run(kind.Name, func(t *testing.T) {
			report, err := CheckLookahead(context.Background(), shippedPlan(t, kind, 3_000), quickLook)
			require.NoError(t, err)
			require.NotZero(t, report.Decisions)
			require.GreaterOrEqual(t, len(report.Cuts), 12)
			require.Equal(t, 4, report.Runs)
			require.Equal(t, 2*len(report.Cuts), report.Forks)
			require.Empty(t, report.FromStart)
			require.Empty(t, report.Changed)
		})
	}
}

// ahead holds where the last candle of a block closes above the first: only its Skip knows.
type ahead struct {
	strategy.Base
	rises bool
}

func (s *ahead) Skip(series []market.Candle) int {
	s.rises = series[len(series)-1].Close > series[0].Close
	return min(len(series), 20)
}

func (s *ahead) OnCandle(d *strategy.Desk, c market.Candle) {
	if s.rises {
		_, _ = d.In(c.Market).Target(strategy.Amount(1_000_000))
	} else {
		_, _ = d.In(c.Market).Target(strategy.Amount(0))
	}
}

// A Skip that looks at later candles decides otherwise than OnCandle, and the report says at which
// candle.
func TestASkipThatLooksAheadIsFound(t *testing.T) {
	kind := strategy.Define("ahead", "for a test", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &ahead{}, nil })
	report, err := CheckLookahead(context.Background(), shippedPlan(t, kind, 3_000), quickLook)
	require.NoError(t, err)
	at := slices.IndexFunc(report.Changed, func(c ChangedDecision) bool { return c.Run == runOneByOne })
	require.GreaterOrEqual(t, at, 0, "%v", report.Changed)
	require.NotZero(t, report.Changed[at].Known)
}

// oracle is where a cheat keeps closes by the time of their candle, and looks up later ones.
type oracle interface {
	begin()
	note(at market.Time, close market.Price)
	at(market.Time) (market.Price, bool)
	end()
}

// cheat holds where it knows of a higher close to come, at each candle or every so many.
type cheat struct {
	strategy.Base
	oracle oracle
	ahead  int
	every  int
	seen   int
}

func (s *cheat) OnStart(*strategy.Desk) { s.oracle.begin() }
func (s *cheat) OnStop(*strategy.Desk)  { s.oracle.end() }

func (s *cheat) OnCandle(d *strategy.Desk, c market.Candle) {
	s.oracle.note(c.Start, c.Close)
	if s.seen++; s.seen%s.every != 0 {
		return
	}
	later, known := s.oracle.at(c.Start + market.Time(s.ahead)*market.Time(c.Interval.Fixed()))
	if known && later > c.Close {
		_, _ = d.In(c.Market).Target(strategy.Amount(1_000_000))
	} else if known {
		_, _ = d.In(c.Market).Target(strategy.Amount(0))
	}
}

// global is knowledge in memory, from run to run; what it knew first stays where it is stubborn.
type global struct {
	closes   map[market.Time]market.Price
	stubborn bool
}

func (g *global) begin() {}
func (g *global) end()   {}
func (g *global) note(at market.Time, close market.Price) {
	if _, has := g.closes[at]; !has || !g.stubborn {
		g.closes[at] = close
	}
}

func (g *global) at(t market.Time) (market.Price, bool) {
	close, has := g.closes[t]
	return close, has
}

// outliver is the same knowledge, held by a goroutine that outlives the runs.
type outliver struct{ asks chan func(*global) }

func newOutliver(t *testing.T) *outliver {
	g := &outliver{make(chan func(*global))}
	done := make(chan struct{})
	go func() {
		defer close(done)
		knows := &global{closes: make(map[market.Time]market.Price)}
		for ask := range g.asks {
			ask(knows)
		}
	}()
	t.Cleanup(func() {
		close(g.asks)
		<-done
	})
	return g
}

func (g *outliver) begin() {}
func (g *outliver) end()   {}
func (g *outliver) note(at market.Time, close market.Price) {
	g.asks <- func(knows *global) { knows.note(at, close) }
}

func (g *outliver) at(t market.Time) (close market.Price, has bool) {
	answered := make(chan struct{})
	g.asks <- func(knows *global) { close, has = knows.at(t); answered <- struct{}{} }
	<-answered
	return close, has
}

// file is knowledge that one run writes and the next reads.
type file struct {
	global
	path  string
	wrote map[market.Time]market.Price
}

func (f *file) begin() {
	f.closes, f.wrote = nil, make(map[market.Time]market.Price)
	if text, err := os.ReadFile(f.path); err == nil {
		_ = json.Unmarshal(text, &f.closes)
	}
}

func (f *file) note(at market.Time, close market.Price) { f.wrote[at] = close }

func (f *file) end() {
	text, _ := json.Marshal(f.wrote)
	_ = os.WriteFile(f.path, text, 0o600)
}

// leak is knowledge of the candles that this very run will read.
type leak struct{ global }

func (l *leak) note(market.Time, market.Price) {}

func (l *leak) of(source Source) Source {
	l.closes = make(map[market.Time]market.Price)
	var all []market.Candle
	for {
		batch, err := source.Next()
		if err != nil {
			return &memory{all}
		}
		for _, c := range batch {
			l.closes[c.Start] = c.Close
		}
		all = append(all, batch...)
	}
}

func cheatPlan(t *testing.T, o oracle, ahead, every, candles int) *Plan {
	kind := strategy.Define("cheat", "knows the future", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) {
			return &cheat{oracle: o, ahead: ahead, every: every}, nil
		})
	p, _ := planOver(t, candles, 1_000_000_00, kind, nil)
	return p
}

func TestTheLookaheadCheckFindsEveryCheat(t *testing.T) {
	all := []int{1, 3, 24}
	if testing.Short() {
		all = all[1:2]
	}
	for _, ahead := range all {
		for _, every := range []int{1, 300} {
			oracles := map[string]oracle{
				"memory":           &global{closes: make(map[market.Time]market.Price)},
				"memory of before": &global{closes: make(map[market.Time]market.Price), stubborn: true},
				"goroutine":        newOutliver(t),
				"file":             &file{path: filepath.Join(t.TempDir(), "closes")},
				"leak":             &leak{},
			}
			for name, o := range oracles {
				if testing.Short() && name != "goroutine" {
					continue // -short is for the race detector
				}
				t.Run(fmt.Sprintf("%s, %d ahead, every %d", name, ahead, every), func(t *testing.T) {
					p, options := cheatPlan(t, o, ahead, every, 3_000), quickLook
					if l, is := o.(*leak); is {
						options.leak = l.of
					}
					report, err := CheckLookahead(context.Background(), p, options)
					require.NoError(t, err)
					require.NotEmpty(t, report.Changed)
					first := report.Changed[0]
					require.NotEqual(t, first.Was, first.Is)
					require.NotZero(t, first.Known)
				})
			}
		}
	}
}

// honest buys and sells by a count of candles that it keeps in one of several ways.
type honest struct {
	strategy.Base
	count func() int // of this candle
	mode  *int       // &invested or &idle
	start func()
	seen  int
}

// idle and invested are compared by their addresses.
var idle, invested int

// outside is a count that belongs to no strategy.
var outside int

func (h *honest) OnStart(*strategy.Desk) {
	if h.start != nil {
		h.start()
	}
}

func (h *honest) OnCandle(d *strategy.Desk, c market.Candle) {
	h.seen++
	n := h.seen
	if h.count != nil {
		n = h.count()
	}
	switch {
	case n%10 != 0:
	case h.mode == &idle || h.mode == nil && n%20 == 0:
		_, _ = d.In(c.Market).Buy(strategy.Amount(1_000_000))
		h.mode = swapped(h.mode)
	default:
		_, _ = d.In(c.Market).Target(strategy.Amount(0))
		h.mode = swapped(h.mode)
	}
}

func swapped(mode *int) *int {
	switch mode {
	case nil:
		return nil
	case &idle:
		return &invested
	}
	return &idle
}

func countOutside() int { outside++; return outside }

func resetOutside() { outside = 0 }

func TestAnHonestStrategyThatCannotBeForkedIsCheckedFromTheStart(t *testing.T) {
	for want, build := range map[string]func() strategy.Strategy{
		"": func() strategy.Strategy { return &honest{} },
		`the run cannot be copied: .*\(\*backtest.honest\).count is a function`: func() strategy.Strategy {
			n := 0
			return &honest{count: func() int { n++; return n }}
		},
		"a package variable":  func() strategy.Strategy { return &honest{count: countOutside, start: resetOutside} },
		"compares addresses$": func() strategy.Strategy { return &honest{mode: &idle} },
	} {
		kind := strategy.Define("honest", "for a test", func(struct{}) strategy.Needs { return strategy.Needs{} },
			func(struct{}, strategy.Setup) (strategy.Strategy, error) { return build(), nil })
		p, _ := planOver(t, 3_000, 1_000_000_00, kind, nil)
		report, err := CheckLookahead(context.Background(), p, quickLook)
		require.NoError(t, err)
		require.NotZero(t, report.Decisions)
		require.Empty(t, report.Changed, want)
		if want == "" {
			require.Empty(t, report.FromStart)
			require.Equal(t, 2*len(report.Cuts), report.Forks)
			continue
		}
		require.Regexp(t, want, report.FromStart)
		require.GreaterOrEqual(t, report.Runs, 4+2*len(report.Cuts))
	}
}

// quitter trades for a while and then ends its goroutine.
type quitter struct{ faulty }

func (q *quitter) OnCandle(d *strategy.Desk, c market.Candle) {
	if q.candles == 1000 {
		runtime.Goexit()
	}
	q.faulty.OnCandle(d, c)
}

func TestAHaltedStrategyIsCheckedByForksToo(t *testing.T) {
	quits := strategy.Define("quitter", "ends", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &quitter{}, nil })
	for _, kind := range []strategy.Definition{broken, quits} {
		p, _ := planOver(t, 3_000, 1_000_000_00, kind, nil)
		report, err := CheckLookahead(context.Background(), p, quickLook)
		require.NoError(t, err)
		require.NotZero(t, report.Decisions)
		require.Equal(t, 2*len(report.Cuts), report.Forks)
		require.Empty(t, report.Changed)
		require.Empty(t, report.FromStart)
	}
}

func TestAFileOfAnEarlierProcessIsFoundToo(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector: this is one goroutine")
	}
	path := filepath.Join(t.TempDir(), "closes")
	_, err := Run(context.Background(), cheatPlan(t, &file{path: path}, 1, 1, 3_000), Options{})
	require.NoError(t, err)
	report, err := CheckLookahead(context.Background(), cheatPlan(t, &file{path: path}, 1, 1, 3_000), quickLook)
	require.NoError(t, err)
	require.NotEmpty(t, report.Changed)
}

func TestTheLookaheadCheckNamesTheDecisionAndTheCandleThatItKnew(t *testing.T) {
	l := &leak{}
	options := quickLook
	options.leak = l.of
	p := cheatPlan(t, l, 1, 300, 3_000)
	trace, _, _, err := decide(context.Background(), func() *Plan {
		plan := *p
		plan.Open = func(f Feed, from, to market.Time) (Source, error) {
			source, err := p.Open(f, from, to)
			return l.of(source), err
		}
		return &plan
	}(), runOptions{})
	require.NoError(t, err)
	report, err := CheckLookahead(context.Background(), p, options)
	require.NoError(t, err)
	first := report.Changed[0]
	require.True(t, slices.ContainsFunc(trace.list, func(d decision) bool { return d.knows == first.Known }))
	require.Equal(t, first.Cut, first.Known, "the decision right before the cut changes")
	require.Regexp(t, `^\d{4}-\d\d-\d\d.* bench: market (buy|sell) 0.01 on BTC-EUR$|^nothing$`, first.Was)
	require.Contains(t, first.String(), first.Known.String())
}

// keeper keeps all it is given and writes to it.
type keeper struct {
	strategy.Base
	setup  strategy.Setup
	kept   []*market.Candle
	orders [][]market.Order
}

func (k *keeper) OnCandle(d *strategy.Desk, c market.Candle) {
	price := c.Close
	k.kept = append(k.kept, &c)
	for _, old := range k.kept[max(0, len(k.kept)-50):] {
		old.Close, old.Market, old.Start = old.Close+1, 9, 0
	}
	if n := len(k.kept); n%10 == 0 && len(d.OpenOrders()) < 5 {
		_, _ = d.In(1).Buy(strategy.Amount(1_000_000), strategy.At(price*99/100))
	}
	open := d.OpenOrders()
	for i := range open {
		open[i] = market.Order{Strategy: 9, OrderState: market.OrderState{OnHold: 0}, ID: 77}
	}
	k.orders = append(k.orders, open)
	*k.setup.Markets[0] = market.Market{}
}

func TestWhatAStrategyKeepsAndWritesChangesNoResult(t *testing.T) {
	kind := func(honest bool) strategy.Definition {
		return strategy.Define("keeper", "keeps and writes", func(struct{}) strategy.Needs { return strategy.Needs{} },
			func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
				if honest {
					return &honestKeeper{}, nil
				}
				return &keeper{setup: s}, nil
			})
	}
	writes, _ := planOver(t, 3_000, 1_000_000_00, kind(false), nil)
	honest, _ := planOver(t, 3_000, 1_000_000_00, kind(true), nil)
	require.JSONEq(t, jsonOf(t, honest), jsonOf(t, writes))
}

// honestKeeper asks for what keeper asks for.
type honestKeeper struct {
	strategy.Base
	seen int
}

func (k *honestKeeper) OnCandle(d *strategy.Desk, c market.Candle) {
	if k.seen++; k.seen%10 == 0 && len(d.OpenOrders()) < 5 {
		_, _ = d.In(1).Buy(strategy.Amount(1_000_000), strategy.At(c.Close*99/100))
	}
}
