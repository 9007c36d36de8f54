package strategytest

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Work records the ask, and opens one order over the whole size, which the test plays with Fill.
func (e *engine) Work(_ market.StrategyID, c *market.Command, t *strategy.Tactic,
	f *strategy.Follow) (market.OrderID, error) {
	if e.recalling {
		return 0, errRecalling
	}
	line := e.describe(c) + ", " + t.Words() + e.following(c.Order.Market, f)
	if e.Refuse != nil {
		if err := e.Refuse(c); err != nil {
			e.asked = append(e.asked, line+" refused")
			return 0, err
		}
	}
	e.asked = append(e.asked, line)
	return e.place(c.Order), nil
}

// Working is false: the order of a tactic is open for as long as the tactic lasts.
func (e *engine) Working(market.StrategyID, market.ID) bool { return false }

// EndTactics does nothing: a CancelAll cancels the order.
func (e *engine) EndTactics(market.StrategyID, market.ID) {}
