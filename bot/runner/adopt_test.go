package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/adopt"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/internal/filetest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// adopt lets a strategy of the config take over from another, as `bot adopt` does.
func (s *stage) adopt(from, to string, change func(*adopt.Ask)) (*adopt.Changes, error) {
	c, err := config.LoadRun(&config.Source{File: "stage.toml", Text: s.config})
	require.NoError(s.T, err)
	a := &adopt.Ask{Folder: s.Folder, From: from, To: to, Strategies: c.Strategies, By: "user ann",
		Now: market.Time(time.Now().UnixNano())}
	if change != nil {
		change(a)
	}
	return adopt.Run(context.Background(), a)
}

// rename gives a strategy of the config another name.
func (s *stage) rename(from, to string) {
	require.Contains(s.T, s.config, "[strategies."+from+"]")
	s.config = strings.ReplaceAll(s.config, "[strategies."+from+"]", "[strategies."+to+"]")
}

// drop takes a strategy out of the config, and adds its allocation to another one.
func (s *stage) drop(from string, was, now string) {
	at := strings.Index(s.config, "[strategies."+from+"]")
	require.GreaterOrEqual(s.T, at, 0)
	end := strings.Index(s.config[at+1:], "[strategies.")
	rest := ""
	if end >= 0 {
		rest = s.config[at+1+end:]
	}
	s.config = s.config[:at] + rest
	s.edit(fmt.Sprintf("allocation = %q", was), fmt.Sprintf("allocation = %q", now))
}

// whole compares the balances and everything on file with the exchange's, and replays the
// recording.
func (s *stage) whole(p *process) {
	s.AgreeOnFile()
	after := s.Holdings()
	for _, asset := range p.plan.Catalog.Assets() {
		ours := p.account.Total(asset.ID)
		if asset.ID == p.plan.Currency.ID {
			for _, given := range p.plan.Allocations {
				ours.Total -= given
			}
		}
		require.Equal(s.T, after[asset.ID]-s.Before[asset.ID], ours.Total, "balance of %s", asset.Symbol)
	}
	switch {
	case *gaps:
		s.gapOver(p)
	case !testing.Short(): // see bottest.Unraced
		s.replayed()
	}
}

// gapOver requires that the gap over all starts is explained to the last unit, and that what live
// has earned is what the account has more than it was given.
func (s *stage) gapOver(p *process) *gap.Comparison {
	r := s.explained()
	require.Greater(s.T, len(r.Parts), 1, "the starts had other strategies")
	for _, part := range r.Parts {
		for _, one := range append([]gap.Bridge{part.Account}, part.Strategies...) {
			require.True(s.T, one.Unexplained.Units == 0 || len(part.Notes) > 0, one.Name)
		}
		for _, out := range part.Runs {
			require.NoError(s.T, out.Err, "%s", out.Facts)
		}
		if len(part.Notes) > 0 { // events are lost
			return r
		}
	}
	want, err := p.account.Equity(p.plan.Currency.ID)
	require.NoError(s.T, err)
	for _, given := range p.plan.Allocations {
		want -= given
	}
	require.Equal(s.T, want, r.Account.Live.Units)
	return r
}

// keeping is a stage whose bot leaves its orders at the exchange when it stops.
func keeping(t *testing.T, seed uint64) *stage {
	s := newStage(t, seed, func(c *sandbox.Config) { c.Admin = "open" })
	s.edit(`stop_within = "20m"`, "stop_within = \"20m\"\nkeep_orders = true")
	s.edit(`allocation = "10000"`, `allocation = "6000"`)
	s.edit("max_open_orders = 4", "max_open_orders = 2") // the gauge counts both strategies
	s.edit(`max_position = "2500"`, `max_position = "1200"`)
	s.edit("orders_per_minute = 40", "orders_per_minute = 20")
	s.config += strings.ReplaceAll(s.config[strings.Index(s.config, "[strategies.restless]"):], "restless]", "second]")
	second := s.config[strings.Index(s.config, "[strategies.second]"):]
	s.edit(second, strings.NewReplacer("6000", "3000", "operator_id = 7", "operator_id = 8").Replace(second))
	return s
}

// TestAStrategyHandsOverInTheMiddleOfItsLife lets two strategies trade, stops or kills the bot,
// renames one of them, and goes on; then one drops out and the other takes over what it has. Orders
// rest at the exchange meanwhile, and fill there.
func TestAStrategyHandsOverInTheMiddleOfItsLife(t *testing.T) {
	for seed := range uint64(bottest.Rounds(2**liveSeeds, 1)) {
		synctest.Test(t, func(t *testing.T) {
			s, chance := keeping(t, seed+1), rand.New(rand.NewPCG(seed, 9))
			s.live(chance)
			s.rename("second", "third")
			s.refusesToStart("second")
			s.takesOver("second", "third")
			if seed%2 == 1 {
				s.prune()
			}
			s.live(chance)
			s.drop("third", "6000", "9000")
			s.takesOver("third", "restless")
			s.edit("keep_orders = true", "keep_orders = false") // or one may fill after the bot has ended
			p := s.start()
			time.Sleep(2 * time.Minute)
			p.look(func() { require.NoError(t, p.account.Check()) })
			require.NoError(t, p.end())
			s.whole(p)
		})
	}
}

// live lets the bot trade for some minutes, and ends it in good order or by a kill, while its
// orders stay at the exchange.
func (s *stage) live(chance *rand.Rand) {
	p := s.start()
	time.Sleep(time.Minute + time.Duration(chance.IntN(120))*time.Second)
	if chance.IntN(2) == 0 {
		require.NoError(s.T, p.end())
	} else {
		p.kill()
		p.bury()
	}
	time.Sleep(time.Duration(chance.IntN(60)) * time.Second)
}

// prune removes what ended more than half a minute before the last entry, as bot state compact
// --keep does.
func (s *stage) prune() {
	path := filepath.Join(s.Folder, statedir.StateFile)
	store, err := journal.Open(path)
	require.NoError(s.T, err)
	last, err := store.LastEntries(1)
	require.NoError(s.T, err)
	_, err = store.Prune(path, last[0].At.Add(-market.Duration(30*time.Second)))
	require.NoError(s.T, err)
	require.NoError(s.T, store.Close())
	s.Sound()
	s.Trimmed = true
}

// takesOver hands over what there is, and requires that a second call says so.
func (s *stage) takesOver(from, to string) {
	checked, err := s.adopt(from, to, func(a *adopt.Ask) { a.Check = true })
	require.NoError(s.T, err)
	require.Zero(s.T, checked.Entry)
	done, err := s.adopt(from, to, nil)
	require.NoError(s.T, err)
	require.NotZero(s.T, done.Entry)
	require.Equal(s.T, checked.Positions, done.Positions)
	require.Equal(s.T, checked.Orders, done.Orders)
	s.Sound()
	again, err := s.adopt(from, to, nil)
	require.NoError(s.T, err)
	require.True(s.T, again.Before)
	require.Equal(s.T, done.Entry, again.Entry)
}

// refusesToStart requires that a start names the command, if there is something to hand over.
func (s *stage) refusesToStart(from string) {
	store := s.Stored()
	held, err := statedir.Held(store)
	require.NoError(s.T, err)
	require.NoError(s.T, store.Close())
	if len(held[from]) == 0 {
		return
	}
	_, err = s.open()
	require.ErrorContains(s.T, err, "bot adopt "+from)
}

// TestAHandoverThatIsKilledIsTheOldFileOrTheNew ends a handover at each of its steps, by a kill or
// by a power cut in the middle of its commit. The file is the old one or the new one, and a second
// call finishes: the same entry, the same rows, the same holdings for the kill switch.
func TestAHandoverThatIsKilledIsTheOldFileOrTheNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := keeping(t, 3)
		p := s.start()
		var held *killswitch.Holdings
		for range 60 {
			time.Sleep(5 * time.Second)
			p.look(func() { held = p.runner.keeper.now(p.engine.Now()) })
			if len(held.Positions) == 2 {
				break
			}
		}
		require.NoError(t, p.end())
		require.NoError(t, held.Write(s.Folder))
		s.rename("second", "third")
		path := filepath.Join(s.Folder, statedir.StateFile)
		images := map[string][]byte{}
		now := func(a *adopt.Ask) { a.Now = 1 } // the entry has the time of the one before it
		r, err := s.adopt("second", "third", func(a *adopt.Ask) {
			now(a)
			a.Faults = func(point string) {
				image, err := os.ReadFile(path)
				require.NoError(t, err)
				images[point] = image
			}
		})
		require.NoError(t, err)
		require.NotEmpty(t, r.Positions)
		before, after := images["adopt prepared"], images["adopt committed"]
		want, chance, done := s.tables(path), rand.New(rand.NewPCG(1, 1)), 0
		for _, step := range []filetest.Step{filetest.Pages, filetest.Head, filetest.Done} {
			for range 4 {
				require.NoError(t, os.WriteFile(path, filetest.Cut(before, after, step, chance), 0o600))
				require.NoError(t, held.Write(s.Folder))
				s.Sound()
				again, err := s.adopt("second", "third", now)
				require.NoError(t, err, step)
				require.Equal(t, r.Entry, again.Entry, step)
				if again.Before {
					done++
				}
				require.Equal(t, want, s.tables(path), step)
				left, err := killswitch.ReadHoldings(s.Folder)
				require.NoError(t, err)
				require.NotContains(t, fmt.Sprint(*left), "second", step)
			}
		}
		require.Positive(t, done, "a cut behind the commit leaves the new file")
		s.edit("keep_orders = true", "keep_orders = false")
		p = s.start()
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
		s.whole(p)
	})
}

// tables is what all tables of a state file tell.
func (s *stage) tables(path string) (all string) {
	store, err := journal.Read(path)
	require.NoError(s.T, err)
	for _, table := range journal.ExportTables() {
		var text strings.Builder
		_, err := store.Export(&text, table)
		require.NoError(s.T, err)
		all += table + "\n" + text.String()
	}
	require.NoError(s.T, store.Close())
	return all
}

// TestAHaltGoesOverWithARename renames a halted strategy: it stays halted, until a person resumes
// it. A strategy that begins anew is not halted, and the file has no halt.
func TestAHaltGoesOverWithARename(t *testing.T) {
	bottest.Unraced(t)
	for _, fresh := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := keeping(t, 5)
			p := s.start()
			time.Sleep(90 * time.Second)
			require.NoError(t, p.loop.Do(context.Background(), func(at market.Time) []market.Command {
				halt := market.Input{Kind: market.InputHalt, At: at, Strategy: 2, Reason: "a test"}
				return p.door.Enter(&halt).Commands
			}))
			time.Sleep(time.Minute)
			require.NoError(t, p.end())
			s.rename("second", "third")
			r, err := s.adopt("second", "third", func(a *adopt.Ask) { a.Fresh = fresh })
			require.NoError(t, err)
			require.Equal(t, !fresh, r.Memory)
			store := s.Stored()
			halts, err := store.Halts()
			require.NoError(t, err)
			require.NoError(t, store.Close())
			s.edit("keep_orders = true", "keep_orders = false")
			p = s.start()
			time.Sleep(time.Minute)
			p.look(func() {
				_, halted := p.engine.Halted(2)
				require.Equal(t, !fresh, halted)
			})
			require.NoError(t, p.loop.Do(context.Background(), func(at market.Time) []market.Command {
				return p.door.Enter(&market.Input{Kind: market.InputResume, At: at, Strategy: 2}).Commands
			}))
			require.NoError(t, p.end())
			resumed := s.config
			s.rename("third", "fourth")
			r, err = s.adopt("third", "fourth", func(a *adopt.Ask) { a.Check = true })
			require.NoError(t, err)
			require.Empty(t, r.Halt, "a halt that was lifted does not go over")
			s.config = resumed
			if fresh {
				require.Empty(t, halts)
			} else {
				require.Equal(t, "strategy third", halts[0].Scope)
				require.Equal(t, "a test", halts[0].Reason)
			}
			s.whole(p)
		})
	}
}

// TestAHandoverWaitsForFees hands over after a fill whose fee the exchange has not told: that is
// refused, with the order and the way. Who goes that way can hand over.
func TestAHandoverWaitsForFees(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, func(c *sandbox.Config) { c.Rules.SettleAfter = 40 * time.Second })
		p := s.start()
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
		was := s.config
		s.rename("restless", "calm")
		now := s.config
		_, err := s.adopt("restless", "calm", nil)
		require.ErrorContains(t, err, "a fee of restless in BTC-EUR is not settled yet: the exchange has told fills "+
			"of order")
		words := regexp.MustCompile(`put restless into the config again, start the bot, bot halt restless .*` +
			`bot explain (\d+) says "settled now"`).FindStringSubmatch(err.Error())
		require.Len(t, words, 2, "%s", err)
		s.config = was
		p = s.start()
		c := &control{r: p.runner, ctx: t.Context()}
		_, err = c.act("halt", &operator.Request{Strategy: "restless", WaitMS: 5000}, c.halt)
		require.NoError(t, err)
		time.Sleep(2 * time.Minute) // a fee is asked for at distances that grow to a minute
		require.NoError(t, p.end())
		require.Contains(t, s.told(nil, "explain", words[1]), "settled now")
		s.config = now
		r, err := s.adopt("restless", "calm", nil)
		require.NoError(t, err)
		require.NotZero(t, r.Entry)
	})
}

// TestAHandoverBetweenOwnAndSharedMoney renames a strategy that shares the pool to one with an
// allocation, and back. The base of its position changes sides, and the next start funds the rest.
func TestAHandoverBetweenOwnAndSharedMoney(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := keeping(t, 2)
		s.edit("keep_orders = true", "keep_orders = false") // no order may hold the other's money
		s.edit("allocation = \"3000\"\n", "")
		run := func(long time.Duration) *process {
			p := s.start()
			time.Sleep(long)
			for held := market.Qty(0); held < 2_000_000; time.Sleep(time.Second) {
				p.look(func() { held = p.account.Position(2, 1).Amount })
			}
			p.look(func() { require.NoError(t, p.account.Check()) })
			require.NoError(t, p.end())
			s.Sound()
			return p
		}
		base := func(p *process) market.Qty { return p.account.Position(2, 1).Amount }
		p := run(time.Minute)
		require.NotZero(t, base(p))
		s.rename("second", "third")
		s.edit("[strategies.third]\n", "[strategies.third]\nallocation = \"2000\"\n")
		r, err := s.adopt("second", "third", nil)
		require.NoError(t, err)
		require.Len(t, r.Positions, 1)
		s.deposit("EUR", "2000") // the pool keeps its money
		p = run(time.Minute)
		require.Equal(t, market.Money(2000_00), p.plan.Allocations[2])
		require.NotZero(t, base(p))
		s.rename("third", "fourth")
		s.edit("[strategies.fourth]\nallocation = \"2000\"\n", "[strategies.fourth]\n")
		r, err = s.adopt("third", "fourth", nil)
		require.NoError(t, err)
		require.Len(t, r.Positions, 1)
		require.Contains(t, r.Notes[0], "the money of third that is in no position becomes unallocated")
		p = run(time.Minute)
		s.AgreeOnFile()
		bitcoin := p.account.Total(p.account.Catalog().AssetNamed("BTC").ID).Total
		require.Equal(t, s.Holdings()[s.Market().Base]-s.Before[s.Market().Base], bitcoin)
		if !testing.Short() {
			s.replayed()
		}
	})
}

// TestAHandoverToAnotherKindLeavesTheMemoryBehind lets a strategy of another kind take over: it
// begins as a new one, with the position, and says so. What cannot go over is refused with words.
func TestAHandoverToAnotherKindLeavesTheMemoryBehind(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := trending(t, 4)
		p := s.start()
		held := p.held()
		require.NoError(t, p.end())
		s.rename("restless", "calm")
		moved := strings.Replace(s.config, `markets = ["BTC-EUR"]`, `markets = ["ETH-EUR"]`, 1)
		was := s.config
		s.config = moved
		_, err := s.adopt("restless", "calm", nil)
		require.ErrorContains(t, err, "calm does not trade there; add that to strategies.calm.markets")
		s.config = was
		require.NoError(t, os.WriteFile(filepath.Join(s.Folder, killswitch.LogFile), nil, 0o600))
		_, err = s.adopt("restless", "calm", nil)
		require.ErrorContains(t, err, "is not booked yet")
		require.NoError(t, os.Remove(filepath.Join(s.Folder, killswitch.LogFile)))
		at := strings.Index(s.config, "params")
		s.config = s.config[:at] + "params.seed = 1\n"
		s.edit(`kind = "smacross"`, `kind = "restless"`)
		r, err := s.adopt("restless", "calm", nil)
		require.NoError(t, err)
		require.False(t, r.Memory)
		require.Contains(t, r.Notes[0], "restless was of kind smacross, and calm is of kind restless")
		p = s.start()
		p.look(func() { require.Equal(t, held.Cost, p.account.Position(1, 1).Cost) })
		time.Sleep(2 * time.Minute)
		require.NoError(t, p.end())
		s.whole(p)
		if testing.Short() {
			return
		}
		over := s.gapOver(p)
		require.Len(t, over.Parts, 2)
		require.Equal(t, []string{"restless", "calm"}, []string{over.Strategies[0].Name, over.Strategies[1].Name})
		require.Contains(t, over.Notes[0], "the bot began with other strategies or markets (calm, before restless): "+
			"from then on all runs go on from the live books")
		require.Equal(t, over.Account.Turnover.Units,
			over.Strategies[0].Turnover.Units+over.Strategies[1].Turnover.Units)
		require.Equal(t, len(over.Parts[0].Episodes)+len(over.Parts[1].Episodes), len(over.Episodes))
	})
}
