package tax

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/market"
)

// Comparison holds an account's trades against its history. Each trade counts once: as a row of the
// history that it belongs to, or else as a row of its own. The notes of a change name each
// difference.
type Comparison struct {
	From    time.Time        // of what is compared; changes before it stay as they are
	Markets []*market.Market // whose trades were read

	Agree       int // changes that have their trade, equal in all
	Differ      int // changes whose trade has other figures
	Unconfirmed int // changes of the history that no trade confirms
	Added       int // trades that the history lacks
}

// leeway is how far the times of a change and its trade may lie apart.
const leeway = time.Minute

// side is a direction of a market.
type side struct {
	base, quote string
	buy         bool
}

// pairing are the changes and trades of a side that have no partner yet, by time.
type pairing struct {
	side
	changes []*Transaction
	trades  []*Trade
}

// Join returns the changes with what the trades add, and with the trades that they lack, by time.
func (c *Comparison) Join(changes []Transaction, trades []Trade) []Transaction {
	changes = slices.Clone(changes)
	sides := map[side]*pairing{}
	var order []*pairing
	of := func(s side) *pairing {
		if sides[s] == nil {
			sides[s] = &pairing{side: s}
			order = append(order, sides[s])
		}
		return sides[s]
	}
	for i := range changes {
		one := &changes[i]
		if !one.traded() || one.At.Before(c.From.Add(-leeway)) {
			continue
		}
		if s, known := c.sideOf(one); known {
			p := of(s)
			p.changes = append(p.changes, one)
		} else if !one.At.Before(c.From) {
			c.unconfirmed(one, "not compared with trades: no market of today has both assets")
		}
	}
	for i := range trades {
		one := &trades[i]
		p := of(side{one.Base, one.Quote, one.Buy})
		p.trades = append(p.trades, one)
	}
	var added []Transaction
	for _, p := range order {
		added = append(added, c.match(p)...)
	}
	changes = append(changes, added...)
	slices.SortStableFunc(changes, func(a, b Transaction) int { return a.At.Compare(b.At) })
	return changes
}

// sideOf returns the side of a change in a market whose trades were read.
func (c *Comparison) sideOf(one *Transaction) (side, bool) {
	for i, name := range one.markets() {
		if !slices.ContainsFunc(c.Markets, func(m *market.Market) bool { return m.Name == name }) {
			continue
		}
		if i == 0 {
			return side{one.Received.Asset, one.Sent.Asset, true}, true
		}
		return side{one.Sent.Asset, one.Received.Asset, false}, true
	}
	return side{}, false
}

// match pairs the changes and trades of a side, the surest pairs first, and returns a change for
// each trade that has no partner.
func (c *Comparison) match(p *pairing) (added []Transaction) {
	slices.SortStableFunc(p.changes, func(a, b *Transaction) int { return a.At.Compare(b.At) })
	slices.SortStableFunc(p.trades, func(a, b *Trade) int { return a.At.Compare(b.At) })
	c.named(p)
	c.pair(p, 0, p.equal)
	c.orders(p)
	c.pair(p, leeway, p.equal)
	c.pair(p, 0, func(*Transaction, *Trade) bool { return true }) // of one moment: one of them has false figures
	for _, one := range p.changes {
		if !one.At.Before(c.From) {
			c.unconfirmed(one, "the exchange's list of trades lacks it")
		}
	}
	for _, t := range p.trades {
		if !t.At.Before(c.From) {
			c.Added++
			added = append(added, t.change())
		}
	}
	return added
}

func (c *Comparison) unconfirmed(one *Transaction, note string) {
	c.Unconfirmed++
	one.Notes = append(one.Notes, note)
}

// named pairs changes with the trades of their number.
func (c *Comparison) named(p *pairing) {
	places := map[string]int{}
	for i, t := range p.trades {
		places[t.ID] = i
	}
	c.sort(p, func(one *Transaction, _ func(int) bool) []int {
		if i, known := places[one.ID]; known {
			return []int{i}
		}
		return nil
	})
}

// pair gives each change the first trade that fits and is not further away than a span.
func (c *Comparison) pair(p *pairing, within time.Duration, fits func(*Transaction, *Trade) bool) {
	c.sort(p, func(one *Transaction, free func(int) bool) []int {
		from, _ := slices.BinarySearchFunc(p.trades, one.At.Add(-within), func(t *Trade, at time.Time) int {
			return t.At.Compare(at)
		})
		for i := from; i < len(p.trades) && !p.trades[i].At.After(one.At.Add(within)); i++ {
			if free(i) && fits(one, p.trades[i]) {
				return []int{i}
			}
		}
		return nil
	})
}

// orders pairs changes with all trades of an order, where the history has one row for the order.
func (c *Comparison) orders(p *pairing) {
	places := map[string][]int{}
	for i, t := range p.trades {
		places[t.Order] = append(places[t.Order], i)
	}
	c.sort(p, func(one *Transaction, free func(int) bool) []int {
		if whole := places[one.ID]; whole != nil && free(whole[0]) {
			return whole
		}
		from, _ := slices.BinarySearchFunc(p.trades, one.At.Add(-leeway), func(t *Trade, at time.Time) int {
			return t.At.Compare(at)
		})
		for i := from; i < len(p.trades) && !p.trades[i].At.After(one.At.Add(leeway)); i++ {
			whole := places[p.trades[i].Order]
			if len(whole) < 2 || !free(whole[0]) {
				continue
			}
			if base, _, _ := sumOf(p.at(whole)); alike(p.baseOf(one).Number, base) {
				return whole
			}
		}
		return nil
	})
}

// sort settles each change with the trades that partners finds for it, and keeps the others. free
// tells partners which trades have no change yet.
func (c *Comparison) sort(p *pairing, partners func(one *Transaction, free func(int) bool) []int) {
	taken := make([]bool, len(p.trades))
	free := func(i int) bool { return !taken[i] }
	var changes []*Transaction
	for _, one := range p.changes {
		found := partners(one, free)
		if len(found) == 0 {
			changes = append(changes, one)
			continue
		}
		for _, i := range found {
			taken[i] = true
		}
		c.settle(p, one, p.at(found))
	}
	var trades []*Trade
	for i, t := range p.trades {
		if free(i) {
			trades = append(trades, t)
		}
	}
	p.changes, p.trades = changes, trades
}

// at are the trades of some places.
func (p *pairing) at(places []int) (list []*Trade) {
	for _, i := range places {
		list = append(list, p.trades[i])
	}
	return list
}

// equal reports whether a change has the amount and the price of a trade.
func (p *pairing) equal(one *Transaction, t *Trade) bool {
	base, _ := t.moved()
	return alike(p.baseOf(one).Number, base) && (one.Price.Asset != t.Quote || alike(one.Price.Number, t.Price))
}

func (p *pairing) baseOf(one *Transaction) *Amount {
	if p.buy {
		return &one.Received
	}
	return &one.Sent
}

func (p *pairing) quoteOf(one *Transaction) *Amount {
	if p.buy {
		return &one.Sent
	}
	return &one.Received
}

// settle gives a change what its trades say. Amounts and money of the history count, because they
// add up to the balances; trades correct the float artefacts in them. The fee is that of the
// trades.
func (c *Comparison) settle(p *pairing, one *Transaction, trades []*Trade) {
	base, quote, fee := sumOf(trades)
	t := trades[0]
	one.Order, one.Trade = t.Order, t.ID
	if len(trades) > 1 {
		one.Trade = fmt.Sprintf("%d trades", len(trades))
	}
	var differences []string
	compare := func(what string, have *Amount, asset string, number decimal.Decimal) {
		switch {
		case have.Asset == "" || have.Asset == asset && alike(have.Number, number):
			*have = Amount{asset, number}
		case have.Number.IsZero() && number.IsZero():
		default:
			differences = append(differences, fmt.Sprintf("%s %s %s, of the trade %s %s", what, have.Number, have.Asset,
				number, asset))
		}
	}
	compare("amount", p.baseOf(one), p.base, base)
	if len(trades) == 1 {
		compare("price", &one.Price, p.quote, t.Price)
	}
	if fee == nil {
		one.Notes = append(one.Notes, "the trade's fee is not settled yet")
	} else {
		compare("money", p.quoteOf(one), p.quote, quote)
		compare("fee", &one.Fee, fee.Asset, fee.Number)
		one.Fee = *fee
	}
	if c.count(one, differences); len(differences) > 0 {
		one.Notes = append(one.Notes, "the history differs: "+strings.Join(differences, "; "))
	}
}

// count counts a change that has its trade.
func (c *Comparison) count(one *Transaction, differences []string) {
	switch {
	case one.At.Before(c.From):
	case len(differences) > 0:
		c.Differ++
	default:
		c.Agree++
	}
}

// sumOf adds trades up: what they moved, and their fee, nil where one is not settled yet or they
// have several currencies.
func sumOf(trades []*Trade) (base, quote decimal.Decimal, fee *Amount) {
	fee = &Amount{Asset: trades[0].Fee.Asset}
	for _, t := range trades {
		b, q := t.moved()
		base, quote = base.Add(b), quote.Add(q)
		if fee != nil && (t.Fee.Asset == "" || t.Fee.Asset != fee.Asset) {
			fee = nil
		}
		if fee != nil {
			fee.Number = fee.Number.Add(t.Fee.Number)
		}
	}
	return base, quote, fee
}

// change is the change that a trade is, where the history lacks it.
func (t *Trade) change() Transaction {
	base, quote := t.moved()
	one := Transaction{Trade: t.ID, Order: t.Order, At: t.At, Type: "sell", Sent: Amount{t.Base, base},
		Received: Amount{t.Quote, quote}, Fee: t.Fee, Price: Amount{t.Quote, t.Price},
		Notes: []string{"the account's history lacks it: from the list of trades"}}
	if t.Buy {
		one.Type, one.Sent, one.Received = "buy", one.Received, one.Sent
	}
	if t.Fee.Asset == "" {
		one.Notes = append(one.Notes, "its fee is not settled yet, and not in it")
	}
	return one
}

// alike reports whether two numbers are the same but for the artefacts of a float.
func alike(a, b decimal.Decimal) bool {
	far := a.Sub(b).Abs()
	return far.LessThanOrEqual(decimal.New(1, -12)) || far.LessThan(b.Abs().Mul(decimal.New(4, -16)))
}
