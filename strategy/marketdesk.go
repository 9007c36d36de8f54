package strategy

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// MarketDesk is a strategy's desk for one market: Desk.In makes it. It is a small value that can be
// used wherever its Desk can. Amounts and prices are in the market's units. The gate rounds a price
// to the tick (buys down, sells up) and an amount down to the market's decimals.
type MarketDesk struct {
	desk *Desk
	id   market.ID
}

// ID is the market's.
func (m MarketDesk) ID() market.ID { return m.id }

// Market returns the market's units and its present rules.
func (m MarketDesk) Market() market.Market {
	if !m.reads("Market") {
		return market.Market{}
	}
	return *m.facts()
}

// Position is the strategy's own position.
func (m MarketDesk) Position() market.Position {
	if !m.reads("Position") {
		return market.Position{}
	}
	return *m.desk.engine.Book().Holding(m.desk.id, m.id)
}

// Held is the amount of the strategy's own position, or 0 where it is dust: too small to be sold at
// the latest price.
func (m MarketDesk) Held() market.Qty {
	if !m.reads("Held") {
		return 0
	}
	return m.held()
}

// held is Held without the question whether the desk may be used.
func (m MarketDesk) held() market.Qty {
	book := m.desk.engine.Book()
	amount := book.Holding(m.desk.id, m.id).Amount
	if amount == 0 {
		return 0
	}
	return m.facts().Tradable(amount, book.Last(m.id))
}

// Flat reports whether the strategy has neither a position above dust nor an open order in the
// market, and no MakerFirst or TWAP under way.
func (m MarketDesk) Flat() bool {
	return m.reads("Flat") && m.held() == 0 && m.desk.engine.Idle(m.desk.id, m.id)
}

// Warming reports whether the market is in the strategy's warm-up, where every ask is refused. An
// indicator that is Ready may still be warming.
func (m MarketDesk) Warming() bool {
	return m.reads("Warming") && m.desk.engine.InWarmUp(m.desk.id, m.id)
}

// Cost is the average cost of a unit of the position, fees included, rounded down; 0 without a
// position.
func (m MarketDesk) Cost() market.Price {
	p := m.Position()
	return m.facts().PriceFor(p.Cost, p.Amount)
}

// Cash is the available balance of the market's quote asset.
func (m MarketDesk) Cash() market.Money {
	if !m.reads("Cash") {
		return 0
	}
	available, _ := m.desk.engine.Book().Balance(m.desk.id, m.facts().Quote)
	return available
}

// Equity is the value, in the market's quote asset, of the strategy's allocation: its cash and what
// it holds, at the latest prices. Strategies without an allocation share one equity, as they share
// their cash. It is 0 where the value leaves int64.
func (m MarketDesk) Equity() market.Money {
	if !m.reads("Equity") {
		return 0
	}
	return orZero(m.desk.engine.Book().EquityOf(m.desk.id, m.facts().Quote))
}

// AccountEquity is the value, in the market's quote asset, of all that the account holds.
func (m MarketDesk) AccountEquity() market.Money {
	if !m.reads("AccountEquity") {
		return 0
	}
	return orZero(m.desk.engine.Book().Equity(m.facts().Quote))
}

func orZero(equity market.Money, err error) market.Money {
	if err != nil {
		return 0
	}
	return equity
}

// Last is the latest price seen, 0 before the first.
func (m MarketDesk) Last() market.Price {
	if !m.reads("Last") {
		return 0
	}
	return m.desk.engine.Book().Last(m.id)
}

// OpenOrders returns the strategy's open orders in the market by id, as they are now. The slice is
// the caller's until its next call of an OpenOrders, which fills it anew.
func (m MarketDesk) OpenOrders() []market.Order {
	if !m.reads("OpenOrders") {
		return nil
	}
	return m.desk.copied(m.id)
}

// AmountOf is the base amount of a size at a price, rounded down to the market's QuantityDecimals
// and never rounded before; 0 where it cannot be worked out. It does not include fees.
func (m MarketDesk) AmountOf(size Size, price market.Price) market.Qty {
	if price <= 0 || !m.reads("AmountOf") {
		return 0
	}
	o := market.Order{Side: market.Buy, Type: market.TypeLimit}
	o.Price = price
	if size.unit == unitQuote || size.unit == unitQuoteText {
		units, err := size.units(m.facts())
		if err != nil || units <= 0 {
			return 0
		}
		o.Amount = m.facts().AmountFor(m.facts().MoneyValue(market.Money(units)), price)
	} else if err := m.measure(&o, size); err != nil {
		return 0
	}
	return m.facts().RoundAmount(o.Amount)
}

// Affords reports whether the cash suffices for a buy at market over a size, its fee included.
func (m MarketDesk) Affords(size Size) bool {
	if !m.reads("Affords") {
		return false
	}
	o := market.Order{Side: market.Buy, Type: market.TypeMarket}
	if err := m.measure(&o, size); err != nil {
		return false
	}
	if o.AmountQuote != 0 {
		return o.AmountQuote <= m.Cash()
	}
	return o.Amount <= m.affordable(&o, m.Cash())
}

// Buy asks for a buy order. Without options it is a market order; At makes it a limit order,
// StopLoss or TakeProfit a trigger order, which waits for a price.
//
// StopAt and TargetAt attach exits (a bracket): a stop that sells below and a target that sells
// above. They come alive with the entry's first fill. Spot exchanges let only one exit rest,
// because a sell holds its base: the stop rests (Keep changes that), the engine watches the other
// and swaps after the exchange confirmed the cancel. When either exit fills, the other is gone.
// When one comes to nothing while the entry still rests, the entry is cancelled first. Desk.Cancel
// with the entry's id ends the bracket: its exit is cancelled and not replaced; while nothing has
// been bought it cancels the entry, and a fill on the way is still protected.
//
// Trail, TrailBy, TrailAfter and BreakEvenAfter let the stop follow the price; ExitAfter and
// ExitAfterTime close what was bought after a time, EnoughAfter at a gain that shrinks with it;
// PartAt sells a part of it at a price. MakerFirst and TWAP spread the buy over several orders.
func (m MarketDesk) Buy(size Size, with ...Option) (market.OrderID, error) {
	return m.Place(market.Buy, size, with...)
}

// Sell asks for a sell at market, or another with options, as Buy does. It has no exits.
func (m MarketDesk) Sell(size Size, with ...Option) (market.OrderID, error) {
	return m.Place(market.Sell, size, with...)
}

// Place is Buy or Sell.
func (m MarketDesk) Place(side market.Side, size Size, with ...Option) (market.OrderID, error) {
	d := m.desk
	o := d.draft(m.id, side)
	if len(with) > 0 {
		d.options(with)
		d.command.Changed = 0
	}
	if o.TriggerAmount != 0 && o.TriggerReference == 0 {
		o.TriggerReference = market.LastTrade
	}
	if o.Price != 0 {
		switch o.Type {
		case market.TypeMarket:
			o.Type = market.TypeLimit
		case market.TypeStopLoss:
			o.Type = market.TypeStopLossLimit
		case market.TypeTakeProfit:
			o.Type = market.TypeTakeProfitLimit
		}
	}
	if !d.engine.Admit(d.id, "place") {
		return 0, ErrElsewhere
	}
	if !d.has(m.id) {
		return d.ask() // the gate refuses the market
	}
	if d.follow != nil {
		d.trail(m.stands(o))
	}
	if err := m.measure(o, size); err != nil && d.fault == nil {
		d.fault = err
	}
	return d.ask()
}

// Protect puts exits (StopAt, TargetAt, Keep, Trail and its like) around the part of the position
// that no other bracket covers, as Buy does for an entry that fills. Decided on a candle, they are
// alive from the next open on. The id names the bracket, for Update and for Cancel. With nothing to
// protect it returns ErrNoPosition.
func (m MarketDesk) Protect(with ...Option) (market.OrderID, error) {
	d := m.desk
	o := d.draft(m.id, market.Sell)
	d.options(with)
	if d.tactic != nil && d.fault == nil {
		d.fault = fmt.Errorf("%w: Protect buys nothing: MakerFirst and TWAP go with Buy and Sell", ErrMeaningless)
	}
	switch {
	case !d.engine.Admit(d.id, "Protect"):
		return 0, ErrElsewhere
	case d.fault == nil && !d.has(m.id):
		return 0, d.unknown(m.id, market.Sell)
	}
	if d.trail(m.Last()); d.old != 0 && d.fault == nil {
		d.fault = errNotReplacing()
	}
	if d.old = 0; d.fault != nil {
		return 0, d.refuse(d.fault)
	}
	return d.engine.Protect(d.id, m.id, o.Bracket, d.follow)
}

// Target asks for the market order that brings the strategy's position to a size. It counts the
// open market orders over base amounts, but not those of Money, whose amount is not known before
// they fill. It returns 0 and no error when nothing is missing.
func (m MarketDesk) Target(size Size, with ...Option) (market.OrderID, error) {
	d := m.desk
	switch {
	case !d.engine.Admit(d.id, "Target"):
		return 0, ErrElsewhere
	case !d.has(m.id):
		return 0, d.unknown(m.id, market.Buy)
	}
	wanted := market.Order{Side: market.Buy, Type: market.TypeLimit}
	wanted.Price = m.Last()
	old := replaced(with)
	d.old = old
	err := m.measure(&wanted, size)
	if d.old = 0; err == nil && wanted.Amount < 0 {
		err = fmt.Errorf("%w: Target(%d): a position is zero or more, because the exchange is spot", ErrMeaningless,
			wanted.Amount)
	}
	if err != nil {
		return 0, d.refuseIn(m.id, market.Buy, err)
	}
	missing := wanted.Amount - d.engine.Book().Holding(d.id, m.id).Amount
	for _, o := range d.own(m.id) {
		if o.Type != market.TypeMarket || o.ID == old {
			continue
		}
		if o.Side == market.Buy {
			missing -= o.AmountRemaining
		} else {
			missing += o.AmountRemaining
		}
	}
	switch {
	case missing > 0:
		return m.Buy(Amount(missing), with...)
	case missing < 0:
		return m.Sell(Amount(-missing), with...)
	}
	return 0, nil
}

// CancelAll asks for all own open orders in the market to be cancelled.
func (m MarketDesk) CancelAll() error {
	switch {
	case !m.desk.engine.Admit(m.desk.id, "CancelAll"):
		return ErrElsewhere
	case !m.desk.has(m.id):
		return m.desk.unknown(m.id, market.Sell)
	}
	return m.desk.cancelAll(m.id)
}

// reads reports whether the market may be read now. It panics on a market that the run does not
// have.
func (m MarketDesk) reads(call string) bool { return m.desk.reads(call, m.id) }
