package risk

import (
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Gate stands between the strategies and the exchange. Only the gate makes an Approved, and only an
// Approved becomes a command. It is a plain value owned by one goroutine.
type Gate struct {
	catalog  *market.Catalog
	account  AccountLimits
	spread   exchange.Spread
	rounding bool
	fees     []exchange.Fees // by market
	slots    []slot          // by strategy
	absences []Absence
	equity   equityWatch
	now      market.Time

	changed bool // since the last Saved

	counted bool // the order at the gate was counted before it had to wait

	currency      *market.Asset  // of the account; nil: none
	checkedMarket *market.Market // of the last Check, once known
	refusal       Refusal        // reused
	updated       market.Order
	exits         Exits
	facts         exchange.Facts
	open          []*market.Order

	explain bool
	figures []state.Figure // of the last Check

	// Most bots lack these. An order is checked faster with them behind everything else.
	names       []string       // of the strategies, by StrategyID − 1; nil: unknown
	assetLimits []market.Money // on the exposure of base assets, by asset; nil: none
	exposed     bool           // there is a limit on exposure
	volatility  *volatility    // nil: it has no target
}

// Approved is an order, or a change of one, that the gate has approved. Only the gate makes one.
type Approved struct {
	command *market.Command
	hold    market.Money
}

// Command returns the approved command.
func (a Approved) Command() *market.Command { return a.command }

// Hold returns what the order will hold in the worst case, in units of the held asset.
func (a Approved) Hold() market.Money { return a.hold }

// Config is what a Gate is made of.
type Config struct {
	Account    AccountLimits
	Strategies []Limits                           // by StrategyID − 1
	Fees       func(*market.Market) exchange.Fees // nil: no fees
	Spread     exchange.Spread                    // assumed cost of market orders beyond the latest price
	NoRounding bool                               // leave prices and amounts as they are; for tests of the venue
	Explain    bool                               // keep the Figures of approved asks, for a journal
	Absences   []Absence                          // what strategies may not open; none live
}

// Absence keeps a strategy from opening or adding to a position in a market from a time on, until
// another: for runs that ask how a backtest would have gone without an entry.
type Absence struct {
	Strategy market.StrategyID
	Market   market.ID
	From, To market.Time // To is outside
}

// New returns a gate for the markets of the catalog.
func New(catalog *market.Catalog, config Config) *Gate {
	markets := len(catalog.Markets()) + 1
	g := &Gate{
		catalog: catalog, spread: config.Spread, rounding: !config.NoRounding,
		explain: config.Explain, absences: config.Absences,
		fees:  make([]exchange.Fees, markets),
		slots: make([]slot, len(config.Strategies)+1),
	}
	g.setAccount(config.Account)
	if config.Account.Currency != 0 {
		g.currency = catalog.Asset(config.Account.Currency)
	}
	for _, m := range catalog.Markets() {
		if config.Fees != nil {
			g.fees[m.ID] = config.Fees(m)
		}
	}
	for i, limits := range config.Strategies {
		g.slots[i+1] = slot{
			limits: limits, sent: make([]market.Time, limits.OrdersPerMinute),
			realised: make([]market.Value, markets), warming: make([]lack, markets), codes: make(map[int]int64),
		}
	}
	return g
}

// NameStrategies tells the names of the strategies by StrategyID − 1, for refusals that name one.
func (g *Gate) NameStrategies(names []string) { g.names = names }

// Check decides on a place or an update; cancels always pass. It rounds c in place: prices to the
// tick (buys down, sells up), trigger prices to the tick on the side where they fire sooner,
// amounts down to quantityDecimals, quote amounts down to notionalDecimals. Then it checks the
// exchange's rules (package exchange, the same code that the venue runs), then the own limits; the
// first objection wins. The exits of an entry (Order.Bracket) are checked with it by CheckExits; an
// update carries its bracket's present exits. An exit of a bracket (Command.Attached) protects a
// position, so only the exchange's rules apply. The error is a *Refusal, valid until the next
// Check.
func (g *Gate) Check(a *state.Account, c *market.Command) (Approved, error) {
	g.now = c.At
	g.figures, g.checkedMarket = g.figures[:0], nil
	switch c.Kind {
	case market.CommandPlace:
		return g.checkPlace(a, c)
	case market.CommandUpdate:
		return g.checkUpdate(a, c)
	}
	return Approved{command: c}, nil
}

// Recheck is Check for an order that Check has approved, and that had to wait. It has been counted
// for orders_per_minute.
func (g *Gate) Recheck(a *state.Account, c *market.Command) (Approved, error) {
	g.counted = true
	defer func() { g.counted = false }()
	return g.Check(a, c)
}

func (g *Gate) checkPlace(a *state.Account, c *market.Command) (Approved, error) {
	o := &c.Order
	s := &g.slots[o.Strategy]
	if int(o.Market) >= len(g.fees) || o.Market == 0 {
		return g.refuseWith(s, ReasonUnknownMarket, 0, 0)
	}
	m := g.catalog.Market(o.Market)
	g.checkedMarket = m
	g.round(m, o)
	if o.Amount == 0 && o.AmountQuote == 0 {
		return g.refuseNothing(a, s, o)
	}
	if o.Type != market.TypeMarket && o.CodGroupID == 0 && !c.Attached { // resting exits must outlive a dead bot
		o.CodGroupID = s.limits.CodGroupID
	}
	o.OperatorID = s.limits.OperatorID
	o.AmountRemaining, o.AmountQuoteRemaining = o.Amount, o.AmountQuote
	if !c.Attached {
		if refused := g.checkSlot(a, s, o, o.Side == market.Buy); refused != nil {
			return Approved{}, refused
		}
	}
	if g.volatility != nil {
		if refused := g.scaleBuy(a, s, m, c); refused != nil {
			return Approved{}, refused
		}
	}
	facts := g.factsOf(a, m, o)
	hold, refused := exchange.CheckPlace(m, o, facts)
	if refused != nil {
		return g.refuseAsked(a, s, c, refused)
	}
	approved := Approved{command: c, hold: hold}
	if c.Attached {
		if g.explain {
			g.recordFigures(a, s, m, o, ask{hold: hold, attached: true})
		}
		return approved, nil
	}
	if o.Bracket.Any() {
		if r := g.checkEntryExits(a, o); r != nil {
			return Approved{}, r
		}
	}
	if r := g.checkLimits(a, s, m, o, o.AmountRemaining, hold); r != nil {
		return Approved{}, r
	}
	if g.explain {
		g.recordFigures(a, s, m, o, ask{added: o.AmountRemaining, hold: hold})
	}
	if g.volatility != nil {
		g.countScaled(s)
	}
	g.count(s)
	return approved, nil
}

func (g *Gate) checkUpdate(a *state.Account, c *market.Command) (Approved, error) {
	old := a.Own(c.Order.ID)
	s := &g.slots[c.Order.Strategy]
	if old == nil || old.Strategy != c.Order.Strategy {
		return g.refuseWith(s, ReasonNoSuchOrder, int64(c.Order.ID), 0)
	}
	if old.InFlight != 0 {
		return g.refuseWith(s, ReasonInFlight, int64(c.Order.ID), 0)
	}
	m := g.catalog.Market(old.Market)
	g.checkedMarket = m
	c.Order.Market, c.Order.Side, c.Order.Type = old.Market, old.Side, old.Type
	g.round(m, &c.Order)
	facts := g.factsOf(a, m, &old.Order)
	facts.Available += old.OnHold
	if refused := exchange.CheckUpdate(m, &old.Order, c, facts, &g.updated); refused != nil {
		return g.refuseCode(s, refused)
	}
	if c.Attached {
		if g.explain {
			g.recordFigures(a, s, m, &g.updated, ask{hold: g.updated.OnHold - old.OnHold, attached: true})
		}
		return Approved{command: c, hold: g.updated.OnHold}, nil
	}
	if r := g.checkUpdatedExits(a, c, c.Order.Bracket); r != nil {
		return Approved{}, r
	}
	more := g.updated.AmountRemaining - old.AmountRemaining
	if r := g.checkSlot(a, s, &g.updated, old.Side == market.Buy && opens(&old.Order, &g.updated)); r != nil {
		return Approved{}, r
	}
	grown := max(0, g.updated.OnHold-old.OnHold)
	if r := g.checkLimits(a, s, m, &g.updated, max(0, more), grown); r != nil {
		return Approved{}, r
	}
	if g.volatility != nil && old.Side == market.Buy && grown > 0 {
		if r := g.checkGrowth(a, s, m, grown); r != nil {
			return Approved{}, r
		}
	}
	if g.explain {
		g.recordFigures(a, s, m, &g.updated, ask{added: more, hold: g.updated.OnHold - old.OnHold})
	}
	g.count(s)
	return Approved{command: c, hold: g.updated.OnHold}, nil
}

// CheckClose decides whether a strategy's Close may begin with a sale such as c: everything that
// does not depend on the base that open orders still hold. Of the own limits only orders_per_minute
// holds: a Close counts as one order, also where the market takes its amount in several; for a
// Close of a person (Command.Attached) none holds. dust lets an amount pass that is below the
// market's minimum. The error is a *Refusal, valid until the next Check.
func (g *Gate) CheckClose(a *state.Account, c *market.Command, dust bool) error {
	g.now = c.At
	o := &c.Order
	s, m := &g.slots[o.Strategy], g.catalog.Market(o.Market)
	g.figures, g.checkedMarket = g.figures[:0], m
	switch {
	case c.Attached:
	case s.cold > 0 && s.warming[o.Market].on:
		return g.warm(s, o.Market)
	case s.full(g.now):
		return g.objection(s, ReasonOrdersPerMinute, int64(s.limits.OrdersPerMinute), int64(s.limits.OrdersPerMinute))
	}
	g.round(m, o)
	if o.Amount == 0 && !dust {
		return g.objection(s, ReasonTooSmall, 0, 0)
	}
	if o.Amount > 0 {
		g.updated = *o
		first := &g.updated
		first.Amount = exchange.PortionAtMarket(m, o.Amount, a.Last(m.ID))
		first.AmountRemaining = first.Amount
		facts := g.factsOf(a, m, first)
		facts.Available = market.Money(first.Amount)
		_, refused := exchange.CheckPlace(m, first, facts)
		if refused != nil && !(dust &&
			(refused.Code == exchange.CodeMinBase || refused.Code == exchange.CodeMinQuote)) {
			_, err := g.refusePlace(s, m, first, refused)
			return err
		}
	}
	if !c.Attached {
		g.count(s)
	}
	return nil
}

// opens reports whether a changed buy can add to a position more, or at another time, than before:
// by its amount, a higher price, or another trigger.
func opens(old, updated *market.Order) bool {
	return updated.AmountRemaining > old.AmountRemaining || updated.AmountQuoteRemaining > old.AmountQuoteRemaining ||
		updated.Price > old.Price || updated.TriggerAmount != old.TriggerAmount
}

// round rounds prices and amounts to the market's steps.
func (g *Gate) round(m *market.Market, o *market.Order) {
	if !g.rounding {
		return
	}
	if o.Price|o.TriggerAmount != 0 {
		roundPrices(m, o)
	}
	if o.Bracket.Any() {
		roundLevels(m, &o.Bracket)
	}
	if m.Coarse() {
		roundAmounts(m, o)
	}
}

// roundPrices rounds the limit and the trigger to the tick.
func roundPrices(m *market.Market, o *market.Order) {
	if o.Side == market.Buy {
		o.Price = market.FloorTo(o.Price, m.TickSize)
	} else {
		o.Price = market.CeilTo(o.Price, m.TickSize)
	}
	if o.TriggerAmount != 0 {
		o.TriggerAmount = roundTrigger(m, o.Type.IsStop() == (o.Side == market.Sell), o.TriggerAmount)
	}
}

// roundAmounts rounds amounts to the decimals that the market takes.
func roundAmounts(m *market.Market, o *market.Order) {
	o.Amount = market.FloorDigits(o.Amount, m.AmountDigits, m.QuantityDecimals)
	o.AmountRemaining = market.FloorDigits(o.AmountRemaining, m.AmountDigits, m.QuantityDecimals)
	o.AmountQuote = market.FloorDigits(o.AmountQuote, m.QuoteDigits, m.NotionalDecimals)
}

// roundLevels rounds exits to the tick. A level below zero stays: zero would mean none.
func roundLevels(m *market.Market, levels *market.Bracket) {
	if levels.Stop > 0 {
		levels.Stop = market.CeilTo(levels.Stop, m.TickSize)
	}
	if levels.Target > 0 {
		levels.Target = market.CeilTo(levels.Target, m.TickSize)
	}
}

// roundTrigger rounds to the side where the trigger fires sooner: up where a falling price fires
// it.
func roundTrigger(m *market.Market, firesBelow bool, price market.Price) market.Price {
	if firesBelow {
		return market.CeilTo(price, m.TickSize)
	}
	return market.FloorTo(price, m.TickSize)
}

// SetFees gives a market other fees from now on.
func (g *Gate) SetFees(m market.ID, fees exchange.Fees) { g.fees[m] = fees }

// Costs are the fees in a market and the cost of market orders that the gate counts with.
func (g *Gate) Costs(m market.ID) (exchange.Fees, exchange.Spread) { return g.fees[m], g.spread }

// reference values an order without a price of its own: what a market order would pay or get now.
func (g *Gate) reference(a *state.Account, m *market.Market, o *market.Order) market.Price {
	last := a.Last(m.ID)
	if o.Type != market.TypeMarket || last == 0 {
		return last
	}
	offered, _ := a.BestPrice(m.ID, o.Side)
	return g.spread.Met(o.Side, offered, last, m.TickSize)
}

func (g *Gate) factsOf(a *state.Account, m *market.Market, o *market.Order) *exchange.Facts {
	f := &g.facts
	f.Reference, f.Open, f.Fees = g.reference(a, m, o), a.OpenIn(m.ID), g.fees[m.ID]
	if o.Side == market.Sell {
		f.Available = a.Sellable(o.Strategy, m)
	} else {
		f.Available, _ = a.Balance(o.Strategy, m.Quote)
	}
	return f
}

// checkSlot applies the rules that do not depend on the order's size. opening: the order can add to
// a position.
func (g *Gate) checkSlot(a *state.Account, s *slot, o *market.Order, opening bool) error {
	switch {
	case s.halted:
		return g.objection(s, ReasonHalted, 0, 0)
	case s.cold > 0 && s.warming[o.Market].on:
		return g.warm(s, o.Market)
	case s.full(g.now) && !g.counted:
		return g.objection(s, ReasonOrdersPerMinute, int64(s.limits.OrdersPerMinute), int64(s.limits.OrdersPerMinute))
	case s.limits.MaxInFlight > 0 && a.InFlightBy(o.Strategy) >= s.limits.MaxInFlight:
		return g.objection(s, ReasonMaxInFlight, int64(s.limits.MaxInFlight)+1, int64(s.limits.MaxInFlight))
	case opening:
		return g.checkOpening(a, s, o)
	}
	return nil
}

// absent reports whether an order opens during an Absence.
func (g *Gate) absent(o *market.Order) bool {
	return slices.ContainsFunc(g.absences, func(a Absence) bool {
		return a.Strategy == o.Strategy && a.Market == o.Market && a.From <= g.now && g.now < a.To
	})
}

// checkOpening applies the rules for orders that can add to a position.
func (g *Gate) checkOpening(a *state.Account, s *slot, o *market.Order) error {
	seen, late := a.PriceArrived(o.Market)
	switch {
	case s.limits.ReduceOnly:
		return g.objection(s, ReasonReduceOnly, 0, 0)
	case late, s.limits.MaxDataAge > 0 && g.now.Sub(seen) > s.limits.MaxDataAge:
		return g.objection(s, ReasonStale, int64(g.now.Sub(seen)), int64(s.limits.MaxDataAge))
	case !o.Type.HasPrice() && a.Unreliable(o.Market): // price_collar covers orders with a price
		return g.refuseUnreliable(s, ReasonStale, int64(g.now.Sub(seen)), int64(s.limits.MaxDataAge))
	case len(g.absences) > 0 && g.absent(o):
		return g.objection(s, ReasonLeftOut, 0, 0)
	case g.now < s.coolTill:
		return g.objection(s, ReasonCoolDown, int64(s.coolTill.Sub(g.now)), int64(s.limits.CoolDown))
	case g.equity.lost:
		return g.objection(s, ReasonDailyLoss, int64(g.equity.loss()), int64(g.account.MaxDailyLoss))
	case g.equity.drawn:
		return g.objection(s, ReasonDrawdown, int64(g.equity.drawdown()), int64(g.account.MaxDrawdown))
	}
	return nil
}

// full reports whether all sends in the ring are within the last minute.
func (s *slot) full(now market.Time) bool {
	n := len(s.sent)
	return n > 0 && s.sent[s.sentAt] != 0 && now.Sub(s.sent[s.sentAt]) < time.Minute
}

// count notes a send.
func (g *Gate) count(s *slot) {
	if len(s.sent) > 0 {
		g.noteSend(s)
	}
}

//go:noinline
func (g *Gate) noteSend(s *slot) {
	if g.counted {
		return
	}
	g.changed = true
	s.sent[s.sentAt] = g.now
	s.sentAt = (s.sentAt + 1) % len(s.sent)
}
