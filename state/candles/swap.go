package candles

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// Swap turns candles of a market's earlier asset into those of the present one: Old units of the
// earlier asset became New units of it. Prices are multiplied by Old÷New and volumes by New÷Old,
// rounded to the nearest with as many more decimals as the divisor has digits.
type Swap struct {
	Market   string      // the earlier name, by which a file may name its volumes
	Old, New int64       // at least 1
	Until    market.Time // rows that start then or later are left out; 0: none is
}

func (s *Swap) check() error {
	if s.Old < 1 || s.New < 1 || s.Old > 1e9 || s.New > 1e9 {
		return fmt.Errorf("%d:%d is no ratio; want whole numbers from 1 to 1000000000", s.Old, s.New)
	}
	return nil
}

// errSwapTooLarge: a number does not fit after a swap.
var errSwapTooLarge = errors.New("does not fit after the swap")

// apply converts a row.
func (s *Swap) apply(row *csvRow) (err error) {
	for i := range row.values {
		by, over := s.Old, s.New
		if i == 4 {
			by, over = s.New, s.Old
		}
		row.values[i], row.digits[i], err = multiply(row.values[i], row.digits[i], by, over)
		if err != nil {
			return fmt.Errorf("%s %w", fieldNames[fieldOpen+i], err)
		}
	}
	row.dropZeros()
	return nil
}

// multiply returns value·by÷over. Its decimals are more by the digits of over.
func multiply(value int64, digits uint8, by, over int64) (int64, uint8, error) {
	more := uint8(0)
	for market.Pow10(more) < over && digits+more < market.MaxDigits {
		more++
	}
	hi, lo := bits.Mul64(uint64(max(value, -value)), uint64(by))
	high, shifted := bits.Mul64(lo, uint64(market.Pow10(more)))
	top, hi := bits.Mul64(hi, uint64(market.Pow10(more)))
	hi, carry := bits.Add64(hi, high, 0)
	if top+carry > 0 || hi >= uint64(over) {
		return 0, 0, errSwapTooLarge
	}
	quotient, rest := bits.Div64(hi, shifted, uint64(over))
	if rest >= uint64(over)-rest {
		quotient++
	}
	if quotient > math.MaxInt64 {
		return 0, 0, errSwapTooLarge
	}
	if value < 0 {
		return -int64(quotient), digits + more, nil
	}
	return int64(quotient), digits + more, nil
}

// swap converts the current row. ok: it goes on.
func (c *csvImport) swap() (ok bool) {
	s := c.options.Swap
	if s == nil {
		return true
	}
	if s.Until != 0 && c.row.start >= s.Until {
		c.report.Rows--
		c.report.After++
		return false
	}
	if err := s.apply(&c.row); err != nil {
		c.bad(err.Error())
		return false
	}
	return true
}
