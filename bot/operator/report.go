package operator

import "fmt"

// ActResult is the result of a command of the operator.
type ActResult struct {
	Done       bool     `json:"done"` // everything was confirmed
	Strategies []string `json:"strategies"`
	Unchanged  []string `json:"unchanged"`  // those of Strategies that were halted, or not halted, before
	Cancelled  int      `json:"cancelled"`  // orders that have ended
	Open       []Order  `json:"open"`       // orders that should have ended and are open
	Protecting []Order  `json:"protecting"` // exits of brackets: a halt leaves them, and a cancelled one has a successor
	Sold       int      `json:"sold"`       // orders by which flatten sold
	// Sales are the sales by these orders, and by open orders of an earlier flatten.
	Sales  []Sale     `json:"sales"`
	Held   []Position `json:"held"`   // after flatten
	Unsold []string   `json:"unsold"` // why
	// Unprotected are the positions that are left without an exit at the exchange.
	Unprotected []Unprotected `json:"unprotected,omitempty"`
	WrittenOff  []WrittenOff  `json:"written_off,omitempty"` // by resolve --gone
	Unsettled   int           `json:"unsettled"`             // orders with an unsettled fee, which the figures lack
	Trading     []string      `json:"trading"`               // strategies that may place new orders at once
	Opening     string        `json:"opening,omitempty"`     // after resume: why the account's limits still forbid opening
}

// NewReport returns an empty report of a command for these strategies. Its lists are empty, not
// null.
func NewReport(names []string) *ActResult {
	return &ActResult{Strategies: names, Unchanged: []string{}, Open: []Order{}, Protecting: []Order{}, Sales: []Sale{},
		Held: []Position{}, Unsold: []string{}, Trading: []string{}}
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
