package sim

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// trade executes amount of an order at a price: money and base change hands, the fee is taken, the hold follows, and the
// sink hears of it. The fill bears the market's present count of trades: both sides of a trade share its name.
func (v *Venue) trade(b *book, o *order, price market.Price, amount market.Qty, taker bool) {
	fee, err := v.move(b, o, price, amount, taker)
	if err != nil {
		v.fail(o, err)
		return
	}
	v.fill[0] = market.Fill{
		ID: nameOf(b.market.ID, 0, b.filled), Order: o.ID, Market: o.Market, Strategy: o.Strategy, Side: o.Side,
		Taker: taker, Settled: true, FeeCurrency: b.market.Quote, Price: price, Amount: amount, Fee: fee, Time: b.time,
	}
	if b.volume != noCap {
		b.volume -= amount
	}
	if o.Done() {
		b.leave(o)
	}
	exec := market.ExecTrade
	if o.exec == market.ExecUpdated {
		exec = o.exec // the change and what it led to are one answer
	}
	o.exec = 0 // the fill has told of it
	v.emit(b, o, exec, 1)
}

// move settles a fill, moves the assets and writes it into its order.
func (v *Venue) move(b *book, o *order, price market.Price, amount market.Qty, taker bool) (fee market.Value, err error) {
	gross, err := b.market.Value(price, amount)
	if err != nil {
		return fee, err
	}
	cash, fee, err := v.settle(b, o, price, amount, gross, taker)
	if err != nil {
		return fee, err
	}
	if err := v.exchangeAssets(b, o, cash, amount); err != nil {
		return fee, err
	}
	return fee, v.book(b, o, price, amount, gross, fee)
}

// settle works out what a fill moves in quote (venue-facts 3.6).
func (v *Venue) settle(b *book, o *order, price market.Price, amount market.Qty, gross market.Value, taker bool) (cash market.Money, fee market.Value, err error) {
	rate := o.fees().Maker
	if taker {
		rate = o.fees().Taker
	}
	if o.ByQuote() && o.Side == market.Buy {
		whole, err := exchange.Affordable(b.market, o.AmountQuoteRemaining, price, o.fees().Taker)
		if err != nil {
			return 0, fee, err
		}
		if amount == whole {
			cash = o.AmountQuoteRemaining
			fee, err = o.settlement.FillRest(b.market, gross, cash)
			return cash, fee, err
		}
	}
	cash, fee, err = o.settlement.Fill(b.market, o.Side, gross, rate, v.config.FeeRounding)
	if excess := cash - v.own(o); err == nil && o.Side == market.Buy && excess > 0 { // several fills, each rounded up
		cash -= excess
		fee, err = fee.Sub(b.market.MoneyValue(excess))
	}
	return cash, fee, err
}

// own is what an order may spend: what the account has and no other order holds.
func (v *Venue) own(o *order) market.Money {
	balance := &o.account.balances[o.OnHoldCurrency]
	return balance.Total - balance.Held + o.OnHold
}

// exchangeAssets moves quote and base.
func (v *Venue) exchangeAssets(b *book, o *order, cash market.Money, amount market.Qty) error {
	base, quote := &o.account.balances[b.market.Base], &o.account.balances[b.market.Quote]
	move := market.Money(amount)
	if o.Side == market.Buy {
		cash = -cash
	} else {
		move = -move
	}
	total, err := market.Add(quote.Total, cash)
	if err != nil {
		return err
	}
	held, err := market.Add(base.Total, move)
	if err != nil {
		return err
	}
	quote.Total, base.Total = total, held
	if o.ByQuote() && o.Side == market.Buy {
		o.AmountQuoteRemaining += cash
	}
	return nil
}

// book writes a fill into its order: filled and remaining amounts, fee, status, hold.
func (v *Venue) book(b *book, o *order, price market.Price, amount market.Qty, gross, fee market.Value) (err error) {
	if o.FilledAmountQuote, err = o.FilledAmountQuote.Add(gross); err != nil {
		return err
	}
	if o.FeePaid, err = o.FeePaid.Add(fee); err != nil {
		return err
	}
	o.FilledAmount += amount
	if o.ByQuote() {
		return v.bookByQuote(b, o, price)
	}
	o.AmountRemaining -= amount
	if o.AmountRemaining == 0 {
		o.Status = market.StatusFilled
		v.hold(o, 0)
		return nil
	}
	return v.bookRest(b, o, price)
}

// bookByQuote finds out whether an order over a quote amount is done: a buy when its money is spent, a sell when what is left
// is worth less than the smallest amount or the smallest unit of money.
func (v *Venue) bookByQuote(b *book, o *order, price market.Price) error {
	if o.Side == market.Sell {
		proceeds, err := o.FilledAmountQuote.CeilMoney(b.market.MoneyDrop()) // up: what is below a unit of money is no rest
		if err != nil {
			return err
		}
		o.AmountQuoteRemaining = max(0, o.AmountQuote-proceeds)
		if more, err := o.convertible(b.market, price); err != nil || more == 0 {
			o.AmountQuoteRemaining = 0
		}
	}
	if o.AmountQuoteRemaining == 0 {
		o.Status = market.StatusFilled
		v.hold(o, 0)
		return nil
	}
	return v.bookRest(b, o, price)
}

// convertible returns the base that a sell over a quote amount still has to sell at a price. It goes by what its fills were worth
// to the last digit: AmountQuoteRemaining is rounded, and would leave a crumb to be sold again at the same price.
func (o *order) convertible(m *market.Market, price market.Price) (market.Qty, error) {
	rest, err := m.MoneyValue(o.AmountQuote).Sub(o.FilledAmountQuote)
	return exchange.Convertible(m, rest, price), err
}

// bookRest makes an order a partly filled one.
func (v *Venue) bookRest(b *book, o *order, price market.Price) error {
	o.Status = market.StatusPartiallyFilled
	return v.holdRest(b, o, price)
}

// holdRest holds what the rest of an order needs.
func (v *Venue) holdRest(b *book, o *order, price market.Price) error {
	hold, err := exchange.Hold(b.market, &o.Order, o.fees(), price)
	if err != nil {
		return err
	}
	v.hold(o, min(hold, v.own(o))) // what was rounded up before may be missing now
	return nil
}
