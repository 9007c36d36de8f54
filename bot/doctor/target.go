package doctor

import (
	"fmt"

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
