package operator

import (
	"fmt"
	"strings"
)

// Report is the result of a command of the operator.
type Report struct {
	Done       bool     `json:"done"` // everything was confirmed
	Strategies []string `json:"strategies"`
	Unchanged  []string `json:"unchanged"`  // those of Strategies that were halted, or not halted, before
	Cancelled  int      `json:"cancelled"`  // orders that have ended
	Open       []Order  `json:"open"`       // orders that should have ended and are open
	Protecting []Order  `json:"protecting"` // exits of brackets, which a halt leaves
	Sold       int      `json:"sold"`       // orders by which flatten sold
	// Sales are the sales by these orders, and by open orders of an earlier flatten.
	Sales     []Sale     `json:"sales"`
	Held      []Position `json:"held"`              // after flatten
	Unsold    []string   `json:"unsold"`            // why
	Unsettled int        `json:"unsettled"`         // orders with an unsettled fee, which the figures lack
	Trading   []string   `json:"trading"`           // strategies that may place new orders at once
	Opening   string     `json:"opening,omitempty"` // after resume: why the account's limits still forbid opening
}

// NewReport returns an empty report of a command for these strategies. Its lists are empty, not
// null.
func NewReport(names []string) *Report {
	return &Report{Strategies: names, Unchanged: []string{}, Open: []Order{}, Protecting: []Order{}, Sales: []Sale{},
		Held: []Position{}, Unsold: []string{}, Trading: []string{}}
}

// Sale sums up the fills of an order of flatten.
type Sale struct {
	Strategy     string `json:"strategy"`
	Market       string `json:"market"`
	Order        int64  `json:"order"`
	Amount       string `json:"amount"`
	AveragePrice string `json:"average_price"` // value ÷ amount, rounded down
	Value        string `json:"value"`         // in the quote asset, before the fee
	Fee          string `json:"fee"`           // of the fills whose fee is settled
	Currency     string `json:"currency"`      // the quote asset: of value and fee
	Fills        int    `json:"fills"`
	Unsettled    int    `json:"unsettled"` // fills with an unsettled fee, which Fee lacks
}

// String describes a sale for a person.
func (s *Sale) String() string {
	text := fmt.Sprintf("sold: %s %s %s at %s on average for %s %s, ", s.Strategy, s.Amount, s.Market, s.AveragePrice,
		s.Value, s.Currency)
	switch {
	case s.Unsettled == 0:
		text += fmt.Sprintf("fee %s %s", s.Fee, s.Currency)
	case s.Unsettled == s.Fills:
		text += "fee not settled yet"
	default:
		text += fmt.Sprintf("fee %s %s so far, not settled yet for %d of %d fills", s.Fee, s.Currency, s.Unsettled,
			s.Fills)
	}
	return text + fmt.Sprintf(" (order %d)", s.Order)
}

// HaltText is the line of a halt for a person.
func (r *Report) HaltText() string {
	return fmt.Sprintf("halted: %s%s; %s cancelled\n", strings.Join(r.Strategies, ", "), r.unchangedText("halted"),
		CountOrders(r.Cancelled))
}

// ResumeText is the line of a resume for a person.
func (r *Report) ResumeText() string {
	return fmt.Sprintf("trading: %s%s\n", strings.Join(r.Strategies, ", "), r.unchangedText("not halted"))
}

// CancelText is the line of cancels for a person.
func (r *Report) CancelText() string { return CountOrders(r.Cancelled) + " cancelled\n" }

// FlattenText is the first line of a flatten for a person; RestText has the others.
func (r *Report) FlattenText() string {
	return fmt.Sprintf("halted: %s; %s cancelled, %s to sell\n", strings.Join(r.Strategies, ", "),
		CountOrders(r.Cancelled), CountOrders(r.Sold))
}

// RestText lists the sales of a command, and everything that it left open, held or unsold.
func (r *Report) RestText() (text string) {
	for i := range r.Sales {
		text += r.Sales[i].String() + "\n"
	}
	for i := range r.Open {
		o := &r.Open[i]
		text += fmt.Sprintf("still open: %d %s %s %s %s: %s\n", o.Number, o.ClientOrderID, o.Strategy, o.Market,
			o.Terms(), o.StateText())
	}
	for i := range r.Held {
		p := &r.Held[i]
		text += fmt.Sprintf("still held: %s %s %s\n", p.Strategy, p.Amount, p.Market)
	}
	for _, why := range r.Unsold {
		text += "not sold: " + why + "\n"
	}
	if r.Unsettled > 0 {
		text += fmt.Sprintf("fees not settled yet: %s; bot positions lacks them until then\n", CountOrders(r.Unsettled))
	}
	for i := range r.Protecting {
		o := &r.Protecting[i]
		text += fmt.Sprintf("left to protect: %d %s %s %s\n", o.Number, o.Strategy, o.Market, o.Terms())
	}
	if r.Opening != "" {
		text += "limit: " + r.Opening + "\n"
	}
	if len(r.Trading) > 0 {
		text += fmt.Sprintf("not halted, so they may place new orders: %s\n", strings.Join(r.Trading, ", "))
	}
	return text
}

// unchangedText lists the strategies that were in the wanted state before.
func (r *Report) unchangedText(how string) string {
	if len(r.Unchanged) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s before: %s)", how, strings.Join(r.Unchanged, ", "))
}

// CountOrders counts orders in words.
func CountOrders(n int) string {
	if n == 1 {
		return "1 order"
	}
	return fmt.Sprintf("%d orders", n)
}
