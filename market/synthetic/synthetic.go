// Package synthetic makes up candles that behave like a market's: fat tails, calm and wild spells,
// trends, jumps, missing candles and a daily rhythm of volume. It never claims that they are real,
// and never reads a clock: a seed gives the same candles on every machine. Start at New, or at
// BTCEUR for three ready years.
//
// Ordering invariant: the random draws of a candle are made in a fixed order and in a fixed number
// of sequences, so a change there changes every series.
//
// Only +, −, ×, ÷ and square root are used on floats, which IEEE 754 fixes to the last bit, and
// every product is converted explicitly before it is added to something, which forbids the compiler
// to fuse the two on machines that could.
package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tidemark-trading/tidemark/market"
)

// Config describes a made-up market. Zero fields take the value named beside them.
type Config struct {
	Seed     uint64
	Market   *market.Market // gives ID, PriceDigits and VolumeDigits; must be set
	Interval market.Interval
	Start    market.Time   // of the first candle; rounded down to a start
	First    market.Price  // first open; must be positive
	Volume   market.Volume // of an average candle; must be positive

	// Low and High are a band that the price is drawn back to when it leaves it: ⅓ and 3 times
	// First. It can go beyond.
	Low, High market.Price

	DailyVolatility float64 // standard deviation of a day's return: 0.03
	GapChance       float64 // probability that candles are missing before a candle: 0.0006; below 0: never
	JumpChance      float64 // probability that the open jumps away from the last close: 0.002; below 0: never
}

// Generator makes one candle after another.
type Generator struct {
	config Config
	random *rand.Rand
	index  int64 // of the next candle

	price    float64 // last close, in units of Price
	variance float64 // of the next return, times that of the long run
	drift    float64 // of a return, in standard deviations of a candle
	spell    int64   // candles left of the present trend
	sigma    float64 // standard deviation of a candle's return in the long run
	perDay   float64 // candles a day
	weight   [24]float64
}

// hours is the share of a day's volume that each UTC hour takes, in thousandths: quiet nights,
// busiest when Europe and America are both awake.
var hours = [24]int64{33, 29, 26, 24, 23, 24, 28, 36, 43, 45, 44, 43, 44, 52, 62, 65, 61, 54, 49, 46, 45, 44, 42, 38}

// New checks the config and returns a generator that stands before the first candle.
func New(config Config) (*Generator, error) {
	c := config.withDefaults()
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("synthetic candles: %w", err)
	}
	g := &Generator{config: c, random: rand.New(rand.NewPCG(c.Seed, 0x7469_6465_6d61_726b)),
		index: c.Interval.Index(c.Start), price: float64(c.First), variance: 1}
	g.perDay = float64(24*3600) / (float64(g.length()) / 1e9)
	g.sigma = c.DailyVolatility / math.Sqrt(g.perDay)
	for hour, share := range hours {
		g.weight[hour] = float64(share) * 24 / 1000
	}
	return g, nil
}

func (c Config) withDefaults() Config {
	if c.Low == 0 && c.High == 0 {
		c.Low, c.High = max(1, c.First/3), c.First*3
	}
	c.DailyVolatility = orDefault(c.DailyVolatility, 0.03)
	c.GapChance = orDefault(c.GapChance, 0.0006)
	c.JumpChance = orDefault(c.JumpChance, 0.002)
	return c
}

func orDefault(value, standard float64) float64 {
	if value == 0 {
		return standard
	}
	return value
}

// maxPrice keeps every price, spikes included, exact in a float and far from the end of int64.
const maxPrice = 1 << 50

func (c *Config) check() error {
	switch {
	case c.Market == nil || c.Interval < market.Interval1m || c.Interval > market.Interval1M:
		return fmt.Errorf("want a market and an interval")
	case c.First <= 0 || c.Volume <= 0 || c.Volume > maxPrice:
		return fmt.Errorf("first price %d and average volume %d must be positive, volume at most 2^50", c.First,
			c.Volume)
	case c.Low <= 0 || c.High < c.Low || c.First > maxPrice || c.High > maxPrice:
		return fmt.Errorf("band %d to %d and first price %d: want 0 < low ≤ high, all at most 2^50", c.Low, c.High,
			c.First)
	case !(c.DailyVolatility > 0 && c.DailyVolatility <= 0.5):
		return fmt.Errorf("daily volatility %g: want one above 0 and 0.5 at most", c.DailyVolatility)
	case !(c.GapChance < 1) || !(c.JumpChance < 1):
		return fmt.Errorf("gap chance %g, jump chance %g: want them below 1", c.GapChance, c.JumpChance)
	}
	return nil
}

// length is the interval's length, months counted as thirty days.
func (g *Generator) length() market.Duration {
	if length := g.config.Interval.Fixed(); length != 0 {
		return length
	}
	return 30 * market.Interval1d.Fixed()
}

// Next writes the next candle into c; every field is set. Candles come in order of time and pass
// market.Candle.Check.
func (g *Generator) Next(c *market.Candle) {
	g.index += g.missing()
	g.trend()
	open := g.jump(g.price)
	scale := g.sigma * math.Sqrt(g.variance)
	step := float64(g.drift*g.sigma) + float64(scale*g.student()) + g.pull(open)
	step = min(0.2, max(-0.2, step))
	last := open + float64(open*step)
	reach := open * scale
	high := max(open, last) + float64(reach*g.wick())
	low := min(open, last) - float64(reach*g.wick())
	g.cluster(step)

	*c = market.Candle{Start: g.config.Interval.StartOf(g.index), Market: g.config.Market.ID,
		Interval: g.config.Interval}
	c.Open, c.Close = units(open), units(last)
	c.High, c.Low = max(units(high), c.Open, c.Close), min(units(low), c.Open, c.Close)
	c.Volume = g.volume(c.Start, step)
	g.price = float64(c.Close)
	g.index++
}

// units rounds to a whole price of at least one.
func units(x float64) market.Price { return market.Price(max(1, math.Floor(min(x, 2*maxPrice)+0.5))) }

// missing draws how many candles are left out: mostly one or two, now and then an outage.
func (g *Generator) missing() int64 {
	chance, length := g.random.Float64(), g.random.Float64()
	switch {
	case chance >= g.config.GapChance:
		return 0
	case length < 0.7:
		return 1 + int64(length*3)
	}
	return 3 + int64((length-0.7)*20)
}

// trend draws a new drift when the present spell is over: one to three months up, down or sideways.
func (g *Generator) trend() {
	if g.spell--; g.spell >= 0 {
		return
	}
	g.spell = int64(g.perDay*(30+float64(60*g.random.Float64()))) + 1
	perDay := float64(0.16*g.random.Float64()) - 0.07
	g.drift = perDay / math.Sqrt(g.perDay)
}

// jump moves the open away from the last close: a little always, far now and then.
func (g *Generator) jump(last float64) float64 {
	chance, size := g.random.Float64(), g.student()
	width := g.sigma * 0.05
	if chance < g.config.JumpChance {
		width = g.sigma * 1.5
	}
	return max(1, last+float64(last*min(0.2, max(-0.2, width*size))))
}

// pull draws a price outside the band back, the stronger the farther, over about a month.
func (g *Generator) pull(price float64) float64 {
	low, high := float64(g.config.Low), float64(g.config.High)
	switch {
	case price < low:
		return (low - price) / price / (30 * g.perDay) * 2
	case price > high:
		return (high - price) / price / (30 * g.perDay) * 2
	}
	return 0
}

// cluster updates the variance: what was wild stays wild for a while (a GARCH(1,1) process).
func (g *Generator) cluster(step float64) {
	shock := step / g.sigma
	g.variance = 0.02 + float64(0.08*min(shock*shock, 60)) + float64(0.90*g.variance)
	g.variance = min(g.variance, 40)
}

// student draws from Student's t with four degrees of freedom, scaled to a variance of one, by
// Bailey's polar method.
func (g *Generator) student() float64 {
	for {
		u, v := 2*g.random.Float64()-1, 2*g.random.Float64()-1
		w := float64(u*u) + float64(v*v)
		if w > 0 && w <= 1 {
			return u * math.Sqrt(2*(1/math.Sqrt(w)-1)/w)
		}
	}
}

// wick draws how far a candle reaches beyond its body, in standard deviations: never negative, 0.45
// on average.
func (g *Generator) wick() float64 {
	u, v := g.random.Float64(), g.random.Float64()
	return 1.8 * u * v
}

// volume draws a volume: the hour's share, quiet weekends, more when the price moves.
func (g *Generator) volume(start market.Time, step float64) market.Volume {
	u, v := g.random.Float64(), g.random.Float64()
	moved := math.Sqrt(float64(step*step)) / g.sigma
	size := float64(g.config.Volume) * (0.3 + float64(1.5*u*v)) * (0.6 + float64(0.5*min(moved, 12)))
	if g.length() < market.Interval1d.Fixed() {
		hour := (market.Interval1h.Index(start)%24 + 24) % 24
		size *= g.weight[hour]
		if day := (start.Day()%7 + 7) % 7; day == 2 || day == 3 { // 1970-01-01 was a Thursday
			size *= 0.6
		}
	}
	return market.Volume(math.Floor(min(size, 1<<60)))
}
