package backtest

import (
	"math"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// frozenAccount is an account whose balances stand while only the price of one market changes.
type frozenAccount struct {
	market *market.Market
	balances
	equity market.Money // at the last of the closes
}

// MarkQuiet records the account at the closes of consecutive candles, exactly as Mark and Bar for
// each would.
func (r *recorder) MarkQuiet(a *frozenAccount, series []market.Candle, length market.Time, o outline) error {
	if err := r.markSeries(a, series, length, o); err != nil {
		return err
	}
	r.quietBars(series, length)
	if r.followed != nil {
		r.followed.candles(a.market.ID, series)
	}
	return nil
}

// markSeries is Mark for the closes.
func (r *recorder) markSeries(a *frozenAccount, series []market.Candle, length market.Time, o outline) error {
	if a.base != 0 && a.rest >= a.cash && !r.curve.kept() {
		return r.markDays(a, series, length, o)
	}
	if r.days != nil {
		r.days.quiet(a.balances, series, length, o)
	}
	if a.base != 0 {
		return r.markLong(a, series, length, o)
	}
	r.markFlat(series, length, sample{equity: a.equity, cash: a.cash})
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
	price.addDays(series, length, outline{})
}

// addDays is roll and add for consecutive candles.
func (t *track) addDays(series []market.Candle, length market.Time, o outline) {
	for len(series) > 0 {
		if at := series[0].Start + length; at > t.dayEnd {
			t.roll(at)
		}
		day := untilStart(series, t.dayEnd-length, length)
		t.addCloses(series[:day], length, o)
		series, o.at = series[day:], o.at+day
	}
}

// untilStart is how many of the first candles start no later than last. Each is length long, and
// some may be missing.
func untilStart(series []market.Candle, last, length market.Time) int {
	n := len(series)
	if series[n-1].Start <= last {
		return n
	}
	for n = min(n, int((last-series[0].Start)/length)+1); n > 0 && series[n-1].Start > last; {
		n--
	}
	return max(n, 0)
}

// addCloses is add for consecutive candles.
func (t *track) addCloses(series []market.Candle, length market.Time, o outline) {
	for i := 0; ; i++ {
		rest := o.after(i)
		if i += rest.within(priceRange{market.Price(t.low), market.Price(t.peak) - 1}, series[i:]); i == len(series) {
			break
		}
		t.add(series[i].Start+length, int64(series[i].Close))
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
	changed := s.equity != r.last.equity || s.cash != r.last.cash
	for len(series) > 0 {
		if s.at = series[0].Start + length; s.at > r.wake || changed {
			r.update(s)
			changed = false
		}
		n := untilStart(series, r.wake-length, length)
		r.last.at = series[n-1].Start + length
		series = series[n:]
	}
}

// markDays is MarkQuiet with a position, without a curve: only days, and closes that turn the track
// of the equity, cost more than comparisons.
func (r *recorder) markDays(a *frozenAccount, series []market.Candle, length market.Time, o outline) error {
	t := turningCloses{frozenAccount: a, track: &r.equity, length: length}
	t.begin()
	r.marks += int64(len(series))
	for len(series) > 0 {
		if at := series[0].Start + length; at > r.wake {
			r.roll(sample{at: at})
		}
		n := untilStart(series, r.wake-length, length)
		latest := n == len(series)
		if r.days != nil {
			r.days.stay(series[n-1].Start+length, a.balances, o.sum(series[:n]), int64(n))
		}
		last, err := t.day(series[:n], o, latest)
		if err != nil {
			return err
		}
		r.last, r.equity.last = last, int64(last.equity)
		series, o.at = series[n:], o.at+n
	}
	r.invested += t.invested
	return nil
}

// turningCloses finds the closes that turn the track of the equity of an account that stands.
type turningCloses struct {
	*frozenAccount
	track    *track
	band     priceRange // closes that turn nothing, and at which the account is invested; not all of them
	length   market.Time
	invested int64 // closes
}

// begin computes the band.
func (t *turningCloses) begin() {
	low, high := max(market.Money(t.track.low), t.cash+1), market.Money(t.track.peak)-1
	if t.band = (priceRange{0, -1}); low <= high {
		t.band = worthBand(t.market, t.base, low-t.rest, high-t.rest)
	}
}

// day passes the closes of a day, and returns the account at the last one; latest: there are no
// more after them.
func (t *turningCloses) day(series []market.Candle, o outline, latest bool) (s sample, err error) {
	for {
		n := o.within(t.band, series)
		t.invested += int64(n)
		if n == len(series) {
			return t.at(series, t.length, latest)
		}
		s, err = t.at(series[:n+1], t.length, latest && n+1 == len(series))
		if err != nil {
			return s, err
		}
		t.add(s, series[n].Close)
		if series, o.at = series[n+1:], o.at+n+1; len(series) == 0 {
			return s, nil
		}
	}
}

// add adds a close that is not in the band.
func (t *turningCloses) add(s sample, price market.Price) {
	if s.equity != s.cash {
		t.invested++
	}
	value, peak, low := int64(s.equity), t.track.peak, t.track.low
	t.track.add(s.at, value)
	switch {
	case value >= peak:
		t.band = priceRange{0, -1} // it is the low, too
	case value >= low:
	case s.equity <= s.cash:
		t.begin()
	default:
		if low == peak { // the first close below a new peak
			t.band = worthBand(t.market, t.base, 0, market.Money(peak)-1-t.rest)
		}
		t.band.low = price
	}
}

// markLong is MarkQuiet with a position. A close inside the calm band costs two comparisons.
func (r *recorder) markLong(a *frozenAccount, series []market.Candle, length market.Time, o outline) error {
	for len(series) > 0 {
		n := 0
		if r.last.cash == a.cash {
			n = o.within(r.unchangedRange(a), series[:untilStart(series, r.wake-length, length)])
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
func (a *frozenAccount) at(series []market.Candle, length market.Time, latest bool) (s sample, err error) {
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

// priceRange is a range of closes, both ends included; empty where high is below low.
type priceRange struct{ low, high market.Price }

// unchangedRange returns the closes at which the account, as it was marked last, changes no figure
// but the latest: no peak, no low, no extreme of the curve's bucket, and no change between being
// invested and not. It is empty where the latest mark was an extreme itself: the next one may be,
// too.
func (r *recorder) unchangedRange(a *frozenAccount) priceRange {
	if r.last.equity == a.cash && a.rest == a.cash { // base that is worth nothing
		return worthBand(a.market, a.base, 0, 0)
	}
	low, high := market.Money(r.equity.low), market.Money(r.equity.peak)-1
	if r.curve.has {
		low, high = max(low, r.curve.open.low.equity), min(high, r.curve.open.high.equity)
	}
	switch equity, cash := r.last.equity, r.last.cash; {
	case equity <= low || equity >= high || equity == cash:
		return priceRange{0, -1}
	case equity > cash:
		low = max(low, cash+1)
	default:
		high = min(high, cash-1)
	}
	return worthBand(a.market, a.base, low-a.rest, high-a.rest)
}

// worthBand returns the prices at which an amount is worth from low to high.
func worthBand(m *market.Market, amount market.Qty, low, high market.Money) priceRange {
	if m.ValueDigits != m.PriceDigits+m.AmountDigits || high < 0 || amount <= 0 {
		return priceRange{0, -1}
	}
	unit, b := uint64(market.Pow10(m.MoneyDrop())), priceRange{0, math.MaxInt64}
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
