package live

import "github.com/tidemark-trading/tidemark/market"

// Adopted lets the loop query an order to sell that left without it and that the engine has
// adopted, until it is known what became of it. until is when the exchange could last take it. Call
// it within Do.
func (l *Loop) Adopted(id market.OrderID, until market.Time) {
	own := l.Account.Own(id)
	if own == nil {
		return
	}
	q := l.queryOf(id)
	q.unresolved = &unresolved{outcome: placeUnresolved,
		command: market.Command{Kind: market.CommandPlace, Order: own.Order}, until: until.Add(l.Margin)}
	q.soon(l.now)
}

// AskFor lets the loop query an order soon, to which something has happened that the loop has not
// heard. Call it within Do.
func (l *Loop) AskFor(id market.OrderID) {
	if l.Account.Expects(id) {
		l.queryOf(id).soon(l.now)
	}
}
