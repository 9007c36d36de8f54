package walkforward

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// OutcomeSchema is the version of the JSON of a Result.
const OutcomeSchema = 1

// Result is the result of a walk-forward.
type Result struct {
	Schema    int      `json:"schema"`
	Objective string   `json:"objective"`
	Require   []string `json:"require"`
	Method    string   `json:"method"`
	Sets      int      `json:"sets"`  // that a search tries
	Apart     string   `json:"apart"` // why each window searched by itself; empty: one sweep served all
	Train     int      `json:"train_days"`
	Test      int      `json:"test_days"`
	Gap       int      `json:"gap_days"`
	Anchored  bool     `json:"anchored"`
	Border    string   `json:"border"` // of Stitched: "carry" or "flat"
	Files     []string `json:"files"`  // of the searches

	Stitched Curve `json:"stitched"` // the test days, as chosen
	Other    Curve `json:"other"`    // the same with the other kind of border
	// Once is the plain run of the same days with OnceSettings throughout: those of the first
	// window with a winner. OnceDifference is the p of its difference to Stitched, by day.
	Once           Curve              `json:"once"`
	OnceSettings   []research.Setting `json:"once_settings"`
	OnceDifference research.Finding   `json:"once_difference"`
	Windows        []Window           `json:"windows"`

	Profitable backtest.Figure `json:"windows_with_profit"` // share
	Changed    int             `json:"parameters_changed"`  // borders at which the parameters changed
	// Efficiency is the annual logarithmic growth of the stitched days divided by that of the
	// winners in training. Spread is the standard deviation of the windows' own growth, in the same
	// unit. Neither is a grade.
	Efficiency       research.Finding `json:"efficiency"`
	EfficiencySpread backtest.Figure  `json:"efficiency_spread"`

	DataWarnings []string `json:"data_warnings,omitempty"` // those of the searches' job

	plan *backtest.Plan
}

// Curve is a run of the test days.
type Curve struct {
	Border  string           `json:"border"`            // "carry", "flat", or "none": there is none
	Missing string           `json:"missing,omitempty"` // why there is none
	From    backtest.Moment  `json:"from"`
	Final   string           `json:"final_equity"`
	Return  backtest.Figure  `json:"return"`
	Worst   backtest.Figure  `json:"max_drawdown"`
	Hold    backtest.Figure  `json:"hold_return"`
	Trips   int64            `json:"trips"`
	Sharpe  backtest.Figure  `json:"sharpe"`        // annual, against cash
	Error   backtest.Figure  `json:"sharpe_error"`  // its standard error
	Excess  backtest.Figure  `json:"excess_sharpe"` // in excess of a hold at the curve's own mean exposure
	PSR     research.Finding `json:"psr"`           // p of Excess
	Cash    research.Finding `json:"psr_cash"`      // p of Sharpe
	Days    int              `json:"daily_returns"`
	First   backtest.Moment  `json:"first"`   // end of the first day with a return
	Returns []float64        `json:"returns"` // by day
	Held    []float64        `json:"hold"`    // of a hold with all equity, by day
}

// Window is a training and its test.
type Window struct {
	TrainFrom backtest.Moment    `json:"train_from"`
	TrainEnd  backtest.Moment    `json:"train_end"`
	TestFrom  backtest.Moment    `json:"test_from"`
	TestEnd   backtest.Moment    `json:"test_end"`
	Settings  []research.Setting `json:"settings"` // with which the test traded; empty: it did not trade
	Kept      bool               `json:"kept"`     // no set met the requirements: the settings before go on
	Value     backtest.Figure    `json:"value"`    // of the objective, in training
	In        Side               `json:"in_sample"`
	Out       Side               `json:"out_of_sample"`
}

// Side is one side of a window.
type Side struct {
	Days   int             `json:"daily_returns"`
	Return backtest.Figure `json:"return"`
	Sharpe backtest.Figure `json:"sharpe"`       // annual
	Error  backtest.Figure `json:"sharpe_error"` // its standard error
}

// Plan is the stitched run: a backtest of it has the figures of Stitched.
func (o *Result) Plan() *backtest.Plan { return o.plan }

// borderName is the kind of the borders.
func borderName(flat bool) string {
	if flat {
		return "flat"
	}
	return "carry"
}

// resamples are those of the p of OnceDifference.
const resamples = 999

func annual(daily float64) float64 { return stats.Annual(daily) }

// outcome runs the stitched days with both borders and describes them.
func (w *Walk) outcome(ctx context.Context, choices []choice, files []string) (*Result, error) {
	c := &w.config
	o := &Result{Schema: OutcomeSchema, Objective: w.job.Objective.String(), Require: []string{},
		Method: string(w.job.Method), Sets: w.Sets(), Apart: w.apart, Train: c.Train, Test: c.Test, Gap: c.Gap,
		Anchored: c.Anchored, Border: borderName(c.Flat), Files: append([]string{}, files...),
		DataWarnings: w.job.DataWarnings}
	for _, f := range w.job.Require {
		o.Require = append(o.Require, f.String())
	}
	o.OnceSettings = []research.Setting{}
	once := slices.Clone(choices)
	if at := first(choices); at >= 0 {
		o.OnceSettings = choices[at].settings
		for i := range once[at:] {
			once[at+i].settings = o.OnceSettings
		}
	}
	plans := make([]*backtest.Plan, 3)
	for i, one := range [...]struct {
		choices []choice
		flat    bool
	}{{choices, c.Flat}, {choices, !c.Flat}, {once, false}} {
		var err error
		if plans[i], err = w.stitched(one.choices, one.flat); err != nil {
			return nil, err
		}
	}
	runs, err := backtest.RunTogether(ctx, plans, backtest.LockstepOptions{})
	if err != nil {
		return nil, err
	}
	if err := runs[0].Err; err != nil {
		if !c.Flat {
			err = fmt.Errorf("%w; a bot that is started again with these parameters would end here, too; flat borders "+
				"hand nothing over", err)
		}
		return nil, fmt.Errorf("stitched run: %w", err)
	}
	o.plan = plans[0]
	o.Stitched, o.Other, o.Once = curveOf(&runs[0], c.Flat), curveOf(&runs[1], !c.Flat), curveOf(&runs[2], false)
	o.Once.Border = "none"
	differ, err := stats.PairedDifference(o.Stitched.Returns, o.Once.Returns, stats.Resampling{Resamples: resamples,
		Seed: w.job.Seed})
	o.OnceDifference = finding(differ.P, err)
	w.windows(o, choices)
	return o, nil
}

// curveOf describes a run of the test days.
func curveOf(r *backtest.RunEnd, flat bool) Curve {
	c := Curve{Border: borderName(flat)}
	none := backtest.Figure(math.NaN())
	if r.Err != nil {
		c.Missing, c.Return, c.Worst, c.Hold, c.Sharpe, c.Error, c.Excess = r.Err.Error(), none, none, none, none, none,
			none
		c.PSR, c.Cash = finding(0, r.Err), finding(0, r.Err)
		return c
	}
	p, t := &r.Result.Performance, &r.Track
	c.From, c.Final, c.Return, c.Worst = r.Result.From, p.Final.String(), p.Return, p.Drawdown.Depth
	c.Hold, c.Trips = r.Result.Hold.Return, r.Result.Trips.Count
	c.Days, c.First, c.Returns, c.Held = len(t.Returns), backtest.Moment(t.First), t.Returns, t.Hold
	cash, err := stats.TrackRecordOf(t.Returns)
	c.Sharpe, c.Error, c.Cash = p.Sharpe, none, finding(cash.P(0), err)
	if err == nil {
		c.Error = backtest.Figure(annual(stats.SharpeError(cash.Sharpe, cash.N)))
	}
	excess, err := excessOf(t)
	c.Excess, c.PSR = none, finding(excess.P(0), err)
	if err == nil {
		c.Excess = backtest.Figure(annual(excess.Sharpe))
	}
	return c
}

// excessOf is the record of the returns in excess of a hold at the run's own mean exposure.
func excessOf(t *backtest.Track) (stats.TrackRecord, error) {
	return stats.TrackRecordOf(t.Excess(nil))
}

func finding(value float64, err error) research.Finding {
	switch {
	case err != nil:
		return research.Finding{Value: backtest.Figure(math.NaN()), Missing: err.Error()}
	case math.IsNaN(value):
		return finding(0, errors.New("it is undefined for these returns"))
	}
	return research.Finding{Value: backtest.Figure(value)}
}

// windows describes the windows, and how much of the training's growth is left.
func (w *Walk) windows(o *Result, choices []choice) {
	var in, out [][]float64
	var now []research.Setting
	for at, s := range w.spans {
		c := &choices[at]
		one := Window{TrainFrom: backtest.Moment(s.From), TrainEnd: backtest.Moment(s.TrainEnd),
			TestFrom: backtest.Moment(s.Test), TestEnd: backtest.Moment(s.To), Value: backtest.Figure(math.NaN()),
			In: sideOf(c.days), Out: sideOf(nil), Settings: []research.Setting{}}
		if c.settings != nil {
			if now != nil && research.SettingsText(now) != research.SettingsText(c.settings) {
				o.Changed++
			}
			now, one.Value = c.settings, backtest.Figure(c.value)
		}
		if one.Kept = c.settings == nil && now != nil; now != nil {
			one.Settings = now
			days := daysOf(o.Stitched.Returns, market.Time(o.Stitched.First), s.Test, s.To)
			one.Out = sideOf(days)
			if !one.Kept && len(days) > 0 && len(c.days) > 0 {
				in, out = append(in, c.days), append(out, days)
			}
		}
		o.Windows = append(o.Windows, one)
	}
	walk, err := stats.WalkOf(in, out)
	if err == nil && math.IsNaN(walk.Efficiency) {
		err = errors.New("the winners have not grown in training")
	}
	o.Efficiency, o.EfficiencySpread = finding(walk.Efficiency, err), backtest.Figure(math.NaN())
	if err == nil {
		o.EfficiencySpread = backtest.Figure(walk.Spread)
	}
	o.Profitable = profitable(o.Windows)
}

// profitable is the share of the windows with a test that ended with more than it began with.
func profitable(windows []Window) backtest.Figure {
	n, won := 0, 0
	for i := range windows {
		if out := &windows[i].Out; out.Days > 0 {
			if n++; out.Return > 0 {
				won++
			}
		}
	}
	return backtest.Figure(float64(won) / float64(n))
}

// sideOf describes daily returns.
func sideOf(days []float64) Side {
	none := backtest.Figure(math.NaN())
	s := Side{Days: len(days), Return: none, Sharpe: none, Error: none}
	if len(days) == 0 {
		return s
	}
	growth := 1.0
	for _, r := range days {
		growth *= 1 + r
	}
	s.Return = backtest.Figure(growth - 1)
	if record, err := stats.TrackRecordOf(days); err == nil {
		s.Sharpe = backtest.Figure(annual(record.Sharpe))
		s.Error = backtest.Figure(annual(stats.SharpeError(record.Sharpe, record.N)))
	}
	return s
}
