package backtest

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/warmup"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// Border is a change of parameters inside a run. It does what a bot does that is started again with
// other parameters: the whole state is saved, and an engine with the new strategies restores it
// (engine.Restore). Entries that rest are cancelled before; positions, exits, halts, the counters
// of limits and the strategies' own state stay.
type Border struct {
	At market.Time // candles that close later go to the new parameters
	// Strategies are those of the plan with other Values or Limits. They read the same candles.
	Strategies []StrategyPlan
	// Flat closes all positions at the next open, at market, and starts the strategies as new ones
	// that warm up on the candles before the border.
	Flat bool

	exact bool // for tests: no entry is cancelled, and all candles of the run are seen again
}

// borders are how far a run is in the borders of its plan.
type borders struct {
	borderAt market.Time          // of the next border; never: there is none
	crossed  int                  // how many borders lie behind
	begun    [][]warmup.WarmupEnd // by strategy: kept at the last border
	handing  bool                 // an engine is being restored: it sees candles again
	options  runOptions           // of a plan with borders
}

// borderTag is the tag of the sales of a flat border.
const borderTag = "border"

// checkBorders refuses borders that change more than parameters.
func (p *Plan) checkBorders() error {
	at := p.From
	for i := range p.Borders {
		b := &p.Borders[i]
		if b.At <= at {
			return fmt.Errorf("border at %s: it is not behind %s", Moment(b.At), Moment(at))
		}
		if at = b.At; len(b.Strategies) != len(p.Strategies) {
			return fmt.Errorf("border at %s: it has %d strategies, the run %d", Moment(at), len(b.Strategies),
				len(p.Strategies))
		}
		for k := range b.Strategies {
			if what := b.Strategies[k].Changes(&p.Strategies[k]); what != "" {
				return fmt.Errorf("border at %s: strategy %s changes %s, which only a new run can", Moment(at),
					p.Strategies[k].Name, what)
			}
		}
	}
	return nil
}

// Changes names what differs from another plan beside parameters and limits; empty: nothing. Data
// that the parameters need counts.
func (s *StrategyPlan) Changes(from *StrategyPlan) string {
	switch {
	case s.Name != from.Name || s.Kind.Name != from.Kind.Name:
		return "its name or kind"
	case !slices.Equal(s.Markets, from.Markets) || s.Interval != from.Interval:
		return "its markets or its interval"
	case s.Own != from.Own || !reflect.DeepEqual(s.Universe, from.Universe):
		return "its allocation or its universe"
	}
	needs, _ := s.Kind.Needs(s.Values)
	had, _ := from.Kind.Needs(from.Values)
	if needs.Ticker != had.Ticker || needs.Book != had.Book {
		return "its need of tickers or books"
	}
	if !slices.Equal(needs.Reads, had.Reads) {
		return "the markets that it reads"
	}
	for i, c := range needs.Of(s.Interval) {
		if other := had.Of(from.Interval); i >= len(other) || other[i].Interval != c.Interval {
			return "the intervals of its candles"
		}
	}
	return ""
}

// seat makes account, gate and engine for a roster.
func (d *driver) seat(r *Roster, o runOptions) (err error) {
	if o.seat != nil {
		d.account, d.gate, d.engine, err = o.seat(d.observer(o.observer))
		return err
	}
	p := d.plan
	d.account = state.NewAccount(p.Catalog, len(r.Slots), r.Own)
	d.gate = risk.New(p.Catalog, risk.Config{Account: p.Account, Strategies: r.Limits, Fees: d.fees,
		Spread: exchange.Spread{Half: p.Venue.HalfSpread, Slippage: p.Venue.Slippage}, Absences: p.Absences})
	d.engine = engine.New(engine.Config{Catalog: p.Catalog, Account: d.account, Gate: d.gate, Slots: r.Slots,
		TradeFrom: p.From, WholeGroups: !d.live, LogTimes: true,
		Observer: d.observer(o.observer), Plots: d.plotter(o), Spoil: o.overwrite, Apart: o.apart})
	if o.told {
		d.engine.Watch()
	}
	return nil
}

// nextBorder is the time of the border that comes next; never: there is none.
func (d *driver) nextBorder() market.Time {
	if d.crossed == len(d.plan.Borders) {
		return never
	}
	return d.plan.Borders[d.crossed].At
}

// cross changes the parameters at the next border.
func (d *driver) cross() error {
	b := &d.plan.Borders[d.crossed]
	d.crossed++
	d.borderAt = d.nextBorder()
	if err := d.handOver(b); err != nil {
		return fmt.Errorf("border at %s: %w", Moment(b.At), err)
	}
	return nil
}

func (d *driver) handOver(b *Border) error {
	roster, err := NewRoster(d.plan.Catalog, b.Strategies, d.plan.Log)
	if err != nil {
		return err
	}
	d.ownRules()
	at := max(b.At, d.engine.Now())
	if b.Flat {
		d.send(d.engine.CloseAll(at, borderTag))
	}
	if !b.exact {
		d.send(d.engine.CancelEntries(at))
	}
	saved := map[string][]byte{}
	err = d.engine.SaveAll(func(part string, data []byte) error {
		if data != nil {
			saved[part] = slices.Clone(data)
		}
		return nil
	})
	if err == nil && b.Flat {
		saved, err = engine.Anew(saved)
	}
	if err != nil {
		return err
	}
	d.keepBegan()
	if err := d.seat(roster, d.options); err != nil {
		return err
	}
	d.venue.Watch(d.engine.Watches())
	d.handing = true
	history, err := d.before(b)
	if err != nil {
		return err
	}
	if b.exact {
		d.seeOwn(0)
	} else {
		d.engine.See(history, at)
	}
	commands, err := d.engine.Restore(at, saved, shown(history))
	d.handing = false
	d.send(commands)
	return errors.Join(err, d.unloaded())
}

// unloaded is the error of strategies that cannot go on from the state before the border.
func (d *driver) unloaded() error {
	for i := range d.plan.Strategies {
		if id := market.StrategyID(i + 1); d.engine.Unloaded(id) {
			halt, _ := d.engine.Halted(id)
			return fmt.Errorf("strategy %s: %s", d.plan.Strategies[i].Name, halt.Reason)
		}
	}
	return nil
}

// keepBegan keeps which warm-ups have ended, since the next engine warms up by itself.
func (d *driver) keepBegan() {
	for i := range d.plan.Strategies {
		list := d.beganOf(market.StrategyID(i + 1))
		if i == len(d.begun) {
			d.begun = append(d.begun, nil)
		}
		d.begun[i] = list
	}
}

// beganOf is when a strategy's warm-ups ended: the first time.
func (d *driver) beganOf(id market.StrategyID) []warmup.WarmupEnd {
	list := d.engine.Began(id)
	for i := range list {
		if int(id) <= len(d.begun) && d.begun[id-1][i].Ended {
			list[i] = d.begun[id-1][i]
		}
	}
	return list
}

// shown yields a history in the groups in which its candles closed.
func shown(history []market.Candle) iter.Seq2[[]market.Candle, error] {
	return func(yield func([]market.Candle, error) bool) {
		for group := range market.ByClose(history) {
			if !yield(group, nil) {
				return
			}
		}
	}
}

// before reads the candles of the warm-ups before a border.
func (d *driver) before(b *Border) (all []market.Candle, err error) {
	for _, f := range d.plan.Feeds {
		candles := Warmup(b.Strategies, f.Market, f.Interval)
		if !f.Deliver || candles == 0 {
			continue
		}
		from := max(f.Interval.StartOf(f.Interval.Index(b.At)-int64(candles)), 0)
		if b.exact {
			from = d.plan.History(f, 1)
		}
		list, err := d.latest(f, from, b.At, candles)
		if err != nil {
			return nil, err
		}
		if len(d.plan.Feeds) == 1 {
			return list, nil
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b market.Candle) int {
		return cmp.Or(cmp.Compare(a.End(), b.End()), cmp.Compare(a.Interval, b.Interval),
			cmp.Compare(a.Market, b.Market))
	})
	return all, nil
}

// latest reads the candles of a feed from a start on that close up to a time, and earlier ones
// where these are fewer than n.
func (d *driver) latest(f Feed, from, until market.Time, n int) (list []market.Candle, err error) {
	for ; ; from = max(2*from-until, 0) { // there may be holes
		source, err := d.plan.Open(f, from, until)
		if err != nil {
			return nil, err
		}
		list = slices.Grow(list[:0], n)
		s := feed{Feed: f, source: source}
		for err = s.fill(); err == nil && len(s.batch) > 0 && s.batch[0].Start < until; err = s.fill() {
			for i := range s.batch {
				if c := &s.batch[i]; c.Start >= from && f.Interval.End(c.Start) <= until {
					list = append(list, *c)
				}
			}
		}
		source.Close()
		if err != nil || len(list) >= n || from == 0 {
			return list, err
		}
	}
}

// bordersText says what happens at the borders.
func (p *Plan) bordersText() string {
	how := "positions, exits and the strategies' state are handed over as at a restart of a bot, and entries that " +
		"rest are cancelled"
	if p.Borders[0].Flat {
		how = "all positions are closed at the next open, and the strategies start anew"
	}
	return fmt.Sprintf("Parameters change at %d borders, first at %s: %s. The parameters of the first part are listed.",
		len(p.Borders), p.Borders[0].At, how)
}
