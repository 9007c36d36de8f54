package live

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// commandsOf are the commands of a kind that were prepared for the box.
func (p *play) commandsOf(kind market.CommandKind) (all []market.Command) {
	p.box.mu.Lock()
	defer p.box.mu.Unlock()
	for _, c := range p.box.commands {
		if c.Kind == kind {
			all = append(all, c)
		}
	}
	return all
}

// An update that left out postOnly, selfTradePrevention or timeInForce would reset them, and one
// without a name or an operator would be refused: the order that comes to Prepare is the whole one,
// as it shall be.
func TestAnUpdateAndACancelNameTheWholeOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, func(d *strategy.Desk) {
			_, err := d.In(1).Buy(strategy.Amount(12500000), strategy.At(80_00), strategy.PostOnly(),
				strategy.SelfTrade(market.CancelNewest))
			require.NoError(t, err)
		}, nil, func(d *strategy.Desk) {
			require.NoError(t, d.Update(1, strategy.At(79_00)))
		}, nil, func(d *strategy.Desk) {
			require.NoError(t, d.Update(1, strategy.Resize(strategy.Amount(25000000))))
		}, nil, cancel)
		p.run()
		p.tick(10)
		updates, cancels := p.commandsOf(market.CommandUpdate), p.commandsOf(market.CommandCancel)
		require.Len(t, updates, 2)
		require.Len(t, cancels, 1)
		for _, c := range append(updates, cancels...) {
			o := c.Order
			require.Equal(t, p.box.names[1], o.ClientOrderID, c.Kind)
			require.Equal(t, int64(7), o.OperatorID, c.Kind)
			require.Equal(t, market.ID(1), o.Market, c.Kind)
			require.Equal(t, market.Buy, o.Side, c.Kind)
			require.Equal(t, market.TypeLimit, o.Type, c.Kind)
			require.True(t, o.PostOnly, c.Kind)
			require.Equal(t, market.CancelNewest, o.SelfTradePrevention, c.Kind)
			require.Equal(t, market.GTC, o.TimeInForce, c.Kind)
		}
		require.Contains(t, []market.Change{market.ChangePrice, market.ChangeAmount}, updates[0].Changed)
		for _, c := range updates {
			require.Equal(t, market.Price(79_00), c.Order.Price, "changed by the first update, kept by the second")
			if c.Changed == market.ChangeAmount {
				require.Equal(t, market.Qty(25000000), c.Order.Amount)
				require.Equal(t, market.Qty(25000000), c.Order.AmountRemaining)
			}
		}
		p.end()
		p.agree()
	})
}
