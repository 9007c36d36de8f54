package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
)

// checkMeasured checks [backtest.measured], and says from which orders the assumptions are, and
// which settings are no longer what was measured.
func (p *Backtest) checkMeasured() error {
	b, m := &p.Config.Backtest, p.Config.Backtest.Measured
	if m == nil {
		return nil
	}
	if m.Orders <= 0 {
		return config.Keyf([]string{"backtest", "measured", "orders"}, "want the number of orders, at least 1")
	}
	if m.From == 0 || m.To <= m.From {
		return config.Keyf([]string{"backtest", "measured", "to"},
			"want the day after the last order, and from before it")
	}
	var same, other []string
	for _, s := range [...]struct{ key, now, then string }{
		{"half_spread_bps", b.HalfSpreadBPS.String(), m.HalfSpreadBPS.String()},
		{"slippage_bps", b.SlippageBPS.String(), m.SlippageBPS.String()},
		{"latency", time.Duration(b.Latency).String(), time.Duration(m.Latency).String()},
		{"fill_probability", b.FillProbability.String(), m.FillProbability.String()},
	} {
		switch {
		case s.then == "" || s.then == "0s":
		case s.now == s.then:
			same = append(same, s.key)
		default:
			other = append(other, fmt.Sprintf("%s is %s, measured was %s", s.key, orDefault(s.now), s.then))
		}
	}
	const day = 24 * time.Hour
	days := (market.Time(m.To).Sub(market.Time(m.From)) + day - 1) / day
	length := fmt.Sprintf("%d days", days)
	if days == 1 {
		length = "day"
	}
	text := fmt.Sprintf("Assumptions measured from %d live orders of the last %s up to %s", m.Orders, length,
		(market.Time(m.To) - 1).String()[:len(time.DateOnly)])
	if len(same) > 0 {
		text += ": " + strings.Join(same, ", ")
	}
	if len(other) > 0 {
		text += "; set otherwise: " + strings.Join(other, "; ")
	}
	p.Options.Assumptions = append(p.Options.Assumptions, text+".")
	return nil
}

// orDefault is a setting, or says that it is left out.
func orDefault(text string) string {
	if text == "" {
		return "left out"
	}
	return text
}
