package indicator

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// session tells the UTC days of candles apart.
type session struct {
	day    int64
	seen   bool
	began  bool // the first candle of this day was pushed
	daily  int  // candles of a day
	before bool // that of the day before was, too
}

func newSession(i market.Interval) session {
	s := session{daily: 1}
	if fixed := time.Duration(i.Fixed()); fixed > 0 && fixed < 24*time.Hour {
		s.daily = int(24 * time.Hour / fixed)
	}
	return s
}

// push reports whether a candle is the first of its day.
func (s *session) push(c market.Candle) (first bool) {
	day, seen := c.Start.Day(), s.seen
	if seen && day == s.day {
		return false
	}
	s.before, s.began = s.began, seen || c.Start == market.Time(day*int64(24*time.Hour))
	s.day, s.seen = day, true
	return true
}

// SessionVWAP is the average price of a UTC day so far, weighted by volume; a candle's price is
// (high+low+close) ÷ 3. It is 0 where nothing was traded.
type SessionVWAP struct {
	line
	session session
	value   int128 // Σ price·volume
	volume  int128
	limit   limit
}

// NewSessionVWAP returns an average over the candles of a day, which have this interval.
func NewSessionVWAP(i market.Interval) SessionVWAP {
	s := newSession(i)
	return SessionVWAP{session: s, limit: room(3 * s.daily)}
}

// Push takes the next candle. It panics where three such prices of each candle of a day leave an
// int64.
func (v *SessionVWAP) Push(c market.Candle) {
	v.limit.hold(c.High)
	if v.session.push(c) {
		v.value, v.volume = int128{}, int128{}
	}
	v.value, v.volume = v.value.plus(product(typical3(c), c.Volume)), v.volume.plus(wide(c.Volume))
	v.level = Level(part(v.value.float(), v.volume.float()) / 3)
}

// Ready reports whether the first candle of this day was pushed, and something was traded.
func (v *SessionVWAP) Ready() bool { return v.session.began && v.volume != (int128{}) }

// Warmup is the candles of a day.
func (v *SessionVWAP) Warmup() int { return v.session.daily }

// PivotPoints are levels of a UTC day from the high, low and close of the day before.
type PivotPoints struct {
	session  session
	now, day extremes // of this day so far; of the day before
	pivot    Level
}

type extremes struct{ high, low, close market.Price }

// NewPivotPoints returns the levels of days whose candles have this interval.
func NewPivotPoints(i market.Interval) PivotPoints { return PivotPoints{session: newSession(i)} }

// Push takes the next candle.
func (x *PivotPoints) Push(c market.Candle) {
	if x.session.push(c) {
		x.day, x.now = x.now, extremes{c.High, c.Low, c.Close}
		x.pivot = (Level(x.day.high) + Level(x.day.low) + Level(x.day.close)) / 3
	}
	x.now = extremes{max(x.now.high, c.High), min(x.now.low, c.Low), c.Close}
}

// Ready reports whether the first candle of the day before was pushed.
func (x *PivotPoints) Ready() bool { return x.session.before }

// Pivot is (high + low + close) ÷ 3 of the day before.
func (x *PivotPoints) Pivot() Level { return x.pivot }

// Resistance is the first, second or third level above the pivot: 2·pivot − low,
// pivot + high − low, high + 2·(pivot − low). It panics where n is another number.
func (x *PivotPoints) Resistance(n int) Level {
	return x.beyond(n, Level(x.day.high), Level(x.day.low))
}

// Support is the first, second or third level below the pivot: 2·pivot − high,
// pivot − (high − low), low − 2·(high − pivot). It panics where n is another number.
func (x *PivotPoints) Support(n int) Level { return x.beyond(n, Level(x.day.low), Level(x.day.high)) }

// beyond is a level on the side of one extreme of the day before.
func (x *PivotPoints) beyond(n int, this, other Level) Level {
	switch n {
	case 1:
		return 2*x.pivot - other
	case 2:
		return x.pivot + this - other
	case 3:
		return this + 2*(x.pivot-other)
	}
	panic(fmt.Sprintf("indicator: level %d of pivot points, which have 1 to 3", n))
}

// Warmup is the candles of two days.
func (x *PivotPoints) Warmup() int { return 2 * x.session.daily }
