package risk

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Rule is a row of the table of limits: all that is said of one, and how its use is counted. The
// number is a field of Limits or AccountLimits, its check stands in limits.go or gate.go.
type Rule struct {
	Key    string // of the config and of `bot risk`
	Doc    string // cells of its row in docs/limits.md: unit, default, refuses, until
	Needed bool   // a start names it where it is not set

	Reason Reason // of its refusals; 0: it has none
	Name   string // of Reason; empty: Key
	Words  string // of a refusal, with value and limit, or without both; empty: "%s, limit %s"

	Set     string // how it stands while it is set and not reached; empty: its figures say it
	Reached string // how it stands once it is reached

	Unit     Unit
	prices   bool                                            // a refusal has prices, whatever Unit is
	account  func(*AccountLimits) int64                      // the limit; 0: not set. nil: it is none of the account
	strategy func(*Limits) int64                             // the same of a strategy
	use      func(*Gate, *LimitUse, *holder)                 // counts what is used of it
	useIn    func(*Gate, *LimitUse, *holder, *market.Market) // the same, of each market; neither: `bot risk` has no row
}

// holder is the account, or a strategy with its markets, whose use is counted at a time.
type holder struct {
	account *state.Account
	id      market.StrategyID // 0: the account
	slot    *slot             // its memory
	markets []*market.Market
	at      market.Time
}

// rules are the limits in the order of `bot risk`: those of the account, then those of a strategy.
var rules = [...]Rule{
	{Key: "max_exposure", Unit: UnitMoney, Needed: true, Reason: ReasonMaxExposure,
		Doc: "money | none | a buy that lifts the value of all positions and open buys above it | " +
			"the next buy fits",
		account: func(l *AccountLimits) int64 { return int64(l.MaxExposure) },
		use:     func(g *Gate, u *LimitUse, h *holder) { u.value(h.account.Exposure(g.account.Currency)) }},
	{Key: "max_asset_exposure", Unit: UnitMoney, Reason: ReasonMaxAssetExposure,
		Doc:     "money by asset | none | [the same for one base asset](#exposure-by-asset) | the next buy fits",
		account: func(l *AccountLimits) int64 { return int64(len(l.MaxAssetExposure)) },
		useIn: func(g *Gate, u *LimitUse, h *holder, m *market.Market) {
			u.Limit = int64(g.assetLimits[m.Base])
			u.value(h.account.AssetExposure(m.Base, g.account.Currency))
		}},
	{Key: "max_daily_loss", Unit: UnitMoney, Needed: true, Reason: ReasonDailyLoss,
		Doc: "money | none | every buy once the loss is reached; it counts from the last equity of the UTC day " +
			"before | the next UTC day, also over restarts",
		account: func(l *AccountLimits) int64 { return int64(l.MaxDailyLoss) },
		use:     (*Gate).lossUse},
	{Key: "max_drawdown", Unit: UnitRate, Needed: true, Reason: ReasonDrawdown,
		Doc: "`\"0.1\"`, `\"10%\"` | none | every buy once the equity is so far below its highest | " +
			"`bot halt` and `bot resume`, also over restarts",
		Words:   "the equity is %s below its highest, limit %s",
		Reached: "reached: nothing is opened until bot halt and bot resume",
		account: func(l *AccountLimits) int64 { return int64(l.MaxDrawdown) },
		use:     (*Gate).drawdownUse},
	{Key: "allow_self_cross", Reason: ReasonSelfCross, Name: "self_cross", prices: true,
		Doc: "| `false` | an order that would match an own one: `self_cross` | " +
			"[the next order fits](#opposite-orders-of-own-strategies)",
		Words: "at %s it would meet an own order at %s"},
	{Key: "opposite", Unit: UnitSwitch, Reason: ReasonOpposite,
		Doc: "| `\"allow\"` | with `\"refuse\"`: an order against another strategy's | " +
			"[that order has ended](#opposite-orders-of-own-strategies)",
		Set:     "refuses what trades against another strategy",
		account: func(l *AccountLimits) int64 { return switched(l.RefuseOpposite) },
		use:     func(_ *Gate, u *LimitUse, _ *holder) { u.Used = u.Limit }},
	{Key: "volatility_target", Unit: UnitRate, Reason: ReasonVolatilityTarget,
		Doc: "part a year | none | [makes most buys smaller](#volatility-target) | " +
			"the account is calmer or has sold",
		Words:   "the account's expected volatility would be %s a year, target %s",
		account: func(l *AccountLimits) int64 { return int64(l.VolatilityTarget) },
		use:     (*Gate).volatilityUse},
	{Key: "volatility_interval",
		Doc: "candles | longest of a strategy | nothing: the target is estimated from its returns |"},

	{Key: "max_open_orders", Unit: UnitCount, Needed: true, Reason: ReasonMaxOpenOrders,
		Doc:      "orders | none | a new order above it | an order has ended",
		strategy: func(l *Limits) int64 { return int64(l.MaxOpenOrders) },
		use:      func(_ *Gate, u *LimitUse, h *holder) { u.count(h.account.SlotsBy(h.id)) }},
	{Key: "max_in_flight", Unit: UnitCount, Reason: ReasonMaxInFlight,
		Doc:      "orders | 100 | an order while so many wait for an answer | answers have come",
		strategy: func(l *Limits) int64 { return int64(l.MaxInFlight) },
		use:      func(_ *Gate, u *LimitUse, h *holder) { u.count(h.account.InFlightBy(h.id)) }},
	{Key: "orders_per_minute", Unit: UnitCount, Needed: true, Reason: ReasonOrdersPerMinute,
		Doc:      "orders, changes | none | more than that | a minute is over",
		strategy: func(l *Limits) int64 { return int64(l.OrdersPerMinute) },
		use: func(_ *Gate, u *LimitUse, h *holder) {
			u.Unknown = u.Limit == 0 // no sends are kept
			u.count(h.slot.sentLastMinute(h.at))
		}},
	{Key: "cool_down_losses", Unit: UnitCount,
		Doc:      "exits | none | every buy for `cool_down` after so many losing exits in a row | that time is over",
		strategy: func(l *Limits) int64 { return int64(l.CoolDownLosses) },
		use: func(_ *Gate, u *LimitUse, h *holder) {
			if u.Used = int64(h.slot.losses); h.at < h.slot.coolTill {
				u.Used, u.Reached, u.Until = u.Limit, true, h.slot.coolTill
			}
		}},
	{Key: "cool_down", Unit: UnitDuration, Needed: true, Reason: ReasonCoolDown,
		Doc:      "time | none | nothing without `cool_down_losses`: set both or neither |",
		Words:    "%s of %s are left",
		strategy: func(l *Limits) int64 { return int64(l.CoolDown) }},
	{Key: "max_order_value", Unit: UnitMoney, Needed: true, Reason: ReasonMaxOrderValue,
		Doc:      "money | none | a larger order | the next order fits",
		Set:      eachOrder,
		strategy: func(l *Limits) int64 { return int64(l.MaxOrderValue) },
		use:      unknownUse},
	{Key: "price_collar", Unit: UnitRate, Needed: true, Reason: ReasonPriceCollar, prices: true,
		Doc:      "part | none | a limit that passes the best opposite price by more | the next order fits",
		Set:      eachOrder,
		strategy: func(l *Limits) int64 { return int64(l.PriceCollar) },
		use:      unknownUse},
	{Key: "max_position", Unit: UnitMoney, Needed: true, Reason: ReasonMaxPosition,
		Doc:      "money | none | a buy that lifts position and open buys in its market above it | the next buy fits",
		strategy: func(l *Limits) int64 { return int64(l.MaxPosition) },
		useIn: func(g *Gate, u *LimitUse, h *holder, m *market.Market) {
			none := market.Order{Strategy: h.id, Market: m.ID}
			u.value(g.positionValue(h.account, m, &none, 0, h.account.Last(m.ID)))
		}},
	{Key: "max_positions", Unit: UnitCount, Reason: ReasonMaxPositions,
		Doc:      "markets | none | a buy in one market more, beside those with a position or an open buy | one ends",
		Words:    "it would have positions in %s markets, limit %s",
		strategy: func(l *Limits) int64 { return int64(l.MaxPositions) },
		use:      func(g *Gate, u *LimitUse, h *holder) { u.count(g.positions(h.account, h.id)) }},
	{Key: "max_data_age", Unit: UnitDuration, Needed: true, Reason: ReasonStale, Name: "stale",
		Doc:      "time | none | a buy on older prices: `stale` | the next price",
		strategy: func(l *Limits) int64 { return int64(l.MaxDataAge) },
		useIn: func(_ *Gate, u *LimitUse, h *holder, m *market.Market) {
			seen, late := h.account.PriceArrived(m.ID)
			u.Used, u.Unknown = int64(max(0, h.at.Sub(seen))), seen == 0
			u.Reached = late || u.Unknown || u.Used > u.Limit
		}},
	{Key: "reduce_only", Unit: UnitSwitch, Reason: ReasonReduceOnly,
		Doc:   "| `false` | every buy | it is `false`",
		Words: "the strategy may only reduce what it holds", Set: "nothing is opened",
		strategy: func(l *Limits) int64 { return switched(l.ReduceOnly) },
		use:      func(_ *Gate, u *LimitUse, _ *holder) { u.Used, u.Reached = u.Limit, u.Limit != 0 }},
}

// eachOrder is how a limit stands that has no use.
const eachOrder = "judges each order alone"

func unknownUse(_ *Gate, u *LimitUse, _ *holder) { u.Unknown = true }

func switched(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// RuleOf is the rule of a key; an empty one: there is none.
func RuleOf(key string) *Rule {
	return ruleWhere(func(r *Rule) bool { return r.Key == key })
}

// ruleOf is the rule whose refusals have a reason; an empty one: there is none.
func ruleOf(reason Reason) *Rule {
	return ruleWhere(func(r *Rule) bool { return reason != 0 && r.Reason == reason })
}

func ruleWhere(is func(*Rule) bool) *Rule {
	for i := range rules {
		if is(&rules[i]) {
			return &rules[i]
		}
	}
	return &Rule{}
}

// text is a number of a refusal, as Refusal.Values says.
func (r *Rule) text(n int64, m *market.Market, currency *market.Asset) string {
	switch {
	case r.Unit == UnitCount || r.Unit == UnitDuration:
		return r.Unit.Text(n, 0)
	case r.Unit == UnitMoney && r.account != nil:
		return amountOf(currency, n)
	case r.Unit == UnitRate && !r.prices:
		return market.Rate(n).String()
	case m == nil:
		return ""
	case r.prices:
		return m.FormatPrice(market.Price(n))
	case r.Unit == UnitMoney:
		return r.Unit.Text(n, m.QuoteDigits)
	}
	return ""
}

// Unlimited names the limits that are not set, by their config keys: a person should know them
// before trading.
func (l Limits) Unlimited() []string {
	return unset(func(r *Rule) bool { return r.strategy != nil && r.strategy(&l) == 0 })
}

// Unlimited names the account's limits that are not set. A limit by asset is one that a bot can do
// without.
func (l AccountLimits) Unlimited() []string {
	return unset(func(r *Rule) bool { return r.account != nil && r.account(&l) == 0 })
}

func unset(is func(*Rule) bool) (keys []string) {
	for i := range rules {
		if r := &rules[i]; r.Needed && is(r) {
			keys = append(keys, r.Key)
		}
	}
	return keys
}
