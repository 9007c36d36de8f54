package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/folder"
	"github.com/tidemark-trading/tidemark/bot/gap"
	"github.com/tidemark-trading/tidemark/bot/handover"
	"github.com/tidemark-trading/tidemark/direct"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/blackout"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// adopt lets a strategy of the config take over from another, as `bot adopt` does.
func (s *stage) adopt(from, to string, change func(*handover.Ask)) (*handover.Report, error) {
	c, err := config.LoadRun(&config.Source{File: "stage.toml", Text: s.config})
	require.NoError(s.T, err)
	a := &handover.Ask{Folder: s.Folder, From: from, To: to, Strategies: c.Strategies, By: "user ann",
		Now: market.Time(time.Now().UnixNano())}
	if change != nil {
		change(a)
	}
	return handover.Run(context.Background(), a)
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
	case *gaps: // over starts with other strategies a gap has to be asked for in parts
		s.gapBehind()
	case !testing.Short(): // see unraced
		s.replayed()
	}
}

// gapBehind requires that the gap since the last start, behind the handovers, is explained to the
// last unit.
func (s *stage) gapBehind() {
	store := s.Stored()
	runs, err := store.Runs()
	require.NoError(s.T, err)
	require.NoError(s.T, store.Close())
	options := gap.Options{Dir: s.Folder, Kinds: s.kinds, From: runs[len(runs)-1].At + 30e9}
	r, err := gap.Run(context.Background(), options)
	require.NoError(s.T, err)
	for _, one := range append([]gap.Bridge{r.Account}, r.Strategies...) {
		require.Zero(s.T, one.Unexplained.Units, one.Name)
	}
	options.To, options.From = runs[len(runs)-1].At, 0
	_, err = gap.Run(context.Background(), options)
	require.ErrorContains(s.T, err, "the bot began with other strategies or markets")
}

// keeping is a stage whose bot leaves its orders at the exchange when it stops.
func keeping(t *testing.T, seed uint64) *stage {
	s := newStage(t, seed, nil)
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
	for seed := range uint64(2 * *liveSeeds) {
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
	path := filepath.Join(s.Folder, folder.StateFile)
	store, err := journal.Open(path)
	require.NoError(s.T, err)
	last, err := store.LastEntries(1)
	require.NoError(s.T, err)
	removed, err := store.Prune(path, last[0].At.Add(-market.Duration(30*time.Second)))
	require.NoError(s.T, err)
	require.NotZero(s.T, removed.Orders)
	require.NoError(s.T, store.Close())
	s.Sound()
	s.Trimmed = true
}

// takesOver hands over what there is, and requires that a second call says so.
func (s *stage) takesOver(from, to string) {
	checked, err := s.adopt(from, to, func(a *handover.Ask) { a.Check = true })
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
	held, err := folder.Held(store)
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
		var held *direct.Holdings
		for range 60 {
			time.Sleep(5 * time.Second)
			p.look(func() { held = p.runner.holdings(p.engine.Now()) })
			if len(held.Positions) == 2 {
				break
			}
		}
		require.NoError(t, p.end())
		require.NoError(t, held.Write(s.Folder))
		s.rename("second", "third")
		path := filepath.Join(s.Folder, folder.StateFile)
		images := map[string][]byte{}
		now := func(a *handover.Ask) { a.Now = 1 } // the entry has the time of the one before it
		r, err := s.adopt("second", "third", func(a *handover.Ask) {
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
		for _, step := range []blackout.Step{blackout.Pages, blackout.Head, blackout.Done} {
			for range 4 {
				require.NoError(t, os.WriteFile(path, blackout.Cut(before, after, step, chance), 0o600))
				require.NoError(t, held.Write(s.Folder))
				s.Sound()
				again, err := s.adopt("second", "third", now)
				require.NoError(t, err, step)
				require.Equal(t, r.Entry, again.Entry, step)
				if again.Before {
					done++
				}
				require.Equal(t, want, s.tables(path), step)
				left, err := direct.ReadHoldings(s.Folder)
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
