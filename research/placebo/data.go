package placebo

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// Rules say how surrogates are drawn. The zero value is the usual test with seed 0.
type Rules struct {
	Seed uint64 `json:"seed"`
	// Keep gives all candles that begin within the same such stretch of time one sign: what is
	// faster than that stays in the surrogates, and is not tested. 0: each moment has its own.
	Keep time.Duration `json:"keep"`
	// SeasonalDrift keeps the mean move of each hour of the week. Without it, one mean move over
	// the whole range is kept, and an edge that comes from the time of the week counts as one.
	SeasonalDrift bool `json:"seasonal_drift"`
	// Signals turns the signals of plans in time, and leaves the candles as they are: nothing ties
	// the two together then. Signals turn by whole candles of the longest interval of a strategy
	// that hears them, by whole stretches of Keep, and by whole weeks with SeasonalDrift.
	Signals bool `json:"signals,omitempty"`
}

// ErrKeep means that Rules.Keep cannot be.
var ErrKeep = errors.New("what is kept must be whole candles")

// Data are the candles that a search reads, as surrogates are made of them: of each market the
// finest interval. Note the search's plans, then Read once. Afterwards several goroutines may use
// it.
type Data struct {
	mutex   sync.Mutex // of Note
	rules   Rules
	finest  map[string]market.Interval // by market
	feeds   []noted
	from    market.Time // of the first candle that a plan reads, rounded down to the longest interval
	to      market.Time // exclusive, rounded up likewise; 0: no bound
	endless bool        // a plan has no end
	models  map[units]*model
	kept    bool            // the candles are in memory
	main    market.Interval // the longest of a strategy that hears signals; 0: none does
	heard   bool            // a plan has signals, and a strategy that hears them
	circle  circle          // of Rules.Signals
}

// noted is a feed of a plan.
type noted struct {
	backtest.Feed
	warmup int
	plan   *backtest.Plan // that needs the longest warm-up
}

// units are a market's name, number and decimals: its made-up candles depend on them.
type units struct {
	name          string
	id            market.ID
	price, volume uint8
}

func unitsOf(m *market.Market) units { return units{m.Name, m.ID, m.PriceDigits, m.VolumeDigits} }

// NewData makes Data without candles.
func NewData(rules Rules) (*Data, error) {
	if rules.Keep < 0 {
		return nil, fmt.Errorf("%w: %s is negative", ErrKeep, rules.Keep)
	}
	return &Data{rules: rules, finest: map[string]market.Interval{}, models: map[units]*model{}}, nil
}

// Note takes the feeds of a plan, and keeps some of the plans. It refuses a plan whose strategies
// read order books, unless signals are turned. Several goroutines may call it.
func (d *Data) Note(p *backtest.Plan) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if err := d.noteSignals(p); err != nil {
		return err
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			return err
		}
		if needs.Book && !d.rules.Signals {
			return fmt.Errorf("strategy %s reads order books, and surrogates have candles only: a placebo cannot "+
				"test it", s.Name)
		}
	}
	for _, f := range p.Feeds {
		n := noted{f, backtest.Warmup(p.Strategies, f.Market, f.Interval), p}
		at := slices.IndexFunc(d.feeds, func(n noted) bool {
			return n.Interval == f.Interval && unitsOf(n.Market) == unitsOf(f.Market)
		})
		if at < 0 {
			d.feeds = append(d.feeds, n)
		} else if d.feeds[at].warmup < n.warmup {
			d.feeds[at] = n
		}
		if shortest, known := d.finest[f.Market.Name]; !known || f.Interval < shortest {
			d.finest[f.Market.Name] = f.Interval
		}
	}
	d.to, d.endless = max(d.to, p.To), d.endless || p.To == 0
	return nil
}

// keptCandles is how many candles, of all markets, are kept in memory. More are read anew for each
// group of sets.
const keptCandles = 1 << 18

// Read reads the candles of the noted plans, which all begin to trade at from. It is an error if a
// longer interval cannot be made of the finest candles, or reaches further back than they do.
func (d *Data) Read(from market.Time) error {
	if err := d.span(from); err != nil {
		return err
	}
	number := 0
	d.kept = true
	for _, n := range d.feeds {
		key := unitsOf(n.Market)
		if d.models[key] != nil {
			continue
		}
		m := &model{Data: d, feed: backtest.Feed{Market: n.Market, Interval: d.finest[key.name]}}
		if err := m.read(n.plan.Open); err != nil {
			return fmt.Errorf("%s %s: %w", key.name, m.feed.Interval, err)
		}
		d.models[key] = m
		if number += m.number; number > keptCandles {
			d.kept = false
		}
	}
	if !d.kept || d.rules.Signals {
		for _, m := range d.models {
			m.candles = nil
		}
	}
	if d.rules.Signals {
		return d.close()
	}
	return d.reach()
}

// fits returns an error if the noted feeds do not go together, or not with the rules.
func (d *Data) fits() error {
	if len(d.feeds) == 0 {
		return errors.New("there are no candles to make surrogates of")
	}
	if d.rules.Signals && !d.heard {
		return errUnheard
	}
	for _, n := range d.feeds {
		finest := d.finest[n.Market.Name]
		if n.Interval != finest && !finest.Divides(n.Interval) && !d.rules.Signals {
			return fmt.Errorf("%s: candles of %s do not make candles of %s, and a surrogate is made of the shortest",
				n.Market.Name, finest, n.Interval)
		}
		if keep := market.Time(d.rules.Keep); keep%finest.End(0) != 0 {
			return fmt.Errorf("%w: %s is no multiple of the candles' %s", ErrKeep, d.rules.Keep, finest)
		}
	}
	return nil
}

// span finds the range of the surrogates.
func (d *Data) span(from market.Time) error {
	if err := d.fits(); err != nil {
		return err
	}
	d.from = math.MaxInt64
	longest := market.Interval1m
	for _, n := range d.feeds {
		begins := *n.plan
		begins.From = from
		d.from, longest = min(d.from, begins.ReadFrom(n.Feed)), max(longest, n.Interval)
	}
	if d.from > 0 {
		d.from = longest.Floor(d.from)
	}
	if d.endless {
		d.to = 0
	}
	if d.to > 0 && longest.Floor(d.to) < d.to {
		d.to = longest.End(longest.Floor(d.to))
	}
	return nil
}

// reach returns an error if the search read candles of a longer interval that began before the
// finest ones: its surrogates would begin later than it did.
func (d *Data) reach() error {
	for _, n := range d.feeds {
		m := d.models[unitsOf(n.Market)]
		if n.Interval == m.feed.Interval {
			continue
		}
		source, err := n.plan.Open(n.Feed, d.from, d.to)
		if err != nil {
			return err
		}
		first, err := source.Next()
		if err = errors.Join(err, source.Close()); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(first) > 0 && n.Interval.Floor(m.first) > first[0].Start {
			return fmt.Errorf("candles of %s %s begin at %s, and those of %s at %s: surrogates are made of the "+
				"shortest; begin later, or get those before", n.Market.Name, n.Interval, first[0].Start,
				m.feed.Interval, m.first)
		}
	}
	return nil
}

// Candles is how many candles of the finest intervals a surrogate has.
func (d *Data) Candles() (n int) {
	for _, m := range d.models {
		n += m.number
	}
	return n
}

// Mixed names two markets whose finest candles differ in length: of their correlation only a part
// is kept. It is empty if all are of one length.
func (d *Data) Mixed() string {
	a := d.feeds[0].Market.Name
	for _, n := range d.feeds {
		if b := n.Market.Name; d.finest[b] != d.finest[a] {
			return fmt.Sprintf("%s moves by candles of %s, %s of %s", a, d.finest[a], b, d.finest[b])
		}
	}
	return ""
}

// model has the properties of a market that surrogates keep.
type model struct {
	*Data
	feed    backtest.Feed // of the finest interval
	candles []market.Candle
	number  int
	first   market.Time // start of the first candle
	end     market.Time // of the last one
	tick    market.Price
	before  market.Price // a price before the first candle; 0: there is none
	counted float64
	drift   []float64 // mean move, by season
}

// hoursOfWeek is the number of seasons of a seasonal drift.
const hoursOfWeek = 7 * 24

// season is the place of a candle's drift.
func (m *model) season(start market.Time) int {
	if len(m.drift) == 1 {
		return 0
	}
	return int(start/market.Time(time.Hour)) % hoursOfWeek
}

// read finds the drift and the tick: the greatest step that all prices are multiples of.
func (m *model) read(open func(backtest.Feed, market.Time, market.Time) (backtest.Source, error)) error {
	m.drift = make([]float64, 1)
	if m.rules.SeasonalDrift {
		m.drift = make([]float64, hoursOfWeek)
	}
	counts := make([]float64, len(m.drift))
	err := m.walk(open, func(batch []market.Candle) {
		for i := range batch {
			c := &batch[i]
			if m.number == 0 {
				m.first = c.Start
			}
			for _, price := range [...]market.Price{c.Open, c.High, c.Low, c.Close} {
				m.tick = divisor(m.tick, price)
			}
			if m.counts(c, m.before) {
				at := m.season(c.Start)
				m.drift[at] += math.Log(float64(c.Close) / float64(m.before))
				counts[at]++
				m.counted++
			}
			m.before, m.end = c.Close, c.Start
			m.number++
		}
		if m.number <= keptCandles {
			m.candles = append(m.candles, batch...)
		}
	})
	if m.number > 0 {
		m.end = m.feed.Interval.End(m.end)
	}
	m.before = 0
	for i := range m.drift {
		m.drift[i] /= max(counts[i], 1)
	}
	return err
}

// walk calls each with the candles of the range, batch by batch.
func (m *model) walk(open func(backtest.Feed, market.Time, market.Time) (backtest.Source, error),
	each func([]market.Candle)) error {
	source, err := open(m.feed, m.from, m.to)
	if err != nil {
		return err
	}
	for err == nil {
		var batch []market.Candle
		if batch, err = source.Next(); err == nil {
			each(batch)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, source.Close())
}

// divisor is the greatest common divisor of two prices, one of which may be 0.
func divisor(a, b market.Price) market.Price {
	for b != 0 && a != 1 {
		a, b = b, a%b
	}
	return a
}

// counts reports whether a candle is part of the drift: the first is not, nor one without a trade.
func (m *model) counts(c *market.Candle, before market.Price) bool {
	return before != 0 && (c.Volume != 0 || c.Open != c.Close || c.High != c.Low)
}
