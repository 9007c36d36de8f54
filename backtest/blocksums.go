package backtest

import "github.com/tidemark-trading/tidemark/market"

// blockSums sums up the closes of consecutive candles, once for all runs that step them: sums has
// the sum of all closes before each candle, spans the lowest and the highest close of each row of
// candles.
type blockSums struct {
	sums  []int64
	spans []priceRange
}

// outline is blockSums from a candle on. The zero outline knows nothing: the candles are read.
type outline struct {
	of *blockSums
	at int // of that candle, in both lists
}

// spanSize is how many candles a span has.
const spanSize = 8

// sumUp sums up a block.
func (o *blockSums) sumUp(block []market.Candle) {
	o.sums, o.spans = append(o.sums[:0], 0), o.spans[:0]
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
func (o outline) after(n int) outline {
	o.at += n
	return o
}

// sum is the sum of the closes of the first candles, which are given.
func (o outline) sum(series []market.Candle) (sum int64) {
	if o.of != nil {
		return o.of.sums[o.at+len(series)] - o.of.sums[o.at]
	}
	for i := range series {
		sum += int64(series[i].Close)
	}
	return sum
}

// within counts the first candles that close in a band.
func (o outline) within(b priceRange, series []market.Candle) int {
	if b.high < b.low {
		return 0
	}
	width := uint64(b.high - b.low)
	if o.of == nil {
		for i := range series {
			if uint64(series[i].Close-b.low) > width {
				return i
			}
		}
		return len(series)
	}
	spans := o.of.spans
	for i := 0; i < len(series); i++ {
		if at := uint(o.at + i); at%spanSize == 0 && i+spanSize <= len(series) {
			if s := &spans[at/spanSize]; s.low >= b.low && s.high <= b.high {
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
