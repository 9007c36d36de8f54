package operator

import "fmt"

// Report is what became of a command of the operator.
type Report struct {
	Done       bool     `json:"done"` // everything was confirmed
	Strategies []string `json:"strategies"`
	Unchanged  []string `json:"unchanged"`  // of these: halted before, or not halted
	Cancelled  int      `json:"cancelled"`  // orders that have ended
	Open       []Order  `json:"open"`       // that were to end and are open
	Protecting []Order  `json:"protecting"` // exits of brackets, which a halt leaves
	Sold       int      `json:"sold"`       // orders by which flatten sold
	// what these orders, and those of an earlier flatten that this one found open, have sold
	Sales     []Sale     `json:"sales"`
	Held      []Position `json:"held"`      // after flatten
	Unsold    []string   `json:"unsold"`    // why
	Unsettled int        `json:"unsettled"` // orders of which a fee is not settled yet: figures lack it
	Trading   []string   `json:"trading"`   // strategies that may place new orders at once
	// after resume: why the account's limits let nothing be opened all the same
	Opening string `json:"opening,omitempty"`
}

// NewReport returns the report of a command for these strategies that has done nothing yet: its
// lists are empty, not null.
func NewReport(names []string) *Report {
	return &Report{Strategies: names, Unchanged: []string{}, Open: []Order{}, Protecting: []Order{}, Sales: []Sale{},
		Held: []Position{}, Unsold: []string{}, Trading: []string{}}
}

// Sale is what an order of flatten has sold, by its fills.
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
	Unsettled    int    `json:"unsettled"` // of these fills: the exchange has not settled the fee yet, and fee lacks it
}

// String tells a sale to a person.
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
