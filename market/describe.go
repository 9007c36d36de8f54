package market

import "fmt"

// Describe says what an open order of the market is over: "sell 0.5, stopLoss at 95".
func (m *Market) Describe(o *Order) string {
	text := fmt.Sprintf("%s %s", o.Side, m.FormatQty(o.AmountRemaining))
	if o.ByQuote() {
		text = fmt.Sprintf("%s for %s", o.Side, m.FormatMoney(o.AmountQuoteRemaining))
	}
	text += ", " + o.Type.String()
	switch {
	case o.TriggerAmount != 0:
		text += " at " + m.FormatPrice(o.TriggerAmount)
	case o.Price != 0:
		text += " at " + m.FormatPrice(o.Price)
	}
	return text
}
