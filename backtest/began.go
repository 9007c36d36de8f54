package backtest

import (
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Began says from when on a strategy could trade a market.
type Began struct {
	Market string `json:"market"`
	// At is the close of the first candle on which the strategy could trade: the first one of its
	// main interval in the range, or the one that ended its warm-up; null: there was none.
	At Moment `json:"at"`
	// HeldBy is the interval of the candle that ended the warm-up inside the run, or whose candles
	// are missing; empty: none.
	HeldBy  string `json:"held_by,omitempty"`
	Missing int    `json:"missing,omitempty"` // candles of HeldBy that were missing at the end
}

// began lists the markets of a strategy.
func (d *driver) began(id market.StrategyID, s *StrategyPlan) (all []Began) {
	for _, b := range d.beganOf(id) {
		m := d.plan.Catalog.Market(b.Market)
		one := Began{Market: m.Name, Missing: b.Left}
		if b.Interval != 0 {
			one.HeldBy = b.Interval.String()
		}
		if first := d.firstClose(m, s.Interval); b.Ended && first != never {
			one.At = Moment(max(b.At, first))
		}
		all = append(all, one)
	}
	return all
}

// firstClose is the close of the first candle of a series in the range; never: there is none.
func (d *driver) firstClose(m *market.Market, interval market.Interval) market.Time {
	for i := range d.feeds {
		if f := &d.feeds[i]; f.Market == m && f.Interval == interval && f.first != never {
			return interval.End(max(f.first, interval.Floor(d.from)))
		}
	}
	return never
}

// BeganText says from when on a strategy could trade its markets: those that began together stand
// together. Its notes follow.
func (s *StrategyInfo) BeganText() string {
	var parts []string
	for rest := s.Began; len(rest) > 0; {
		first, names, others := rest[0], []string(nil), []Began(nil)
		for _, b := range rest {
			if b.At == first.At && b.HeldBy == first.HeldBy && b.Missing == first.Missing {
				names = append(names, b.Market)
			} else {
				others = append(others, b)
			}
		}
		parts, rest = append(parts, strings.Join(names, ", ")+" "+first.when()), others
	}
	text := fmt.Sprintf("%s could trade %s.", s.Name, strings.Join(parts, "; "))
	if s.AskedEarly > 0 {
		text += fmt.Sprintf(" Asked during the warm-up, and refused as it should be: %d.", s.AskedEarly)
	}
	return strings.Join(append([]string{text}, s.Notes...), " ")
}

// when says when a market began.
func (b *Began) when() string {
	switch {
	case b.At == 0 && b.HeldBy == "":
		return "at no time"
	case b.At == 0:
		return fmt.Sprintf("at no time (its warm-up needed %d more %s candles)", b.Missing, b.HeldBy)
	case b.HeldBy != "":
		return fmt.Sprintf("from %s on (its warm-up waited for %s candles)", b.At.Date(), b.HeldBy)
	}
	return "from " + b.At.Date() + " on"
}
