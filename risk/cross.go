package risk

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Crosses reports whether opposite orders at market of two strategies change hands without the
// exchange.
func (g *Gate) Crosses() bool { return g.account.CrossOpposite }

// Rest is what the gate says to the rest of an order that it has approved, and that has not left.
type Rest uint8

// The answers.
const (
	RestLeaves  Rest = iota + 1 // it may leave
	RestDust                    // it is below the market's minimum
	RestRefused                 // the exchange would refuse it for another reason
)

// CheckRest decides on the rest of an own order of which a part changes hands. c is the order with
// the rest as its amount; CheckRest rounds it. The own limits have let more of it pass.
func (g *Gate) CheckRest(a *state.Account, own *state.Order, c *market.Command) (Approved, Rest) {
	o := &c.Order
	m := g.catalog.Market(o.Market)
	g.round(m, o)
	if o.Amount == 0 && o.AmountQuote == 0 {
		return Approved{}, RestDust
	}
	o.AmountRemaining, o.AmountQuoteRemaining = o.Amount, o.AmountQuote
	facts := g.factsOf(a, m, o)
	facts.Available += own.OnHold
	hold, refused := exchange.CheckPlace(m, o, facts)
	switch {
	case refused == nil:
		return Approved{command: c, hold: hold}, RestLeaves
	case refused.Code == exchange.CodeMinBase || refused.Code == exchange.CodeMinQuote:
		return Approved{}, RestDust
	}
	return Approved{}, RestRefused
}
