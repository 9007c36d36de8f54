// Package bridge shows the gap of a bot: a page with the way from the backtest to live, fact by
// fact and order by order, and the same as CSV. It computes nothing: package gap does. Start at
// Page.
package bridge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// The most episodes on the page, and on a terminal. The CSV has all.
const (
	mostEpisodes   = 200
	mostOnTerminal = 10
)

// Page is the page of the gap of the bot in a state folder.
func Page(r *gap.Comparison, state string) *view.Doc {
	v := answer{r, state}
	p := &view.Doc{Kind: "gap", Title: state, Lead: v.lead(), Verdict: v.verdict(), Cards: v.cards()}
	whole := view.Choice{Label: "show", Options: []view.Option{{Name: "account", Parts: v.way(&r.Account)}}}
	for i := range r.Strategies {
		if b := &r.Strategies[i]; len(r.Strategies) > 1 {
			whole.Options = append(whole.Options, view.Option{Name: b.Name, Parts: v.way(b)})
		}
	}
	steps := "Step: the difference of two neighbours on the way; the steps add up to the gap. Mean, least and most: " +
		"over the 12 orders in which data, people, orders and fills can be added. Prices and fees need recorded " +
		"fills and come last."
	if r.Account.Terms[0].Fact == gap.SignalsStep {
		steps += " Signals come first: the backtest hears them as they were sent."
	}
	p.Sections = []view.Section{{Title: "From the backtest to live", Parts: []view.Part{whole, v.facts(), view.Note(
		steps), view.Note(matched(&r.Matched))}}, {Title: "By order", Parts: v.orders()}}
	if parts := v.notes(); len(parts) > 0 {
		p.Sections = append(p.Sections, view.Section{Title: "What the record lacks, and what is assumed", Parts: parts})
	}
	return p
}

// answer writes the parts of the page.
type answer struct {
	*gap.Comparison
	state string
}

func (v *answer) lead() string {
	starts := "one start"
	if v.Starts != 1 {
		starts = fmt.Sprintf("%d starts", v.Starts)
	}
	return fmt.Sprintf("%s to %s, %s", minute(v.From), minute(v.To), starts)
}

// minute is a time to the second.
func minute(at market.Time) string { return at.Std().Format("2006-01-02 15:04:05") }

// verdict says how large the gap is, and which fact makes most of it.
func (v *answer) verdict() (out view.Verdict) {
	b := &v.Account
	if b.Gap.Units == 0 && len(v.Episodes) == 0 {
		out.Texts = append(out.Texts, fmt.Sprintf("Live has earned what the backtest earns: %s %s.", b.Live,
			v.Currency))
	} else {
		out.Texts = append(out.Texts, fmt.Sprintf("Live has earned %s %s, the backtest %s: the difference is %s, "+
			"%.2f bps of a turnover of %s.", b.Live, v.Currency, b.Profits[0], Signed(b.Gap), b.BPS(b.Gap), b.Turnover))
		most := slices.MaxFunc(b.Terms, func(x, y gap.Term) int { return cmp.Compare(size(x.Step), size(y.Step)) })
		out.Texts = append(out.Texts, fmt.Sprintf("The largest step on the way is %s, %s: %s.", Signed(most.Step),
			most.Fact, most.About))
	}
	if b.Equity.Units > 0 {
		out.Texts = append(out.Texts, fmt.Sprintf("The tracking error is %.2f bps of the %s %s at the beginning.",
			b.TrackingBPS(b.Gap), b.Equity, v.Currency))
	}
	if !v.Matched.Enough() {
		out.Warnings = append(out.Warnings,
			fmt.Sprintf("%d of %d orders of the run with %s have a live order: too few "+
				"for a mean of each term. The ranges stand alone.", v.Matched.Matched, v.Matched.Orders, v.Matched.Run))
	}
	if bps := b.BPS(b.Unexplained); bps > 1 || bps < -1 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s %s are unexplained: %.2f bps of the turnover, more than 1.",
			b.Unexplained, v.Currency, bps))
	}
	return out
}

func size(a gap.Amount) market.Money { return max(a.Units, -a.Units) }

// Signed is an amount with its sign.
func Signed(a gap.Amount) string {
	if a.Units > 0 {
		return "+" + a.String()
	}
	return a.String()
}

func (v *answer) cards() []page.Card {
	b := &v.Account
	class := ""
	if b.Gap.Units > 0 {
		class = "up"
	} else if b.Gap.Units < 0 {
		class = "down"
	}
	return []page.Card{
		{Title: "backtest", Value: b.Profits[0].String(), Note: "profit in " + v.Currency},
		{Title: "live", Value: b.Live.String(), Note: "profit in " + v.Currency},
		{Title: "gap", Value: Signed(b.Gap), Class: class,
			Note: fmt.Sprintf("%.2f bps of a turnover of %s", b.BPS(b.Gap), b.Turnover)},
		{Title: "unexplained", Value: b.Unexplained.String(),
			Note: fmt.Sprintf("%.2f bps of the turnover", b.BPS(b.Unexplained))},
		{Title: "episodes", Value: fmt.Sprint(len(v.Episodes)), Note: "times in which the orders differ"},
	}
}

// way is the picture and the table of the steps of the account, or of a strategy.
func (v *answer) way(b *gap.Bridge) []view.Part {
	return []view.Part{
		view.Figure{Chart: Picture(b, v.Currency), Caption: "Each step is a full run with one more kind of fact from " +
			"the record in the place of the model. The thin line is the range of a step over all orders in which " +
			"the facts can be added."},
		view.Table{Grid: v.terms(b)},
	}
}

// facts say what each step takes from the record.
func (v *answer) facts() view.Table {
	t := view.Table{Grid: page.Grid{Head: []string{"fact"}}, Class: "texts"}
	for i := range v.Account.Terms {
		one := &v.Account.Terms[i]
		t.Rows = append(t.Rows, []string{fmt.Sprintf("S%d %s: %s", i+1, one.Fact, one.About)})
	}
	return t
}

// matched says how far the terms can be believed.
func matched(m *gap.Match) string {
	if m.Orders == 0 {
		return "No orders were compared."
	}
	return fmt.Sprintf("%d of %d orders (%.1f %%) stand for live orders in the run with %s, which has the fewest.",
		m.Matched, m.Orders, 100*float64(m.Matched)/float64(m.Orders), m.Run)
}

// Picture is the way from the backtest to live, step by step.
func Picture(b *gap.Bridge, currency string) chart.Chart {
	at := func(a gap.Amount) float64 { return float64(a.Units) / float64(market.Pow10(a.Digits)) }
	point := func(name string, a gap.Amount) chart.Step {
		return chart.Step{Name: name, Label: a.String(), From: at(a), To: at(a)}
	}
	steps := []chart.Step{point("backtest", b.Profits[0])}
	for i := range b.Terms {
		t := &b.Terms[i]
		from := at(b.Profits[i])
		one := chart.Step{Name: t.Fact, Label: Signed(t.Step), From: from, To: at(b.Profits[i+1])}
		if t.Least != t.Most {
			one.Low, one.High = from+at(t.Least), from+at(t.Most)
		}
		steps = append(steps, one)
	}
	if b.Unexplained.Units != 0 {
		last := b.Profits[len(b.Profits)-1]
		steps = append(steps, chart.Step{Name: gap.Unexplained, Label: Signed(b.Unexplained), From: at(last),
			To: at(b.Live)})
	}
	steps = append(steps, point("live", b.Live))
	return chart.Chart{Label: "from the backtest to live, step by step", X: chart.Axis{Unit: "profit, " + currency},
		Panels: []chart.Panel{{Height: float64(22 + 30*len(steps)), Layers: []chart.Layer{chart.Bridge{Steps: steps}}}}}
}

// terms is the table of the steps.
func (v *answer) terms(b *gap.Bridge) page.Grid {
	g := page.Grid{Head: []string{"fact", "profit, " + v.Currency, "step", "bps of turnover", "mean", "least", "most"}}
	g.Rows = append(g.Rows, []string{"backtest", b.Profits[0].String(), "", "", "", "", ""})
	for i := range b.Terms {
		t := &b.Terms[i]
		mean := Signed(t.Mean)
		if t.RangeOnly {
			mean = "–"
		}
		g.Rows = append(g.Rows, []string{t.Fact, b.Profits[i+1].String(), Signed(t.Step),
			fmt.Sprintf("%.2f", b.BPS(t.Step)), mean, Signed(t.Least), Signed(t.Most)})
	}
	g.Rows = append(g.Rows, []string{gap.Unexplained, "", Signed(b.Unexplained),
		fmt.Sprintf("%.2f", b.BPS(b.Unexplained)), "", "", ""},
		[]string{"live", b.Live.String(), Signed(b.Gap), fmt.Sprintf("%.2f", b.BPS(b.Gap)), "", "", ""})
	return g
}

// orders are the episodes, those with the largest gaps first.
func (v *answer) orders() []view.Part {
	if len(v.Episodes) == 0 {
		return []view.Part{view.Text("Every order came to the same live and in the backtest.")}
	}
	parts := []view.Part{view.Text("An episode lasts from a strategy's first order that differs until live and " +
		"backtest hold the same again. Its first cause carries its gap, in " + v.Currency +
		"; other facts also changed orders in it.")}
	all := largest(v.Comparison, mostEpisodes)
	if len(all) < len(v.Episodes) {
		parts = append(parts, view.Page{Part: view.Text(fmt.Sprintf("The %d largest of %d episodes; the CSV has all.",
			len(all), len(v.Episodes)))})
	}
	g := page.Grid{Head: []string{"no.", "time", "gap", "strategy", "first cause", "also", "explain"}}
	few := []view.Part{view.Terminal{Part: view.Text(fmt.Sprintf("%d episodes, the largest first, %d at most:",
		len(v.Episodes), mostOnTerminal))}}
	for i := range all {
		e := &all[i]
		cause, also, story := e.Root.Fact+": "+e.Root.Market+" "+e.Root.Text, contributing(e), explain(e, v.state)
		g.Rows = append(g.Rows, []string{fmt.Sprint(e.Number), span(e), Signed(e.Gap), e.Strategy, cause, also, story})
		if also != "" {
			cause += "; also " + also
		}
		if i < mostOnTerminal {
			few = append(few, view.Terminal{Part: view.Text(span(e) + ", " + e.Strategy + ", " + Signed(e.Gap) + ", " +
				cause)}, view.Terminal{Part: view.Commands{story}})
		}
	}
	parts = append(append(parts, view.Page{Part: view.Table{Grid: g, Class: "texts"}}), few...)
	return append(parts, view.Note(fmt.Sprintf("Outside of episodes: %s %s, for rounding and dust.",
		Signed(v.Account.Outside), v.Currency)))
}

// largest are the episodes with the largest gaps, up or down, at most so many, the largest first.
func largest(r *gap.Comparison, most int) []gap.Episode {
	all := slices.Clone(r.Episodes)
	slices.SortStableFunc(all, func(a, b gap.Episode) int { return cmp.Compare(size(b.Gap), size(a.Gap)) })
	return all[:min(most, len(all))]
}

// span is the time of an episode.
func span(e *gap.Episode) string {
	to := minute(e.To)
	if e.Open {
		to = "the end, still open"
	} else if e.From.Day() == e.To.Day() {
		to = e.To.Std().Format("15:04:05")
	}
	return minute(e.From) + " to " + to
}

// contributing lists the further facts of an episode with the first order of each.
func contributing(e *gap.Episode) string {
	var parts []string
	for _, d := range e.Contributing {
		text := d.Fact
		if d.Order != 0 {
			text += fmt.Sprintf(" (order %d)", d.Order)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// explain is the command that tells more about the first cause of an episode of the bot in a state
// folder: the story of its live order, or, where live had none, of a contributing one, or why the
// strategy was refused orders.
func explain(e *gap.Episode, state string) string {
	for _, d := range append([]gap.Divergence{e.Root}, e.Contributing...) {
		if d.Order != 0 {
			return fmt.Sprintf("bot explain %d --state %s", d.Order, state)
		}
	}
	return fmt.Sprintf("bot explain --refused %s --state %s", e.Strategy, state)
}

func (v *answer) notes() (parts []view.Part) {
	for _, note := range v.Notes {
		parts = append(parts, view.Warning(note))
	}
	for _, note := range v.Assumptions {
		parts = append(parts, view.Text(note))
	}
	for i := range v.Refused {
		parts = append(parts, view.Text(v.Refused[i].String()))
	}
	return parts
}
