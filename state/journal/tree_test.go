package journal

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// What a test has to know of bbolt's pages; package bolt knows the rest.
const (
	testPage    = 4096
	pageHead    = 16
	pageElement = 16
	pageBranch  = 0x01
	pageLeaf    = 0x02
)

// leadTo makes a page a branch with one element, which leads to another.
func leadTo(file []byte, page, child int) {
	at := page * testPage
	binary.NativeEndian.PutUint16(file[at+8:], pageBranch)
	binary.NativeEndian.PutUint16(file[at+10:], 1)
	binary.NativeEndian.PutUint32(file[at+pageHead:], pageElement)
	binary.NativeEndian.PutUint32(file[at+pageHead+4:], 1)
	binary.NativeEndian.PutUint64(file[at+pageHead+8:], uint64(child))
}

// treePages are the pages of a file that hold keys.
func treePages(file []byte) (pages []int) {
	for at := 2 * testPage; at+testPage <= len(file); at += testPage {
		flags := binary.NativeEndian.Uint16(file[at+8:])
		if binary.NativeEndian.Uint64(file[at:]) == uint64(at/testPage) && (flags == pageBranch || flags == pageLeaf) {
			pages = append(pages, at/testPage)
		}
	}
	return pages
}

// minutes are candles whose prices and volumes vary.
func minutes(n int) []market.Candle {
	random := rand.New(rand.NewPCG(1, 2))
	candles := make([]market.Candle, n)
	for i := range candles {
		open := market.Price(2_000_000 + random.IntN(10_000))
		candles[i] = market.Candle{Open: open, High: open + market.Price(random.IntN(900)),
			Low: open - market.Price(random.IntN(900)), Close: open,
			Volume: market.Volume(random.IntN(60_000)), Start: market.Interval1m.StartOf(int64(i) +
				27_000_000), Interval: market.Interval1m}
	}
	return candles
}

// The database layer would follow such pages until the memory is full.
func TestAPageCycleEndsInAnError(t *testing.T) {
	dir := t.TempDir()
	bot, stored := filepath.Join(dir, "bot.db"), filepath.Join(dir, "candles.db")
	s := aDay(t, 60)
	require.NoError(t, s.Compact(bot))
	require.NoError(t, s.Close())
	store, err := candles.Open(stored)
	require.NoError(t, err)
	_, err = store.Put(candles.WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}, minutes(20_000), 2, 4, nil)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	for _, row := range []struct {
		name  string
		sound string
		read  func(path string) error
	}{
		{"state file", bot, func(path string) error {
			flaws, err := flawsOf(path)
			if err == nil && len(flaws) > 0 {
				err = bolt.ErrCorrupt
			}
			return err
		}},
		{"candle store", stored, func(path string) error { return verified(candles.Read(path)) }},
		{"candle store that is written", stored, func(path string) error { return verified(candles.Open(path)) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			sound, err := os.ReadFile(row.sound)
			require.NoError(t, err)
			pages, refused := treePages(sound), 0
			for i, page := range pages {
				for _, child := range []int{page, pages[0], 0} {
					damaged := append([]byte{}, sound...)
					leadTo(damaged, page, child)
					path := filepath.Join(dir, fmt.Sprint(row.name, i, child))
					require.NoError(t, os.WriteFile(path, damaged, 0o600))
					if row.read(path) != nil {
						refused++
					}
					require.NoError(t, os.Remove(path))
				}
			}
			require.Greater(t, refused, len(pages),
				"of %d pages some are free, and the first one is no descendant of all", len(pages))
		})
	}
}

func verified(s *candles.Store, err error) error {
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Verify()
	return err
}
