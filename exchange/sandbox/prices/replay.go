package prices

import (
	"cmp"
	"fmt"
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// Replay plays candles that were recorded. What it prints adds up to the candles again, and at
// speed 1, from a start of the exchange that is the start of a candle, to the very candles of the
// exchange. The first candle begins with the exchange's first run, less its history; where that is
// in the middle of an interval, the replay begins as far into the first candle. After the last
// candle the price stands still.
type Replay struct {
	// Candles returns the next candle and whether there is one: of one market, of any interval, in
	// order of time, in the units of the exchange's market. An exchange reads it once, from the
	// first candle on, also when it comes back after a kill.
	Candles func() (market.Candle, bool, error)
	Speed   int             // so many seconds of candles to a second of the exchange; 0: one
	Step    market.Duration // between two movements, on average; 0: a second. A candle has four at least
	// Path is to move along the path on which a backtest walks the candle, tick by tick, instead of
	// by chance; without Step.
	Path bool
}

// maxSpeed is the highest speed of a replay: a 1m candle lasts 60 µs.
const maxSpeed = 1_000_000

// Movements walks the candles.
func (r Replay) Movements(s Start) (Movements, error) {
	speed := r.Speed
	speed = cmp.Or(speed, 1)
	if r.Candles == nil || speed < 0 || speed > maxSpeed {
		return nil, fmt.Errorf("%s: replay: want candles and a speed from 1 to %d, not %d",
			s.Market.Name, maxSpeed, speed)
	}
	w, err := r.newWalk(&s)
	if err != nil {
		return nil, err
	}
	p := &player{read: r.Candles, speed: market.Time(speed), start: s, walk: w}
	return p.next, nil
}

// player is a replay on its way.
type player struct {
	read  func() (market.Candle, bool, error)
	speed market.Time
	start Start
	walk  walk

	any    bool // a candle was read
	given  bool // a movement was
	ended  bool
	first  market.Time // start of the first candle
	origin market.Time // where that stands in the exchange's time
	last   market.Candle
}

// next is the player's Movements.
func (p *player) next(m *Movement) (bool, error) {
	for !p.ended {
		for p.walk.move(m) {
			if m.At >= p.start.From {
				p.given = true
				return true, nil
			}
		}
		if err := p.nextCandle(); err != nil {
			p.ended = true
			return false, err
		}
		if p.ended && p.any && !p.given {
			*m = Movement{At: p.start.From, Price: p.last.Close, Side: market.Buy} // it ended before: the price stands
			return true, nil
		}
	}
	return false, nil
}

// nextCandle goes on to the next candle, past those that end before the replay is to begin.
func (p *player) nextCandle() error {
	for {
		c, more, err := p.read()
		if err != nil {
			return fmt.Errorf("%s: replay: %w", p.start.Market.Name, err)
		}
		if !more {
			p.ended = true
			return nil
		}
		volume, err := p.check(&c)
		if err != nil {
			return fmt.Errorf("%s: replay of the candle of %s: %w", p.start.Market.Name, c.Start, err)
		}
		if !p.any {
			into := p.start.Beginning - c.Interval.Floor(p.start.Beginning)
			p.any, p.first, p.origin = true, c.Start, p.start.Beginning-into/p.speed
		}
		p.last = c
		if end := p.place(c.End()); end > p.start.From {
			p.walk.begin(&c, volume, p.place(c.Start), end)
			return nil
		}
	}
}

// check returns the volume of a candle, or an error for a candle that cannot be replayed.
func (p *player) check(c *market.Candle) (market.Qty, error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	if p.any && c.Start < p.last.End() {
		return 0, fmt.Errorf("it begins before the last one ends, at %s", p.last.End())
	}
	if p.any && c.End()-p.first > math.MaxInt64-p.origin {
		return 0, fmt.Errorf("it lies too far ahead: %w", market.ErrOverflow)
	}
	volume, err := market.Rescale(int64(c.Volume), p.start.Market.VolumeDigits, p.start.Market.AmountDigits)
	return market.Qty(volume), err
}

// place is where a moment of the candles stands in the exchange's time.
func (p *player) place(t market.Time) market.Time { return p.origin + (t-p.first)/p.speed }
