package gap

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Episode is a time in which a strategy's orders were others live than in the backtest: from the
// first divergence until the books agree again. Its root cause is the fact that makes its first
// divergence; the root cause carries the gap of the whole episode.
type Episode struct {
	Number       int          `json:"episode"` // from 1, in the order of their beginnings
	Strategy     string       `json:"strategy"`
	From         market.Time  `json:"from_ns"` // the first decision that differs
	To           market.Time  `json:"to_ns"`   // the last decision or fill of an order that differs
	Open         bool         `json:"open"`    // the books differ until the end: To is that of the record
	Gap          Amount       `json:"gap"`     // what live has earned more
	Root         Divergence   `json:"root"`
	Contributing []Divergence `json:"contributing"` // the first one of each further fact
	Orders       int          `json:"orders"`       // that differ
}

// Divergence is an order that differs between the backtest and live.
type Divergence struct {
	Fact   string         `json:"fact"` // that makes the difference; "unexplained": none does
	At     market.Time    `json:"at_ns"`
	Market string         `json:"market"`
	Order  market.OrderID `json:"order"` // live, for bot explain; 0: there is none
	Text   string         `json:"text"`  // what differs
}

// Unexplained is the Fact of a Divergence that no fact explains.
const Unexplained = "unexplained"

// near is how far apart the decisions for one order may be in two runs.
const near = market.Time(60e9)

// item is an order with what became of it in each run of the ladder; nil: the run does not have it.
type item struct {
	rungs []*RunOrder
}

func (i *item) tested() *RunOrder { return i.rungs[0] }
func (i *item) live() *RunOrder   { return i.rungs[len(i.rungs)-1] }

// any is the order of the backtest, or else the live one.
func (i *item) any() *RunOrder { return cmp.Or(i.tested(), i.live()) }

// span is the time from the first decision to the last decision or first fill.
func (i *item) span() (from, to market.Time) {
	from = i.any().At
	for _, o := range [...]*RunOrder{i.tested(), i.live()} {
		if o != nil {
			from, to = min(from, o.At), max(to, o.At, o.First)
		}
	}
	return from, to
}

// differs reports whether the order came to something else live than in the backtest.
func (i *item) differs() bool {
	a, b := i.tested(), i.live()
	if !a.exists() || !b.exists() {
		return a.exists() != b.exists()
	}
	return a.Type != b.Type || a.Amount != b.Amount || a.Quote != b.Quote || a.Price != b.Price ||
		a.Rejected != b.Rejected || a.Filled != b.Filled || a.Value != b.Value || a.Fee != b.Fee
}

// items are the orders of a strategy in all runs of the ladder: those with a live one by that, the
// others by market, side, type and the nearest decision in the run before. What the gate refused in
// a run is the order of the run before or after.
func items(runs []*RunBooks, of market.StrategyID) (all []*item) {
	live := map[market.OrderID]*item{}
	var before []*item // in the run before, by decision
	for rung, run := range runs {
		found := make([]*item, len(run.Orders))
		for _, refused := range [...]bool{false, true} {
			for n := range run.Orders {
				o := &run.Orders[n]
				if o.Strategy != of || o.exists() == refused {
					continue
				}
				i := live[o.Live]
				if i == nil {
					i = follow(before, o, rung)
				}
				if i == nil {
					i = &item{rungs: make([]*RunOrder, len(runs))}
					all = append(all, i)
				}
				if i.rungs[rung], found[n] = o, i; o.Live != 0 {
					live[o.Live] = i
				}
			}
		}
		before = slices.DeleteFunc(found, func(i *item) bool { return i == nil })
	}
	return all
}

// follow finds the item whose order of the rung before stands for an order; nil: there is none. An
// order with a live one stands for that alone, unless the gate refuses it in one of the runs.
func follow(before []*item, o *RunOrder, rung int) (best *item) {
	from, _ := slices.BinarySearchFunc(before, o.At-near, func(i *item, at market.Time) int {
		return cmp.Compare(i.rungs[rung-1].At, at)
	})
	for _, i := range before[from:] {
		was := i.rungs[rung-1]
		if was.At > o.At+near {
			break
		}
		if i.rungs[rung] != nil || was.Market != o.Market || was.Side != o.Side || was.Type != o.Type ||
			was.exists() && o.exists() && (was.Live != 0 || o.Live != 0) {
			continue
		}
		if best == nil || distance(was.At, o.At) < distance(best.rungs[rung-1].At, o.At) {
			best = i
		}
	}
	return best
}

// cutter makes the episodes of a strategy.
type cutter struct {
	report *Comparison
	name   string
	made   []Episode
	open   *Episode // the one at hand
	until  market.Time
	ahead  map[market.ID]market.Qty   // that live holds more
	gained map[market.ID]market.Value // that live has gained more in the episode
	err    error
}

// episodes cuts the gap of each strategy. Gaps of episodes and Bridge.Outside add up to the gap.
func (r *Comparison) episodes() error {
	r.Episodes = []Episode{}
	for n := range r.Strategies {
		c := &cutter{report: r, name: r.Strategies[n].Name, ahead: map[market.ID]market.Qty{}}
		if err := c.cut(items(r.Runs, market.StrategyID(n+1)), &r.Strategies[n]); err != nil {
			return err
		}
		r.Episodes = append(r.Episodes, c.made...)
	}
	slices.SortStableFunc(r.Episodes, func(a, b Episode) int { return cmp.Compare(a.From, b.From) })
	r.Account.Outside = r.Account.Gap
	for i := range r.Episodes {
		r.Episodes[i].Number = i + 1
		r.Account.Outside.Units -= r.Episodes[i].Gap.Units
	}
	return nil
}

// cut makes the episodes. The episode that is open at the end has what the others leave of the gap.
func (c *cutter) cut(all []*item, b *Bridge) error {
	all = slices.DeleteFunc(all, func(i *item) bool { return !i.differs() })
	slices.SortStableFunc(all, func(x, y *item) int {
		a, _ := x.span()
		b, _ := y.span()
		return cmp.Compare(a, b)
	})
	for _, i := range all {
		if from, _ := i.span(); c.open != nil && from > c.until && c.agree() {
			c.end()
		}
		c.add(i)
	}
	open := c.open != nil && !c.agree()
	if c.open != nil {
		c.end()
	}
	b.Outside = b.Gap
	for i := range c.made {
		b.Outside.Units -= c.made[i].Gap.Units
	}
	if open {
		last := &c.made[len(c.made)-1]
		last.Open, last.To = true, c.report.To
		last.Gap.Units += b.Outside.Units
		b.Outside.Units = 0
	}
	return c.err
}

// agree reports whether both sides hold the same, but for dust.
func (c *cutter) agree() bool {
	for id, amount := range c.ahead {
		if m := c.report.Catalog.Market(id); amount != 0 && max(amount, -amount) >= m.MinOrderInBase {
			return false
		}
	}
	return true
}

// add takes an order that differs into the episode at hand, or begins one.
func (c *cutter) add(i *item) {
	from, to := i.span()
	d := c.report.divergence(i)
	if c.open == nil {
		c.open = &Episode{Strategy: c.name, From: from, Root: d, Contributing: []Divergence{},
			Gap: Amount{Digits: c.report.Account.Gap.Digits}}
		c.until, c.gained = to, map[market.ID]market.Value{}
	}
	e := c.open
	e.Orders++
	c.until = max(c.until, to)
	known := func(o Divergence) bool { return o.Fact == d.Fact }
	if !known(e.Root) && !slices.ContainsFunc(e.Contributing, known) {
		e.Contributing = append(e.Contributing, d)
	}
	c.count(i.live(), 1)
	c.count(i.tested(), -1)
}

// count adds the fills of an order on one side: sign is 1 for live, −1 for the backtest.
func (c *cutter) count(o *RunOrder, sign int64) {
	if o == nil || c.err != nil {
		return
	}
	paid, out, err := o.Value, market.Value{}, error(nil)
	if amount := o.Filled * market.Qty(sign); o.Side == market.Buy {
		c.ahead[o.Market] += amount
		paid, err = paid.Add(o.Fee)
		paid = paid.Neg()
	} else {
		c.ahead[o.Market] -= amount
		paid, err = paid.Sub(o.Fee)
	}
	if sign < 0 {
		paid = paid.Neg()
	}
	if err == nil {
		out, err = c.gained[o.Market].Add(paid)
	}
	c.gained[o.Market], c.err = out, err
}

// end ends the episode at hand.
func (c *cutter) end() {
	e := c.open
	e.To = c.until
	for _, m := range c.report.Catalog.Markets() {
		if c.report.Catalog.Asset(m.Quote).Symbol != c.report.Currency {
			continue
		}
		money, err := c.gained[m.ID].FloorMoney(m.MoneyDrop())
		e.Gap.Units += money
		c.err = cmp.Or(c.err, err)
	}
	c.made, c.open = append(c.made, *e), nil
}
