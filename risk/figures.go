package risk

import (
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// ask is the effect of an order or a change.
type ask struct {
	added    market.Qty   // base, to the open orders
	hold     market.Money // to the holds
	attached bool         // no limit applies
}

// Figures are the numbers behind the last approved order or change, as decimals: before, after in
// the worst case, and the limit, empty where there is none. They are kept where Config.Explain is
// set, and valid until the next Check.
func (g *Gate) Figures() []state.Figure { return g.figures }

// recordFigures records the numbers before and after an approved ask. Values that overflow are left
// out.
func (g *Gate) recordFigures(a *state.Account, s *slot, m *market.Market, o *market.Order, k ask) {
	l := s.limits
	account := g.account
	if k.attached {
		l, account = Limits{}, AccountLimits{Currency: account.Currency}
	}
	asset := exchange.HoldAsset(m, o.Side)
	digits := g.catalog.Asset(asset).Digits
	available, _ := a.Balance(o.Strategy, asset)
	g.record("available "+g.catalog.Asset(asset).Symbol, fixed(digits, int64(available)),
		fixed(digits, int64(available-k.hold)), "")
	open, more := a.SlotsBy(o.Strategy), 1
	if a.Own(o.ID) != nil {
		more = 0
	}
	g.record("max_open_orders", strconv.Itoa(open), strconv.Itoa(open+more), limitText(int64(l.MaxOpenOrders), 0))
	g.recordValues(a, &l, m, o, k)
	if o.Side == market.Buy {
		g.recordExposure(a, &account, m, k)
	}
	if g.volatility != nil && o.Side == market.Buy && !k.attached {
		g.recordVolatility(a, m, k)
	}
	if len(s.sent) > 0 && !k.attached {
		sent := s.sentLastMinute(g.now)
		g.record("orders_per_minute", strconv.Itoa(sent), strconv.Itoa(sent+1), strconv.Itoa(l.OrdersPerMinute))
	}
	g.recordEquity(&account)
}

// recordExposure records the exposure of the account, and of the order's base asset where that has
// a limit.
func (g *Gate) recordExposure(a *state.Account, l *AccountLimits, m *market.Market, k ask) {
	record := func(name string, exposure, limit market.Money) {
		digits := g.catalog.Asset(l.Currency).Digits
		g.record(name, fixed(digits, int64(exposure)), fixed(digits, int64(exposure+k.hold)),
			limitText(int64(limit), digits))
	}
	if exposure, err := a.Exposure(l.Currency); err == nil {
		record("max_exposure", exposure, l.MaxExposure)
	}
	if limit := g.assetLimit(m.Base); limit > 0 && !k.attached {
		if exposure, err := a.AssetExposure(m.Base, l.Currency); err == nil {
			record("max_asset_exposure "+g.catalog.Asset(m.Base).Symbol, exposure, limit)
		}
	}
}

// recordVolatility records the expected volatility of the account.
func (g *Gate) recordVolatility(a *state.Account, m *market.Market, k ask) {
	if of, err := g.momentsOf(a, m.ID); err == nil {
		text := func(moment float64) string {
			return fixed(market.RateDigits, int64(g.yearFloorRate(&of, moment)))
		}
		g.record("volatility_target", text(of.account), text(of.afterBuy(float64(max(0, k.hold)))),
			fixed(market.RateDigits, int64(g.account.VolatilityTarget)))
	}
}

// recordValues records the order's value and the position that it could lead to.
func (g *Gate) recordValues(a *state.Account, l *Limits, m *market.Market, o *market.Order, k ask) {
	price := priceOf(a, o)
	if value, err := valueOf(m, o, price); err == nil {
		g.record("max_order_value", "0", fixed(m.QuoteDigits, int64(value)),
			limitText(int64(l.MaxOrderValue), m.QuoteDigits))
	}
	price = max(price, a.Last(m.ID))
	none := market.Order{Strategy: o.Strategy, Market: o.Market}
	before, err := g.positionValue(a, m, &none, 0, price)
	after, limit := before, market.Money(0)
	if err == nil && o.Side == market.Buy {
		limit = l.MaxPosition
		after, err = g.positionValue(a, m, o, k.added, price)
	} else if err == nil {
		after, err = g.positionValue(a, m, &none, -o.AmountRemaining, price)
	}
	if err == nil {
		g.record("max_position", fixed(m.QuoteDigits, int64(before)), fixed(m.QuoteDigits, int64(after)),
			limitText(int64(limit), m.QuoteDigits))
	}
}

// recordEquity records the use of the account's limits; an ask does not change it.
func (g *Gate) recordEquity(l *AccountLimits) {
	if stand, followed := g.Standing(); followed {
		digits := g.catalog.Asset(l.Currency).Digits
		loss := fixed(digits, int64(max(0, stand.DayStart-stand.Latest)))
		g.record("max_daily_loss", loss, loss, limitText(int64(l.MaxDailyLoss), digits))
		fall := fixed(market.RateDigits, int64(stand.Drawdown()))
		g.record("max_drawdown", fall, fall, limitText(int64(l.MaxDrawdown), market.RateDigits))
	}
}

func (g *Gate) record(name, before, after, limit string) {
	g.figures = append(g.figures, state.Figure{Name: name, Before: before, After: after, Limit: limit})
}

func fixed(digits uint8, value int64) string { return market.FormatFixed(value, digits) }

// limitText is a limit as a decimal, empty for none.
func limitText(limit int64, digits uint8) string {
	if limit == 0 {
		return ""
	}
	return fixed(digits, limit)
}

// sentLastMinute is the number of orders and changes sent within the last minute.
func (s *slot) sentLastMinute(now market.Time) (n int) {
	for _, at := range s.sent {
		if at != 0 && now.Sub(at) < time.Minute {
			n++
		}
	}
	return n
}
