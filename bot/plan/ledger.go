package plan

import (
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// NewLedger returns a weight ledger with the budgets that a config names. now is the clock of the
// exchange, warn hears what the ledger finds.
func NewLedger(e *config.ExchangeSection, now func() market.Time, warn func(rest.Warning)) *rest.Ledger {
	return rest.NewLedger(rest.LedgerConfig{
		Now: now, After: after, Prefix: e.Prefix, PerKey: int(e.PerKey), PerIP: int(e.PerIP), Warn: warn,
	})
}

// after calls f in a goroutine of its own when d has passed, unless stop is called before: the
// ledger has no clock.
func after(d market.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }
