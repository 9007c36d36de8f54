package backtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// day is the start of the candles of planOver.
const day = market.Time(1640995200_000_000_000)

// advised buys at "buy", leaves at "sell", and keeps in words what came when.
type advised struct {
	strategy.Base
	heard *[]string
	fills *[]string
	skips bool
}

func (a *advised) OnSignal(d *strategy.Desk, s market.Signal) {
	*a.heard = append(*a.heard, fmt.Sprintf("%d %d at %s", s.Number, s.Action, d.Now().Sub(day)))
	switch m := d.In(1); s.Action {
	case market.ActBuy:
		_, _ = m.Buy(strategy.EquityShare(50 * market.Percent))
	case market.ActSell:
		_ = m.Close()
	}
}

func (a *advised) OnCandle(d *strategy.Desk, c market.Candle) {
	if a.skips {
		*a.heard = append(*a.heard, fmt.Sprintf("candle at %s", d.Now().Sub(day)))
	}
}

func (a *advised) OnFill(d *strategy.Desk, f market.Fill) {
	if a.skips {
		*a.heard = append(*a.heard, f.Side.String())
	}
	*a.fills = append(*a.fills, fmt.Sprintf("%s at %s", f.Side, f.Time.Sub(day)))
}

// advisedPlan is a plan over n minutes with signals, and what came of it.
func advisedPlan(t testing.TB, n int, each bool, signals ...market.Signal) (p *Plan, heard, fills *[]string) {
	heard, fills = new([]string), new([]string)
	kind := strategy.Define("advised", "for a test",
		func(struct{}) strategy.Needs { return strategy.Needs{Signals: []string{"model"}} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) {
			return &advised{heard: heard, fills: fills, skips: each}, nil
		})
	p, _ = planOver(t, n, 1_000_000_00, kind, nil)
	for i := range signals {
		signals[i].Source, signals[i].Number = "model", int64(i+1)
		signals[i].Time = signals[i].Known
	}
	p.Signals = signals
	return p, heard, fills
}

func at(d time.Duration) market.Time { return day.Add(d) }

// A signal arrives at its own time, before the candle of its instant; an order that follows meets
// the first point of the path that is late enough, as one decided at a close meets the next open.
func TestASignalArrivesWhenItIsKnown(t *testing.T) {
	p, heard, fills := advisedPlan(t, 6, true,
		market.Signal{Known: at(-2 * time.Hour)}, market.Signal{Known: at(-time.Hour)},
		market.Signal{Known: at(70 * time.Second), Action: market.ActBuy},
		market.Signal{Known: at(2 * time.Minute), Action: market.ActSell},
		market.Signal{Known: at(4*time.Minute + 500*time.Millisecond), Action: market.ActBuy},
		market.Signal{Known: at(time.Hour)})
	p.DataLatency = time.Second
	mustRun(t, p)
	require.Equal(t, []string{"2 0 at 0s", "candle at 1m1s", "3 1 at 1m10s", "buy", "4 2 at 2m0s", "candle at 2m1s",
		"sell", "candle at 3m1s", "5 1 at 4m0.5s", "candle at 4m1s", "buy", "candle at 5m1s", "candle at 6m1s"}, *heard)
	require.Equal(t, []string{"buy at 1m20s", "sell at 2m0s", "buy at 4m20s"}, *fills)
}

// worked buys in parts from the first candle with money on, and keeps in words what came when.
type worked struct {
	strategy.Base
	came  *[]string
	began bool
}

func (w *worked) OnCandle(d *strategy.Desk, c market.Candle) {
	if !w.began {
		_, err := d.In(c.Market).Buy(strategy.EquityShare(20*market.Percent), strategy.TWAP(4*time.Minute, 12))
		w.began = err == nil
	}
}

func (w *worked) OnFill(_ *strategy.Desk, f market.Fill) {
	*w.came = append(*w.came, fmt.Sprintf("%s at %s", f.Side, f.Time.Sub(day)))
}

func (w *worked) OnSignal(d *strategy.Desk, s market.Signal) {
	*w.came = append(*w.came, fmt.Sprintf("signal at %s", d.Now().Sub(day)))
	switch m := d.In(1); s.Action {
	case market.ActBuy:
		_, _ = m.Buy(strategy.EquityShare(5 * market.Percent))
	case market.ActSell:
		_ = m.Close()
	}
}

// Inside a candle in which a tactic works, a signal arrives where the path stands: what filled
// before it has been heard. What it asks for arrives later in the same path.
func TestASignalArrivesInsideThePathOfATactic(t *testing.T) {
	var signals []market.Signal
	for i := range 34 {
		s := market.Signal{Known: at(time.Duration(i)*7*time.Second + time.Minute)}
		switch i {
		case 12, 14:
			s.Action = market.ActBuy
		case 31:
			s.Action = market.ActSell
		}
		signals = append(signals, s)
	}
	var results []string
	for _, one := range []bool{false, true} {
		p, _, _ := advisedPlan(t, 30, true, signals...)
		came := new([]string)
		p.Strategies[0].Kind = strategy.Define("worked", "for a test",
			func(struct{}) strategy.Needs { return strategy.Needs{Signals: []string{"model"}} },
			func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &worked{came: came}, nil })
		p.OneByOne = one
		result := mustRun(t, p)
		text, err := result.JSON()
		require.NoError(t, err)
		results = append(results, string(text)+strings.Join(*came, "\n"))
		last, mixed := time.Duration(0), 0
		for i, line := range *came {
			_, when, _ := strings.Cut(line, " at ")
			now, err := time.ParseDuration(when)
			require.NoError(t, err)
			require.GreaterOrEqual(t, now, last, "%s in %s", line, *came)
			last = now
			if i > 0 && strings.HasPrefix(line, "signal") != strings.HasPrefix((*came)[i-1], "signal") {
				mixed++
			}
		}
		require.Greater(t, mixed, 10, *came)
		report, err := CheckLookahead(context.Background(), p, quickLook)
		require.NoError(t, err)
		require.Empty(t, report.Changed)
		require.Empty(t, report.FromStart)
	}
	require.Equal(t, results[0], results[1])
}

// Quiet candles are stepped in a row up to a signal, and no further.
func TestSignalsInterruptRowsOfQuietCandles(t *testing.T) {
	var signals []market.Signal
	for i := range 40 {
		known := at(time.Duration(i*i)*time.Minute + time.Duration(i%3)*20*time.Second)
		signals = append(signals, market.Signal{Known: known,
			Action: []market.Action{market.ActBuy, 0, market.ActSell}[i%3]})
	}
	var results []string
	for _, one := range []bool{false, true} {
		for _, latency := range []time.Duration{0, 30 * time.Second} {
			p, heard, fills := advisedPlan(t, 2000, false, append([]market.Signal(nil), signals...)...)
			p.OneByOne, p.DataLatency = one, latency
			result := mustRun(t, p)
			require.Len(t, *heard, 40)
			require.Len(t, *fills, 25, "the first comes before the money")
			text, err := result.JSON()
			require.NoError(t, err)
			results = append(results, string(text)+fmt.Sprint(heard, fills))
		}
	}
	require.Equal(t, results[:2], results[2:])
}

// The check alters the futures of signals too. An honest strategy decides the same; one that
// remembers signals of an earlier run does not.
func TestTheLookaheadCheckAltersSignals(t *testing.T) {
	var signals []market.Signal
	for i := range 200 {
		signals = append(signals, market.Signal{Known: at(time.Duration(i)*14*time.Minute + 30*time.Second),
			Action: []market.Action{market.ActBuy, market.ActSell}[i%2]})
	}
	p, heard, _ := advisedPlan(t, 3000, false, signals...)
	report, err := CheckLookahead(context.Background(), p, quickLook)
	require.NoError(t, err)
	require.Empty(t, report.Changed)
	require.Empty(t, report.FromStart)
	require.NotZero(t, report.Forks)
	require.Greater(t, report.Decisions, 150)
	said := map[string]map[string]bool{}
	for _, line := range *heard {
		number, action, _ := strings.Cut(line, " ")
		if said[number] == nil {
			said[number] = map[string]bool{}
		}
		said[number][action] = true
	}
	require.Len(t, said["1"], 1)
	others := 0
	for _, actions := range said {
		others += len(actions) - 1
	}
	require.Greater(t, others, 5, "a run had other ones")

	cut := signals[99].Known
	none := alteration{cut: cut, ends: true}.hear(p.Signals, 50)
	require.Equal(t, signals[:100], none)
	noise := alteration{cut: cut, noise: true, seed: 1}.hear(p.Signals, 50)
	require.Equal(t, signals[:100], noise[:100])
	require.Len(t, noise, 150)
	require.NotEqual(t, signals[100:150], noise[100:])

	known := map[int64]market.Action{}
	kind := strategy.Define("cheat", "knows the next signal",
		func(struct{}) strategy.Needs { return strategy.Needs{Signals: []string{"model"}} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &foreseer{known: known}, nil })
	p.Strategies[0].Kind = kind
	report, err = CheckLookahead(context.Background(), p, quickLook)
	require.NoError(t, err)
	require.NotEmpty(t, report.Changed)
}

// foreseer acts on the signal after the one that it hears, as far as it knows it.
type foreseer struct {
	strategy.Base
	known map[int64]market.Action
}

func (f *foreseer) OnSignal(d *strategy.Desk, s market.Signal) {
	f.known[s.Number] = s.Action
	if f.known[s.Number+1] == market.ActSell {
		_, _ = d.In(1).Buy(strategy.EquityShare(50 * market.Percent))
	} else {
		_ = d.In(1).Close()
	}
}

// A file that knows the next minute is worth much at once and nothing a little later: the hindsight
// table shows it. An ordinary run makes none.
func TestHindsightShowsWhatLaterSignalsAreWorth(t *testing.T) {
	p, candles := planOver(t, 1500, 1_000_000_00, strategy.Define("x", "x", func(struct{}) strategy.Needs {
		return strategy.Needs{}
	}, func(struct{}, strategy.Setup) (strategy.Strategy, error) { return nil, nil }), nil)
	var signals []market.Signal
	for i := range candles {
		action := market.ActSell
		if c := &candles[i]; c.Close > c.Open {
			action = market.ActBuy
		}
		signals = append(signals, market.Signal{Known: candles[i].Start, Action: action})
	}
	p, _, _ = advisedPlan(t, 1500, false, signals...)
	p.Fees = Fees{}
	result, err := Run(context.Background(), p, Options{Late: true})
	require.NoError(t, err)
	require.Len(t, result.Hindsight, 5)
	var delays []string
	for _, l := range result.Hindsight {
		delays = append(delays, l.Delay)
	}
	require.Equal(t, []string{"0 (this run)", "1 minute", "1 hour", "1 candle", "1 day"}, delays)
	require.Equal(t, result.Performance.Return, result.Hindsight[0].Return)
	require.Greater(t, float64(result.Hindsight[0].Return), 0.2)
	require.Less(t, float64(result.Hindsight[1].Return), float64(result.Hindsight[0].Return)/4)
	require.Equal(t, result.Hindsight[1].Final, result.Hindsight[3].Final, "a candle has a minute")
	require.Equal(t, candles[0].Start, p.Signals[0].Known, "the plan stays as it is")
	plain, err := Run(context.Background(), p, Options{})
	require.NoError(t, err)
	require.Nil(t, plain.Hindsight)
}
