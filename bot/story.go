package bot

import (
	"context"
	"fmt"
	"io"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// storyInfo is an order with everything that the journal tells of it, as a program reads it.
type storyInfo struct {
	Running bool       `json:"running"`
	Order   orderInfo  `json:"order"`
	Steps   []stepInfo `json:"steps"`
	Fills   []any      `json:"fills"` // state.Fields
}

// stepInfo is an entry of the journal.
type stepInfo struct {
	Number uint64       `json:"number"`
	AtMS   int64        `json:"at_ms"`
	Kind   string       `json:"kind"`
	Risk   []figureInfo `json:"risk,omitempty"` // of an intent: what the gate looked at
	Says   any          `json:"says"`           // state.Fields
	Lines  []string     `json:"lines"`          // the same for a person
}

// figureInfo is one number that the gate looked at.
type figureInfo struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	Limit  string `json:"limit,omitempty"`
}

// storyOf tells the story of the order that somebody names by its number, its client order id or the exchange's id.
func storyOf(store *state.BotStore, name string) (*storyInfo, error) {
	row, err := store.FindOrder(name)
	if err != nil {
		return nil, err
	}
	story, err := store.Story(row.ID)
	if err != nil {
		return nil, err
	}
	fills, err := store.FillsOf(row.ID)
	if err != nil {
		return nil, err
	}
	s := &storyInfo{Order: orderInfoOf(store.Catalog(), &row), Fills: []any{}}
	for i := range story {
		e := &story[i]
		step := stepInfo{Number: e.Number, AtMS: e.At.Millis(), Kind: e.Kind.String(), Says: store.Describe(e), Lines: linesOf(store.Catalog(), e)}
		if intent, ok := e.Record.(*state.Intent); ok {
			for _, f := range intent.Risk {
				step.Risk = append(step.Risk, figureInfo(f))
			}
		}
		s.Steps = append(s.Steps, step)
	}
	for i := range fills {
		s.Fills = append(s.Fills, store.DescribeFill(&fills[i]))
	}
	return s, nil
}

// linesOf tells an entry to a person.
func linesOf(c *market.Catalog, e *state.Entry) []string {
	switch r := e.Record.(type) {
	case *state.Intent:
		return intentLines(c, r)
	case *state.Outcome:
		line := fmt.Sprintf("answer    %s %s", r.Command, r.Answer)
		if r.Code != 0 {
			line += fmt.Sprintf(", errorCode %d", r.Code)
		}
		if r.Message != "" {
			line += ": " + r.Message
		}
		return []string{line}
	case *state.Report:
		m := c.Market(r.Market)
		line := fmt.Sprintf("report    %s: %s, filled %s", execText(&r.Report), r.Status, m.FormatQty(r.FilledAmount))
		if r.Code != 0 {
			line = fmt.Sprintf("report    %s, errorCode %d", execText(&r.Report), r.Code)
		}
		return append([]string{line}, fillLines(c, r.Fills)...)
	case *state.Fills:
		return fillLines(c, r.Fills)
	case *state.Refusal:
		return []string{"refused   " + r.Reason + " " + r.Detail}
	case *state.Difference:
		return []string{fmt.Sprintf("differs   %s: here %q, there %q; %s", r.What, r.Ours, r.Theirs, r.Conclusion)}
	}
	return []string{e.Kind.String()}
}

func execText(r *market.Report) string {
	if r.Command != 0 {
		return r.Command.String() + " " + r.Exec.String()
	}
	return r.Exec.String()
}

func intentLines(c *market.Catalog, r *state.Intent) []string {
	cause := "by the operator, or at a start or stop"
	if r.Cause.Kind != 0 {
		cause = "on " + feedKey{kind: r.Cause.Kind, market: r.Cause.Market}.plain(c) + " of " + clockOf(r.Cause.At.Millis())
	}
	if r.Cause.Recorded != 0 {
		cause += fmt.Sprintf(", event %d of the recording", r.Cause.Recorded)
	}
	lines := []string{fmt.Sprintf("decided   %s %s", r.Command.Kind, cause)}
	for _, f := range r.Risk {
		line := fmt.Sprintf("risk      %s %s to %s", f.Name, f.Before, f.After)
		if f.Limit != "" {
			line += ", limit " + f.Limit
		}
		lines = append(lines, line)
	}
	return append(lines, fmt.Sprintf("request   %s %s %s", r.Method, r.Path, r.Body), fmt.Sprintf("          signed for %s, to be taken within %d ms", clockOf(r.Timestamp), r.WindowMS))
}

// plain is a feed's name without an interval.
func (k feedKey) plain(c *market.Catalog) string {
	text := k.kind.String()
	if k.market != 0 {
		text += " " + c.Market(k.market).Name
	}
	return text
}

func fillLines(c *market.Catalog, fills []market.Fill) (lines []string) {
	for i := range fills {
		f := &fills[i]
		m, side := c.Market(f.Market), "maker"
		if f.Taker {
			side = "taker"
		}
		lines = append(lines, fmt.Sprintf("fill      %s @ %s, fee %s, %s, %s", m.FormatQty(f.Amount), m.FormatPrice(f.Price), m.FormatValue(f.Fee), side, f.ID))
	}
	return lines
}

// explain answers `bot explain`.
func (c *control) explain(_ context.Context, ask *operatorAsk) (any, error) {
	story, err := storyOf(c.r.store, ask.Order)
	if err != nil {
		return nil, err
	}
	story.Running = true
	return story, nil
}

// print writes the story for a person.
func (s *storyInfo) print(w io.Writer) error {
	o := &s.Order
	fmt.Fprintf(w, "order %d  %s", o.Number, o.ClientOrderID)
	if o.OrderID != "" {
		fmt.Fprintf(w, ", the exchange's %s", o.OrderID)
	}
	fmt.Fprintf(w, "\n%s: %s in %s; %s, filled %s, fee %s\n", o.Strategy, o.terms(), o.Market, o.how(), o.Filled, o.Fee)
	for i := range s.Steps {
		step := &s.Steps[i]
		for n, line := range step.Lines {
			at := clockOf(step.AtMS)
			if n > 0 {
				at = ""
			}
			fmt.Fprintf(w, "%-23s  %s\n", at, line)
		}
	}
	_, err := fmt.Fprintf(w, "%d entries of the journal\n", len(s.Steps))
	return err
}
