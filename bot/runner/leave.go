package runner

import (
	"fmt"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// stopAsked is the reason of a stop in good order.
const stopAsked = "asked to stop"

// writeStop journals the end of the run and logs what stays open.
func (r *runner) writeStop(failed error) error {
	open := r.account.Open(nil, 0, 0)
	reason := stopAsked
	if failed != nil {
		reason = failed.Error()
	}
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
		for _, m := range r.plan.Catalog.Markets() {
			if held := r.account.Position(strategyID(i+1), m.ID); held.Amount != 0 {
				r.log.Info().Str("strategy", name).Str("market", m.Name).Str("amount", m.FormatQty(held.Amount)).
					Msg("position held")
			}
		}
	}
	defer func() {
		r.watch.look()
		r.watch.stopped(reason, len(open), r.logAway(r.store, r.plan.Catalog)+r.logUnbooked()+r.logUnknown())
	}()
	r.journal.writeDue(r.engine.Now(), true, r.journal.journalRefusal)
	r.listening.minute(r.engine.Now(), true)
	r.journal.batch.Journal(r.engine.Now(), &journal.Stop{Run: r.run, Reason: reason, Open: len(open)})
	r.journal.savedAll = 0 // save everything
	if err := r.journal.Commit(r.engine.Now()); err != nil {
		return fmt.Errorf("write the end of the run down: %w", err)
	}
	return nil
}

func strategyID(n int) market.StrategyID { return market.StrategyID(n) }

// logAway logs, as the last lines of a run, how each position of a bracket is protected while the
// bot is away, as of the last commit. It returns the same for the alert.
func (r *runner) logAway(store *journal.Store, catalog *market.Catalog) (told string) {
	parts, _, err := statedir.Parts(store)
	if err != nil || parts[engine.PartEngine] == nil {
		return ""
	}
	brackets, _, err := engine.SavedExits(parts)
	if err != nil {
		r.log.Error().Err(err).Msg("which positions have an exit cannot be read")
		return "; which positions have an exit cannot be read"
	}
	for i := range brackets {
		b := &brackets[i]
		m, exit, placed := catalog.MarketNamed(b.Market), market.Qty(0), false
		if m == nil {
			continue
		}
		if row, err := store.Order(b.Exit); b.Exit != 0 && err == nil {
			exit, placed = row.AmountRemaining, row.State != state.Sent && row.State != state.Unknown
		}
		level, how := zerolog.InfoLevel, b.Away(m, exit, placed)
		if b.Rests(m) == "" || !placed || exit < b.Amount || b.Unwatched(m) != "" {
			level = zerolog.WarnLevel
		}
		if m.Status == market.Delisted {
			how = "the exchange lists the market no more; bot resolve --gone " + m.Name + " writes it off"
		}
		told += r.positionLeft(level, b.Strategy, m, b.Amount, how)
	}
	return told
}

// logUnbooked logs the purchases with exits that are not in the books yet: the exchange has filled
// them, and its trades have not told of it.
func (r *runner) logUnbooked() (told string) {
	for _, o := range r.account.Pending(nil) {
		if rest := o.FilledAmount - o.BookedAmount(); rest > 0 && o.Side == market.Buy && o.Bracket.Any() {
			told += r.positionLeft(zerolog.WarnLevel, r.nameOf(o.Strategy), r.plan.Catalog.Market(o.Market), rest,
				"bought, and the exchange has not listed the trades: it has no exit until the next start")
		}
	}
	return told
}

// logUnknown logs what no bracket covers of purchases that are newer than the state file.
func (r *runner) logUnknown() (told string) {
	for _, u := range r.loop.UnknownExits() {
		told += r.positionLeft(zerolog.WarnLevel, r.nameOf(u.Strategy), r.plan.Catalog.Market(u.Market), u.Amount,
			"bought after the copy of the state file was made, and which exit it had is not known: it has none")
	}
	return told
}

func (r *runner) positionLeft(level zerolog.Level, strategy string, m *market.Market, amount market.Qty,
	how string) string {
	r.log.WithLevel(level).Str("strategy", strategy).Str("market", m.Name).Str("amount", m.FormatQty(amount)).
		Msg("position left: " + how)
	return fmt.Sprintf("; position left: %s %s %s: %s", strategy, m.FormatQty(amount), m.Name, how)
}
