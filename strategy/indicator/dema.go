package indicator

import "github.com/tidemark-trading/tidemark/market"

// RMA is Wilder's moving average, of weight 1/n, which starts with the simple average of the first
// n prices: the average inside RSI, ATR and ADX.
type RMA struct {
	line
	smooth smooth
}

// NewRMA returns an average of n prices. It panics where n is below 1.
func NewRMA(n int) RMA { return RMA{smooth: wilder(n)} }

// Push takes the next price.
func (r *RMA) Push(p market.Price) {
	r.smooth.push(float64(p))
	r.level = Level(r.smooth.value)
}

// Ready reports whether n prices were pushed.
func (r *RMA) Ready() bool { return r.smooth.ready() }

// Warmup is about 6.9·n.
func (r *RMA) Warmup() int { return r.smooth.warmup() }

// DEMA is the double exponential moving average: twice an EMA less the EMA of it, which lags less.
type DEMA struct {
	line
	chain [2]smooth
}

// NewDEMA returns an average of n prices. It panics where n is below 1.
func NewDEMA(n int) DEMA { return DEMA{chain: [2]smooth{exponential(n), exponential(n)}} }

// Push takes the next price.
func (d *DEMA) Push(p market.Price) {
	cascade(d.chain[:], float64(p))
	d.level = Level(2*d.chain[0].value - d.chain[1].value)
}

// Ready reports whether 2·n−1 prices were pushed.
func (d *DEMA) Ready() bool { return d.chain[1].ready() }

// Warmup is about 4.6·n.
func (d *DEMA) Warmup() int { return chained(&d.chain[0], &d.chain[1]) }

// TEMA is the triple exponential moving average: three times the difference of an EMA and the EMA
// of it, plus the EMA of that.
type TEMA struct {
	line
	chain [3]smooth
}

// NewTEMA returns an average of n prices. It panics where n is below 1.
func NewTEMA(n int) TEMA {
	return TEMA{chain: [3]smooth{exponential(n), exponential(n), exponential(n)}}
}

// Push takes the next price.
func (t *TEMA) Push(p market.Price) {
	cascade(t.chain[:], float64(p))
	t.level = Level(3*(t.chain[0].value-t.chain[1].value) + t.chain[2].value)
}

// Ready reports whether 3·n−2 prices were pushed.
func (t *TEMA) Ready() bool { return t.chain[2].ready() }

// Warmup is about 5.6·n.
func (t *TEMA) Warmup() int { return chained(&t.chain[0], &t.chain[1], &t.chain[2]) }

// TRIX is by how many percent a triple exponential average (an EMA of an EMA of an EMA) has risen
// with the last price.
type TRIX struct {
	chain [3]smooth
	value float64
	ready bool
}

// NewTRIX returns an oscillator whose averages are over n prices; 15 is usual. It panics where n is
// below 1.
func NewTRIX(n int) TRIX {
	return TRIX{chain: [3]smooth{exponential(n), exponential(n), exponential(n)}}
}

// Push takes the next price, which must be positive.
func (t *TRIX) Push(p market.Price) {
	was := t.chain[2].value
	t.ready = t.chain[2].ready()
	if cascade(t.chain[:], float64(p)); t.ready {
		t.value = percent(t.chain[2].value-was, was)
	}
}

// Ready reports whether 3·n−1 prices were pushed.
func (t *TRIX) Ready() bool { return t.ready }

// Value is the rise in percent.
func (t *TRIX) Value() float64 { return t.value }

// Warmup is about 5.6·n.
func (t *TRIX) Warmup() int { return 1 + chained(&t.chain[0], &t.chain[1], &t.chain[2]) }
