package gap

import (
	"fmt"
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// divergence says what differs about an order, and which fact makes the difference.
func (r *Comparison) divergence(i *item) Divergence {
	o := i.any()
	at, _ := i.span()
	m := r.Catalog.Market(o.Market)
	d := Divergence{At: at, Market: m.Name, Fact: Unexplained}
	if i.live() != nil {
		d.Order = i.live().Live
	}
	of, text, part := i.aspect(m)
	d.Text = fmt.Sprintf("%s %s: %s", o.Side, o.Type, text)
	if names, step := steps(len(i.rungs)), i.step(of, part); step < len(names) {
		d.Fact = names[step].name
	}
	return d
}

// The ends of an order, from the least on.
const (
	endNone     = iota // there is no such order; the gate may have refused it
	endRejected        // refused by the exchange
	endUnfilled
	endPartly
	endFilled
)

func endOf(o *RunOrder) float64 {
	switch {
	case !o.exists():
		return endNone
	case o.Rejected:
		return endRejected
	case o.Filled == 0:
		return endUnfilled
	case o.Amount != 0 && o.Filled < o.Amount:
		return endPartly
	}
	return endFilled
}

// aspect is the gravest thing that differs about an order, as a number of each run and in words:
// that it exists, how it ended, its terms, its value, its fee. A run explains it that leaves at
// most this part of the difference.
func (i *item) aspect(m *market.Market) (of func(*RunOrder) float64, text string, part float64) {
	a, b := i.tested(), i.live()
	if endOf(a) != endOf(b) {
		return endOf, endText(m, a, b), 0
	}
	for _, one := range [...]struct {
		what string
		of   func(*RunOrder) float64
		text func(*RunOrder) string
	}{
		{"amount", func(o *RunOrder) float64 { return float64(o.Amount) },
			func(o *RunOrder) string { return m.FormatQty(o.Amount) }},
		{"amount in quote", func(o *RunOrder) float64 { return float64(o.Quote) },
			func(o *RunOrder) string { return m.FormatMoney(o.Quote) }},
		{"price asked", func(o *RunOrder) float64 { return float64(o.Price) },
			func(o *RunOrder) string { return m.FormatPrice(o.Price) }},
		{"filled", func(o *RunOrder) float64 { return float64(o.Filled) },
			func(o *RunOrder) string { return m.FormatQty(o.Filled) }},
		{"filled at", func(o *RunOrder) float64 { return o.Value.Float(m.ValueDigits) },
			func(o *RunOrder) string { return m.FormatPrice(m.PriceFor(o.Value, o.Filled)) }},
		{"fee", func(o *RunOrder) float64 { return o.Fee.Float(m.ValueDigits) },
			func(o *RunOrder) string { return m.FormatValue(o.Fee) }},
	} {
		if one.of(a) != one.of(b) {
			return one.of, fmt.Sprintf("%s %s live, %s in the backtest", one.what, one.text(b), one.text(a)), 0.5
		}
	}
	return endOf, "its type differs", 0
}

// endText says how an order ended live and in the backtest.
func endText(m *market.Market, a, b *RunOrder) string {
	text := func(o *RunOrder) string {
		if o != nil && o.Refused != "" {
			return "refused by the gate (" + o.Refused + ")"
		}
		switch endOf(o) {
		case endNone:
			return "no order"
		case endRejected:
			return "refused"
		case endUnfilled:
			return "not filled"
		}
		return "filled " + m.FormatQty(o.Filled)
	}
	return fmt.Sprintf("%s live, %s in the backtest", text(b), text(a))
}

// step is the first step after which a run has at most a part of the difference left; the number of
// all steps: none is.
func (i *item) step(of func(*RunOrder) float64, part float64) int {
	value := func(rung int) float64 {
		if o := i.rungs[rung]; o != nil {
			return of(o)
		}
		if i.tested().exists() && i.live().exists() {
			return math.Inf(1) // an order that a run between does not have
		}
		return of(nil)
	}
	last := len(i.rungs) - 1
	from, to := value(0), value(last)
	for n := range last {
		if now := value(n + 1); math.Abs(now-to) <= math.Abs(from-to)*part {
			return n
		}
	}
	return last
}
