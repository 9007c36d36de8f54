package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// foreignEvery is the time between two queries of a foreign order that is being cancelled.
const foreignEvery = 500 * time.Millisecond

// cancelForeign cancels the account's open orders of others in the markets that this bot trades,
// and waits for each to end.
func (c *control) cancelForeign(ctx context.Context, report *operator.ActResult) error {
	foreign, err := c.foreign(ctx)
	if err != nil {
		return fmt.Errorf("open orders of others: %w", err)
	}
	err = c.do(ctx, func(at market.Time) (commands []market.Command) {
		for i := range foreign {
			o := foreign[i].Order
			o.ID, o.Strategy = 0, 0
			if o.OperatorID == 0 {
				o.OperatorID = c.r.plan.Strategies[0].Limits.OperatorID
			}
			commands = append(commands, market.Command{Kind: market.CommandCancel, At: at, Order: o})
		}
		return commands
	})
	if err != nil {
		return err
	}
	for i := range foreign {
		if o := &foreign[i].Order; c.awaitEnd(ctx, o) {
			report.Cancelled++
		} else {
			report.Done = false
			row := journal.OrderRow{Order: *o, StrategyName: "not this bot's"}
			report.Open = append(report.Open, operator.OrderOf(c.r.plan.Catalog, &row))
		}
	}
	return nil
}

// foreign lists the open orders of the account that this bot never sent.
func (c *control) foreign(ctx context.Context) (foreign []exchange.WireOrder, err error) {
	records, err := c.r.trading.OpenOrders(ctx)
	if err != nil {
		return nil, err
	}
	for i := range records {
		_, err := c.r.store.OrderByClientID(records[i].Order.ClientOrderID)
		if errors.Is(err, bolt.ErrNotFound) {
			foreign = append(foreign, records[i])
		} else if err != nil {
			return nil, err
		}
	}
	return foreign, nil
}

// awaitEnd waits until the exchange reports an order as ended; false: ctx ended first.
func (c *control) awaitEnd(ctx context.Context, o *market.Order) bool {
	ticker := time.NewTicker(foreignEvery)
	defer ticker.Stop()
	for {
		record, err := c.r.trading.OrderUrgent(ctx, o.Market, o.ClientOrderID, o.ExchangeID)
		var refusal *exchange.Error
		if err == nil && record.Order.Done() || errors.As(err, &refusal) && refusal.Code == exchange.CodeNotFound {
			return true
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
	}
}
