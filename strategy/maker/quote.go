package maker

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// quote is one side of a pair: its order, and the price last asked for.
type quote struct {
	side    market.Side
	tag     string
	order   market.OrderID
	price   market.Price // last asked for
	refused bool         // at price, by the gate or the exchange
	moving  bool         // a move was asked for; it is on its way while the order's price is another
	leaving bool         // a cancel is on its way
}

// present is a quote's order as it is now.
type present struct {
	strategy.Resting
	open bool
}

func (q *quote) now(d *strategy.Desk) (o present) {
	o.Resting, o.open = d.Resting(q.order)
	return o
}

// rest is the open amount at the exchange.
func (o *present) rest() market.Qty { return o.AmountRemaining } // zero without an order

// want is the wanted quote: at most this amount, at this price unless it rests less than least away
// from it.
type want struct {
	amount market.Qty
	price  market.Price
	least  market.Price
}

// far reports whether the wanted price is far enough from the one last asked for.
func (q *quote) far(w want) bool { return max(q.price-w.price, w.price-q.price) >= w.least }

// keep brings the quote, whose order is o, to the wanted one with at most one ask.
func (q *quote) keep(d *strategy.Desk, m *market.Market, o *present, w want) {
	far := q.far(w)
	switch {
	case !o.open:
		q.moving, q.leaving = false, false
		w.amount = m.Tradable(w.amount, w.price)
		if w.amount > 0 && (far || !q.refused) {
			q.place(d, m.ID, w)
		}
	case o.Status == 0 || q.leaving || q.moving && o.Price != q.price:
	case w.amount <= 0:
		q.cancel(d)
	case far:
		q.move(d, m, &o.Resting, w)
	}
}

func (q *quote) place(d *strategy.Desk, m market.ID, w want) {
	id, err := d.In(m).Place(q.side, strategy.Amount(w.amount), strategy.At(w.price), strategy.PostOnly(),
		strategy.Tag(q.tag))
	q.order, q.price, q.refused = id, w.price, err != nil
}

// move changes the price. Where a part of the quote has filled, or its rest is too large, it sets
// the wanted amount, too.
func (q *quote) move(d *strategy.Desk, m *market.Market, o *strategy.Resting, w want) {
	var err error
	filled := o.Amount - o.AmountRemaining
	if filled > 0 || w.amount < o.AmountRemaining {
		total := filled + market.FloorDigits(w.amount, m.AmountDigits, m.QuantityDecimals)
		err = d.Update(o.ID, strategy.At(w.price), strategy.Resize(strategy.Amount(total)))
	} else {
		err = d.Update(o.ID, strategy.At(w.price))
	}
	if err != nil {
		q.cancel(d)
		return
	}
	q.price, q.moving = w.price, true
}

// settled ends the wait for a move, at the order's present price: a move that was on its way when
// the bot was killed may not have happened.
func (q *quote) settled(o *market.Order) {
	if q.order == o.ID {
		q.price, q.moving = o.Price, false
	}
}

// rejected takes a refused command back.
func (q *quote) rejected(o *market.Order, command market.CommandKind) {
	if q.order != o.ID {
		return
	}
	switch command {
	case market.CommandPlace:
		q.refused = true
	case market.CommandUpdate:
		q.settled(o)
	case market.CommandCancel:
		q.leaving = false
	}
}

func (q *quote) cancel(d *strategy.Desk) {
	q.leaving = d.Cancel(q.order) == nil
}
