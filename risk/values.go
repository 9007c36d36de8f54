package risk

import (
	"fmt"
	"strconv"

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
	switch r.Reason {
	case ReasonStop, ReasonTarget, ReasonExchange:
		return r.have, r.limit
	case ReasonNoSuchOrder, ReasonInFlight, ReasonOpposite:
		return "order " + strconv.FormatInt(r.Have, 10), ""
	}
	rule := ruleOf(r.Reason)
	return rule.text(r.Have, m, currency), rule.text(r.Limit, m, currency)
}

// Words explain the refusal, with the values of Values.
func (r *Refusal) Words(m *market.Market, currency *market.Asset) string {
	have, limit := r.Values(m, currency)
	rule := ruleOf(r.Reason)
	switch {
	case r.Reason == ReasonExchange:
		return "the exchange would answer " + strconv.Itoa(r.Code) + ": " + r.Message + r.beside()
	case r.Message != "":
		return r.Message
	case r.Reason == ReasonWarmUp && r.Have > 0 && m != nil:
		return warmUpText(m, r.Have, market.Interval(r.Limit))
	case rule.Unit == UnitSwitch && rule.Words != "":
		return rule.Words
	case rule.Words != "":
		return fmt.Sprintf(rule.Words, have, limit)
	case r.Reason == ReasonTooSmall && m != nil:
		return fmt.Sprintf("nothing is left of the amount after rounding to %s; the minimum is %s, or %s in quote",
			fixed(m.QuantityDecimals, 1), m.FormatQty(m.MinOrderInBase), m.FormatMoney(m.MinOrderInQuote))
	case limit != "":
		return have + ", limit " + limit
	case have != "":
		return have
	}
	return reasonTexts[r.Reason].words
}

// warmUpText says how many candles a market in its warm-up lacks: "BTC-EUR needs 12 more 1d
// candles".
func warmUpText(m *market.Market, candles int64, interval market.Interval) string {
	if candles == 1 {
		return fmt.Sprintf("%s needs 1 more %s candle", m.Name, interval)
	}
	return fmt.Sprintf("%s needs %d more %s candles", m.Name, candles, interval)
}
