package research

import (
	"fmt"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Verdict says what the best set is worth. Sharpe ratios are annual. P-values are shares of
// searches, or records, without an edge that look at least as good; none is a probability that a
// strategy is good.
type Verdict struct {
	// Answer rests on SPA where it is known, else on the bar of luck.
	Answer Answer `json:"answer"`
	// Unseen is the annual Sharpe ratio below which the Answer's test mostly misses an edge.
	Unseen backtest.Figure `json:"unseen_below"`

	Luck Luck `json:"luck"` // of as many sets as have different returns
	// Sharpe is that of the best set, against cash. Excess is its Sharpe in excess of a hold at its
	// own mean exposure: this one is judged.
	Sharpe backtest.Figure `json:"sharpe"`
	Excess backtest.Figure `json:"excess_sharpe"`
	Above  bool            `json:"above_bar"` // Excess is above Luck.Bar

	PSR  Finding `json:"psr"`      // p of the best set alone, as if it had been fixed in advance
	Cash Finding `json:"psr_cash"` // the same against cash
	DSR  Finding `json:"dsr"`      // p after the number of tries, by their variance; conservative
	SPA  Finding `json:"spa"`      // p_c of the studentised test over all sets: the headline of many
	// share of splits whose winner in one half of the days is below the median in the other
	PBO Finding `json:"pbo"`

	// Plateau is the part of the winner's lead that its neighbours in the grid have too; Alone:
	// less than half of it.
	Plateau Finding `json:"plateau"`
	Alone   bool    `json:"alone"`
	Few     bool    `json:"few_trips"` // the winner made fewer than ten round trips
	// Border are the settings of the winner that are the least or the greatest of the space.
	Border []Setting `json:"border,omitempty"`
	// Fees are the part of the winner's earnings that fees took; missing where it earned nothing.
	Fees Finding `json:"fees"`

	earlier bool // Luck and DSR count the tries of earlier searches too
}

// StandsAlone is the warning of a Verdict that has Alone.
const StandsAlone = "The winner stands alone: its neighbours in the grid do not share its lead."

// FewTrips is the warning of a Verdict that has Few, which is less than fewTrips of them.
const (
	FewTrips = "The winner made fewer than ten round trips: they are too few to tell it from luck."
	fewTrips = backtest.FewestTrips
)

// Warnings are the sentences about the winner that a reader must see first, if any.
func (v *Verdict) Warnings() (list []string) {
	if v.SPA.Value <= level && v.Answer.P > level && v.Answer.Test == TestSPA {
		list = append(list, fmt.Sprintf("Luck hardly explains the best Sharpe in excess of all sets (p %s); the "+
			"winner is another set.", v.SPA.Value.Text(3)))
	}
	if v.Alone {
		list = append(list, StandsAlone)
	}
	if v.Few {
		list = append(list, FewTrips)
	}
	if len(v.Border) > 0 {
		list = append(list, fmt.Sprintf("The winner lies at the border of the space (%s): better sets may lie "+
			"beyond.", SettingsText(v.Border)))
	}
	if v.Fees.Value > halfTheEarnings {
		list = append(list, fmt.Sprintf("Fees took %s of what the winner's trades earned.", v.Fees.Value.Percent(0)))
	}
	return list
}

// halfTheEarnings is the part taken by fees above which a Verdict warns.
const halfTheEarnings = 0.5

// Sentences say more about the best set. Without a best set there are none.
func (v *Verdict) Sentences() []string {
	if !v.Excess.Defined() {
		return nil
	}
	these := ""
	if v.earlier {
		these = ", with the earlier tries,"
	}
	return []string{
		fmt.Sprintf("Of searches like this%s on worthless data 5 in 100 show a Sharpe above %.2f, if their sets do "+
			"not trade alike; the expected best is %.2f; yours shows %s.", these, v.Luck.Bar, v.Luck.Expected,
			v.Excess.Text(2)),
		fmt.Sprintf("Yours is the Sharpe of the best set in excess of a hold at its own exposure; against cash it is "+
			"%s.", v.Sharpe.Text(2)),
	}
}

// Finding is a figure, or why there is none.
type Finding struct {
	Value   backtest.Figure `json:"value"`
	Missing string          `json:"missing,omitempty"`
}

func found(value float64, err error) Finding {
	if err == nil && math.IsNaN(value) {
		err = fmt.Errorf("it is undefined for these returns")
	}
	if err != nil {
		return missing("%v", err)
	}
	return Finding{Value: backtest.Figure(value)}
}

func missing(format string, args ...any) Finding {
	return Finding{Value: backtest.Figure(math.NaN()), Missing: fmt.Sprintf(format, args...)}
}

const (
	spaResamples = 999
	pboBlocks    = 16        // 12,870 splits
	maxPlateau   = 4_000_000 // sets of the largest grid whose neighbours are looked at
)

// judge is the verdict on the best set, the first of the top. It fills in what the outcome says
// about the others.
func (s *sweep) judge(top []*Try, o *Outcome) Verdict {
	distinct := s.distinct()
	tries := len(distinct)
	if s.job.Method == Halving {
		tries = o.Started // those that were dropped were tried too
	}
	if len(top) == 0 {
		return unjudged(LuckOf(tries, s.days), "no set meets the requirements")
	}
	s.deflate(top, o, distinct)
	best := top[0]
	excess, cash, err := s.records(best)
	if err != nil {
		return unjudged(LuckOf(tries, s.days), err.Error())
	}
	v := Verdict{Luck: LuckOf(tries, s.days), Sharpe: backtest.Figure(stats.Annual(cash.Sharpe)),
		Excess: backtest.Figure(stats.Annual(excess.Sharpe)),
		PSR:    found(excess.P(0), nil), Cash: found(cash.P(0), nil), DSR: o.Top[0].DSR}
	v.Above = float64(v.Excess) > v.Luck.Bar
	v.Plateau, v.Alone = s.plateau(best)
	v.Border, v.Fees = s.border(best), feesOf(best.Figures)
	winner := make([]float64, best.days)
	if err = s.store.series(best, true, winner); err != nil {
		return unjudged(v.Luck, err.Error())
	}
	if why := s.incomplete(distinct); why != "" {
		v.SPA, v.PBO = missing("%s", why), missing("%s", why)
		if v.Answer = v.answer(nil, winner); s.glanced {
			v.Answer = Answer{Kind: NoAnswer, P: v.SPA.Value, Says: asksThePage}
		}
		return v
	}
	superior, err := s.superior(distinct)
	v.SPA, v.PBO = found(superior.Consistent, err), s.overfit(distinct, o)
	if err != nil {
		v.Answer = v.answer(nil, winner)
	} else {
		v.Answer = v.answer(&superior, winner)
	}
	return v
}

// asksThePage stands for the answer where the file alone is read.
const asksThePage = "Is it luck? The page that bot sweep writes answers: it compares all sets day by day."

// border are the settings of a set that are the first or last of at least three numbers.
func (s *sweep) border(t *Try) (list []Setting) {
	places, settings := s.job.Space.Places(t.Set), s.job.Space.Settings(t.Set)
	for i, d := range s.job.Space.dims {
		last := len(d.Values) - 1
		if last < 2 || places[i] != 0 && places[i] != last || !isQuantity(d.Values[0]) || !isQuantity(d.Values[last]) {
			continue
		}
		list = append(list, settings[i])
	}
	return list
}

// feesOf is the part of what a set earned before fees that they took.
func feesOf(f Figures) Finding {
	final, fees := f.Of("final"), f.Of("fees")
	earned := final - final/(1+f.Of("return")) + fees
	if !(earned > 0) {
		return missing("its trades earned nothing before fees")
	}
	return found(fees/earned, nil)
}

// unjudged is a verdict without figures.
func unjudged(luck Luck, why string) Verdict {
	none := missing("%s", why)
	return Verdict{Answer: Unanswered(why), Unseen: none.Value, Luck: luck, Sharpe: none.Value, Excess: none.Value,
		PSR: none, Cash: none, DSR: none, SPA: none, PBO: none, Plateau: none, Fees: none}
}

// plateau compares the winner with its neighbours in the grid.
func (s *sweep) plateau(best *Try) (score Finding, alone bool) {
	if s.job.Method != Grid || s.job.Space.size > maxPlateau {
		return missing("only a grid of at most %d sets has neighbours", maxPlateau), false
	}
	values := make([]float64, s.job.Space.size)
	for i := range values {
		values[i] = math.NaN()
	}
	for i := range s.tries {
		values[s.tries[i].Set] = s.tries[i].Value
	}
	var steps []int
	for _, d := range s.job.Space.dims {
		steps = append(steps, len(d.Values))
	}
	p, ok := stats.PlateauOf(values, steps, int(best.Set))
	if !ok {
		return missing("the winner has no neighbour with a value, or is not above the middle"), false
	}
	return found(p.Score, nil), p.Score < stats.Alone
}

// distinct are the tries over the whole range, one for each series of returns.
func (s *sweep) distinct() (list []*Try) {
	seen := map[uint64]bool{}
	for i := range s.tries {
		if t := &s.tries[i]; t.rung == 0 && !seen[t.series] {
			seen[t.series], list = true, append(list, t)
		}
	}
	return list
}

// records are those of the set's returns in excess of a hold, and of its own.
func (s *sweep) records(t *Try) (excess, cash stats.TrackRecord, err error) {
	row := make([]float64, t.days)
	if err = s.store.series(t, true, row); err != nil {
		return excess, cash, err
	}
	if excess, err = stats.TrackRecordOf(row); err != nil {
		return excess, cash, err
	}
	if err = s.store.series(t, false, row); err != nil {
		return excess, cash, err
	}
	cash, err = stats.TrackRecordOf(row)
	return excess, cash, err
}

// incomplete says why there is no matrix of all sets and days; empty: there is one.
func (s *sweep) incomplete(distinct []*Try) string {
	switch {
	case s.glanced:
		return "it is not computed from the file alone; bot sweep computes it, and its page has it"
	case s.job.Method == Halving:
		return "halving has dropped sets, so that not every set has every day"
	case s.job.Method == CMAES:
		return "cma-es chose its sets by the results, so that they are no sample of the space"
	case len(distinct) < 2:
		return "there is only one series of returns"
	case slices.ContainsFunc(distinct, func(t *Try) bool { return t.days != s.days }):
		return "not every set has every day"
	}
	return ""
}

// deflate fills in the DSR's p of the top, and the Sharpe ratios in excess.
func (s *sweep) deflate(top []*Try, o *Outcome, distinct []*Try) {
	tries, why := s.trials(distinct)
	for i, t := range top {
		r := &o.Top[i]
		excess, _, err := s.records(t)
		if err != nil {
			r.Excess, r.DSR = backtest.Figure(math.NaN()), missing("%v", err)
			continue
		}
		r.Excess = backtest.Figure(stats.Annual(excess.Sharpe))
		if r.DSR = missing("%s", why); why == "" {
			r.DSR = found(excess.P(tries.Benchmark()), nil)
		}
	}
}

// trials are the tries as DSR needs them, or why there are none.
func (s *sweep) trials(distinct []*Try) (tries stats.Trials, why string) {
	if s.job.Method == Halving {
		return tries, "halving ran its sets on ranges of different length, whose Sharpe ratios do not mix"
	}
	if s.glanced && s.job.Method == CMAES {
		return tries, "the file does not tell which sets cma-es chose by the results"
	}
	first := distinct
	if m, is := s.sampler.(*cmaes); is {
		first = slices.DeleteFunc(slices.Clone(distinct),
			func(t *Try) bool { return !slices.Contains(m.filling, t.Set) })
	}
	sharpes := make([]float64, 0, len(first))
	row := make([]float64, s.days)
	for _, t := range first {
		if err := s.store.series(t, true, row[:t.days]); err != nil {
			return tries, err.Error()
		}
		sharpes = append(sharpes, stats.Sharpe(row[:t.days]))
	}
	tries, err := stats.AdaptiveTrials(len(distinct), sharpes)
	if err != nil {
		return tries, err.Error()
	}
	return tries, ""
}

// matrix is the returns of all distinct series.
func (s *sweep) matrix(distinct []*Try, excess bool) stats.Returns {
	return stats.Returns{Sets: len(distinct), Days: s.days,
		Row: func(set int, into []float64) error { return s.store.series(distinct[set], excess, into) }}
}

// superior is SPA over all sets.
func (s *sweep) superior(distinct []*Try) (stats.Superior, error) {
	return stats.SPA(s.matrix(distinct, true), stats.Resampling{Resamples: spaResamples, Seed: s.job.Seed},
		s.job.Workers)
}

// overfit is PBO, which chooses by the Sharpe ratio as the search must have done.
func (s *sweep) overfit(distinct []*Try, o *Outcome) Finding {
	if s.job.Objective.String() != "sharpe" {
		return missing("it chooses by the Sharpe ratio, and this search by %s", s.job.Objective)
	}
	pbo, err := stats.PBO(s.matrix(distinct, false), pboBlocks, s.job.Workers)
	if err == nil {
		o.Splits = &pbo
	}
	return found(pbo.PBO, err)
}
