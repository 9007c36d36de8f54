package sim

import (
	"math"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// trade executes amount of an order at a price, or stops the venue where a number overflows. The
// fill's id is made from the market's present count of trades: both sides of a trade share it.
func (v *matching) trade(b *book, o *order, price market.Price, amount market.Qty, taker bool) {
	d := deal{price: price, amount: amount, taker: taker}
	if err := d.compute(b.market, o, v.config.FeeRounding); err != nil {
		v.fail(o, err)
		return
	}
	v.applyDeal(b, o, &d)
}

// tradeOrEnd executes amount of a resting order whose other side is the house. An order whose
// numbers would overflow expires.
func (v *matching) tradeOrEnd(b *book, o *order, price market.Price, amount market.Qty) {
	d := deal{price: price, amount: amount}
	if err := d.compute(b.market, o, v.config.FeeRounding); err != nil {
		v.end(b, o, market.StatusExpired, 0)
		return
	}
	b.filled++
	v.applyDeal(b, o, &d)
}

// deal is one order's side of a trade: the terms, and the account and the order after it.
type deal struct {
	price  market.Price
	amount market.Qty
	taker  bool
	rest   bool // it uses up the money of a buy: what is left buys nothing

	cash        market.Money // paid by a buyer, received by a seller
	fee         market.Value
	settlement  exchange.Settlement
	base, quote market.Money // the account's balances
	filledQuote market.Value
	feePaid     market.Value
}

// compute computes one side of a trade and changes nothing yet. Its errors wrap
// market.ErrOverflow.
func (d *deal) compute(m *market.Market, o *order, rounding exchange.FeeRounding) error {
	gross, err := m.Value(d.price, d.amount)
	if err == nil {
		err = d.computeCash(m, o, gross, rounding)
	}
	if err != nil {
		return err
	}
	paid, got := d.cash, market.Money(d.amount)
	if o.Side == market.Buy {
		paid = -paid
	} else {
		got = -got
	}
	if d.quote, err = market.Add(o.in.held[market.Buy].Total, paid); err != nil {
		return err
	}
	if d.base, err = market.Add(o.in.held[market.Sell].Total, got); err != nil {
		return err
	}
	if d.filledQuote, err = o.FilledAmountQuote.Add(gross); err != nil {
		return err
	}
	d.feePaid, err = o.FeePaid.Add(d.fee)
	return err
}

// applyDeal carries out one side of a trade: it moves money and base, takes the fee, adjusts the
// hold and reports to the sink.
func (v *matching) applyDeal(b *book, o *order, d *deal) {
	if o.owesReport() {
		v.announce(b, o, o.exec)
	}
	o.in.held[market.Buy].Total, o.in.held[market.Sell].Total = d.quote, d.base
	o.settlement = d.settlement
	if err := o.record(b.market, d); err != nil {
		v.fail(o, err)
		return
	}
	v.tellFill(b, o, d.price, d.amount, d.fee, d.taker)
	if b.volume != noCap {
		b.volume -= d.amount
	}
	if o.Done() {
		b.leave(o)
	}
	exec := market.ExecTrade
	if o.exec == market.ExecUpdated {
		exec = o.exec // the update and its fill are one report
	}
	o.exec = 0 // reported with the fill
	v.emit(b, o, exec, 1)
}

// tellFill makes the fill that the next report carries. Its id is made from the market's count of
// trades.
func (t *teller) tellFill(b *book, o *order, price market.Price, amount market.Qty, fee market.Value, taker bool) {
	f := &t.fill[0] // field by field: a literal would be built elsewhere and copied
	setName(&f.ID, b.market.ID, 0, b.filled)
	f.Order, f.Market, f.Strategy, f.Side = o.ID, o.Market, o.Strategy, o.Side
	f.Taker, f.Settled, f.FeeCurrency = taker, true, b.market.Quote
	f.Price, f.Amount, f.Fee, f.Time = price, amount, fee, b.time
}

// computeCash computes the quote that a deal of value gross moves (venue-facts 3.6).
func (d *deal) computeCash(m *market.Market, o *order, gross market.Value, rounding exchange.FeeRounding) (err error) {
	d.settlement = o.settlement
	if o.ByQuote() && o.Side == market.Buy {
		if d.amount == exchange.BaseForMoney(m, o.AmountQuoteRemaining, d.price, o.fees().Taker) {
			return d.computeRest(m, o, gross)
		}
	}
	rate := o.fees().Maker
	if d.taker {
		rate = o.fees().Taker
	}
	d.cash, d.fee, err = d.settlement.Fill(m, o.Side, gross, rate, rounding)
	// several fills, each rounded up, may cost more than the hold
	if excess := d.cash - o.spendable(); err == nil && o.Side == market.Buy && excess > 0 {
		d.cash -= excess
		d.fee, err = d.fee.Sub(m.MoneyValue(excess))
	}
	return err
}

// computeRest is computeCash of the fill behind which an order's money buys no more. What less than
// the smallest amount costs stays cash. Where that amount costs less than a unit of money, as on
// the exchange (venue-facts 3.6), nothing stays: the whole rest is debited.
func (d *deal) computeRest(m *market.Market, o *order, gross market.Value) error {
	cost, err := exchange.Cost(m, d.price, d.amount, o.fees().Taker)
	if err != nil {
		return err
	}
	d.rest, d.cash = true, min(cost, o.AmountQuoteRemaining)
	d.fee, err = d.settlement.FillRest(m, gross, d.cash)
	return err
}

// spendable is the balance that no other order holds.
func (o *order) spendable() market.Money { return o.in.held[o.Side].Available() + o.OnHold }

// record writes a deal into its order: filled and remaining amounts, fee, status, hold.
func (o *order) record(m *market.Market, d *deal) error {
	o.FilledAmountQuote, o.FeePaid = d.filledQuote, d.feePaid
	o.FilledAmount += d.amount
	if o.ByQuote() {
		if o.Side == market.Buy {
			o.AmountQuoteRemaining -= d.cash
			if d.rest {
				o.AmountQuoteRemaining = 0
			}
		}
		return o.recordByQuote(m, d.price)
	}
	o.AmountRemaining -= d.amount
	if o.AmountRemaining == 0 {
		o.Status = market.StatusFilled
		o.hold(0)
		return nil
	}
	o.recordPartFill(m, d.price)
	return nil
}

// recordByQuote is record for an order over a quote amount. A buy is filled when its money is
// spent, a sell when its rest is worth less than the smallest amount or the smallest unit of money.
func (o *order) recordByQuote(m *market.Market, price market.Price) error {
	if o.Side == market.Sell {
		proceeds, err := o.FilledAmountQuote.CeilMoney(m.MoneyDrop()) // up: less than a unit of money is no rest
		if err != nil {
			return err
		}
		o.AmountQuoteRemaining = max(0, o.AmountQuote-proceeds)
		if more, err := o.remainingBase(m, price); err != nil || more == 0 {
			o.AmountQuoteRemaining = 0
		}
	}
	if o.AmountQuoteRemaining == 0 {
		o.Status = market.StatusFilled
		o.hold(0)
		return nil
	}
	o.recordPartFill(m, price)
	return nil
}

// remainingBase returns the base that a sell over a quote amount still has to sell at a price. It
// counts with the exact value of the fills: AmountQuoteRemaining is rounded and would leave a rest
// to be sold again at the same price.
func (o *order) remainingBase(m *market.Market, price market.Price) (market.Qty, error) {
	rest, err := m.MoneyValue(o.AmountQuote).Sub(o.FilledAmountQuote)
	return exchange.BaseForValue(m, rest, price), err
}

// recordPartFill makes an order partially filled.
func (o *order) recordPartFill(m *market.Market, price market.Price) {
	o.Status = market.StatusPartiallyFilled
	o.holdRest(m, price)
}

// holdRest holds the amount that the rest of an order needs, at most its spendable balance: earlier
// rounding up may leave a little less.
func (o *order) holdRest(m *market.Market, price market.Price) {
	hold, err := exchange.Hold(m, &o.Order, o.fees(), price)
	if err != nil { // an overflow: more than any balance
		hold = math.MaxInt64
	}
	o.hold(min(hold, o.spendable()))
}
