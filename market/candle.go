package market

import (
	"fmt"
	"iter"
)

// Candle has the prices and the volume of a market in one interval. It holds no pointer, so that a
// slice of candles costs the collector nothing.
type Candle struct {
	Open, High, Low, Close Price
	Volume                 Volume // base traded
	Start                  Time   // the interval is [Start, End)
	Market                 ID
	Interval               Interval
	Late                   bool // delivered after its time, following an outage: opening orders on it are refused
	// 64 bytes: a copy of 56 is two overlapping ones, and reading it back waits for both. Go copies
	// a struct of more than four fields in memory, also where its fields would fit in registers.
	_ uint64
}

// End returns the end (exclusive) of the candle's interval.
func (c *Candle) End() Time { return c.Interval.End(c.Start) }

// ByClose yields parts of a list of candles: those that stand beside each other and close at the
// same instant.
func ByClose(candles []Candle) iter.Seq[[]Candle] {
	return func(yield func([]Candle) bool) {
		for len(candles) > 0 {
			n, end := 1, candles[0].End()
			for n < len(candles) && candles[n].End() == end {
				n++
			}
			if !yield(candles[:n:n]) {
				return
			}
			candles = candles[n:]
		}
	}
}

// Check reports what is impossible about the candle: a low above its high, an open or close outside
// them, a price of zero or less, a negative volume, no interval, a start that is no start of its
// interval. It returns nil for a possible candle.
func (c *Candle) Check() error {
	switch {
	case c.Low <= 0:
		return fmt.Errorf("low %d is not positive", c.Low)
	case c.High < c.Low:
		return fmt.Errorf("high %d is below low %d", c.High, c.Low)
	case c.Open < c.Low || c.Open > c.High:
		return fmt.Errorf("open %d lies outside low %d and high %d", c.Open, c.Low, c.High)
	case c.Close < c.Low || c.Close > c.High:
		return fmt.Errorf("close %d lies outside low %d and high %d", c.Close, c.Low, c.High)
	case c.Volume < 0:
		return fmt.Errorf("volume %d is negative", c.Volume)
	case c.Interval < Interval1m || c.Interval > Interval1M:
		return fmt.Errorf("interval %d is none of the exchange's", c.Interval)
	case !c.Interval.Aligned(c.Start):
		return fmt.Errorf("start %s is no start of a %s candle", c.Start, c.Interval)
	}
	return nil
}

// Ticker is the latest price and the best bid and ask of a market. A price of zero is missing.
type Ticker struct {
	Market           ID
	Last             Price
	Bid, Ask         Price
	BidSize, AskSize Qty
	Synthetic        bool // made from a candle's path, not seen on a market
}

// Level is one price of an order book and the amount that rests there.
type Level struct {
	Price  Price
	Amount Qty
}

// OrderBook is a snapshot of a market's book: bids from the highest, asks from the lowest. The
// slices belong to the snapshot's maker and are valid until it makes its next snapshot.
type OrderBook struct {
	Market    ID
	Nonce     int64
	Time      Time
	Bids      []Level
	Asks      []Level
	Synthetic bool // made from a candle's path, not seen on a market
}

// Trade is one public trade of a market.
type Trade struct {
	Market ID
	Price  Price
	Amount Qty
	Side   Side // of the taker
	Time   Time
}
