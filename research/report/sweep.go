package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

// Sweep is the content of the page of a sweep.
type Sweep struct {
	Title     string
	Synthetic bool
	Found     *research.Found
	Outcome   *research.Outcome // of Found
	Space     *research.Space   // of the job
	Commands  []string          // run the sets of the top again, in their order
	Again     *backtest.Track   // of the winner, run again: it has the hold; nil: none is drawn
}

// Doc is the document. It reads the daily returns of all sets.
func (s *Sweep) Doc() (*view.Doc, error) {
	halves, err := s.halves()
	if err != nil {
		return nil, err
	}
	equity, err := s.equity(halves)
	if err != nil {
		return nil, err
	}
	o := s.Outcome
	judged := o.Judged()
	p := &view.Doc{Kind: "sweep", Title: s.Title, Lead: s.lead(), Synthetic: s.Synthetic, Cards: s.cards(),
		Verdict:  verdictOf(judged.Answer, slices.Concat(o.DataWarnings, judged.Warnings()), judged.Sentences()),
		Identity: s.identity()}
	for _, one := range [...]view.Section{
		{Title: "The best set, a hold and all sets", Parts: equity},
		{Title: "The best sets", Parts: append(s.table(), s.top()...)},
		{Title: "Different hills: one set a plateau", Parts: s.hills()},
		{Title: "The best, and luck", Parts: s.luck(halves)},
		{Title: "What the best is worth", Parts: []view.Part{s.findings()}},
		{Title: "Which parameters matter", Parts: s.matter()},
		{Title: "By two parameters", Parts: append(s.maps(), s.coarse()...)},
		{Title: "All parameters at once", Parts: s.parallel()},
		{Title: "The way of the search", Parts: s.history()},
		{Title: "The first half of the days, and the second", Parts: s.stability(halves)},
		{Title: "Choosing in one half, looking at the other", Parts: s.splits()},
		{Title: "What was tried", Parts: s.tried()},
	} {
		if len(one.Parts) > 0 {
			p.Sections = append(p.Sections, one)
		}
	}
	return p, nil
}

// verdictOf is the box of an answer.
func verdictOf(a research.Answer, warnings, texts []string) view.Verdict {
	tone := map[research.AnswerKind]view.Tone{research.ProbablyLuck: view.Bad, research.NoAnswer: view.Bad,
		research.CannotTell: view.Open, research.HardByLuck: view.Good}[a.Kind]
	return view.Verdict{Answer: a.Says, Tone: tone, Warnings: warnings, Texts: texts}
}

// lead is the range, the method and the objective.
func (s *Sweep) lead() string {
	o := s.Outcome
	text := fmt.Sprintf("%s to %s, %s daily returns · method %s · best by %s", date(o.From), date(o.To), number(o.Days),
		o.Identity.Method, o.Objective)
	if len(o.Require) > 0 {
		text += " where " + strings.Join(o.Require, " and ")
	}
	return text
}

// date is the day of a midnight, else the whole time.
func date(at backtest.Moment) string { return strings.TrimSuffix(at.String(), "T00:00:00Z") }

// number writes a whole number.
func number(n int) string { return backtest.Figure(n).Text(0) }

// cards are the headlines.
func (s *Sweep) cards() []page.Card {
	v, o := s.Outcome.Judged(), s.Outcome
	best := &research.Ranked{}
	if len(o.Top) > 0 {
		best = &o.Top[0]
	}
	text := func(name string) string { return research.FigureText(name, best.Figure(name)) }
	return []page.Card{
		{Title: "return", Value: text("return"), Note: "of the best; a hold " + best.Figure("hold_return").Percent(1)},
		{Title: "Sharpe", Value: v.Sharpe.Text(2), Note: "of the best, against cash"},
		{Title: "Sharpe in excess", Value: v.Excess.Text(2),
			Note: fmt.Sprintf("of a hold; 5 in 100 worthless searches show %.2f", v.Luck.Bar)},
		{Title: "drawdown", Value: text("drawdown"), Note: "of the best"},
		{Title: "round trips", Value: text("trips"), Note: "of the best"},
		{Title: "sets tried", Value: number(o.Tried), Note: number(o.Distinct) + " different series of returns"},
	}
}

// FindingOf is a figure of the statistics with its explanation. The value is a text, such as
// "0.043", or why there is none.
func FindingOf(f stats.Figure, value string) view.Finding {
	e := stats.Explain(f)
	return view.Finding{Asks: questions[f], Name: e.Name, Value: value, Says: e.Says, SaysNot: e.SaysNot}
}

// questions are what a trader asks where a figure is a p-value or such a share.
var questions = map[stats.Figure]string{
	stats.FigureSPA:     "All sets together: do searches on worthless data find as good a best set?",
	stats.FigureDSR:     "The winner as one of all tries: does it stand out?",
	stats.FigureP:       "The record alone, as if nothing else had been tried: is it luck?",
	stats.FigurePBO:     "Does the winner of one half of the days stay good in the other?",
	stats.FigurePlacebo: "Does the same search find as much where there is nothing to find?",
}

// findings are the figures of the verdict with their explanations.
func (s *Sweep) findings() view.Findings {
	v := s.Outcome.Judged()
	var list view.Findings
	for _, one := range [...]struct {
		figure stats.Figure
		found  research.Finding
	}{{stats.FigureSPA, v.SPA}, {stats.FigureDSR, v.DSR}, {stats.FigureP, v.PSR}, {stats.FigurePBO, v.PBO},
		{stats.FigurePlateau, v.Plateau}} {
		f := FindingOf(one.figure, one.found.Value.Text(3))
		if one.found.Missing != "" {
			f.Says, f.SaysNot = "Missing: "+one.found.Missing+".", ""
		}
		list = append(list, f)
	}
	if at := v.Luck.Detectable; at > 0 {
		list = append(list, FindingOf(stats.FigureDetectable, fmt.Sprintf("%.2f", at)))
	}
	return list
}

// topColumns are the figures of the table of the best.
var topColumns = [...]struct{ title, name string }{
	{"return", "return"}, {"drawdown", "drawdown"}, {"trips", "trips"}, {"fees", "fees"}, {"in market", "exposure"},
}

// top is the table of the best, with the commands that run them again.
func (s *Sweep) top() []view.Part {
	o := s.Outcome
	if len(o.Top) == 0 {
		return []view.Part{view.Text("No set meets " + strings.Join(o.Require, " and ") + ".")}
	}
	own := s.ownObjective()
	head := []string{"set"}
	if own {
		head = append(head, "objective")
	}
	head = append(head, "Sharpe", "in excess", "1 − DSR")
	for _, c := range topColumns {
		head = append(head, c.title)
	}
	var rows [][]string
	for i := range o.Top {
		r := &o.Top[i]
		row := []string{research.SettingsText(r.Settings)}
		if own {
			row = append(row, r.Value.Text(3))
		}
		row = append(row, r.Figure("sharpe").Text(2), r.Excess.Text(2), r.DSR.Value.Text(3))
		for _, c := range topColumns {
			row = append(row, research.FigureText(c.name, r.Figure(c.name)))
		}
		rows = append(rows, row)
	}
	e := stats.Explain(stats.FigureDSR)
	return []view.Part{
		view.Terminal{Part: view.Table{Grid: page.Grid{Head: head, Rows: rows}, Class: ""}},
		view.Terminal{Part: view.Note(fmt.Sprintf("1 − DSR is the p that a set would have as the winner of the %s "+
			"tries of this sweep. %s %s", number(o.Verdict.Luck.Sets), e.Says, e.SaysNot))},
		view.Fold{Title: "The commands that run the best ten again, with all files",
			Parts: []view.Part{view.Commands(s.Commands)}},
	}
}

// tried says what was tried, and what was not.
func (s *Sweep) tried() []view.Part {
	o := s.Outcome
	head := []string{"setting", "values"}
	var rows [][]string
	for _, d := range s.Space.Dimensions() {
		text := strings.Join(d.Values, ", ")
		if n := len(d.Values); n > 12 {
			text = fmt.Sprintf("%s, %s … %s (%s values)", d.Values[0], d.Values[1], d.Values[n-1], number(n))
		}
		rows = append(rows, []string{d.Key, text})
	}
	e := stats.Explain(stats.FigureTries)
	parts := []view.Part{view.Table{Grid: page.Grid{Head: head, Rows: rows}, Class: "texts"}, view.Text(o.Counts()),
		view.Note(fmt.Sprintf("Tries: %s. %s %s", number(o.Judged().Luck.Sets), e.Says, e.SaysNot))}
	if len(o.Require) > 0 {
		parts = append(parts, view.Note(strings.Join(o.Require, " and ")+
			" is a filter on the whole sample: it uses what could not be known before."))
	}
	return parts
}

// coarse is the map of a terminal.
func (s *Sweep) coarse() []view.Part {
	m := s.Outcome.Map
	says := fmt.Sprintf("Mean %s by %s (across)", s.Outcome.Objective, m.X)
	if m.Y != "" {
		says += fmt.Sprintf(" and %s (down)", m.Y)
	}
	table := view.Table{Grid: page.Grid{Head: append([]string{""}, m.Columns...)}}
	for i, cells := range m.Cells {
		row := []string{m.Rows[i]}
		for _, c := range cells {
			row = append(row, cellText(c))
		}
		table.Rows = append(table.Rows, row)
	}
	return []view.Part{view.Terminal{Part: view.Text(says + "; a cell is named by its first value")},
		view.Terminal{Part: table}}
}

// cellText is a cell of the coarse map in few characters.
func cellText(f backtest.Figure) string {
	switch {
	case !f.Defined():
		return "·"
	case f >= 1000 || f <= -1000:
		return fmt.Sprintf("%.0fk", float64(f)/1000)
	case f >= 100 || f <= -100:
		return f.Text(0)
	}
	return strings.Replace(f.Text(1), "-0.0", "0.0", 1)
}

// identity lists file, seed, program, config and candles of the sweep.
func (s *Sweep) identity() []page.Pair {
	id := &s.Outcome.Identity
	return []page.Pair{{Name: "file", Text: s.Outcome.File}, {Name: "seed", Text: fmt.Sprint(id.Seed)},
		{Name: "code", Text: id.Code}, {Name: "config", Text: id.Config}, {Name: "data", Text: id.Data}}
}

// finite reports whether x can be drawn.
func finite(x float64) bool { return backtest.Figure(x).Defined() }
