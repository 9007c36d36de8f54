package bot

import (
	"bytes"
	"context"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// scripted is a strategy of one function.
type scripted struct {
	strategy.Base
	candle func(d *strategy.Desk, c market.Candle)
}

func (s *scripted) OnCandle(d *strategy.Desk, c market.Candle) { s.candle(d, c) }

func scriptedKind(candle func(*strategy.Desk, market.Candle)) strategy.Definition {
	return strategy.Define("scripted", "does what a test says",
		func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &scripted{candle: candle}, nil })
}

// shared is a buffer that several goroutines write to.
type shared struct {
	sync.Mutex
	bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.Buffer.Write(p)
}

func (s *shared) text() string {
	s.Lock()
	defer s.Unlock()
	return s.String()
}

// command runs the program with these strategies.
func command(ctx context.Context, stderr *shared, kind strategy.Definition, args ...string) (code int, stdout string) {
	var out bytes.Buffer
	code = Run(ctx, Process{Args: args, Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: stderr,
		Getenv: func(string) string { return "" }, Definitions: []strategy.Definition{kind}})
	return code, out.String()
}

func TestABacktestInWhichAStrategyPanickedShowsWhereAndFails(t *testing.T) {
	for name, end := range map[string]func(){"panic: out of coffee": func() { panic("out of coffee") },
		"runtime.Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			var stderr shared
			code, stdout := command(t.Context(), &stderr, scriptedKind(func(*strategy.Desk, market.Candle) { end() }),
				"backtest", "--json")
			require.Equal(t, exitFailed, code)
			require.Contains(t, stderr.text(), name)
			require.Contains(t, stderr.text(), "backtest_halt_test.go", "the stack")
			require.Contains(t, stdout, "was halted at")
		})
	}
}

func TestAStrategyOfABacktestLogsFromTheLevelOn(t *testing.T) {
	bottest.Unraced(t)
	kind := scriptedKind(func(d *strategy.Desk, _ market.Candle) {
		d.Log().Warn().Msg("take care")
		d.Log().Info().Msg("by the way")
	})
	var usual, more, none shared
	code, _ := command(t.Context(), &usual, kind, "backtest", "--json")
	require.Zero(t, code, usual.text())
	require.Contains(t, usual.text(), "take care")
	require.NotContains(t, usual.text(), "by the way")
	command(t.Context(), &more, kind, "backtest", "--json", "--log", "info")
	require.Contains(t, more.text(), "by the way")
	command(t.Context(), &none, kind, "backtest", "--json", "--log=off")
	require.Empty(t, none.text())
	code, _ = command(t.Context(), &none, kind, "backtest", "--log", "loud")
	require.Equal(t, config.ExitUsage, code)
}

func TestWhatAnAuthorsPartsPanicWithIsAnErrorWithTheName(t *testing.T) {
	none := func(struct{}) strategy.Needs { return strategy.Needs{} }
	type build = func(struct{}, strategy.Setup) (strategy.Strategy, error)
	for name, c := range map[string]struct {
		kind strategy.Definition
		says string
		list bool // `bot strategies` hears of it too
	}{
		"needs": {strategy.Define("mine", "test", func(struct{}) strategy.Needs { panic("no needs") }, build(nil)),
			"panic in needs, build or Validate: no needs", true},
		"build": {strategy.Define("mine", "test", none,
			func(struct{}, strategy.Setup) (strategy.Strategy, error) { panic("no build") }),
			"panic in needs, build or Validate: no build", false},
		"nil": {strategy.Define("mine", "test", none,
			func(struct{}, strategy.Setup) (strategy.Strategy, error) { return nil, nil }), "build returned nil",
			false},
		"typed": {strategy.Define("mine", "test", none,
			func(struct{}, strategy.Setup) (strategy.Strategy, error) { return (*scripted)(nil), nil }),
			"build returned nil", false},
		"odd": {strategy.Define("mine", "test",
			func(struct{}) strategy.Needs { return strategy.Needs{Intervals: strategy.Intervals{99: 0}} }, build(nil)),
			"needs candles of interval 99", true},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr shared
			code, _ := command(t.Context(), &stderr, c.kind, "backtest", "--no-files")
			require.NotZero(t, code)
			require.Contains(t, stderr.text(), "strategy mine: ")
			require.Contains(t, stderr.text(), c.says)
			if c.list {
				var listed shared
				code, _ = command(t.Context(), &listed, c.kind, "strategies")
				require.NotZero(t, code)
				require.Contains(t, listed.text(), c.says)
			}
		})
	}
}

func TestACallbackThatDoesNotReturnIsNamedAndTheFirstInterruptEndsTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"backtest": {[]string{"backtest", "--json"}, "strategy trend has not returned from OnCandle at 20"},
		"sweep": {[]string{"sweep", "--json", "--out", filepath.Join(t.TempDir(), "a.sweep"), "--vary",
			"account.taker_fee=0.1%,0.2%"}, "strategy trend of taker_fee=0.1% has not returned from OnCandle at 20"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			defer close(release)
			ctx, interrupt := context.WithCancel(t.Context())
			var stderr shared
			ended := make(chan int, 1)
			go func() {
				kind := scriptedKind(func(*strategy.Desk, market.Candle) { <-release })
				code, _ := command(ctx, &stderr, kind, c.args...)
				ended <- code
			}()
			require.Eventually(t, func() bool { return bytes.Contains([]byte(stderr.text()), []byte(c.says)) },
				2*time.Minute, 10*time.Millisecond)
			interrupt()
			select {
			case code := <-ended:
				require.Equal(t, exitFailed, code)
				require.Contains(t, stderr.text(), "interrupted while strategy")
			case <-time.After(2 * time.Minute):
				t.Fatal("the first interrupt did not end the run")
			}
		})
	}
}
