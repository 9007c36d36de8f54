package placebo

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// beginning is the first start of the made-up candles: a Monday.
var beginning = market.Time(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())

const hour = market.Time(time.Hour)

// world is candles of several markets in memory.
type world map[string][]market.Candle

// plan reads the feeds of the markets.
func (w world) plan(intervals ...market.Interval) *backtest.Plan {
	p := &backtest.Plan{From: beginning, ColdStart: true}
	for id, name := range [...]string{"A-EUR", "B-EUR"} {
		if w[name] == nil {
			continue
		}
		m := &market.Market{ID: market.ID(id + 1), Name: name, PriceDigits: 2}
		for _, interval := range intervals {
			p.Feeds = append(p.Feeds, backtest.Feed{Market: m, Interval: interval, Drive: true, Deliver: true})
		}
	}
	p.Open = func(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
		list := slices.Clone(w[f.Market.Name])
		if f.Interval != market.Interval1h {
			var err error
			m := &merged{source: &once{list}, interval: f.Interval, first: list[0].Start, end: list[len(list)-1].End()}
			if list, err = drain(m); err != io.EOF {
				return nil, err
			}
		}
		return &cut{source: &once{list}, from: from, to: to}, nil
	}
	return p
}

func drain(s backtest.Source) (list []market.Candle, err error) {
	for {
		batch, err := s.Next()
		if err != nil {
			return list, err
		}
		list = append(list, batch...)
	}
}

// data is the Data of a world.
func (w world) data(t *testing.T, rules Rules, intervals ...market.Interval) (*Data, *backtest.Plan) {
	d, err := NewData(rules)
	require.NoError(t, err)
	p := w.plan(intervals...)
	require.NoError(t, d.Note(p))
	require.NoError(t, d.Read(p.From))
	return d, p
}

// read reads a feed of a plan.
func read(t *testing.T, p *backtest.Plan, feed int) []market.Candle {
	source, err := p.Open(p.Feeds[feed], p.From, p.To)
	require.NoError(t, err)
	list, err := drain(source)
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, source.Close())
	return list
}

// lay is the plan with the candles of a surrogate.
func lay(s *Surrogate, p *backtest.Plan) *backtest.Plan {
	laid := *p
	s.Alter(&laid)
	return &laid
}

// surrogate reads a feed of a surrogate.
func surrogate(t *testing.T, d *Data, p *backtest.Plan, number, feed int) []market.Candle {
	return read(t, lay(d.Surrogate(number, nil), p), feed)
}

// random makes candles of hours: some are missing, some have no trade, some gaps are large.
func random(seed uint64, number int, tick market.Price) (list []market.Candle) {
	r := rand.New(rand.NewPCG(seed, 0))
	price := 5000.0 * float64(tick)
	round := func(x float64) market.Price { return max(market.Price(x/float64(tick)), 1) * tick }
	for i := range number {
		price *= math.Exp(0.01 * r.NormFloat64() * math.Exp(r.NormFloat64()/2))
		c := market.Candle{Start: beginning + market.Time(i)*hour, Interval: market.Interval1h,
			Volume: market.Volume(r.IntN(1000))}
		if i > 0 && r.IntN(20) == 0 {
			continue
		}
		c.Open = round(price)
		c.Close, c.High, c.Low = c.Open, c.Open, c.Open
		if c.Volume > 100 {
			price *= math.Exp(0.01 * r.NormFloat64())
			c.Close = round(price)
			c.High = round(float64(max(c.Open, c.Close)) * math.Exp(0.01*r.ExpFloat64()))
			c.Low = round(float64(min(c.Open, c.Close)) * math.Exp(-0.01*r.ExpFloat64()))
			c.High, c.Low = max(c.High, c.Open, c.Close), min(c.Low, c.Open, c.Close)
		} else {
			c.Volume = 0
		}
		list = append(list, c)
	}
	return list
}

// The vector of the definition: six candles, signs + − − + − +. A candle without a trade before
// them gives the price that the first one moves from.
func TestASurrogateOfSixCandles(t *testing.T) {
	const fine = 10_000_000_000 // units of 1, to compare what is not rounded
	rows := [][4]float64{{100, 101, 99.5, 100.8}, {100.9, 102, 100.7, 101.5}, {101.5, 101.6, 99, 99.4},
		{99.4, 100.2, 99.1, 100}, {100.1, 100.4, 98.9, 99.2}, {99.2, 100.9, 99, 100.7}}
	list := []market.Candle{{Open: 100 * fine, High: 100 * fine, Low: 100 * fine, Close: 100 * fine, Start: beginning,
		Interval: market.Interval1h}}
	for i, r := range rows {
		scale := func(x float64) market.Price { return market.Price(math.Round(10*x)) * fine / 10 }
		list = append(list, market.Candle{Open: scale(r[0]), High: scale(r[1]), Low: scale(r[2]), Close: scale(r[3]),
			Volume: 1, Start: beginning + hour*market.Time(i+1), Interval: market.Interval1h})
	}
	d, p := world{"A-EUR": list}.data(t, Rules{}, market.Interval1h)
	m := d.models[unitsOf(p.Feeds[0].Market)]
	require.InDelta(t, 0.001162602289, m.drift[0], 1e-12)
	require.Equal(t, market.Price(fine/10), m.tick, "the tick is what all prices are multiples of")
	number := 0
	for pattern := uint(0); pattern != 0b010110; number++ { // bit i: candle i is mirrored
		s := d.Surrogate(number, nil)
		pattern = 0
		for i := range rows {
			if s.mirrored(list[i+1].Start) {
				pattern |= 1 << i
			}
		}
		if pattern == 0b010110 {
			break
		}
	}
	written := [][4]float64{{100, 100.2, 99.4, 99.9}, {99.8, 100, 98.2, 98.6}, {98.6, 100.5, 98.5, 100.1},
		{100.1, 100.3, 99.6, 99.9}, {99.8, 100.4, 99.5, 100}, {100, 100.9, 99.8, 100.7}}
	unrounded := [][4]float64{{100, 100.1984126984, 99.4468907444, 99.9466238637},
		{99.8475687360, 100.0458757245, 98.1625674221, 98.6461268675},
		{98.6461268675, 100.5144049192, 98.5490342230, 100.1099203924},
		{100.1099203924, 100.3101402331, 99.5601628022, 99.8615558278},
		{99.7617940338, 100.3504804994, 99.4637010237, 100.0470012237},
		{100.0470012237, 100.9, 99.84529356, 100.7}}
	for _, c := range []struct {
		tick market.Price
		want [][4]float64
		by   float64
	}{{fine / 10, written, 1e-9}, {1, unrounded, 1e-9}} {
		m.tick = c.tick
		for i, got := range surrogate(t, d, p, number, 0)[1:] {
			for k, price := range [...]market.Price{got.Open, got.High, got.Low, got.Close} {
				require.InDelta(t, c.want[i][k], float64(price)/fine, c.by, "candle %d, price %d", i, k)
			}
		}
	}
}

// naive makes a surrogate by logarithms, as it is defined.
func naive(list []market.Candle, drift []float64, mirrored func(market.Time) bool) (made [][4]float64) {
	var g, b, u, w []float64
	before := float64(list[0].Open)
	counted := func(i int) bool {
		c := list[i]
		return i > 0 && (c.Volume != 0 || c.Open != c.High || c.Open != c.Low || c.Open != c.Close)
	}
	mean, number := 0.0, 0.0
	means, numbers := make([]float64, len(drift)), make([]float64, len(drift))
	season := func(i int) int {
		return (int(list[i].Start.Std().Weekday()+6)%7*24 + list[i].Start.Std().Hour()) % len(drift)
	}
	for i, c := range list {
		o, h, l, k := float64(c.Open), float64(c.High), float64(c.Low), float64(c.Close)
		g, b = append(g, math.Log(o/before)), append(b, math.Log(k/o))
		u, w = append(u, math.Log(h/max(o, k))), append(w, math.Log(min(o, k)/l))
		before = k
		if counted(i) {
			means[season(i)] += g[i] + b[i]
			numbers[season(i)]++
		}
	}
	for i := range means {
		means[i] /= max(numbers[i], 1)
	}
	sign := func(i int) float64 {
		if mirrored(list[i].Start) {
			return -1
		}
		return 1
	}
	for i := range list {
		if counted(i) {
			mean, number = mean+sign(i)*(g[i]+b[i]-means[season(i)]), number+1
		}
	}
	at := math.Log(float64(list[0].Open))
	for i := range list {
		s, body := sign(i), b[i]
		if counted(i) {
			body = means[season(i)] + s*(b[i]-means[season(i)]) - mean/number
		}
		open := at + s*g[i]
		at = open + body
		up, down := u[i], w[i]
		if s < 0 {
			up, down = down, up
		}
		made = append(made, [4]float64{math.Exp(open), math.Exp(max(open, at) + up), math.Exp(min(open, at) - down),
			math.Exp(at)})
	}
	return made
}

func TestASurrogateIsThatOfTheNaiveTwin(t *testing.T) {
	for seed := range uint64(20) {
		rules := Rules{Seed: seed, SeasonalDrift: seed%2 == 1}
		if seed%5 == 4 {
			rules.Keep = 4 * time.Hour
		}
		// ticks of 10^7 leave seven decimals of what is unrounded
		w := world{"A-EUR": random(seed, 500, 10_000_000), "B-EUR": random(seed+100, 500, 10_000_000)}
		d, p := w.data(t, rules, market.Interval1h)
		s := d.Surrogate(int(seed), nil)
		for feed, name := range []string{"A-EUR", "B-EUR"} {
			m := d.models[unitsOf(p.Feeds[feed].Market)]
			m.tick = 1
			want := naive(w[name], m.drift, s.mirrored)
			got := surrogate(t, d, p, int(seed), feed)
			require.Len(t, got, len(want))
			for i, c := range got {
				require.NoError(t, c.Check())
				for k, price := range [...]market.Price{c.Open, c.High, c.Low, c.Close} {
					require.InEpsilon(t, want[i][k], float64(price), 1e-9, "seed %d candle %d price %d", seed, i, k)
				}
			}
		}
	}
}

func TestASurrogateKeepsWhatItPromises(t *testing.T) {
	for seed := range uint64(20) {
		w := world{"A-EUR": random(seed, 800, 5), "B-EUR": random(seed+50, 700, 1)}
		d, p := w.data(t, Rules{Seed: seed}, market.Interval1h, market.Interval1d)
		s := d.Surrogate(3, nil)
		laid := lay(s, p)
		for feed := range p.Feeds {
			real, made := read(t, p, feed), read(t, laid, feed)
			require.Len(t, made, len(real))
			for i := range made {
				require.NoError(t, made[i].Check())
				require.Equal(t, real[i].Start, made[i].Start, "holes stay")
				require.Equal(t, real[i].Volume, made[i].Volume)
				require.Equal(t, real[i].Interval, made[i].Interval)
				require.Equal(t, p.Feeds[feed].Market.ID, made[i].Market)
				if feed == 0 {
					require.Zero(t, made[i].Open%5+made[i].High%5+made[i].Low%5+made[i].Close%5, "on the tick")
				}
			}
			require.Equal(t, real[0].Open, made[0].Open)
			require.NotEqual(t, real, made)
		}
		m := d.models[unitsOf(p.Feeds[0].Market)]
		real, made := read(t, p, 0), read(t, laid, 0)
		moved, flat := 0.0, 0.0 // moves over candles without a trade are turned round and not evened out
		for i := 1; i < len(real); i++ {
			if !m.counts(&real[i], 1) && s.mirrored(real[i].Start) {
				flat += 2 * math.Log(float64(real[i].Open)/float64(real[i-1].Close))
			}
			moved += math.Log(float64(made[i].Close) / float64(made[i-1].Close))
		}
		require.InDelta(t, float64(real[len(real)-1].Close), float64(made[len(made)-1].Close)*math.Exp(flat), 20,
			"the last price")
		require.Equal(t, read(t, laid, 1), read(t, lay(s, p), 1), "a second reading")
	}
}

// The sign of a moment depends on seed, number and time alone: one for all markets and ranges.
func TestSignsAreJointOverMarketsAndRanges(t *testing.T) {
	list := random(1, 600, 1)
	long, _ := world{"A-EUR": list, "B-EUR": list}.data(t, Rules{Seed: 7}, market.Interval1h)
	short, _ := world{"A-EUR": list[100:200]}.data(t, Rules{Seed: 7}, market.Interval1h)
	a := long.Surrogate(5, nil)
	b := short.Surrogate(5, nil)
	other := long.Surrogate(6, nil)
	plus, same := 0, 0
	for _, c := range list {
		require.Equal(t, a.mirrored(c.Start), b.mirrored(c.Start))
		if a.mirrored(c.Start) {
			plus++
		}
		if a.mirrored(c.Start) == other.mirrored(c.Start) {
			same++
		}
	}
	require.InDelta(t, len(list)/2, plus, 80)
	require.InDelta(t, len(list)/2, same, 80)
	_, p := world{"A-EUR": list, "B-EUR": list}.data(t, Rules{Seed: 7}, market.Interval1h)
	one, two := surrogate(t, long, p, 5, 0), surrogate(t, long, p, 5, 1)
	for i := range two {
		two[i].Market = one[i].Market
	}
	require.Equal(t, one, two, "equal markets stay equal")
}

// A stretch longer than all data has one sign. Without a mirrored candle, the candles are the data.
func TestSignsThatAllArePlusGiveTheDataBack(t *testing.T) {
	w := world{"A-EUR": random(3, 900, 5), "B-EUR": random(4, 900, 1)}
	d, p := w.data(t, Rules{Keep: 365_000 * time.Hour * 2}, market.Interval1h, market.Interval4h)
	for number := 0; ; number++ {
		s := d.Surrogate(number, nil)
		if s.mirrored(beginning) {
			continue
		}
		for feed := range p.Feeds {
			real, made := read(t, p, feed), surrogate(t, d, p, number, feed)
			for i := range real {
				real[i].Market = p.Feeds[feed].Market.ID
			}
			require.Equal(t, real, made)
		}
		return
	}
}

func TestASurrogateIsTheSameReadFromMemoryAndAnew(t *testing.T) {
	w := world{"A-EUR": random(3, 900, 5), "B-EUR": random(4, 900, 1)}
	d, p := w.data(t, Rules{}, market.Interval1h, market.Interval4h, market.Interval1d)
	p.From += 100 * hour
	p.To = beginning + 801*hour
	var kept [][]market.Candle
	for feed := range p.Feeds {
		kept = append(kept, surrogate(t, d, p, 9, feed))
	}
	d.kept = false
	for feed := range p.Feeds {
		require.Equal(t, kept[feed], surrogate(t, d, p, 9, feed))
	}
}

func TestDataThatNoSurrogateCanBeMadeOf(t *testing.T) {
	list := random(1, 500, 1)
	for _, c := range []struct {
		want      string
		rules     Rules
		intervals []market.Interval
		change    func(*backtest.Plan)
	}{
		{"what is kept must be whole candles: -1s is negative", Rules{Keep: -time.Second}, nil, nil},
		{"15m0s is no multiple of the candles' 1h", Rules{Keep: 15 * time.Minute}, nil, nil},
		{"candles of 1W do not make candles of 1M", Rules{},
			[]market.Interval{market.Interval1W, market.Interval1M}, nil},
		{"there are no candles", Rules{}, nil, func(p *backtest.Plan) { p.Feeds = nil }},
		{"candles of A-EUR 1d begin at 2023-12-31T00:00:00Z, and those of 1h at 2024-01-01T00:00:00Z", Rules{},
			[]market.Interval{market.Interval1h, market.Interval1d}, func(p *backtest.Plan) {
				p.From -= 48 * hour
				open := p.Open
				p.Open = func(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
					if f.Interval == market.Interval1d {
						return &once{[]market.Candle{{Start: beginning - 24*hour}}}, nil
					}
					return open(f, from, to)
				}
			}},
	} {
		d, err := NewData(c.rules)
		if c.intervals == nil {
			c.intervals = []market.Interval{market.Interval1h}
		}
		p := world{"A-EUR": list}.plan(c.intervals...)
		if c.change != nil {
			c.change(p)
		}
		if err == nil {
			err = d.Note(p)
		}
		if err == nil {
			err = d.Read(p.From)
		}
		require.ErrorContains(t, err, c.want)
	}
	d, p := world{"A-EUR": list}.data(t, Rules{}, market.Interval1h)
	s := d.Surrogate(1, nil)
	p.Feeds[0].Interval = market.Interval1m
	_, err := lay(s, p).Open(p.Feeds[0], 0, 0)
	require.ErrorContains(t, err, "wants A-EUR 1m, which the search on the data did not")
}

func BenchmarkSurrogate(b *testing.B) {
	const candles = 26_000
	w := world{"A-EUR": random(1, candles, 1)}
	d, err := NewData(Rules{})
	require.NoError(b, err)
	p := w.plan(market.Interval1h)
	require.NoError(b, d.Note(p))
	require.NoError(b, d.Read(p.From))
	var s *Surrogate
	number := 0
	for b.Loop() {
		number++
		s = d.Surrogate(number, s)
		source, err := lay(s, p).Open(p.Feeds[0], 0, 0)
		require.NoError(b, err)
		_, err = drain(source)
		require.ErrorIs(b, err, io.EOF)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(d.Candles()), "ns/candle")
}
