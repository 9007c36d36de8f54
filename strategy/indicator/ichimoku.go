package indicator

import "github.com/tidemark-trading/tidemark/market"

// Ichimoku is Hosoda's chart: middles of three channels, and the cloud between two spans. A chart
// draws the spans that a candle makes over later candles: SpanA and SpanB are those that lie over
// the present candle, and nothing looks ahead. The chikou (the close, drawn over an earlier candle)
// is no figure of the present candle: compare the close with an earlier one.
type Ichimoku struct {
	tenkan, kijun, slow Donchian
	cloud               ring[spans] // those of the last candles, which are drawn over later ones
	lead                spans
}

type spans struct{ a, b Level }

// NewIchimoku returns a chart over so many candles; 9, 26 and 52 are usual. A chart draws the spans
// kijun−1 candles ahead. It panics where a length is below 1.
func NewIchimoku(tenkan, kijun, slow int) Ichimoku {
	return Ichimoku{NewDonchian(tenkan), NewDonchian(kijun), NewDonchian(slow), newRing[spans](kijun), spans{}}
}

// Push takes the next candle.
func (x *Ichimoku) Push(c market.Candle) {
	x.tenkan.Push(c)
	x.kijun.Push(c)
	x.slow.Push(c)
	if x.tenkan.Ready() && x.kijun.Ready() && x.slow.Ready() {
		x.lead = spans{(x.Tenkan() + x.Kijun()) / 2, x.slow.Middle()}
		x.cloud.push(x.lead)
	}
}

// Ready reports whether as many candles were pushed as Warmup says.
func (x *Ichimoku) Ready() bool { return x.cloud.full }

// Tenkan is the conversion line: the middle of the shortest channel.
func (x *Ichimoku) Tenkan() Level { return x.tenkan.Middle() }

// Kijun is the base line: the middle of the second channel.
func (x *Ichimoku) Kijun() Level { return x.kijun.Middle() }

// SpanA is the side of the cloud that was the mean of Tenkan and Kijun kijun−1 candles ago.
func (x *Ichimoku) SpanA() Level { return x.cloud.list[x.cloud.at].a }

// SpanB is the side of the cloud that was the middle of the longest channel kijun−1 candles ago.
func (x *Ichimoku) SpanB() Level { return x.cloud.list[x.cloud.at].b }

// LeadA is the mean of Tenkan and Kijun now: SpanA in kijun−1 candles.
func (x *Ichimoku) LeadA() Level { return x.lead.a }

// LeadB is the middle of the longest channel now: SpanB in kijun−1 candles.
func (x *Ichimoku) LeadB() Level { return x.lead.b }

// Warmup is the longest length and kijun−1.
func (x *Ichimoku) Warmup() int {
	return max(x.tenkan.Warmup(), x.kijun.Warmup(), x.slow.Warmup()) + len(x.cloud.list) - 1
}
