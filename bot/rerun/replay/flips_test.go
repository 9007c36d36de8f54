package replay

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/strategy"
)

// How many bits are flipped in a strategy, in a recording and in a journal:
//
//	go test ./bot/rerun/replay -run Flipped -flips 2000
var flips = flag.Int("flips", 30, "how many single bits are flipped in each of strategy, recording and journal")

// flipped is an asker in which one bit of its count flips at a ticker.
type flipped struct {
	asker
	at, heard int64
	bit       int
}

func (s *flipped) OnTicker(d *strategy.Desk, t market.Ticker) {
	if s.heard++; s.heard == s.at {
		s.count ^= 1 << s.bit
	}
	s.asker.OnTicker(d, t)
}

// One flipped bit in the memory of a strategy shows at the next command that follows from it.
func TestAFlippedBitInAStrategyIsFoundAndPlaced(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(2, 2))
	heard(t, dir, 10_000)
	for range *flips {
		at, bit := 1+random.Int64N(8_800), random.IntN(10)
		kinds := scribeKinds()
		kinds[len(kinds)-1] = strategy.Define("asker", "asks now and then, with one flipped bit",
			func(askerParams) strategy.Needs { return strategy.Needs{Ticker: true} },
			func(p askerParams, _ strategy.Setup) (strategy.Strategy, error) {
				return &flipped{asker: asker{every: p.Every}, at: at, bit: bit}, nil
			})
		r, err := Run(t.Context(), dir, kinds, nil)
		require.NoError(t, err)
		require.NotNil(t, r.First, "bit %d at ticker %d", bit, at)
		require.GreaterOrEqual(t, r.First.Record, uint64(at), "bit %d at ticker %d", bit, at)
		event, within := uint64(at)*60/59, uint64(1_100) // one of 60 events is a candle
		if bit > 0 && bit <= 5 {
			within *= 4 // an ask may come in the same turn, at the same price; soon one does not
		}
		require.Less(t, r.First.Record, event+within, "bit %d at ticker %d: at the next command", bit, at)
		require.Contains(t, r.First.Hint, "this program decides otherwise than the one that ran")
	}
}

// One flipped bit in the recording is a loss with its numbers, and the commands behind it are
// unchecked.
func TestAFlippedBitInTheRecordingIsFoundAndPlaced(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(3, 3))
	heard(t, dir, 10_000)
	segments, err := filepath.Glob(filepath.Join(dir, statedir.RecordingFolder, "*"))
	require.NoError(t, err)
	whole, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	for range *flips {
		at, bit := random.IntN(len(whole)), random.IntN(8)
		if at < 4 {
			continue // another version, which is refused
		}
		broken := append([]byte(nil), whole...)
		broken[at] ^= 1 << bit
		require.NoError(t, os.WriteFile(segments[0], broken, 0o600))
		r, err := Run(t.Context(), dir, scribeKinds(), nil)
		if err != nil {
			require.ErrorContains(t, err, "no start in the recording", "byte %d", at)
			continue
		}
		require.Nil(t, r.First)
		require.Len(t, r.Lost, 1, "byte %d", at)
		require.Equal(t, 9, r.Equal+r.Unchecked+r.Unwritten)
	}
}

// One flipped bit in the state file is an error that names the place, unless no replay reads it.
func TestAFlippedBitInTheJournalIsFoundAndPlaced(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(4, 4))
	heard(t, dir, 10_000)
	path := filepath.Join(dir, statedir.StateFile)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	found := 0
	for range *flips {
		broken := append([]byte(nil), whole...)
		at := random.IntN(len(whole))
		for whole[at] == 0 { // most of a small file is room without use
			at = random.IntN(len(whole))
		}
		broken[at] ^= 1 << random.IntN(8)
		require.NoError(t, os.WriteFile(path, broken, 0o600))
		r, err := Run(t.Context(), dir, scribeKinds(), nil)
		if err == nil { // a page that is free, or a part of one
			require.Nil(t, r.First)
			require.Equal(t, 9, r.Equal)
			continue
		}
		found++
		require.ErrorContains(t, err, path)
	}
	t.Logf("%d of %d were found, the others hit bytes without use", found, *flips)
	require.Positive(t, found) // how many bytes are in use differs from file to file
}

// What is no recording of this bot is refused in words, with the exit code of a failure or of a
// wrong call. Holes and torn ends are counted. Nothing is written.
func TestBadInputIsNamed(t *testing.T) {
	whole, other := t.TempDir(), t.TempDir()
	heard(t, whole, 5_000)
	theirs := benchCore(t)
	theirs.Run[0]++
	s := newScribe(t, other, theirs)
	s.begin(began, nil, nil)
	s.end(hear(100, began, s.enter))
	segment := func(dir string) string {
		all, err := filepath.Glob(filepath.Join(dir, statedir.RecordingFolder, "*"))
		require.NoError(t, err)
		return all[0]
	}
	cut := func(dir string, change func([]byte) []byte) {
		data, err := os.ReadFile(segment(dir))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(segment(dir), change(data), 0o600))
	}
	for name, c := range map[string]struct {
		spoil func(dir string)
		kinds []strategy.Definition
		want  string // of the error; empty: the report says what is lost
		is    error
		usage bool // exit code 64; else 1
	}{
		"the recording of another bot": {spoil: func(dir string) {
			data, err := os.ReadFile(segment(other))
			require.NoError(t, err)
			cut(dir, func([]byte) []byte { return data })
		}, want: "no start in the recording is one of the 1 runs of the journal: it is of another bot"},
		"a hole": {spoil: func(dir string) {
			cut(dir, func(b []byte) []byte { clear(b[len(b)/2 : len(b)/2+50]); return b })
		}},
		"a torn end": {spoil: func(dir string) { cut(dir, func(b []byte) []byte { return b[:len(b)-9] }) }},
		"no snapshot": {spoil: func(dir string) { cut(dir, func(b []byte) []byte { b[9] ^= 1; return b }) },
			want: "no start"},
		"an empty file": {spoil: func(dir string) { cut(dir, func([]byte) []byte { return nil }) }, want: "no start"},
		"no recording": {spoil: func(dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, statedir.RecordingFolder)))
		}, want: "there is no recording; bot.record_mb was 0, or it was moved away", is: bolt.ErrNotFound},
		"a later format": {spoil: func(dir string) { cut(dir, func(b []byte) []byte { b[3]++; return b }) },
			want: "update the program, or move the recording away", is: bolt.ErrNewer},
		"no state file": {spoil: func(dir string) {
			require.NoError(t,
				os.Remove(filepath.Join(dir, statedir.StateFile)))
		},
			want: "not found", is: bolt.ErrNotFound},
		"another strategy list": {spoil: func(string) {}, kinds: scribeKinds()[:3], usage: true,
			want: "which this program does not have; replay with the program that ran it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			c.spoil(dir)
			before := files(t, dir)
			if c.kinds == nil {
				c.kinds = scribeKinds()
			}
			r, err := Run(t.Context(), dir, c.kinds, nil)
			require.Equal(t, before, files(t, dir), "nothing is written")
			if c.want == "" {
				require.NoError(t, err)
				require.Nil(t, r.First)
				require.Len(t, r.Lost, 1)
				require.Positive(t, r.Lost[0].From)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.usage, isUsage(err))
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}

func isUsage(err error) bool {
	return errors.As(err, new(config.UsageError))
}

// A market whose name differs in recording and journal is a difference of the first command there.
func TestARenamedMarketIsADifference(t *testing.T) {
	dir, renamed := t.TempDir(), t.TempDir()
	heard(t, dir, 3_000)
	heardIn(t, renamed, 3_000, [2]string{"BTC-EUR", "ETC-EUR"})
	require.NoError(t, os.RemoveAll(filepath.Join(dir, statedir.RecordingFolder)))
	require.NoError(t, os.CopyFS(filepath.Join(dir, statedir.RecordingFolder),
		os.DirFS(filepath.Join(renamed, statedir.RecordingFolder))))
	r, err := Run(t.Context(), dir, scribeKinds(), nil)
	require.NoError(t, err)
	require.NotNil(t, r.First)
	require.Contains(t, r.First.Fields, "market: then ETH-EUR, now ETC-EUR")
}

// files are the contents of a folder.
func files(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, err := os.ReadFile(path)
			all[path] = string(data)
			return err
		}
		return err
	}))
	return all
}
