package runner

import (
	"context"
	"fmt"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// sales are the results of sell orders, as of the last commit. Orders without a fill are left out:
// they are open, or their position is still held.
func (c *control) sales(ctx context.Context, orders []market.OrderID) ([]operator.Sale, error) {
	list := []operator.Sale{}
	if err := c.query(ctx, func(market.Time) {}); err != nil { // the turn of the last fill is committed
		return list, err
	}
	for _, id := range orders {
		fills, err := c.r.store.FillsOf(id)
		if err != nil {
			return list, fmt.Errorf("read what order %d has sold: %w", id, err)
		}
		if len(fills) == 0 {
			continue
		}
		sale, err := saleOf(c.r.plan.Catalog, fills)
		if err != nil {
			return list, fmt.Errorf("add up what order %d has sold: %w", id, err)
		}
		list = append(list, sale)
	}
	return list, nil
}

// saleOf sums the fills of one order.
func saleOf(catalog *market.Catalog, fills []journal.FillRow) (operator.Sale, error) {
	m := catalog.Market(fills[0].Market)
	var amount market.Qty
	var value, fee market.Value
	s := operator.Sale{Strategy: fills[0].StrategyName, Market: m.Name, Order: int64(fills[0].Order), Fills: len(fills),
		Currency: catalog.Asset(m.Quote).Symbol}
	for i := range fills {
		f := &fills[i]
		worth, err := m.Value(f.Price, f.Amount)
		if err != nil {
			return s, err
		}
		if value, err = value.Add(worth); err != nil {
			return s, err
		}
		amount += f.Amount
		if !f.Settled {
			s.Unsettled++
			continue
		}
		if fee, err = fee.Add(f.Fee); err != nil {
			return s, err
		}
	}
	digits := max(m.PriceDigits, m.ValueDigits-m.AmountDigits)
	average, err := value.FloorQuo(int64(amount), digits+m.AmountDigits-m.ValueDigits)
	s.Amount, s.Value, s.Fee, s.AveragePrice = m.FormatQty(amount), m.FormatValue(value), m.FormatValue(fee),
		market.FormatFixed(average, digits)
	return s, err
}
