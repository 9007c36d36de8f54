// Package compare holds finished backtests against each other: which settings differ, whether they
// ran on the same candles, and how their daily returns differ. It reads result folders, runs
// nothing and prints nothing. Start at Read and Compare.
package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Schema is the version of the JSON of a Comparison.
const Schema = 1

// Comparison is the result of a comparison.
type Comparison struct {
	Schema   int       `json:"schema"`
	Currency string    `json:"currency"`
	Runs     []*Run    `json:"runs"`
	Warnings []string  `json:"warnings"` // sentences: other candles, range or version, too few trips
	Settings []Setting `json:"settings"` // those that differ
	// The runs have one hash of their configs, and of their candles; and one range.
	SameSettings bool   `json:"same_settings"`
	SameData     bool   `json:"same_data"`
	SameRange    bool   `json:"same_range"`
	Pairs        []Pair `json:"pairs"` // the first run with each of the others
}

// Setting is a setting that differs between runs.
type Setting struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // by run; empty: the run does not have it
}

// Pair is the difference of two runs, day by day, on the days that both have.
type Pair struct {
	First  string `json:"first"` // names of the runs
	Second string `json:"second"`
	Days   int    `json:"days"`
	// Mean is the mean daily return of the first less that of the second, Error its standard error.
	Mean  backtest.Figure `json:"mean_daily_difference"`
	Error backtest.Figure `json:"standard_error"`
	Block backtest.Figure `json:"block_days"` // mean length of the blocks of the bootstrap
	// P is the share of pairs of equally good runs that differ at least as much, by luck.
	P       backtest.Figure `json:"p"`
	Missing string          `json:"missing,omitempty"` // why there are no figures
}

// MaxRuns is the largest number of runs that a comparison takes: more curves cannot be told apart.
const MaxRuns = 6

const resamples = 4999

// Compare compares two to MaxRuns runs. Their currencies must be one.
func Compare(runs []*Run) (*Comparison, error) {
	if len(runs) < 2 || len(runs) > MaxRuns {
		return nil, fmt.Errorf("%d results: want 2 to %d", len(runs), MaxRuns)
	}
	first := runs[0]
	for i, r := range runs[1:] {
		if r.Result.Currency != first.Result.Currency {
			return nil, fmt.Errorf("%s counts in %s, %s in %s: amounts of different currencies cannot be compared",
				first.Dir, first.Result.Currency, r.Dir, r.Result.Currency)
		}
		if at := slices.IndexFunc(runs[:i+1], func(o *Run) bool { return o.Dir == r.Dir }); at >= 0 {
			return nil, fmt.Errorf("%s is there twice", r.Dir)
		}
	}
	name(runs)
	o := &Comparison{Schema: Schema, Currency: first.Result.Currency, Runs: runs, Settings: differing(runs),
		SameSettings: same(runs, func(r *Run) string { return r.Info.ConfigHash }),
		SameData:     same(runs, func(r *Run) string { return r.Info.DataHash }), SameRange: same(runs, (*Run).span)}
	o.Warnings = o.warnings()
	for _, r := range runs[1:] {
		o.Pairs = append(o.Pairs, pairOf(first, r))
	}
	return o, nil
}

// name gives each run the last part of its folder as a name, or the whole where two end alike.
func name(runs []*Run) {
	for _, r := range runs {
		last := func(o *Run) string { return o.Dir[strings.LastIndexAny(o.Dir, `/\`)+1:] }
		r.Name = last(r)
		for _, other := range runs {
			if other != r && last(other) == last(r) {
				r.Name = r.Dir
			}
		}
	}
}

// same reports whether all runs have the same text.
func same(runs []*Run, text func(*Run) string) bool {
	return !slices.ContainsFunc(runs, func(r *Run) bool { return text(r) != text(runs[0]) })
}

// warnings say what makes the runs hard to compare.
func (o *Comparison) warnings() []string {
	list := []string{}
	switch {
	case !o.SameRange:
		var spans []string
		for _, r := range o.Runs {
			spans = append(spans, r.Name+" "+r.span())
		}
		list = append(list, "The runs have different ranges, so that the figures are of different times: "+
			strings.Join(spans, "; ")+". The difference by day counts the days that both runs have; the results do "+
			"not tell whether the candles of these days are the same.")
	case !o.SameData:
		list = append(list, "The runs read different candles: a difference may be that of the candles, not of the "+
			"settings.")
	}
	if !same(o.Runs, func(r *Run) string { return r.Info.CodeVersion }) {
		list = append(list, "Different versions of the program made the runs: a difference may be that of the program.")
	}
	for _, r := range o.Runs {
		if r.Trips.Count < backtest.FewestTrips {
			list = append(list, r.Name+" made fewer than ten round trips: they are too few to tell it from luck.")
		}
	}
	return list
}

// span is the range of the run.
func (r *Run) span() string { return r.From.Date() + " to " + r.To.Date() }

// differing are the settings that differ, in the order in which a run has them.
func differing(runs []*Run) []Setting {
	list := []Setting{}
	seen := map[string]bool{}
	all := make([][]setting, len(runs))
	for i, r := range runs {
		all[i] = r.settings()
	}
	for i := range all {
		for _, s := range all[i] {
			if seen[s.name] {
				continue
			}
			seen[s.name] = true
			one := Setting{Name: s.name}
			for _, others := range all {
				one.Values = append(one.Values, valueOf(others, s.name))
			}
			if slices.ContainsFunc(one.Values, func(v string) bool { return v != one.Values[0] }) {
				one.Values = parts(one.Values)
				list = append(list, one)
			}
		}
	}
	return list
}

// parts leaves out the clauses that all texts have.
func parts(texts []string) []string {
	clauses, count := make([][]string, len(texts)), map[string]int{}
	for i, text := range texts {
		clauses[i] = strings.Split(strings.ReplaceAll(text, "; ", ", "), ", ")
		for _, c := range slices.Compact(slices.Sorted(slices.Values(clauses[i]))) {
			count[c]++
		}
	}
	short := make([]string, len(texts))
	for i := range clauses {
		own := slices.DeleteFunc(clauses[i], func(c string) bool { return count[c] == len(texts) })
		short[i] = strings.Join(own, ", ")
	}
	return short
}

// setting is a setting of one run.
type setting struct{ name, value string }

func valueOf(list []setting, name string) string {
	for _, s := range list {
		if s.name == name {
			return s.value
		}
	}
	return ""
}

// settings are those that a result tells. An assumption is named by its first words: "Fees".
func (r *Run) settings() (list []setting) {
	add := func(name, value string) { list = append(list, setting{name, value}) }
	res := r.Result
	add("start equity", res.Performance.Start.String())
	add("seed", fmt.Sprint(res.Run.Seed))
	for i := range res.Strategies {
		s := &res.Strategies[i]
		add(s.Name+".kind", s.Kind)
		add(s.Name+".markets", strings.Join(s.Markets, ", "))
		add(s.Name+".interval", s.Interval)
		for _, p := range s.Params {
			add(s.Name+"."+p.Name, p.Value)
		}
	}
	for _, text := range res.Assumptions {
		if text == "" || text[0] >= '0' && text[0] <= '9' { // candles that are missing: no setting
			continue
		}
		name, value, titled := strings.Cut(text, ": ")
		if !titled || strings.Count(name, " ") > 1 {
			name, value = shortened(text), text
		}
		add(name, strings.TrimSuffix(value, "."))
	}
	return list
}

// shortened are the first three words of a sentence.
func shortened(text string) string {
	words := strings.Fields(text)
	return strings.Trim(strings.Join(words[:min(len(words), 3)], " "), ".,;:")
}

// pairOf is the difference of two runs.
func pairOf(a, b *Run) Pair {
	none := backtest.Figure(math.NaN())
	p := Pair{First: a.Name, Second: b.Name, Mean: none, Error: none, Block: none, P: none}
	for _, r := range []*Run{a, b} {
		if r.Days == nil {
			p.Missing = fmt.Sprintf("%s has no days.csv: run the backtest again", r.Dir)
			return p
		}
	}
	x, y := common(a.Days, b.Days)
	d, err := stats.PairedDifference(x, y, stats.Resampling{Resamples: resamples, Seed: 1})
	if p.Days = len(x); err != nil {
		p.Missing = err.Error()
		return p
	}
	p.Mean, p.Error, p.Block, p.P = backtest.Figure(d.Mean), backtest.Figure(d.Error), backtest.Figure(d.Block),
		backtest.Figure(d.P)
	return p
}

// common are the returns of the days that both have. Both are in the order of time.
func common(a, b []Day) (x, y []float64) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].End < b[j].End:
			i++
		case a[i].End > b[j].End:
			j++
		default:
			x, y = append(x, a[i].Return), append(y, b[j].Return)
			i, j = i+1, j+1
		}
	}
	return x, y
}

// Sentence says the difference for a person.
func (p *Pair) Sentence() string {
	if p.Missing != "" {
		return fmt.Sprintf("%s and %s: no difference by day: %s.", p.First, p.Second, p.Missing)
	}
	more, mean := "more", p.Mean
	if mean < 0 {
		more, mean = "less", -mean
	}
	e := stats.Explain(stats.FigureDifference)
	const year = stats.DaysPerYear
	return fmt.Sprintf("%s earned %s a year %s than %s, with a standard error of %s (the mean of %s daily "+
		"differences, times %d, in blocks of %s days). p %s. %s %s", p.First, (year * mean).Percent(1), more, p.Second,
		(year * p.Error).Percent(1), backtest.Figure(p.Days).Text(0), year, p.Block.Text(1), p.P.Text(3), e.Says,
		e.SaysNot)
}

// figureTable are the figures of a comparison, with their texts.
var figureTable = [...]struct {
	name string
	of   func(r *Run) string
}{
	{"return", func(r *Run) string { return r.Performance.Return.Percent(1) }},
	{"return a year", func(r *Run) string { return r.Performance.CAGR.Percent(1) }},
	{"Sharpe ratio", func(r *Run) string { return r.Performance.Sharpe.Text(2) }},
	{"Sortino ratio", func(r *Run) string { return r.Performance.Sortino.Text(2) }},
	{"Calmar ratio", func(r *Run) string { return r.Performance.Calmar.Text(2) }},
	{"volatility a year", func(r *Run) string { return r.Performance.Volatility.Percent(1) }},
	{"deepest drawdown", func(r *Run) string { return r.Performance.Drawdown.Depth.Percent(1) }},
	{"time in the market", func(r *Run) string { return r.Performance.Exposure.Percent(1) }},
	{"turnover", func(r *Run) string { return r.Performance.Turnover.Text(1) }},
	{"round trips", func(r *Run) string { return backtest.Figure(r.Trips.Count).Text(0) }},
	{"won", func(r *Run) string { return r.Trips.WinRate.Percent(1) }},
	{"profit factor", func(r *Run) string { return r.Trips.ProfitFactor.Text(2) }},
	{"fees", func(r *Run) string { return r.Performance.Fees.String() }},
	{"final equity", func(r *Run) string { return r.Performance.Final.String() }},
	{"daily returns", func(r *Run) string { return backtest.Figure(r.Performance.Days).Text(0) }},
	{"buy and hold", func(r *Run) string { return r.Hold.Return.Percent(1) }},
}

// Figures is a table of the runs' figures side by side: a row for each figure, its name first.
func (o *Comparison) Figures() (rows [][]string) {
	for _, f := range figureTable {
		row := []string{f.name}
		for _, r := range o.Runs {
			row = append(row, f.of(r))
		}
		rows = append(rows, row)
	}
	return rows
}

// DataNote says that the runs can be compared; empty where a warning says more.
func (o *Comparison) DataNote() string {
	if !o.SameData || !o.SameRange {
		return ""
	}
	return fmt.Sprintf("All runs read the same candles, from %s.", o.Runs[0].span())
}

// Differing is a table of the settings that differ: a row for each, its name first.
func (o *Comparison) Differing() (rows [][]string) {
	for _, s := range o.Settings {
		row := []string{s.Name}
		for _, v := range s.Values {
			if v == "" {
				v = "–"
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return rows
}

// SettingsNote says what the table of settings leaves out; empty: nothing.
func (o *Comparison) SettingsNote() string {
	switch {
	case o.SameSettings:
		return "All runs have the same config."
	case len(o.Settings) == 0:
		return "The configs differ, but in nothing that the results tell, such as a limit that was not reached."
	}
	return ""
}
