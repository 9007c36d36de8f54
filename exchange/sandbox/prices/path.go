package prices

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// pathWalk turns candles into movements along the path on which a backtest walks them
// (sim.Adaptive), tick by tick, so that nothing lies between two prices that an order could wait
// for. The open stands for the first third of the candle: orders decided on the candle before
// arrive in it, as in a backtest. The close stands for the last sixth: fills on the way are known
// before the candle is.
//
// Known limitation: a candle with less volume than movements trades at its four prices alone; one
// with fewer than four of its market's smallest amounts shows less than all of them.
type pathWalk struct {
	market *market.Market
	prices [4]market.Price
	start  market.Time
	length market.Time
	step   market.Price
	count  int // movements
	next   int
	leg    int // the point that next comes to, or goes towards
	price  market.Price
	left   market.Qty // of the volume; the last movement has it
	share  market.Qty // of the volume, in each movement; 0: the corners have it
	corner market.Qty // in each corner, where share is 0
	side   market.Side
}

// newPathWalk returns a path.
func newPathWalk(m *market.Market) *pathWalk { return &pathWalk{market: m} }

// begin lays out a candle that lasts from start to end and in which volume is traded.
func (s *pathWalk) begin(c *market.Candle, volume market.Qty, start, end market.Time) {
	s.prices = sim.Adaptive.Points(c, false)
	s.start, s.length = start, end-start
	s.next, s.leg, s.price, s.side = 0, 1, c.Open, market.Buy
	s.step = max(1, s.market.TickSize)
	for s.count = s.steps() + 1; s.count > maxMovements; s.count = s.steps() + 1 {
		s.step *= 2
	}
	s.count = max(2, s.count) // the close is traded, also where it is the open
	unit := smallest(s.market)
	s.left, s.corner = volume, 0
	if s.share = volume / market.Qty(s.count) / unit * unit; s.share == 0 {
		s.corner = volume / 4 / unit * unit
	}
}

// steps is how many there are on the way.
func (s *pathWalk) steps() (n int) {
	for i := range 3 {
		n += int((distance(s.prices[i], s.prices[i+1]) + s.step - 1) / s.step)
	}
	return n
}

func distance(a, b market.Price) market.Price { return max(a, b) - min(a, b) }

// move writes the candle's next movement and reports whether there is one.
func (s *pathWalk) move(m *Movement) bool {
	if s.next == s.count {
		return false
	}
	*m = Movement{At: s.start, Price: s.price, Amount: s.share, Side: s.side}
	if s.next > 0 {
		s.advance()
		m.At = s.start + s.length/3 + s.length/2/market.Time(s.count-1)*market.Time(s.next)
		m.Price, m.Side = s.price, s.side
	}
	if s.share == 0 && s.price == s.prices[s.leg-1] {
		m.Amount = s.corner
	}
	if s.next++; s.next == s.count {
		m.Amount = s.left
	}
	s.left -= m.Amount
	return true
}

// advance takes a step, round the corners.
func (s *pathWalk) advance() {
	for s.leg < 4 && s.price == s.prices[s.leg] {
		s.leg++
	}
	if s.leg == 4 {
		return
	}
	to := s.prices[s.leg]
	if to < s.price {
		s.side, s.price = market.Sell, max(to, s.price-s.step)
	} else {
		s.side, s.price = market.Buy, min(to, s.price+s.step)
	}
	for s.leg < 4 && s.price == s.prices[s.leg] {
		s.leg++
	}
}

// walk is a way of making movements of a candle.
type walk interface {
	begin(c *market.Candle, volume market.Qty, start, end market.Time)
	move(m *Movement) bool
}

// newWalk returns the walk that the replay uses.
func (r Replay) newWalk(s *Start) (walk, error) {
	if !r.Path {
		return newRandomWalk(s.Market, s.Seed, r.Step)
	}
	if r.Step != 0 {
		return nil, fmt.Errorf("%s: replay: the steps on the path are ticks; leave Step out", s.Market.Name)
	}
	return newPathWalk(s.Market), nil
}
