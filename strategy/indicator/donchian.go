package indicator

import "github.com/tidemark-trading/tidemark/market"

// Donchian is the channel between the lowest low and the highest high of the last n candles.
type Donchian struct {
	highs, lows ladder
	n, seen     int
}

// NewDonchian returns a channel over n candles. It panics where n is below 1.
func NewDonchian(n int) Donchian {
	return Donchian{highs: newLadder(window(n)), lows: newLadder(n), n: n}
}

// Push takes the next candle. To compare a candle with those before it, read the channel first.
func (d *Donchian) Push(c market.Candle) {
	d.highs.push(c.High, d.seen-d.n)
	d.lows.push(-c.Low, d.seen-d.n)
	d.seen++
}

// Ready reports whether n candles were pushed.
func (d *Donchian) Ready() bool { return d.seen >= d.n }

// High is the highest high, 0 before the first candle.
func (d *Donchian) High() market.Price { return d.highs.top() }

// Low is the lowest low, 0 before the first candle.
func (d *Donchian) Low() market.Price { return -d.lows.top() }

// Middle is the mean of both.
func (d *Donchian) Middle() Level { return (Level(d.High()) + Level(d.Low())) / 2 }

// Warmup is n.
func (d *Donchian) Warmup() int { return d.n }

// Chandelier is a pair of stops at a distance of k average true ranges from the highest high and
// the lowest low of the last n candles.
type Chandelier struct {
	channel Donchian
	reach   ATR
	k       float64
}

// NewChandelier returns the stops over n candles, whose ATR has the same length; 22 and 3 are
// usual. It panics where n is below 1.
func NewChandelier(n int, k float64) Chandelier { return Chandelier{NewDonchian(n), NewATR(n), k} }

// Push takes the next candle.
func (x *Chandelier) Push(c market.Candle) {
	x.channel.Push(c)
	x.reach.Push(c)
}

// Ready reports whether n candles were pushed.
func (x *Chandelier) Ready() bool { return x.channel.Ready() }

// Long is the highest high less k ranges: the stop of a position that was bought.
func (x *Chandelier) Long() Level { return Level(x.channel.High()) - Level(x.k*x.reach.Value()) }

// Short is the lowest low plus k ranges: the stop of a position that was sold. A close above it
// ends a fall.
func (x *Chandelier) Short() Level { return Level(x.channel.Low()) + Level(x.k*x.reach.Value()) }

// Warmup is that of the ATR.
func (x *Chandelier) Warmup() int { return x.reach.Warmup() }
