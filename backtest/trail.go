package backtest

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// trail is the list of commands of a run.
type trail struct {
	list []decision
}

// decision is one command: its time, the knowledge behind it, and its content. Two runs decided the
// same where these are equal.
type decision struct {
	at market.Time
	// knows is the close of the newest candle behind it: the delivered one, or the one whose path
	// was being walked.
	knows market.Time
	form  uint64 // hash of all of the command but prices and amounts
	hash  uint64 // hash of all of it

	kind     market.CommandKind
	side     market.Side
	order    market.OrderType
	strategy market.StrategyID
	market   market.ID
	id       market.OrderID
	amount   market.Qty
	money    market.Money
	price    market.Price
	levels   [3]market.Price // trigger, stop, target
}

// add records a command.
func (d *trail) add(c *market.Command, sees market.Time) {
	d.list = append(d.list, decisionOf(c, sees))
}

func decisionOf(c *market.Command, sees market.Time) decision {
	o := &c.Order
	form := formOf(c)
	return decision{
		at: c.At, knows: sees, form: form, hash: hashOf(form, o), kind: c.Kind, side: o.Side, order: o.Type,
		strategy: o.Strategy, market: o.Market, id: o.ID, amount: o.Amount, money: o.AmountQuote, price: o.Price,
		levels: [3]market.Price{o.TriggerAmount, o.Bracket.Stop, o.Bracket.Target},
	}
}

// formOf is a hash of what a strategy decides in a command, without prices and amounts.
func formOf(c *market.Command) uint64 {
	o, h := &c.Order, uint64(0)
	for _, n := range [...]uint64{uint64(c.Kind), uint64(c.Changed), uint64(o.ID), uint64(o.Market), uint64(o.Strategy),
		uint64(o.Side), uint64(o.Type), uint64(o.TimeInForce), uint64(o.SelfTradePrevention),
		uint64(o.TriggerReference), uint64(o.Bracket.Keep)} {
		h = mix(h, n)
	}
	if o.PostOnly {
		h = mix(h, 1)
	}
	for i := range len(o.Tag) {
		h = mix(h, uint64(o.Tag[i]))
	}
	return h
}

// hashOf adds prices and amounts to a form.
func hashOf(form uint64, o *market.Order) uint64 {
	for _, n := range [...]uint64{uint64(o.Price), uint64(o.TriggerAmount), uint64(o.Amount), uint64(o.AmountRemaining),
		uint64(o.AmountQuote), uint64(o.Bracket.Stop), uint64(o.Bracket.Target)} {
		form = mix(form, n)
	}
	return form
}

// like reports whether two runs decided the same after the same candle, with prices that differ by
// up to 0.1 % and amounts that differ by up to 1 %.
func (d *decision) like(other *decision) bool {
	same := d.knows == other.knows && d.form == other.form && within(d.amount, other.amount, 100) &&
		within(d.money, other.money, 100) && within(d.price, other.price, 1000)
	for i := range d.levels {
		same = same && within(d.levels[i], other.levels[i], 1000)
	}
	return same
}

// within reports whether two numbers differ by up to one part-th of the larger one.
func within[T ~int64](a, b, part T) bool { return max(a-b, b-a) <= max(a, b)/part }

// mix is a hash of a hash and a number.
func mix(h, n uint64) uint64 { return bits.RotateLeft64(h^n, 27)*0x9e3779b97f4a7c15 + 1 }

// after is the decisions made later than a time.
func (d *trail) after(t market.Time) []decision {
	n, _ := slices.BinarySearchFunc(d.list, t, func(x decision, t market.Time) int {
		if x.at <= t {
			return -1
		}
		return 1
	})
	return d.list[n:]
}

// differs returns the first counted decisions in which two runs differ; nil where a run has none
// left. Both are nil where all counted decisions are the same.
func (d *trail) differs(other *trail, counts func(*decision) bool) (mine, others *decision) {
	i, j := 0, 0
	for {
		for i < len(d.list) && !counts(&d.list[i]) {
			i++
		}
		for j < len(other.list) && !counts(&other.list[j]) {
			j++
		}
		if i < len(d.list) {
			mine = &d.list[i]
		}
		if j < len(other.list) {
			others = &other.list[j]
		}
		if mine == nil || others == nil || *mine != *others {
			return mine, others
		}
		mine, others = nil, nil
		i, j = i+1, j+1
	}
}

// text is a decision as a sentence.
func (p *Plan) text(d *decision) string {
	if d == nil {
		return "nothing"
	}
	m, name := p.Catalog.Market(d.market), p.Strategies[d.strategy-1].Name
	what := fmt.Sprintf("%s %s %s", d.order, d.side, m.FormatQty(d.amount))
	switch {
	case d.kind != market.CommandPlace:
		what = fmt.Sprintf("%s of order %d", d.kind, d.id)
	case d.money != 0:
		what = fmt.Sprintf("%s %s for %s", d.order, d.side, m.FormatMoney(d.money))
	case d.price != 0:
		what += " at " + m.FormatPrice(d.price)
	}
	return fmt.Sprintf("%s %s: %s on %s", d.at, name, what, m.Name)
}
