package operator

import (
	"fmt"
	"io"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Story is an order with all its journal entries, as a program reads it.
type Story struct {
	profit.Answer
	Order OrderRow `json:"order"`
	Steps []Step   `json:"steps"`
	Fills []any    `json:"fills"` // journal.Fields
}

// Step is an entry of the journal.
type Step struct {
	Number     uint64       `json:"number"`
	AtMS       int64        `json:"at_ms"`                 // of the entry, on the exchange's clock as the bot knew it
	ExchangeMS int64        `json:"exchange_ms,omitempty"` // of a report: the exchange's own time
	Kind       string       `json:"kind"`
	Risk       []Figure     `json:"risk,omitempty"`    // of an intent: the gate's figures
	Signals    []UsedSignal `json:"signals,omitempty"` // of an intent: those that its strategy could read
	Details    any          `json:"details"`           // journal.Fields
	Lines      []string     `json:"lines"`             // the same for a person
}

// UsedSignal is a signal that held when a strategy decided. AgeMS is the time from its arrival to
// the decision.
type UsedSignal struct {
	Number int64  `json:"number"`           // of its entry
	Source string `json:"source,omitempty"` // empty: the file does not have the entry any more
	SentMS int64  `json:"sent_ms,omitempty"`
	CameMS int64  `json:"came_ms,omitempty"`
	AgeMS  int64  `json:"age_ms"`

	at market.Time // of its entry
}

// Figure is a number that the gate compared with a limit.
type Figure struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	Limit  string `json:"limit,omitempty"`
}

// StoryOf returns the story of an order. name is a name as in journal.Store.FindOrder.
func StoryOf(store *journal.Store, name string) (*Story, error) {
	row, err := store.FindOrder(name)
	if err != nil {
		return nil, config.Usagef("%w", err)
	}
	story, err := store.Story(row.ID)
	if err != nil {
		return nil, err
	}
	fills, err := store.FillsOf(row.ID)
	if err != nil {
		return nil, err
	}
	s := &Story{Order: OrderOf(store.Catalog(), &row), Fills: []any{}}
	t := newStoryWriter(store)
	for i := range story {
		s.Steps = append(s.Steps, stepOf(store, t, &story[i]))
	}
	for i := range fills {
		s.Fills = append(s.Fills, store.DescribeFill(&fills[i]))
	}
	return s, nil
}

func stepOf(store *journal.Store, t *storyWriter, e *journal.Entry) Step {
	step := Step{Number: e.Number, AtMS: e.At.Millis(), Kind: e.Kind.String(), Details: store.Describe(e),
		Lines: t.lines(e)}
	switch r := e.Record.(type) {
	case *journal.Intent:
		step.Signals = t.used(e.At, &r.Cause)
		for _, f := range r.Risk {
			step.Risk = append(step.Risk, Figure(f))
		}
	case *journal.ReportEntry:
		if r.Updated != 0 {
			step.ExchangeMS = r.Updated.Millis()
		}
	}
	return step
}

// Write writes the story for a person.
func (s *Story) Write(w io.Writer) error {
	o := &s.Order
	fmt.Fprintf(w, "order %d  %s", o.Number, o.ClientOrderID)
	if o.OrderID != "" {
		fmt.Fprintf(w, ", the exchange's %s", o.OrderID)
	}
	fmt.Fprintf(w, "\n%s: %s in %s; %s, filled %s, fee %s\n", o.Strategy, o.Terms(), o.Market, o.StateText(), o.Filled,
		o.Fee)
	if o.Tag != "" {
		fmt.Fprintf(w, "tag: %s\n", o.Tag)
	}
	if len(s.Steps) == 0 {
		fmt.Fprintln(w, "its story was taken out of this file by bot state compact --keep")
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		for n, line := range step.Lines {
			at := ClockOf(step.AtMS)
			if n > 0 {
				at = ""
			}
			fmt.Fprintf(w, "%-23s  %s\n", at, line)
		}
	}
	_, err := fmt.Fprintf(w,
		"%d entries of the journal; times are UTC, and the bot's, by the exchange's clock as it knew it, where they "+
			"are not the exchange's own\n", len(s.Steps))
	return err
}
