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
	d.list = append(d.list, decisionOf(c, sees))
}

func decisionOf(c *market.Command, sees market.Time) decision {
	o := &c.Order
	return decision{
		at: c.At, knows: sees, hash: hashOf(c), kind: c.Kind, side: o.Side, order: o.Type, strategy: o.Strategy,
		market: o.Market, id: o.ID,
		amount: o.Amount, money: o.AmountQuote, price: o.Price,
	}
}

// hashOf is a hash of all that a strategy decides in a command.
func hashOf(c *market.Command) uint64 {
	o, h := &c.Order, uint64(0)
	for _, n := range [...]uint64{uint64(c.Kind), uint64(c.Changed), uint64(o.ID), uint64(o.Market), uint64(o.Strategy),
		uint64(o.Side), uint64(o.Type), uint64(o.TimeInForce), uint64(o.SelfTradePrevention), uint64(o.Price),
		uint64(o.TriggerAmount), uint64(o.TriggerReference), uint64(o.Amount), uint64(o.AmountRemaining),
		uint64(o.AmountQuote), uint64(o.Bracket.Stop), uint64(o.Bracket.Target), uint64(o.Bracket.Keep)} {
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
