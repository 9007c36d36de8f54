package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/results"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/view"
)

// watchParameter lets a browser ask for the page again every five seconds.
const watchParameter = "watch"

// watchLinks are the links to a page that stands still, and to the same that is asked for again.
func watchLinks(page string, q url.Values) Choices {
	watched := q.Get(watchParameter) == "true"
	link := func(watch bool) string {
		all := maps.Clone(q)
		delete(all, watchParameter)
		if watch {
			all.Set(watchParameter, "true")
		}
		return page + "?" + all.Encode()
	}
	return Choices{"This page is", []Choice{{"standing still", link(false), !watched},
		{"again every 5 s", link(true), watched}}}
}

// SweepsOf makes the page of searches. q is the query of its address.
func SweepsOf(list *results.Sweeps, q url.Values, nowMS int64) Parts {
	p := Parts{list.Standing}
	if slices.ContainsFunc(list.Sweeps, func(s results.Sweep) bool { return s.State == results.Running }) {
		p = append(p, watchLinks("sweeps", q))
	}
	if list.Missing {
		return p
	}
	t := Table{Empty: "There is no search here. bot sweep, bot walkforward, bot placebo and bot stress write their " +
		"files and pages to out.",
		Head: []string{"Search", "Kind", "State", "Sets", "Rate", "Left", "Varied", "Page", "Written"}}
	for i := range list.Sweeps[:min(len(list.Sweeps), maxSweepRows)] {
		t.Rows = append(t.Rows, sweepRow(&list.Sweeps[i], nowMS))
	}
	if left := len(list.Sweeps) - maxSweepRows; left > 0 {
		t.Title = fmt.Sprintf("The newest %d; %d older ones are left out", maxSweepRows, left)
	}
	return append(p, t, view.Note("Sets are those in the file. Of a grid the file does not tell which sets the "+
		"parameters' own rules leave out, so that its number of sets is a bound. The rate is known after the second "+
		"look."))
}

// maxSweepRows is the number of searches on the page.
const maxSweepRows = 100

// sweepRow is a search in the list.
func sweepRow(s *results.Sweep, nowMS int64) Row {
	name := Cell{Text: s.Name, Class: "left"}
	switch s.Kind {
	case results.SweepKind, results.PlaceboKind:
		name.Path = named("sweep", s.Name)
	case results.WalkForward:
		name.Path = named("result", s.Name)
	}
	html := Cell{Text: "–"}
	if s.Page != "" {
		html = Cell{Text: "open", Path: named("file", s.Page)}
	}
	if s.Error != "" {
		return row(name, text(s.Kind), Cell{Text: s.Error, Class: "left bad"}, text(""), text(""), text(""), text(""),
			html, text(age(s.ChangedMS, nowMS)))
	}
	return row(name, text(s.Kind), stateOf(s), text(progressOf(s)), text(rateOf(s)), text(leftOf(s)),
		left(variedBriefly(s)), html, text(age(s.ChangedMS, nowMS)))
}

// stateOf is the state of a search.
func stateOf(s *results.Sweep) Cell {
	words := s.State
	if s.Machines {
		words += ", workers on machines"
	}
	if s.State == results.Stopped {
		return Cell{Text: words, Class: "wait"}
	}
	return text(words)
}

// progressOf says how many sets have run.
func progressOf(s *results.Sweep) string {
	switch {
	case s.Kind == results.PlaceboKind:
		return fmt.Sprintf("%d surrogates", s.Done)
	case s.Total == 0 && s.Done == 0:
		return "–"
	}
	words := fmt.Sprint(s.Done)
	if s.State != results.Finished && s.Total > 0 {
		most := ""
		if s.AtMost {
			most = "at most "
		}
		words += fmt.Sprintf(" of %s%d", most, s.Total)
	}
	if s.Parts > 0 {
		words += fmt.Sprintf(", %d on parts", s.Parts)
	}
	return words
}

// rateOf is the rate of a search that runs.
func rateOf(s *results.Sweep) string {
	if !s.Rate.Defined() {
		return "–"
	}
	return s.Rate.Text(1) + " a second"
}

// leftOf is the time that a search has left at its rate.
func leftOf(s *results.Sweep) string {
	if !s.LeftS.Defined() {
		return "–"
	}
	return age(1, 1+int64(min(float64(s.LeftS), 1e9)*1000))
}

// variedBriefly names what is varied.
func variedBriefly(s *results.Sweep) string {
	var keys []string
	for _, text := range s.Space {
		key, _, is := strings.Cut(text, "=")
		if is {
			keys = append(keys, key[strings.LastIndexByte(key, '.')+1:])
		}
	}
	return brief(keys)
}

// SweepOf makes the page of a search. q is the query of its address: pair names the parameters of
// its map.
func SweepOf(f *results.Searched, q url.Values, nowMS int64) Parts {
	p := Parts{Name(f.Name)}
	if f.State == results.Running {
		p = append(p, watchLinks("sweep", q), Progress{f.Done + f.Parts, f.Total})
	}
	if f.Outcome != nil {
		j := f.Outcome.Judged()
		said := append([]string{j.Answer.Says}, j.Sentences()...)
		if f.State != results.Finished {
			said = append([]string{"The search is not finished: this is the verdict on the sets so far."}, said...)
		}
		p = append(p, Warnings(j.Warnings()), Verdict(append(said, f.Outcome.Counts())))
	}
	p = append(p, sweepCards(f, nowMS))
	if f.Machines {
		p = append(p, workersTable(f, nowMS))
	}
	if missing := cmp.Or(f.Error, f.Missing); missing != "" {
		p = append(p, view.Note(missing))
	}
	if f.Page != "" {
		p = append(p, Choices{Of: []Choice{{Text: "The page that the search wrote", Path: named("file", f.Page)}}})
	}
	if f.Outcome == nil {
		return append(p, valuesTable(&f.Sweep))
	}
	return append(append(p, ranked(f, q.Get("pair"))...), valuesTable(&f.Sweep),
		view.Note("The verdict here counts the tries of this sweep alone. SPA, PBO and the tries of earlier searches "+
			"are in the page that bot sweep writes."))
}

// sweepCards are the headlines of a search.
func sweepCards(f *results.Searched, nowMS int64) Cards {
	state := stateOf(&f.Sweep)
	cards := Cards{{"State", state, text("written " + age(f.ChangedMS, nowMS) + " ago")},
		{"Sets", text(progressOf(&f.Sweep)), text(f.Method)}}
	if f.State == results.Running {
		cards = append(cards, Card{"Left", text(leftOf(&f.Sweep)), text(rateOf(&f.Sweep))})
	}
	if f.Outcome == nil {
		return cards
	}
	j := f.Outcome.Judged()
	return append(cards,
		Card{"Sharpe in excess", text(j.Excess.Text(2)), text("of the best; against cash " + j.Sharpe.Text(2))},
		Card{"Bar of luck", text(fmt.Sprintf("%.2f", j.Luck.Bar)), text("5 in 100 worthless searches show more")},
		Card{"1 − DSR", text(j.DSR.Value.Text(3)), text("after the tries of this sweep")},
		Card{"Plateau", text(j.Plateau.Value.Text(2)), text("of the lead belongs to neighbours")})
}

// ranked are the best sets and the pictures of all, with the objectives and the pairs of parameters
// to choose from.
func ranked(f *results.Searched, pair string) Parts {
	link := func(objective, pair string) string {
		q := url.Values{"name": {f.Name}, "objective": {objective}}
		if pair != "" {
			q.Set("pair", pair)
		}
		return "sweep?" + q.Encode()
	}
	objectives, pairs := Choices{Label: "Rank by"}, Choices{}
	for _, name := range results.Objectives() {
		objectives.Of = append(objectives.Of, Choice{name, link(name, pair), name == f.Objective})
	}
	known := slices.Contains(f.Pairs, pair)
	for i, name := range f.Pairs {
		pairs.Of = append(pairs.Of, Choice{name, link(f.Objective, name), name == pair || !known && i == 0})
	}
	p := Parts{objectives, bestTable(f), view.Note("Neighbours: the mean over the sets one step away along one " +
		"parameter, and how many ran. A best set whose neighbours are much worse stands alone.")}
	if figure, is := f.Map(pair); is {
		p = append(p, Section{"By two parameters", Parts{pairs, figure}})
	}
	if figure, is := f.Strands(); is {
		p = append(p, Section{"All parameters at once", Parts{figure}})
	}
	return p
}

// bestTable lists the best sets.
func bestTable(f *results.Searched) Table {
	top := Table{Title: "The best by " + f.Objective, Empty: "No set is ranked.", Head: []string{"Set", "Value",
		"Neighbours", "Sharpe", "In excess", "Return", "Drawdown", "Trips", "Fees"}}
	for i := range f.Outcome.Top {
		r := &f.Outcome.Top[i]
		around := "–"
		if f.Around[i].Sets > 0 {
			around = fmt.Sprintf("%s (%d)", f.Around[i].Mean.Text(3), f.Around[i].Sets)
		}
		one := row(left(research.SettingsText(r.Settings)), text(r.Value.Text(3)), text(around),
			text(r.Figure("sharpe").Text(2)), text(r.Excess.Text(2)))
		for _, name := range [...]string{"return", "drawdown", "trips", "fees"} {
			one.Cells = append(one.Cells, text(research.FigureText(name, r.Figure(name))))
		}
		top.Rows = append(top.Rows, one)
	}
	return top
}

// maxValues is the number of values of a setting that are shown.
const maxValues = 12

// workersTable lists the workers of a sweep.
func workersTable(f *results.Searched, nowMS int64) Table {
	t := Table{Title: "Workers", Head: []string{"Worker", "State", "Cores", "Groups finished", "Joined", "Heard"},
		Empty: "No worker has joined: nothing runs."}
	for i := range f.Workers[:min(len(f.Workers), maxWorkerRows)] {
		w := &f.Workers[i]
		state := text("works")
		switch {
		case w.Left != "":
			state = Cell{Text: w.Left, Class: "wait"}
		case f.State != results.Running:
			state = Cell{Text: "the search does not go on", Class: "wait"}
		}
		t.Rows = append(t.Rows, row(left(w.Name), state, text(fmt.Sprint(w.Cores)), text(fmt.Sprint(w.Groups)),
			text(age(w.JoinedMS, nowMS)), text(age(w.HeardMS, nowMS))))
	}
	if more := len(f.Workers) - maxWorkerRows; more > 0 {
		t.Title = fmt.Sprintf("The first %d workers; %d more are left out", maxWorkerRows, more)
	}
	return t
}

// maxWorkerRows is the number of workers on the page of a search.
const maxWorkerRows = 200

// valuesTable lists the settings that are varied.
func valuesTable(s *results.Sweep) Table {
	t := Table{Title: "What is varied", Head: []string{"Setting", "Values"}, Empty: "The file does not tell."}
	for _, one := range s.Space {
		key, values, _ := strings.Cut(one, "=")
		list := strings.Split(values, ",")
		if n := len(list); n > maxValues {
			values = fmt.Sprintf("%s, %s … %s (%d values)", list[0], list[1], list[n-1], n)
		} else {
			values = strings.Join(list, ", ")
		}
		t.Rows = append(t.Rows, row(left(key), left(values)))
	}
	return t
}

// maxGaps is the number of gaps on the page.
const maxGaps = 20

// GapsOf makes the page of gaps: the ways from backtests to live.
func GapsOf(list *results.Gaps, nowMS int64) Parts {
	p := Parts{list.Standing}
	for i := range list.Gaps[:min(len(list.Gaps), maxGaps)] {
		g := &list.Gaps[i]
		name := g.Name
		if name == "." {
			name = path.Base(list.Folder)
		}
		parts := Parts{view.Note(time.UnixMilli(g.ChangedMS).UTC().Format("2006-01-02 15:04") + " UTC, " +
			age(g.ChangedMS, nowMS) + " ago"), Choices{Of: fileLinks(g.Files)}}
		if g.Error != "" {
			p = append(p, Section{name, append(parts, view.Warning(g.Error))})
			continue
		}
		steps := Table{Head: []string{"Fact", "Step", "Profit"}, Empty: "The file has no steps."}
		for _, s := range g.Steps {
			steps.Rows = append(steps.Rows, row(left(s.Fact), signed("", s.Step), signed("", s.Profit)))
		}
		p = append(p, Section{name, append(parts, Cards{{"Backtest", signed("", g.Backtest), text("profit")},
			{"Live", signed("", g.Live), text("profit")}, {"Gap", signed("", g.Gap), text("live less backtest")}},
			steps)})
	}
	if len(list.Gaps) == 0 && !list.Missing {
		p = append(p, view.Note("There is no gap here. bot gap -c FILE --out out/gap writes the way from the backtest "+
			"to live."))
	}
	return p
}
