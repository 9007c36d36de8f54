package gap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Options say what is compared with what.
type Options struct {
	Dir     string // the state folder of the bot, which may run
	Kinds   []strategy.Definition
	Model   Model
	Candles *candles.Store  // of the backtest; nil: the recorded ones
	Signals map[string]Sent // of the backtest, by source
	// From and To bound the comparison; 0: all that is recorded. From counts in full minutes. Where
	// the bot did not run then, or events before it are lost, the comparison begins with its next
	// start.
	From, To market.Time
	// Beside: the bot must run. The state file itself, for which a start could be waiting, is not
	// opened then.
	Beside bool
}

// Run compares the books of a bot with a backtest of the same time, fact by fact, on a copy of the
// state file. A recording that is missing or damaged, and a strategy that the program lacks are
// errors.
func Run(ctx context.Context, o Options) (*Comparison, error) {
	store, err := operator.OpenCopy(ctx, o.Dir, o.Beside)
	if err != nil {
		return nil, statedir.Wrap(err)
	}
	missing, err := missingIn(o.Dir, store)
	var r *Comparison
	if err == nil {
		r, err = compare(ctx, store, &o)
	}
	if err == nil && missing != "" && r.Short == "" {
		r.Short = missing
	}
	return r, errors.Join(err, store.Close())
}

// missingIn says what the recording lacks of the time before a copy of the state file; empty:
// nothing.
func missingIn(dir string, store *journal.Store) (string, error) {
	blob, err := store.Blob(statedir.RecordingBlob)
	if err != nil {
		return "", err
	}
	x, err := recording.Describe(reader.Dir(dir))
	if next := statedir.NextRecord(blob); err == nil && x.Last+1 < next {
		return fmt.Sprintf("the recording ends at event %d, and the books have what followed from events up to %d",
			x.Last, next-1), nil
	}
	return "", err
}

// compare compares part by part: a part ends where the bot began with other strategies or markets.
func compare(ctx context.Context, store *journal.Store, o *Options) (*Comparison, error) {
	t := &stretch{dir: o.Dir, kinds: o.Kinds, from: o.From, to: o.To}
	err := t.find()
	if err == nil {
		t.ends, err = endsOf(store)
	}
	if err != nil {
		return nil, err
	}
	all := &parts{}
	for {
		v, err := t.look(ctx)
		switch {
		case errors.Is(err, errIdle) && t.other != 0: // a start ended before it traded
		case errors.Is(err, errIdle) && len(all.reports) > 0:
			return all.join()
		case err != nil:
			return nil, err
		default:
			r, err := t.compare(ctx, store, v, o)
			if err == nil {
				err = all.add(r, v)
			}
			if err != nil {
				return nil, err
			}
		}
		if t.other == 0 {
			return all.join()
		}
		t = &stretch{dir: o.Dir, kinds: o.Kinds, to: o.To, first: t.other, ends: t.ends}
	}
}

// compare compares the time of a stretch.
func (t *stretch) compare(ctx context.Context, store *journal.Store, v *survey, o *Options) (*Comparison, error) {
	if o.Candles != nil {
		read, notes, err := v.stored(o.Candles)
		if err != nil {
			return nil, err
		}
		read.prices = v.candles.prices
		v.candles, v.notes = read, append(v.notes, notes...)
		if len(notes) > 0 {
			v.short = notes[0]
		}
	}
	lines, err := v.readSignals(store, o.Signals)
	if err != nil {
		return nil, err
	}
	c := &comparison{stretch: t, survey: v, model: &o.Model, runs: map[Set]*RunBooks{}, recorded: o.Candles == nil}
	c.ladder = ladder(len(v.signals)+len(v.sent) > 0)
	for _, s := range append(subsets(), c.ladder...) {
		if c.runs[s] == nil {
			if c.runs[s] = t.simulate(ctx, v, &o.Model, s); ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
	}
	live, err := v.whole, t.whole()
	if err == nil && o.To == 0 && t.other == 0 {
		if live, err = c.books(store); err != nil {
			return nil, err
		}
	}
	r := c.report(live)
	r.Assumptions = append(r.Assumptions, lines...)
	return r, r.episodes()
}

// comparison is all runs over a stretch.
type comparison struct {
	stretch *stretch
	survey  *survey
	model   *Model
	runs    map[Set]*RunBooks
	ladder  []Set
	// recorded: the candles are those of the recording
	recorded bool
}

// books are the live books as the state file has them, at the latest recorded prices.
func (c *comparison) books(store *journal.Store) (*profitMeter, error) {
	parts, _, err := statedir.Parts(store)
	if err != nil {
		return nil, err
	}
	last := c.survey.whole
	a := state.NewAccount(last.made.Catalog, len(last.made.Strategies), ownOf(last))
	var orders [][]byte
	for name, text := range parts {
		if len(name) > len(engine.PartOrder) && name[:len(engine.PartOrder)] == engine.PartOrder {
			orders = append(orders, text)
		}
	}
	if err := a.Restore(parts[engine.PartAccount], orders, namesOf(last)); err != nil {
		return nil, fmt.Errorf("the books of %s: %w", c.stretch.dir, err)
	}
	for _, m := range last.made.Catalog.Markets() {
		if price := last.account.Last(m.ID); price != 0 {
			if err := mark(a, m.ID, c.survey.to, price); err != nil {
				return nil, err
			}
		}
	}
	live := *last
	live.byProfit = make([]market.Money, len(last.byProfit))
	return &live, live.close(a)
}

func namesOf(l *profitMeter) (names []string) {
	for i := range l.made.Strategies {
		names = append(names, l.made.Strategies[i].Name)
	}
	return names
}

func ownOf(l *profitMeter) []bool {
	own := make([]bool, len(l.made.Strategies)+1)
	for i := range l.made.Strategies {
		own[i+1] = l.made.Strategies[i].Own
	}
	return own
}

// report puts the runs together.
func (c *comparison) report(live *profitMeter) *Comparison {
	v := c.survey
	currency := v.first.made.Catalog.Asset(v.first.made.Limits.Currency)
	r := &Comparison{From: v.from, To: v.to, Currency: currency.Symbol, Starts: v.starts,
		Notes: append([]string{}, v.notes...), Short: v.short,
		Assumptions: c.assumptions(), Matched: c.matched(), Refused: c.refusals(),
		Catalog: v.first.made.Catalog, Run: v.last}
	for _, s := range c.ladder {
		r.Runs = append(r.Runs, c.runs[s])
	}
	for s, out := range c.runs {
		if out.Err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("the run with %s ended early: %s", s, out.Err))
			if slices.Contains(c.ladder, s) {
				r.Short = r.Notes[len(r.Notes)-1]
			}
		}
	}
	bridge := func(name string, money, live, turnover market.Money, profit func(*RunBooks) market.Money) Bridge {
		b := c.bridge(name, currency.Digits, live, turnover, r.Matched.Enough(),
			func(s Set) market.Money { return profit(c.runs[s]) })
		b.Equity = Amount{money, currency.Digits}
		return b
	}
	r.Account = bridge("", v.whole.equity, live.profit, v.turnover, func(o *RunBooks) market.Money { return o.Profit })
	rest := live.profit
	for i, name := range namesOf(live) {
		rest -= live.byProfit[i]
		r.Strategies = append(r.Strategies, bridge(name, v.whole.byEquity[i], live.byProfit[i], v.by[i],
			func(o *RunBooks) market.Money { return o.Strategies[i] }))
	}
	r.Rest = Amount{rest, currency.Digits}
	return r
}

// matched is the match of the run with the least share of matched orders, of those that need it.
func (c *comparison) matched() (worst Match) {
	for _, s := range subsets() {
		if !s.Has(Orders) {
			continue
		}
		one := c.runs[s].Match
		if worst.Run == "" || one.less(&worst) {
			worst = one
		}
	}
	return worst
}

// bridge is the way from S0 to the live books.
func (c *comparison) bridge(name string, digits uint8, live, turnover market.Money, means bool,
	profit func(Set) market.Money) Bridge {
	amount := func(units market.Money) Amount { return Amount{units, digits} }
	b := Bridge{Name: name, Live: amount(live), Turnover: amount(turnover)}
	for _, s := range c.ladder {
		b.Profits = append(b.Profits, amount(profit(s)))
	}
	all, names := shares(profit), steps(len(c.ladder))
	for i := range names {
		step := b.Profits[i+1].Units - b.Profits[i].Units
		one := share{step, step, step}
		f := Fact(i - (len(names) - int(facts)))
		moves := i >= len(names)-int(facts) && f < swapped
		if moves {
			one = all[f]
		}
		b.Terms = append(b.Terms, Term{Fact: names[i].name, About: names[i].about, Step: amount(step),
			Mean: amount(one.mean), Least: amount(one.least), Most: amount(one.most), RangeOnly: moves && !means})
	}
	b.Gap, b.Unexplained = amount(live-b.Profits[0].Units), amount(live-profit(whole))
	return b
}

// assumptions list the assumptions of the runs where they take nothing from the record.
func (c *comparison) assumptions() (lines []string) {
	v, fees := &c.model.Venue, c.survey.first.made.Fees
	if c.model.Fees != nil {
		fees = *c.model.Fees
	}
	lines = append(lines, fmt.Sprintf("fees maker %s, taker %s; half spread %s, slippage %s; orders arrive after %s",
		fees.Maker, fees.Taker, v.HalfSpread, v.Slippage, v.Latency),
		fmt.Sprintf("the %s path of a candle; a resting order fills on %s", v.Path, v.LimitFill))
	if c.recorded {
		lines = append(lines, "recorded candles stand for stored ones: what the bot missed, the backtest misses too")
	}
	return lines
}
