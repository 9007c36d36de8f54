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
