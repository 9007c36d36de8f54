package rules

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// OnFill keeps what a fill says of the position.
func (w *written) OnFill(d *strategy.Desk, f market.Fill) {
	x, m := w.In(f.Market), d.In(f.Market)
	x.sure = sure{}
	if f.Side == market.Sell {
		if m.Held() == 0 && x.Entered != 0 {
			x.Left = f.Time
			x.forget()
		}
		return
	}
	if x.Entered == 0 {
		x.Entered = f.Time
	}
	x.Bought += float64(f.Amount)
	x.Paid += float64(float64(f.Price) * float64(f.Amount))
}

// forget begins without a position.
func (x *trade) forget() {
	x.Entered, x.High, x.Low, x.Bought, x.Paid, x.Entries = 0, 0, 0, 0, 0, 0
	x.Entry, x.Stop = 0, 0
}

// bars is how many candles have closed since the entry, its own included.
func (x *trade) bars(c *market.Candle) int {
	return int(x.index(c)-x.interval.Index(x.Entered)) + 1
}

// index is the number of a candle.
func (x *trade) index(c *market.Candle) int64 { return x.interval.Index(c.Start) }

// recalled is a candle of the warm-up.
type recalled struct {
	end       market.Time
	high, low market.Price
}

// remember keeps a candle of the warm-up: a restart may have missed it.
func (x *trade) remember(m strategy.MarketDesk, c *market.Candle) {
	if x.live = !m.Warming(); x.live {
		x.recall = nil
		return
	}
	x.recall = append(x.recall, recalled{c.End(), c.High, c.Low})
}

// extend takes a candle into the highest and lowest price since the entry.
func (x *trade) extend(end market.Time, high, low market.Price) {
	if end <= x.Entered {
		return
	}
	x.High = max(x.High, high)
	if x.Low == 0 || low < x.Low {
		x.Low = low
	}
}

// extendRow is extend for candles in a row.
func (x *trade) extendRow(series []market.Candle) {
	for len(series) > 0 && series[0].End() <= x.Entered {
		series = series[1:]
	}
	if len(series) == 0 {
		return
	}
	high, low := max(x.High, series[0].High), series[0].Low
	if x.Low != 0 {
		low = min(low, x.Low)
	}
	for i := range series {
		high, low = max(high, series[i].High), min(low, series[i].Low)
	}
	x.High, x.Low = high, low
}

// Loaded takes the candles that closed while the bot did not run into the highest and lowest price.
func (x *trade) Loaded() error {
	for _, c := range x.recall {
		if x.Entered != 0 && c.end > x.Seen {
			x.extend(c.end, c.high, c.low)
		}
	}
	x.recall = nil
	return nil
}

// adopt gives a position that this strategy did not see begin an entry.
func (x *trade) adopt(m strategy.MarketDesk, c *market.Candle) {
	if x.Entered == 0 {
		x.Entered, x.High, x.Low = max(m.Position().Opened, 1), c.High, c.Low
	}
}

// fill writes the position and the account for the rules.
func (w *written) fill(m strategy.MarketDesk, x *trade, c *market.Candle) {
	if w.account {
		x.inputs.Equity, x.inputs.Cash = m.Equity(), m.Cash()
	}
	held := m.Held() > 0
	of := m.Market()
	x.inputs.Position = float64(m.Position().Amount) * math.Pow10(int(of.VolumeDigits)-int(of.AmountDigits))
	if held {
		x.adopt(m, c)
		x.inputs.Cost = m.Cost()
	}
	x.describe(c, held)
}

// describe writes the position for the rules. Its cost is there already.
func (x *trade) describe(c *market.Candle, held bool) {
	in := &x.inputs
	in.BarsSinceExit = -1
	if x.Left != 0 {
		in.BarsSinceExit = int(x.index(c)-x.interval.Index(x.Left)) + 1
	}
	if in.InPosition = held; !held {
		return
	}
	if in.EntryPrice = in.Cost; x.Bought > 0 {
		in.EntryPrice = market.Price(x.Paid / x.Bought)
	}
	in.HighestSinceEntry, in.LowestSinceEntry = x.High, x.Low
	in.Profit = 0
	if in.Cost > 0 {
		in.Profit = 100 * float64(c.Close-in.Cost) / float64(in.Cost)
	}
	in.BarsSinceEntry = x.bars(c)
}
