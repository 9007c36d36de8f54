package stress

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// noise moves the prices of a plan's candles. Each moment has one draw, the same for all markets,
// which moves a market's price by a part of its usual move. A close and the next open move
// together. Volumes stay. The finest candles of a market are moved, coarser ones are made of them.
type noise struct {
	seed  uint64
	part  float64               // of a usual move, as a standard deviation
	moves map[market.ID]float64 // a market's usual move: see usualMoves
}

// over lays the noise over the candles of a plan.
func (n *noise) over(p *backtest.Plan) {
	open, finest := p.Open, map[market.ID]backtest.Feed{}
	for _, f := range p.Feeds {
		if d := drive(p, f.Market.ID); d != nil {
			finest[f.Market.ID] = *d
		}
	}
	p.Open = func(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
		own, err := open(f, from, to)
		fine, has := finest[f.Market.ID]
		if err != nil || !has || fine.Interval >= f.Interval {
			return &moved{noise: n, market: f.Market, Source: own}, err
		}
		if to != 0 { // the last candle may reach beyond
			to = f.Interval.End(f.Interval.Floor(to - 1))
		}
		parts, err := open(fine, from, to)
		if err != nil {
			return nil, errors.Join(err, own.Close())
		}
		return &merged{moved: moved{noise: n, market: f.Market, Source: own},
			parts: moved{noise: n, market: f.Market, Source: parts}}, nil
	}
}

// draw is about normal with deviation 1, and never beyond ±3.5: four uniform numbers of a hash.
func (n *noise) draw(at market.Time) float64 {
	const mean, deviation = 2 * 65535, 37837.22 // of the sum
	bits, sum := hash(n.seed, uint64(at)), uint64(0)
	for range 4 {
		sum, bits = sum+bits&0xffff, bits>>16
	}
	return (float64(sum) - mean) / deviation
}

// mostMoved bounds the noise of a price, as a part of it.
const mostMoved = 0.5

// shift moves a price at a moment, and rounds it to the tick.
func (n *noise) shift(m *market.Market, p market.Price, at market.Time) market.Price {
	by := min(max(n.part*n.moves[m.ID]*n.draw(at), -mostMoved), mostMoved)
	if by == 0 {
		return p
	}
	tick := max(m.TickSize, 1)
	return max(market.Price(math.Round(float64(p)*(1+by)/float64(tick)))*tick, tick)
}

// candle moves a candle: open and close each by the draw of its moment, and the wicks with them.
func (n *noise) candle(m *market.Market, c *market.Candle) {
	top, bottom := c.High-max(c.Open, c.Close), min(c.Open, c.Close)-c.Low
	open, last := n.shift(m, c.Open, c.Start), n.shift(m, c.Close, c.End())
	if open == c.Open && last == c.Close {
		return
	}
	tick := max(m.TickSize, 1)
	c.Open, c.Close = open, last
	c.High = max(open, last) + market.FloorTo(top, tick)
	c.Low = max(min(open, last)-market.FloorTo(bottom, tick), tick)
}

// moved is a source whose candles are moved. A batch is a copy.
type moved struct {
	backtest.Source
	noise  *noise
	market *market.Market
	batch  []market.Candle
	at     int // of peek
}

// Next returns the next candles.
func (s *moved) Next() ([]market.Candle, error) {
	batch, err := s.Source.Next()
	if err != nil {
		return nil, err
	}
	s.batch = append(s.batch[:0], batch...)
	for i := range s.batch {
		s.noise.candle(s.market, &s.batch[i])
	}
	return s.batch, nil
}

// peek is the candle at hand; nil: there are no more.
func (s *moved) peek() (*market.Candle, error) {
	for s.at == len(s.batch) {
		s.at = 0
		if _, err := s.Next(); err != nil {
			s.batch = s.batch[:0]
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			return nil, err
		}
	}
	return &s.batch[s.at], nil
}

// merged is a source of candles that are made of moved finer ones. A candle without finer ones is
// moved itself.
type merged struct {
	moved
	parts moved
}

// Next returns the next candles.
func (s *merged) Next() ([]market.Candle, error) {
	batch, err := s.Source.Next()
	if err != nil {
		return nil, err
	}
	s.batch = append(s.batch[:0], batch...)
	for i := range s.batch {
		if err := s.make(&s.batch[i]); err != nil {
			return nil, err
		}
	}
	return s.batch, nil
}

// make replaces the prices of a candle by those of its parts.
func (s *merged) make(c *market.Candle) error {
	end, first := c.End(), true
	for {
		part, err := s.parts.peek()
		switch {
		case err != nil:
			return err
		case part == nil || part.Start >= end:
			if first {
				s.noise.candle(s.market, c)
			}
			return nil
		case part.Start < c.Start:
		case first:
			c.Open, c.High, c.Low, c.Close, first = part.Open, part.High, part.Low, part.Close, false
		default:
			c.High, c.Low, c.Close = max(c.High, part.High), min(c.Low, part.Low), part.Close
		}
		s.parts.at++
	}
}

// Close closes both series.
func (s *merged) Close() error { return errors.Join(s.moved.Close(), s.parts.Close()) }

// usualMoves are, by market, the root mean square of the moves from close to close of the candles
// that move it, as parts of the price.
func usualMoves(p *backtest.Plan) (map[market.ID]float64, error) {
	moves := map[market.ID]float64{}
	for _, f := range p.Feeds {
		if !f.Drive {
			continue
		}
		move, err := usualMove(p, f)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", f.Market.Name, f.Interval, err)
		}
		moves[f.Market.ID] = move
	}
	return moves, nil
}

func usualMove(p *backtest.Plan, f backtest.Feed) (float64, error) {
	source, err := p.Open(f, p.From, p.To)
	if err != nil {
		return 0, err
	}
	var sum, count float64
	last := market.Price(0)
	for {
		batch, err := source.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, errors.Join(err, source.Close())
		}
		for i := range batch {
			if last > 0 {
				move := float64(batch[i].Close)/float64(last) - 1
				sum, count = sum+float64(move*move), count+1
			}
			last = batch[i].Close
		}
	}
	if count == 0 {
		return 0, source.Close()
	}
	return math.Sqrt(sum / count), source.Close()
}
