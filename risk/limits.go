package risk

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Limits are the rules for one strategy. A zero is no limit. Money is in units of the account's
// currency.
type Limits struct {
	OperatorID    int64
	CodGroupID    uint16 // 1…1000, for every order but market orders and exits of brackets; 0: none
	MaxOpenOrders int
	MaxOrderValue market.Money
	MaxPosition   market.Money // value of position and open buys, in each market
	MaxPositions  int          `json:",omitzero"` // markets with a position or an open buy
	// PriceCollar is how far a limit may be set beyond the best price on the other side, the latest
	// price, or its own trigger.
	PriceCollar     market.Rate
	OrdersPerMinute int // places and updates
	MaxInFlight     int // orders with a command that the exchange has not answered
	CoolDownLosses  int // losing exits in a row that lead to …
	CoolDown        market.Duration
	MaxDataAge      market.Duration // refuse to open on prices older than this
	ReduceOnly      bool
}

// AccountLimits are the rules for the whole account.
type AccountLimits struct {
	Currency    market.AssetID
	MaxExposure market.Money // value of all positions and open buys
	// MaxAssetExposure is MaxExposure for one base asset, by its symbol; EveryAsset is for those
	// that are not listed.
	MaxAssetExposure map[string]market.Money `json:",omitzero"`
	// MaxDailyLoss counts from the last equity of the UTC day before; when it is reached, opening
	// orders are refused until the next day.
	MaxDailyLoss   market.Money
	MaxDrawdown    market.Rate // from the high-water mark; when it is reached, opening orders are refused until Resume
	AllowSelfCross bool        // let an order match an own resting one
	// VolatilityTarget is what the expected volatility of the account may be, a year, as a part of
	// its equity: buys beyond it are made smaller. It is estimated from returns of
	// VolatilityInterval, which has a fixed length.
	VolatilityTarget   market.Rate     `json:",omitzero"`
	VolatilityInterval market.Interval `json:",omitzero"`
	// RefuseOpposite refuses an order while another strategy has an opposite one in the market.
	RefuseOpposite bool `json:",omitzero"`
}

// EveryAsset stands in AccountLimits.MaxAssetExposure for the assets that are not listed.
const EveryAsset = "*"

// checkLimits applies the rules that depend on size and price: added is the base that the order
// adds to the open orders, more what it adds to the holds.
func (g *Gate) checkLimits(a *state.Account, s *slot, m *market.Market, o *market.Order, added market.Qty,
	more market.Money) error {
	l := &s.limits
	if l.MaxOpenOrders > 0 && a.Own(o.ID) == nil && a.SlotsBy(o.Strategy) >= l.MaxOpenOrders {
		return g.objection(s, ReasonMaxOpenOrders, int64(a.SlotsBy(o.Strategy)+1), int64(l.MaxOpenOrders))
	}
	if l.PriceCollar > 0 && o.Type.HasPrice() {
		if r := g.checkCollar(a, s, o); r != nil {
			return r
		}
	}
	if !g.account.AllowSelfCross && a.OpenIn(o.Market) > 0 { // else no own order rests there
		if price, own := g.crossesOwn(a, o); own != 0 {
			return g.objection(s, ReasonSelfCross, int64(price), int64(own))
		}
	}
	grows := added > 0 || more > 0
	if g.account.RefuseOpposite && grows {
		if r := g.checkOpposite(a, s, o); r != nil {
			return r
		}
	}
	if l.MaxPositions > 0 && grows && o.Side == market.Buy && !g.occupied(a, o.Strategy, m) {
		if count := g.positions(a, o.Strategy); count >= l.MaxPositions {
			return g.objection(s, ReasonMaxPositions, int64(count+1), int64(l.MaxPositions))
		}
	}
	if grows && (l.MaxOrderValue > 0 || (l.MaxPosition > 0 && o.Side == market.Buy)) {
		if r := g.checkValue(a, s, m, o, added); r != nil {
			return r
		}
	}
	if g.exposed && o.Side == market.Buy && more > 0 {
		return g.checkExposure(a, s, m, more)
	}
	return nil
}

// checkExposure checks the exposure of the account, and of the order's base asset, with what an
// order adds to the holds.
func (g *Gate) checkExposure(a *state.Account, s *slot, m *market.Market, more market.Money) error {
	if limit := g.account.MaxExposure; limit > 0 {
		exposure, err := a.Exposure(g.account.Currency)
		if err != nil || exposure+more > limit {
			return g.objection(s, ReasonMaxExposure, int64(exposure+more), int64(limit))
		}
	}
	if g.assetLimits != nil {
		return g.checkAsset(a, s, m, more)
	}
	return nil
}

// checkAsset checks the exposure of the order's base asset.
//
//go:noinline
func (g *Gate) checkAsset(a *state.Account, s *slot, m *market.Market, more market.Money) error {
	if limit := g.assetLimit(m.Base); limit > 0 {
		exposure, err := a.AssetExposure(m.Base, g.account.Currency)
		if err != nil || exposure+more > limit {
			return g.objection(s, ReasonMaxAssetExposure, int64(exposure+more), int64(limit))
		}
	}
	return nil
}

// checkOpposite refuses an order while another strategy has an opposite one in the market.
//
//go:noinline
func (g *Gate) checkOpposite(a *state.Account, s *slot, o *market.Order) error {
	if other := a.Opponent(o.Strategy, o.Market, o.Side.Opposite()); other != nil {
		return g.refuseOpposite(s, other)
	}
	return nil
}

// checkCollar checks the price of an order that has one.
func (g *Gate) checkCollar(a *state.Account, s *slot, o *market.Order) error {
	touch := a.Touch(o.Market, o.Side)
	if o.Type.HasTrigger() && !o.Triggered {
		touch = o.TriggerAmount // the market's price when the order becomes active
	} else if a.Unreliable(o.Market) {
		return g.refuseUnreliable(s, ReasonPriceCollar, int64(o.Price), int64(touch))
	}
	if edge, outside := collar(o, touch, s.limits.PriceCollar); outside {
		return g.objection(s, ReasonPriceCollar, int64(o.Price), int64(edge))
	}
	return nil
}

// checkValue checks the values of the order and of the position that it could lead to.
func (g *Gate) checkValue(a *state.Account, s *slot, m *market.Market, o *market.Order, added market.Qty) error {
	price := priceOf(a, o)
	value, err := valueOf(m, o, price)
	if limit := s.limits.MaxOrderValue; limit > 0 && (err != nil || value > limit) {
		return g.objection(s, ReasonMaxOrderValue, int64(value), int64(limit))
	}
	if limit := s.limits.MaxPosition; limit > 0 && o.Side == market.Buy {
		total, err := g.positionValue(a, m, o, added, max(price, a.Last(m.ID)))
		if err != nil || total > limit {
			return g.objection(s, ReasonMaxPosition, int64(total), int64(limit))
		}
	}
	return nil
}

// positions is the number of markets in which a strategy has a position or an open buy.
func (g *Gate) positions(a *state.Account, id market.StrategyID) (count int) {
	for _, m := range g.catalog.Markets() {
		if g.occupied(a, id, m) {
			count++
		}
	}
	return count
}

// occupied reports whether a strategy has an open buy in a market, or holds more than dust.
func (g *Gate) occupied(a *state.Account, id market.StrategyID, m *market.Market) bool {
	base, byQuote, err := a.OpenBuys(id, m.ID)
	held, price := a.Holding(id, m.ID).Amount, a.Last(m.ID)
	return err != nil || base > 0 || byQuote > 0 || held > 0 && (price == 0 || m.Tradable(held, price) > 0)
}

// priceOf is the price that values an order: its limit, its trigger, or else the latest price.
func priceOf(a *state.Account, o *market.Order) market.Price {
	switch {
	case o.Type.HasPrice():
		return o.Price
	case o.Type.HasTrigger():
		return o.TriggerAmount
	}
	return a.Last(o.Market)
}

// valueOf is the rest of an order in quote money.
func valueOf(m *market.Market, o *market.Order, price market.Price) (market.Money, error) {
	if o.ByQuote() {
		return o.AmountQuoteRemaining, nil
	}
	return ceilNotional(m, price, o.AmountRemaining)
}

// positionValue is the possible value of the strategy's position at a price: what it holds, what
// its open buys may add, and what the order adds to them.
func (g *Gate) positionValue(a *state.Account, m *market.Market, o *market.Order, added market.Qty,
	price market.Price) (market.Money, error) {
	held, err := g.openBuys(a, o.Strategy, m.ID)
	for _, more := range [...]market.Qty{a.Position(o.Strategy, m.ID).Amount, added} {
		if err == nil {
			held, err = market.Add(held, more)
		}
	}
	if err != nil {
		return 0, err
	}
	total, err := ceilNotional(m, price, held)
	if err != nil || !o.ByQuote() {
		return total, err
	}
	more := o.AmountQuoteRemaining
	if old := a.Own(o.ID); old != nil {
		more -= old.AmountQuoteRemaining // among the open buys already
	}
	return market.Add(total, more)
}

// ceilNotional is price times amount in the market's quote, rounded up.
func ceilNotional(m *market.Market, price market.Price, amount market.Qty) (market.Money, error) {
	value, err := m.Value(price, amount)
	if err != nil {
		return 0, err
	}
	return value.CeilMoney(m.MoneyDrop())
}

// openBuys is the base that a strategy's open buys may still add.
func (g *Gate) openBuys(a *state.Account, s market.StrategyID, m market.ID) (sum market.Qty, err error) {
	sum, byQuote, err := a.OpenBuys(s, m)
	if err != nil || byQuote == 0 {
		return sum, err
	}
	g.open = a.Open(g.open[:0], s, m)
	for _, o := range g.open {
		if o.Side != market.Buy || !o.ByQuote() {
			continue
		}
		in := g.catalog.Market(m)
		amount := exchange.BaseForValue(in, in.MoneyValue(o.AmountQuoteRemaining), a.Last(m))
		if sum, err = market.Add(sum, amount); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// collar reports whether a limit price is beyond the best price on the other side by more than the
// collar, and returns the collar's edge.
func collar(o *market.Order, touch market.Price, rate market.Rate) (edge market.Price, outside bool) {
	if touch == 0 {
		return 0, false
	}
	width, err := market.ValueOf(int64(touch)).MulRate(rate)
	if err != nil {
		return 0, true
	}
	distance, err := width.FloorMoney(market.RateDigits)
	if err != nil {
		return 0, true
	}
	if o.Side == market.Buy {
		edge = touch + market.Price(distance)
		return edge, o.Price > edge
	}
	edge = touch - market.Price(distance)
	return edge, o.Price < edge
}

// crossesOwn returns the price at which an order would match the best own limit order on the other
// side, and that order's price; 0: none.
func (g *Gate) crossesOwn(a *state.Account, o *market.Order) (price, own market.Price) {
	if o.Type.HasTrigger() && !o.Triggered {
		return 0, 0
	}
	if own = a.BestOwn(o.Market, o.Side.Opposite()); own == 0 {
		return 0, 0
	}
	price = o.Price
	if !o.Type.HasPrice() {
		price = a.Last(o.Market)
	}
	if (o.Side == market.Buy && price >= own) || (o.Side == market.Sell && price <= own) {
		return price, own
	}
	return 0, 0
}
