package candles

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// The twin keeps late candles as they are, a slice for each chunk.
func TestLateCandlesComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type late struct {
			lateCandle
			offset int
		}
		var list lateList
		number := rapid.Int64()
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			queues, twins := make([]lateQueue, 5), make([][]late, 5)
			count := rapid.IntRange(0, 3000).Draw(t, "candles")
			seed := number.Draw(t, "seed")
			for i := range count {
				mixed := func(n int64) int64 { return (seed + int64(i)*7919 + n) * 0x5851f42d4c957f2d }
				c := late{lateCandle{market.Candle{Open: market.Price(mixed(1)), High: market.Price(mixed(2)),
					Low: market.Price(mixed(3)), Close: market.Price(mixed(4)),
					Volume: market.Volume(mixed(5) >> (i % 60))},
					mixed(6), uint8(i % 19), uint8(i % 7)}, int(uint64(mixed(7)) % chunkSpan)}
				into := int(uint64(mixed(8)) % 5)
				twins[into] = append(twins[into], c)
				list.add(&queues[into], &c.lateCandle, c.offset)
			}
			require.Equal(t, count, list.count)
			for i, twin := range twins {
				at := queues[i].first
				for _, want := range twin {
					have := late{}
					require.NotZero(t, at)
					have.offset, at = list.read(at, &have.lateCandle)
					require.Equal(t, want, have)
				}
				require.Zero(t, at)
			}
			list.clear()
		}
	})
}

func TestLateCandlesGetTheDecimalsOfLaterOnes(t *testing.T) {
	s := openTestStore(t)
	l := s.newLoader(market.Interval1m, func(*market.Candle, int64) { t.Error("a conflict") })
	add := func(n int64, price market.Price) {
		c := market.Candle{Interval: market.Interval1m, Start: market.Interval1m.StartOf(n), Open: price, High: price,
			Low: price, Close: price}
		require.NoError(t, l.add(&c, n, 0))
	}
	first := market.Interval1m.Index(1_600_000_000_000_000_000) &^ (chunkSpan - 1)
	add(first, 7)
	add(first+chunkSpan, 7) // of the next chunk: the first is closed
	add(first+1, 8)
	require.NoError(t, l.raise(2, 0))
	add(first+2, 901)
	add(first+1, 800) // a duplicate
	require.NoError(t, l.finish())
	require.EqualValues(t, 1, l.duplicates)
	number, _ := chunkOf(first)
	packed, err := l.spool.packed(l.spool.chunks[number])
	require.NoError(t, err)
	have, err := decodeChunk(nil, market.Interval1m, number, packed, 2, 0)
	require.NoError(t, err)
	var opens []market.Price
	for _, c := range have {
		opens = append(opens, c.Open)
	}
	require.Equal(t, []market.Price{700, 800, 901}, opens)
	require.NoError(t, l.close())
}
