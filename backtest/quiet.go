package backtest

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// MarkQuiet records the account at the closes of consecutive candles without a change of a balance,
// exactly as Mark and Bar for each would. rest is the equity without the base held in m, cash the
// balance in the account's currency, base the held amount.
func (r *recorder) MarkQuiet(m *market.Market, series []market.Candle, length market.Time, rest, cash market.Money,
	base market.Qty) error {
	if base == 0 {
		r.markFlat(series, length, sample{equity: rest, cash: cash})
	} else if err := r.markLong(m, series, length, rest, cash, base); err != nil {
		return err
	}
	r.quietBars(series, length)
	return nil
}

// quietBars is Bar for consecutive candles.
func (r *recorder) quietBars(series []market.Candle, length market.Time) {
	if r.bars != nil || !r.prices.seen {
		for i := range series {
			r.Bar(&series[i])
		}
		return
	}
	if series[0].Market != r.cfg.Chart || series[0].Interval != r.cfg.ChartInterval {
		return
	}
	for len(series) > 0 {
		if at := series[0].Start + length; at > r.price.dayEnd {
			r.price.roll(at)
		}
		day, _ := slices.BinarySearchFunc(series, r.price.dayEnd-length+1,
			func(c market.Candle, t market.Time) int { return cmp.Compare(c.Start, t) })
		for i := range series[:day] {
			c := &series[i]
			r.price.add(c.Start+length, int64(c.Close))
		}
		series = series[day:]
	}
}

// markFlat is MarkQuiet without a position in the market: the equity stays, only days and buckets
// of the curve change.
func (r *recorder) markFlat(series []market.Candle, length market.Time, s sample) {
	r.marks += int64(len(series))
	if s.equity != s.cash {
		r.invested += int64(len(series))
	}
	last := series[len(series)-1].Start + length
	if s.equity != r.last.equity || s.cash != r.last.cash {
		s.at = series[0].Start + length
		r.update(s)
	}
	if last > r.wake {
		for i := range series {
			if s.at = series[i].Start + length; s.at > r.wake {
				r.update(s)
			}
			r.last.at = s.at
		}
	}
	r.last.at = last
}

// markLong is MarkQuiet with a position.
func (r *recorder) markLong(m *market.Market, series []market.Candle, length market.Time, rest, cash market.Money,
	base market.Qty) error {
	for i := range series {
		c := &series[i]
		worth, err := m.Notional(c.Close, base)
		if err != nil {
			return err
		}
		equity, err := market.Add(rest, worth)
		if err != nil {
			return err
		}
		r.Mark(c.Start+length, equity, cash, equity != cash)
	}
	return nil
}
