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

// Close leaves the position at the market's price now, with or without a bracket over it. Tag names
// the reason; without it the sale is tagged "close". Nothing is sold before the exchange has
// confirmed what is cancelled:
//
//   - every open order of the strategy in the market is cancelled: what may still buy, the resting
//     exit, other sells. What they buy and sell before the cancels arrive counts;
//   - then what is left is sold with a market order. An amount below the market's minimum is dust,
//     and counts as nothing. In a backtest the sale meets the same open as the cancels, after them.
//
// Until the sale has ended, its base has no exit and counts as unprotected (CauseClose). If the
// exchange refuses, or the sale expires in part, brackets protect the rest at their old levels at
// once, and a CloseHandler is called. Orders and brackets that come after the Close are not part of
// it.
//
// A Close in a market where one is under way does nothing, as does one without a position and open
// orders: both return nil. While a bracket sells by itself (ExitAfter, PartAt), a Close follows
// that sale. It is refused during the warm-up and after OnStop, where the exchange
// would refuse a market order now, and where orders_per_minute is used up. No other limit stops it,
// and a halt does not end it.
func (m MarketDesk) Close(with ...Option) error { return m.close(0, with) }

// ClosePart is Close for a part of the position; the whole position or more is a Close. The part is
// taken from base without a bracket, then from the newest brackets, whose exits are reduced to the
// rest. Of other orders only the entries of brackets are cancelled. A part below the market's
// minimum is refused, and so is a part that other own sells hold (ErrHeld). A Money is worth its
// amount at the latest price.
func (m MarketDesk) ClosePart(size Size, with ...Option) error {
	if !m.desk.engine.Admit(m.desk.id, "ClosePart") {
		return ErrElsewhere
	}
	if !m.desk.has(m.id) {
		return m.desk.unknown(m.id, market.Sell)
	}
	wanted := market.Order{Side: market.Buy, Type: market.TypeLimit}
	wanted.Price = m.Last()
	if err := m.measure(&wanted, size); err != nil {
		return m.desk.refuseIn(m.id, market.Sell, err)
	}
	if size.unit == unitQuote || size.unit == unitQuoteText {
		wanted.Amount = m.AmountOf(size, wanted.Price)
	}
	switch {
	case m.Position().Amount <= 0:
		return nil
	case wanted.Amount <= 0:
		return m.desk.refuseIn(m.id, market.Sell,
			fmt.Errorf("%w: ClosePart(%s): it is no amount of base; Close closes all", ErrMeaningless, size))
	}
	return m.close(wanted.Amount, with)
}

// close closes an amount, 0 for all.
func (m MarketDesk) close(amount market.Qty, with []Option) error {
	d := m.desk
	o := d.draft(m.id, market.Sell)
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
		return d.refuse(d.fault)
	case !d.has(m.id):
		return d.unknown(m.id, market.Sell)
	}
	return d.engine.Close(d.id, m.id, amount, o.Tag)
}
