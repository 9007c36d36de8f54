package gap

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Comparison is the way from a backtest to the live books, rung by rung.
type Comparison struct {
	From        market.Time `json:"from_ns"`
	To          market.Time `json:"to_ns"`
	Currency    string      `json:"currency"`
	Account     Bridge      `json:"account"`
	Strategies  []Bridge    `json:"strategies"`  // in the order of the bot
	Rest        Amount      `json:"rest"`        // profit of the account that is no strategy's: rounding of fees, dust
	Refused     []Refusals  `json:"refused"`     // by the gate
	Matched     Match       `json:"matched"`     // of the run in which the least orders were matched
	Starts      int         `json:"starts"`      // of processes
	Assumptions []string    `json:"assumptions"` // of the model
	Notes       []string    `json:"notes"`       // holes of the record, and what they mean
	// Short says why live and backtest do not end together, so that their difference says nothing;
	// empty: they do.
	Short    string      `json:"short,omitempty"`
	Episodes []Episode   `json:"episodes"` // in the order of their beginnings
	Runs     []*RunBooks `json:"-"`        // S0 to the last, with the orders of each; of a joined report: none

	Catalog *market.Catalog `json:"-"` // the units of Runs
	Run     uuid.UUID       `json:"-"` // of the last start
	// Parts are those that a joined report adds up: the bot began each with other strategies or
	// markets.
	Parts []*Comparison `json:"parts,omitempty"`
}

// Bridge is the way from S0 to live of the account, or of a strategy. Profits are equity less the
// equity at the beginning, and less what was paid in and out.
type Bridge struct {
	Name        string   `json:"name,omitempty"` // of the strategy; empty: the account
	Profits     []Amount `json:"profits"`        // of S0 to the last
	Live        Amount   `json:"live"`           // of the live books
	Terms       []Term   `json:"terms"`          // by step
	Gap         Amount   `json:"gap"`            // Live less the backtest: the sum of all terms and Unexplained
	Unexplained Amount   `json:"unexplained"`    // Live less the last run
	Turnover    Amount   `json:"turnover"`       // value of the live fills
	Outside     Amount   `json:"outside"`        // part of Gap that is in no episode: rounding, dust
	// Equity is the money at the beginning: what Gap is a part of as tracking error. Strategies
	// without an allocation share theirs.
	Equity Amount `json:"equity"`
}

// Term is the change by one fact.
type Term struct {
	Fact  string `json:"fact"`
	About string `json:"about"`
	Step  Amount `json:"step"` // difference of its two rungs
	// Mean is over the admissible orders, for Prices and Fees the Step. The means add up to the gap
	// but for what is unexplained.
	Mean  Amount `json:"mean"`
	Least Amount `json:"least"` // in any of these orders
	Most  Amount `json:"most"`
	// RangeOnly: too few orders were matched for the mean to be worth anything.
	RangeOnly bool `json:"range_only"`
}

// Match counts the orders of a run for which the record has a live order.
type Match struct {
	Matched int    `json:"matched"`
	Orders  int    `json:"orders"`
	Run     string `json:"run"` // the facts of the run
}

// enough is the least share of matched orders, in per cent, for a mean.
const enough = 90

// less reports whether the share of matched orders is smaller than in another run.
func (m *Match) less(than *Match) bool {
	return m.Matched*max(1, than.Orders) < than.Matched*max(1, m.Orders)
}

// Enough reports whether so many orders were matched that means are shown.
func (m *Match) Enough() bool { return m.Matched*100 >= m.Orders*enough }

// BPS are ten-thousandths of the turnover; 0 where nothing was traded.
func (b *Bridge) BPS(a Amount) float64 {
	if b.Turnover.Units == 0 {
		return 0
	}
	return float64(a.Units) / float64(b.Turnover.Units) * 1e4
}

// TrackingBPS is an amount in ten-thousandths of the money at the beginning; 0 where there was
// none. That of Gap is the tracking error.
func (b *Bridge) TrackingBPS(a Amount) float64 {
	if b.Equity.Units <= 0 {
		return 0
	}
	return float64(a.Units) / float64(b.Equity.Units) * 1e4
}

// Amount is money in units of the currency. As JSON it is a decimal.
type Amount struct {
	Units  market.Money
	Digits uint8
}

// String is the decimal with all its digits.
func (a Amount) String() string {
	return string(market.AppendFixedPadded(nil, int64(a.Units), a.Digits))
}

// MarshalJSON writes the decimal as a string.
func (a Amount) MarshalJSON() ([]byte, error) { return json.Marshal(a.String()) }

// RunBooks is the result of a run.
type RunBooks struct {
	Facts      Set
	Profit     market.Money
	Strategies []market.Money // profits by StrategyID − 1, of the first start
	Match      Match
	Orders     []RunOrder // in the order of their decisions
	refused    map[string]int
	Err        error // why the run ended early; nil: it did not
}

// RunOrder is an order of a run.
type RunOrder struct {
	ID       market.OrderID // in the run
	Live     market.OrderID // the live order that it was matched with; 0: none
	Strategy market.StrategyID
	Market   market.ID
	Side     market.Side
	Type     market.OrderType
	At       market.Time // of the decision
	Amount   market.Qty  // 0: set by value
	Quote    market.Money
	Price    market.Price // limit; 0: none
	Filled   market.Qty
	Value    market.Value // of the fills
	Fee      market.Value
	First    market.Time // of its first fill; 0: none
	Rejected bool
	Refused  string // why the gate refused it: there is no such order; empty: it did not
}

// exists reports whether a run has an order: one that the gate refused never was.
func (o *RunOrder) exists() bool { return o != nil && o.Refused == "" }

// Refusals counts what the gate refused for a reason. Limits hold in every run: the counts differ
// where a run has another position or other prices.
type Refusals struct {
	Reason   string `json:"reason"`
	Backtest int    `json:"backtest"` // S0
	Live     int    `json:"live"`     // the last run
}

// String is the line for a person.
func (r *Refusals) String() string {
	return fmt.Sprintf("refused by the gate: %s %d times live, %d times in the backtest", r.Reason, r.Live, r.Backtest)
}

// refusals are the counts by reason, by its name.
func (c *comparison) refusals() []Refusals {
	all := []Refusals{}
	tested, live := c.runs[c.ladder[0]].refused, c.runs[whole].refused
	reasons := maps.Clone(tested)
	maps.Copy(reasons, live)
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		all = append(all, Refusals{reason, tested[reason], live[reason]})
	}
	return all
}
