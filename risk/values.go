package risk

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// Word is the reason's name in journals and counts: "max_position", or "exchange 216" with the
// exchange's code.
func (r *Refusal) Word() string {
	if r.Reason == ReasonExchange {
		return ReasonExchange.String() + " " + strconv.Itoa(r.Code)
	}
	return r.Reason.String()
}

// Values are the refused value and its limit, as decimals, durations or counts; empty where the
// reason has none. The market is the order's, nil for an unknown market; limits of the whole
// account are in units of currency.
func (r *Refusal) Values(m *market.Market, currency *market.Asset) (have, limit string) {
	both := func(format func(int64) string) (string, string) { return format(r.Have), format(r.Limit) }
	switch r.Reason {
	case ReasonOrdersPerMinute, ReasonMaxInFlight, ReasonMaxOpenOrders:
		return both(decimal)
	case ReasonStop, ReasonTarget, ReasonExchange:
		return r.have, r.limit
	case ReasonNoSuchOrder, ReasonInFlight, ReasonOpposite:
		return "order " + decimal(r.Have), ""
	case ReasonStale, ReasonCoolDown:
		return both(func(n int64) string { return time.Duration(n).Round(time.Millisecond).String() })
	case ReasonMaxExposure, ReasonMaxAssetExposure, ReasonDailyLoss:
		return both(func(n int64) string { return fixed(currency.Digits, n) + " " + currency.Symbol })
	case ReasonDrawdown, ReasonVolatilityTarget:
		return market.Rate(r.Have).String(), market.Rate(r.Limit).String()
	}
	if m == nil {
		return "", ""
	}
	switch r.Reason {
	case ReasonMaxOrderValue, ReasonMaxPosition:
		return both(func(n int64) string { return fixed(m.QuoteDigits, n) })
	case ReasonPriceCollar, ReasonSelfCross:
		return both(func(n int64) string { return m.FormatPrice(market.Price(n)) })
	}
	return "", ""
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// Words explain the refusal, with the values of Values.
func (r *Refusal) Words(m *market.Market, currency *market.Asset) string {
	have, limit := r.Values(m, currency)
	switch {
	case r.Reason == ReasonExchange:
		return "the exchange would answer " + strconv.Itoa(r.Code) + ": " + r.Message + r.beside()
	case r.Message != "":
		return r.Message
	case r.Reason == ReasonWarmUp && r.Have > 0 && m != nil:
		return needs(m, r.Have, market.Interval(r.Limit))
	case r.Reason == ReasonSelfCross:
		return "at " + have + " it would meet an own order at " + limit
	case r.Reason == ReasonCoolDown:
		return have + " of " + limit + " are left"
	case r.Reason == ReasonDrawdown:
		return "the equity is " + have + " below its highest, limit " + limit
	case r.Reason == ReasonVolatilityTarget:
		return "the account's expected volatility would be " + have + " a year, target " + limit
	case r.Reason == ReasonTooSmall && m != nil:
		return fmt.Sprintf("nothing is left of the amount after rounding to %s; the minimum is %s, or %s in quote",
			fixed(m.QuantityDecimals, 1), m.FormatQty(m.MinOrderInBase), m.FormatMoney(m.MinOrderInQuote))
	case limit != "":
		return have + ", limit " + limit
	case have != "":
		return have
	}
	return reasonWords[r.Reason]
}

// needs says what a market in its warm-up needs: "BTC-EUR needs 12 more 1d candles".
func needs(m *market.Market, candles int64, interval market.Interval) string {
	if candles == 1 {
		return fmt.Sprintf("%s needs 1 more %s candle", m.Name, interval)
	}
	return fmt.Sprintf("%s needs %d more %s candles", m.Name, candles, interval)
}

// reasonWords explain the reasons that have no values.
var reasonWords = [reasons]string{
	ReasonUnknownMarket: "there is no such market here", ReasonTooSmall: "nothing is left of the amount after rounding",
	ReasonWarmUp: "its warm-up is not over",
	ReasonHalted: "the strategy is halted", ReasonStopping: "the bot is stopping",
	ReasonReduceOnly: "the strategy may only reduce what it holds",
	ReasonUniverse:   "the market is no member of the universe now, and can only be sold",
	ReasonLeftOut:    "this run shows what happens without the entry",
}
