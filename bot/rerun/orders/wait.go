package orders

import (
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Wait is how long an order rested until its first fill, counted in candles that touched its price
// and did not trade through it.
type Wait struct {
	Candles  int
	Filled   bool    // in the last of them; false: something else ended the wait
	Canceled bool    // by an own cancel or update
	Value    float64 // of the order, in quote
	Share    float64 // of the order that filled in that candle
}

// throughs counts the candles that traded through a resting order, and those of them that filled
// it whole.
type throughs struct{ Candles, Full int }

// waitOf is the wait of an order at rest. ok is false where no candle touched it.
func waitOf(m *market.Market, o *Life, r *Rest, t *throughs) (w Wait, ok bool) {
	w.Value = float64(r.Amount) * float64(r.Price) / float64(market.Pow10(m.PriceDigits)) /
		float64(market.Pow10(m.AmountDigits))
	left := r.Amount
	for i := range r.Touches {
		one := &r.Touches[i]
		switch {
		case one.Partial && one.Filled > 0: // it filled in the candle of its arrival
			return w, w.Candles > 0
		case one.Partial:
			continue
		case one.Through:
			if r.End == EndFilled || r.To == 0 || r.To >= r.Interval.End(one.Start) {
				if t.Candles++; one.Filled >= left {
					t.Full++
				}
			}
			return w, w.Candles > 0
		}
		if w.Candles++; one.Filled > 0 {
			w.Filled, w.Share = true, float64(one.Filled)/float64(r.Amount)
			return w, true
		}
	}
	w.Canceled = r.Known == r.To && (r.End == EndCanceled || r.End == EndUpdated)
	return w, w.Candles > 0
}

// hazard is the chance of a fill in a candle that touches: all fills over all such candles.
func hazard(waits []Wait) (probability float64, fills, candles int) {
	for i := range waits {
		if candles += waits[i].Candles; waits[i].Filled {
			fills++
		}
	}
	if candles == 0 {
		return 0, 0, 0
	}
	return float64(fills) / float64(candles), fills, candles
}

// hazardBounds is hazard if no canceled order would ever have filled, and if each had filled in its
// last candle. An own cancel seldom comes by chance: the price leaves first.
func hazardBounds(waits []Wait) (low, high float64) {
	longest := 0
	for i := range waits {
		longest = max(longest, waits[i].Candles)
	}
	never, once := slices.Clone(waits), slices.Clone(waits)
	for i := range waits {
		if waits[i].Canceled {
			never[i].Candles, once[i].Filled = longest, true
		}
	}
	low, _, _ = hazard(never)
	high, _, _ = hazard(once)
	return low, high
}

// Step is a step of a Survival curve.
type Step struct {
	Candles int     // touched
	AtRisk  int     // orders that had waited so long
	Fills   int     // of them, in this candle
	Left    float64 // part of the orders that no candle up to this one filled
	Error   float64 // standard error of Left, by Greenwood
}

// Survival estimates after how many touched candles which part of the orders is still unfilled
// (Kaplan and Meier 1958). A wait that ended otherwise counts as at risk in its last candle.
func Survival(waits []Wait) (steps []Step) {
	left, sum := 1.0, 0.0
	longest := 0
	for i := range waits {
		longest = max(longest, waits[i].Candles)
	}
	for n := 1; n <= longest; n++ {
		s := Step{Candles: n}
		for i := range waits {
			if w := &waits[i]; w.Candles >= n {
				if s.AtRisk++; w.Candles == n && w.Filled {
					s.Fills++
				}
			}
		}
		if s.Fills == 0 {
			continue
		}
		left *= 1 - float64(s.Fills)/float64(s.AtRisk)
		sum += float64(s.Fills) / (float64(s.AtRisk) * float64(s.AtRisk-s.Fills))
		if s.Left = left; left > 0 {
			s.Error = left * math.Sqrt(sum)
		}
		steps = append(steps, s)
	}
	return steps
}

// median is the first candle after which at most half of the orders are unfilled; 0: none is.
func median(steps []Step) int {
	for i := range steps {
		if steps[i].Left <= 0.5 {
			return steps[i].Candles
		}
	}
	return 0
}
