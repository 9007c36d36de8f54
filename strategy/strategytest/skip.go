package strategytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// CheckSkip holds the Skip of a strategy against its OnCandle, over candles of one market. made
// adds the market to a bench and makes the strategy; it is called twice. The one gets each candle
// by OnCandle, the other by Skip where it takes it. Orders at market fill at the open of the next
// candle, which Skip does not get; others rest. The error names the first candle at which the two
// ask for something else.
func CheckSkip(made func(b *Bench) strategy.Strategy, series []market.Candle) error {
	var plain, fast Bench
	one, two := made(&plain), made(&fast)
	skipper, can := two.(strategy.Skipper)
	if !can {
		return fmt.Errorf("%T has no Skip", two)
	}
	plainDesk, fastDesk := plain.Desk(), fast.Desk()
	skipped, size := 0, 0 // skipped: candles that Skip has used ahead
	for i := range series {
		c := &series[i]
		met := plain.meet(one, plainDesk, c)
		fast.meet(two, fastDesk, c)
		plain.At, fast.At = c.End(), c.End()
		plain.Bar(one, plainDesk, *c)
		if skipped == 0 && !met {
			size = size%7 + 1 // blocks of different lengths
			skipped = skipper.Skip(slices.Clone(series[i:min(i+size, len(series))]))
		}
		if skipped > 0 {
			skipped--
			fast.last[c.Market] = c.Close
		} else {
			fast.Bar(two, fastDesk, *c)
		}
		want, have := strings.Join(plain.Asked(), ", "), strings.Join(fast.Asked(), ", ")
		if want != have {
			return fmt.Errorf("the candle that starts at %s: OnCandle alone asks for %q, with Skip it is %q", c.Start,
				want, have)
		}
	}
	return nil
}

// meet fills the open orders at market at the open of a candle, tells the strategy, and reports
// whether there was one.
func (b *Bench) meet(s strategy.Strategy, d *strategy.Desk, c *market.Candle) (met bool) {
	hears, _ := s.(strategy.FillHandler)
	for _, o := range slices.Clone(b.orders) {
		if o.Type != market.TypeMarket || o.Market != c.Market {
			continue
		}
		amount, m := o.AmountRemaining, b.catalog.Market(o.Market)
		if o.ByQuote() {
			amount = m.RoundAmount(m.AmountFor(m.MoneyValue(o.AmountQuote), c.Open))
		}
		b.Fill(o.ID, c.Open, amount)
		if met = true; hears != nil {
			hears.OnFill(d, market.Fill{Order: o.ID, Market: o.Market, Side: o.Side, Price: c.Open, Amount: amount,
				Time: c.Start})
		}
	}
	return met
}
