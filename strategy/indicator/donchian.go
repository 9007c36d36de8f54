package indicator

import "github.com/tidemark-trading/tidemark/market"

// Donchian is the channel between the lowest low and the highest high of the last n candles.
type Donchian struct{ channel channel[market.Price] }

// NewDonchian returns a channel over n candles. It panics where n is below 1.
func NewDonchian(n int) Donchian { return Donchian{newChannel[market.Price](n)} }

// Push takes the next candle. To compare a candle with those before it, read the channel first.
func (d *Donchian) Push(c market.Candle) { d.channel.push(c.High, c.Low) }

// Ready reports whether n candles were pushed.
func (d *Donchian) Ready() bool { return d.channel.ready() }

// High is the highest high, 0 before the first candle.
func (d *Donchian) High() market.Price { return d.channel.highs.top() }

// Low is the lowest low, 0 before the first candle.
func (d *Donchian) Low() market.Price { return -d.channel.lows.top() }

// Middle is the mean of both.
func (d *Donchian) Middle() Level { return (Level(d.High()) + Level(d.Low())) / 2 }

// Warmup is n.
func (d *Donchian) Warmup() int { return d.channel.n }

// channel is the highest and the lowest of a window.
type channel[T market.Price | float64] struct {
	highs, lows ladder[T] // lows: of the negative values
	n, seen     int
}

func newChannel[T market.Price | float64](n int) channel[T] {
	return channel[T]{highs: newLadder[T](n), lows: newLadder[T](n), n: n}
}

func (x *channel[T]) push(high, low T) {
	x.highs.push(high, x.seen-x.n)
	x.lows.push(-low, x.seen-x.n)
	x.seen++
}

func (x *channel[T]) ready() bool { return x.seen >= x.n }

// place is where a value lies between the lowest and the highest, from 0 to 100, 50 where all are
// equal.
func (x *channel[T]) place(at T) float64 {
	low := -x.lows.top()
	reach := x.highs.top() - low
	if reach <= 0 {
		return 50
	}
	return percent(float64(at-low), float64(reach))
}

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
