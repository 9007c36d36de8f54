package risk

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Unit says what a Use counts.
type Unit uint8

// The units.
const (
	UnitCount    Unit = iota + 1
	UnitMoney         // of the account's currency, in its smallest part
	UnitRate          // market.Rate
	UnitDuration      // nanoseconds
	UnitSwitch        // 1: on
)

// LimitUse is a limit with what is used of it now, in whole numbers: a person reads FormatFixed of
// them.
type LimitUse struct {
	Name    string    // key of the config
	Market  market.ID // whose figure Used is; 0: the limit has one figure for all markets
	Unit    Unit
	Limit   int64 // 0: not set
	Used    int64
	Unknown bool        // Used says nothing: the limit judges each order alone, or nothing was heard yet
	Reached bool        // the limit refuses now what would use more of it
	Until   market.Time // of a limit that was reached: when it ends by itself; 0: it does not
	Mark    int64       // of a limit of the equity: the equity that Used counts from
}

// AccountUse appends the limits of the account, set or not.
func (g *Gate) AccountUse(dst []LimitUse, a *state.Account) []LimitUse {
	l := &g.account
	exposure := LimitUse{Name: "max_exposure", Unit: UnitMoney, Limit: int64(l.MaxExposure)}
	if used, err := a.Exposure(l.Currency); err == nil {
		exposure.Used = int64(used)
	} else {
		exposure.Unknown = true
	}
	exposure.Reached = exposure.full()
	stand, followed := g.Standing()
	followed = followed && g.followsEquity()
	loss := LimitUse{Name: "max_daily_loss", Unit: UnitMoney, Limit: int64(l.MaxDailyLoss), Unknown: !followed,
		Reached: stand.Lost}
	fall := LimitUse{Name: "max_drawdown", Unit: UnitRate, Limit: int64(l.MaxDrawdown), Unknown: !followed,
		Reached: stand.Drawn}
	if followed {
		loss.Used, loss.Mark = int64(max(0, stand.DayStart-stand.Latest)), int64(stand.DayStart)
		fall.Used, fall.Mark = int64(stand.Drawdown()), int64(stand.HighWater)
	}
	if loss.Reached {
		loss.Until = market.Time((g.equity.day + 1) * int64(24*time.Hour))
	}
	dst = append(g.assetUse(append(dst, exposure), a), loss, fall)
	against := LimitUse{Name: "opposite", Unit: UnitSwitch}
	if l.RefuseOpposite {
		against.Limit, against.Used = 1, 1
	}
	return append(dst, against, g.volatilityUse(a))
}

// assetUse appends max_asset_exposure: the exposure of the base asset of each market with a limit.
func (g *Gate) assetUse(dst []LimitUse, a *state.Account) []LimitUse {
	if g.assetLimits == nil {
		return append(dst, LimitUse{Name: "max_asset_exposure", Unit: UnitMoney, Unknown: true})
	}
	for _, m := range g.catalog.Markets() {
		limit := g.assetLimits[m.Base]
		if limit == 0 {
			continue
		}
		used, err := a.AssetExposure(m.Base, g.account.Currency)
		u := LimitUse{Name: "max_asset_exposure", Market: m.ID, Unit: UnitMoney, Limit: int64(limit), Used: int64(used),
			Unknown: err != nil}
		u.Reached = u.full()
		dst = append(dst, u)
	}
	return dst
}

// volatilityUse is volatility_target. It is reached, too, while no market has enough closes for an
// estimate: nothing is bought.
func (g *Gate) volatilityUse(a *state.Account) LimitUse {
	use, followed, err := g.Volatility(a)
	u := LimitUse{Name: "volatility_target", Unit: UnitRate, Limit: int64(use.Target), Used: int64(use.Expected),
		Unknown: !followed || err != nil}
	u.Reached = u.full()
	if markets := g.catalog.Markets(); followed && len(use.Short) == len(markets) {
		u.Unknown, u.Reached = true, true
	}
	return u
}

// StrategyUse appends the limits of a strategy, set or not. Those that count by market have one Use
// for each of its markets where they are set.
func (g *Gate) StrategyUse(dst []LimitUse, a *state.Account, id market.StrategyID, markets []*market.Market,
	at market.Time) []LimitUse {
	s := &g.slots[id]
	l := &s.limits
	count := func(name string, limit, used int) LimitUse {
		u := LimitUse{Name: name, Unit: UnitCount, Limit: int64(limit), Used: int64(used)}
		u.Reached = u.full()
		return u
	}
	dst = append(dst, count("max_open_orders", l.MaxOpenOrders, a.SlotsBy(id)),
		count("max_in_flight", l.MaxInFlight, a.InFlightBy(id)),
		count("orders_per_minute", l.OrdersPerMinute, s.sentLastMinute(at)), s.coolDown(at))
	dst[len(dst)-2].Unknown = l.OrdersPerMinute == 0 // no sends are kept
	dst = append(dst,
		LimitUse{Name: "max_order_value", Unit: UnitMoney, Limit: int64(l.MaxOrderValue), Unknown: true},
		LimitUse{Name: "price_collar", Unit: UnitRate, Limit: int64(l.PriceCollar), Unknown: true})
	dst = g.positionUse(dst, a, id, markets)
	dst = s.ageUse(dst, a, markets, at)
	only := LimitUse{Name: "reduce_only", Unit: UnitSwitch, Reached: l.ReduceOnly}
	if l.ReduceOnly {
		only.Limit, only.Used = 1, 1
	}
	return append(dst, only)
}

// full reports whether nothing is left of a limit.
func (u *LimitUse) full() bool { return u.Limit > 0 && !u.Unknown && u.Used >= u.Limit }

// coolDown is the row of losses that leads to a cool-down.
func (s *slot) coolDown(at market.Time) LimitUse {
	u := LimitUse{Name: "cool_down_losses", Unit: UnitCount, Limit: int64(s.limits.CoolDownLosses),
		Used: int64(s.losses)}
	if at < s.coolTill {
		u.Used, u.Reached, u.Until = u.Limit, true, s.coolTill
	}
	return u
}

// positionUse appends max_position: what a strategy holds in each market, and what its open buys
// may add, at the latest price.
func (g *Gate) positionUse(dst []LimitUse, a *state.Account, id market.StrategyID,
	markets []*market.Market) []LimitUse {
	limit := g.slots[id].limits.MaxPosition
	if limit == 0 {
		return append(dst, LimitUse{Name: "max_position", Unit: UnitMoney, Unknown: true})
	}
	for _, m := range markets {
		u := LimitUse{Name: "max_position", Market: m.ID, Unit: UnitMoney, Limit: int64(limit)}
		none := market.Order{Strategy: id, Market: m.ID}
		used, err := g.positionValue(a, m, &none, 0, a.Last(m.ID))
		u.Used, u.Unknown = int64(used), err != nil
		u.Reached = u.full()
		dst = append(dst, u)
	}
	return dst
}

// ageUse appends max_data_age: how old the latest price of each market is.
func (s *slot) ageUse(dst []LimitUse, a *state.Account, markets []*market.Market, at market.Time) []LimitUse {
	limit := s.limits.MaxDataAge
	if limit == 0 {
		return append(dst, LimitUse{Name: "max_data_age", Unit: UnitDuration, Unknown: true})
	}
	for _, m := range markets {
		seen, late := a.PriceArrived(m.ID)
		u := LimitUse{Name: "max_data_age", Market: m.ID, Unit: UnitDuration, Limit: int64(limit),
			Used: int64(max(0, at.Sub(seen))), Unknown: seen == 0}
		u.Reached = late || u.Unknown || u.Used > u.Limit
		dst = append(dst, u)
	}
	return dst
}
