package exchange

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// CandleRange is the question for a list of candles: those of a market and interval from Start on
// and before End, the newest Limit of them. A zero Start, End or Limit is open.
type CandleRange struct {
	Market     *market.Market
	Interval   market.Interval
	Start, End market.Time
	Limit      int
}

// LeftOut is the error of a list of candles that came without some rows of the answer. All other
// candles are there: see Candles.
type LeftOut struct {
	Early int           // candles after the range that have not closed by the exchange's clock
	False int           // rows that cannot be: a high below the low, a start twice with different values
	Twice int           // rows that had come before, with the same values
	First market.Candle // the row that Error names
	text  string
}

// Error names market and interval, and number and start of the first row.
func (l *LeftOut) Error() string {
	if more := l.Early + l.False + l.Twice - 1; more > 0 {
		return fmt.Sprintf("%s; and %d more rows", l.text, more)
	}
	return l.text
}

// CheckLeftOut returns the LeftOut that an error is, or nil, and the error otherwise.
func CheckLeftOut(err error) (*LeftOut, error) {
	var left *LeftOut
	if errors.As(err, &left) {
		return left, nil
	}
	return nil, err
}

// Read makes the list that was asked for of the rows of an answer, in their place: oldest first, a
// row that comes twice once. now is the exchange's time.
//
// Rows that cannot be, rows that come again, and candles after the range that have not closed yet
// are left out: the error is a *LeftOut. One row before and one after the range are left out
// without a word; some exchanges count an end that others do not. More of them, or a row that
// starts within an interval, make it the answer to another question: the error wraps ErrFalse, and
// there is no list.
func (q *CandleRange) Read(rows []market.Candle, now market.Time) ([]market.Candle, error) {
	for i := range rows {
		if c := &rows[i]; !q.Interval.Aligned(c.Start) {
			return nil, False(q.word(i, rows, fmt.Sprintf("no %s candle starts then", q.Interval)))
		}
	}
	var left LeftOut
	before, after := 0, 0
	list := make([]market.Candle, 0, len(rows))
	for i := range rows {
		c, wrong := &rows[i], rows[i].Check()
		switch {
		case wrong != nil:
			left.False++
			left.note(q, i, rows, fmt.Sprintf("%v, in units of %s", wrong, q.Market.FormatPrice(1)))
		case c.Start < q.Start:
			before++
		case q.End != 0 && c.Start >= q.End && c.End() > now:
			left.Early++
			left.note(q, i, rows, "it has not closed yet by the exchange's clock")
		case q.End != 0 && c.Start >= q.End:
			after++
		default:
			list = append(list, *c)
		}
	}
	if before > 1 || after > 1 {
		return nil, False(fmt.Errorf("candles of %s %s: %d of %d rows are not from %s to %s, which was asked for",
			q.Market.Name, q.Interval, before+after, len(rows), q.Start, q.End))
	}
	list = q.once(list, rows, &left)
	if q.Limit > 0 {
		list = list[max(0, len(list)-q.Limit):]
	}
	rows = append(rows[:0], list...)
	if left.Early+left.False+left.Twice > 0 {
		return rows, &left
	}
	return rows, nil
}

// once sorts candles and leaves out the second of two with one start. Where their values differ,
// the one of the larger volume stays: a candle only grows.
func (q *CandleRange) once(list, rows []market.Candle, left *LeftOut) []market.Candle {
	slices.SortFunc(list, func(a, b market.Candle) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Volume, a.Volume))
	})
	again := func(one market.Candle, why string) {
		if left.text == "" { // else the search of the row, of which there may be many, says nothing new
			left.note(q, slices.Index(rows, one), rows, why)
		}
	}
	return slices.CompactFunc(list, func(one, before market.Candle) bool {
		switch {
		case one.Start != before.Start:
			return false
		case one == before:
			left.Twice++
			again(one, "it comes twice")
		default:
			left.False++
			again(one, "another row with other values has the same start")
		}
		return true
	})
}

// word is what is wrong with a row.
func (q *CandleRange) word(i int, rows []market.Candle, wrong string) error {
	return fmt.Errorf("candles of %s %s: row %d of %d, which starts at %s: %s", q.Market.Name, q.Interval, i+1,
		len(rows), rows[i].Start, wrong)
}

// note keeps what is wrong with the first such row.
func (l *LeftOut) note(q *CandleRange, i int, rows []market.Candle, wrong string) {
	if l.text == "" {
		l.text, l.First = q.word(i, rows, wrong).Error(), rows[i]
	}
}
