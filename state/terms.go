package state

import "github.com/tidemark-trading/tidemark/market"

// Figure is one number that the gate compared with a limit, as decimals.
type Figure struct {
	Name, Before, After, Limit string
}

// Terms are the numbers of an order that the gate rounds; 0 where they do not apply.
type Terms struct {
	Price, TriggerAmount market.Price
	Amount               market.Qty
	AmountQuote          market.Money
	Stop, Target         market.Price // of its bracket
}

// Beside returns the terms that are set and differ from the order's.
func (t Terms) Beside(o *market.Order) Terms {
	if t.Price == o.Price {
		t.Price = 0
	}
	if t.TriggerAmount == o.TriggerAmount {
		t.TriggerAmount = 0
	}
	if t.Amount == o.Amount {
		t.Amount = 0
	}
	if t.AmountQuote == o.AmountQuote {
		t.AmountQuote = 0
	}
	if t.Stop == o.Bracket.Stop {
		t.Stop = 0
	}
	if t.Target == o.Bracket.Target {
		t.Target = 0
	}
	return t
}

// TermsOf returns the terms of an order.
func TermsOf(o *market.Order) Terms {
	return Terms{o.Price, o.TriggerAmount, o.Amount, o.AmountQuote, o.Bracket.Stop, o.Bracket.Target}
}
