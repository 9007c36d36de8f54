package backtest

import "github.com/tidemark-trading/tidemark/market"

// blockSums sums up the closes of consecutive candles, once for all runs that step them: sums has
// the sum of all closes before each candle, spans the lowest and the highest close of each row of
// candles. The zero outline knows nothing: the candles are read.
type blockSums struct {
	at    int // of the first candle, in both
	sums  []int64
	spans []priceRange
}

// spanSize is how many candles a span has.
const spanSize = 8

// of outlines a block.
func (o *blockSums) of(block []market.Candle) {
	o.at, o.sums, o.spans = 0, append(o.sums[:0], 0), o.spans[:0]
	sum := int64(0)
	for len(block) > 0 {
		n := min(spanSize, len(block))
		b := priceRange{block[0].Close, block[0].Close}
		for i := range block[:n] {
			price := block[i].Close
			b.low, b.high = min(b.low, price), max(b.high, price)
			sum += int64(price)
			o.sums = append(o.sums, sum)
		}
		o.spans, block = append(o.spans, b), block[n:]
	}
}

// after is the outline without the first n candles.
func (o blockSums) after(n int) blockSums {
	o.at += n
	return o
}

// sum is the sum of the closes of the first candles, which are given.
func (o *blockSums) sum(series []market.Candle) (sum int64) {
	if o.sums != nil {
		return o.sums[o.at+len(series)] - o.sums[o.at]
	}
	for i := range series {
		sum += int64(series[i].Close)
	}
	return sum
}

// within counts the first candles that close in a band.
func (o *blockSums) within(b priceRange, series []market.Candle) int {
	if b.high < b.low {
		return 0
	}
	width := uint64(b.high - b.low)
	if o.spans == nil {
		for i := range series {
			if uint64(series[i].Close-b.low) > width {
				return i
			}
		}
		return len(series)
	}
	for i := 0; i < len(series); i++ {
		if (o.at+i)%spanSize == 0 && i+spanSize <= len(series) {
			if s := o.spans[(o.at+i)/spanSize]; s.low >= b.low && s.high <= b.high {
				i += spanSize - 1
				continue
			}
		}
		if uint64(series[i].Close-b.low) > width {
			return i
		}
	}
	return len(series)
}
