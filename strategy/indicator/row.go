package indicator

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// PushRow pushes prices in a row and writes the average after each into `to`. The prices are whole
// numbers, and the average is Ready.
func (s *SMA) PushRow(row, to []float64) {
	list, at, sum, n := s.ring.list, s.ring.at, s.sum, float64(len(s.ring.list))
	to = to[:len(row)]
	for i, x := range row {
		p := market.Price(x)
		s.limit.hold(p)
		sum += p - list[at]
		list[at] = p
		if at++; at == len(list) {
			at = 0
		}
		to[i] = float64(sum) / n
	}
	s.ring.at, s.sum = at, sum
	s.level = Level(to[len(to)-1])
}

// PushRow pushes prices in a row and writes the average after each into `to`. The prices are whole
// numbers, and the average is Ready.
func (e *EMA) PushRow(row, to []float64) {
	value, weight := e.smooth.value, e.smooth.weight
	to = to[:len(row)]
	for i, x := range row {
		value += float64(weight * (x - value))
		to[i] = value
	}
	e.smooth.value, e.level = value, Level(value)
}

// PushRow pushes closes in a row and writes the index after each into `to`. The closes are whole
// numbers, and the index is Ready.
func (r *RSI) PushRow(row, to []float64) {
	gain, loss, last, weight := r.gain.value, r.loss.value, r.last, r.gain.weight
	to = to[:len(row)]
	for i, x := range row {
		p := market.Price(x)
		gain += float64(weight * (float64(max(p-last, 0)) - gain))
		loss += float64(weight * (float64(max(last-p, 0)) - loss))
		last = p
		moves := gain + loss
		if to[i] = 100 * (gain / moves); moves <= still*math.Abs(float64(p)) {
			to[i] = 50
		}
	}
	r.gain.value, r.loss.value, r.last = gain, loss, last
}

// PushRow pushes candles in a row and writes the range after each into `to`. The range is Ready.
func (a *ATR) PushRow(row []market.Candle, to []float64) {
	value, weight, last := a.smooth.value, a.smooth.weight, a.last
	to = to[:len(row)]
	for i := range row {
		c := &row[i]
		of := c.High - c.Low
		if last != 0 {
			of = max(c.High, last) - min(c.Low, last)
		}
		value += float64(weight * (float64(of) - value))
		to[i], last = value, c.Close
	}
	a.smooth.value, a.last = value, last
}
