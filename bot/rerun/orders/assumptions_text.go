package orders

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// The quantiles that are shown.
var shown = [...]float64{0.5, 0.9, 0.95, 0.99}

// most steps of a survival curve that are shown.
const mostSteps = 8

// Print writes what was measured for a person.
func (m *Measured) Print(w io.Writer) error {
	fmt.Fprintf(w, "assumptions from %s\n\n", m.source())
	if err := m.printCosts(w); err != nil {
		return err
	}
	fmt.Fprint(w, "\nlatency, decision to acceptance:")
	for _, q := range shown {
		fmt.Fprintf(w, "  %.0f %% %s", 100*q, durationOrDash(m.latency(q)))
	}
	fmt.Fprintf(w, "  (%d orders", len(m.Latencies)+m.Unanswered)
	if m.Unanswered > 0 {
		fmt.Fprintf(w, ", %d of them without an answer count as endless", m.Unanswered)
	}
	fmt.Fprintln(w, ")")
	if err := m.printWaits(w); err != nil {
		return err
	}
	for _, c := range m.LeftOut {
		fmt.Fprintf(w, "left out: %d orders that %s\n", c.Orders, c.Why)
	}
	fmt.Fprintln(w)
	for _, s := range m.settings() {
		fmt.Fprintf(w, "%-17s %-9s %s\n", s.key, cmp.Or(s.measured, "-"), s.why)
	}
	return m.printGaps(w)
}

// printCosts writes the parts of what orders that met the market paid.
func (m *Measured) printCosts(w io.Writer) error {
	if len(m.Costs) == 0 {
		_, err := fmt.Fprintln(w, "no order met the market with its quotes recorded: spread and slippage are unknown")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "bps of the middle price at the decision\tmean by value\t10 %\t50 %\t90 %\t")
	for _, row := range [...]struct {
		name string
		part func(*Cost) float64
	}{{"delay until arrival", delay}, {"half spread at arrival", halfSpread}, {"slippage past that", slippage},
		{"together", total}} {
		parts := partsOf(m.Costs, row.part)
		fmt.Fprintf(table, "%s\t%.2f\t", row.name, mean(m.Costs, row.part))
		for _, q := range [...]float64{0.1, 0.5, 0.9} {
			fmt.Fprintf(table, "%s\t", figureOrDash(quantile(parts, q), enough(max(q, 1-q), len(parts))))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// printWaits writes how orders at rest were filled.
func (m *Measured) printWaits(w io.Writer) error {
	p, fills, candles := hazard(m.Waits)
	if candles == 0 {
		_, err := fmt.Fprintln(w, "no candle touched an order at rest: fills on touch are not known")
		return err
	}
	low, high := hazardBounds(m.Waits)
	fmt.Fprintf(w, "fills on touch: %d in %d touched candles of %s, %d orders at rest: %.3f a candle; %.3f if "+
		"canceled orders never fill, %.3f if all had filled at once\n",
		fills, candles, m.Interval, len(m.Waits), p, low, high)
	for _, part := range bySize(m.Waits) {
		p, fills, candles := hazard(part)
		fmt.Fprintf(w, "  orders of %.2f to %.2f: %d in %d, %.3f a candle; a fill takes %.0f %% of the order\n",
			part[0].Value, part[len(part)-1].Value, fills, candles, p, 100*filledShare(part))
	}
	steps := Survival(m.Waits)
	fmt.Fprintf(w, "unfilled after n touched candles (Kaplan-Meier, standard error; beside it (1-p)^n), median %s:\n",
		countOrDash(median(steps)))
	for i := range min(len(steps), mostSteps) {
		s := &steps[i]
		fmt.Fprintf(w, "  %d: %.3f +-%.3f, %.3f; %d of %d filled\n", s.Candles, s.Left, s.Error,
			math.Pow(1-p, float64(s.Candles)), s.Fills, s.AtRisk)
	}
	if m.Through == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "candles that traded through an order: %d of %d filled it whole; a backtest fills all\n",
		m.ThroughAll, m.Through)
	return err
}

// bySize splits waits into thirds by the value of their orders.
func bySize(waits []Wait) (parts [][]Wait) {
	sorted := slices.Clone(waits)
	slices.SortStableFunc(sorted, func(x, y Wait) int { return cmp.Compare(x.Value, y.Value) })
	n := len(sorted)
	for i := range 3 {
		if part := sorted[i*n/3 : (i+1)*n/3]; len(part) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// filledShare is the mean part of an order that its first fill on a touch took; 0: none filled.
func filledShare(waits []Wait) (mean float64) {
	fills := 0
	for i := range waits {
		if waits[i].Filled {
			mean += waits[i].Share
			fills++
		}
	}
	return mean / float64(max(1, fills))
}

// mostGaps is how many gaps of the record are listed.
const mostGaps = 10

func (m *Measured) printGaps(w io.Writer) error {
	for i := range min(len(m.Gaps), mostGaps) {
		g := &m.Gaps[i]
		fmt.Fprintf(w, "gap: %s, %s\n", g.Text, spanOf(g))
	}
	if more := len(m.Gaps) - mostGaps; more > 0 {
		fmt.Fprintf(w, "and %d more gaps\n", more)
	}
	return nil
}

func spanOf(g *Hole) string {
	switch {
	case g.From == 0 && g.To == 0:
		return "throughout"
	case g.From == 0:
		return "until " + g.To.String()
	case g.To == 0:
		return "from " + g.From.String() + " on"
	}
	return g.From.String() + " to " + g.To.String()
}

func durationOrDash(s float64) string {
	if math.IsNaN(s) {
		return "-"
	}
	return seconds(s).String()
}

func figureOrDash(f float64, known bool) string {
	if !known {
		return "-"
	}
	return fmt.Sprintf("%.2f", math.Round(100*f)/100+0) // + 0: no minus before a zero
}

func countOrDash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
