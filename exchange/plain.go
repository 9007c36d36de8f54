package exchange

import "github.com/tidemark-trading/tidemark/market"

// plain reports whether an order is one at market over an amount, whose fields are as they must be:
// in a market that trades and is not coarse, checkForm has nothing to say.
func plain(o *market.Order) bool {
	return o.Type == market.TypeMarket && o.Amount > 0 && !o.PostOnly &&
		int64(o.AmountQuote)|int64(o.Price)|int64(o.TriggerAmount)|int64(o.CodGroupID) == 0
}

// checkPlain is checkPlace for a plain order in a market that trades and is not coarse: its size,
// and the balance.
func checkPlain(m *market.Market, o *market.Order, f *Facts) (hold market.Money, refused *Error) {
	amount := o.AmountRemaining
	switch {
	case exceeds(int64(amount), maxAmountUnits, m.AmountDigits), m.MaxOrderInBase > 0 && amount > m.MaxOrderInBase:
		return 0, ErrCode(CodeAmountTooLarge)
	case amount < m.MinOrderInBase:
		return 0, ErrCode(CodeMinBase)
	case m.MinOrderInQuote|m.MaxOrderInQuote != 0 && f.Reference != 0:
		value, err := m.Value(f.Reference, amount)
		if err != nil {
			return 0, ErrCode(CodeAmountTooLarge)
		}
		if refused = checkQuoteSize(m, value); refused != nil {
			return 0, refused
		}
	}
	if hold = market.Money(amount); o.Side != market.Sell {
		cost, err := Cost(m, f.Reference, amount, f.Fees.Highest())
		if err != nil {
			return 0, ErrCode(CodeAmountTooLarge)
		}
		hold = cost
	}
	if hold > f.Available {
		return 0, ErrCode(CodeInsufficientBalance)
	}
	return hold, nil
}
