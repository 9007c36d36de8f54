package strategy

import (
	"errors"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// CloseHandler is called when a Close has come to an end and has not sold all that it was to sell:
// the exchange refused a cancel or the sale, or the sale found too few buyers. What is left is
// protected at the levels of its brackets again; the strategy may call Close again.
type CloseHandler interface {
	OnCloseFailed(d *Desk, f CloseFailed)
}

// ErrHeld is the answer to a Close of base that own open sells hold, or its failure.
var ErrHeld = errors.New("other own sells hold a part of the position")

// CloseFailed is a Close that has not sold all.
type CloseFailed struct {
	Strategy market.StrategyID
	Market   market.ID
	Order    market.OrderID // the sale; 0: it was not sent
	Amount   market.Qty     // that was to be sold and is still held
	Tag      string         // of the Close
	Code     int            // the exchange's code, where it refused or would
	Why      string         // in words
}

// Close leaves the position in m, or an amount of it, at the market's price, with or without a
// bracket over it. 0, or the whole position or more, closes all of it. With Tag it takes the name
// of the reason, else the sale is tagged "close". Nothing is sold before the exchange has confirmed
// what is cancelled:
//
//   - what the entries of brackets in m may still buy is cancelled; a Close of all cancels every
//     other open order in m too, also those that sell;
//   - the resting exit of a bracket is cancelled, or, where a part stays, reduced to it. What an
//     exit has sold meanwhile is not sold again;
//   - the rest is sold with a market order. An amount below the market's minimum is dust: it counts
//     as nothing. In a backtest the sale meets the same open as the cancels, after them.
//
// A part is taken first from base without a bracket, then from the newest brackets. Until the sale
// has ended, its base has no exit and counts as unprotected (CauseClose). If the exchange refuses,
// or the sale expires in part, the rest is protected at the old levels at once, and a CloseHandler
// is called.
//
// A Close in a market where one is under way does nothing, as does one without a position and open
// orders: both return nil. It is refused during the warm-up and after OnStop, where the exchange
// would refuse a market order now, where orders_per_minute is used up, and where an amount is below
// the market's minimum or held by other own orders. No other limit stops it, nor does a halt.
func (d *Desk) Close(m market.ID, amount market.Qty, with ...Option) error {
	o := d.draft(m, market.Sell)
	d.options(with)
	for i := range with {
		if with[i].field != fieldTag && d.fault == nil {
			d.fault = fmt.Errorf("%w: Close takes no option but Tag", ErrMeaningless)
		}
	}
	switch {
	case !d.engine.Admit(d.id, "Close"):
		return ErrElsewhere
	case d.fault != nil:
		return d.fault
	case !d.has(m):
		return d.unknown(m)
	case amount < 0:
		return fmt.Errorf("%w: Close(%d): an amount is positive, or 0 for all of the position", ErrMeaningless, amount)
	}
	return d.engine.Close(d.id, m, amount, o.Tag)
}
