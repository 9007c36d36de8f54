package runner

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// A compaction writes each file under another name, syncs it, and only then gives it its name. So a
// power cut leaves the files that have names whole, and of one that has none any sectors.
func TestAPowerCutInACompactionLosesNothing(t *testing.T) {
	bottest.Unraced(t)
	for _, moment := range []string{"the archive is written", "the new file is written", "the new file has its name"} {
		t.Run(moment, func(t *testing.T) {
			for seed := range uint64(*liveSeeds) {
				synctest.Test(t, func(t *testing.T) { cutCompaction(t, seed+1, moment) })
			}
		})
	}
}

const archiveFile = "all.db"

func cutCompaction(t *testing.T, seed uint64, moment string) {
	s, chance := newStage(t, seed, nil), rand.New(rand.NewPCG(seed, 13))
	p := s.start()
	time.Sleep(3 * time.Minute)
	require.NoError(t, p.end())
	before := s.agree(p).Orders
	whole, archive, cut := s.compacted()
	dir := s.Folder + "-cut"
	require.NoError(t, os.MkdirAll(dir, 0o700))
	write := func(name string, image []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), image, 0o600))
	}
	switch moment {
	case "the archive is written":
		write(statedir.StateFile, whole)
		write("."+archiveFile+".1.tmp", sectorsOf(archive, chance))
	case "the new file is written":
		write(statedir.StateFile, whole)
		write(archiveFile, archive)
		write("."+statedir.StateFile+".2.tmp", sectorsOf(cut, chance))
	default:
		write(statedir.StateFile, cut)
		write(archiveFile, archive)
	}
	s.Folder = dir
	s.Sound()
	p = s.start()
	time.Sleep(time.Minute)
	s.sameOpen(p)
	require.NoError(t, p.end())
	s.onlyExits(p)
	s.agreeWithArchive(before)
	s.Trimmed = true
	s.AgreeOnFile() // what was earned is known for good: orders of it are gone, bookings are not
}

// compacted archives and compacts a copy of the state file, and returns that file, the archive and
// the new file.
func (s *stage) compacted() (whole, archive, cut []byte) {
	t, dir := s.T, s.Folder+"-copy"
	require.NoError(t, os.MkdirAll(dir, 0o700))
	read := func(path string) []byte {
		image, err := os.ReadFile(path)
		require.NoError(t, err)
		return image
	}
	whole = read(filepath.Join(s.Folder, statedir.StateFile))
	path := filepath.Join(dir, statedir.StateFile)
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	var out, errs bytes.Buffer
	to := filepath.Join(dir, archiveFile)
	require.Zero(t, Command(t.Context(), []string{"state", "compact", "--keep", "1m", "--archive", to, "--state", path,
		"--json"}, &out, &errs), errs.String())
	require.NotContains(t, out.String(), `"orders_taken_out": 0,`)
	return whole, read(to), read(path)
}

// sectorsOf is what a disk has of a file that was not synced.
func sectorsOf(image []byte, chance *rand.Rand) []byte {
	torn := make([]byte, chance.IntN(len(image)+1))
	for at := 0; at < len(torn); at += 512 {
		if chance.IntN(2) == 0 {
			copy(torn[at:min(at+512, len(torn))], image[at:])
		}
	}
	return torn
}

// agreeWithArchive requires that every order and fill of the exchange is in the state file or in
// the archive, where there is one, and that both tell the same of what both have.
func (s *stage) agreeWithArchive(atLeast int) {
	t, theirs := s.T, s.OrdersAtTheExchange()
	rows, fills := map[uuid.UUID]journal.OrderRow{}, map[uuid.UUID]market.Qty{}
	archive := filepath.Join(s.Folder, archiveFile)
	files := []string{filepath.Join(s.Folder, statedir.StateFile)}
	if _, err := os.Stat(archive); err == nil {
		files = append([]string{archive}, files...)
	}
	for _, path := range files {
		store, err := journal.Read(path)
		require.NoError(t, err)
		require.NoError(t, store.Orders(0, func(row *journal.OrderRow) error {
			rows[row.ClientOrderID] = *row
			return nil
		}))
		require.NoError(t, store.Fills(0, 0, func(f *journal.FillRow) error {
			if known, again := fills[f.ID]; again && known != f.Amount {
				return fmt.Errorf("fill %s has %d, and %d in the archive", f.ID, f.Amount, known)
			}
			fills[f.ID] = f.Amount
			return nil
		}))
		report, err := store.Check()
		require.NoError(t, err)
		require.Empty(t, report.Flaws)
		require.NoError(t, store.Close())
	}
	require.Greater(t, len(theirs), atLeast, "it went on")
	there := 0
	for name, record := range theirs {
		row, known := rows[name]
		require.True(t, known, "order %s is in neither file", name)
		s.SameOrder(&record.Order, &row)
		there += len(record.Fills)
	}
	require.Len(t, fills, there)
}
