package verify

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// sums checks the totals of a record against its fills and its terms. The totals of an old record
// are not booked.
func (x *examination) sums(got *market.Order, old bool) {
	if got.Market != x.order.Market {
		return
	}
	x.bounds()
	x.filledAmount(got)
	if old {
		return
	}
	x.status(got)
	x.feePaid(got)
	x.hold(got)
}

// bounds checks the sum of the fills against the ordered amount.
func (x *examination) bounds() {
	m, t := x.Market, &x.filled
	x.require(x.maxAmount == 0 || t.amount <= x.maxAmount, RuleFilled, "at most "+m.FormatQty(x.maxAmount),
		m.FormatQty(t.amount))
	if x.maxQuote == 0 {
		return
	}
	cost := t.value
	if x.order.Side == market.Buy {
		var err error
		if cost, err = cost.Add(t.fee); err != nil {
			x.violated(RuleRange, "a cost", err.Error())
			return
		}
	}
	most, err := m.MoneyValue(x.maxQuote).Add(m.MoneyValue(1))
	if err == nil && t.unsettled > 0 { // with a rebate to come more can be bought
		var rebate market.Value
		if rebate, err = atRate(most, min(0, x.Fees.Maker, x.Fees.Taker)*2); err == nil {
			most, err = most.Sub(rebate)
		}
	}
	x.require(err == nil && cost.Cmp(most) <= 0, RuleFilledQuote, "at most "+m.FormatMoney(x.maxQuote),
		m.FormatValue(cost))
}

// filledAmount checks filledAmount and filledAmountQuote against the fills. Above their sum the
// record is short; below an earlier value it is false, unless it is old.
func (x *examination) filledAmount(got *market.Order) {
	m, t, own := x.Market, &x.filled, x.order.Order
	x.require(x.maxAmount == 0 || got.FilledAmount <= x.maxAmount, RuleFilled, "at most "+m.FormatQty(x.maxAmount),
		m.FormatQty(got.FilledAmount))
	if got.Updated > own.Updated {
		x.require(got.FilledAmount >= own.FilledAmount, RuleFilled, "at least "+m.FormatQty(own.FilledAmount),
			m.FormatQty(got.FilledAmount))
	}
	switch {
	case got.FilledAmount > t.amount:
		x.short = true
	case got.FilledAmount < x.answered:
		x.violated(RuleFilled, m.FormatQty(x.answered), m.FormatQty(got.FilledAmount))
	case got.FilledAmount == t.amount && t.fills > 0 && x.whole():
		x.require(got.FilledAmountQuote == t.value, RuleFilledQuote, m.FormatValue(t.value),
			m.FormatValue(got.FilledAmountQuote))
	case got.FilledAmount == 0:
		x.require(got.FilledAmountQuote.Sign() == 0, RuleFilledQuote, "0", m.FormatValue(got.FilledAmountQuote))
	default:
		x.require(got.FilledAmountQuote.Sign() >= 0, RuleFilledQuote, "at least 0",
			m.FormatValue(got.FilledAmountQuote))
	}
}

// whole reports whether all booked fills are available.
func (x *examination) whole() bool {
	var sum market.Qty
	for i := range x.order.Fills {
		sum += x.order.Fills[i].Amount
	}
	return sum == x.order.Counted
}

// status checks the status against the amounts: a filled order has nothing left, an open one has
// something.
func (x *examination) status(got *market.Order) {
	m := x.Market
	rest, whole := got.Amount-got.FilledAmount, !got.ByQuote()
	seen := got.Status.String() + ", " + m.FormatQty(got.FilledAmount) + " filled"
	switch got.Status {
	case market.StatusFilled:
		x.require(got.FilledAmount > 0 && (!whole || rest == 0), RuleStatus,
			"filled with all of "+m.FormatQty(got.Amount), seen)
	case market.StatusAwaitingTrigger:
		x.require(x.order.Type.HasTrigger() && got.FilledAmount == 0, RuleStatus, "a trigger that waits, 0 filled",
			seen)
	case market.StatusNew, market.StatusPartiallyFilled:
		x.require(!whole || rest > 0, RuleStatus, "open with something left", seen)
	}
	switch {
	case whole && got.Status.Open():
		x.require(got.AmountRemaining == rest, RuleRemaining, m.FormatQty(rest), m.FormatQty(got.AmountRemaining))
	case whole:
		x.require(0 <= got.AmountRemaining && got.AmountRemaining <= got.Amount, RuleRemaining,
			"0 to "+m.FormatQty(got.Amount), m.FormatQty(got.AmountRemaining))
	default:
		x.require(0 <= got.AmountQuoteRemaining && got.AmountQuoteRemaining <= got.AmountQuote, RuleRemaining,
			"0 to "+m.FormatMoney(got.AmountQuote),
			m.FormatMoney(got.AmountQuoteRemaining))
	}
}

// feePaid checks the sum of the fees against the rates on the filled value, or, where all fills are
// known and settled, against their fees.
func (x *examination) feePaid(got *market.Order) {
	m, t := x.Market, &x.filled
	if t.unsettled == 0 && got.FilledAmount == t.amount && t.fills > 0 && x.whole() {
		x.require(got.FeePaid == t.fee, RuleFeePaid, m.FormatValue(t.fee), m.FormatValue(got.FeePaid))
		return
	}
	least, most, err := x.feeRange(got.FilledAmountQuote, t.fills+1)
	if err == nil && x.order.ByQuote() {
		most, err = most.Add(m.MoneyValue(got.AmountQuote))
	}
	x.require(err == nil && got.FeePaid.Cmp(least) >= 0 && got.FeePaid.Cmp(most) <= 0, RuleFeePaid,
		m.FormatValue(least)+" to "+m.FormatValue(most), m.FormatValue(got.FeePaid))
}

// hold checks the locked amount against the possible cost of the order's rest. An ended order holds
// nothing.
func (x *examination) hold(got *market.Order) {
	if got.Status.Terminal() {
		return
	}
	m, own := x.Market, x.order.Order
	least, most := market.Money(0), market.Money(got.AmountRemaining)
	switch {
	case own.Side == market.Sell && !own.ByQuote():
		if own.Type.HasPrice() {
			least = most
		}
	case own.Side == market.Buy && own.ByQuote():
		most = got.AmountQuoteRemaining
	case own.Side == market.Buy && own.Type.HasPrice():
		least, most = x.cost(got.Price, got, true), x.cost(got.Price, got, false)
	default: // unknown price: at most the earlier hold, or what the prices allow
		if _, high := x.band(x.Now); high != 0 && own.Side == market.Buy {
			most = max(x.cost(high, got, false), own.OnHold)
		} else {
			most = market.Money(1) << 53
		}
	}
	if x.event && !own.Type.HasPrice() { // the hold of a later moment would free what the rest may cost
		least = max(least, min(most, own.OnHold))
	}
	if x.event && (got.OnHold < least || got.OnHold > most) {
		got.OnHold = max(least, min(most, own.OnHold))
	}
	asset := x.Catalog.Asset(exchange.HoldAsset(m, own.Side))
	text := func(money market.Money) string { return market.FormatFixed(int64(money), asset.Digits) }
	x.require(least <= got.OnHold && got.OnHold <= most, RuleHold, text(least)+" to "+text(most), text(got.OnHold))
}

// cost is the cost of the rest of a buy at a price: at the highest rate and rounded up, or without
// a fee and less earlier roundings.
func (x *examination) cost(price market.Price, got *market.Order, least bool) market.Money {
	rate := max(0, x.Fees.Highest())
	if least {
		rate = min(0, x.Fees.Maker, x.Fees.Taker)
	}
	money, err := exchange.Cost(x.Market, price, got.AmountRemaining, rate)
	switch {
	case err != nil:
		x.violated(RuleRange, "a cost", err.Error())
		return 0
	case least:
		return max(0, money-market.Money(x.filled.fills)-1)
	}
	return money + 1
}
