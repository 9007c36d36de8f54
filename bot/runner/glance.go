package runner

import (
	"cmp"
	"context"
	"errors"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
)

// glance answers the question of the dashboard: status, positions and limits by one look at the
// loop.
func (c *control) glance(ctx context.Context, _ *operator.Request) (any, error) {
	var prices map[market.ID]market.Price
	var uses *limitUses
	var failed error
	s := c.newStatus()
	err := c.query(ctx, func(at market.Time) {
		failed = c.statusAt(s, at)
		prices, uses = c.prices(), c.r.uses(at)
	})
	if errors.As(err, new(blockedError)) {
		return c.blockedGlance(s)
	}
	if err = cmp.Or(err, failed, c.finishStatus(s)); err != nil {
		return nil, err
	}
	g := &operator.Glance{Status: s, Risk: c.r.riskOf(uses)}
	g.Risk.Running = true
	g.Positions, err = operator.PositionsOf(c.r.store, func(id market.ID) market.Price { return prices[id] })
	g.Positions.Running = true
	return g, errors.Join(err, g.Risk.AddHalts(c.r.store))
}

// blockedGlance is a glance while a strategy blocks the loop, from the state file.
func (c *control) blockedGlance(s *operator.Status) (any, error) {
	status, err := c.blockedStatus(s)
	if err != nil {
		return nil, err
	}
	g := &operator.Glance{Status: status}
	if g.Positions, err = operator.StoppedPositions(c.r.store); err != nil {
		return nil, err
	}
	if g.Risk, err = operator.StoppedRisk(c.r.store); err != nil {
		return nil, err
	}
	g.Positions.Running, g.Risk.Running = true, true
	return g, nil
}
