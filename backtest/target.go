package backtest

import "fmt"

// targetLines say, in the assumptions, what the account's volatility was held to, and how many
// orders that made smaller; without a target there are none.
func (d *driver) targetLines(strategies []StrategyInfo) (lines []string) {
	limits := &d.plan.Account
	if limits.VolatilityTarget == 0 {
		return nil
	}
	text := fmt.Sprintf("volatility_target: buys are made smaller where the account's expected volatility would go "+
		"above %s a year, by returns of %s;", limits.VolatilityTarget, limits.VolatilityInterval)
	for i := range strategies {
		text += fmt.Sprintf(" %d orders of %s were.", strategies[i].Scaled, strategies[i].Name)
	}
	return []string{text}
}
