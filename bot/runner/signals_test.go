package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/signals"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// advised is a stage whose strategy follows the source model.
func advised(t *testing.T, keys string) *stage {
	s := newStage(t, 7, nil)
	s.advise("follow", "params.size = \"500 quote\"\n", keys)
	return s
}

// advise gives a stage one strategy and the source model, with further keys of both.
func (s *stage) advise(kind, strategy, source string) {
	s.kinds = append(s.kinds, shipped.Follow, rules.Definition)
	head, _, _ := strings.Cut(s.config, "[strategies.restless]")
	s.config = head + section("s", kind, bitcoin, "1m", "allocation = \"10000\"\n"+strategy) +
		"[signals.model]\nlive = \"stdin\"\n" + source
}

// hears lets the bot hear an object of model.
func (p *process) hears(format string, args ...any) signals.Heard {
	p.stage.T.Helper()
	heard, err := p.listening.Hear(context.Background(), p.arrival(format, args...))
	require.NoError(p.stage.T, err)
	return heard
}

// arrival is an object of model as its sender writes it; NOW is the exchange's time.
func (p *process) arrival(format string, args ...any) signals.Arrival {
	o, err := p.plan.SignalOptions("model")
	require.NoError(p.stage.T, err)
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "NOW", p.trading.Now().String())
	a := signals.NewSender("model", o).JSON([]byte(text))
	a.Proof, a.Address = signals.ProofHMAC, "10.0.0.7"
	return a
}

// enters lets an input of a person enter.
func (p *process) enters(in market.Input) {
	require.NoError(p.stage.T, p.loop.Do(context.Background(), func(at market.Time) []market.Command {
		in.At = at
		return p.door.Enter(&in).Commands
	}))
}

// hearing waits until the bot trades.
func (p *process) hearing() *process {
	for !p.listening.trades.Load() {
		time.Sleep(time.Second)
	}
	return p
}

// journalled are the signals in the journal of a stopped bot, with their numbers.
func (s *stage) journalled() (numbers []int64, all []journal.Signal) {
	store, err := journal.Read(filepath.Join(s.Folder, statedir.StateFile))
	require.NoError(s.T, err)
	defer func() { require.NoError(s.T, store.Close()) }()
	require.NoError(s.T, store.Entries(0, func(e *journal.Entry) error {
		if r, is := e.Record.(*journal.Signal); is {
			numbers, all = append(numbers, int64(e.Number)), append(all, *r)
		}
		return nil
	}))
	return numbers, all
}

func TestALiveBotTradesOnWhatItHearsAndTellsOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := advised(t, "")
		p := s.start()
		_, err := p.listening.Hear(t.Context(), p.arrival(`{"action":"buy"}`))
		require.ErrorIs(t, err, ErrNotHearing)
		p.hearing()
		_, err = p.listening.Hear(t.Context(), signals.Arrival{Source: "modell"})
		require.EqualError(t, err, "there is no [signals.modell]")
		time.Sleep(70 * time.Second)
		bought := p.hears(`{"id":"a","market":"BTC-EUR","time":"NOW","position":"long","was":"flat"}`)
		require.Equal(t, signals.Heard{Number: bought.Number}, bought)
		require.NotZero(t, p.held().Amount)
		again := p.hears(`{"id":"a","market":"BTC-EUR","time":"NOW","position":"long","was":"flat"}`)
		require.Equal(t, signals.Heard{Number: bought.Number, Again: true}, again)
		time.Sleep(5 * time.Second)
		var sources []operator.SignalSource
		p.look(func() { sources = p.listening.status() })
		require.Regexp(t, `^model by stdin: 1 received, 0 refused, 1 repeated, last 2000-01-01 00:0.*$`, sources[0].Text())
		require.NoError(t, p.end())
		numbers, all := s.journalled()
		require.Equal(t, []int64{bought.Number}, numbers)
		require.Equal(t, []market.OrderID{1}, all[0].Orders)
		require.Equal(t, []string{"s"}, all[0].Heard)
		require.Empty(t, all[0].Deaf)
		story := s.told(nil, "explain", "1")
		require.Regexp(t, `signal    of model on BTC-EUR by hmac, 10.0.0.7, 0s after it was sent: \{"id":"a"`, story)
		require.Regexp(t, fmt.Sprintf(`event     signal %d of model, sent 2000-01-01 00:\d\d:\d\d.\d\d\d, came 2000-`,
			bought.Number), story)
		require.Contains(t, s.told(nil, "status"), "model: 1 received, 0 refused, 1 repeated, last 2000-01-01 00:")
		s.agree(p)
	})
}

func TestASignalThatDoesNotCountIsRefusedInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := advised(t, "markets = { XBT = \"BTC-EUR\" }\n")
		p := s.start().hearing()
		time.Sleep(70 * time.Second)
		price := 0.0
		p.look(func() { price = float64(p.account.Last(1)) / 100 })
		ago := func(d time.Duration) string { return p.trading.Now().Add(-d).String() }
		for _, c := range []struct{ body, want string }{
			{`{"action":"bye"}`, `column "action": "bye" is none of buy, sell, exit`},
			{`{"action":"buy","market":"XBTC"}`, `"XBTC" is no market; map it: markets = { XBTC = "BTC-EUR" }`},
			{`{"action":"buy","market":"ETH-EUR"}`, `"ETH-EUR" is no market that is traded here; the nearest is BTC-EUR`},
			{`{"action":"buy","time":"` + ago(61*time.Second) + `"}`,
				`is 1m1s ago, max_age is 1m0s; where the times are starts of candles, set stamped = "open"`},
			{`{"action":"buy","time":"` + ago(-7*time.Second) + `"}`, `is 7s ahead of the exchange's clock`},
			{`{"action":"buy","market":"XBT","price":` + fmt.Sprint(price*1.06) + `}`, `is more than 5 % off the last one, `},
		} {
			heard := p.hears("%s", c.body)
			require.Contains(t, heard.Refused, c.want)
			first := !strings.Contains(c.body, "ETH-EUR") // whose kind the one before has begun
			require.Equal(t, first, heard.Number != 0)
			heard = p.hears("%s", c.body)
			require.Contains(t, heard.Refused, c.want)
			require.Zero(t, heard.Number, "it is counted")
		}
		// what counts
		require.Empty(t, p.hears(`{"position":"flat","time":"%s"}`, ago(time.Hour)).Refused, "a state has no age")
		require.Empty(t, p.hears(`{"action":"hold","position":"short","market":"XBT"}`).Refused)
		require.Empty(t, p.hears(`{"value":1,"market":"XBT","price":%v,"time":"%s"}`, price*1.04,
			ago(-4*time.Second)).Refused)
		require.NoError(t, p.end())
		_, all := s.journalled()
		var told []string
		for _, e := range all {
			told = append(told, fmt.Sprintf("%s %d %v %s", e.Verdict, e.Count, e.Short, e.Market))
		}
		require.Equal(t, []string{"malformed 1 false ", "market 1 false XBTC",
			"old 1 false ", "future 1 false ", "price 1 false XBT", " 0 false ", " 0 true BTC-EUR", " 0 false BTC-EUR",
			"future 1 false ", "malformed 1 false ", "market 3 false ETH-EUR",
			"old 1 false ", "price 1 false XBT"}, told)
		s.agree(p)
	})
}

// An id counts once, for a day; a body without one for the time in which senders send again. Both
// outlive a kill and a restart.
func TestASignalCountsOnceAlsoOverRestarts(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := advised(t, "")
		p := s.start().hearing()
		one := p.hears(`{"id":"a","value":1}`)
		other := p.hears(`{"value":1}`)
		require.NotEqual(t, one.Number, other.Number)
		require.Equal(t, signals.Heard{Number: other.Number, Again: true}, p.hears(`{"value":1}`))
		require.False(t, p.hears(`{"value":1,"market":"BTC-EUR"}`).Again)
		require.Equal(t, one.Number, p.hears(`{"id":"a","value":2}`).Number)
		p.kill()
		p.bury()
		p = s.start().hearing()
		require.Equal(t, signals.Heard{Number: one.Number, Again: true}, p.hears(`{"id":"a","value":1}`))
		time.Sleep(31 * time.Second)
		require.False(t, p.hears(`{"value":1}`).Again)
		require.NoError(t, p.end())
		p = s.start().hearing()
		require.True(t, p.hears(`{"id":"a","value":1}`).Again)
		var left [3]int
		p.look(func() { // as if a day had gone by
			id := p.arrival(`{"id":"a","value":1}`)
			until := p.listening.seen[keyOf(&id)].Until
			for i := range left {
				p.listening.forget(until + market.Time(i-1))
				left[i] = len(p.listening.seen)
			}
			require.Greater(t, until, p.began.Add(23*time.Hour))
		})
		require.Equal(t, [3]int{1, 0, 0}, left)
		require.False(t, p.hears(`{"id":"a","value":1}`).Again)
		require.NoError(t, p.end())
		store, err := journal.Read(filepath.Join(s.Folder, statedir.StateFile))
		require.NoError(t, err)
		defer func() { require.NoError(t, store.Close()) }()
		seen, err := statedir.ReadSeen(store)
		require.NoError(t, err)
		require.Len(t, seen, 1, "the state file forgets too")
	})
}

// The latest state holds after a kill, and a position that the sender had otherwise proves a loss.
func TestTheLatestSignalsHoldAfterARestart(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := advised(t, "every = \"10m\"\n")
		p := s.start().hearing()
		p.hears(`{"position":"flat","market":"BTC-EUR"}`)
		p.kill()
		p.bury()
		p = s.start().hearing()
		alerts := &recorder{}
		p.look(func() { p.watch.alerts = alerts })
		told := func() string { return strings.Join(alerts.got(), "\n") }
		require.Empty(t, p.hears(`{"position":"long","was":"flat","market":"BTC-EUR"}`).Refused)
		require.NotContains(t, told(), "signal lost")
		p.hears(`{"position":"flat","was":"flat","market":"BTC-EUR"}`)
		require.Contains(t, told(),
			"model BTC-EUR: the sender was flat before, the bot has heard long: a signal is lost")
		time.Sleep(10 * time.Minute)
		require.NotContains(t, told(), "source silent")
		time.Sleep(time.Minute + 5*time.Second)
		require.Equal(t, 1, strings.Count(told(), "signals model: nothing came since 2000-"))
		var sources []operator.SignalSource
		p.look(func() { sources = p.listening.status() })
		require.True(t, sources[0].Silent)
		p.hears(`{"value":1}`)
		time.Sleep(time.Minute)
		require.Equal(t, 1, strings.Count(told(), "source silent"))
		require.NoError(t, p.end())
		_, all := s.journalled()
		require.Equal(t, []bool{false, false, true, false}, []bool{all[0].Lost, all[1].Lost, all[2].Lost, all[3].Lost})
		s.replayed()
	})
}

// A sender that writes whole seconds is not older than one that writes no time, in the same second.
func TestTwoSignalsOfOneSecondCountInTheirOrder(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := advised(t, "")
		p := s.start().hearing()
		time.Sleep(70 * time.Second)
		for p.trading.Now().Std().Nanosecond() < 6e8 {
			time.Sleep(50 * time.Millisecond)
		}
		p.hears(`{"position":"long","market":"BTC-EUR"}`)
		time.Sleep(200 * time.Millisecond)
		p.hears(`{"position":"flat","market":"BTC-EUR","time":%q}`, p.trading.Now().Std().Format(time.RFC3339))
		time.Sleep(5 * time.Second)
		var position market.Position
		p.look(func() { position = p.account.Position(1, 1) })
		require.Zero(t, position.Amount)
		require.NoError(t, p.end())
		s.replayed()
	})
}

// A halted strategy does not get a signal; the journal says so.
func TestAHaltedStrategyGetsNoSignal(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := advised(t, "")
		p := s.start().hearing()
		time.Sleep(70 * time.Second)
		p.enters(market.Input{Kind: market.InputHalt, Strategy: 1, Reason: "a person"})
		require.Empty(t, p.hears(`{"position":"long","market":"BTC-EUR"}`).Refused)
		time.Sleep(10 * time.Second)
		p.look(func() { require.Zero(t, p.account.Position(1, 1).Amount) })
		s.edit("500 quote", "400 quote") // a reload in between changes nothing
		_, err := p.reload(false)
		require.NoError(t, err)
		p.enters(market.Input{Kind: market.InputResume, Strategy: 1})
		require.Empty(t, p.hears(`{"position":"long","market":"BTC-EUR","id":"x"}`).Refused)
		require.NotZero(t, p.held().Amount)
		require.NoError(t, p.end())
		_, all := s.journalled()
		require.Equal(t, []string{"s"}, all[0].Deaf)
		require.Empty(t, all[0].Heard)
		require.Equal(t, []string{"s"}, all[1].Heard)
		s.agree(p)
	})
}

// A kill before the commit of a signal loses the signal; a kill between commit and answer keeps it.
// The sender gets no answer in both cases and sends the signal again. The signal counts once.
func TestASignalCountsOnceAlsoWhereTheBotIsKilledAtIt(t *testing.T) {
	bottest.Unraced(t)
	for point, kept := range map[string]bool{"signal taken": false, "signal kept": true} {
		synctest.Test(t, func(t *testing.T) {
			s := advised(t, "")
			var p *process
			s.faults = func(at string) {
				if at == point && s.starts == 1 {
					p.kill()
				}
			}
			p = s.start().hearing()
			time.Sleep(70 * time.Second)
			const body = `{"id":"a","market":"BTC-EUR","position":"long"}`
			_, err := p.listening.Hear(t.Context(), p.arrival(body))
			require.Equal(t, kept, err == nil)
			p.bury()
			p = s.start().hearing()
			time.Sleep(time.Minute)
			require.Equal(t, kept, p.hears(body).Again, point)
			if !kept { // else the kill may have met its order on the way, which then never arrived
				require.NotZero(t, p.held().Amount)
			}
			require.True(t, p.hears(body).Again)
			require.NoError(t, p.end())
			_, all := s.journalled()
			require.Len(t, all, 1)
			require.Equal(t, []market.OrderID{1}, all[0].Orders)
			s.agree(p)
		})
	}
}

// An order that follows later than a signal names the signal, and how old it was then.
func TestAnOrderNamesTheSignalsThatItsStrategyCouldRead(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 7, nil)
		s.advise("rules", "rules.signals = \"model\"\nrules.entry = 'model.value > 0.4 and model.age >= 1'\n"+
			"rules.exit = 'model.value < 0.4'\nrules.size = \"500 quote\"\n", "max_age = \"10m\"\n")
		p := s.start().hearing()
		p.hears(`{"value":0.1}`)
		latest := p.hears(`{"value":0.7,"market":"BTC-EUR"}`)
		came := p.trading.Now()
		for p.held().Amount == 0 {
			time.Sleep(10 * time.Second)
		}
		require.NoError(t, p.end())
		var told operator.Story
		require.NoError(t, json.Unmarshal([]byte(s.told(nil, "explain", "1", "--json")), &told))
		require.Len(t, told.Steps[0].Signals, 1)
		used := told.Steps[0].Signals[0]
		require.Equal(t, latest.Number, used.Number)
		require.Equal(t, told.Steps[0].AtMS-came.Millis(), used.AgeMS)
		require.Greater(t, used.AgeMS, int64(time.Minute/time.Millisecond))
		want := fmt.Sprintf("signal    %d of model, came %s, used %s later\n", latest.Number,
			operator.ClockOf(came.Millis()), time.Duration(used.AgeMS)*time.Millisecond)
		for _, args := range [][]string{{"explain", "1"}, {"journal", "--kind", "intent"}} {
			text := s.told(nil, args...)
			require.Regexp(t, `event     candles BTC-EUR of .*\n +`+want, text)
		}
		require.Contains(t, s.told(nil, "journal", "--kind", "signal"), "heard by s")
		s.agree(p)
		s.replayed()
	})
}

// A signal that comes behind a later one changes nothing, and its sender and the journal say so.
func TestASignalAboutAnEarlierTimeIsToldAsThat(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := advised(t, "")
		p := s.start().hearing()
		time.Sleep(70 * time.Second)
		at := func(ago time.Duration, position, market string) signals.Heard {
			return p.hears(`{"position":%q,"market":%q,"time":%q}`, position, market, p.trading.Now().Add(-ago))
		}
		require.Empty(t, at(10*time.Second, "flat", "BTC-EUR").Note)
		behind := at(20*time.Second, "long", "BTC-EUR")
		require.Equal(t, journal.PastText, behind.Note)
		require.Empty(t, at(25*time.Second, "long", "").Note, "the first one about all markets")
		time.Sleep(10 * time.Second)
		p.look(func() { require.Zero(t, p.account.Position(1, 1).Amount) })
		require.Empty(t, at(5*time.Second, "long", "").Note)
		require.NotEmpty(t, at(6*time.Second, "flat", "BTC-EUR").Note, "behind one about all markets")
		require.NotZero(t, p.held().Amount)
		require.Empty(t, at(-3*time.Second, "long", "").Note)
		require.Empty(t, at(0, "long", "BTC-EUR").Note, "a clock that is ahead outdates nothing")
		require.NoError(t, p.end())
		numbers, all := s.journalled()
		require.Equal(t, behind.Number, numbers[1])
		require.Equal(t, []bool{false, true, false, false, true},
			[]bool{all[0].Past, all[1].Past, all[2].Past, all[3].Past, all[4].Past})
		require.Contains(t, s.told(nil, "journal", "--kind", "signal"), ", 3s before its own time: ")
		require.Equal(t, 2, strings.Count(s.told(nil, "journal", "--kind", "signal"), journal.PastText))
		s.agree(p)
		s.replayed()
	})
}

// A canary hears the signals too: the commands that follow from them are compared.
func TestACanaryHearsTheSignals(t *testing.T) {
	bottest.Unraced(t)
	for _, equal := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var others []strategy.Definition
			if !equal {
				others = append(others, sleeper)
			}
			s := followed(t, 7, others...)
			s.advise("follow", "params.size = \"500 quote\"\n", "")
			p := s.start().hearing()
			time.Sleep(70 * time.Second)
			for range 2 {
				p.hears(`{"position":"long","market":"BTC-EUR","time":"NOW"}`)
				time.Sleep(5 * time.Second)
				p.hears(`{"position":"flat","market":"BTC-EUR","time":"NOW"}`)
				time.Sleep(5 * time.Second)
			}
			require.NoError(t, p.end())
			state := p.Canary.State()
			require.NoError(t, state.Ended)
			require.Zero(t, state.Unchecked)
			require.Equal(t, equal, state.First == nil)
			if equal {
				require.EqualValues(t, 4, state.Equal)
				require.Equal(t, s.replayed().Equal, state.Equal)
			}
		})
	}
}

// sleeper is named follow, and hears nothing.
var sleeper = strategy.Define("follow", "hears nothing",
	func(sleeperParams) strategy.Needs { return strategy.Needs{Signals: []string{"model"}} },
	func(sleeperParams, strategy.Setup) (strategy.Strategy, error) { return strategy.Base{}, nil })

type sleeperParams struct {
	Source string        `toml:"source" default:"model" doc:"as follow has it"`
	Size   strategy.Size `toml:"size" default:"1 quote" doc:"as follow has it"`
	Stop   market.Rate   `toml:"stop" default:"0%" doc:"as follow has it"`
	Target market.Rate   `toml:"target" default:"0%" doc:"as follow has it"`
	Trail  market.Rate   `toml:"trail" default:"0%" doc:"as follow has it"`
	Limit  market.Rate   `toml:"limit" default:"0%" doc:"as follow has it"`
	Band   market.Rate   `toml:"band" default:"0%" doc:"as follow has it"`
}
