package lang

import "github.com/tidemark-trading/tidemark/strategy/indicator"

// The indicators with several lines, in the order of their functions. The value of one that has no
// main line is never read.
type (
	macd       struct{ indicator.MACD }
	ppo        struct{ indicator.PPO }
	adx        struct{ indicator.ADX }
	supertrend struct{ indicator.Supertrend }
	stochastic struct{ indicator.Stochastic }
	bollinger  struct{ indicator.Bollinger }
	keltner    struct{ indicator.Keltner }
	donchian   struct{ indicator.Donchian }
	chandelier struct{ indicator.Chandelier }
	total      struct{ indicator.SMA } // the sum in place of the average
)

func (x *macd) lines(to []float64) { to[0], to[1], to[2] = x.Value(), x.Signal(), x.Histogram() }
func (x *ppo) lines(to []float64)  { to[0], to[1], to[2] = x.Value(), x.Signal(), x.Histogram() }
func (x *adx) lines(to []float64)  { to[0], to[1], to[2] = x.Value(), x.Plus(), x.Minus() }

func (x *supertrend) lines(to []float64) { to[0], to[1] = x.Value(), truth(x.Up()) }
func (x *stochastic) lines(to []float64) { to[0], to[1] = x.Value(), x.Signal() }

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

func (x *bollinger) Value() float64  { return float64(x.Middle()) }
func (x *keltner) Value() float64    { return float64(x.Middle()) }
func (x *donchian) Value() float64   { return float64(x.Middle()) }
func (x *chandelier) Value() float64 { return float64(x.Long()) }
func (x *total) Value() float64      { return float64(x.Sum()) }

// sumOf makes the sum over a window.
func sumOf(a []float64) unit { return prices(total{indicator.NewSMA(int(a[0]))}, nil) }

// truth is a condition as a number.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
