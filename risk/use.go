package risk

import (
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Unit says what a LimitUse counts.
type Unit string

// The units.
const (
	UnitCount    Unit = "count"
	UnitMoney    Unit = "money"    // of the account's currency, in its smallest part
	UnitRate     Unit = "fraction" // market.Rate; 0.05 is 5 %
	UnitDuration Unit = "duration" // nanoseconds
	UnitSwitch   Unit = "switch"   // 1: on
)

// Text is a figure as text, such as 1m30s; digits are those of the money.
func (u Unit) Text(n int64, digits uint8) string {
	switch u {
	case UnitMoney:
		return fixed(digits, n)
	case UnitRate:
		return fixed(market.RateDigits, n)
	case UnitDuration:
		return time.Duration(n).Round(time.Millisecond).String()
	case UnitSwitch:
		return "on"
	}
	return strconv.FormatInt(n, 10)
}

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
	return g.appendUse(dst, &holder{account: a, markets: g.catalog.Markets()})
}

// StrategyUse appends the limits of a strategy, set or not. Those that count by market have one use
// for each of its markets where they are set.
func (g *Gate) StrategyUse(dst []LimitUse, a *state.Account, id market.StrategyID, markets []*market.Market,
	at market.Time) []LimitUse {
	return g.appendUse(dst, &holder{account: a, id: id, slot: &g.slots[id], markets: markets, at: at})
}

func (g *Gate) appendUse(dst []LimitUse, h *holder) []LimitUse {
	for i := range rules {
		r := &rules[i]
		u := LimitUse{Name: r.Key, Unit: r.Unit}
		switch {
		case h.id == 0 && r.account != nil:
			u.Limit = r.account(&g.account)
		case h.id != 0 && r.strategy != nil:
			u.Limit = r.strategy(&h.slot.limits)
		default:
			continue
		}
		switch {
		case r.use != nil:
			r.use(g, &u, h)
			dst = append(dst, u)
		case r.useIn != nil && u.Limit == 0:
			u.Unknown = true
			dst = append(dst, u)
		case r.useIn != nil:
			for _, m := range h.markets {
				in := u
				in.Market = m.ID
				if r.useIn(g, &in, h, m); in.Limit > 0 {
					dst = append(dst, in)
				}
			}
		}
	}
	return dst
}

// full reports whether nothing is left of a limit.
func (u *LimitUse) full() bool { return u.Limit > 0 && !u.Unknown && u.Used >= u.Limit }

func (u *LimitUse) count(used int) {
	u.Used = int64(used)
	u.Reached = u.full()
}

func (u *LimitUse) value(used market.Money, err error) {
	u.Used, u.Unknown = int64(used), err != nil
	u.Reached = u.full()
}

func (g *Gate) lossUse(u *LimitUse, _ *holder) {
	stand, followed := g.Standing()
	u.Unknown, u.Reached = !followed || !g.followsEquity(), stand.Lost
	if !u.Unknown {
		u.Used, u.Mark = int64(max(0, stand.DayStart-stand.Latest)), int64(stand.DayStart)
	}
	if u.Reached {
		u.Until = market.Time((g.equity.day + 1) * int64(24*time.Hour))
	}
}

func (g *Gate) drawdownUse(u *LimitUse, _ *holder) {
	stand, followed := g.Standing()
	u.Unknown, u.Reached = !followed || !g.followsEquity(), stand.Drawn
	if !u.Unknown {
		u.Used, u.Mark = int64(stand.Drawdown()), int64(stand.HighWater)
	}
}

// volatilityUse is reached, too, while no market has enough closes for an estimate: nothing is
// bought.
func (g *Gate) volatilityUse(u *LimitUse, h *holder) {
	use, followed, err := g.Volatility(h.account)
	u.Limit, u.Used, u.Unknown = int64(use.Target), int64(use.Expected), !followed || err != nil
	u.Reached = u.full()
	if followed && len(use.Short) == len(h.markets) {
		u.Unknown, u.Reached = true, true
	}
}
