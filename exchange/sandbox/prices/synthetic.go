package prices

import (
	"fmt"
	"hash/fnv"
	"math"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
)

// Synthetic is a made-up price: a function of the seed, the market's name and the time alone once
// its anchor is fixed, whenever the exchange starts. It stands at Price when the anchor's day
// begins and goes through made-up days from there. Within a day it follows made-up 1m candles that
// lead from the day's open to that of the next; now and then a minute or a few are without any
// trade.
type Synthetic struct {
	Seed       uint64      // 0: the exchange's
	Anchor     market.Time // not after the exchange's start; 0: that of its first run, less its history
	Price      string      // where it starts and around which it moves, from a third to three times of it: decimal
	Volatility float64     // standard deviation of a day's return; 0: 0.03
	// base traded in an average minute: decimal; "": as much as 3000 of the quote currency buy
	Volume string
	Step   market.Duration // between two movements, on average; 0: a second
}

// minuteValue is the traded value of an average minute without Synthetic.Volume, in whole units of
// the quote currency.
const minuteValue = 3000

// maxMinutes is more minutes than the longest candle has, so busy that their volume is doubled.
const maxMinutes = 100_000

// Movements walks the made-up candles.
func (y Synthetic) Movements(s Start) (Movements, error) {
	first, err := Parse(s.Market, y.Price)
	if err != nil {
		return nil, err
	}
	volume, err := y.volume(s.Market, first)
	if err != nil {
		return nil, err
	}
	if y.Seed != 0 {
		s.Seed = y.Seed
	}
	if y.Anchor != 0 {
		s.Beginning = y.Anchor
	}
	if s.Beginning > s.From {
		return nil, fmt.Errorf("%s: the anchor %s lies after the start, %s", s.Market.Name, s.Beginning, s.From)
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(s.Market.Name)) // a hash takes everything
	s.Seed = Mix(s.Seed, name.Sum64())
	w, err := newRandomWalk(s.Market, s.Seed, y.Step)
	if err != nil {
		return nil, err
	}
	d := &days{start: s, volatility: y.Volatility, first: first, volume: volume, walk: w,
		band: [2]market.Price{max(1, first/3), first * 3}}
	if err := d.open(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Market.Name, err)
	}
	return d.next, nil
}

// volume returns the base traded in an average minute.
func (y Synthetic) volume(m *market.Market, first market.Price) (volume market.Qty, err error) {
	if y.Volume != "" {
		volume, err = m.ParseQty(y.Volume)
	} else {
		worth := m.MoneyValue(market.Money(minuteValue * market.Pow10(m.QuoteDigits)))
		volume = max(exchange.BaseForValue(m, worth, first), 4*smallest(m))
	}
	if err != nil {
		return 0, fmt.Errorf("%s: volume: %w", m.Name, err)
	}
	if volume > math.MaxInt64/maxMinutes {
		return 0, fmt.Errorf("%s: a month's volume does not fit: give the base asset fewer than %d decimals",
			m.Name, m.AmountDigits)
	}
	return volume, nil
}

// days is a made-up price on its way.
type days struct {
	start      Start
	volatility float64
	first      market.Price
	volume     market.Qty
	band       [2]market.Price
	walk       *randomWalk

	chain   *synthetic.Generator // of days
	day     int64                // that is walked, since 1970
	opens   [2]market.Price      // of the day and of the next
	minutes []market.Candle      // of the day
	minute  int                  // that comes next
}

// open brings the chain of days from the anchor to the day of the first movement.
func (d *days) open() (err error) {
	d.chain, err = synthetic.New(synthetic.Config{Seed: d.start.Seed, Market: d.start.Market,
		Interval: market.Interval1d, Start: d.start.Beginning, First: d.first, Volume: 1,
		Low: d.band[0], High: d.band[1], DailyVolatility: d.volatility, GapChance: -1, JumpChance: -1})
	if err != nil {
		return err
	}
	d.opens[1] = d.first
	for d.day = d.start.Beginning.Day(); d.day < d.start.From.Day(); d.day++ {
		d.link()
	}
	d.link()
	return d.fill()
}

// link goes on to the next day's open.
func (d *days) link() {
	var c market.Candle
	d.chain.Next(&c)
	d.opens[0], d.opens[1] = d.opens[1], c.Close
}

// fill makes the day's minutes lead from its open to the next day's open: the difference is spread
// over the day.
func (d *days) fill() error {
	from, to := d.tick(d.opens[0]), d.tick(d.opens[1])
	start := market.Interval1d.StartOf(d.day)
	g, err := synthetic.New(synthetic.Config{Seed: Mix(d.start.Seed, uint64(d.day)), Market: d.start.Market,
		Interval: market.Interval1m, Start: start, First: from,
		Volume: market.Volume(d.volume), Low: d.band[0], High: d.band[1], DailyVolatility: d.volatility})
	if err != nil {
		return err
	}
	d.minutes, d.minute = d.minutes[:0], 0
	last := from
	for {
		var c market.Candle
		if g.Next(&c); c.Start.Day() != d.day {
			break
		}
		d.minutes = append(d.minutes, c)
		last = c.Close
	}
	for i := range d.minutes {
		d.bend(&d.minutes[i], start, to-last)
	}
	return nil
}

// bend moves a candle so that the day ends at its price. miss is the distance by which the day's
// random walk has missed that price; a candle gets more of it the later it is. Prices become
// multiples of the tick.
func (d *days) bend(c *market.Candle, start market.Time, miss market.Price) {
	const minutes = 24 * 60
	minute := market.Price(c.Start.Sub(start) / market.Interval1m.Fixed())
	before, behind := miss*minute/minutes, miss*(minute+1)/minutes
	c.Open = d.tick(c.Open + before)
	c.Close = d.tick(c.Close + behind)
	c.High = max(d.tick(c.High+before), c.Open, c.Close)
	c.Low = min(d.tick(c.Low+before), c.Open, c.Close)
}

// tick is the multiple of the market's tick nearest to a price, one tick at least.
func (d *days) tick(p market.Price) market.Price {
	tick := max(1, d.start.Market.TickSize)
	return max(tick, market.FloorTo(p+tick/2, tick))
}

// next is the days' Movements. It never ends.
func (d *days) next(m *Movement) (bool, error) {
	for {
		for d.walk.move(m) {
			if m.At >= d.start.From {
				return true, nil
			}
		}
		if d.minute == len(d.minutes) {
			d.day++
			d.link()
			if err := d.fill(); err != nil {
				return false, err
			}
			continue
		}
		c := &d.minutes[d.minute]
		d.minute++
		if c.End() > d.start.From {
			d.walk.begin(c, market.Qty(c.Volume), c.Start, c.End())
		}
	}
}
