package plan

import (
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// NewLedger returns a weight ledger with the budgets of a config. now is the exchange's clock; the
// ledger calls warn with its warnings.
func NewLedger(e *config.ExchangeSection, now func() market.Time, warn func(rest.Warning)) *rest.WeightBudget {
	return rest.NewLedger(rest.LedgerConfig{
		Now: now, After: after, Prefix: e.Prefix, PerKey: int(e.PerKey), PerIP: int(e.PerIP), Warn: warn,
	})
}

// after calls f in a new goroutine after d, unless stop is called before. The ledger has no clock.
func after(d market.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }
