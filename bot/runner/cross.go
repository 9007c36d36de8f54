package runner

import (
	"github.com/tidemark-trading/tidemark/bot/replay"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Crossed logs and journals what has changed hands between two strategies: an engine.CrossWatcher.
func (r *runner) Crossed(c *state.Cross) {
	r.journal.crosses = append(r.journal.crosses, *c)
	if watcher, is := r.observer.(engine.CrossWatcher); is {
		watcher.Crossed(c)
	}
	f := &c.Sell.Fill
	m := r.plan.Catalog.Market(f.Market)
	r.log.Info().Str("market", m.Name).Str("amount", m.FormatQty(f.Amount)).Str("price", m.FormatPrice(f.Price)).
		Str("seller", r.nameOf(f.Strategy)).Int64("sell_order", int64(f.Order)).
		Str("buyer", r.nameOf(c.Buy.Fill.Strategy)).Int64("buy_order", int64(c.Buy.Fill.Order)).
		Msg("orders of two strategies crossed without the exchange")
}

// writeCrosses journals the crosses of a step, behind its event and before the commands that are
// left of it: one commit has them all.
func (j *botJournal) writeCrosses() {
	for i := range j.crosses {
		c := &j.crosses[i]
		j.batch.Cross(j.at, &journal.Cross{Cross: *c, Cause: j.causeOf(c.Sell.Fill.Market)},
			j.account.Ended(c.Sell.Fill.Order), j.account.Ended(c.Buy.Fill.Order))
		if j.shadow != nil {
			j.shadow.commands = append(j.shadow.commands,
				replay.CrossOf(j.entries+uint64(j.batch.Entries()), c, j.account.Catalog())...)
		}
		for _, leg := range c.Legs() {
			position := j.account.Position(leg.Fill.Strategy, leg.Fill.Market)
			j.batch.Position(leg.Fill.Strategy, leg.Fill.Market, &position)
		}
		j.positionsMoved, j.commands = true, true
	}
	j.crosses = j.crosses[:0]
}
