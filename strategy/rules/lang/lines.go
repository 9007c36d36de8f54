package lang

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// The indicators with several lines, in the order of their functions.
type (
	macd       struct{ indicator.MACD }
	ppo        struct{ indicator.PPO }
	adx        struct{ indicator.ADX }
	aroon      struct{ indicator.Aroon }
	sar        struct{ indicator.SAR }
	supertrend struct{ indicator.Supertrend }
	stochastic struct{ indicator.Stochastic }
	stochRSI   struct{ indicator.StochRSI }
	vortex     struct {
		indicator.Vortex
		unread
	}
	ichimoku struct {
		indicator.Ichimoku
		unread
	}
	bollinger struct {
		indicator.Bollinger
		unread
	}
	keltner struct {
		indicator.Keltner
		unread
	}
	donchian struct {
		indicator.Donchian
		unread
	}
	chandelier struct {
		indicator.Chandelier
		unread
	}
	pivotPoints struct {
		indicator.PivotPoints
		unread
	}
	heikinAshi struct {
		indicator.HeikinAshi
		unread
	}
	patterns struct {
		indicator.Patterns
		unread
	}
	pivotHigh struct{ indicator.Swings }
	pivotLow  struct{ indicator.Swings }
	total     struct{ indicator.SMA } // the sum in place of the average
)

// unread is the value of an indicator of which only lines are read.
type unread struct{}

// Value is never called.
func (unread) Value() float64 { return 0 }

func (x *macd) lines(to []float64) { to[0], to[1], to[2] = x.Value(), x.Signal(), x.Histogram() }
func (x *ppo) lines(to []float64)  { to[0], to[1], to[2] = x.Value(), x.Signal(), x.Histogram() }
func (x *adx) lines(to []float64)  { to[0], to[1], to[2] = x.Value(), x.Plus(), x.Minus() }

func (x *aroon) lines(to []float64)      { to[0], to[1], to[2] = x.Value(), x.Up(), x.Down() }
func (x *vortex) lines(to []float64)     { to[0], to[1] = x.Plus(), x.Minus() }
func (x *sar) lines(to []float64)        { to[0], to[1], to[2] = x.Value(), truth(x.Up()), float64(x.Next()) }
func (x *supertrend) lines(to []float64) { to[0], to[1] = x.Value(), truth(x.Up()) }
func (x *stochastic) lines(to []float64) { to[0], to[1] = x.Value(), x.Signal() }
func (x *stochRSI) lines(to []float64)   { to[0], to[1] = x.Value(), x.Signal() }

func (x *ichimoku) lines(to []float64) {
	to[0], to[1], to[2] = float64(x.Tenkan()), float64(x.Kijun()), float64(x.SpanA())
	to[3], to[4], to[5] = float64(x.SpanB()), float64(x.LeadA()), float64(x.LeadB())
}

func (x *bollinger) lines(to []float64) {
	to[0], to[1], to[2] = float64(x.Upper()), float64(x.Middle()), float64(x.Lower())
}

func (x *keltner) lines(to []float64) {
	to[0], to[1], to[2] = float64(x.Upper()), float64(x.Middle()), float64(x.Lower())
}

func (x *donchian) lines(to []float64) {
	to[0], to[1], to[2] = float64(x.High()), float64(x.Middle()), float64(x.Low())
}

func (x *chandelier) lines(to []float64) { to[0], to[1] = float64(x.Long()), float64(x.Short()) }

func (x *pivotPoints) lines(to []float64) {
	to[0] = float64(x.Pivot())
	for i := 1; i <= 3; i++ {
		to[i], to[3+i] = float64(x.Resistance(i)), float64(x.Support(i))
	}
}

func (x *heikinAshi) lines(to []float64) {
	to[0], to[1], to[2], to[3] = float64(x.Open()), float64(x.High()), float64(x.Low()), float64(x.Close())
}

func (x *patterns) lines(to []float64) {
	for i, is := range [...]bool{x.Doji(), x.Hammer(), x.HangingMan(), x.InvertedHammer(), x.ShootingStar()} {
		to[i] = truth(is)
	}
	for i, way := range [...]indicator.Direction{x.Engulfing(), x.Harami(), x.Star(), x.Three()} {
		to[5+2*i], to[6+2*i] = truth(way == indicator.Up), truth(way == indicator.Down)
	}
}

// Value is the pivot that has just become known, undefined where none has.
func (x *pivotHigh) Value() float64 { return known(x.High()) }

// Value is the pivot that has just become known, undefined where none has.
func (x *pivotLow) Value() float64 { return known(x.Low()) }

// known is a price, undefined where it is 0.
func known(p market.Price) float64 {
	if p == 0 {
		return undefined()
	}
	return float64(p)
}

// Value is the sum.
func (x *total) Value() float64 { return float64(x.Sum()) }

// sumOf makes the sum over a window.
func sumOf(a []float64) unit { return prices(total{indicator.NewSMA(int(a[0]))}, nil) }

// truth is a condition as a number.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
