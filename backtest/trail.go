package backtest

import (
	"fmt"
	"hash/fnv"
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
	hash  uint64 // of the whole command

	kind     market.CommandKind
	side     market.Side
	order    market.OrderType
	strategy market.StrategyID
	market   market.ID
	id       market.OrderID
	amount   market.Qty
	money    market.Money
	price    market.Price
}

// add records a command.
func (d *trail) add(c *market.Command, sees market.Time) {
	h := fnv.New64a()
	o := &c.Order
	fmt.Fprint(h, c.Kind, c.Changed, o.ID, o.Market, o.Strategy, o.Side, o.Type, o.TimeInForce, o.SelfTradePrevention,
		o.PostOnly,
		o.Price, o.TriggerAmount, o.TriggerReference, o.Amount, o.AmountRemaining, o.AmountQuote, o.Bracket, o.Tag)
	d.list = append(d.list, decision{
		at: c.At, knows: sees, hash: h.Sum64(), kind: c.Kind, side: o.Side, order: o.Type, strategy: o.Strategy,
		market: o.Market, id: o.ID,
		amount: o.Amount, money: o.AmountQuote, price: o.Price,
	})
}

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
