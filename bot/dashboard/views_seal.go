package dashboard

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/view"
)

// SealOf makes the page of a bot's seal: what it promises, and whether it keeps it.
func SealOf(s *seal.SealStatus, zone *time.Location) Parts {
	if !s.Sealed {
		return Parts{Verdict{s.Sentence()}, view.Note("bot seal writes the promise of a backtest into the bot's " +
			"journal; from then on each UTC day is held against it.")}
	}
	p, changed := Parts{Verdict{s.Sentence()}}, Warnings(nil)
	if s.Broken {
		p = Parts{Warnings{s.Sentence()}}
	}
	for _, what := range s.Changed {
		changed = append(changed, "changed since the seal: "+what)
	}
	d, last := s.Document, s.Last
	if last == "" {
		last = "none yet"
	}
	p = append(p, Cards{
		{"Evidence against it", text(fmt.Sprintf("%.2f", s.Evidence["total"])),
			text(fmt.Sprintf("%.0f is an alarm", s.Alarm))},
		{"Days judged", text(fmt.Sprint(s.Days)),
			text(fmt.Sprintf("%d without a record; the last: %s", s.Missed, last))},
		{"Deepest drawdown", text(fmt.Sprintf("%.2f %%", 100*s.Deepest)), text("at the end of a day")},
		{"Sealed", text(moment(s.SealedMS, zone)), text("by " + s.By)},
	}, changed)
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
	p = append(p, promise, origin)
	if s.Unknown > 0 {
		p = append(p, view.Note(fmt.Sprintf("Of %d fills the best price at arrival is not known: their slippage "+
			"is left out.", s.Unknown)))
	}
	if delay := d.Delay(); delay != "" && !s.Broken {
		p = append(p, view.Note(delay))
	}
	return append(p, view.Note("A kept promise is called broken in 5 of 100 cases at most, however often it is "+
		"looked at. An alarm halts nothing."))
}
