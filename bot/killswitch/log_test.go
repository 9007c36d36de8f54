package killswitch

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// written is a log of a few lines and its bytes.
func written(t *testing.T) (path string, data []byte) {
	path = filepath.Join(t.TempDir(), LogFile)
	l, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, l.Append(&Line{Kind: KindBegin, AtMS: 1_700_000_000_000, By: "a test", Flatten: true}))
	require.NoError(t, l.Append(&Line{Kind: KindSell, Client: uuid.UUID{1: 7}, Market: "BTC-EUR", Strategy: "dip",
		Amount: "0.5", SignedMS: 1_700_000_000_001, WindowMS: 10_000}))
	require.NoError(t, l.Append(&Line{Kind: KindEnd, Client: uuid.UUID{1: 7}, Market: "BTC-EUR", Amount: "0.5",
		Answer: "filled"}))
	require.NoError(t, l.Close())
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	return path, data
}

func TestALogThatIsCutOffAnywhereKeepsItsWholeLines(t *testing.T) {
	path, data := written(t)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	for size := range len(data) {
		require.NoError(t, os.WriteFile(path, data[:size], 0o600))
		lines, err := Read(path)
		require.NoError(t, err, "%d bytes", size)
		require.Len(t, lines, bytes.Count(data[:size], []byte("\n")), "%d bytes", size)
		if size%23 != 0 && data[size] != '\n' && data[size-1] != '\n' {
			continue // each Append waits for the disk
		}
		l, err := Open(path)
		require.NoError(t, err, "%d bytes", size)
		before := len(l.Lines())
		require.NoError(t, l.Append(&Line{Kind: KindDone}))
		require.NoError(t, l.Close())
		lines, err = Read(path)
		require.NoError(t, err, "%d bytes", size)
		require.Len(t, lines, before+1, "what was cut off is gone, and what follows is whole")
		require.Equal(t, KindDone, lines[before].Kind)
	}
}

func TestEveryDamagedByteOfALogIsSeen(t *testing.T) {
	_, data := written(t)
	last := bytes.LastIndexByte(data[:len(data)-1], '\n')
	whole, _, err := parse(data)
	require.NoError(t, err)
	for at := range data {
		damaged := bytes.Clone(data)
		damaged[at] ^= 4
		lines, _, err := parse(damaged)
		if at <= last {
			require.Error(t, err, "byte %d", at)
			continue
		}
		if err == nil { // the last line counts as cut off while it was written
			require.Len(t, lines, len(whole)-1, "byte %d", at)
		}
	}
}

func TestALogOfANewerProgramIsRefused(t *testing.T) {
	path, data := written(t)
	require.NoError(t, os.WriteFile(path, bytes.Replace(data, []byte("\n1 4 "), []byte("\n2 4 "), 1), 0o600))
	_, err := Read(path)
	require.ErrorContains(t, err, "version is 2")
	_, err = Open(path)
	require.ErrorContains(t, err, "newer program")
}

func TestALogBelongsToOneWriter(t *testing.T) {
	path, _ := written(t)
	l, err := Open(path)
	require.NoError(t, err)
	_, err = Open(path)
	require.ErrorIs(t, err, ErrBusy)
	_, err = OpenExisting(path)
	require.ErrorIs(t, err, ErrBusy)
	to, err := l.Retire()
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.FileExists(t, to)
	taken, err := OpenExisting(path)
	require.NoError(t, err)
	require.Nil(t, taken)
	again, err := Open(path)
	require.NoError(t, err)
	require.NotEqual(t, l.ID(), again.ID(), "each log has an id of its own")
	require.NoError(t, again.Close())
}

// TestTheFirstFormatsAreRead keeps what version 1 wrote readable.
func TestTheFirstFormatsAreRead(t *testing.T) {
	lines, err := Read(filepath.Join("testdata", "direct-v1.log"))
	require.NoError(t, err)
	require.Len(t, lines, 4)
	require.Equal(t, "0.5", lines[2].Amount)
	h, err := ReadHoldings(filepath.Join("testdata", "v1"))
	require.NoError(t, err)
	require.Equal(t, []Position{{Strategy: "dip", Market: "BTC-EUR", Amount: "0.01"}}, h.Positions)
	require.Equal(t, int64(12), h.LastOrder)
}

// Seen at 671865c8: the keeper of the holdings and the booking of direct.log wrote one temporary
// file, and one of them failed.
func TestHoldingsOfTwoWritersAreWhole(t *testing.T) {
	folder := t.TempDir()
	var writers sync.WaitGroup
	for many := range 2 {
		h := &Holdings{AtMS: 5, Orders: make([]HeldOrder, 200*many)}
		writers.Go(func() {
			for range 100 {
				require.NoError(t, h.Write(folder))
				_, err := ReadHoldings(folder)
				require.NoError(t, err)
			}
		})
	}
	writers.Wait()
}

func TestHoldingsAreTheOwnersAloneAndSayWhenTheyAreDamaged(t *testing.T) {
	folder := t.TempDir()
	h, err := ReadHoldings(folder)
	require.NoError(t, err)
	require.Nil(t, h)
	want := &Holdings{AtMS: 5, Run: uuid.UUID{3: 3}, LastOrder: 9,
		Positions: []Position{{Strategy: "dip", Market: "BTC-EUR", Amount: "1.5"}},
		Orders:    []HeldOrder{{Client: uuid.UUID{9}, Side: "sell"}}}
	require.NoError(t, want.Write(folder))
	path := filepath.Join(folder, HoldingsFile)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	h, err = ReadHoldings(folder)
	require.NoError(t, err)
	require.Equal(t, want.Positions, h.Positions)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, changed := range []string{strings.Replace(string(text), "1.5", "9.5", 1), string(text[:len(text)/2]), "",
		strings.Replace(string(text), `"version": 1`, `"version": 2`, 1)} {
		require.NoError(t, os.WriteFile(path, []byte(changed), 0o600))
		_, err := ReadHoldings(folder)
		require.ErrorContains(t, err, "move it away and type markets and amounts")
	}
}
