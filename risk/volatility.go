package risk

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// The estimator is that of RiskMetrics (1996): a return has decay times the weight of the next one,
// and the mean counts as 0. keptReturns have 99 % of the weight of all returns.
const (
	decay       = 0.94
	keptReturns = 74
	year        = 365 * 24 * time.Hour
)

// FewestReturns is how many returns of a market an estimate needs: one close more.
const FewestReturns = 20

// volatility estimates how much the account's equity will move, from the closes of its markets.
// Every product is converted by itself, so that no processor joins it with the sum around it and
// rounds otherwise.
type volatility struct {
	interval market.Interval // of the returns
	closes   []closes        // by market
	weights  [keptReturns]float64
	changed  bool // since the last ClosesSaved
	scaled   bool // the order at the gate was made smaller

	worth [keptReturns]float64 // reused
}

func newVolatility(interval market.Interval, markets int) *volatility {
	v := &volatility{interval: interval, closes: make([]closes, markets), changed: true}
	for i, weight := 0, 1.0; i < keptReturns; i++ {
		v.weights[i] = weight
		weight *= decay
	}
	return v
}

// Closes shows the gate candles that have closed, for volatility_target. It does nothing without
// that limit.
func (g *Gate) Closes(candles []market.Candle) {
	if v := g.volatility; v != nil {
		for i := range candles {
			c := &candles[i]
			v.closes[c.Market].add(v.interval, c.End(), c.Close)
		}
		v.changed = true
	}
}

// moments are the weighted second moments of the returns of one interval: of what the account has,
// in units of its currency, of one market, and of both together.
type moments struct {
	account, both, market float64
	allowed               float64 // of the account: the target's, or the present one where that is higher
	equity                float64
}

// momentsOf works out the moments for a buy in a market; 0: for no buy.
func (g *Gate) momentsOf(a *state.Account, id market.ID) (k moments, err error) {
	v, now := g.volatility, g.volatility.interval.Index(g.now)
	equity, err := a.Equity(g.account.Currency)
	if err != nil {
		return k, fmt.Errorf("risk: %w", err)
	}
	n := keptReturns
	if id != 0 {
		n = v.closes[id].returns(now)
	}
	for _, m := range g.catalog.Markets() {
		if known := v.closes[m.ID].returns(now); known >= FewestReturns && g.valueIn(a, m) != 0 {
			n = min(n, known)
		}
	}
	worth, total := v.worth[:n], 0.0
	clear(worth)
	for _, m := range g.catalog.Markets() {
		if value := float64(g.valueIn(a, m)); value != 0 {
			c := &v.closes[m.ID]
			for i := range worth[:min(n, c.returns(now))] {
				worth[i] += float64(value * c.back(now, i))
			}
		}
	}
	for i, moved := range worth {
		weight, of := v.weights[i], 0.0
		if id != 0 {
			of = v.closes[id].back(now, i)
		}
		total += weight
		k.account += float64(weight * float64(moved*moved))
		k.both += float64(weight * float64(moved*of))
		k.market += float64(weight * float64(of*of))
	}
	if total > 0 {
		k.account, k.both, k.market = k.account/total, k.both/total, k.market/total
	}
	k.equity = max(0, float64(equity))
	target := float64(g.account.VolatilityTarget) / float64(oneRate) * k.equity
	k.allowed = max(k.account, target*target*float64(v.interval.Fixed())/float64(year))
	return k, nil
}

// oneRate is 100 %.
const oneRate = market.Rate(100_000_000)

// valueIn is the value of what the account has in a market, and of what its open buys may add.
func (g *Gate) valueIn(a *state.Account, m *market.Market) market.Money {
	if m.Quote != g.account.Currency {
		return 0
	}
	return a.MarketExposure(m.ID)
}

// afterBuy is the second moment of the account with so much more of the market.
func (k *moments) afterBuy(more float64) float64 {
	return k.account + float64(2*float64(k.both*more)) + float64(float64(k.market*more)*more)
}

// capFloorMoney is the most money, rounded down, that may be put into the market without the
// account's second moment going above what is allowed. It is the root of afterBuy = allowed.
func (k *moments) capFloorMoney() market.Money {
	if k.market == 0 {
		return math.MaxInt64 // a market that has not moved moves no account
	}
	room := max(0, k.allowed-k.account)
	root := math.Sqrt(float64(k.both*k.both) + float64(k.market*room))
	most := 0.0
	if k.both > 0 { // the same root without the difference of two nearly equal numbers
		most = room / (root + k.both)
	} else {
		most = (root - k.both) / k.market
	}
	if most >= math.MaxInt64 || math.IsNaN(most) {
		return math.MaxInt64
	}
	return market.Money(math.Floor(most))
}

// yearFloorRate is a second moment as the volatility of a year, as a part of the equity, rounded
// down and at most what a Rate holds.
func (g *Gate) yearFloorRate(k *moments, moment float64) market.Rate {
	if k.equity <= 0 {
		return 0
	}
	intervals := float64(year) / float64(g.volatility.interval.Fixed())
	rate := math.Sqrt(max(0, moment)*intervals) / k.equity * float64(oneRate)
	if !(rate < math.MaxInt64) {
		return math.MaxInt64
	}
	return market.Rate(rate)
}

// scaleBuy makes a buy smaller where the account's expected volatility would go above its target.
// It refuses a buy of which too little would be left. Sells and exits stay as they are.
//
//go:noinline
func (g *Gate) scaleBuy(a *state.Account, s *slot, m *market.Market, c *market.Command) (refused error) {
	o := &c.Order
	if g.volatility.scaled = false; c.Attached || o.Side == market.Sell {
		return nil
	}
	full, err := exchange.Hold(m, o, g.fees[m.ID], g.reference(a, m, o))
	if err != nil || full <= 0 {
		return nil // the exchange's rules refuse it
	}
	k, most, refused := g.capOf(a, s, m)
	if refused != nil || full <= most {
		return refused
	}
	o.Amount = market.Qty(partFloor(int64(o.Amount), int64(most), int64(full)))
	o.AmountQuote = market.Money(partFloor(int64(o.AmountQuote), int64(most), int64(full)))
	if g.rounding {
		roundAmounts(m, o)
	}
	o.AmountRemaining, o.AmountQuoteRemaining, g.volatility.scaled = o.Amount, o.AmountQuote, true
	if o.Amount != 0 || o.AmountQuote != 0 {
		_, invalid := exchange.CheckPlace(m, o, g.factsOf(a, m, o))
		if invalid == nil || invalid.Code != exchange.CodeMinBase && invalid.Code != exchange.CodeMinQuote {
			return nil
		}
	}
	return g.refuseVolatility(s, &k, full)
}

// countScaled notes that the order at the gate leaves, if it was made smaller.
//
//go:noinline
func (g *Gate) countScaled(s *slot) {
	if g.volatility.scaled {
		s.scaled++
		g.volatility.changed = true
	}
}

// checkGrowth refuses a change by which a buy would hold so much more, where the account's expected
// volatility would go above its target.
func (g *Gate) checkGrowth(a *state.Account, s *slot, m *market.Market, more market.Money) error {
	k, most, refused := g.capOf(a, s, m)
	if refused != nil || more <= most {
		return refused
	}
	return g.refuseVolatility(s, &k, more)
}

// capOf is the most that buys may add in a market, and the moments that say so.
func (g *Gate) capOf(a *state.Account, s *slot, m *market.Market) (k moments, most market.Money, refused error) {
	now := g.volatility.interval.Index(g.now)
	if known := g.volatility.closes[m.ID].returns(now); known < FewestReturns {
		refused = g.objection(s, ReasonVolatilityTarget, 0, 0)
		g.refusal.Message = fmt.Sprintf("%s has too few closes for an estimate: needs %d more, one each %s", m.Name,
			FewestReturns-known, g.volatility.interval)
		return k, 0, refused
	}
	k, err := g.momentsOf(a, m.ID)
	if err != nil {
		return k, 0, g.objection(s, ReasonVolatilityTarget, math.MaxInt64, int64(g.account.VolatilityTarget))
	}
	return k, k.capFloorMoney(), nil
}

// refuseVolatility is objection with the volatility that a buy would lead to.
func (g *Gate) refuseVolatility(s *slot, k *moments, more market.Money) error {
	return g.objection(s, ReasonVolatilityTarget, int64(g.yearFloorRate(k, k.afterBuy(float64(more)))),
		int64(g.account.VolatilityTarget))
}

// partFloor is amount · part / whole, rounded down, for a part that is smaller than the whole.
func partFloor(amount, part, whole int64) int64 {
	over, under := bits.Mul64(uint64(amount), uint64(part))
	floor, _ := bits.Div64(over, under, uint64(whole))
	return int64(floor)
}

// VolatilityUse is the account's expected volatility beside its target.
type VolatilityUse struct {
	Expected, Target market.Rate     // a year, as parts of the equity; open buys count as if they had filled
	Interval         market.Interval // of the returns that it is estimated from
	Short            []market.ID     // markets with too few closes for an estimate: nothing is bought there
}

// Volatility returns the expected volatility of an account beside its target. followed is false
// without a target.
func (g *Gate) Volatility(a *state.Account) (use VolatilityUse, followed bool, err error) {
	v := g.volatility
	if v == nil {
		return use, false, nil
	}
	use.Target, use.Interval = g.account.VolatilityTarget, v.interval
	for _, m := range g.catalog.Markets() {
		if v.closes[m.ID].returns(v.interval.Index(g.now)) < FewestReturns {
			use.Short = append(use.Short, m.ID)
		}
	}
	k, err := g.momentsOf(a, 0)
	use.Expected = g.yearFloorRate(&k, k.account)
	return use, true, err
}

// Scaled is how many orders of a strategy have left smaller than asked for, by volatility_target.
func (g *Gate) Scaled(id market.StrategyID) int64 { return g.slots[id].scaled }
