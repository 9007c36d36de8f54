package runner

import (
	"context"
	"errors"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
)

// resolve books an order as the operator says: as the exchange has it, or as absent.
func (c *control) resolve(ctx context.Context, ask *operator.Request) (*operator.ActResult, error) {
	if ask.Gone != "" {
		return c.writeOff(ctx, ask)
	}
	row, err := c.r.store.FindOrder(ask.Order)
	if err != nil {
		return nil, err
	}
	report := operator.NewReport(nil)
	if ask.As != operator.AsExchange && ask.As != operator.AsAbsent {
		return nil, config.Usagef("%q is neither %s nor %s", config.Clip(ask.As), operator.AsExchange,
			operator.AsAbsent)
	}
	var failed error
	began := false
	report.Done, err = c.until(ctx, func(market.Time) (commands []market.Command, done bool) {
		switch {
		case began:
		case ask.As == operator.AsAbsent:
			failed = c.r.loop.ResolveAsAbsent(row.ID)
		default:
			failed = c.r.loop.ResolveAsExchange(row.ID)
		}
		began = true
		return nil, failed != nil || c.r.loop.Resolved(row.ID)
	})
	return report, errors.Join(failed, err)
}
