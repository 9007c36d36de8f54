package risk

import (
	"cmp"
	"fmt"
	"sort"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Reason is why the gate refused.
type Reason uint8

// The reasons. ReasonExchange means that the exchange would refuse; Refusal.Code says why.
const (
	ReasonExchange Reason = iota + 1
	ReasonUnknownMarket
	ReasonNoSuchOrder
	ReasonInFlight // another write to the same order has not been answered
	ReasonTooSmall // the amount is 0 after rounding
	ReasonWarmUp
	ReasonHalted
	ReasonStopping // after OnStop nothing is placed or changed
	ReasonStale
	ReasonReduceOnly
	ReasonCoolDown
	ReasonOrdersPerMinute
	ReasonMaxInFlight
	ReasonMaxOpenOrders
	ReasonMaxOrderValue
	ReasonMaxPosition
	ReasonMaxExposure
	ReasonMaxAssetExposure
	ReasonPriceCollar
	ReasonSelfCross
	ReasonOpposite // another own strategy has an opposite order in the market
	ReasonStop     // the stop of a bracket could not rest, or is on the wrong side
	ReasonTarget   // the same for the target
	ReasonDailyLoss
	ReasonDrawdown
	ReasonVolatilityTarget
	ReasonUniverse   // the market is no member of the strategy's universe now, or only read
	ReasonReplace    // the order that is to be replaced cannot be, or has filled meanwhile
	ReasonMalformed  // the ask has a value that is never valid, or options that do not fit
	ReasonNoPosition // there is no position to protect
	ReasonHeld       // other own sells hold the base
	ReasonNoPrice    // the market has no price yet
	ReasonLeftOut    // an Absence
	ReasonMaxPositions
	ReasonNothingToSell // a sale in a market where the strategy has no position
	reasons
)

// reasonTexts are the names of the reasons that are no limit, and words where they have no values.
var reasonTexts = [reasons]struct{ name, words string }{
	ReasonExchange:      {name: "exchange"},
	ReasonUnknownMarket: {"unknown_market", "there is no such market here"},
	ReasonNoSuchOrder:   {name: "no_such_order"},
	ReasonInFlight:      {name: "in_flight"},
	ReasonTooSmall:      {"too_small", "nothing is left of the amount after rounding"},
	ReasonWarmUp:        {"warm_up", "its warm-up is not over"},
	ReasonHalted:        {"halted", "the strategy is halted"},
	ReasonStopping:      {"stopping", "the bot is stopping"},
	ReasonStop:          {name: "stop"},
	ReasonTarget:        {name: "target"},
	ReasonUniverse:      {"universe", "the strategy does not trade the market now, and can only sell there"},
	ReasonReplace:       {name: "replace"},
	ReasonMalformed:     {name: "malformed"},
	ReasonNoPosition:    {name: "no_position"},
	ReasonHeld:          {name: "held"},
	ReasonNoPrice:       {name: "no_price"},
	ReasonNothingToSell: {"nothing_to_sell", "the strategy has no position in the market"},
	ReasonLeftOut:       {"left_out", "this run shows what happens without the entry"},
}

// String returns the reason's name; those of limits are the names of the config.
func (r Reason) String() string {
	if r >= reasons {
		return fmt.Sprintf("reason(%d)", r)
	}
	rule := ruleOf(r)
	return cmp.Or(reasonTexts[r].name, rule.Name, rule.Key)
}

// Refusal is the gate's refusal. The gate reuses it: copy it to keep it beyond the next ask.
type Refusal struct {
	Reason Reason
	Code   int // ReasonExchange: the exchange's error code
	// Message is, for ReasonExchange, the exchange's message; for ReasonStop and ReasonTarget, the
	// level's fault in decimals; for ReasonStale and ReasonPriceCollar, that the market's prices
	// are unreliable; for ReasonOpposite, which strategy has which order; for
	// ReasonVolatilityTarget, that there is no estimate yet; for ReasonReplace and the reasons
	// after it, all there is to say.
	Message string
	// Have and Limit are the value and its limit, in the unit of the rule; 0 where the rule has
	// none. For an order that cannot be changed, Have is its id; for ReasonWarmUp, the number of
	// candles that are missing, of interval Limit.
	Have, Limit int64

	market   *market.Market // gives the units of Have and Limit; nil: none
	currency *market.Asset  // of the account; nil: unknown

	have, limit string // ReasonStop, ReasonTarget, ReasonExchange: the values in decimals
}

// Error says what was refused and why, in decimals for a refusal of the gate.
func (r *Refusal) Error() string {
	switch {
	case r.Reason == ReasonExchange:
		return fmt.Sprintf("refused: the exchange would answer %d: %s%s", r.Code, r.Message, r.beside())
	case r.Message != "":
		return "refused: " + r.Reason.String() + ": " + r.Message
	case r.Reason == ReasonWarmUp && r.Have > 0:
		return "refused: " + r.Reason.String() + ": " + r.Words(r.market, nil)
	case r.Reason == ReasonNoSuchOrder || r.Reason == ReasonInFlight:
		return fmt.Sprintf("refused: %s (order %d)", r.Reason, r.Have)
	case r.Reason == ReasonUniverse, r.Reason == ReasonCoolDown, r.Reason == ReasonNothingToSell,
		r.Reason == ReasonTooSmall && r.market != nil:
		return "refused: " + r.Reason.String() + ": " + r.Words(r.market, r.currency)
	case r.currency != nil:
		if have, limit := r.Values(r.market, r.currency); have != "" {
			return fmt.Sprintf("refused: %s (%s, limit %s)", r.Reason, have, limit)
		}
	case r.Have != 0 || r.Limit != 0:
		return fmt.Sprintf("refused: %s (%d, limit %d)", r.Reason, r.Have, r.Limit)
	}
	return "refused: " + r.Reason.String()
}

// Dust reports whether the amount or its value is below the market's minimum.
func (r *Refusal) Dust() bool {
	return r.Reason == ReasonTooSmall || r.Reason == ReasonNothingToSell ||
		r.Reason == ReasonExchange && (r.Code == exchange.CodeMinBase || r.Code == exchange.CodeMinQuote)
}

// objection counts a refusal and returns it. It is not inlined, because the checks that call it run
// for each order, and the fewer bytes they have the more of an order's code stays in the
// processor's cache.
//
//go:noinline
func (g *Gate) objection(s *slot, reason Reason, have, limit int64) error {
	s.refused[reason]++
	g.refusal = Refusal{Reason: reason, Have: have, Limit: limit, market: g.checkedMarket, currency: g.currency}
	return &g.refusal
}

// RefuseOutside counts and returns the refusal of a buy in a market that does not belong to the
// strategy's universe.
func (g *Gate) RefuseOutside(id market.StrategyID) error {
	g.checkedMarket = nil
	return g.objection(&g.slots[id], ReasonUniverse, 0, 0)
}

// NotReplaced counts and returns the refusal of an order that was to replace another, for a reason
// in words. It is valid until the next Check.
func (g *Gate) NotReplaced(id market.StrategyID, why string) error {
	g.checkedMarket = nil
	refused := g.objection(&g.slots[id], ReasonReplace, 0, 0)
	g.refusal.Message = why
	return refused
}

// RefuseUnseen counts and returns the refusal of an ask that Check has not seen, for a reason in
// words. It is valid until the next Check.
func (g *Gate) RefuseUnseen(id market.StrategyID, reason Reason, why string) *Refusal {
	g.checkedMarket = nil
	_ = g.objection(&g.slots[id], reason, 0, 0)
	g.refusal.Message = why
	return &g.refusal
}

// RefuseWarmUp counts and returns the refusal of a strategy's asks in a market that is in its
// warm-up, nil where it is not, or is no market of the run.
func (g *Gate) RefuseWarmUp(id market.StrategyID, m market.ID) error {
	s := &g.slots[id]
	if s.cold == 0 || m < 1 || int(m) >= len(s.warming) || !s.warming[m].on {
		return nil
	}
	g.checkedMarket = g.catalog.Market(m)
	return g.warm(s, m)
}

// refuseNothing refuses an order over nothing. A warm-up comes first: a bot that starts has no
// equity yet, so a share of it is nothing.
//
//go:noinline
func (g *Gate) refuseNothing(a *state.Account, s *slot, o *market.Order) (Approved, error) {
	switch {
	case s.cold > 0 && s.warming[o.Market].on:
		return Approved{}, g.warm(s, o.Market)
	case sellsNothing(a, o):
		return g.refuseWith(s, ReasonNothingToSell, 0, 0)
	}
	return g.refuseWith(s, ReasonTooSmall, 0, 0)
}

// sellsNothing reports whether an order sells in a market where its strategy has no position.
func sellsNothing(a *state.Account, o *market.Order) bool {
	return o.Side == market.Sell && a.Holding(o.Strategy, o.Market).Amount == 0
}

// refuseUnreliable is objection for a market whose latest prices cannot be true.
//
//go:noinline
func (g *Gate) refuseUnreliable(s *slot, reason Reason, have, limit int64) error {
	refused := g.objection(s, reason, have, limit)
	g.refusal.Message = "the latest prices of the market cannot be true"
	return refused
}

// refuseOpposite is objection because of an order of another strategy.
//
//go:noinline
func (g *Gate) refuseOpposite(s *slot, other *market.Order) error {
	refused := g.objection(s, ReasonOpposite, int64(other.ID), 0)
	name := fmt.Sprint("number ", other.Strategy)
	if int(other.Strategy) <= len(g.names) {
		name = g.names[other.Strategy-1]
	}
	g.refusal.Message = fmt.Sprintf("strategy %s has a %s open there, order %d", name, other.Side, other.ID)
	return refused
}

//go:noinline
func (g *Gate) refuseWith(s *slot, reason Reason, have, limit int64) (Approved, error) {
	return Approved{}, g.objection(s, reason, have, limit)
}

//go:noinline
func (g *Gate) refuseCode(s *slot, e *exchange.Error) (Approved, error) {
	s.refused[ReasonExchange]++
	s.codes[e.Code]++
	g.refusal = Refusal{Reason: ReasonExchange, Code: e.Code, Message: e.Message}
	return Approved{}, &g.refusal
}

// refuseAsked is refusePlace for the order of a command. A sale of nothing has its own reason.
//
//go:noinline
func (g *Gate) refuseAsked(a *state.Account, s *slot, c *market.Command, e *exchange.Error) (Approved, error) {
	if e.Code == exchange.CodeInsufficientBalance && !c.Attached && g.facts.Available == 0 &&
		sellsNothing(a, &c.Order) {
		return g.refuseWith(s, ReasonNothingToSell, 0, 0)
	}
	return g.refusePlace(s, g.checkedMarket, &c.Order, e)
}

// refusePlace is refuseCode for a new order, with the values where the exchange would compare two.
//
//go:noinline
func (g *Gate) refusePlace(s *slot, m *market.Market, o *market.Order, e *exchange.Error) (Approved, error) {
	approved, err := g.refuseCode(s, e)
	r, asset := &g.refusal, g.catalog.Asset(m.Base)
	switch e.Code {
	case exchange.CodeInsufficientBalance:
		if needs, failed := exchange.Hold(m, o, g.facts.Fees, g.facts.Reference); failed == nil {
			asset = g.catalog.Asset(exchange.HoldAsset(m, o.Side))
			r.have, r.limit = amountOf(asset, int64(needs)), amountOf(asset, int64(g.facts.Available))
		}
	case exchange.CodeMinBase:
		r.have, r.limit = amountOf(asset, int64(o.Amount)), amountOf(asset, int64(m.MinOrderInBase))
	case exchange.CodeMinQuote, exchange.CodeAmountTooLarge:
		g.compareSize(m, o, e.Code)
	}
	return approved, err
}

// compareSize names the value that is too small, or the amount or value that is too large, with its
// limit.
func (g *Gate) compareSize(m *market.Market, o *market.Order, code int) {
	r, most := &g.refusal, exchange.MostBase(m)
	if code == exchange.CodeAmountTooLarge {
		if r.Message = "the order is larger than the market takes"; o.Side == market.Sell {
			r.Message += "; Close sells a position in several"
		}
		if o.AmountRemaining > most {
			base := g.catalog.Asset(m.Base)
			r.have, r.limit = amountOf(base, int64(o.AmountRemaining)), amountOf(base, int64(most))
			return
		}
	}
	price, worth := g.facts.Reference, o.AmountQuoteRemaining
	switch {
	case o.Type.HasPrice():
		price = o.Price
	case o.Type.HasTrigger():
		price = o.TriggerAmount
	}
	if !o.ByQuote() {
		worth, _ = m.Notional(price, o.AmountRemaining)
	}
	limit := m.MinOrderInQuote
	if code == exchange.CodeAmountTooLarge {
		limit = m.MaxOrderInQuote
	}
	if quote := g.catalog.Asset(m.Quote); worth > 0 && limit > 0 {
		r.have, r.limit = amountOf(quote, int64(worth)), amountOf(quote, int64(limit))
	}
}

// amountOf is an amount of an asset: "12.5 EUR".
func amountOf(asset *market.Asset, units int64) string {
	return fixed(asset.Digits, units) + " " + asset.Symbol
}

// beside is the values beside the exchange's message; empty: it compares none.
func (r *Refusal) beside() string {
	switch {
	case r.have == "":
		return ""
	case r.Code == exchange.CodeInsufficientBalance:
		return " (needs " + r.have + ", has " + r.limit + ")"
	case r.Code == exchange.CodeAmountTooLarge:
		return " (" + r.have + ", maximum " + r.limit + ")"
	}
	return " (" + r.have + ", minimum " + r.limit + ")"
}

// Count is how often a strategy was refused for one reason.
type Count struct {
	Reason string // a Reason's name; "exchange 216" with the code for ReasonExchange
	N      int64
}

// Refused returns the refusals of a strategy, most frequent first.
func (g *Gate) Refused(id market.StrategyID) (counts []Count) {
	s := &g.slots[id]
	for reason, n := range s.refused {
		if n > 0 && Reason(reason) != ReasonExchange {
			counts = append(counts, Count{Reason(reason).String(), n})
		}
	}
	for code, n := range s.codes {
		counts = append(counts, Count{fmt.Sprintf("exchange %d", code), n})
	}
	sort.Slice(counts, func(i, j int) bool {
		if counts[i].N != counts[j].N {
			return counts[i].N > counts[j].N
		}
		return counts[i].Reason < counts[j].Reason
	})
	return counts
}
