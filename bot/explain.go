package bot

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
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
	Number     uint64       `json:"number"`
	AtMS       int64        `json:"at_ms"`                 // when the bot noted it, by the exchange's clock as the bot knew it
	ExchangeMS int64        `json:"exchange_ms,omitempty"` // of a report: when the exchange says that it happened
	Kind       string       `json:"kind"`
	Risk       []figureInfo `json:"risk,omitempty"` // of an intent: what the gate looked at
	Says       any          `json:"says"`           // state.Fields
	Lines      []string     `json:"lines"`          // the same for a person
}

// figureInfo is one number that the gate looked at.
type figureInfo struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	Limit  string `json:"limit,omitempty"`
}

// storyOf tells the story of the order that somebody names: see state.BotStore.FindOrder.
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
	t := teller{catalog: store.Catalog(), fees: map[uuid.UUID]bool{}}
	for i := range story {
		s.Steps = append(s.Steps, stepOf(store, &t, &story[i]))
	}
	for i := range fills {
		s.Fills = append(s.Fills, store.DescribeFill(&fills[i]))
	}
	return s, nil
}

func stepOf(store *state.BotStore, t *teller, e *state.Entry) stepInfo {
	step := stepInfo{Number: e.Number, AtMS: e.At.Millis(), Kind: e.Kind.String(), Says: store.Describe(e), Lines: t.lines(e)}
	switch r := e.Record.(type) {
	case *state.Intent:
		for _, f := range r.Risk {
			step.Risk = append(step.Risk, figureInfo(f))
		}
	case *state.Report:
		if r.Updated != 0 {
			step.ExchangeMS = r.Updated.Millis()
		}
	}
	return step
}

// explain answers `bot explain`.
func (c *control) explain(ctx context.Context, ask *operatorAsk) (any, error) {
	if ask.Order == "" {
		return c.refusals(ctx, ask)
	}
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
	if len(s.Steps) == 0 {
		fmt.Fprintln(w, "its story was taken out of this file by bot state compact --keep")
	}
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
	_, err := fmt.Fprintf(w, "%d entries of the journal; times are UTC, and the bot's, by the exchange's clock as it knew it, where they are not the exchange's own\n", len(s.Steps))
	return err
}

const explainHelp = `Tells from the journal how an order came about, each with its time: the event, the decision, what the gate looked at before and after, the
request, the answers, the states, the fills, the fees. ORDER is its number, its client order id, the exchange's order id, or the first digits of
one of these ids, at least four, that no other order has.

--refused answers why a strategy, or any, did not trade: what it asked for in the last --since and the gate or the exchange refused, why, with the
value and its limit, how often, and whether it is halted.`

func (a *app) explainCommand() *cobra.Command {
	f, refused, since := &callerFlags{}, false, "24h"
	c := &cobra.Command{
		Use: "explain ORDER | --refused [STRATEGY]", Short: "Tell the story of an order, or why there is none", Args: cobra.MaximumNArgs(1), Long: explainHelp,
		Example: "  bot explain 12 -c configs/sandbox.toml\n  bot explain 8254ec74 --json\n  bot explain --refused maker --since 1h",
		RunE: a.enter(func(ctx context.Context, args []string) error {
			switch {
			case refused:
				return a.explainRefusals(ctx, f, strings.Join(args, ""), since)
			case len(args) == 0:
				return config.Usagef("want an order, or --refused")
			}
			answer, err := askOrRead(ctx, f, pathExplain, &operatorAsk{Order: args[0]}, func(store *state.BotStore) (*storyInfo, error) { return storyOf(store, args[0]) })
			if err != nil {
				return err
			}
			return show(a, f, answer, func(s *storyInfo) error { return s.print(a.Stdout) })
		}),
	}
	f.register(c)
	c.Flags().BoolVar(&refused, "refused", false, "what the gate and the exchange refused, instead of an order")
	c.Flags().StringVar(&since, "since", since, "with --refused: how far back `AGO` reaches, like 30m or 7d")
	return c
}

func (a *app) explainRefusals(ctx context.Context, f *callerFlags, strategy, ago string) error {
	since, err := parseAgo(ago)
	if err != nil {
		return config.Usagef("--since %w", err)
	}
	answer, err := askOrRead(ctx, f, pathExplain, &operatorAsk{Strategy: strategy, SinceMS: since.Milliseconds()}, func(store *state.BotStore) (*refusedInfo, error) {
		return storedRefusals(store, strategy, since)
	})
	if err != nil {
		return err
	}
	return show(a, f, answer, func(r *refusedInfo) error { return r.print(a.Stdout) })
}
