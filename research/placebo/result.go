package placebo

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// OutcomeSchema is the version of the JSON of a Result.
const OutcomeSchema = 1

// Result is the result of a test. Sharpe ratios are annual. P is the share of searches without
// anything to find that show a winner as good or better; it is no probability that a strategy is
// good.
type Result struct {
	Schema   int             `json:"schema"`
	Identity Identity        `json:"placebo"`
	From     backtest.Moment `json:"from"` // each set trades and counts from here
	To       backtest.Moment `json:"to"`
	Days     int             `json:"daily_returns"`
	Candles  int             `json:"candles"` // of the finest intervals, in each surrogate
	Tried    int             `json:"tried"`   // sets, on the data

	Winner []research.Setting `json:"winner"` // on the data; null: there is not one
	Sharpe backtest.Figure    `json:"sharpe"` // of the winner, against cash
	// Theta is the winner's Sharpe ratio in excess of a hold at its own mean exposure: this one is
	// ranked.
	Theta backtest.Figure `json:"excess_sharpe"`

	Surrogates int             `json:"surrogates"`
	Better     int             `json:"better"` // surrogates whose winner is as good or better
	P          backtest.Figure `json:"p"`      // (1 + Better) ÷ (1 + Surrogates)
	// Bar is the Sharpe ratio that 5 in 100 searches on surrogates exceed: above it P is at most
	// 0.05.
	Bar backtest.Figure `json:"bar"`
	// Unlike is the bar of as many sets that are independent: research.Luck.Bar; 0: there is not
	// one winner.
	Unlike    backtest.Figure   `json:"independent_bar,omitempty"`
	Above     bool              `json:"above_bar"`
	Answer    research.Answer   `json:"answer"`
	Quantiles []Quantile        `json:"quantiles"` // of the surrogates' thetas
	Empty     int               `json:"empty"`     // surrogates in which nothing was found
	Thetas    []backtest.Figure `json:"thetas"`    // by surrogate; null: nothing was found

	Turns int64  `json:"turns,omitempty"` // different turns of the signals; 0: the candles are surrogates
	Mixed string `json:"mixed,omitempty"` // markets whose finest candles differ in length
	File  string `json:"file"`
}

// Quantile is a value below which a share of the surrogates lies.
type Quantile struct {
	Share float64         `json:"share"`
	Value backtest.Figure `json:"value"`
}

// level is the share of false alarms.
const level = 0.05

// outcome ranks the data among the surrogates.
func (r *run) outcome() *Result {
	o := &Result{Schema: OutcomeSchema, Identity: r.Identity, From: backtest.Moment(r.real.From),
		To: backtest.Moment(r.real.To), Days: r.real.Days, Candles: r.data.Candles(), Tried: r.real.Tries,
		Winner: r.real.Settings, Sharpe: backtest.Figure(r.real.Sharpe), Theta: backtest.Figure(r.real.Theta),
		Surrogates: r.Surrogates, Better: r.better, Mixed: r.data.Mixed(), File: r.File}
	if r.Rules.Signals {
		o.Turns, o.Mixed = r.data.circle.number(), ""
	}
	o.P = backtest.Figure(float64(1+r.better) / float64(1+r.Surrogates))
	if o.Winner != nil {
		o.Unlike = backtest.Figure(research.LuckOf(o.Tried, o.Days).Bar)
	}
	ascending := slices.Sorted(slices.Values(r.thetas))
	o.Bar = backtest.Figure(ascending[r.Surrogates-int(level*float64(1+r.Surrogates))])
	o.Above = r.better < int(level*float64(1+r.Surrogates))
	o.Answer = o.answer()
	for _, share := range [...]float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		o.Quantiles = append(o.Quantiles, Quantile{share, backtest.Figure(stats.Quantile(share, ascending))})
	}
	for _, theta := range r.thetas {
		f := backtest.Figure(theta)
		if !f.Defined() {
			o.Empty++
		}
		o.Thetas = append(o.Thetas, f)
	}
	return o
}

// answer rests on the ranks of the surrogates.
func (o *Result) answer() research.Answer {
	if o.Winner == nil && !o.Theta.Defined() {
		return research.Unanswered("nothing was found in the data")
	}
	luck := "searches with nothing to find"
	if o.Identity.Rules.Signals {
		luck = "searches on signals that were turned in time"
	}
	unseen := float64(o.Bar) + stats.DetectableBest(1, 0.5, research.Power, float64(o.Days)/stats.DaysPerYear)
	return research.NewAnswer(research.TestPlacebo, float64(o.P), luck, o.Days, unseen)
}

// Verdict has the figures behind the answer, in a few complete sentences.
func (o *Result) Verdict() string {
	with := "with nothing to find"
	if o.Identity.Rules.Signals {
		with = "on signals that were turned in time"
	}
	text := fmt.Sprintf("Of %d searches %s, %d show a winner as good or better: rank %d of %d, "+
		"p %s. 5 in 100 such searches show a Sharpe above %s; yours shows %s.", o.Surrogates, with, o.Better,
		1+o.Better, 1+o.Surrogates, o.P.Text(3), o.Bar.Text(2), o.Theta.Text(2))
	if o.Unlike > 0 {
		text += fmt.Sprintf(" If the %d sets did not trade alike, 5 in 100 would show more than %s.", o.Tried,
			o.Unlike.Text(2))
	}
	return text
}

// Kept says which placebo this is: what its surrogates keep, and what they take away.
func (o *Result) Kept() string {
	if !o.Identity.Rules.Signals {
		return "Surrogates of the candles: a coin decides the direction of each moment. They keep the size of every " +
			"move, the drift, the volumes, the holes, and what moves together."
	}
	return fmt.Sprintf("Surrogates of the signals: all signals of a surrogate come later by one time, and those "+
		"beyond the end come in at the beginning; there are %d such turns. The candles, and the signals' order and "+
		"distances, stay. p is about the signals' times alone: could they be others?", o.Turns)
}

// Lost names the properties that surrogates do not keep: the test takes them for an edge, or misses
// them. Each is a complete sentence.
func (o *Result) Lost() []string {
	if o.Identity.Rules.Signals {
		return o.lostSignals()
	}
	list := []string{
		"Skew: rises and falls of a surrogate are alike; those of the data may not be.",
		"Leverage effect: in markets, large moves often follow falls; in a surrogate nothing follows a direction.",
		"Changing drift: a good and a bad year become one mean, so one long trend counts as an edge.",
		"Microstructure: prices that bounce between bid and ask look like a pattern; only a spread in the fills " +
			"answers that.",
		"Volatility: a strategy that only times volatility earns the same on surrogates, and cannot be told from luck.",
	}
	if o.Identity.Rules.Keep > 0 {
		list = append(list, fmt.Sprintf("What is faster than %s: it is kept, and so is not tested.",
			o.Identity.Rules.Keep))
	}
	if o.Mixed != "" {
		list = append(list, fmt.Sprintf("A part of the correlation between markets: %s.", o.Mixed))
	}
	return list
}

// lostSignals is Lost where signals are turned.
func (o *Result) lostSignals() []string {
	list := []string{
		"Nearness: a turn by a few candles is nearly the data, so slow signals need a long range.",
		"Edges of the candles: what strategies find in candles alone, surrogates find too, and so it is not tested.",
		"The source: signals that were made of the same candles, or of the future, count as an edge.",
	}
	if keep := o.Identity.Rules.Keep; keep > 0 {
		list = append(list, fmt.Sprintf("The time within %s: turns keep it, and so it is not tested.", keep))
	}
	if o.Identity.Rules.SeasonalDrift {
		list = append(list, "The hour of the week: turns keep it, and so it is not tested.")
	}
	return list
}

// WriteTable writes a CSV with a row for the data, number 0, and for each surrogate: the winner's
// annual Sharpe ratio in excess, empty where nothing was found.
func (o *Result) WriteTable(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"surrogate", "excess_sharpe"}) // Error has it, as of all rows
	for i, theta := range slices.Concat([]backtest.Figure{o.Theta}, o.Thetas) {
		_ = out.Write([]string{strconv.Itoa(i), theta.Cell()})
	}
	out.Flush()
	return out.Error()
}
