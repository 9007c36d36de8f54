package backtest

import (
	"cmp"
	"math"
	"math/bits"
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

// markLong is MarkQuiet with a position. A close inside the calm band costs two comparisons.
func (r *recorder) markLong(m *market.Market, series []market.Candle, length market.Time, rest, cash market.Money,
	base market.Qty) error {
	for len(series) > 0 {
		s, err := sampleAt(m, &series[0], length, rest, cash, base)
		if err != nil {
			return err
		}
		r.Mark(s.at, s.equity, s.cash, s.equity != s.cash)
		series = series[1:]
		b := r.calmBand(m, rest, base)
		if b.high < b.low {
			continue
		}
		n := b.count(series, r.wake-length)
		if n == 0 {
			continue
		}
		if s, err = sampleAt(m, &series[n-1], length, rest, cash, base); err != nil {
			return err
		}
		r.pass(int64(n), s)
		series = series[n:]
	}
	return nil
}

// sampleAt is the account at a candle's close, with base held in m.
func sampleAt(m *market.Market, c *market.Candle, length market.Time, rest, cash market.Money,
	base market.Qty) (s sample, err error) {
	worth, err := m.Notional(c.Close, base)
	if err != nil {
		return s, err
	}
	equity, err := market.Add(rest, worth)
	return sample{c.Start + length, equity, cash}, err
}

// band is a range of closes, both ends included; empty where high is below low.
type band struct{ low, high market.Price }

// count is the number of the first candles that close in the band and start up to a time.
func (b band) count(series []market.Candle, until market.Time) int {
	width := uint64(b.high - b.low)
	for i := range series {
		if c := &series[i]; uint64(c.Close-b.low) > width || c.Start > until {
			return i
		}
	}
	return len(series)
}

// calmBand returns the closes at which the account, as it was marked last, changes no figure but
// the latest: no peak, no low, no extreme of the curve's bucket, and no change between being
// invested and not. It is empty where the latest mark was an extreme itself: the next one may be,
// too.
func (r *recorder) calmBand(m *market.Market, rest market.Money, base market.Qty) band {
	low, high := market.Money(r.equity.low), market.Money(r.equity.peak)-1
	if r.curve.has {
		low, high = max(low, r.curve.open.low.equity), min(high, r.curve.open.high.equity)
	}
	switch equity, cash := r.last.equity, r.last.cash; {
	case equity <= low || equity >= high || equity == cash:
		return band{0, -1}
	case equity > cash:
		low = max(low, cash+1)
	default:
		high = min(high, cash-1)
	}
	return worthBand(m, base, low-rest, high-rest)
}

// worthBand returns the prices at which an amount is worth from low to high.
func worthBand(m *market.Market, amount market.Qty, low, high market.Money) band {
	if m.ValueDigits != m.PriceDigits+m.AmountDigits || high < 0 || amount <= 0 {
		return band{0, -1}
	}
	unit, b := uint64(market.Pow10(m.MoneyDrop())), band{0, math.MaxInt64}
	if low > 0 { // ⌈low·unit ÷ amount⌉
		over, under := bits.Mul64(uint64(low), unit)
		under, carry := bits.Add64(under, uint64(amount)-1, 0)
		b.low = quotient(over+carry, under, amount)
	}
	over, under := bits.Mul64(uint64(high)+1, unit) // ⌊((high+1)·unit − 1) ÷ amount⌋
	under, borrow := bits.Sub64(under, 1, 0)
	b.high = quotient(over-borrow, under, amount)
	return b
}

// quotient is a 128-bit number divided by an amount, at most the highest price.
func quotient(over, under uint64, amount market.Qty) market.Price {
	if over >= uint64(amount) {
		return math.MaxInt64
	}
	price, _ := bits.Div64(over, under, uint64(amount))
	return market.Price(min(price, math.MaxInt64))
}

// pass is Mark for n closes in a row that change no figure but the latest; s is the last of them.
func (r *recorder) pass(n int64, s sample) {
	r.marks += n
	if s.equity != s.cash {
		r.invested += n
	}
	r.last, r.equity.last = s, int64(s.equity)
}
