package backtest

import "github.com/tidemark-trading/tidemark/market"

// maxBars is the largest number of candles in the report's chart.
const maxBars = 5000

// bar is a run of consecutive candles merged into one.
type bar struct {
	start, end             market.Time
	open, high, low, close market.Price
}

// bars merges the candles of one market until they fit into a chart: single candles at first, then
// pairs, fours and so on.
type bars struct {
	held  []bar
	open  bar
	count int // candles in open
	each  int // candles that make a bar
}

// add adds the next candle.
func (b *bars) add(c *market.Candle) {
	if b.count == 0 {
		b.open = bar{c.Start, c.End(), c.Open, c.High, c.Low, c.Close}
	} else {
		b.open.high, b.open.low = max(b.open.high, c.High), min(b.open.low, c.Low)
		b.open.close, b.open.end = c.Close, c.End()
	}
	if b.count++; b.count >= b.each {
		b.closeBar()
	}
}

// closeBar ends the open bar, and halves the bars when they are twice too many.
func (b *bars) closeBar() {
	b.held, b.count = append(b.held, b.open), 0
	if len(b.held) == 2*maxBars {
		b.halve()
	}
}

// halve merges every two bars.
func (b *bars) halve() {
	kept := b.held[:0]
	for i := 0; i < len(b.held); i += 2 {
		merged := b.held[i]
		if i+1 < len(b.held) {
			next := &b.held[i+1]
			merged.high, merged.low = max(merged.high, next.high), min(merged.low, next.low)
			merged.close, merged.end = next.close, next.end
		}
		kept = append(kept, merged)
	}
	b.held, b.each = kept, 2*max(b.each, 1)
}

// all returns the bars, at most maxBars, and the number of candles in a bar.
func (b *bars) all() ([]bar, int) {
	if b.count > 0 {
		b.closeBar()
	}
	if len(b.held) > maxBars {
		b.halve()
	}
	return b.held, max(b.each, 1)
}
