package research

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []Row
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			days := rapid.IntRange(0, 5).Draw(t, "days")
			series := rapid.SliceOfN(rapid.Float32(), days, days)
			rows = append(rows, Row{Set: rapid.Uint64().Draw(t, "set"), Rung: rapid.Uint8().Draw(t, "rung"),
				Halted:  rapid.Bool().Draw(t, "halted"),
				Figures: Figures(rapid.SliceOfN(rapid.Float64(), 0, 30).Draw(t, "figures")), First: rapid.Int32().
						Draw(t, "first"),
				Daily: series.Draw(t, "daily"), Excess: series.Draw(t, "excess")})
		}
		frame := appendFrame(nil, rows)
		size := int64(frameHead + 4)
		for i := range rows {
			size += (*file)(nil).size(&rows[i])
		}
		require.Equal(t, size, int64(len(frame)))
		read, ok := rowsOf(frame[frameHead:])
		require.True(t, ok)
		require.Len(t, read, len(rows))
		for i := range rows {
			require.Equal(t, rows[i].Set, read[i].Set)
			require.Equal(t, rows[i].First, read[i].First)
			require.Equal(t, rows[i].Rung, read[i].Rung)
			require.Equal(t, rows[i].Halted, read[i].Halted)
			require.InDeltaSlice(t, []float64(rows[i].Figures), []float64(read[i].Figures), 0)
			require.InDeltaSlice(t, rows[i].Daily, read[i].Daily, 0)
			require.InDeltaSlice(t, rows[i].Excess, read[i].Excess, 0)
		}
	})
}

func FuzzRows(f *testing.F) {
	f.Add(appendFrame(nil, []Row{{Set: 7, Figures: Figures{1, math.NaN()}, Daily: []float32{1},
		Excess: []float32{2}}})[frameHead:])
	f.Fuzz(func(t *testing.T, b []byte) {
		if rows, ok := rowsOf(b); ok {
			require.Len(t, appendFrame(nil, rows), frameHead+len(b))
		}
	})
}

func TestOneSweepAtATimeWritesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sweep")
	f, err := openFile(path, &Identity{Version: fileVersion})
	require.NoError(t, err)
	_, err = openFile(path, &Identity{Version: fileVersion})
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, f.Close())
	f, err = openFile(path, &Identity{Version: fileVersion})
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestANewerFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sweep")
	f, err := openFile(path, &Identity{Version: fileVersion + 1})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = openFile(path, &Identity{Version: fileVersion})
	require.ErrorContains(t, err, "has format 2, and this program reads up to 1")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestAnOlderFileIsRefusedWithItsCureAndStaysAsItIs(t *testing.T) {
	before, err := os.ReadFile("testdata/v1.sweep")
	require.NoError(t, err)
	copy(before, "TIDESWP\n") // as the programs before version 1 began it
	path := filepath.Join(t.TempDir(), "a.sweep")
	require.NoError(t, os.WriteFile(path, before, 0o644))
	_, err = openFile(path, &Identity{Version: fileVersion})
	require.ErrorContains(t, err, "is no file of a sweep that this program reads; move it away, or write elsewhere")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestAFileOfThisVersionIsRead holds the format: the bytes of a file of version 1.
func TestAFileOfThisVersionIsRead(t *testing.T) {
	const path = "testdata/v1.sweep"
	id := &Identity{Version: 1, Code: "c", Config: "f", Data: "d", Space: []string{"a=1,2"}, Method: Grid, Seed: 3,
		Figures: []string{"sharpe", "sortino"}}
	rows := []Row{
		{Set: 0, Figures: Figures{1.5, math.NaN()}, First: 18628, Daily: []float32{0.5, -0.25},
			Excess: []float32{0, 1}},
		{Set: 1, Figures: Figures{-1, 2}, Halted: true, First: 18628, Daily: []float32{0, 0}, Excess: []float32{0, 0}},
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "copy.sweep")
	require.NoError(t, os.WriteFile(copied, golden, 0o644))
	f, err := openFile(copied, id)
	require.NoError(t, err)
	defer f.Close()
	require.Equal(t, 1, f.groups())
	read, err := f.group(0)
	require.NoError(t, err)
	require.True(t, math.IsNaN(read[0].Figures[1]))
	read[0].Figures[1], rows[0].Figures[1] = 0, 0
	require.Equal(t, rows, read)

	fresh := filepath.Join(t.TempDir(), "fresh.sweep")
	rows[0].Figures[1] = math.NaN()
	g, err := openFile(fresh, id)
	require.NoError(t, err)
	require.NoError(t, g.append(rows))
	require.NoError(t, g.Close())
	written, err := os.ReadFile(fresh)
	require.NoError(t, err)
	require.Equal(t, golden, written)
}

// A whole frame can still hold rows that the sweep does not have: of another program, or of a hand.
func TestAReaderRefusesRowsOfOtherSets(t *testing.T) {
	d, err := ParseDimension("fast=2:4:1")
	require.NoError(t, err)
	space, err := NewSpace(d)
	require.NoError(t, err)
	sharpe, err := Objective("sharpe")
	require.NoError(t, err)
	whole := make(Figures, len(figureTable))
	for name, rows := range map[string][]Row{
		"":              {{Set: 2, Figures: whole, First: 19_000, Daily: []float32{0.1}, Excess: []float32{0.1}}},
		"set":           {{Set: 3, Figures: whole}},
		"few figures":   {{Set: 1, Figures: whole[:3]}},
		"other figures": {{Set: 1, Figures: append(whole, 1)}},
	} {
		path := filepath.Join(t.TempDir(), "a.sweep")
		f, err := openFile(path, &Identity{Version: fileVersion, Space: []string{"fast=2,3,4"}, Method: Grid})
		require.NoError(t, err)
		require.NoError(t, f.append(rows))
		require.NoError(t, f.Close())
		on, err := os.Open(path)
		require.NoError(t, err)
		kept, err := Glance(on, nil)
		require.NoError(t, err)
		require.Equal(t, space.dims, kept.Space.dims)
		_, err = kept.Found(sharpe)
		if name == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "has a set that the sweep does not have", name)
		}
		require.NoError(t, on.Close())
	}
}
