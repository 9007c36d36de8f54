package indicator

import "github.com/tidemark-trading/tidemark/market"

// CMO is Chande's momentum oscillator: the moves up less the moves down of the last n closes, in
// percent of all moves, from −100 to 100.
type CMO struct {
	up, down total
	last     market.Price
	limit    limit
}

// NewCMO returns an oscillator over n changes; 9 is usual. It panics where n is below 1.
func NewCMO(n int) CMO { return CMO{up: newTotal(n), down: newTotal(n), limit: room(2 * n)} }

// Push takes the next close, which must be positive. It panics where 2·n such prices leave an
// int64.
func (o *CMO) Push(p market.Price) {
	o.limit.hold(p)
	last := o.last
	if o.last = p; last != 0 {
		o.up.push(max(p-last, 0))
		o.down.push(max(last-p, 0))
	}
}

// Ready reports whether n+1 closes were pushed.
func (o *CMO) Ready() bool { return o.up.full }

// Value is the oscillator, 0 where nothing moved.
func (o *CMO) Value() float64 {
	return percent(float64(o.up.sum-o.down.sum), float64(o.up.sum+o.down.sum))
}

// Warmup is n+1.
func (o *CMO) Warmup() int { return len(o.up.list) + 1 }

// Awesome is Williams' awesome oscillator: a fast simple average of the middles (high+low) ÷ 2 less
// a slow one.
type Awesome struct {
	fast, slow total // of high+low
	limit      limit
}

// NewAwesome returns an oscillator; 5 and 34 are usual. It panics where a length is below 1.
func NewAwesome(fast, slow int) Awesome {
	return Awesome{newTotal(fast), newTotal(slow), room(2 * max(fast, slow))}
}

// Push takes the next candle. It panics where twice as many such prices as the longer length leave
// an int64.
func (o *Awesome) Push(c market.Candle) {
	o.limit.hold(c.High)
	o.fast.push(c.High + c.Low)
	o.slow.push(c.High + c.Low)
}

// Ready reports whether both windows are full.
func (o *Awesome) Ready() bool { return o.fast.full && o.slow.full }

// Value is the distance between the averages.
func (o *Awesome) Value() float64 { return (o.fast.mean() - o.slow.mean()) / 2 }

// Warmup is the longer length.
func (o *Awesome) Warmup() int { return max(len(o.fast.list), len(o.slow.list)) }

// Vortex compares how far candles reach beyond the one before them, up and down, over n candles.
// Where Plus crosses above Minus, a rise begins.
type Vortex struct {
	plus, minus, reach total
	last               market.Candle
	limit              limit
}

// NewVortex returns an indicator over n candles; 14 is usual. It panics where n is below 1.
func NewVortex(n int) Vortex {
	return Vortex{plus: newTotal(n), minus: newTotal(n), reach: newTotal(n), limit: room(n)}
}

// Push takes the next candle. It panics where n such prices leave an int64.
func (v *Vortex) Push(c market.Candle) {
	v.limit.hold(c.High)
	last := v.last
	if v.last = c; last.Close == 0 {
		return
	}
	v.plus.push(distance(c.High, last.Low))
	v.minus.push(distance(c.Low, last.High))
	v.reach.push(trueRange(c, last.Close))
}

// Ready reports whether n+1 candles were pushed.
func (v *Vortex) Ready() bool { return v.reach.full }

// Plus is the distance of highs from the lows before them ÷ the true ranges, 0 where these are 0.
func (v *Vortex) Plus() float64 { return v.of(&v.plus) }

// Minus is the distance of lows from the highs before them ÷ the true ranges.
func (v *Vortex) Minus() float64 { return v.of(&v.minus) }

func (v *Vortex) of(moves *total) float64 { return part(float64(moves.sum), float64(v.reach.sum)) }

// Warmup is n+1.
func (v *Vortex) Warmup() int { return len(v.reach.list) + 1 }

// Ultimate is Williams' ultimate oscillator, from 0 to 100: buying pressure (close less true low) ÷
// true range, over three lengths. The shortest has weight 4, the second 2, the longest 1.
type Ultimate struct {
	pressure, reach [3]total
	last            market.Price
	limit           limit
}

// NewUltimate returns an oscillator over three lengths; 7, 14 and 28 are usual. It panics where one
// is below 1.
func NewUltimate(short, middle, long int) Ultimate {
	o := Ultimate{limit: room(max(short, middle, long))}
	for i, n := range [3]int{short, middle, long} {
		o.pressure[i], o.reach[i] = newTotal(n), newTotal(n)
	}
	return o
}

// Push takes the next candle. It panics where as many such prices as the longest length leave an
// int64.
func (o *Ultimate) Push(c market.Candle) {
	o.limit.hold(c.High)
	last := o.last
	if o.last = c.Close; last == 0 {
		return
	}
	for i := range o.reach {
		o.pressure[i].push(c.Close - min(c.Low, last))
		o.reach[i].push(trueRange(c, last))
	}
}

// Ready reports whether one candle more than the longest length was pushed.
func (o *Ultimate) Ready() bool { return o.reach[0].full && o.reach[1].full && o.reach[2].full }

// Value is the oscillator. A length whose candles have no range counts 0.
func (o *Ultimate) Value() float64 {
	sum := 0.0
	for i, weight := range [3]float64{4, 2, 1} {
		sum += float64(weight * part(float64(o.pressure[i].sum), float64(o.reach[i].sum)))
	}
	return 100 * (sum / 7)
}

// Warmup is the longest length and one.
func (o *Ultimate) Warmup() int {
	return 1 + max(len(o.reach[0].list), len(o.reach[1].list), len(o.reach[2].list))
}

// TSI is Blau's true strength index: the change of the close, averaged by an EMA and by an EMA of
// it, in percent of the same averages of the absolute change; from −100 to 100.
type TSI struct {
	change, size [2]smooth
	last         market.Price
}

// NewTSI returns an index; 25 and 13 are usual. It panics where a length is below 1.
func NewTSI(long, short int) TSI {
	averages := [2]smooth{exponential(long), exponential(short)}
	return TSI{change: averages, size: averages}
}

// Push takes the next close, which must be positive.
func (x *TSI) Push(p market.Price) {
	last := x.last
	if x.last = p; last != 0 {
		cascade(x.change[:], float64(p-last))
		cascade(x.size[:], float64(distance(p, last)))
	}
}

// Ready reports whether long+short closes were pushed.
func (x *TSI) Ready() bool { return x.size[1].ready() }

// Value is the index, 0 where the price stands still.
func (x *TSI) Value() float64 {
	if x.size[1].value <= still*float64(x.last) {
		return 0
	}
	return 100 * (x.change[1].value / x.size[1].value)
}

// Warmup is that of an average of averages: 81 for 25 and 13.
func (x *TSI) Warmup() int { return 1 + chained(&x.size[0], &x.size[1]) }

// total is the sum of a window of prices.
type total struct {
	ring[market.Price]
	sum market.Price
}

func newTotal(n int) total { return total{ring: newRing[market.Price](n)} }

func (t *total) push(p market.Price) { t.sum += p - t.ring.push(p) }

func (t *total) mean() float64 { return float64(t.sum) / float64(len(t.list)) }

// part is a ÷ all, 0 where all is 0.
func part(a, all float64) float64 {
	if all == 0 {
		return 0
	}
	return a / all
}
