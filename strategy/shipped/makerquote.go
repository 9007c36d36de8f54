package shipped

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// quote is one side of a pair: its order, and the price last asked for.
type quote struct {
	Order   market.OrderID `json:"order"`
	Price   market.Price   `json:"price"`   // last asked for
	Refused bool           `json:"refused"` // at Price, by the gate or the exchange
	Moving  bool           `json:"moving"`  // a move was asked for; it is on its way while the order's price is another
	Leaving bool           `json:"leaving"` // a cancel is on its way

	side market.Side
	tag  string
}

// present is a quote's order as it is now.
type present struct {
	strategy.Resting
	open bool
}

func (q *quote) now(d *strategy.Desk) (o present) {
	o.Resting, o.open = d.Resting(q.Order)
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
func (q *quote) far(w want) bool { return max(q.Price-w.price, w.price-q.Price) >= w.least }

// keep brings the quote, whose order is o, to the wanted one with at most one ask.
func (q *quote) keep(d *strategy.Desk, m *market.Market, o *present, w want) {
	far := q.far(w)
	switch {
	case !o.open:
		q.Moving, q.Leaving = false, false
		w.amount = m.Tradable(w.amount, w.price)
		if w.amount > 0 && (far || !q.Refused) {
			q.place(d, m.ID, w)
		}
	case o.Status == 0 || q.Leaving || q.Moving && o.Price != q.Price:
	case w.amount <= 0:
		q.cancel(d)
	case far:
		q.move(d, m, &o.Resting, w)
	}
}

func (q *quote) place(d *strategy.Desk, m market.ID, w want) {
	id, err := d.In(m).Place(q.side, strategy.Amount(w.amount), strategy.At(w.price), strategy.PostOnly(),
		strategy.Tag(q.tag))
	q.Order, q.Price, q.Refused = id, w.price, err != nil
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
	q.Price, q.Moving = w.price, true
}

// settled ends the wait for a move, at the order's present price: a move that was on its way when
// the bot was killed may not have happened.
func (q *quote) settled(o *market.Order) {
	if q.Order == o.ID {
		q.Price, q.Moving = o.Price, false
	}
}

// rejected takes a refused command back.
func (q *quote) rejected(o *market.Order, command market.CommandKind) {
	if q.Order != o.ID {
		return
	}
	switch command {
	case market.CommandPlace:
		q.Refused = true
	case market.CommandUpdate:
		q.settled(o)
	case market.CommandCancel:
		q.Leaving = false
	}
}

func (q *quote) cancel(d *strategy.Desk) {
	q.Leaving = d.Cancel(q.Order) == nil
}
