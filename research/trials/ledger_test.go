package trials

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/internal/filetest"
	"github.com/tidemark-trading/tidemark/research/stats"
)

var update = flag.Bool("update", false, "write the golden files")

// day0 is the number of milliseconds of a day.
const day0 = 24 * 60 * 60 * 1000

func group(strategy, market string, from, to int64, tries ...Try) Group {
	return Group{At: 1_700_000_000_000, Tries: tries, Origin: Origin{Strategy: strategy, Markets: []string{market},
		From: from * day0, To: to * day0, Code: "v1", Data: "d"}}
}

func fresh(t require.TestingT, dir string) *Ledger {
	l := Beside(filepath.Join(dir, "candles.db"))
	err := os.Remove(l.Path())
	require.True(t, err == nil || os.IsNotExist(err))
	return l
}

func view(t require.TestingT, l *Ledger) *View {
	v, err := l.View()
	require.NoError(t, err)
	return v
}

func families(t require.TestingT, l *Ledger) []Family {
	all, err := view(t, l).Families()
	require.NoError(t, err)
	return all
}

// TestTheSameTryAgainIsNoNewTry also counts equal series once, and ranges that overlap together.
func TestTheSameTryAgainIsNoNewTry(t *testing.T) {
	l := fresh(t, t.TempDir())
	require.Empty(t, families(t, l))
	for range 2 {
		_, err := l.Append(group("a", "BTC-EUR", 0, 100, Try{1, 10, 0.1, 99, 0}, Try{2, 10, 0.1, 99, 0}),
			group("b", "BTC-EUR", 99, 200, Try{3, 30, 0.2, 100, 0}),
			group("b", "BTC-EUR", 200, 300, Try{4, 40, 0, 99, 0}),
			group("b", "ETH-EUR", 0, 300, Try{5, 50, 0, 99, 0}))
		require.NoError(t, err)
	}
	var have []string
	for _, f := range families(t, l) {
		have = append(have, fmt.Sprint(f.Strategies, f.Markets, f.From/day0, f.To/day0, f.Tries, f.Series))
	}
	require.ElementsMatch(t, []string{"[a b] [BTC-EUR] 0 200 3 2", "[b] [BTC-EUR] 200 300 1 1",
		"[b] [ETH-EUR] 0 300 1 1"}, have)
	best := families(t, l)[slices.Index(have, "[a b] [BTC-EUR] 0 200 3 2")].Best
	require.Equal(t, "b", best.Strategy)
	require.InDelta(t, stats.Annual(0.2), best.Sharpe, 1e-12)
	require.InDelta(t, stats.Bar(2, 0.05, 100./365), best.Bar, 1e-12)
}

// The best of a search ran over its whole range: a rung of halving shows what a part of it shows.
func TestTheBestTryRanOverTheWholeRange(t *testing.T) {
	l := fresh(t, t.TempDir())
	_, err := l.Append(group("a", "BTC-EUR", 0, 100, Try{1, 10, 0.9, 57, 0}, Try{2, 20, 0.02, 100, 0},
		Try{3, 30, 0.05, 100, 0}, Try{4, 40, 0.8, 99, 0}))
	require.NoError(t, err)
	best := families(t, l)[0].Best
	require.Equal(t, 100, best.Days)
	require.InDelta(t, stats.Annual(0.05), best.Sharpe, 1e-6)
}

// TestATryIsCountedWithThoseThatItWouldJoin counts before the own try is written.
func TestATryIsCountedWithThoseThatItWouldJoin(t *testing.T) {
	l := fresh(t, t.TempDir())
	own := Try{9, 90, 0, 10, 0}
	_, err := l.Append(group("a", "X-EUR", 0, 10, Try{1, 10, 0, 9, 0}),
		group("a", "X-EUR", 20, 30, Try{2, 10, 0, 9, 0}))
	require.NoError(t, err)
	for _, c := range []struct {
		from, to      int64
		own           *Try
		tries, series int64
		news          bool
	}{{5, 25, &own, 3, 2, true}, {10, 20, &own, 1, 1, true}, {5, 25, nil, 2, 1, false},
		{0, 5, &Try{1, 10, 0, 9, 0}, 1, 1, false}} {
		st, err := view(t, l).Standing(Span{[]string{"X-EUR"}, c.from * day0, c.to * day0}, c.own)
		require.NoError(t, err)
		require.Equal(t, Standing{c.tries, c.series, c.news}, st)
	}
}

// TestSharpeRatiosOfOneRangeAreCompared leaves out other ranges and tries of adaptive searches.
func TestSharpeRatiosOfOneRangeAreCompared(t *testing.T) {
	l := fresh(t, t.TempDir())
	crowded := group("a", "X-EUR", 0, 10, Try{3, 30, 9, 9, 0}, Try{1, 10, 1, 9, 0})
	crowded.Crowded = true
	_, err := l.Append(crowded,
		group("a", "X-EUR", 0, 10, Try{1, 10, 1, 9, 0}, Try{2, 20, 3, 9, 0}, Try{4, 20, 3, 9, 0}),
		group("a", "X-EUR", 0, 9, Try{5, 50, 100, 8, 0}))
	require.NoError(t, err)
	spread, err := view(t, l).Spread(Span{[]string{"X-EUR"}, 0, 10 * day0})
	require.NoError(t, err)
	have, err := spread.Trials(4)
	require.NoError(t, err)
	want, err := stats.AdaptiveTrials(4, []float64{1, 3})
	require.NoError(t, err)
	require.Equal(t, want, have)
}

// TestTheLedgerCountsAsATwinDoes compares families with those that a slow twin finds, which looks
// at all pairs. Small passes count as one pass does.
func TestTheLedgerCountsAsATwinDoes(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		l := fresh(t, dir)
		markets := []string{"A-EUR", "B-EUR", "C-EUR"}
		var all []Group
		for range rapid.IntRange(0, 12).Draw(t, "groups") {
			from := rapid.Int64Range(0, 30).Draw(t, "from")
			g := group("s", rapid.SampledFrom(markets).Draw(t, "market"), from, from+rapid.Int64Range(1, 10).
				Draw(t, "days"))
			if rapid.Bool().Draw(t, "two markets") {
				g.Markets = union(g.Markets, markets[:1])
			}
			for range rapid.IntRange(0, 5).Draw(t, "tries") {
				g.Tries = append(g.Tries, Try{rapid.Uint64Range(0, 8).Draw(t, "key"), rapid.Uint64Range(0, 8).
					Draw(t, "series"),
					0, 5, 0})
			}
			if len(g.Tries) > 0 {
				all = append(all, g)
			}
		}
		_, err := l.Append(all...)
		require.NoError(t, err)
		var have []string
		for _, f := range families(t, l) {
			have = append(have, fmt.Sprint(f.Markets, f.From, f.To, f.Tries, f.Series))
		}
		require.ElementsMatch(t, twin(all), have)
	})
}

// twin joins groups until no two overlap.
func twin(all []Group) (texts []string) {
	type family struct {
		groups       []Group
		keys, series map[uint64]bool
	}
	var list []family
	for _, g := range all {
		list = append(list, family{[]Group{g}, map[uint64]bool{}, map[uint64]bool{}})
	}
	overlap := func(a, b family) bool {
		for _, x := range a.groups {
			for _, y := range b.groups {
				span := Span{x.Markets, x.From, x.To}
				if span.overlaps(y.Markets, y.From, y.To) {
					return true
				}
			}
		}
		return false
	}
	for joined := true; joined; {
		joined = false
		for i := range list {
			for k := i + 1; k < len(list); k++ {
				if overlap(list[i], list[k]) {
					list[i].groups = append(list[i].groups, list[k].groups...)
					list = slices.Delete(list, k, k+1)
					joined, k = true, k-1
				}
			}
			if joined {
				break
			}
		}
	}
	for _, f := range list {
		var markets []string
		from, to := f.groups[0].From, f.groups[0].To
		for _, g := range f.groups {
			markets, from, to = union(markets, g.Markets), min(from, g.From), max(to, g.To)
			for _, t := range g.Tries {
				f.keys[t.Key], f.series[t.Series] = true, true
			}
		}
		texts = append(texts, fmt.Sprint(markets, from, to, len(f.keys), len(f.series)))
	}
	return texts
}

// TestSeveralPassesCountAsOne counts numbers in parts.
func TestSeveralPassesCountAsOne(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers, want := make([]uint64, 50_000), map[uint64]bool{}
	for i := range numbers {
		numbers[i] = random.Uint64N(20_000)
		want[numbers[i]] = true
	}
	for _, passes := range []int{1, 2, 7} {
		c, n := newCounter(int64(len(numbers))), 0
		for pass := range passes {
			c.begin(pass, passes)
			for _, x := range numbers {
				c.add(x, 3, x)
			}
			c.end(func(x uint64) {
				require.True(t, want[x])
				n++
			})
		}
		require.Equal(t, len(want), n)
	}
}

// TestAKillLosesAtMostTheLastGroup cuts the file at every byte, as a kill in the midst of a write
// would, and goes on.
func TestAKillLosesAtMostTheLastGroup(t *testing.T) {
	l := fresh(t, t.TempDir())
	var ends []int64
	for i := range 4 {
		_, err := l.Append(group("a", "X-EUR", 0, 10, Try{uint64(i), uint64(i), 0, 9, 0}))
		require.NoError(t, err)
		info, err := os.Stat(l.Path())
		require.NoError(t, err)
		ends = append(ends, info.Size())
	}
	whole, err := os.ReadFile(l.Path())
	require.NoError(t, err)
	for size := range len(whole) {
		require.NoError(t, os.WriteFile(l.Path(), whole[:size], 0o600))
		groups, end := 0, int64(headSize)
		for groups < len(ends) && ends[groups] <= int64(size) {
			end = ends[groups]
			groups++
		}
		if size < headSize {
			end = 0
		}
		v := view(t, l)
		require.Equal(t, int64(size)-end, v.Damage.Bytes, "size %d", size)
		require.Equal(t, int64(size) > end, v.Damage.End)
		require.Equal(t, int64(groups), v.rows)
		cut, err := l.Append(group("a", "X-EUR", 0, 10, Try{100, 100, 0, 9, 0}))
		require.NoError(t, err)
		require.Equal(t, int64(size)-end, max(cut, 0))
		v = view(t, l)
		require.Zero(t, v.Damage)
		require.Equal(t, int64(groups+1), v.rows)
	}
}

// TestDamageLosesTheDamagedGroupAlone changes one byte.
func TestDamageLosesTheDamagedGroupAlone(t *testing.T) {
	l := fresh(t, t.TempDir())
	for i := range 3 {
		_, err := l.Append(group("a", "X-EUR", 0, 10, Try{uint64(i), uint64(i), 0, 9, 0}))
		require.NoError(t, err)
	}
	whole, err := os.ReadFile(l.Path())
	require.NoError(t, err)
	for at := headSize; at < len(whole); at++ {
		b := slices.Clone(whole)
		b[at] ^= 0x40
		require.NoError(t, os.WriteFile(l.Path(), b, 0o600))
		v := view(t, l)
		require.Equal(t, int64(2), v.rows, "byte %d", at)
		require.Equal(t, int64(len(whole)-headSize)/3, v.Damage.Bytes)
	}
}

func TestAFileThatIsNoLedgerIsRefused(t *testing.T) {
	l := fresh(t, t.TempDir())
	_, err := l.Append(group("a", "X-EUR", 0, 10, Try{}))
	require.NoError(t, err)
	damaged, err := os.ReadFile(l.Path())
	require.NoError(t, err)
	damaged[3]++
	older := append(headOf("TIDETRY\n", 3), damaged[headSize:]...) // as the programs before version 1 wrote it
	newer := headOf(magic, Version+1)
	for text, want := range map[string]string{
		string(older): "is no ledger of tries that this program reads, or its first 16 bytes are damaged; move it " +
			"away, and seal again what it has sealed (bot sweep --lock-last)",
		"TIDETRY\n":                    "move it away, and seal again what it has sealed",
		string(newer):                  "has format 2, and this program reads up to 1: use the newer program",
		"some notes about my trading":  "is no ledger of tries that this program reads, or its first 16 bytes",
		"notes":                        "is no ledger",
		string(head()[:10]) + "xxxxxx": "is no ledger",
		string(damaged):                "move it away, and seal again what it has sealed",
	} {
		require.NoError(t, os.WriteFile(l.Path(), []byte(text), 0o600))
		_, err := l.View()
		require.ErrorContains(t, err, want)
		_, foreign := errors.AsType[*ForeignError](err)
		require.Equal(t, strings.Contains(text, "notes"), foreign, "what is no ledger has no seals: %s", want)
		_, err = l.Append(group("a", "X-EUR", 0, 10, Try{}))
		require.ErrorContains(t, err, want)
		have, err := os.ReadFile(l.Path())
		require.NoError(t, err)
		require.Equal(t, text, string(have), "it stays as it was")
	}
}

// TestAppendsSideBySideTearNothing appends from several files at once, as processes do.
func TestAppendsSideBySideTearNothing(t *testing.T) {
	l := fresh(t, t.TempDir())
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := range 40 {
				key := uint64(w*1000 + i)
				if _, err := At(l.Path()).Append(group("a", "X-EUR", 0, 10, Try{key, key, 0, 9, 0})); err != nil {
					t.Error(err)
				}
				if v, err := l.View(); err != nil || v.Damage.Bytes != 0 {
					t.Error(err, v.Damage)
				}
			}
		})
	}
	writers.Wait()
	require.Equal(t, int64(320), families(t, l)[0].Tries)
}

// TestALargeGroupIsWrittenInSeveralFrames has more tries than a frame holds.
func TestALargeGroupIsWrittenInSeveralFrames(t *testing.T) {
	l := fresh(t, t.TempDir())
	g := group("a", "X-EUR", 0, 10)
	for i := range uint64(30_000) {
		g.Tries = append(g.Tries, Try{i, i / 2, 0, 9, 0})
	}
	_, err := l.Append(g)
	require.NoError(t, err)
	f := families(t, l)[0]
	require.Equal(t, []int64{30_000, 15_000}, []int64{f.Tries, f.Series})
	missing, err := l.Missing([]Group{g, group("a", "X-EUR", 0, 10, Try{77_777, 1, 0, 9, 0})})
	require.NoError(t, err)
	require.Len(t, missing, 1)
	require.Equal(t, uint64(77_777), missing[0].Tries[0].Key)
}

// TestASealIsOpenedOnce also counts the looks since then.
func TestASealIsOpenedOnce(t *testing.T) {
	l := fresh(t, t.TempDir())
	span := Span{[]string{"X-EUR"}, 80 * day0, 100 * day0}
	_, err := l.Append(group("a", "X-EUR", 0, 90, Try{1, 1, 0, 9, 0}), group("a", "X-EUR", 0, 80, Try{2, 2, 0, 9, 0}))
	require.NoError(t, err)
	seal, err := view(t, l).Seal(span, 5)
	require.NoError(t, err)
	require.Equal(t, int64(1), seal.Tries, "one try has used a part of the range")
	require.Equal(t, "1970-03-22 to 1970-04-11 of X-EUR", seal.Text())
	before := Span{[]string{"X-EUR"}, 0, 80 * day0}
	closed, opened := before.Under(view(t, l).Seals)
	require.Empty(t, append(closed, opened...))
	closed, opened = span.Under(view(t, l).Seals)
	require.Len(t, closed, 1)
	require.Empty(t, opened)

	v := view(t, l)
	require.NoError(t, v.Open(&v.Seals[0], 7))
	again := view(t, l)
	require.NoError(t, l.writeSeal(kindOpening, &seal, 9), "another process has opened it at the same time")
	require.Equal(t, Opening{At: 7, Tries: 2, Series: 2}, *again.Seals[0].Opened)
	_, err = l.Append(group("a", "X-EUR", 0, 81, Try{1, 1, 0, 9, 0}, Try{3, 3, 0, 9, 0}),
		group("a", "X-EUR", 0, 81, Try{1, 1, 0, 9, 0}))
	require.NoError(t, err)
	require.Equal(t, []uint64{1, 3}, view(t, l).Seals[0].Opened.Looks)
	require.Len(t, view(t, l).Seals, 1)
}

// TestVersion1IsRead opens a file of this version.
func TestVersion1IsRead(t *testing.T) {
	path := filetest.Golden(t, *update, "trials-1.log", func(path string) {
		l := At(path)
		crowded := group("meanrev", "ETH-EUR", 0, 50, Try{4, 4, -0.5, 49, 0})
		crowded.Crowded = true
		_, err := l.Append(group("smacross", "BTC-EUR", 0, 80, Try{1, 1, 0.25, 79, 12}, Try{2, 1, 0.25, 79, 12}),
			group("smacross", "BTC-EUR", 0, 60, Try{3, 3, 0.5, 59, 0}), crowded)
		require.NoError(t, err)
		_, err = view(t, l).Seal(Span{[]string{"BTC-EUR"}, 80 * day0, 100 * day0}, 1_700_000_000_001)
		require.NoError(t, err)
		_, err = view(t, l).Seal(Span{[]string{"ETH-EUR"}, 50 * day0, 60 * day0}, 1_700_000_000_002)
		require.NoError(t, err)
		v := view(t, l)
		require.NoError(t, v.Open(&v.Seals[0], 1_700_000_000_003))
	})
	l := At(path)
	have := struct {
		Families []Family
		Seals    []Seal
		Opened   *Opening
	}{families(t, l), view(t, l).Seals, view(t, l).Seals[0].Opened}
	text, err := json.MarshalIndent(have, "", " ")
	require.NoError(t, err)
	filetest.RequireText(t, *update, "trials-1.json", append(text, '\n'))
	require.Zero(t, view(t, l).Damage)
	_, err = l.Append(group("a", "BTC-EUR", 0, 80, Try{5, 5, 0, 79, 0}))
	require.NoError(t, err)
	all := families(t, l)
	require.Equal(t, int64(5), all[0].Tries+all[1].Tries)
}

// FuzzLedger reads any bytes behind a head, and appends to them.
func FuzzLedger(f *testing.F) {
	b, err := appendGroup(nil, &Group{Origin: Origin{Strategy: "a", Markets: []string{"X-EUR"}, To: 5},
		Tries: []Try{{}}})
	require.NoError(f, err)
	f.Add(b)
	f.Add(append([]byte("TRY1TRY1"), b...))
	f.Add(framed(nil, []byte("\x02........{\"markets\":[\"X\"],\"to_ms\":1}")))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := fresh(t, t.TempDir())
		require.NoError(t, os.WriteFile(l.Path(), append(head(), b...), 0o600))
		v, err := l.View()
		require.NoError(t, err)
		before := v.rows
		_, err = v.Families()
		require.NoError(t, err)
		cut, err := l.Append(group("a", "X-EUR", 0, 10, Try{7, 7, 0, 9, 0}))
		require.NoError(t, err)
		require.Equal(t, v.Damage.End, cut > 0)
		v = view(t, l)
		require.Equal(t, before+1, v.rows)
		require.False(t, v.Damage.End)
	})
}
