package indicator

import "github.com/tidemark-trading/tidemark/market"

// OBV is the on-balance volume: the volume of candles that closed higher less that of candles that
// closed lower, since the first one, whose volume counts as a rise. It never forgets its start:
// look at how it changes (Slope, LineCross), not at the number.
type OBV struct {
	sum  int128
	last market.Price
}

// NewOBV returns an on-balance volume.
func NewOBV() OBV { return OBV{} }

// Push takes the next candle.
func (o *OBV) Push(c market.Candle) {
	switch {
	case c.Close > o.last:
		o.sum = o.sum.plus(wide(c.Volume))
	case c.Close < o.last:
		o.sum = o.sum.minus(wide(c.Volume))
	}
	o.last = c.Close
}

// Ready reports whether a candle was pushed.
func (o *OBV) Ready() bool { return o.last != 0 }

// Value is the sum, in units of 10^-Market.VolumeDigits of the base asset.
func (o *OBV) Value() float64 { return o.sum.float() }

// Warmup is 1: from then on its changes are right.
func (o *OBV) Warmup() int { return 1 }

// MFI is the money flow index over n candles, from 0 to 100: the flow (typical price times volume)
// of candles whose typical price rose, as a part of the flow of all whose typical price changed.
type MFI struct {
	ring     ring[flow]
	up, down int128
	last     market.Price
	seen     int // up to n+1
	limit    limit
}

// flow is that of a candle, up or down.
type flow struct {
	up, down int128
}

// NewMFI returns an index over n candles; 14 is usual. It panics where n is below 1.
func NewMFI(n int) MFI { return MFI{ring: newRing[flow](n), limit: room(3 * n)} }

// Push takes the next candle. It panics if the sum of 3·n such prices overflows an int64.
func (m *MFI) Push(c market.Candle) {
	m.limit.hold(c.High)
	price, last := typical3(c), m.last
	m.last = price
	if m.seen++; m.seen == 1 {
		return
	}
	m.seen = min(m.seen, len(m.ring.list)+1)
	var now flow
	switch {
	case price > last:
		now.up = product(price, c.Volume)
	case price < last:
		now.down = product(price, c.Volume)
	}
	old := m.ring.push(now)
	m.up, m.down = m.up.plus(now.up).minus(old.up), m.down.plus(now.down).minus(old.down)
}

// Ready reports whether n+1 candles were pushed.
func (m *MFI) Ready() bool { return m.ring.full }

// Value is the index, 50 where nothing flowed.
func (m *MFI) Value() float64 {
	up, down := m.up.float(), m.down.float()
	if up+down == 0 {
		return 50
	}
	return percent(up, up+down)
}

// Warmup is n+1.
func (m *MFI) Warmup() int { return len(m.ring.list) + 1 }

// AccDist is the accumulation/distribution line: the sum of volumes, each weighted by where in its
// candle the close lies, from −1 (at the low) to 1 (at the high). It never forgets its start: look
// at how it changes.
type AccDist struct {
	sum   float64
	ready bool
}

// NewAccDist returns a line.
func NewAccDist() AccDist { return AccDist{} }

// Push takes the next candle.
func (a *AccDist) Push(c market.Candle) { a.sum, a.ready = a.sum+moneyFlow(c), true }

// Ready reports whether a candle was pushed.
func (a *AccDist) Ready() bool { return a.ready }

// Value is the sum, in units of 10^-Market.VolumeDigits of the base asset.
func (a *AccDist) Value() float64 { return a.sum }

// Warmup is 1: from then on its changes are right.
func (a *AccDist) Warmup() int { return 1 }

// moneyFlow is the volume, weighted by the place of the close in its candle; 0 where that has no
// range.
func moneyFlow(c market.Candle) float64 {
	return part(float64((c.Close-c.Low)-(c.High-c.Close)), float64(c.High-c.Low)) * float64(c.Volume)
}

// Chaikin is the Chaikin oscillator: a fast EMA of the accumulation/distribution line less a slow
// one.
type Chaikin struct {
	line       AccDist
	fast, slow smooth
}

// NewChaikin returns an oscillator; 3 and 10 are usual. It panics where a length is below 1.
func NewChaikin(fast, slow int) Chaikin {
	return Chaikin{AccDist{}, exponential(fast), exponential(slow)}
}

// Push takes the next candle.
func (o *Chaikin) Push(c market.Candle) {
	o.line.Push(c)
	o.fast.push(o.line.sum)
	o.slow.push(o.line.sum)
}

// Ready reports whether both averages have their start.
func (o *Chaikin) Ready() bool { return o.fast.ready() && o.slow.ready() }

// Value is the distance between the averages, in units of volume.
func (o *Chaikin) Value() float64 { return o.fast.value - o.slow.value }

// Warmup is that of the longer average, and the candles in which both have their start.
func (o *Chaikin) Warmup() int { return max(o.fast.warmup(), o.slow.warmup()) }

// CMF is Chaikin's money flow: the change of the accumulation/distribution line over n candles ÷
// their volume, from −1 to 1.
type CMF struct {
	flow    mean
	volumes ring[market.Volume]
	traded  int128 // Σ of volumes
}

// NewCMF returns an indicator over n candles; 20 is usual. It panics where n is below 1.
func NewCMF(n int) CMF { return CMF{flow: newMean(n), volumes: newRing[market.Volume](n)} }

// Push takes the next candle.
func (f *CMF) Push(c market.Candle) {
	f.flow.push(moneyFlow(c))
	f.traded = f.traded.plus(wide(c.Volume)).minus(wide(f.volumes.push(c.Volume)))
}

// Ready reports whether n candles were pushed.
func (f *CMF) Ready() bool { return f.flow.full }

// Value is the flow, 0 where nothing was traded.
func (f *CMF) Value() float64 { return part(f.flow.sum, f.traded.float()) }

// Warmup is n.
func (f *CMF) Warmup() int { return len(f.flow.list) }
