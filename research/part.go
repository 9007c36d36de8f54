package research

import (
	"math"

	"github.com/tidemark-trading/tidemark/research/stats"
)

// Part computes the figures of parts of daily returns that some formulas need: Sharpe, Sortino,
// Calmar, return, CAGR, volatility, drawdown and days, as a backtest has them; the others are NaN.
// The drawdown is that of the days' last closes: what fell and rose again within a day is not in
// it.
type Part struct {
	figures Figures
	places  []int // of the figures that the formulas need
	deep    bool  // they need the drawdown

	returns           []float64
	from, to          int // what the sums are about
	sum, square, down float64
	growth            float64
	peak, depth       float64
}

// NewPart is for formulas.
func NewPart(formulas ...*Formula) *Part {
	p := &Part{figures: make(Figures, len(figureTable))}
	for _, f := range formulas {
		for _, name := range f.names() {
			p.places = append(p.places, placeOf(name))
			p.deep = p.deep || name == "drawdown" || name == "calmar"
		}
	}
	for i := range p.figures {
		p.figures[i] = math.NaN()
	}
	return p
}

// Of turns to other returns. They must not change before the next call.
func (p *Part) Of(returns []float64) {
	p.returns = returns
	p.begin(0)
}

func (p *Part) begin(from int) {
	p.from, p.to = from, from
	p.sum, p.square, p.down, p.growth, p.peak, p.depth = 0, 0, 0, 1, 1, 0
}

// Figures are those of the returns from a place up to another one, which is not among them. They
// are valid until the next call. A part that only goes on further than the one before costs the
// days in between.
func (p *Part) Figures(from, to int) Figures {
	if from != p.from || to < p.to {
		p.begin(from)
	}
	sum, square, down, growth, peak, depth := p.sum, p.square, p.down, p.growth, p.peak, p.depth
	for _, x := range p.returns[p.to:to] {
		sum += x
		square += x * x
		growth *= 1 + x
		low := min(x, 0)
		down += low * low
		if p.deep {
			peak = max(peak, growth)
			depth = max(depth, 1-growth/peak)
		}
	}
	p.sum, p.square, p.down, p.growth, p.peak, p.depth = sum, square, down, growth, peak, depth
	p.to = to
	for _, at := range p.places {
		p.figures[at] = p.figure(figureTable[at].name, float64(to-from))
	}
	return p.figures
}

// flat is the smallest variance, as a part of the mean square, that is more than rounding.
const flat = 1e-12

// figure is one of the figures of n days.
func (p *Part) figure(name string, n float64) float64 {
	if name == "days" {
		return n
	}
	if n == 0 {
		return math.NaN()
	}
	year, mean := math.Sqrt(stats.DaysPerYear), p.sum/n
	variance := (p.square - p.sum*mean) / (n - 1)
	if variance <= flat*p.square {
		variance = math.NaN()
	}
	switch name {
	case "sharpe":
		return mean / math.Sqrt(variance) * year
	case "sortino":
		return mean / math.Sqrt(p.down/n) * year
	case "volatility":
		return math.Sqrt(variance) * year
	case "return":
		return p.growth - 1
	case "cagr":
		return math.Pow(p.growth, 365.25/n) - 1
	case "calmar":
		return (math.Pow(p.growth, 365.25/n) - 1) / p.depth
	case "drawdown":
		return p.depth
	}
	return math.NaN()
}
