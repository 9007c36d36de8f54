package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
)

// reload asks for a reload as `bot reload` does.
func (p *process) reload(check bool) (*operator.Reload, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := &control{r: p.runner, ctx: ctx}
	return c.reloadNow(ctx, "a test", check)
}

// edit changes the config of the next start, and of a reload.
func (s *stage) edit(old, text string) {
	require.Contains(s.T, s.config, old)
	s.config = strings.Replace(s.config, old, text, 1)
}

// reloadAny reloads with another parameter, another limit, both or none.
func (p *process) reloadAny(chance *rand.Rand) {
	s := p.stage
	if chance.IntN(3) > 0 {
		seed := regexp.MustCompile(`params.seed = \d+`)
		s.config = seed.ReplaceAllString(s.config, fmt.Sprint("params.seed = ", 1+chance.IntN(1000)))
	}
	if chance.IntN(3) > 0 {
		minute := regexp.MustCompile(`orders_per_minute = \d+`)
		s.config = minute.ReplaceAllString(s.config, fmt.Sprint("orders_per_minute = ", 20+chance.IntN(20)))
	}
	if chance.IntN(2) == 0 {
		age := regexp.MustCompile(`max_data_age = "\d+s"`)
		s.config = age.ReplaceAllString(s.config, fmt.Sprintf("max_data_age = %q", fmt.Sprint(20+chance.IntN(10), "s")))
	}
	_, _ = p.reload(chance.IntN(5) == 0) // the process may have ended by itself
}

// reloads are those in the journal of a stopped bot.
func (s *stage) reloads() (all []journal.Reload) {
	store, err := journal.Read(filepath.Join(s.Folder, statedir.StateFile))
	require.NoError(s.T, err)
	defer func() { require.NoError(s.T, store.Close()) }()
	require.NoError(s.T, store.Entries(0, func(e *journal.Entry) error {
		if r, is := e.Record.(*journal.Reload); is {
			all = append(all, *r)
		}
		return nil
	}))
	return all
}

// trending is a stage with averages of a few minutes.
func trending(t *testing.T, seed uint64) *stage {
	s := newStage(t, seed, nil)
	head, _, _ := strings.Cut(s.config, "[strategies.restless]")
	s.config = head + `[strategies.restless]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "10000"
operator_id = 7
params = { fast = 2, slow = 3, share = "0.05" }
`
	return s
}

// held waits until the bot holds a position, and returns it.
func (p *process) held() (position market.Position) {
	for range 60 {
		p.look(func() { position = p.account.Position(1, 1) })
		if position.Amount != 0 {
			return position
		}
		time.Sleep(30 * time.Second)
	}
	require.Fail(p.stage.T, "no position was opened")
	return position
}

func TestParametersChangeWhileAPositionIsOpen(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := trending(t, 4)
		p := s.start()
		before := p.held()
		s.edit("fast = 2, slow = 3", "fast = 3, slow = 9") // a longer warm-up: candles are fetched
		report, err := p.reload(false)
		require.NoError(t, err)
		require.True(t, report.Done)
		require.Equal(t, []string{"strategies.restless.params.fast: 2 → 3", "strategies.restless.params.slow: 3 → 9"},
			report.Changed)
		require.Equal(t, []string{"restless"}, report.Strategies)
		p.look(func() {
			require.Equal(t, before, p.account.Position(1, 1))
			require.False(t, p.engine.Warming(1), "it has seen the candles of its warm-up")
		})
		time.Sleep(25 * time.Minute)
		var after market.Position
		p.look(func() { after = p.account.Position(1, 1) })
		require.NotEqual(t, before, after, "it trades")
		require.NoError(t, p.end())
		made := s.reloads()
		require.Len(t, made, 1)
		require.Equal(t, report.Changed, made[0].Changes)
		require.Equal(t, report.ConfigHash, made[0].ConfigHash)
		require.NotEqual(t, made[0].Was, made[0].ConfigHash)
		require.NotZero(t, made[0].Until)

		p = s.start() // the next start has the same settings
		require.Equal(t, made[0].ConfigHash, p.plan.SettingsHash)
		require.NoError(t, p.end())
		s.agree(p)
		r := s.replayed()
		require.Equal(t, 1, r.Reloads)
		require.GreaterOrEqual(t, r.Snapshots, 1, "the state behind the reload is that of the bot")
		require.Zero(t, r.Unchecked)
	})
}

func TestLimitsChangeAndTheStrategyKeepsItsMemoryAndItsOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		p := s.start()
		time.Sleep(2 * time.Minute)
		s.edit(`max_open_orders = 4`, `max_open_orders = 1`)
		s.edit(`max_exposure = "4000"`, `max_exposure = "3000"`)
		var open []market.OrderID
		for len(open) == 0 { // between two of its orders the strategy has none
			time.Sleep(time.Second)
			p.look(func() {
				for _, o := range p.account.Open(nil, 0, 0) {
					open = append(open, o.ID)
				}
			})
		}
		check, err := p.reload(true)
		require.NoError(t, err)
		require.False(t, check.Done)
		report, err := p.reload(false)
		require.NoError(t, err)
		require.Equal(t, []string{"risk.max_exposure: 4000 → 3000", "risk.max_open_orders: 4 → 1"}, report.Changed)
		require.Equal(t, check.Changed, report.Changed)
		require.Empty(t, report.Strategies)
		require.Zero(t, report.Cancelled)
		require.NotEmpty(t, open)
		time.Sleep(time.Minute)
		p.look(func() {
			counts := map[string]int64{}
			for _, c := range p.gate.Refused(1) {
				counts[c.Reason] = c.N
			}
			require.Positive(t, counts["max_open_orders"], "%v", counts)
		})
		again, err := p.reload(false)
		require.NoError(t, err)
		require.Empty(t, again.Changed)
		require.NoError(t, p.end())
		require.Len(t, s.reloads(), 1)
		s.agree(p)
		require.Equal(t, 1, s.replayed().Reloads)
	})
}

// A kill at any point of a reload leaves the settings of before or of afterwards: of which the next
// start reads one from its config. The books are the exchange's, and the replay is equal.
func TestAKillDuringAReloadLeavesOneOfTheTwoSettings(t *testing.T) {
	for i, point := range []string{"reload copied", "reload prepared", "reload begins", "reload taken over",
		"reload done"} {
		for _, takesNew := range []bool{false, true} {
			if testing.Short() && (i%2 == 1 || takesNew != (i%4 == 0)) {
				continue
			}
			t.Run(fmt.Sprint(point, ", then the new config ", takesNew), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStage(t, uint64(20+i), nil)
					var p *process
					s.faults = func(at string) {
						if at == point {
							p.kill()
						}
					}
					p = s.start()
					time.Sleep(3 * time.Minute)
					old := s.config
					s.edit(fmt.Sprint("params.seed = ", 20+i), "params.seed = 77")
					s.edit(`orders_per_minute = 40`, `orders_per_minute = 30`)
					_, _ = p.reload(false)
					p.bury()
					s.faults = nil
					if !takesNew {
						s.config = old
					}
					p = s.start()
					time.Sleep(2 * time.Minute)
					require.NoError(t, p.end())
					require.Positive(t, s.agree(p).Orders)
					if testing.Short() { // see bottest.Unraced
						return
					}
					r := s.replayed()
					require.Zero(t, r.Unchecked)
					require.LessOrEqual(t, len(s.reloads()), r.Reloads)
				})
			})
		}
	}
}

// fussy is a kind that fails as its parameter says.
type fussyParams struct {
	Fails string `toml:"fails" default:"" doc:"where it fails"`
}

var fussyKind = strategy.Define("fussy", "fails where it is told to",
	func(fussyParams) strategy.Needs { return strategy.Needs{Ticker: true, Warmup: 3} },
	func(p fussyParams, _ strategy.Setup) (strategy.Strategy, error) {
		switch p.Fails {
		case "made":
			return nil, fmt.Errorf("it cannot be made")
		case "panics":
			panic("in its constructor")
		}
		return &fussy{fussyParams: p}, nil
	})

type fussy struct {
	strategy.Base
	fussyParams
	seen int
}

func (f *fussy) OnCandle(*strategy.Desk, market.Candle) {
	if f.seen++; f.Fails == "warm-up" {
		panic("over a candle")
	}
}

func (f *fussy) Save() ([]byte, error) { return []byte{byte(f.seen)}, nil }

func (f *fussy) Load([]byte) error {
	if f.Fails == "load" {
		return fmt.Errorf("the state is of another kind")
	}
	return nil
}

func TestAReloadThatFailsChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		s.kinds = append(s.kinds, fussyKind)
		s.config += "[strategies.fussy]\nkind = \"fussy\"\nmarkets = [\"BTC-EUR\"]\ninterval = \"1m\"\n" +
			"operator_id = 8\nparams.fails = \"\"\n"
		p := s.start()
		time.Sleep(2 * time.Minute)
		whole := s.config
		for edit, want := range map[[2]string]string{
			{`params.fails = ""`, `params.fails = "made"`}:    "strategy fussy: it cannot be made",
			{`params.fails = ""`, `params.fails = "panics"`}:  "in its constructor",
			{`params.fails = ""`, `params.fails = "warm-up"`}: "strategy fussy cannot take over: panic: over a candle",
			{`params.fails = ""`, `params.fails = "load"`}: "strategy fussy: load its state with the new parameters: the " +
				"state is of another kind",
			{`max_exposure = "4000"`, `max_exposure = "much"`}: "stage.toml",
			{`max_exposure`, `max_exposur`}:                    "max_exposure",
			{"operator_id = 8", "operator_id = 9"}: "nothing is applied: strategies.fussy.operator_id: that needs a " +
				"restart of the bot",
			{"balances = \"10s\"", "balances = \"11s\""}:                        "poll.balances",
			{"allocation = \"10000\"", "allocation = \"10001\""}:                "strategies.restless.allocation",
			{"[strategies.fussy]", "[strategies.funny]"}:                        "strategies.funny",
			{"[\"BTC-EUR\"]", "[\"BTC-EUR\", \"ETH-EUR\"]"}:                     "markets: that needs a restart",
			{"[bot]", "[paper.start]\nEUR = \"1000\"\n[bot]\nmode = \"paper\""}: "bot.mode",
			{"\"KEY\"\nsecret_env = \"SECRET\"", "\"OTHER\"\nsecret_env = \"OTHERS\""}: "exchange.key_env, " +
				"exchange.secret_env: that needs a restart",
		} {
			s.edit(edit[0], edit[1])
			_, err := p.reload(false)
			require.ErrorContains(t, err, want, "%v", edit)
			s.config = whole
		}
		state := s.Folder
		s.Folder += "-elsewhere"
		_, err := p.reload(false)
		require.ErrorContains(t, err, "bot.state: that needs a restart")
		s.Folder = state
		require.Contains(t, s.log.String(), "the reload is refused: the bot goes on with the settings that it had")
		entered := 0
		p.look(func() { entered = len(p.engine.Halts()) })
		require.Zero(t, entered)

		p.runner.settings.swapping.Lock()
		_, err = p.reload(false)
		require.ErrorContains(t, err, "another reload is under way")
		p.runner.settings.swapping.Unlock()
		s.edit("params.seed = 4", "params.seed = 5")
		report, err := p.reload(false)
		require.NoError(t, err)
		require.Equal(t, []string{"restless"}, report.Strategies)
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
		s.edit("params.seed = 5", "params.seed = 6")
		_, err = p.reload(false)
		require.ErrorIs(t, err, errNotTrading)
		r := s.replayed()
		require.Equal(t, 1, r.Reloads)
		require.Contains(t, strings.Join(r.Notes, "\n"), "was refused: strategy fussy: load its state",
			"what was refused at the last moment is refused again")
	})
}

func TestAReloadWhileTheBotStopsIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		var p *process
		var once sync.Once
		s.faults = func(at string) {
			if at == "reload prepared" {
				once.Do(func() { p.stop() })
				time.Sleep(time.Second)
			}
		}
		p = s.start()
		time.Sleep(2 * time.Minute)
		s.edit("params.seed = 4", "params.seed = 5")
		_, err := p.reload(false)
		require.Error(t, err)
		failed := <-p.done
		p.leaveAndClose(failed)
		require.Empty(t, s.reloads())
		s.agree(p)
		require.Zero(t, s.replayed().Reloads)
	})
}

func TestACanaryDecidesTheSameOverAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := followed(t, 4)
		p := s.start()
		time.Sleep(2 * time.Minute)
		s.edit("params.seed = 4", "params.seed = 5")
		_, err := p.reload(false)
		require.NoError(t, err)
		time.Sleep(2 * time.Minute)
		require.NoError(t, p.end())
		state := p.Canary.State()
		require.Nil(t, state.First)
		require.NoError(t, state.Ended)
		require.Equal(t, s.replayed().Equal, state.Equal)
	})
}

func TestAPaperBotReloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 6, nil)
		s.config = fmt.Sprintf(paperBot, 6)
		p := s.start()
		time.Sleep(2 * time.Minute)
		s.edit("params.seed = 6", "params.seed = 7")
		report, err := p.reload(false)
		require.NoError(t, err)
		require.Equal(t, []string{"restless"}, report.Strategies)
		time.Sleep(2 * time.Minute)
		require.NoError(t, p.end())
		require.Len(t, s.reloads(), 1)
		require.Equal(t, 1, s.replayed().Reloads)
	})
}

// A reload leaves a halt as it is, and warms the successor up for a resume.
func TestAReloadLiftsNoHalt(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := trending(t, 4)
		p := s.start()
		before := p.held()
		enter := func(in market.Input) {
			c := &control{r: p.runner}
			require.NoError(t, c.do(t.Context(), func(at market.Time) []market.Command {
				in.At = at
				return p.door.Enter(&in).Commands
			}))
		}
		enter(market.Input{Kind: market.InputHalt, Strategy: 1, Reason: "a person"})
		s.edit("fast = 2, slow = 3", "fast = 2, slow = 4")
		s.edit(`max_exposure = "4000"`, `max_exposure = "8000"`)
		report, err := p.reload(false)
		require.NoError(t, err)
		require.Equal(t, []string{"restless"}, report.Strategies)
		time.Sleep(10 * time.Minute)
		p.look(func() {
			halt, halted := p.engine.Halted(1)
			require.True(t, halted)
			require.Equal(t, "a person", halt.Reason)
			require.True(t, p.gate.Halted(1))
			require.Equal(t, before, p.account.Position(1, 1), "it does not trade")
		})
		enter(market.Input{Kind: market.InputResume, Strategy: 1})
		time.Sleep(20 * time.Minute)
		p.look(func() { require.NotEqual(t, before, p.account.Position(1, 1)) })
		require.NoError(t, p.end())
		require.Equal(t, 1, s.replayed().Reloads)
	})
}

// hanger does not return from a callback: over a candle of its warm-up, or over a ticker.
type hanger struct {
	strategy.Base
	where string
	over  <-chan struct{}
}

func (h *hanger) OnCandle(*strategy.Desk, market.Candle) {
	if h.where == "warm-up" {
		<-h.over
	}
}

func (h *hanger) OnTicker(*strategy.Desk, market.Ticker) {
	if h.where == "loop" {
		<-h.over
	}
}

// hangers is a stage with a strategy that hangs where its parameter says, until over is closed.
func hangers(t *testing.T, over <-chan struct{}) *stage {
	s := newStage(t, 4, nil)
	s.kinds = append(s.kinds, strategy.Define("hanger", "does not return",
		func(fussyParams) strategy.Needs { return strategy.Needs{Ticker: true, Warmup: 2} },
		func(p fussyParams, _ strategy.Setup) (strategy.Strategy, error) {
			return &hanger{where: p.Fails, over: over}, nil
		}))
	s.config += "[strategies.hanger]\nkind = \"hanger\"\nmarkets = [\"BTC-EUR\"]\ninterval = \"1m\"\n" +
		"operator_id = 8\nparams.fails = \"\"\n"
	return s
}

func TestANewStrategyThatHangsInItsWarmUpHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		s := hangers(t, over)
		p := s.start()
		time.Sleep(time.Minute)
		orders := func() (last market.OrderID) {
			p.look(func() { last = p.engine.LastOrder() })
			return last
		}
		before := orders()
		s.edit(`params.fails = ""`, `params.fails = "warm-up"`)
		began := time.Now()
		_, err := p.reload(false)
		require.ErrorContains(t, err, "the new strategies are not warmed up")
		require.Equal(t, warmupTimeout, time.Since(began).Round(time.Second))
		require.Greater(t, orders(), before+5, "the bot trades meanwhile")
		s.edit(`params.fails = "warm-up"`, `params.fails = ""`)
		s.edit("params.seed = 4", "params.seed = 5")
		report, err := p.reload(false)
		require.NoError(t, err, "the next reload does not wait for it")
		require.Equal(t, []string{"restless"}, report.Strategies)
		require.NoError(t, p.end())
		close(over)
		require.Equal(t, 1, s.replayed().Reloads)
	})
}

func TestAReloadOfABlockedBotIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		s := hangers(t, over)
		p := s.start()
		time.Sleep(time.Minute)
		s.edit(`params.fails = ""`, `params.fails = "loop"`)
		_, err := p.reload(false)
		require.NoError(t, err)
		time.Sleep(5 * time.Second)
		s.edit(`params.fails = "loop"`, `params.fails = ""`)
		_, err = p.reload(false)
		require.Error(t, err, "the loop does not answer")
		close(over)
		time.Sleep(time.Second)
		_, err = p.reload(false)
		require.NoError(t, err, "once it does, the same reload is carried out")
		require.NoError(t, p.end())
		require.Equal(t, 2, len(s.reloads()))
		s.replayed()
	})
}

// Rules are reloaded as parameters are: the strategy knows when its position began.
func TestRulesChangeWhileAPositionIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := trending(t, 4)
		s.kinds = append(s.kinds, rules.Definition)
		s.edit("kind = \"smacross\"", "kind = \"rules\"")
		s.edit(`params = { fast = 2, slow = 3, share = "0.05" }`, `params.n = 3`+"\n"+
			`rules.entry = 'close > sma(n) * 0.5'`+"\n"+`rules.size = "5% cash"`+"\n"+`rules.exit = 'close < 1'`)
		p := s.start()
		before := p.held()
		time.Sleep(3 * time.Minute)
		told, err := (&control{r: p.runner, ctx: t.Context()}).refusals(t.Context(), &operator.Request{SinceMS: 60_000})
		require.NoError(t, err)
		require.Regexp(t, `The entry was true at \d+ closes`, told.(*operator.Refused).Strategies[0].Notes[0])
		s.edit(`rules.exit = 'close < 1'`, `rules.exit = 'bars_since_entry >= 4'`)
		s.edit(`params.n = 3`, `params.n = 9`)
		report, err := p.reload(false)
		require.NoError(t, err)
		require.Equal(t, []string{"strategies.restless.params.n: 3 → 9",
			"strategies.restless.rules.exit: close < 1 → bars_since_entry >= 4"}, report.Changed)
		p.look(func() {
			require.Equal(t, before, p.account.Position(1, 1))
			require.False(t, p.engine.Warming(1), "the candles of the longer warm-up are in")
		})
		time.Sleep(2 * time.Minute)
		told, err = (&control{r: p.runner, ctx: t.Context()}).refusals(t.Context(), &operator.Request{SinceMS: 60_000})
		require.NoError(t, err)
		require.NotContains(t, strings.Join(told.(*operator.Refused).Strategies[0].Notes, " "), "undefined")
		p.look(func() { require.NotEqual(t, before.Opened, p.account.Position(1, 1).Opened, "it was sold") })
		s.edit("rules.size", "rules.siez")
		_, err = p.reload(false)
		require.ErrorContains(t, err, `strategies.restless.rules.siez: unknown rule "siez"; the nearest is "size"`)
		require.NoError(t, p.end())
		s.agree(p)
		require.Zero(t, s.replayed().Unchecked)
	})
}
