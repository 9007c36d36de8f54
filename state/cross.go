package state

import "github.com/tidemark-trading/tidemark/market"

// Cross is an amount that changes hands between two strategies without the exchange: one sells it
// to the other for the same money.
type Cross struct{ Sell, Buy CrossLeg }

// CrossLeg is the side of a Cross: an order that ends with it, and its only fill.
type CrossLeg struct {
	// Of is the order of which this one was a part; the rest of it goes to the exchange. 0: this is
	// the whole order.
	Of     market.OrderID
	Report market.Report // of the order, filled
	Fill   market.Fill   // its fee is what rounds the money to a unit: the two add up to nothing
}

// Legs are both legs, the sale first.
func (c *Cross) Legs() [2]*CrossLeg { return [2]*CrossLeg{&c.Sell, &c.Buy} }

// Reduce makes an order smaller that has not left the process: to an amount, or an amount of quote,
// with what that holds.
func (a *Account) Reduce(o *Order, amount market.Qty, quote, hold market.Money) {
	a.touch(o)
	to := o.OrderState
	to.Amount, to.AmountRemaining = amount, amount
	to.AmountQuote, to.AmountQuoteRemaining = quote, quote
	a.setOrderState(o, &to)
	a.reserve(o, hold)
	a.changed = true
}

// Middle is the middle of the best bid and ask of a market, rounded down to a unit of its prices;
// the latest price where one of the two is not known.
func (a *Account) Middle(m market.ID) market.Price {
	if q := a.quotes[m]; q.bid > 0 && q.ask > 0 {
		low := min(q.bid, q.ask)
		return low + (max(q.bid, q.ask)-low)/2
	}
	return a.marks[m].price
}

// Takes reports whether the balance of a strategy can take an amount of an asset in addition.
func (a *Account) Takes(s market.StrategyID, asset market.AssetID, money market.Money) bool {
	_, err := market.Add(a.balances[s][asset].Total, money)
	return err == nil
}

// Cross folds a cross: the orders of both legs end, filled. It folds nothing else, and comes after
// the Apply of the event in which the strategies asked.
func (a *Account) Cross(c *Cross) (done [2]Applied, err error) {
	for i, leg := range c.Legs() {
		ev := market.Event{Kind: market.KindReport, At: leg.Fill.Time, Market: leg.Fill.Market, Report: &leg.Report,
			Fills: []market.Fill{leg.Fill}}
		if done[i], err = a.applyReport(&ev); err != nil {
			return done, err
		}
	}
	return done, nil
}
