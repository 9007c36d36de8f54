package runner

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/signals"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// With this flag every test that replays a bot at its end compares it with its backtest too:
//
//	go test ./bot/runner -gaps -timeout 1h
var gaps = flag.Bool("gaps", false, "compare each replayed bot with its backtest: all facts give the live books")

// explained requires that the run with all facts has the live books to the last unit, that the
// shares of the facts add up to the whole, and that every run ends.
func (s *stage) explained() *gap.Comparison {
	r, err := gap.Run(context.Background(), gap.Options{Dir: s.Folder, Kinds: s.kinds})
	require.NoError(s.T, err)
	for _, one := range append([]gap.Bridge{r.Account}, r.Strategies...) {
		if len(r.Notes) == 0 { // no events are lost
			require.Zero(s.T, one.Unexplained.Units, one.Name)
		}
		sum := one.Unexplained.Units
		for _, term := range one.Terms {
			sum += term.Mean.Units
			require.LessOrEqual(s.T, term.Least.Units, term.Most.Units)
		}
		require.Equal(s.T, one.Live.Units-one.Profits[0].Units, sum, one.Name)
	}
	for _, out := range r.Runs {
		require.NoError(s.T, out.Err, "%s", out.Facts)
	}
	return r
}

// split compares what came before a full minute, and what came after. Together they are the whole.
func (s *stage) split(whole *gap.Comparison, middle market.Time) *gap.Comparison {
	options := gap.Options{Dir: s.Folder, Kinds: s.kinds, From: middle + 7e9}
	after, err := gap.Run(context.Background(), options)
	require.NoError(s.T, err)
	options.From, options.To = 0, after.From
	before, err := gap.Run(context.Background(), options)
	require.NoError(s.T, err)
	for _, out := range after.Runs {
		require.NoError(s.T, out.Err, "%s", out.Facts)
	}
	if len(whole.Notes) > 0 { // events are lost
		return after
	}
	for _, one := range append([]gap.Bridge{after.Account}, after.Strategies...) {
		require.Zero(s.T, one.Unexplained.Units, "%s from %s", one.Name, middle)
	}
	if after.From == middle { // else the bot did not run then: prices have changed meanwhile
		require.Equal(s.T, whole.Account.Live.Units, before.Account.Live.Units+after.Account.Live.Units)
	}
	require.Equal(s.T, whole.Account.Turnover.Units, before.Account.Turnover.Units+after.Account.Turnover.Units)
	return after
}

// Two kills, one in the middle of what the bot does, and a stop in good order.
func TestTheRunWithAllFactsHasTheLiveBooks(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		for _, long := range []time.Duration{50 * time.Second, 40*time.Second + 300*time.Millisecond} {
			p := s.start()
			time.Sleep(long)
			p.kill()
			p.bury()
		}
		p := s.start()
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
		r := s.explained()
		require.Equal(t, 3, r.Starts)
		require.Greater(t, r.Runs[len(r.Runs)-1].Match.Orders, 20)
		require.NotZero(t, r.Account.Gap.Units)
	})
}

// A strategy with a warm-up begins in the past, and so do the timers of another one. In a run with
// the recorded data alone they trade none the less, with the money that they had live.
func TestTheWarmUpOfOneStrategyKeepsNoOtherFromTrading(t *testing.T) {
	bottest.Unraced(t)
	for _, beside := range []string{"", "saver", "trend", "saver trend"} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 4, nil)
			s.kinds = append(s.kinds[:1], shipped.Definitions()...)
			s.config = strings.Replace(s.config, `allocation = "10000"`, `allocation = "4000"`, 1)
			for i, name := range strings.Fields(beside) {
				kind := map[string]string{"saver": `"dca"
params = { money = "33", every = "20s" }`, "trend": `"breakout"
params = { channel = 3, atr = 5 }`}[name]
				s.config += fmt.Sprintf("[strategies.%s]\nmarkets = [\"BTC-EUR\"]\ninterval = \"1m\"\n"+
					"allocation = \"3000\"\noperator_id = %d\nkind = %s\n", name, 8+i, kind)
			}
			p := s.start()
			time.Sleep(90 * time.Second)
			require.NoError(t, p.end())
			r := s.explained()
			require.NotZero(t, r.Runs[1].Strategies[0], "restless beside %q", beside)
			if names := strings.Fields(beside); len(names) > 0 && names[0] == "saver" {
				require.NotZero(t, r.Runs[1].Strategies[1], "saver beside %q", beside)
			}
		})
	}
}

// From a time inside a start on, the books are those that the bot had then, with its open orders
// and all that its strategies remember.
func TestAGapBeginsInsideAStart(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		began := market.Time(time.Now().UnixNano())
		p := s.start()
		time.Sleep(3*time.Minute + 10*time.Second)
		p.kill()
		p.bury()
		p = s.start()
		again := market.Interval1m.End(market.Interval1m.Floor(market.Time(time.Now().UnixNano())))
		time.Sleep(2 * time.Minute)
		require.NoError(t, p.end())
		whole := s.explained()
		for _, middle := range []market.Time{began + 60e9, began + 2*60e9, again} {
			after := s.split(whole, middle)
			require.Equal(t, middle, after.From)
			last := len(after.Runs) - 1
			require.Less(t, len(after.Runs[last].Orders), len(whole.Runs[last].Orders))
		}
		_, err := gap.Run(context.Background(), gap.Options{Dir: s.Folder, Kinds: s.kinds, From: began + 3600e9})
		require.ErrorAs(t, err, new(config.UsageError))
		require.ErrorContains(t, err, "nothing is recorded from ")
	})
}

// A comparison beside a running bot is the one of its latest commit: nothing is unexplained, and
// the bot trades on. Where the recording lacks its end, the comparison says so.
func TestARunningBotIsCompared(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		p := s.start()
		time.Sleep(50 * time.Second)
		o := gap.Options{Dir: s.Folder, Kinds: s.kinds, Beside: true}
		for range 3 {
			time.Sleep(7 * time.Second)
			socket, err := openControl(t.Context(), p.runner) // beside an open one no time would pass here
			require.NoError(t, err)
			r, err := gap.Run(t.Context(), o)
			require.NoError(t, errors.Join(err, socket.close()))
			require.Empty(t, r.Short)
			require.Zero(t, r.Account.Unexplained.Units)
			require.NotZero(t, r.Account.Equity.Units)
			require.NotZero(t, r.Account.Turnover.Units)
		}
		require.NoError(t, p.end())
		_, err := gap.Run(t.Context(), o)
		require.ErrorIs(t, err, operator.ErrNoBot)
		o.Beside = false
		r, err := gap.Run(t.Context(), o)
		require.NoError(t, err)
		require.Empty(t, r.Short)

		segments, err := filepath.Glob(filepath.Join(s.Folder, statedir.RecordingFolder, "*"))
		require.NoError(t, err)
		last := segments[len(segments)-1]
		info, err := os.Stat(last)
		require.NoError(t, err)
		require.NoError(t, os.Truncate(last, info.Size()-1))
		r, err = gap.Run(t.Context(), o)
		require.NoError(t, err)
		require.Contains(t, r.Short, "the recording ends at event ")
	})
}

// A backtest hears the signals of the bot too, and the comparison says what came of them.
func TestAGapHearsTheSignalsOfTheBot(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := advised(t, "")
		p := s.start().hearing()
		time.Sleep(70 * time.Second)
		p.hears(`{"market":"BTC-EUR","time":"NOW","position":"long"}`)
		require.NotEmpty(t, p.hears(`{"market":"DOGE-EUR","time":"NOW","position":"long"}`).Refused)
		time.Sleep(2 * time.Minute)
		p.hears(`{"market":"BTC-EUR","time":"NOW","position":"flat"}`)
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
		r := s.explained()
		for _, out := range r.Runs {
			require.Len(t, out.Orders, 2, "%s", out.Facts)
		}
		require.Contains(t, strings.Join(r.Assumptions, "\n"),
			"signals of model: 2 heard, late by 0s in the median and 0s at most; 0 lost; refused: 1 market")
	})
}

// A backtest hears signals when they are sent, the bot when they come: one comes late, one is too
// old for the bot, and the file has two that never came.
func TestTheStepOfSignalsIsWhatTheWayCosts(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := advised(t, "")
		p := s.start().hearing()
		time.Sleep(3*time.Minute + 10*time.Second)
		says := func(word string, ago time.Duration) string {
			return p.hears(`{"action":%q,"market":"BTC-EUR","time":%q}`, word, p.trading.Now().Add(-ago)).Refused
		}
		first := p.trading.Now()
		require.Empty(t, says("buy", 50*time.Second))
		time.Sleep(3 * time.Minute)
		require.Contains(t, says("sell", 70*time.Second), "max_age is 1m0s")
		time.Sleep(2 * time.Minute)
		require.NoError(t, p.end())
		r := s.explained()
		require.Equal(t, gap.SignalsStep, r.Account.Terms[0].Fact)
		require.NotZero(t, r.Account.Terms[0].Step.Units)
		sides := func(run *gap.RunBooks) (all []market.Side) {
			for _, o := range run.Orders {
				all = append(all, o.Side)
			}
			return all
		}
		require.Equal(t, []market.Side{market.Buy, market.Sell}, sides(r.Runs[0]), "as they were sent")
		require.Less(t, r.Runs[0].Orders[0].At, r.Runs[1].Orders[0].At)
		require.Equal(t, []market.Side{market.Buy}, sides(r.Runs[1]), "as the bot heard them")
		require.Contains(t, strings.Join(r.Assumptions, "\n"), "signals of model: 1 heard, late by 50s in the median "+
			"and 50s at most; 0 lost; refused: 1 old")
		require.Equal(t, gap.SignalsStep, r.Episodes[0].Root.Fact)

		file := filepath.Join(t.TempDir(), "model.csv")
		rows := "time,action\n"
		for i, action := range []string{"buy", "sell", "buy", "sell"} {
			rows += first.Add(time.Duration(i)*time.Minute).String() + "," + action + "\n"
		}
		require.NoError(t, os.WriteFile(file, []byte(rows), 0o600))
		o, err := p.plan.SignalOptions("model")
		require.NoError(t, err)
		read, err := signals.Read(file, "model", o)
		require.NoError(t, err)
		with := gap.Options{Dir: s.Folder, Kinds: s.kinds,
			Signals: map[string]gap.Sent{"model": {Options: o, File: read}}}
		of, err := gap.Run(t.Context(), with)
		require.NoError(t, err)
		require.Len(t, of.Runs[0].Orders, 4, "two of them never came")
		require.Equal(t, r.Account.Profits[1:], of.Account.Profits[1:])
		require.Equal(t, of.Account.Live.Units-of.Account.Profits[0].Units, of.Account.Gap.Units)
		read.Rows = read.Rows[:1]
		of, err = gap.Run(t.Context(), with)
		require.NoError(t, err)
		require.Equal(t, r.Account.Profits, of.Account.Profits, "a file that ends before is not what was sent")
	})
}
