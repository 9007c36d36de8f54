package dashboard

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/bot/seal"
)

// SealView is the page of the seal: what a bot promises, and whether it keeps it.
type SealView struct {
	Warning, Verdict string // one of them: the answer in words
	Cards            []Card
	Changed          []string // that is not as it was sealed
	Tables           []Table
	Notes            []string
}

// SealOf makes the page of a bot's seal.
func SealOf(s *seal.SealStatus, zone *time.Location) *SealView {
	if !s.Sealed {
		return &SealView{Verdict: s.Sentence(), Notes: []string{"bot seal writes the promise of a backtest into the " +
			"bot's journal; from then on each UTC day is held against it."}}
	}
	v := &SealView{Changed: s.Changed}
	if s.Broken {
		v.Warning = s.Sentence()
	} else {
		v.Verdict = s.Sentence()
	}
	d, last := s.Document, s.Last
	if last == "" {
		last = "none yet"
	}
	v.Cards = []Card{
		{"Evidence against it", text(fmt.Sprintf("%.2f", s.Evidence["total"])),
			text(fmt.Sprintf("%.0f is an alarm", s.Alarm))},
		{"Days judged", text(fmt.Sprint(s.Days)),
			text(fmt.Sprintf("%d without a record; the last: %s", s.Missed, last))},
		{"Deepest drawdown", text(fmt.Sprintf("%.2f %%", 100*s.Deepest)), text("at the end of a day")},
		{"Sealed", text(moment(s.SealedMS, zone)), text("by " + s.By)},
	}
	promise := Table{Title: "The promise", Head: []string{"Quantity", "Promise", "Evidence against it"}}
	for _, p := range s.Promises() {
		promise.Rows = append(promise.Rows, row(left(p.Quantity), left(p.Promise), text(p.Evidence)))
	}
	b, tries := &d.Backtest, "not counted: there was no ledger"
	if d.Search.Counted {
		tries = fmt.Sprintf("%d of %d different series", d.Search.Tries, d.Search.Series)
	}
	origin := Table{Title: "Where it comes from", Head: []string{"Backtest", "Value"}}
	for _, line := range [...][2]string{{"title", b.Title}, {"range", b.From + " to " + b.To},
		{"days", fmt.Sprintf("%d, of which %d out of sample", b.Days, b.OutOfSampleDays)},
		{"tries", tries}, {"data", b.DataHash},
		{"config", b.ConfigHash}, {"document", s.Hash}, {"journal entry", fmt.Sprint(s.Entry)}} {
		origin.Rows = append(origin.Rows, row(left(line[0]), left(line[1])))
	}
	v.Tables = []Table{promise, origin}
	if s.Unknown > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("Of %d fills the best price at arrival is not known: their slippage "+
			"is left out.", s.Unknown))
	}
	if delay := d.Delay(); delay != "" && !s.Broken {
		v.Notes = append(v.Notes, delay)
	}
	v.Notes = append(v.Notes, "A kept promise is called broken in 5 of 100 cases at most, however often it is "+
		"looked at. An alarm halts nothing.")
	return v
}
