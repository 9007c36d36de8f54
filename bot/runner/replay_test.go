package runner

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// replayed plays the recording of a stage again: every command whose events exist is equal. The
// tests of the live bot call it at their ends, so a replay is proven with their faults, kills,
// power cuts and strategies.
func (s *stage) replayed() *replay.Verdict {
	r, err := replay.Run(context.Background(), s.Folder, s.kinds, nil)
	require.NoError(s.T, err)
	if d := r.First; d != nil {
		s.T.Fatalf("after %d equal commands: record %d, %s, journal entry %d\nthen: %s\nnow:  %s\n%v\n%s", r.Equal,
			d.Record, d.Event, d.Entry, d.Then, d.Now, d.Fields, d.Hint)
	}
	store, err := journal.Read(filepath.Join(s.Folder, statedir.StateFile))
	require.NoError(s.T, err)
	defer func() { require.NoError(s.T, store.Close()) }()
	commands := 0
	require.NoError(s.T, store.Entries(0, func(e *journal.Entry) error {
		if e.Kind == journal.EntryIntent {
			commands++
		}
		return nil
	}))
	require.Equal(s.T, commands, r.Equal+r.Unchecked, "each command of the journal is equal or unchecked")
	if *gaps && r.Starts > 0 {
		whole := s.explained()
		if middle := market.Interval1m.Floor((whole.From + whole.To) / 2); middle > whole.From {
			s.split(whole, middle)
		}
	}
	return r
}

// traded lets a bot trade for so long, stops it in good order, and returns its stage.
func traded(t *testing.T, seed uint64, long time.Duration, change func(*stage)) *stage {
	s := newStage(t, seed, nil)
	if change != nil {
		change(s)
	}
	p := s.start()
	time.Sleep(long)
	require.NoError(t, p.end())
	return s
}

func TestAReplayAsksForTheSameAndHasTheSameStateAtMidnight(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24*time.Hour - 2*time.Minute)
		r := traded(t, 4, 5*time.Minute, nil).replayed()
		require.Greater(t, r.Equal, 50)
		require.Equal(t, 1, r.Snapshots)
		require.Positive(t, r.Refused)
		require.Zero(t, r.Unchecked+r.Unwritten)
		require.Empty(t, r.Lost)
		require.Empty(t, r.Notes)
	})
}

// otherSeed is the restless kind with one bit of its seed flipped.
var otherSeed = strategy.Define("restless", "does something else by chance",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p restlessParams, s strategy.Setup) (strategy.Strategy, error) {
		return &restless{chance: rand.New(rand.NewPCG(uint64(p.Seed)^1, 5))}, nil
	})

// One flipped bit in a parameter, in the recording, or in the journal is found and placed.
func TestOneFlippedBitIsFoundAndPlaced(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := traded(t, 5, 4*time.Minute, nil)
		whole := s.replayed()
		r, err := replay.Run(t.Context(), s.Folder, []strategy.Definition{otherSeed}, nil)
		require.NoError(t, err)
		require.NotNil(t, r.First)
		require.Less(t, r.Equal, whole.Equal)
		require.Contains(t, r.First.Event, "ticker BTC-EUR of 2000-01-01T00:0")
		require.Contains(t, r.First.Hint, "this program decides otherwise than the one that ran")

		segments, err := filepath.Glob(filepath.Join(s.Folder, statedir.RecordingFolder, "*"))
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(5, 5))
		for range 20 {
			undo := flip(t, segments[0], random, 4) // of a block's magic only the end is like another version
			r, err = replay.Run(t.Context(), s.Folder, s.kinds, nil)
			undo()
			if err != nil { // the only start is lost
				require.ErrorContains(t, err, "no start in the recording")
				continue
			}
			require.Nil(t, r.First)
			require.Len(t, r.Lost, 1, "%+v", r)
			require.Equal(t, whole.Equal, r.Equal+r.Unchecked)
			require.LessOrEqual(t, r.Lost[0].From, r.Lost[0].To)
		}
		for range 20 {
			undo := flip(t, filepath.Join(s.Folder, statedir.StateFile), random, 1)
			r, err = replay.Run(t.Context(), s.Folder, s.kinds, nil)
			undo()
			if err == nil { // a page that is free, or a part of one
				require.Nil(t, r.First)
				require.Equal(t, whole.Equal, r.Equal)
				continue
			}
			require.True(t, errors.Is(err, bolt.ErrCorrupt) || errors.Is(err, bolt.ErrNewer), "%v", err)
		}
	})
}

// flip flips a bit of a file, from a byte on, and returns how to undo that.
func flip(t *testing.T, path string, random *rand.Rand, from int) (undo func()) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	at, bit := from+random.IntN(len(data)-from), byte(1)<<random.IntN(8)
	data[at] ^= bit
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return func() {
		data[at] ^= bit
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}
}

// moodyKind buys as mood says, of which the engine does not know.
func moodyKind(mood func() int) strategy.Definition {
	return scripted("restless", always(func(d *strategy.Desk, t market.Ticker) {
		size := 1_000_000 + market.Qty(mood()%1_000_003)
		_, _ = d.In(t.Market).Buy(strategy.Amount(size), strategy.At(t.Last/2))
		d.In(t.Market).CancelAll()
	}))
}

func TestAStrategyThatKnowsMoreThanTheEngineIsFoundOut(t *testing.T) {
	lots := map[int]bool{}
	for i := range 50 {
		lots[i] = true
	}
	drawn, clock := rand.New(rand.NewPCG(1, 1)), atomic.Int64{}
	for name, mood := range map[string]func() int{
		"clock":  func() int { return int(clock.Add(1)) },
		"chance": func() int { return drawn.IntN(1e6) },
		"map order": func() (mood int) {
			for range 6 {
				for i := range lots {
					mood = 50*mood + i
					break
				}
			}
			return mood
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, kinds := t.TempDir(), []strategy.Definition{moodyKind(mood)}
			synctest.Test(t, func(t *testing.T) {
				s := traded(t, 6, time.Minute, func(s *stage) {
					s.config = strings.Replace(s.config, "params.seed = 6\n", "", 1)
					s.kinds = kinds
				})
				require.NoError(t, os.CopyFS(dir, os.DirFS(s.Folder)))
			})
			r, err := replay.Run(t.Context(), dir, kinds, nil)
			require.NoError(t, err)
			require.NotNil(t, r.First)
			require.Contains(t, r.First.Hint,
				"a second replay decides otherwise again: a strategy reads a clock, chance")
			require.Contains(t, r.First.Fields[0], "amount: then 0.01")
		})
	}
}

func TestAStrategyThatReadsAFileIsFoundOut(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "mood"), t.TempDir()
	require.NoError(t, os.WriteFile(file, []byte("7"), 0o600))
	kinds := []strategy.Definition{moodyKind(func() int {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return int(text[0])
	})}
	synctest.Test(t, func(t *testing.T) {
		s := traded(t, 6, time.Minute, func(s *stage) {
			s.config = strings.Replace(s.config, "params.seed = 6\n", "", 1)
			s.kinds = kinds
		})
		s.replayed()
		require.NoError(t, os.CopyFS(dir, os.DirFS(s.Folder)))
	})
	require.NoError(t, os.WriteFile(file, []byte("8"), 0o600))
	r, err := replay.Run(t.Context(), dir, kinds, nil)
	require.NoError(t, err)
	require.NotNil(t, r.First)
	require.Contains(t, r.First.Hint,
		"this program decides otherwise than the one that ran, or a strategy reads a file")
}

// What cannot be replayed is refused in words, and nothing is written.
func TestWhatCannotBeReplayedIsNamed(t *testing.T) {
	bottest.Unraced(t)
	ours, theirs, kinds := t.TempDir(), t.TempDir(), []strategy.Definition(nil)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 7, nil)
		p := s.start()
		time.Sleep(time.Minute)
		_, err := replay.Run(t.Context(), s.Folder, s.kinds, nil)
		require.ErrorContains(t, err, "in use")
		require.NoError(t, p.end())
		require.NoError(t, os.CopyFS(ours, os.DirFS(s.Folder)))
		kinds = s.kinds
	})
	synctest.Test(t, func(t *testing.T) {
		require.NoError(t, os.CopyFS(theirs, os.DirFS(traded(t, 8, time.Minute, nil).Folder)))
	})
	recordings := filepath.Join(ours, statedir.RecordingFolder)
	segments, err := filepath.Glob(filepath.Join(recordings, "*"))
	require.NoError(t, err)
	whole, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	refused := func(kinds []strategy.Definition, words string) error {
		t.Helper()
		before := contents(t, ours)
		_, err := replay.Run(t.Context(), ours, kinds, nil)
		require.ErrorContains(t, err, words)
		require.Equal(t, before, contents(t, ours))
		return err
	}
	require.ErrorAs(t, refused(nil, `kind "restless", which this program does not have`), new(config.UsageError))
	wrong := strategy.Define("restless", "has other parameters",
		func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return strategy.Base{}, nil })
	refused([]strategy.Definition{wrong}, "seed")

	for cut := len(whole) - 1; cut > len(whole)/2; cut -= len(whole) / 7 { // a torn end
		require.NoError(t, os.WriteFile(segments[0], whole[:cut], 0o600))
		r, err := replay.Run(t.Context(), ours, kinds, nil)
		require.NoError(t, err)
		require.Nil(t, r.First)
		require.Positive(t, r.Equal)
		require.NotEmpty(t, r.Lost)
	}
	require.NoError(t, os.WriteFile(segments[0], nil, 0o600))
	refused(kinds, "no start in the recording is one of the 1 runs of the journal")
	other, err := filepath.Glob(filepath.Join(theirs, statedir.RecordingFolder, "*"))
	require.NoError(t, err)
	strange, err := os.ReadFile(other[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(segments[0], strange, 0o600))
	refused(kinds, "it is of another bot")
	require.NoError(t, os.RemoveAll(recordings))
	require.ErrorIs(t, refused(kinds, "there is no recording"), bolt.ErrNotFound)
}

// contents are the files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}

// savingKind is the restless kind with a memory that it saves.
var savingKind = strategy.Define("restless", "does something by chance, and saves where it is",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p restlessParams, s strategy.Setup) (strategy.Strategy, error) {
		source := rand.NewPCG(uint64(p.Seed), 5)
		return &saving{restless{chance: rand.New(source)}, source}, nil
	})

type saving struct {
	restless
	source *rand.PCG
}

func (s *saving) Save() ([]byte, error)  { return s.source.MarshalBinary() }
func (s *saving) Load(data []byte) error { return s.source.UnmarshalBinary(data) }

// overMidnight is a stage with a bot that has traded before and after the snapshot of a UTC day.
func overMidnight(t *testing.T, kind strategy.Definition) *stage {
	time.Sleep(24*time.Hour - 4*time.Minute)
	return traded(t, 9, 8*time.Minute, func(s *stage) { s.kinds = []strategy.Definition{kind, shipped.SMACross} })
}

// lose takes a block out of the recording: that of the start, or one between it and the snapshot.
func (s *stage) lose(start bool) {
	segments, err := filepath.Glob(filepath.Join(s.Folder, statedir.RecordingFolder, "*"))
	require.NoError(s.T, err)
	data, err := os.ReadFile(segments[0])
	require.NoError(s.T, err)
	blocks := bytes.SplitAfter(data, []byte("TMR1"))
	at := len(bytes.Join(blocks[:len(blocks)/4], nil))
	if start {
		at = 4
	}
	data[at] ^= 1
	require.NoError(s.T, os.WriteFile(segments[0], data, 0o600))
}

func TestAReplayGoesOnFromTheSnapshotOfADay(t *testing.T) {
	bottest.Unraced(t)
	for _, start := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := overMidnight(t, savingKind)
			whole := s.replayed()
			require.Zero(t, whole.Resumed)
			s.lose(start)
			r := s.replayed()
			require.Equal(t, 1, r.Resumed)
			require.Greater(t, r.Equal, whole.Equal/4)
			require.Positive(t, r.Unchecked)
			if start {
				require.Zero(t, r.Starts)
				require.Contains(t, r.Notes[0], "are older than the first snapshot in the recording")
				return
			}
			require.Len(t, r.Lost, 1)
			require.Equal(t, r.Unchecked, r.Lost[0].Unchecked)
			require.Empty(t, r.Notes)
		})
	}
}

func TestAfterALossAStrategyThatSavesNothingIsUncheckedUntilTheNextStart(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := overMidnight(t, restlessKind)
		p := s.start()
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
		whole := s.replayed()
		s.lose(false)
		r := s.replayed()
		require.Equal(t, 1, r.Resumed)
		require.Equal(t, 2, r.Starts)
		require.Len(t, r.Notes, 1)
		require.Regexp(t, `^event \d+: strategy restless decides otherwise than the journal\. It saves nothing, and `+
			`the play went on from the snapshot of 2000-01-02T00:00:\S+, which lacks its memory: unchecked until the `+
			`next start: \d+ commands$`, r.Notes[0])
		require.Less(t, r.Equal, whole.Equal)
	})
}

// A program that decides otherwise after a snapshot is found where its strategies save all they
// know.
func TestADifferenceAfterASnapshotIsFound(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := overMidnight(t, savingKind)
		s.lose(true)
		other := strategy.Define("restless", "buys at another price",
			func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
			func(p restlessParams, _ strategy.Setup) (strategy.Strategy, error) {
				source := rand.NewPCG(uint64(p.Seed), 5)
				return &shifted{saving{restless{chance: rand.New(source)}, source}}, nil
			})
		r, err := replay.Run(t.Context(), s.Folder, []strategy.Definition{other, shipped.SMACross}, nil)
		require.NoError(t, err)
		require.NotNil(t, r.First)
		require.NotEmpty(t, r.First.Fields)
		require.Contains(t, r.First.Hint, "this program decides otherwise")
	})
}

// shifted sees other prices.
type shifted struct{ saving }

func (s *shifted) OnTicker(d *strategy.Desk, t market.Ticker) {
	t.Last -= 100
	s.saving.OnTicker(d, t)
}
