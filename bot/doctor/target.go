package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// target says of each strategy how long a new bot buys nothing for it, because volatility_target
// has too few closes for an estimate.
func (d *doctor) target() {
	limits := &d.plan.Limits
	if limits.VolatilityTarget == 0 {
		return
	}
	for i := range d.plan.Strategies {
		s := &d.plan.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			continue // the rehearsal says it
		}
		missing := d.lacksCloses(s, &needs)
		text := fmt.Sprintf("%s: its warm-up has %d of the %d closes of %s that an estimate needs", s.Name,
			risk.FewestReturns+1-missing, risk.FewestReturns+1, limits.VolatilityInterval)
		if missing == 0 {
			d.ok("volatility", "%s", text)
			continue
		}
		d.warn("volatility", text, fmt.Sprintf("a new bot buys nothing for it during the first %d intervals; "+
			"risk.volatility_interval may be shorter, or its warm-up longer", missing))
	}
}

// lacksCloses is how many closes the warm-up of a strategy lacks for an estimate.
func (d *doctor) lacksCloses(s *backtest.StrategyPlan, needs *strategy.Needs) int {
	if d.plan.Limits.VolatilityTarget == 0 {
		return 0
	}
	has := 0
	for _, c := range needs.Of(s.Interval) {
		span := c.Interval.End(0) * market.Time(c.Warmup)
		has = max(has, int(span/d.plan.Limits.VolatilityInterval.End(0)))
	}
	return max(0, risk.FewestReturns+1-has)
}

// groups counts the cancel-on-disconnect groups of the config: an account has one timer, unless the
// exchange has agreed to more. The doctor arms none to find out.
func (d *doctor) groups() {
	const check = "timers"
	groups := d.plan.Groups()
	var names []string
	for _, g := range groups {
		names = append(names, fmt.Sprintf("group %d of %s", g, strings.Join(d.plan.InGroup(g), " and ")))
	}
	switch text := strings.Join(names, ", "); len(groups) {
	case 0:
	case 1:
		d.ok(check, "cancel on disconnect: %s; an account has one timer", text)
	default:
		d.warn(check, fmt.Sprintf("cancel on disconnect: %d groups (%s), and an account has one timer: where the "+
			"exchange has not agreed to more, only %s is guarded", len(groups), text, names[0]),
			"give these strategies the same cod_group_id; or none, and their orders outlive a bot that dies")
	}
}

// sharedGroup warns of an open order of others that carries a group of the config.
func (d *doctor) sharedGroup(o *market.Order) {
	if slices.Contains(d.plan.Groups(), o.CodGroupID) {
		d.warn("timers", fmt.Sprintf("an open order of another bot or person carries cod_group_id %d, too: while one "+
			"of the two programs renews its timer, the orders of the other stay", o.CodGroupID),
			"choose a group of its own for each bot")
	}
}

// paperAccount lists the balances that the simulated account of paper mode begins with. It has no
// key, and no other program trades on it.
func (d *doctor) paperAccount() {
	config, err := d.plan.PaperExchange("", d.client.Now())
	if err != nil {
		d.fail("mode", err.Error(), "correct [paper.start]")
		return
	}
	var parts []string
	for _, symbol := range slices.Sorted(maps.Keys(config.Accounts[0].Balances)) {
		text := config.Accounts[0].Balances[symbol]
		asset := d.plan.Catalog.AssetNamed(symbol)
		money, _ := market.ParseFixed(text, asset.Digits) // PaperExchange has parsed it already
		d.held[asset.ID] = market.Money(money)
		parts = append(parts, text+" "+symbol)
	}
	d.ok("mode", "paper: simulated, with %s at the first start; no key is needed", strings.Join(parts, ", "))
}
