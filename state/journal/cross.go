package journal

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Cross is an amount that changed hands between two strategies, without the exchange: both orders
// and both fills, in one entry. An order that is no part of another one has no Intent.
type Cross struct {
	state.Cross
	Cause Cause
}

// Cross journals a cross, and stores both orders as they have ended, and their fills. The rows of
// positions are the caller's.
func (b *Batch) Cross(at market.Time, r *Cross, sold, bought *state.Order) {
	b.Journal(at, r)
	b.Order(sold) // before the fills: their bookings take its tag
	b.Order(bought)
	b.Fill(&r.Sell.Fill)
	b.Fill(&r.Buy.Fill)
}

func (e *recordEncoder) cross(r *Cross) {
	for _, leg := range r.Legs() {
		e.Int(int64(leg.Of))
		e.report(&leg.Report)
		e.fill(&leg.Fill)
	}
	e.cause(&r.Cause)
}

func (d *recordDecoder) cross(version byte) *Cross {
	r := &Cross{}
	for _, leg := range r.Legs() {
		leg.Of = market.OrderID(d.Int())
		d.report(&leg.Report, version)
		d.fill(&leg.Fill)
	}
	d.cause(&r.Cause)
	return r
}

// cross describes a cross.
func (d *describer) cross(r *Cross) {
	m := &r.Sell.Fill
	d.inMarket(m.Market)
	d.qty("amount", m.Amount)
	d.price("price", m.Price)
	for i, leg := range r.Legs() {
		name := [2]string{"seller", "buyer"}[i]
		d.text(name, d.StrategyName(leg.Fill.Strategy))
		d.integer(name+"Order", int64(leg.Fill.Order))
		d.integer(name+"PartOf", int64(leg.Of))
		d.value(name+"Rounding", leg.Fill.Fee)
	}
	d.cause(&r.Cause)
}
