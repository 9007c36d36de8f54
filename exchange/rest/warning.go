package rest

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// WarningKind says what a Warning is about.
type WarningKind uint8

// The kinds of warnings.
const (
	WarnSlow    WarningKind = iota + 1 // points run low: a lane waits; once a minute
	WarnBan                            // banned until Until
	WarnBanOver                        // the ban is over
	WarnReset                          // the exchange's reset, Doubted, is false: Until is used; every ten minutes
	WarnWeight                         // an endpoint costs Is, not Was; once for each
	WarnHeld                           // a page that is no answer of the exchange: nothing is sent until Until
)

// Warning is a message of a weight budget for a person.
type Warning struct {
	Kind  WarningKind
	Payer Payer       // of the budget
	At    market.Time // the exchange's time
	Until market.Time // WarnBan: its end; WarnSlow: when the points end at this rate, 0: they last
	// Doubted is the date in the answer that cannot be true; "": Until is the exchange's own.
	Doubted  string
	Lane     Lane   // WarnSlow
	Endpoint string // WarnWeight
	Was, Is  int    // WarnWeight
	Status   int    // WarnHeld: of the page
}

// String is one line.
func (w Warning) String() string {
	whose := w.Payer.phrase()
	switch w.Kind {
	case WarnSlow:
		if w.Until == 0 {
			return fmt.Sprintf("the weight budget of %s runs low: %s waits", whose, w.Lane)
		}
		return fmt.Sprintf("at this plan the weight budget of %s ends at %s: %s waits", whose, clockTime(w.Until),
			w.Lane)
	case WarnBan:
		text := fmt.Sprintf("the exchange has banned %s for spending too much: nothing is sent until %s", whose,
			clockTime(w.Until))
		if w.Doubted != "" {
			text += fmt.Sprintf("; it says until %s, which is not believed", w.Doubted)
		}
		return text
	case WarnReset:
		return fmt.Sprintf("the exchange says that the weight budget of %s is back at %s, which is not believed: it "+
			"is taken for back at %s", whose, w.Doubted, clockTime(w.Until))
	case WarnBanOver:
		return fmt.Sprintf("the ban of %s is over", whose)
	case WarnWeight:
		return fmt.Sprintf("%s costs %d and not %d points: the table of weights is out of date, or another "+
			"program spends from the same budget", w.Endpoint, w.Is, w.Was)
	case WarnHeld:
		return fmt.Sprintf("HTTP %d with a page that is no answer of the exchange: requests of %s wait until %s",
			w.Status, whose, clockTime(w.Until))
	}
	return fmt.Sprintf("warning(%d)", uint8(w.Kind))
}

// clockTime formats hh:mm:ss UTC. A log's own times may be in the machine's zone.
func clockTime(t market.Time) string { return t.Std().Format("15:04:05 UTC") }

func (l *WeightBudget) warn(w Warning) { l.warnings = append(l.warnings, w) }

// warnSlow warns, once a minute, that a lane waits though there is no ban.
func (l *WeightBudget) warnSlow(a *allowance, lane Lane, now market.Time) {
	if now < a.shut() || a.slowWarned == a.reset {
		return
	}
	a.slowWarned = a.reset
	end, _ := a.forecast(now)
	if end >= a.reset {
		end = 0
	}
	l.warn(Warning{Kind: WarnSlow, Payer: a.payer, At: now, Until: end, Lane: lane})
}
