package journal

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/filetest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// More lives:
//
//	go test ./state/journal -run PowerCut -power-cuts 500
var powerCuts = flag.Int("power-cuts", 1,
	"how many random lives of a state file TestAPowerCutLeavesOneCommitOrTheNext plays, by seeds from 1 on")

// Of every commit in a random life the power fails before its pages were synced, between its two
// syncs, and after it.
func TestAPowerCutLeavesOneCommitOrTheNext(t *testing.T) {
	commits := 30
	if testing.Short() {
		commits = 8
	}
	for seed := range uint64(*powerCuts) {
		l := &fileLife{t: t, s: botStore(t), chance: rand.New(rand.NewPCG(seed+1, 0)), seed: seed + 1}
		l.b = l.s.NewBatch()
		for range segmentEntries - commits + l.chance.IntN(commits) {
			l.b.Journal(1, &Timer{Strategy: "grid"})
		}
		require.NoError(t, l.s.Commit(l.b))
		for range commits {
			l.commit()
		}
		require.Positive(t, segmentsOf(t, l.s), "seed %d: one of the commits made a segment", l.seed)
	}
}

// A commit that also trims is whole or not there, like any other. Each of the commits below takes a
// step: it removes orders, or a block of entries.
func TestAPowerCutInATrimLeavesOneCommitOrTheNext(t *testing.T) {
	for seed := range uint64(*powerCuts) {
		l := &fileLife{t: t, s: botStore(t), chance: rand.New(rand.NewPCG(seed+1, 1)), seed: seed + 1}
		l.s.db.NoSync = true
		l.b = l.s.NewBatch()
		for l.last < 2*segmentEntries { // three blocks at least
			for range 60 {
				l.add()
			}
			l.cut++
			require.NoError(t, l.s.Commit(l.b))
		}
		l.s.db.NoSync = false
		var sum Removed
		for step := 0; sum.Entries == 0 || sum.Orders == 0; step++ {
			require.Less(t, step, 20, "seed %d", l.seed)
			l.before = market.Time(l.cut) * 1000
			l.commit()
			done := l.s.Trimmed()
			require.True(t, done.More, "seed %d", l.seed)
			sum.Entries, sum.Orders = sum.Entries+done.Entries, sum.Orders+done.Orders
		}
	}
}

// fileLife is a state file to which random batches are committed.
type fileLife struct {
	t      *testing.T
	s      *Store
	b      *Batch
	chance *rand.Rand
	seed   uint64
	last   market.OrderID
	open   []*state.Order
	cut    int
	before market.Time // of a Trim with each commit; 0: none
	file   []byte      // the file after the last commit, and what it tells
	told   []byte
}

// commit commits a random batch and looks at what a power cut would have left.
func (l *fileLife) commit() {
	if l.file == nil {
		l.file, l.told = l.image(), tables(l.t, l.s)
	}
	before, told := l.file, l.told
	for range 1 + l.chance.IntN(1<<l.chance.IntN(6)) {
		l.add()
	}
	if l.before != 0 {
		l.b.Trim(l.before)
	}
	require.NoError(l.t, l.s.Commit(l.b))
	after, tell := l.image(), tables(l.t, l.s)
	l.file, l.told = after, tell
	for _, step := range []filetest.Step{filetest.Pages, filetest.Head, filetest.Done} {
		l.cut++
		image := filetest.Cut(before, after, step, l.chance)
		when := fmt.Sprintf("seed %d, cut %d %s", l.seed, l.cut, step)
		switch left := l.read(image, when); step {
		case filetest.Pages:
			require.True(l.t, bytes.Equal(told, left), when)
		case filetest.Done:
			require.True(l.t, bytes.Equal(tell, left), when)
		default:
			require.True(l.t, bytes.Equal(told, left) || bytes.Equal(tell, left), when)
		}
	}
}

// add notes one thing.
func (l *fileLife) add() {
	at := market.Time(l.cut+1) * 1000
	switch draw := l.chance.IntN(10); {
	case draw < 4 || len(l.open) == 0:
		l.last++
		o := ownOrder(l.last)
		l.b.Journal(at, intentOf(o))
		l.b.Order(o)
		l.open = append(l.open, o)
	case draw < 7:
		i := l.chance.IntN(len(l.open))
		o := l.open[i]
		o.State, o.Status, o.FilledAmount, o.AmountRemaining, o.InFlight, o.Reported = state.Filled,
			market.StatusFilled, 100, 0, 0, true
		report := market.ReportOf(&o.Order, market.ExecTrade)
		l.b.Event(&market.Event{At: at, Kind: market.KindReport, Market: o.Market, Report: &report,
			Fills: []market.Fill{fillOf(o, 1, 100, at)}})
		l.b.Order(o)
		l.open = append(l.open[:i], l.open[i+1:]...)
	case draw == 7:
		l.b.Blob(fmt.Sprint("part ", l.chance.IntN(4)), bytes.Repeat([]byte{byte(l.cut)}, l.chance.IntN(20_000)))
	case draw == 8:
		l.b.Cursor(at, "candles", []byte{byte(l.cut)})
	default:
		l.b.Equity(EquitySample{At: at, Equity: market.Money(l.cut)})
	}
}

func (l *fileLife) image() []byte {
	file, err := os.ReadFile(l.s.path)
	require.NoError(l.t, err)
	return file
}

// read opens what is left of a file, as the next start does, wants it to be sound, and returns what
// it tells.
func (l *fileLife) read(image []byte, when string) []byte {
	path := filepath.Join(l.t.TempDir(), "bot.db")
	require.NoError(l.t, os.WriteFile(path, image, 0o600))
	s, err := Open(path)
	require.NoError(l.t, err, when)
	defer s.Close()
	report, err := s.Check()
	require.NoError(l.t, err, when)
	require.Empty(l.t, report.Flaws, when)
	require.NoError(l.t, s.Bind(twoMarkets(l.t), twoStrategies), when) // a commit, which goes on from it
	return tables(l.t, s)
}

// tables is everything that a state file tells, as text.
func tables(t *testing.T, s *Store) []byte {
	var text bytes.Buffer
	for _, table := range ExportTables() {
		_, err := s.Export(&text, table)
		require.NoError(t, err)
	}
	for n := range 4 {
		part, err := s.Blob(fmt.Sprint("part ", n))
		require.NoError(t, err)
		fmt.Fprintf(&text, "part %d: %x\n", n, part)
	}
	return text.Bytes()
}
