package live

import "github.com/tidemark-trading/tidemark/market"

// Adopted makes the loop query a sell order that was sent without it and that the engine has
// adopted, until its outcome is known. The exchange could take the order until until. Call it
// within Do.
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

// QueryOrder queries an order soon, because something outside the loop has changed it. Call it
// within Do.
func (l *Loop) QueryOrder(id market.OrderID) {
	if l.Account.Expects(id) {
		l.queryOf(id).soon(l.now)
	}
}
