package bot

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/strategy"
)

func strategiesCommand(a *app) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "strategies [NAME]", Short: "List the strategies with their parameters", Args: cobra.MaximumNArgs(1),
		Example: "  bot strategies\n  bot strategies smacross\n  bot strategies --json",
		RunE: a.enter(func(_ context.Context, args []string) error {
			kinds, err := a.chosen(args)
			if err != nil {
				return err
			}
			return a.listStrategies(kinds, asJSON)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// chosen returns the kind that the argument names; without an argument, all.
func (a *app) chosen(args []string) ([]strategy.Definition, error) {
	if len(args) == 0 {
		return a.Definitions, nil
	}
	for _, k := range a.Definitions {
		if k.Name == args[0] {
			return []strategy.Definition{k}, nil
		}
	}
	return nil, config.Usagef("%w", plan.UnknownStrategy(args[0], a.Definitions))
}

// strategyInfo is a kind as a program reads it.
type strategyInfo struct {
	Name      string      `json:"name"`
	Doc       string      `json:"doc"`
	Candles   bool        `json:"needs_candles"`
	Ticker    bool        `json:"needs_ticker"`
	Book      bool        `json:"needs_book"`
	Intervals []string    `json:"more_intervals"`
	Warmup    int         `json:"warmup_candles"`
	Warmups   []int       `json:"more_warmup_candles"` // by place in Intervals
	Params    []paramInfo `json:"params"`

	Words []strategy.Word `json:"words,omitempty"` // of the language of a strategy that stands in a config
}

// paramInfo is a parameter as a program reads it.
type paramInfo struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Default string `json:"default"`
	Min     string `json:"min,omitempty"`
	Max     string `json:"max,omitempty"`
	OneOf   string `json:"one_of,omitempty"`
	Unit    string `json:"unit,omitempty"`
	Doc     string `json:"doc"`
}

func describe(k strategy.Definition) (strategyInfo, error) {
	needs, err := k.Needs(nil)
	info := strategyInfo{Name: k.Name, Doc: k.Doc, Candles: true, Ticker: needs.Ticker, Book: needs.Book,
		Intervals: []string{}, Warmup: needs.Warmup, Warmups: []int{}, Params: []paramInfo{}, Words: k.Words()}
	for _, c := range needs.Of(0)[1:] {
		info.Intervals, info.Warmups = append(info.Intervals, c.Interval.String()), append(info.Warmups, c.Warmup)
	}
	for _, p := range k.Params() {
		info.Params = append(info.Params, paramInfo(p))
	}
	return info, err
}

func (a *app) listStrategies(kinds []strategy.Definition, asJSON bool) error {
	infos := make([]strategyInfo, 0, len(kinds))
	for _, k := range kinds {
		info, err := describe(k)
		if err != nil {
			return err
		}
		infos = append(infos, info)
	}
	if asJSON {
		return console.PrintJSON(a.Stdout, infos)
	}
	for i := range infos {
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		if err := infos[i].print(a.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// print writes the strategy for a person.
func (s *strategyInfo) print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n  needs %s\n", s.Name, s.Doc, s.needsText())
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(s.Params) > 0 {
		fmt.Fprintln(table, "  parameter\ttype\tdefault\tbounds\tmeaning")
	}
	for i := range s.Params {
		p := &s.Params[i]
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", p.Name, p.Type, p.Default, p.bounds(), p.Doc)
	}
	if err := table.Flush(); err != nil || len(s.Words) == 0 {
		return err
	}
	fmt.Fprintln(table, "  word\twarm-up\texample\tmeaning")
	for _, word := range s.Words {
		fmt.Fprintf(table, "  %s\t%d\t%s\t%s\n", word.Use, word.Warmup, word.Example, word.Doc)
	}
	return table.Flush()
}

// needsText lists the data that the strategy needs, and its warm-up.
func (s *strategyInfo) needsText() string {
	list := append([]string{"candles"}, s.Intervals...)
	if s.Ticker {
		list = append(list, "ticker")
	}
	if s.Book {
		list = append(list, "order book")
	}
	text := fmt.Sprintf("%s; warm-up %d candles", strings.Join(list, ", "), s.Warmup)
	for i, candles := range s.Warmups {
		text += fmt.Sprintf(" and %d of %s", candles, s.Intervals[i])
	}
	return text + ", with the defaults"
}

func (p *paramInfo) bounds() string {
	switch {
	case p.OneOf != "":
		return p.OneOf
	case p.Min == "" && p.Max == "":
		return "-"
	case p.Max == "":
		return "from " + p.Min
	case p.Min == "":
		return "up to " + p.Max
	}
	return p.Min + " to " + p.Max
}
