package backtest

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// stand is an account whose balances stand while only the price of one market changes.
type stand struct {
	market *market.Market
	balances
	equity market.Money // at the last of the closes
}

// MarkQuiet records the account at the closes of consecutive candles, exactly as Mark and Bar for
// each would.
func (r *recorder) MarkQuiet(a *stand, series []market.Candle, length market.Time, o outline) error {
	if r.days != nil {
		r.days.quiet(a.balances, series, length, o)
	}
	if a.base == 0 {
		r.markFlat(series, length, sample{equity: a.equity, cash: a.cash})
	} else if err := r.markLong(a, series, length, o); err != nil {
		return err
	}
	r.quietBars(series, length)
	if r.followed != nil {
		r.followed.candles(a.market.ID, series)
	}
	return nil
}

// quietBars is Bar for consecutive candles.
func (r *recorder) quietBars(series []market.Candle, length market.Time) {
	price := &r.hold.track
	switch {
	case !r.hold.trading || !r.holds(&series[0]):
		return
	case !r.hold.seen:
		r.Bar(&series[0])
		series = series[1:]
	}
	if r.hold.joint != nil {
		return
	}
	price.addDays(series, length)
}

// addDays is roll and add for consecutive candles.
func (t *track) addDays(series []market.Candle, length market.Time) {
	for len(series) > 0 {
		if at := series[0].Start + length; at > t.dayEnd {
			t.roll(at)
		}
		day := untilStart(series, t.dayEnd-length)
		t.addCloses(series[:day], length)
		series = series[day:]
	}
}

// untilStart counts the first candles that start up to a time.
func untilStart(series []market.Candle, last market.Time) int {
	if n := len(series); series[n-1].Start <= last {
		return n
	}
	n, _ := slices.BinarySearchFunc(series, last+1,
		func(c market.Candle, t market.Time) int { return cmp.Compare(c.Start, t) })
	return n
}

// addCloses is add for consecutive candles.
func (t *track) addCloses(series []market.Candle, length market.Time) {
	low, peak := t.low, t.peak
	for i := range series {
		if value := int64(series[i].Close); value < low || value >= peak {
			t.add(series[i].Start+length, value)
			low, peak = t.low, t.peak
		}
	}
	t.last = int64(series[len(series)-1].Close)
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
func (r *recorder) markLong(a *stand, series []market.Candle, length market.Time, o outline) error {
	for len(series) > 0 {
		n := 0
		if r.last.cash == a.cash {
			n = o.within(r.calmBand(a), series[:untilStart(series, r.wake-length)])
		}
		next := max(n, 1)
		s, err := a.at(series[:next], length, next == len(series))
		switch {
		case err != nil:
			return err
		case n > 0:
			r.pass(int64(n), s)
		default:
			r.Mark(s.at, s.equity, s.cash, s.equity != s.cash)
		}
		series, o = series[next:], o.after(next)
	}
	return nil
}

// at is the account at the close of the last of some candles; latest: the last of all.
func (a *stand) at(series []market.Candle, length market.Time, latest bool) (s sample, err error) {
	c, equity := &series[len(series)-1], a.equity
	if !latest {
		worth, err := a.market.Notional(c.Close, a.base)
		if err != nil {
			return s, err
		}
		if equity, err = market.Add(a.rest, worth); err != nil {
			return s, err
		}
	}
	return sample{c.Start + length, equity, a.cash}, nil
}

// band is a range of closes, both ends included; empty where high is below low.
type band struct{ low, high market.Price }

// calmBand returns the closes at which the account, as it was marked last, changes no figure but
// the latest: no peak, no low, no extreme of the curve's bucket, and no change between being
// invested and not. It is empty where the latest mark was an extreme itself: the next one may be,
// too.
func (r *recorder) calmBand(a *stand) band {
	if r.last.equity == a.cash && a.rest == a.cash { // base that is worth nothing
		return worthBand(a.market, a.base, 0, 0)
	}
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
	return worthBand(a.market, a.base, low-a.rest, high-a.rest)
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
