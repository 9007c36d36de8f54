package audit

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// sums holds what a record says of the whole order against its fills and its terms. What an old one
// says of the order is not booked.
func (x *examination) sums(told *market.Order, old bool) {
	if told.Market != x.order.Market {
		return
	}
	x.bounds()
	x.filledAmount(told)
	if old {
		return
	}
	x.status(told)
	x.feePaid(told)
	x.hold(told)
}

// bounds holds the sum of the fills against what was ordered.
func (x *examination) bounds() {
	m, t := x.Market, &x.filled
	x.keeps(x.most == 0 || t.amount <= x.most, RuleFilled, "at most "+m.FormatQty(x.most), m.FormatQty(t.amount))
	if x.quote == 0 {
		return
	}
	cost := t.value
	if x.order.Side == market.Buy {
		var err error
		if cost, err = cost.Add(t.fee); err != nil {
			x.breaks(RuleRange, "a cost", err.Error())
			return
		}
	}
	most, err := m.MoneyValue(x.quote).Add(m.MoneyValue(1))
	if err == nil && t.unsettled > 0 { // with a rebate to come more can be bought
		var rebate market.Value
		if rebate, err = atRate(most, min(0, x.Fees.Maker, x.Fees.Taker)*2); err == nil {
			most, err = most.Sub(rebate)
		}
	}
	x.keeps(err == nil && cost.Cmp(most) <= 0, RuleFilledQuote, "at most "+m.FormatMoney(x.quote), m.FormatValue(cost))
}

// filledAmount holds filledAmount and filledAmountQuote against the fills. Above them it is a
// reason to ask for the rest; below what was told before it is a false answer, unless it is an old
// one.
func (x *examination) filledAmount(told *market.Order) {
	m, t, own := x.Market, &x.filled, x.order.Order
	x.keeps(x.most == 0 || told.FilledAmount <= x.most, RuleFilled, "at most "+m.FormatQty(x.most),
		m.FormatQty(told.FilledAmount))
	if told.Updated > own.Updated {
		x.keeps(told.FilledAmount >= own.FilledAmount, RuleFilled, "at least "+m.FormatQty(own.FilledAmount),
			m.FormatQty(told.FilledAmount))
	}
	switch {
	case told.FilledAmount > t.amount:
		x.short = true
	case told.FilledAmount < x.told:
		x.breaks(RuleFilled, m.FormatQty(x.told), m.FormatQty(told.FilledAmount))
	case told.FilledAmount == t.amount && t.fills > 0 && x.whole():
		x.keeps(told.FilledAmountQuote == t.value, RuleFilledQuote, m.FormatValue(t.value),
			m.FormatValue(told.FilledAmountQuote))
	case told.FilledAmount == 0:
		x.keeps(told.FilledAmountQuote.Sign() == 0, RuleFilledQuote, "0", m.FormatValue(told.FilledAmountQuote))
	default:
		x.keeps(told.FilledAmountQuote.Sign() >= 0, RuleFilledQuote, "at least 0",
			m.FormatValue(told.FilledAmountQuote))
	}
}

// whole reports whether all booked fills are at hand.
func (x *examination) whole() bool {
	var sum market.Qty
	for i := range x.order.Fills {
		sum += x.order.Fills[i].Amount
	}
	return sum == x.order.Counted
}

// status holds the status against the amounts: what is filled has nothing left, what is open has
// something.
func (x *examination) status(told *market.Order) {
	m := x.Market
	rest, whole := told.Amount-told.FilledAmount, !told.ByQuote()
	seen := told.Status.String() + ", " + m.FormatQty(told.FilledAmount) + " filled"
	switch told.Status {
	case market.StatusFilled:
		x.keeps(told.FilledAmount > 0 && (!whole || rest == 0), RuleStatus,
			"filled with all of "+m.FormatQty(told.Amount), seen)
	case market.StatusAwaitingTrigger:
		x.keeps(x.order.Type.HasTrigger() && told.FilledAmount == 0, RuleStatus, "a trigger that waits, 0 filled", seen)
	case market.StatusNew, market.StatusPartiallyFilled:
		x.keeps(!whole || rest > 0, RuleStatus, "open with something left", seen)
	}
	switch {
	case whole && told.Status.Open():
		x.keeps(told.AmountRemaining == rest, RuleRemaining, m.FormatQty(rest), m.FormatQty(told.AmountRemaining))
	case whole:
		x.keeps(0 <= told.AmountRemaining && told.AmountRemaining <= told.Amount, RuleRemaining,
			"0 to "+m.FormatQty(told.Amount), m.FormatQty(told.AmountRemaining))
	default:
		x.keeps(0 <= told.AmountQuoteRemaining && told.AmountQuoteRemaining <= told.AmountQuote, RuleRemaining,
			"0 to "+m.FormatMoney(told.AmountQuote),
			m.FormatMoney(told.AmountQuoteRemaining))
	}
}

// feePaid holds the sum of the fees against the rates on what is filled. What the fills say of it
// is held against them by itself.
func (x *examination) feePaid(told *market.Order) {
	m, t := x.Market, &x.filled
	if t.unsettled == 0 && told.FilledAmount == t.amount && t.fills > 0 && x.whole() {
		x.keeps(told.FeePaid == t.fee, RuleFeePaid, m.FormatValue(t.fee), m.FormatValue(told.FeePaid))
		return
	}
	least, most, err := x.feeRange(told.FilledAmountQuote, t.fills+1)
	if err == nil && x.order.ByQuote() {
		most, err = most.Add(m.MoneyValue(told.AmountQuote))
	}
	x.keeps(err == nil && told.FeePaid.Cmp(least) >= 0 && told.FeePaid.Cmp(most) <= 0, RuleFeePaid,
		m.FormatValue(least)+" to "+m.FormatValue(most), m.FormatValue(told.FeePaid))
}

// hold holds what the exchange has locked against what the rest of the order can cost. An order
// that has ended holds nothing any more.
func (x *examination) hold(told *market.Order) {
	if told.Status.Terminal() {
		return
	}
	m, own := x.Market, x.order.Order
	least, most := market.Money(0), market.Money(told.AmountRemaining)
	switch {
	case own.Side == market.Sell && !own.ByQuote():
		if own.Type.HasPrice() {
			least = most
		}
	case own.Side == market.Buy && own.ByQuote():
		most = told.AmountQuoteRemaining
	case own.Side == market.Buy && own.Type.HasPrice():
		least, most = x.cost(told.Price, told, true), x.cost(told.Price, told, false)
	default: // its price is not known: as much as was ever held, or what the prices allow
		if _, high := x.band(x.Now); high != 0 && own.Side == market.Buy {
			most = max(x.cost(high, told, false), own.OnHold)
		} else {
			most = market.Money(1) << 53
		}
	}
	asset := x.Catalog.Asset(exchange.HoldAsset(m, own.Side))
	text := func(money market.Money) string { return market.FormatFixed(int64(money), asset.Digits) }
	x.keeps(least <= told.OnHold && told.OnHold <= most, RuleHold, text(least)+" to "+text(most), text(told.OnHold))
}

// cost is what the rest of a buy costs at a price: at the highest rate and rounded up, or without a
// fee and less what earlier roundings took.
func (x *examination) cost(price market.Price, told *market.Order, least bool) market.Money {
	rate := max(0, x.Fees.Highest())
	if least {
		rate = min(0, x.Fees.Maker, x.Fees.Taker)
	}
	money, err := exchange.Cost(x.Market, price, told.AmountRemaining, rate)
	switch {
	case err != nil:
		x.breaks(RuleRange, "a cost", err.Error())
		return 0
	case least:
		return max(0, money-market.Money(x.filled.fills)-1)
	}
	return money + 1
}
