//go:build unix

package farm

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tidemark-trading/tidemark/research"
)

// cpu is the time that this process has used of processors.
func cpu(b *testing.B) time.Duration {
	var use unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkGroup is the cost of a group that needs no work: coordinator, server and worker
// together. floor-us is the writing and reading of its rows alone.
func BenchmarkGroup(b *testing.B) {
	b.Run("2 sets of a day", func(b *testing.B) { benchmarkGroup(b, 2, 1) })
	b.Run("24 sets of 1,000 days", func(b *testing.B) { benchmarkGroup(b, 24, 1000) })
}

func benchmarkGroup(b *testing.B, sets, days int) {
	p := coordinate(b, Farm{}, filepath.Join(b.TempDir(), "f"), nil)
	g := research.Group{}
	for set := range uint64(sets) {
		g.Sets = append(g.Sets, set)
	}
	list := rows(&g)
	for i := range list {
		list[i].Daily, list[i].Excess = make([]float32, days), make([]float32, days)
	}
	p.todo <- g
	w := work(b, Farm{}, p.join(b), func(context.Context, research.Group) ([]research.Row, error) {
		return list, nil
	}, nil)
	<-p.done
	began, sent := cpu(b), 0
	for b.Loop() {
		for ; sent < ahead/2; sent++ { // so many are always under way
			g.Number++
			p.todo <- g
		}
		require.NoError(b, (<-p.done).Err)
		sent--
	}
	used := float64(cpu(b) - began)
	for ; sent > 0; sent-- {
		<-p.done
	}
	b.ReportMetric(used/1e3/float64(b.N), "cpu-us/group")
	began = cpu(b)
	for range 1000 {
		if _, err := research.DecodeRows(research.EncodeRows(list), &g); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu(b)-began)/1e6, "floor-us/group")
	w.stop(b)
	p.cancel()
	<-p.ended
}
