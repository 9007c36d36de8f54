package operator

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// riskVersion is the version of statedir.RiskBlob.
const riskVersion = 1

// Risk is each limit of a bot with its use, as a program reads it. Of a stopped bot: as of its last
// minute, or its stop.
type Risk struct {
	profit.Answer
	AtMS     int64   `json:"at_ms"` // of the figures, on the exchange's clock; 0: the file has none
	Currency string  `json:"currency"`
	Limits   []Limit `json:"limits"`
	Halts    []Halt  `json:"halts"`
}

// Limit is a limit of the account or of a strategy, by the name of its config key.
type Limit struct {
	Scope   string    `json:"scope"` // "account" or "strategy NAME"
	Name    string    `json:"limit"`
	Market  string    `json:"market,omitempty"` // whose use it is, where each market has one
	Unit    risk.Unit `json:"unit"`
	Max     string    `json:"max,omitempty"`  // empty: not set
	Used    string    `json:"used,omitempty"` // empty: not known, or the limit judges each order alone
	Left    string    `json:"left,omitempty"`
	Part    *float64  `json:"part,omitempty"` // used of max; nil: not known
	Reached bool      `json:"reached,omitempty"`
	UntilMS int64     `json:"until_ms,omitempty"` // when a limit that was reached ends by itself
	From    string    `json:"from,omitempty"`     // the equity that a loss or a drawdown counts from
}

// Halt is a halt in force.
type Halt struct {
	Scope   string `json:"scope"`
	Reason  string `json:"reason"`
	By      string `json:"by"`
	SinceMS int64  `json:"since_ms"`
}

// AskRisk asks for the limits of a bot with their use.
func AskRisk() Question[Risk] { return Question[Risk]{path: PathRisk, read: StoppedRisk} }

// AppendRisk appends the saved form of the limits, for statedir.RiskBlob.
func AppendRisk(dst []byte, r *Risk) ([]byte, error) { return market.AppendSaved(dst, riskVersion, r) }

// StoppedRisk is the saved use of the limits, with the halts in force.
func StoppedRisk(store *journal.Store) (*Risk, error) {
	r := &Risk{Limits: []Limit{}}
	text, err := store.Blob(statedir.RiskBlob)
	if err == nil && text != nil {
		err = market.ParseSaved(text, riskVersion, r)
	}
	if err != nil {
		return nil, fmt.Errorf("limits in the state file: %w", err)
	}
	r.Running = false
	return r, r.AddHalts(store)
}

// AddHalts sets the halts from a state file.
func (r *Risk) AddHalts(store *journal.Store) error {
	r.Halts = []Halt{}
	rows, err := store.Halts()
	for i := range rows {
		h := &rows[i]
		r.Halts = append(r.Halts, Halt{h.Scope, h.Reason, h.By, h.At.Millis()})
	}
	return err
}

// Words is a figure of the limit for a person.
func (l *Limit) Words(figure string) string {
	if l.Unit != risk.UnitRate {
		return figure
	}
	part, err := decimal.NewFromString(figure)
	if err != nil {
		return figure
	}
	return strings.TrimSuffix(part.Shift(2).Round(2).String(), ".00") + " %"
}

// Standing says how a limit stands, for a person: empty where nothing is to be said.
func (l *Limit) Standing() string {
	rule := risk.RuleOf(l.Name)
	switch {
	case l.Max == "" && l.Reached:
		return "reached before it was taken away: nothing is opened"
	case l.Max == "":
		return "not set"
	case rule.Set != "":
		return rule.Set
	case l.Reached && l.UntilMS != 0:
		return "reached: nothing is opened until " + time.UnixMilli(l.UntilMS).UTC().Format("2006-01-02 15:04:05") +
			" UTC"
	case l.Reached:
		return cmp.Or(rule.Reached, "reached")
	case l.From != "":
		return "from an equity of " + l.From
	}
	return ""
}

// UsedUp reports whether the limit was reached by what was used of it: a switch only stands.
func (l *Limit) UsedUp() bool { return l.Reached && l.Unit != risk.UnitSwitch }
