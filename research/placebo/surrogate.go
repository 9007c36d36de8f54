package placebo

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// Surrogate is one set of made-up candles of all markets of a Data. One goroutine uses it.
type Surrogate struct {
	data   *Data
	salt   uint64
	shapes map[*model]*shape
	made   map[series][]market.Candle // kept for the next run

	turned    []market.Signal // of the list that begins at turnedOf
	turnedOf  *market.Signal
	turnedLen int
}

// series is one series of candles of a run.
type series struct {
	units
	interval market.Interval
}

// shape has the figures of a market's signs that a surrogate needs.
type shape struct {
	plus  float64   // factor of a move that keeps its direction
	minus []float64 // of a mirrored one, by season
}

// Surrogate makes the surrogate of a number. again is a surrogate that is not used any more, or
// nil: the new surrogate takes over its memory.
func (d *Data) Surrogate(number int, again *Surrogate) *Surrogate {
	if again == nil {
		again = &Surrogate{made: map[series][]market.Candle{}}
	}
	for key, list := range again.made {
		again.made[key] = list[:0]
	}
	*again = Surrogate{data: d, salt: mix(mix(d.rules.Seed) + uint64(number)), made: again.made,
		shapes: map[*model]*shape{}}
	return again
}

// mix makes a number of which each bit depends on each bit of another (SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// mirrored reports whether the moves of the moment that begins at a time are turned round, in all
// markets.
func (s *Surrogate) mirrored(start market.Time) bool {
	if keep := market.Time(s.data.rules.Keep); keep > 0 {
		start -= start % keep
	}
	return mix(s.salt^uint64(start))>>63 == 1
}

// Alter puts the surrogate's candles in place of the plan's own, or its turned signals. A plan that
// was not noted, and reads other candles, fails when it opens them.
func (s *Surrogate) Alter(p *backtest.Plan) {
	if s.data.rules.Signals {
		p.Signals = s.signals(p.Signals)
		return
	}
	open := p.Open
	p.Open = func(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
		m := s.data.models[unitsOf(f.Market)]
		if m == nil || f.Interval != m.feed.Interval && !m.feed.Interval.Divides(f.Interval) {
			return nil, fmt.Errorf("the search on surrogate candles wants %s %s, which the search on the data did not",
				f.Market.Name, f.Interval)
		}
		return s.open(m, f, from, to, open)
	}
}

type opener = func(backtest.Feed, market.Time, market.Time) (backtest.Source, error)

// open opens the made-up candles of a feed that start in [from, to).
func (s *Surrogate) open(m *model, f backtest.Feed, from, to market.Time, open opener) (backtest.Source, error) {
	if s.shapes[m] == nil {
		shape, err := s.shape(m, open)
		if err != nil {
			return nil, err
		}
		s.shapes[m] = shape
	}
	if !s.data.kept {
		g, err := s.generate(m, f, open)
		return &cut{source: g, from: from, to: to}, err
	}
	key := series{unitsOf(f.Market), f.Interval}
	list := s.made[key]
	if len(list) == 0 {
		g, err := s.generate(m, f, open)
		if err != nil {
			return nil, err
		}
		for err == nil {
			var batch []market.Candle
			batch, err = g.Next()
			list = append(list, batch...)
		}
		if err != io.EOF {
			return nil, err
		}
		s.made[key] = list
	}
	return &cut{source: &once{list}, from: from, to: to}, nil
}

// shape walks the candles to find the factors that lead the surrogate to the data's last price.
func (s *Surrogate) shape(m *model, open opener) (*shape, error) {
	before, sum := m.before, 0.0
	err := m.all(open, func(batch []market.Candle) {
		for i := range batch {
			c := &batch[i]
			if m.counts(c, before) {
				x := math.Log(float64(c.Close)/float64(before)) - m.drift[m.season(c.Start)]
				if s.mirrored(c.Start) {
					x = -x
				}
				sum += x
			}
			before = c.Close
		}
	})
	excess := sum / max(m.counted, 1)
	f := &shape{plus: math.Exp(-excess), minus: make([]float64, len(m.drift))}
	for i, drift := range m.drift {
		f.minus[i] = math.Exp(2*drift - excess)
	}
	return f, err
}

// all calls each with the candles of the model, which are in memory or read anew.
func (m *model) all(open opener, each func([]market.Candle)) error {
	if m.kept {
		each(m.candles)
		return nil
	}
	return m.walk(open, each)
}

// generate opens the made-up candles of a feed over the whole range.
func (s *Surrogate) generate(m *model, f backtest.Feed, open opener) (backtest.Source, error) {
	g := &generator{surrogate: s, model: m, shape: s.shapes[m], market: f.Market.ID, before: m.before,
		tick: float64(m.tick)}
	if m.kept {
		g.source = &once{m.candles}
	} else {
		source, err := open(backtest.Feed{Market: f.Market, Interval: m.feed.Interval}, m.from, m.to)
		if err != nil {
			return nil, err
		}
		g.source = source
	}
	if f.Interval == m.feed.Interval {
		return g, nil
	}
	return &merged{source: g, interval: f.Interval, first: m.first, end: m.end}, nil
}

// generator makes the candles of a surrogate of the real ones, in order.
type generator struct {
	surrogate *Surrogate
	model     *model
	shape     *shape
	source    backtest.Source
	market    market.ID
	tick      float64
	before    market.Price // close of the real candle before; 0: there is none
	at        float64      // close of the made-up one, unrounded
	left      []market.Candle
	batch     [generated]market.Candle
}

// generated is the most candles of a batch.
const generated = 256

// highest is the highest price that can be made, well inside an int64.
const highest = 1 << 60

// Next makes the next candles.
func (g *generator) Next() ([]market.Candle, error) {
	for len(g.left) == 0 {
		var err error
		if g.left, err = g.source.Next(); err != nil {
			return nil, err
		}
	}
	n := min(len(g.left), generated)
	for i := range n {
		if err := g.make(&g.left[i], &g.batch[i]); err != nil {
			return nil, err
		}
	}
	g.left = g.left[n:]
	return g.batch[:n], nil
}

// make makes one candle. Factors stand for sums of logarithms: a move g is the factor O/P, and −g
// is P/O.
func (g *generator) make(c, to *market.Candle) error {
	o, h, l, k := float64(c.Open), float64(c.High), float64(c.Low), float64(c.Close)
	gap, body := 1.0, k/o
	upper, lower := h/max(o, k), l/min(o, k)
	mirrored := g.surrogate.mirrored(c.Start)
	counts := g.model.counts(c, g.before)
	if g.before == 0 {
		g.at = o
	} else {
		gap = o / float64(g.before)
	}
	if mirrored {
		gap, upper, lower = 1/gap, 1/lower, 1/upper
	}
	switch {
	case counts && mirrored:
		body = o / k * g.shape.minus[g.model.season(c.Start)]
	case counts:
		body *= g.shape.plus
	}
	open := g.at * gap
	g.at = open * body
	g.before = c.Close
	*to = *c
	to.Market = g.market
	high := max(open, g.at) * upper
	if !(high < highest) {
		return fmt.Errorf("a surrogate of %s reaches a price of %g at %s, which is too high", g.model.feed.Market.Name,
			high, c.Start)
	}
	to.Open, to.Close = g.round(open), g.round(g.at)
	to.High = max(g.round(high), to.Open, to.Close)
	to.Low = min(g.round(min(open, g.at)*lower), to.Open, to.Close)
	return nil
}

// round rounds to the nearest tick, half up, and to one tick at least.
func (g *generator) round(price float64) market.Price {
	return market.Price(max(math.Floor(price/g.tick+0.5), 1)) * g.model.tick
}

// Close closes the real candles.
func (g *generator) Close() error { return g.source.Close() }

// merged makes candles of a longer interval. What is not whole at either end of the range is left
// out.
type merged struct {
	source     backtest.Source
	interval   market.Interval
	first, end market.Time   // of the shorter candles
	bucket     market.Candle // Interval 0: there is none
	batch      []market.Candle
}

// Next returns the next candles.
func (m *merged) Next() ([]market.Candle, error) {
	m.batch = m.batch[:0]
	for len(m.batch) == 0 {
		batch, err := m.source.Next()
		if err == io.EOF && m.bucket.Interval != 0 {
			m.flush()
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range batch {
			if err := m.add(&batch[i]); err != nil {
				return nil, err
			}
		}
	}
	return m.batch, nil
}

// add adds a candle to the bucket, or begins the next one.
func (m *merged) add(c *market.Candle) error {
	b, start := &m.bucket, m.interval.Floor(c.Start)
	if b.Interval == 0 || b.Start != start {
		m.flush()
		*b = *c
		b.Start, b.Interval = start, m.interval
		return nil
	}
	volume, err := market.Add(b.Volume, c.Volume)
	if err != nil {
		return fmt.Errorf("volume of the %s candle at %s: %w", m.interval, start, err)
	}
	b.High, b.Low, b.Close, b.Volume = max(b.High, c.High), min(b.Low, c.Low), c.Close, volume
	return nil
}

// flush hands out the bucket, if it is whole.
func (m *merged) flush() {
	if b := &m.bucket; b.Interval != 0 && b.Start >= m.first && b.End() <= m.end {
		m.batch = append(m.batch, *b)
	}
	m.bucket.Interval = 0
}

// Close closes the shorter candles.
func (m *merged) Close() error { return m.source.Close() }

// once is candles in memory as a source.
type once struct{ candles []market.Candle }

// Next returns all candles, then io.EOF.
func (o *once) Next() ([]market.Candle, error) {
	batch := o.candles
	if o.candles = nil; len(batch) == 0 {
		return nil, io.EOF
	}
	return batch, nil
}

// Close has nothing to release.
func (o *once) Close() error { return nil }

// cut is the candles of a source that start in [from, to); a to of 0 is no bound.
type cut struct {
	source   backtest.Source
	from, to market.Time
}

// Next returns the next candles in the range.
func (c *cut) Next() ([]market.Candle, error) {
	for {
		batch, err := c.source.Next()
		if err != nil {
			return nil, err
		}
		n, _ := slices.BinarySearchFunc(batch, c.from, startsAt)
		batch = batch[n:]
		if c.to != 0 {
			n, _ = slices.BinarySearchFunc(batch, c.to, startsAt)
			if n < len(batch) {
				c.source, batch = ended{c.source}, batch[:n]
			}
		}
		if len(batch) > 0 {
			return batch, nil
		}
	}
}

func startsAt(c market.Candle, at market.Time) int { return cmp.Compare(c.Start, at) }

// Close closes the source.
func (c *cut) Close() error { return c.source.Close() }

// ended is a source that gives no more.
type ended struct{ backtest.Source }

// Next is at the end.
func (ended) Next() ([]market.Candle, error) { return nil, io.EOF }
