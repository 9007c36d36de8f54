package bridge

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
)

// stepsHead is the first line of WriteSteps.
var stepsHead = []string{"strategy", "fact", "profit", "step", "mean", "least", "most", "range_only"}

// WriteSteps writes the steps of the account and of each strategy as CSV, a row each. The account
// has an empty strategy; the rows "backtest" and "live" have the ends of the way.
func WriteSteps(w io.Writer, r *gap.Comparison) error {
	out := csv.NewWriter(w)
	row(out, stepsHead...)
	writeSteps(out, &r.Account)
	for i := range r.Strategies {
		writeSteps(out, &r.Strategies[i])
	}
	return finish(out)
}

func writeSteps(out *csv.Writer, b *gap.Bridge) {
	row(out, b.Name, "backtest", b.Profits[0].String(), "", "", "", "", "")
	for i := range b.Terms {
		t := &b.Terms[i]
		row(out, b.Name, t.Fact, b.Profits[i+1].String(), t.Step.String(), t.Mean.String(), t.Least.String(),
			t.Most.String(), strconv.FormatBool(t.RangeOnly))
	}
	row(out, b.Name, gap.Unexplained, b.Live.String(), b.Unexplained.String(), "", "", "", "")
	row(out, b.Name, "live", b.Live.String(), b.Gap.String(), "", "", "", "")
}

// episodesHead is the first line of WriteEpisodes.
var episodesHead = []string{"episode", "strategy", "from_ms", "to_ms", "open", "gap", "orders", "cause", "market",
	"order", "text", "contributing"}

// WriteEpisodes writes all episodes as CSV, a row each, in the order of their beginnings. order is
// the live order of the first cause, for bot explain; empty: there is none.
func WriteEpisodes(w io.Writer, r *gap.Comparison) error {
	out := csv.NewWriter(w)
	row(out, episodesHead...)
	for i := range r.Episodes {
		e := &r.Episodes[i]
		order := ""
		if e.Root.Order != 0 {
			order = fmt.Sprint(e.Root.Order)
		}
		row(out, strconv.Itoa(e.Number), e.Strategy, fmt.Sprint(e.From.Millis()), fmt.Sprint(e.To.Millis()),
			strconv.FormatBool(e.Open), e.Gap.String(), strconv.Itoa(e.Orders), e.Root.Fact, e.Root.Market, order,
			e.Root.Text, contributing(e))
	}
	return finish(out)
}

// row writes a row. An error stays in the writer until finish.
func row(out *csv.Writer, fields ...string) { _ = out.Write(fields) }

func finish(out *csv.Writer) error {
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write the CSV of a gap: %w", err)
	}
	return nil
}
