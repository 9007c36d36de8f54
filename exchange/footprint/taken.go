package footprint

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// lacking is liquidity that the account took at a price, as far as it would still be there without
// the account. It ends where others put the same amount there anew, where it would have met the
// other side, and where trades went on to worse prices.
type lacking struct {
	price  market.Price
	amount market.Qty
	shown  market.Qty // by the latest book at that price
	seen   bool       // a book has shown the price since
}

// take notes what the account took.
func (in *recorded) take(taker market.Side, price market.Price, amount market.Qty) {
	list := in.taken[taker-1]
	at := 0
	for at < len(list) && better(taker, list[at].price, price) {
		at++
	}
	if at == len(list) || list[at].price != price {
		list = slices.Insert(list, at, lacking{price: price})
	}
	l := &list[at]
	l.amount += amount
	l.shown = max(0, l.shown-amount)
	in.taken[taker-1] = list
}

// refill ends what others have put there anew, by the latest book.
func (in *recorded) refill(taker market.Side) {
	for i := range in.taken[taker-1] {
		l, shown := &in.taken[taker-1][i], market.Qty(0)
		for _, level := range in.levels[taker-1] {
			if level.Price == l.price {
				shown = level.Amount
			}
		}
		if l.seen && shown > l.shown {
			l.amount -= shown - l.shown
		}
		l.shown, l.seen = shown, true
	}
	in.dropEmpty(taker)
}

// meet ends what would have met the best price of the other side.
func (in *recorded) meet(taker market.Side, other market.Price) {
	if other == 0 {
		return
	}
	in.taken[taker-1] = slices.DeleteFunc(in.taken[taker-1], func(l lacking) bool {
		return l.price == other || better(taker, l.price, other)
	})
}

// spend ends what a trade at a worse price would have taken first.
func (in *recorded) spend(t *market.Trade) {
	for _, taker := range [...]market.Side{market.Buy, market.Sell} {
		rest := t.Amount
		for i := range in.taken[taker-1] {
			l := &in.taken[taker-1][i]
			if !better(taker, l.price, t.Price) || rest == 0 {
				break
			}
			spent := min(rest, l.amount)
			l.amount, rest = l.amount-spent, rest-spent
		}
		in.dropEmpty(taker)
	}
}

func (in *recorded) dropEmpty(taker market.Side) {
	in.taken[taker-1] = slices.DeleteFunc(in.taken[taker-1], func(l lacking) bool { return l.amount <= 0 })
}

// putBack adds what is lacking to the levels of the latest book, as far as it reaches, and reports
// whether there was any.
func (in *recorded) putBack(taker market.Side) (changed bool) {
	for _, l := range in.taken[taker-1] {
		levels := in.levels[taker-1]
		at := 0
		for at < len(levels) && better(taker, levels[at].Price, l.price) {
			at++
		}
		switch {
		case at < len(levels) && levels[at].Price == l.price:
			levels[at].Amount += l.amount
		case at < len(levels) || len(levels) == 0:
			in.levels[taker-1] = slices.Insert(levels, at, market.Level{Price: l.price, Amount: l.amount})
		default:
			continue // beyond the last recorded level
		}
		changed = true
	}
	return changed
}
