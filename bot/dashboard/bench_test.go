package dashboard

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkZoom draws ranges of a market with a million candles and 10,000 fills. The goal is
// 150 ms for a range. The floor reads the candles of the range once.
func BenchmarkZoom(b *testing.B) {
	m := marketOfSize(1_000_000, 10_000)
	begin, end := m.Candles[0].StartMS, m.Candles[len(m.Candles)-1].StartMS+m.IntervalMS
	for name, r := range map[string]Range{"all": {begin, end}, "tenth": {end - (end-begin)/10, end},
		"day": {end - 86_400_000, end}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := m.svg(r, 1120)
				require.NoError(b, err)
			}
		})
		b.Run(name+"/floor", func(b *testing.B) {
			for b.Loop() {
				sum := 0.0
				for i := range m.Candles {
					if c := &m.Candles[i]; c.StartMS >= r.FromMS && c.StartMS < r.ToMS {
						sum += c.High - c.Low
					}
				}
				require.NotZero(b, sum)
			}
		})
	}
}

// A clip of a market keeps the extremes and the ends of its candles, as a look at each one finds
// them.
func TestAClipKeepsTheExtremesAndTheEnds(t *testing.T) {
	m := marketOfSize(3_000, 10)
	for from := 0; from < 2_000; from += 333 {
		r := Range{m.Candles[from].StartMS, m.Candles[from+977].StartMS}
		want := m.Candles[from]
		for _, c := range m.Candles[from : from+977] {
			want.High, want.Low, want.Close = max(want.High, c.High), min(want.Low, c.Low), c.Close
		}
		clip := m.Clip(r, 100)
		require.LessOrEqual(t, len(clip), 100)
		have := clip[0]
		for _, c := range clip {
			have.High, have.Low, have.Close = max(have.High, c.High), min(have.Low, c.Low), c.Close
		}
		require.Equal(t, want, have)
	}
	require.Empty(t, m.Clip(Range{0, 1}, 100))
}
