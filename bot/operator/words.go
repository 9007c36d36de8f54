package operator

import (
	"fmt"
	"strings"
)

// Words describes the report of a request for a person, in lines: first what was done, then the
// sales, then everything that was left open, held or unsold. path is the request's, as PathHalt.
func (r *ActResult) Words(path string, ask *Request) string {
	return r.doneText(path, ask) + r.restText()
}

// doneText is the line on what was done.
func (r *ActResult) doneText(path string, ask *Request) string {
	names := strings.Join(r.Strategies, ", ")
	switch path {
	case PathResolve:
		if ask.Gone != "" {
			return r.writtenOffText(ask.Gone)
		}
		return fmt.Sprintf("order %s is resolved as %s\n", ask.Order, ask.As)
	case PathHalt:
		return fmt.Sprintf("halted: %s%s; %s cancelled\n", names, r.unchangedText("halted"), OrdersText(r.Cancelled))
	case PathResume:
		return fmt.Sprintf("trading: %s%s\n", names, r.unchangedText("not halted"))
	case PathFlatten:
		return fmt.Sprintf("halted: %s; %s cancelled, %s to sell\n", names, OrdersText(r.Cancelled), OrdersText(r.Sold))
	}
	return OrdersText(r.Cancelled) + " cancelled\n"
}

// writtenOffText lists what was written off in a market that has gone.
func (r *ActResult) writtenOffText(gone string) (text string) {
	for _, w := range r.WrittenOff {
		text += fmt.Sprintf("written off: %s %s %s\n", w.Strategy, w.Amount, w.Market)
	}
	if r.Spent != "" {
		text += "written off, what purchases there seem to have cost: " + r.Spent + "\n"
	}
	if text == "" {
		text = "nothing is held in " + gone + "\n"
	}
	return text
}

// restText lists the sales of a command, and everything that it left open, held or unsold.
func (r *ActResult) restText() (text string) {
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
		text += fmt.Sprintf("still held: %s %s %s%s\n", p.Strategy, p.Amount, p.Market, p.worth())
	}
	for _, why := range r.Unsold {
		text += "not sold: " + why + "\n"
	}
	for i := range r.Unprotected {
		u := &r.Unprotected[i]
		text += fmt.Sprintf("position without exit: %s %s %s (%s)\n", u.Strategy, u.Amount, u.Market, u.Cause)
	}
	if r.Unsettled > 0 {
		text += fmt.Sprintf("fees not settled yet: %s; bot positions lacks them until then\n", OrdersText(r.Unsettled))
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
func (r *ActResult) unchangedText(how string) string {
	if len(r.Unchanged) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s before: %s)", how, strings.Join(r.Unchanged, ", "))
}

// OrdersText counts orders, as "1 order".
func OrdersText(n int) string {
	if n == 1 {
		return "1 order"
	}
	return fmt.Sprintf("%d orders", n)
}

// ActResult is the result of a command of the operator.
type ActResult struct {
	Done       bool       `json:"done"` // everything was confirmed
	Strategies []string   `json:"strategies"`
	Unchanged  []string   `json:"unchanged"`  // those of Strategies that were halted, or not halted, before
	Cancelled  int        `json:"cancelled"`  // orders that have ended
	Open       []OrderRow `json:"open"`       // orders that should have ended and are open
	Protecting []OrderRow `json:"protecting"` // exits of brackets: a halt leaves them, a cancelled one has a successor
	Sold       int        `json:"sold"`       // orders by which flatten sold
	// Sales are those by the orders that Sold counts, and by open orders of an earlier flatten.
	Sales  []Sale     `json:"sales"`
	Held   []Position `json:"held"`   // after flatten
	Unsold []string   `json:"unsold"` // why
	// Unprotected are the positions that are left without an exit at the exchange.
	Unprotected []Unprotected `json:"unprotected,omitempty"`
	WrittenOff  []WrittenOff  `json:"written_off,omitempty"` // by resolve --gone
	Spent       string        `json:"spent,omitempty"`       // by resolve --gone: money that purchases there explain
	Unsettled   int           `json:"unsettled"`             // orders with an unsettled fee, which the figures lack
	Trading     []string      `json:"trading"`               // strategies that may place new orders at once
	Opening     string        `json:"opening,omitempty"`     // after resume: why the account's limits still forbid opening
}

// NewReport returns an empty report of a command for these strategies. Its lists are empty, not
// null.
func NewReport(names []string) *ActResult {
	return &ActResult{Strategies: names, Unchanged: []string{}, Open: []OrderRow{}, Protecting: []OrderRow{},
		Sales: []Sale{},
		Held:  []Position{}, Unsold: []string{}, Trading: []string{}}
}

// WrittenOff is a position in a market that has gone, taken out of the books.
type WrittenOff struct {
	Strategy string `json:"strategy"`
	Market   string `json:"market"`
	Amount   string `json:"amount"`
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
