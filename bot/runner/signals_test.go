package runner

import (
	"context"
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
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// advised is a stage whose strategy follows the source model.
func advised(t *testing.T, keys string) *stage {
	s := newStage(t, 7, nil)
	s.kinds = append(s.kinds, shipped.Follow)
	head, _, _ := strings.Cut(s.config, "[strategies.restless]")
	s.config = head + section("s", "follow", bitcoin, "1m", "allocation = \"10000\"\nparams.size = \"500 quote\"\n") +
		"[signals.model]\nlive = \"stdin\"\n" + keys
	return s
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
