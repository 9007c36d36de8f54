package runner

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// writeStop journals the end of the run and logs what stays open.
func (r *runner) writeStop(failed error) error {
	open := r.account.Open(nil, 0, 0)
	reason := "asked to stop"
	if failed != nil {
		reason = failed.Error()
	}
	r.watch.stopped(reason, len(open))
	r.log.Info().Str("mode", r.plan.Config.Bot.Mode).Int("open_orders", len(open)).Str("reason", reason).
		Msg("trading has ended")
	if r.paper != nil {
		r.log.Info().Msg("it was paper: no order has left this process; " +
			"fills are simulated at the exchange's bid and ask, whatever the amount")
	}
	for _, o := range open {
		m := r.plan.Catalog.Market(o.Market)
		r.log.Info().Stringer("client_order_id", o.ClientOrderID).Str("market", m.Name).Stringer("side", o.Side).
			Str("amount", m.FormatQty(o.AmountRemaining)).
			Str("price", m.FormatPrice(o.Price)).Msg("order left open")
	}
	for i, name := range r.plan.Names() {
		r.logPositions(i+1, name)
	}
	r.journal.writeDue(r.engine.Now(), true, r.journal.journalRefusal)
	r.journal.batch.Journal(r.engine.Now(), &journal.Stop{Run: r.run, Reason: reason, Open: len(open)})
	if err := r.saveTwin(); err != nil {
		r.log.Warn().Err(err).Msg("the twin begins anew at the next start")
	}
	r.journal.savedAll = 0 // save everything
	if err := r.journal.Commit(r.engine.Now()); err != nil {
		return fmt.Errorf("write the end of the run down: %w", err)
	}
	return nil
}

func (r *runner) logPositions(id int, name string) {
	for _, m := range r.plan.Catalog.Markets() {
		if held := r.account.Position(strategyID(id), m.ID); held.Amount != 0 {
			r.log.Info().Str("strategy", name).Str("market", m.Name).Str("amount", m.FormatQty(held.Amount)).
				Msg("position held")
		}
	}
}

func strategyID(n int) market.StrategyID { return market.StrategyID(n) }
