package candles

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// drawCandles draws the candles of one chunk: some starts missing, prices and volumes from tiny to
// the largest int64.
func drawCandles(t *rapid.T, interval market.Interval) []market.Candle {
	low, high := indexBounds(interval)
	number := rapid.Int64Range(low>>chunkShift, high>>chunkShift).Draw(t, "chunk")
	top := rapid.SampledFrom([]int64{2, 1000, 5_000_000, 1 << 40, math.MaxInt64}).Draw(t, "top")
	jump := rapid.SampledFrom([]int{1, 2, 40, chunkSpan}).Draw(t, "jump")
	price := rapid.Int64Range(1, top)
	var candles []market.Candle
	for offset := rapid.IntRange(0, chunkSpan-1).Draw(t, "first"); offset < chunkSpan &&
		len(candles) < 400; offset += rapid.IntRange(1, jump).Draw(t, "step") {
		index := number<<chunkShift + int64(offset)
		if index < low || index > high {
			continue
		}
		a, b, c, d := price.Draw(t, "a"), price.Draw(t, "b"), price.Draw(t, "c"), price.Draw(t, "d")
		bottom, peak := min(a, b, c, d), max(a, b, c, d)
		candles = append(candles, market.Candle{Open: market.Price(a), High: market.Price(peak),
			Low: market.Price(bottom), Close: market.Price(b),
			Volume: market.Volume(rapid.Int64Range(0, top).Draw(t, "volume")), Start: interval.StartOf(index),
			Interval: interval})
	}
	return candles
}

func TestPackedCandlesComeBackUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := rapid.SampledFrom(market.Intervals()).Draw(t, "interval")
		candles := drawCandles(t, interval)
		if len(candles) == 0 {
			t.Skip("no candle in bounds")
		}
		var p chunkPacker
		value := p.pack(candles, interval, 2, 3)
		number, _ := chunkOf(interval.Index(candles[0].Start))
		back, err := decodeChunk(nil, interval, number, value, 2, 3)
		require.NoError(t, err)
		require.Equal(t, candles, back)
		require.NoError(t, checkChunkHash(value))
		require.Zero(t, len(value)%8)
		for i := range back {
			require.NoError(t, back[i].Check())
		}
	})
}

func TestChunkBytesDependOnValuesNotOnDecimals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		candles := drawCandles(t, market.Interval1h)
		if len(candles) == 0 {
			t.Skip("no candle in bounds")
		}
		digits := rapid.Uint8Range(1, 4).Draw(t, "digits")
		wide := make([]market.Candle, 0, len(candles))
		for i, c := range candles {
			if c.High > math.MaxInt64/10_000 || c.Volume > math.MaxInt64/10_000 {
				t.Skip("too large to widen")
			}
			scaleCandle(&c, market.Pow10(digits), market.Pow10(digits))
			wide = append(wide, c)
			require.Equal(t, candles[i].Start, c.Start)
		}
		var p chunkPacker
		require.Equal(t, p.pack(candles, market.Interval1h, 1, 2), p.pack(wide, market.Interval1h, 1+digits, 2+digits))
	})
}

func TestDecimalsAreAddedExactlyOrRefused(t *testing.T) {
	candle := market.Candle{Open: 1005, High: 1010, Low: 1000, Close: 1001, Volume: 75, Interval: market.Interval1h,
		Start: market.Interval1h.StartOf(9)}
	var p chunkPacker
	value := p.pack([]market.Candle{candle}, market.Interval1h, 2, 1)

	back, err := decodeChunk(nil, market.Interval1h, 0, value, 4, 3)
	require.NoError(t, err)
	scaleCandle(&candle, 100, 100)
	require.Equal(t, []market.Candle{candle}, back)

	_, err = decodeChunk(nil, market.Interval1h, 0, value, 1, 1)
	require.ErrorIs(t, err, market.ErrInexact)
	_, err = decodeChunk(nil, market.Interval1h, 0, value, 18, 1) // 10.10 fits no int64 with 18 decimals
	require.ErrorIs(t, err, bolt.ErrCorrupt)
}

func TestAnyFlippedBitIsFound(t *testing.T) {
	value, candles := sampleChunk()
	for at := range len(value) {
		for bit := range 8 {
			broken := append([]byte(nil), value...)
			broken[at] ^= 1 << bit
			_, err := decodeChunk(nil, market.Interval1m, 0, broken, 18, 18)
			require.Error(t, err, "byte %d bit %d of %d candles", at, bit, len(candles))
		}
	}
}

func TestYearsOfCandlesAreTheDocumentedOnes(t *testing.T) {
	require.Equal(t, "1700-01-01T00:00:00Z", minCandleTime.String())
	require.Equal(t, "2200-01-01T00:00:00Z", maxCandleTime.String())
}

func sampleChunk() ([]byte, []market.Candle) {
	var candles []market.Candle
	for i := range int64(150) {
		price := market.Price(1_000_000 + i*i%977)
		candles = append(candles, market.Candle{Open: price, High: price + 40, Low: price - 30,
			Close:  price + market.Price(i%11),
			Volume: market.Volume(i * 12345), Start: market.Interval1m.StartOf(i + i/40), Interval: market.Interval1m})
	}
	var p chunkPacker
	return p.pack(candles, market.Interval1m, 2, 4), candles
}

// FuzzDecodeChunk feeds arbitrary bytes under a right checksum: whatever comes out is a possible
// candle, and nothing panics.
func FuzzDecodeChunk(f *testing.F) {
	value, _ := sampleChunk()
	f.Add(value, uint8(market.Interval1m), int64(0), uint8(2))
	f.Add([]byte("TC"), uint8(market.Interval1M), int64(-3), uint8(18))
	f.Fuzz(func(t *testing.T, value []byte, interval uint8, number int64, digits uint8) {
		i := market.Interval(interval%uint8(market.Interval1M) + 1)
		value = slices.Clone(value)
		if len(value) >= chunkHead {
			h := chunkHeader{interval: i, number: number, rows: int(value[8]) | int(value[9])<<8,
				first: int(value[10]) | int(value[11])<<8,
				last:  int(value[12]) | int(value[13])<<8, priceDigits: value[14] % 19, volumeDigits: value[15] % 19,
				open: market.Price(value[16]) << (value[17] & 63)}
			sealChunk(value, &h)
		}
		candles, err := decodeChunk(nil, i, number, value, digits%19, digits%19)
		if err != nil && !errors.Is(err, bolt.ErrCorrupt) {
			require.ErrorIs(t, err, market.ErrInexact)
		}
		for at := range candles {
			require.NoError(t, candles[at].Check())
		}
	})
}

// TestTheLoopForFullBlocksAgreesWithThatForAll combines the same columns with both, whatever they
// hold: impossible candles too.
func TestTheLoopForFullBlocksAgreesWithThatForAll(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	var small, anyBlock [blockRows]market.Candle
	for range 2000 {
		d := chunkDecoder{head: chunkHeader{interval: market.Interval1m, number: random.Int64N(9000)},
			offset: random.Int64N(3000) - 1, close: random.Int64N(1 << 40),
			leastOpen: random.Int64N(2000) - 1000, leastBody: random.Int64N(2000) - 1000}
		for col := range colGap {
			for i := range d.cols[col] {
				d.cols[col][i] = random.Uint64N(1 + 1<<random.IntN(smallBits))
			}
		}
		other := d
		badSmall, badAny := d.combineSmall(&small), other.combineAny(anyBlock[:])
		require.Equal(t, badAny < 0, badSmall < 0)
		require.Equal(t, other.close, d.close)
		require.Equal(t, other.offset, d.offset)
		require.Equal(t, anyBlock, small)
	}
}
