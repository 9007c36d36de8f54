package seal

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// SealStatus is how a bot stands to its seal: the answer of `bot verify`.
type SealStatus struct {
	Sealed   bool               `json:"sealed"`
	Entry    uint64             `json:"entry,omitempty"` // of the journal
	SealedMS int64              `json:"sealed_ms,omitempty"`
	By       string             `json:"by,omitempty"`
	Hash     string             `json:"hash,omitempty"`   // of the document
	Days     int                `json:"days"`             // that were held against it
	Missed   int                `json:"missed"`           // without a record
	Last     string             `json:"last,omitempty"`   // the latest day that was judged
	Broken   bool               `json:"broken"`           // it stays so until the next seal
	BrokenOn string             `json:"broken_on"`        // the day of the alarm
	Since    string             `json:"probably_since"`   // an estimate
	Alone    []string           `json:"alone"`            // quantities whose evidence is enough by itself
	Evidence map[string]float64 `json:"evidence"`         // by quantity, and in total
	Alarm    float64            `json:"alarm"`            // the total that is one
	Deepest  float64            `json:"deepest_drawdown"` // at the end of a day
	Unknown  int                `json:"unknown_slippage"` // fills without a known price at arrival
	Changed  []string           `json:"changed"`          // what differs from the sealed strategies, as of the last day
	Document *Document          `json:"document,omitempty"`
}

// StatusOf reads how a bot stands from its state file. A bot without a seal has a SealStatus, too.
func StatusOf(store *journal.Store) (*SealStatus, error) {
	rows, err := store.Kept()
	if err != nil {
		return nil, err
	}
	w, err := watchedIn(rows)
	if err != nil {
		return nil, fmt.Errorf("seal of %s: %w", store.Path(), err)
	}
	return w.standing(), nil
}

func (w *watched) standing() *SealStatus {
	s := &SealStatus{Alone: []string{}, Changed: []string{}, Evidence: map[string]float64{}}
	if w == nil {
		return s
	}
	s.Sealed, s.Entry, s.SealedMS, s.By, s.Hash, s.Document = true, w.number, w.at.Millis(), w.by, w.hash, w.document
	s.Days, s.Missed = w.evidence.Days()
	s.Alarm, s.Deepest, s.Unknown = 1/w.document.Promise.Level, w.evidence.Deepest(), w.unknown
	for q, value := range w.evidence.Values() {
		s.Evidence[stats.Quantity(q).String()] = value
	}
	s.Evidence["total"] = w.evidence.Total()
	if w.last != nil {
		s.Last = dateOf(dayTime(w.lastDay))
		s.Changed = append(s.Changed, w.last.Changed...)
	}
	if b := w.evidence.Broken(); b != nil {
		s.Broken, s.BrokenOn = true, dateOf(w.broken)
		s.Since = dateOf(dayTime(w.from + int64(b.Since)))
		for _, q := range b.By {
			s.Alone = append(s.Alone, q.String())
		}
	}
	return s
}

func dayTime(day int64) market.Time { return market.Time(day) * market.Time(24*time.Hour) }

// Sentence is the answer in one sentence.
func (s *SealStatus) Sentence() string {
	switch {
	case !s.Sealed:
		return "Nothing is sealed: bot seal does it."
	case s.Broken:
		return fmt.Sprintf("The promise is broken: %s. Probably since %s, an estimate; the alarm was on %s and stays "+
			"until a new seal.", s.by(), s.Since, s.BrokenOn)
	case s.Days == 0:
		return "Sealed; no whole UTC day has been judged yet."
	}
	return fmt.Sprintf("Within its promise after %s: the evidence against it is %s, and %s is an alarm.",
		dayCount(s.Days-s.Missed), number(s.Evidence["total"]), number(s.Alarm))
}

func (s *SealStatus) by() string {
	if len(s.Alone) == 0 {
		return "all its parts together"
	}
	return strings.Join(s.Alone, ", ")
}

func dayCount(n int) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}

// number is an e-value for people.
func number(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// Text is the answer for a terminal.
func (s *SealStatus) Text() string {
	var b strings.Builder
	fmt.Fprintln(&b, s.Sentence())
	if !s.Sealed {
		return b.String()
	}
	fmt.Fprintf(&b, "\nsealed     %s by %s, journal entry %d\n", market.Time(s.SealedMS*1e6), s.By, s.Entry)
	fmt.Fprintf(&b, "document   sha256 %s\n", s.Hash)
	if s.Last != "" {
		fmt.Fprintf(&b, "days       %d to %s, %d of them without a record\n", s.Days, s.Last, s.Missed)
	}
	fmt.Fprintf(&b, "\n%-10s %-44s %s\n", "", "promise", "evidence against it")
	for _, p := range s.Promises() {
		fmt.Fprintf(&b, "%-10s %-44s %s\n", p.Quantity, p.Promise, p.Evidence)
	}
	if s.Days > 0 {
		fmt.Fprintf(&b, "\nThe deepest drawdown at the end of a day was %s.\n", percent(s.Deepest))
	}
	if s.Unknown > 0 {
		fmt.Fprintf(&b, "Of %d fills the best price at arrival is not known: their slippage is left out.\n", s.Unknown)
	}
	for _, line := range s.Changed {
		fmt.Fprintf(&b, "changed since the seal: %s\n", line)
	}
	return b.String()
}

// Promised is a part of the promise with the evidence against it, for a person.
type Promised struct{ Quantity, Promise, Evidence string }

// Promises are the parts of a sealed promise, and all together at the end.
func (s *SealStatus) Promises() (list []Promised) {
	for q, line := range s.Document.PromiseLines() {
		name := stats.Quantity(q).String()
		list = append(list, Promised{name, line, number(s.Evidence[name])})
	}
	return append(list, Promised{"together", "an alarm at " + number(s.Alarm), number(s.Evidence["total"])})
}

// PromiseLines are the promises of the quantities in words, by stats.Quantity.
func (d *Document) PromiseLines() [stats.Quantities]string {
	p := &d.Promise
	each := "a day"
	if p.Return.Days > 1 {
		each = "a week"
	}
	lines := [stats.Quantities]string{
		fmt.Sprintf("at least %s %s, Sharpe %.2f",
			percent(p.Return.Mean*p.Return.Deviation*math.Sqrt(float64(p.Return.Days))),
			each, d.Sharpe()),
		fmt.Sprintf("%s to %s a day", number(p.Trips.Low), number(p.Trips.High)),
		fmt.Sprintf("at most %.2f bps a fill that takes", p.Slippage.Most*p.Slippage.Unit),
		fmt.Sprintf("at most %s within %d days", percent(p.Drawdown.Depth), p.Drawdown.Horizon),
	}
	for q, weight := range p.Weights {
		if weight == 0 {
			lines[q] = "nothing"
		}
	}
	return lines
}

// Sharpe is the annual Sharpe ratio that the promise of returns means.
func (d *Document) Sharpe() float64 {
	p := &d.Promise.Return
	return p.Mean * math.Sqrt(stats.DaysPerYear/float64(p.Days))
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

// longDelay is the number of years from which a delay is said in years.
const longDelay = 3

// Delay says how long the end of the edge goes unnoticed; empty: nothing is promised that could
// end.
func (d *Document) Delay() string {
	p := &d.Promise
	if p.Return.Mean <= 0 || p.Weights[stats.QuantityReturn] == 0 {
		return ""
	}
	months := func(weight, others float64) string {
		days := stats.NoticeDays(p.Return.Mean, p.Level, weight, others) * float64(p.Return.Days)
		if years := days / stats.DaysPerYear; years >= longDelay {
			return fmt.Sprintf("%.0f years", years)
		}
		return fmt.Sprintf("%.0f months", math.Max(1, days/stats.DaysPerYear*12))
	}
	text := fmt.Sprintf("If the edge disappears (a Sharpe of %.2f falls to 0), daily looks at the returns alone "+
		"notice it after about %s", d.Sharpe(), months(1, 0))
	if weight := p.Weights[stats.QuantityReturn]; weight < 1 {
		idle := 1 - weight - p.Weights[stats.QuantityDrawdown] // a drawdown without a breach has no evidence
		text += fmt.Sprintf(", and this seal, which looks at more than returns, after about %s", months(weight, idle))
	}
	return text + ": that is the information in daily returns, and no test is faster."
}
