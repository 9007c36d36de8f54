package strategy

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Replacing makes a new order take the place of an open one of the same market and side, and
// cancels that one: the new order is over its funds. It is an option of Buy, Sell, Place and
// Target.
//
// The new order waits until the old one has ended and all of its fills are known. Until then it has
// the old one's slot (max_open_orders), and what it needs beyond the old one's funds is held. It is
// among the open orders, with a Status of zero. Then the gate checks it again, and it leaves,
// before anything else can spend what came free. In a backtest it arrives where the cancel did,
// after it; with latency, one latency after the cancel's confirmation.
//
// If the old order filled meanwhile, and the rest of its funds does not cover the new one whole,
// the new one is dropped. It is dropped as well where the exchange refuses the cancel, by a halt, a
// stop, a restart, a Close of the market, and by Cancel of its id. An OrderHandler hears of that as
// of a rejected or a cancelled order, and the log says why: "replace: order 7 filled 0.004
// meanwhile".
//
// A refused ask leaves the old order as it is. The exits of an entry that has bought something
// stay. Replacing an order that waits itself puts the new one in its place. To change only price or
// amount, use Update: it is one request, with no moment without an order.
func Replacing(old market.OrderID) Option { return Option{field: fieldReplacing, number: int64(old)} }

// errNotReplacing is the answer to Replacing where it does not fit.
func errNotReplacing() error {
	return fmt.Errorf("%w: Replacing is an option of Buy, Sell, Place and Target", ErrMeaningless)
}

// replaced is the order that options replace; 0: none.
func replaced(with []Option) (old market.OrderID) {
	for i := range with {
		if with[i].field == fieldReplacing {
			old = market.OrderID(with[i].number)
		}
	}
	return old
}

// freed is what the order that the ask replaces holds: the ask may spend it.
func (d *Desk) freed() market.Money {
	if d.old == 0 {
		return 0
	}
	if o := d.engine.Book().Order(d.old); o != nil && o.Strategy == d.id {
		return o.OnHold
	}
	return 0
}
