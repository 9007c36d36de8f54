package lang

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// The units that most rules have are written out: generic ones take half as long again.
type (
	smaUnit struct {
		port
		x indicator.SMA
	}
	emaUnit struct {
		port
		x indicator.EMA
	}
	rsiUnit struct {
		port
		x indicator.RSI
	}
	atrUnit struct {
		port
		x indicator.ATR
	}
)

func (u *smaUnit) warmup() int { return u.x.Warmup() }
func (u *emaUnit) warmup() int { return u.x.Warmup() }
func (u *rsiUnit) warmup() int { return u.x.Warmup() }
func (u *atrUnit) warmup() int { return u.x.Warmup() }

func (u *smaUnit) push(s *State) {
	x, ok := u.take(s)
	if ok {
		u.x.Push(market.Price(x))
	}
	u.give(s, u.x.Value(), ok && u.x.Ready())
}

func (u *emaUnit) push(s *State) {
	x, ok := u.take(s)
	if ok {
		u.x.Push(market.Price(x))
	}
	u.give(s, u.x.Value(), ok && u.x.Ready())
}

func (u *rsiUnit) push(s *State) {
	x, ok := u.take(s)
	if ok {
		u.x.Push(market.Price(x))
	}
	u.give(s, u.x.Value(), ok && u.x.Ready())
}

func (u *atrUnit) push(s *State) {
	u.x.Push(s.candle)
	u.give(s, u.x.Value(), u.x.Ready())
}

// rowUnit is a unit that can compute a row at once. false: it has not, as one of the values is
// undefined or out of its reach, or as it is not ready.
type rowUnit interface {
	row(r *row, series []market.Candle) bool
}

func (u *smaUnit) row(r *row, _ []market.Candle) bool {
	from, to := u.columns(r)
	if from == nil || !u.x.Ready() {
		return false
	}
	u.x.PushRow(from, to)
	return true
}

func (u *emaUnit) row(r *row, _ []market.Candle) bool {
	from, to := u.columns(r)
	if from == nil || !u.x.Ready() {
		return false
	}
	u.x.PushRow(from, to)
	return true
}

func (u *rsiUnit) row(r *row, _ []market.Candle) bool {
	from, to := u.columns(r)
	if from == nil || !u.x.Ready() {
		return false
	}
	u.x.PushRow(from, to)
	return true
}

func (u *atrUnit) row(r *row, series []market.Candle) bool {
	if !u.x.Ready() {
		return false
	}
	u.x.PushRow(series, r.columns[u.to-temporaries][:r.n])
	return true
}

// columns are the columns of the port; nil: one of the values is cut to a fixed point, or out of
// reach.
func (p *port) columns(r *row) (from, to []float64) {
	from = r.columns[p.from-temporaries][:r.n]
	if p.scale != 1 {
		return nil, nil
	}
	to = r.columns[p.to-temporaries][:r.n]
	if f := p.from - r.fields; f >= 0 && f < fields-1 {
		if float64(r.top) <= p.limit {
			return from, to
		}
		return nil, nil
	}
	for _, x := range from {
		if !(x <= p.limit && x >= -p.limit) {
			return nil, nil
		}
	}
	return from, to
}
