package sim

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// fillWhole fills an order at market over an amount of base, which it takes all, by one trade with
// the house: what trade does to most orders of a backtest, without the steps for a part of an order
// or an earlier fill. An order at market trades as it arrives, at the price of its hold: it has no
// earlier fill, and the hold covers this one. fillWhole reports whether it filled: the caller tells
// of it. It changes nothing where the volume does not suffice or a number leaves its range: these
// are trade's.
func (v *matching) fillWhole(b *book, o *order, price market.Price) bool {
	if o.Amount > b.volume {
		return false
	}
	gross, err := b.market.Value(price, o.Amount)
	if err != nil {
		return false
	}
	var settled exchange.Settlement
	cash, fee, err := settled.Fill(b.market, o.Side, gross, o.in.fees.Taker, v.config.FeeRounding)
	if err != nil {
		return false
	}
	got, paid := o.in.held[market.Sell], o.in.held[market.Buy]
	base, quote := market.Money(o.Amount), -cash
	if o.Side == market.Sell {
		base, quote = -base, cash
	}
	baseTotal, err := market.Add(got.Total, base)
	if err != nil {
		return false
	}
	quoteTotal, err := market.Add(paid.Total, quote)
	if err != nil {
		return false
	}
	got.Total, paid.Total = baseTotal, quoteTotal
	o.hold(0)
	o.FilledAmount, o.FilledAmountQuote, o.FeePaid = o.Amount, gross, fee
	o.AmountRemaining, o.Status, o.exec = 0, market.StatusFilled, 0
	if b.volume != noCap {
		b.volume -= o.Amount
	}
	b.filled++
	v.tellFill(b, o, price, o.Amount, fee, true)
	return true
}
