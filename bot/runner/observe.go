package runner

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Filled logs and reports a fill of an own order: an engine.Observer.
func (r *runner) Filled(o *state.Order, f *market.Fill) {
	r.watch.filled(o, f)
	r.journal.seal.Filled(o, f)
	if r.observer != nil {
		r.observer.Filled(o, f)
	}
	m := r.plan.Catalog.Market(f.Market)
	r.log.Info().Str("strategy", r.nameOf(o.Strategy)).Int64("order", int64(o.ID)).Str("market", m.Name).
		Stringer("side", f.Side).Str("amount", m.FormatQty(f.Amount)).
		Str("price", m.FormatPrice(f.Price)).Str("fee", m.FormatValue(f.Fee)).Bool("taker", f.Taker).
		Stringer("client_order_id", o.ClientOrderID).Msg("fill")
}

// Closed logs and reports an own order that has ended: an engine.Observer.
func (r *runner) Closed(o *state.Order) {
	r.watch.count("orders_ended_total", 1, o.State.String())
	r.journal.seal.Closed(o)
	if r.observer != nil {
		r.observer.Closed(o)
	}
	m := r.plan.Catalog.Market(o.Market)
	line := r.log.Info()
	if o.State == state.Rejected {
		line = r.log.Warn()
	}
	line.Str("strategy", r.nameOf(o.Strategy)).Int64("order", int64(o.ID)).Str("market", m.Name).
		Stringer("side", o.Side).Stringer("state", o.State).Str("filled", m.FormatQty(o.FilledAmount))
	if o.Code != 0 {
		line.Int("code", o.Code)
	}
	if o.RestatementReason != 0 {
		line.Stringer("reason", o.RestatementReason)
	}
	line.Stringer("client_order_id", o.ClientOrderID).Msg("order ended")
}

// Approved keeps the gate's figures for the journal: an engine.Approver.
func (r *runner) Approved(asked state.Terms, c *market.Command, figures []state.Figure) {
	r.journal.approved(asked, c, figures)
	if r.observer != nil {
		r.observer.Approved(asked, c, figures)
	}
}

// Refused journals a refusal of the gate: an engine.Refuser.
func (r *runner) Refused(asked, rounded *market.Command, why *risk.Refusal) {
	if r.loop == nil && why.Reason == risk.ReasonWarmUp {
		return // orders during the warm-up are not journalled
	}
	r.journal.refused(asked, rounded, why)
}

// Unprotected logs and reports a position without an exit: an engine.Guard.
func (r *runner) Unprotected(u *strategy.Unprotected) {
	m := r.plan.Catalog.Market(u.Market)
	line := r.log.Warn().Str("strategy", r.nameOf(u.Strategy)).Int64("bracket", int64(u.Bracket)).Str("market", m.Name).
		Str("amount", m.FormatQty(u.Amount))
	if u.Levels.Stop != 0 {
		line.Str("stop", m.FormatPrice(u.Levels.Stop))
	}
	if u.Levels.Target != 0 {
		line.Str("target", m.FormatPrice(u.Levels.Target))
	}
	line.Stringer("cause", u.Cause).Str("why", u.Why).
		Msg("a position has no exit at the exchange; the bracket stays and tries again")
	r.watch.unprotected(u)
}

// CloseFailed logs a Close that has not sold all: an engine.CloseGuard.
func (r *runner) CloseFailed(f *strategy.CloseFailed) {
	m := r.plan.Catalog.Market(f.Market)
	line := r.log.Warn().Str("strategy", r.nameOf(f.Strategy)).Str("market", m.Name).
		Str("amount", m.FormatQty(f.Amount)).Str("tag", f.Tag)
	if f.Order != 0 {
		line.Int64("order", int64(f.Order))
	}
	if f.Code != 0 {
		line.Int("code", f.Code)
	}
	line.Str("why", f.Why).Msg("close failed: brackets protect what is left at their old levels")
}
