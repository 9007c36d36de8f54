package backtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// Options configure the output of a run. They never change its result, but for what Told says.
type Options struct {
	Out      string            // folder of the result files; empty: none
	Config   []byte            // what made the run, beside the result files as config.json; nil: it is not written
	Curve    bool              // keep the equity curve for the summary; implied by Out
	Keep     bool              // keep every trade and fill for Result.Trades and Result.Fills, in memory
	Envelope bool              // run the pessimistic and the optimistic path too
	Late     bool              // run with later signals too, where the plan has any
	Told     bool              // strategies tell more in notes and tags: see strategy.Watcher
	Progress func(market.Time) // called with the time that the run has reached; with Envelope for each path
	// Watch is called before the first callback of each pass; nil: not called.
	Watch    func(Watched)
	Halted   func(Halted) // called at the end for each halted strategy; nil: not called
	Observer Observer     // of the run, not of the other paths of the envelope; nil: none
	// Tried gets the run by day at its end, before files are published. Its lines stand in
	// report.html and in the summary, never in result.json; nil: not called.
	Tried func(*Track) []string
	// About's Data are the series by feed, whose Candles Run fills in; its Assumptions come after
	// those of the plan.
	About
}

// runOptions configure one pass of a plan.
type runOptions struct {
	path   *sim.Path
	more   int // history beyond the warm-up, in warm-ups
	record func(equity market.Money, from market.Time, rates []exchange.Fees) (*recorder, error)
	tracer func(c *market.Command, sees market.Time) // called with every command; for sees see decision
	// overwrite destroys the candles after each callback; the sources' batches must be writable.
	overwrite bool
	progress  func(market.Time)
	watch     func(Watched)
	began     func(d *driver) // called before each pass: two, where a callback ended its goroutine
	seat      Seat            // of a session; nil: see driver.seat
	apart     engine.Apart    // calls strategies; nil: directly
	observer  Observer
	plots     bool // collect what strategies plot
	live      bool // see driver
	told      bool // see Options
	facts     Facts
}

// Run drives the plan and reports. It returns ErrNoCandles where the range is empty, ctx's error
// where it was cancelled, and leaves no file behind after an error.
func Run(ctx context.Context, p *Plan, o Options) (*Result, error) {
	var byDay *days
	if o.Tried != nil {
		byDay = &days{}
	}
	_, result, err := run(ctx, p, o, byDay)
	return result, err
}

// run is Run; it collects the run by day too where days is not nil.
func run(ctx context.Context, p *Plan, o Options, days *days) (*driver, *Result, error) {
	var rec *recorder
	d, err := drive(ctx, p, runOptions{
		progress: o.Progress, observer: o.Observer, watch: o.Watch, plots: o.Out != "", told: o.Told,
		record: func(equity market.Money, from market.Time, rates []exchange.Fees) (r *recorder, err error) {
			if rec != nil { // the last pass failed
				rec.Abort()
			}
			rec, err = newRecorder(p.recording(o, equity, from, rates))
			if err == nil && days != nil {
				rec.follow(days, p.Feeds[0].Market)
			}
			return rec, err
		},
	})
	if err != nil {
		if rec != nil {
			rec.Abort()
		}
		return nil, nil, err
	}
	result, err := d.conclude(ctx, o)
	return d, result, err
}

// conclude sums up a run that has reached its end.
func (d *driver) conclude(ctx context.Context, o Options) (_ *Result, err error) {
	if o.Observer != nil {
		o.Observer.Ended(d.account)
	}
	if err := d.oneCandle.err; err != nil {
		d.recorder.Abort()
		return nil, err
	}
	d.endHold()
	d.reportHalts(o.Halted)
	info := d.info(o)
	if o.Envelope {
		info.Others, err = d.envelope(ctx, o)
	}
	if o.Late && len(d.plan.Signals) > 0 && err == nil {
		info.Late, err = d.hindsight(ctx, o)
	}
	if err != nil {
		d.recorder.Abort()
		return nil, err
	}
	return d.recorder.Finish(info)
}

// recording configures the recorder of a plan.
func (p *Plan) recording(o Options, equity market.Money, from market.Time, rates []exchange.Fees) recorderConfig {
	universe := p.universe()
	return recorderConfig{
		Catalog: p.Catalog, Currency: p.Currency, Start: equity, From: from,
		Run: runID(o.ConfigHash, o.DataHash), Out: o.Out, Config: o.Config, Curve: o.Curve, Keep: o.Keep,
		Fees: rates, Markets: universe, HoldInterval: p.feedOf(universe[0]).Interval,
		Spread:     exchange.Spread{Half: p.Venue.HalfSpread, Slippage: p.Venue.Slippage},
		Strategies: p.names(), Candles: p.candles(universe, from), Tried: o.Tried,
	}
}

// universe are the markets of the strategies in their order.
func (p *Plan) universe() (list []*market.Market) {
	for i := range p.Strategies {
		for _, m := range p.Strategies[i].Markets {
			if !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	return list
}

func (p *Plan) names() (list []string) {
	for i := range p.Strategies {
		list = append(list, p.Strategies[i].Name)
	}
	return list
}

// feedOf is the feed of a market with the interval of the first strategy that trades it, or the
// market's first, or the first of all.
func (p *Plan) feedOf(m *market.Market) Feed {
	own := p.Feeds[0]
	for _, f := range slices.Backward(p.Feeds) {
		if f.Market == m {
			own = f
		}
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		if !slices.Contains(s.Markets, m) {
			continue
		}
		for _, f := range p.Feeds {
			if f.Market == m && f.Interval == s.Interval {
				return f
			}
		}
		break
	}
	return own
}

// candles are the series of the page, read again after the run.
func (p *Plan) candles(universe []*market.Market, from market.Time) (list []report.Candles) {
	for _, m := range universe {
		f := p.feedOf(m)
		if f.Market != m || p.Open == nil {
			continue
		}
		list = append(list, report.Candles{Market: int(m.ID) - 1, Quote: p.Currency.Symbol, Interval: f.Interval,
			Open: func() (report.Source, error) { return p.Open(f, from, p.To) }})
	}
	return list
}

// envelope returns the ends of the run under the pessimistic and the optimistic path. A run in
// which no candle was walked past its open ends the same on every path.
func (d *driver) envelope(ctx context.Context, o Options) (others []pathEquity, err error) {
	for _, path := range [...]sim.Path{sim.Pessimistic, sim.Optimistic} {
		if path == d.plan.Venue.Path {
			continue
		}
		run := d
		if d.venue.PathUsed() {
			if run, err = d.along(ctx, path, o); err != nil {
				return nil, fmt.Errorf("%s path: %w", path, err)
			}
		}
		equity, err := run.account.Equity(d.plan.Currency.ID)
		if err != nil {
			return nil, fmt.Errorf("%s path: %w", path, err)
		}
		others = append(others, pathEquity{Path: path.String(), Final: equity})
	}
	return others, nil
}

// along runs the plan on another path.
func (d *driver) along(ctx context.Context, path sim.Path, o Options) (*driver, error) {
	quiet := *d.plan
	quiet.Log = zerolog.Nop() // the chosen path has logged everything
	return drive(ctx, &quiet, runOptions{path: &path, progress: o.Progress, watch: o.Watch})
}

// info collects the driver's part of the result.
func (d *driver) info(o Options) finishInfo {
	info := finishInfo{
		About: o.About, To: d.last, Path: d.plan.Venue.Path.String(),
		Ambiguous: d.venue.Ambiguous(), Unprotected: d.engine.Brackets().Unprotected(), Causes: d.causes(),
	}
	info.Warnings, info.Data = slices.Clone(o.Warnings), slices.Clone(o.Data)
	d.countCandles(info.Data)
	info.Assumptions = slices.Concat(d.plan.assumptions(d.live), d.roundedCosts(), dataAssumptions(info.Data),
		o.Assumptions)
	for i := range d.plan.Strategies {
		s := &d.plan.Strategies[i]
		about := s.Info()
		about.Began = d.began(market.StrategyID(i+1), s)
		for _, c := range d.engine.Refused(market.StrategyID(i + 1)) {
			if c.Reason == risk.ReasonWarmUp.String() {
				about.AskedEarly = c.N
				continue
			}
			info.Refusals = append(info.Refusals, Count{Reason: s.Name + ": " + c.Reason, Count: c.N})
		}
		if len(d.plan.Borders) == 0 { // else they tell of the part after the last border alone
			about.Notes = d.engine.Notes(market.StrategyID(i + 1))
		}
		about.Scaled = d.gate.Scaled(market.StrategyID(i + 1))
		info.Strategies = append(info.Strategies, about)
	}
	info.Assumptions = append(info.Assumptions, d.targetLines(info.Strategies)...)
	for code, n := range d.rejected {
		info.Refusals = append(info.Refusals, Count{Reason: fmt.Sprint(exchangeAnswered, code), Count: n})
	}
	info.Warnings = append(info.Warnings, d.bareWarnings()...)
	if info.OneCandle = d.oneCandleExits(); info.OneCandle != nil {
		info.Warnings = append(info.Warnings, info.OneCandle.warning(d.plan.Currency.Symbol))
	}
	info.Queue = d.queueCounts()
	info.Warnings = append(info.Warnings, d.queueWarnings()...)
	info.Warnings = append(info.Warnings, d.closeWarnings()...)
	info.Delisted = d.delisted
	info.Warnings = append(info.Warnings, d.delistedWarnings()...)
	for _, h := range d.engine.Halts() {
		info.Warnings = append(info.Warnings, fmt.Sprintf("strategy %s was halted at %s: %s", h.Name, h.At, h.Reason))
	}
	return info
}

// countCandles fills in how many candles each series had in the range.
func (d *driver) countCandles(data []DataInfo) {
	for i := range data {
		for j := range d.feeds {
			if f := &d.feeds[j]; f.Market.Name == data[i].Market && f.Interval.String() == data[i].Interval {
				data[i].Candles = f.count
			}
		}
	}
}

// dataAssumptions lists the gaps of the candles.
func dataAssumptions(data []DataInfo) (lines []string) {
	for i, d := range data {
		if d.Missing == 0 {
			continue
		}
		known := "the run knows nothing of these times"
		if slices.ContainsFunc(data[i+1:], func(longer DataInfo) bool { return longer.Market == d.Market }) {
			known = "the market moves by longer candles there, as far as they are stored" // the series come by interval
		}
		are := fmt.Sprintf("%d candles of %s %s are", d.Missing, d.Market, d.Interval)
		if d.Missing == 1 {
			are = fmt.Sprintf("1 candle of %s %s is", d.Market, d.Interval)
		}
		lines = append(lines, fmt.Sprintf("%s missing for an unknown reason: %s.", are, known))
	}
	return lines
}

// Info describes the strategy with its parameters.
func (s *StrategyPlan) Info() StrategyInfo {
	info := StrategyInfo{Name: s.Name, Kind: s.Kind.Name, Interval: s.Interval.String()}
	for _, m := range s.Markets {
		info.Markets = append(info.Markets, m.Name)
	}
	settings, err := s.Kind.Resolve(s.Values)
	if err != nil {
		return info // newDriver has made the strategy from the same values
	}
	for _, p := range settings {
		info.Params = append(info.Params, Param{Name: p.Name, Value: p.Text})
	}
	return info
}

// assumptions are the assumptions of the result, the most important first.
func (p *Plan) assumptions(live bool) []string {
	v := p.Venue
	lines := append([]string{p.feesText()}, p.movementText(live)...)
	lines = append(lines,
		volumeText(v),
		p.warmupText(),
		cmp.Or(p.Rules, "Today's market rules (tick size, minimums, fees) are applied to the past."),
		"Nothing is closed at the end: what is open is worth its last close, without a fee.",
	)
	if text := queueText(v); text != "" {
		lines = append(lines, text)
	}
	if len(p.Borders) > 0 {
		lines = append(lines, p.bordersText())
	}
	if v.PlacementLimit > 0 {
		lines = append(lines, fmt.Sprintf("Limit orders priced more than %s through the market are cancelled.",
			percent(v.PlacementLimit)))
	}
	if p.SyntheticBook {
		lines = append(lines, "Order books are made from the path: one level on each side, as large as the candle's "+
			"volume.")
	}
	return lines
}

// movementText says what moves the markets, and when orders meet them.
func (p *Plan) movementText(live bool) []string {
	v := p.Venue
	if live {
		return []string{
			fmt.Sprintf("Tickers, books and trades move the markets as they arrived; takers pay their bid or ask, and "+
				"slippage %s. A resting limit order fills on %s%s, by the last price, bid or ask.", percent(v.Slippage),
				v.LimitFill, missText(v)),
			fmt.Sprintf("Where none arrived during a candle, the candle is walked on the %s path, and takers pay half "+
				"of %s beyond its price.", v.Path, percent(2*v.HalfSpread)),
			fmt.Sprintf("Latency: data has its own times of arrival; orders arrive %s after they were decided, at the "+
				"price that stands then.", v.Latency)}
	}
	return []string{
		fmt.Sprintf("Spread: takers pay half of %s beyond the path's price; slippage %s.", percent(2*v.HalfSpread),
			percent(v.Slippage)),
		fmt.Sprintf("Candles are walked on the %s path; a resting limit order fills on %s%s, at %s where an open has "+
			"passed it; a market order decided at a close fills at the next open.", v.Path, v.LimitFill, missText(v),
			map[sim.LimitGap]string{sim.GapOwn: "its own price", sim.GapOpen: "the open"}[v.LimitGap]),
		fmt.Sprintf("Latency: candles arrive %s after their close, orders %s after they were decided.", p.DataLatency,
			v.Latency)}
}

// feesText says which fees are charged.
func (p *Plan) feesText() string {
	var maker, taker []market.Rate
	add := func(f Fees) { maker, taker = append(maker, f.Maker), append(taker, f.Taker) }
	recorded := map[market.ID]bool{}
	for i := range p.Changes {
		if c := &p.Changes[i]; c.Fees != nil {
			recorded[c.Market] = true
			add(*c.Fees)
		}
	}
	if slices.ContainsFunc(p.universe(), func(m *market.Market) bool { return !recorded[m.ID] }) {
		add(p.Fees)
	}
	return fmt.Sprintf("Fees: maker %s, taker %s of the value of each fill, in quote; rounding: %s.", ratesText(maker),
		ratesText(taker), roundingText(p))
}

// ratesText writes the range of some rates.
func ratesText(rates []market.Rate) string {
	least, most := slices.Min(rates), slices.Max(rates)
	if least == most {
		return percent(least)
	}
	return percent(least) + " to " + percent(most)
}

func (p *Plan) warmupText() string {
	if p.From == 0 || p.ColdStart {
		return "Strategies warm up inside the range: they cannot trade on its first candles."
	}
	return "Strategies warm up on candles before the range, as far as there are any, and may trade from its first " +
		"candle on."
}

// missText says how many touches miss; empty: none.
func missText(v sim.Config) string {
	if v.MissProbability == 0 || v.LimitFill != sim.Touch {
		return ""
	}
	whole := market.Rate(market.Pow10(market.RateDigits))
	return fmt.Sprintf(" with probability %s, drawn for each order and candle, and always on a price beyond it",
		percent(whole-v.MissProbability))
}

func volumeText(v sim.Config) string {
	if v.VolumeShare == 0 {
		return "Liquidity is unlimited: an order of any size fills at one price."
	}
	return fmt.Sprintf("Own orders take at most %s of a candle's volume; what is left of a market order expires.",
		percent(v.VolumeShare))
}

func roundingText(p *Plan) string {
	switch p.Venue.FeeRounding.String() {
	case "fill":
		return fmt.Sprintf("each fill against the client, to %d decimals of %s", p.Currency.Digits, p.Currency.Symbol)
	case "none":
		return fmt.Sprintf("each fill to the nearest of %d decimals of %s", p.Currency.Digits, p.Currency.Symbol)
	}
	return fmt.Sprintf("the total of each order against the client, to %d decimals of %s", p.Currency.Digits,
		p.Currency.Symbol)
}

// percent writes a rate as a percentage.
func percent(r market.Rate) string { return market.FormatFixed(int64(r), market.RateDigits-2) + " %" }
