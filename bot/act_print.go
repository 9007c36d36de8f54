package bot

import (
	"fmt"
	"strings"
)

// leftText lists what was sold, and what is not as it was asked for.
func leftText(r *actReport) (text string) {
	for i := range r.Sales {
		text += r.Sales[i].String() + "\n"
	}
	for i := range r.Open {
		o := &r.Open[i]
		text += fmt.Sprintf("still open: %d %s %s %s %s: %s\n", o.Number, o.ClientOrderID, o.Strategy, o.Market, o.terms(), o.how())
	}
	for i := range r.Held {
		p := &r.Held[i]
		text += fmt.Sprintf("still held: %s %s %s\n", p.Strategy, p.Amount, p.Market)
	}
	for _, why := range r.Unsold {
		text += "not sold: " + why + "\n"
	}
	if r.Unsettled > 0 {
		text += fmt.Sprintf("fees not settled yet: %s; bot positions lacks them until then\n", ordersText(r.Unsettled))
	}
	for i := range r.Protecting {
		o := &r.Protecting[i]
		text += fmt.Sprintf("left to protect: %d %s %s %s\n", o.Number, o.Strategy, o.Market, o.terms())
	}
	if r.Opening != "" {
		text += "limit: " + r.Opening + "\n"
	}
	if len(r.Trading) > 0 {
		text += fmt.Sprintf("not halted, so they may place new orders: %s\n", strings.Join(r.Trading, ", "))
	}
	return text
}

// unchangedText says of which strategies nothing had to be changed.
func unchangedText(r *actReport, how string) string {
	if len(r.Unchanged) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s before: %s)", how, strings.Join(r.Unchanged, ", "))
}

// ordersText counts orders.
func ordersText(n int) string {
	if n == 1 {
		return "1 order"
	}
	return fmt.Sprintf("%d orders", n)
}
