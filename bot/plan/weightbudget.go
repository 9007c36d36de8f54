package plan

import (
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// NewWeightBudget returns a weight budget as a config says. now is the exchange's clock; the
// budget calls warn with its warnings.
func NewWeightBudget(e *config.ExchangeSection, now func() market.Time, warn func(rest.Warning)) *rest.WeightBudget {
	return rest.NewWeightBudget(rest.LedgerConfig{
		Now: now, After: after, Prefix: e.Prefix, PerKey: int(e.PerKey), PerIP: int(e.PerIP), Warn: warn,
	})
}

// after calls f in a new goroutine after d, unless stop is called before. The budget has no clock.
func after(d market.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }
