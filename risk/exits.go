package risk

import (
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Exits are the stop and the target of an entry or of a position, for CheckExits.
type Exits struct {
	Strategy market.StrategyID
	Market   market.ID
	Levels   market.Bracket // CheckExits rounds them to the tick, to the side where they fire sooner
	Current  market.Bracket // the levels so far: an unchanged level was checked before
	// Entry is the entry after the change; the levels are checked against its worst price; nil:
	// against the latest price.
	Entry  *market.Order
	Amount market.Qty // each exit must be able to sell it; 0: what the entry buys at its worst price
	Passed bool       // the price may have passed a level already: that exit then sells at once
}

// CheckExits decides whether the exchange would take the stop and the target of a bracket. Both
// keep the market's rules for a price, an amount and a value. The stop lies below the worst price
// at which the entry may buy, the target above it. The error is a *Refusal that names the level,
// its value and the bound. CheckExits fills in x.Levels (rounded) and x.Amount.
func (g *Gate) CheckExits(a *state.Account, x *Exits) error {
	m := g.catalog.Market(x.Market)
	if g.rounding {
		roundLevels(m, &x.Levels)
	}
	if x.Levels.Stop == 0 && x.Levels.Target == 0 {
		return g.refuseExit(m, x, Fault{rule: faultNone})
	}
	price := a.Last(x.Market)
	worst := price
	if x.Entry != nil {
		price, worst = g.entryPrices(a, m, x.Entry)
		if x.Amount == 0 {
			x.Amount = g.bought(m, x.Entry, worst)
		}
	}
	fault := x.stopFault(m, price)
	if !fault.Found() {
		fault = x.targetFault(m, worst)
	}
	if fault.Found() {
		return g.refuseExit(m, x, fault)
	}
	return nil
}

// stopFault is the first rule that the stop breaks; price is the market's when the entry fills.
func (x *Exits) stopFault(m *market.Market, price market.Price) Fault {
	stop := x.Levels.Stop
	if stop == 0 || stop == x.Current.Stop {
		return Fault{}
	}
	if x.Entry != nil && x.Entry.Side == market.Sell {
		return Fault{leg: market.KeepStop, rule: faultOfSell}
	}
	f := LevelFault(m, market.KeepStop, stop, x.Amount)
	switch {
	case f.Found() && f.rule < faultSizes: // an impossible price is reported before a wrong side
	case !x.Passed && price != 0 && stop >= price:
		return Fault{market.KeepStop, x.side(faultNotBelowEntry), int64(stop), int64(price)}
	case x.Levels.Target > 0 && stop >= x.Levels.Target:
		return Fault{market.KeepStop, faultNotBelowTarget, int64(stop), int64(x.Levels.Target)}
	}
	return f
}

// targetFault is the first rule that the target breaks; worst is the worst price of the entry.
func (x *Exits) targetFault(m *market.Market, worst market.Price) Fault {
	target := x.Levels.Target
	if target == 0 || target == x.Current.Target {
		return Fault{}
	}
	if x.Entry != nil && x.Entry.Side == market.Sell {
		return Fault{leg: market.KeepTarget, rule: faultOfSell}
	}
	f := LevelFault(m, market.KeepTarget, target, x.Amount)
	switch {
	case f.Found() && f.rule < faultSizes:
	case !x.Passed && worst != 0 && target <= worst:
		return Fault{market.KeepTarget, x.side(faultNotAboveEntry), int64(target), int64(worst)}
	}
	return f
}

// side is the rule of a level on the wrong side of the entry, or of the market where there is no
// entry.
func (x *Exits) side(rule faultRule) faultRule {
	if x.Entry == nil {
		rule++
	}
	return rule
}

// checkEntryExits is CheckExits for an entry that is about to be sent.
func (g *Gate) checkEntryExits(a *state.Account, o *market.Order) error {
	if o.Bracket.Stop == 0 && o.Bracket.Target == 0 {
		return nil
	}
	x := &g.exits
	*x = Exits{Strategy: o.Strategy, Market: o.Market, Levels: o.Bracket, Entry: o}
	return g.CheckExits(a, x)
}

// checkUpdatedExits is CheckExits for an entry that is about to change; levels are its bracket's.
func (g *Gate) checkUpdatedExits(a *state.Account, c *market.Command, levels market.Bracket) error {
	if levels.Stop == 0 && levels.Target == 0 {
		return nil
	}
	moved := c.Changed.Has(market.ChangePrice) || c.Changed.Has(market.ChangeTriggerAmount)
	x := &g.exits
	*x = Exits{Strategy: g.updated.Strategy, Market: g.updated.Market, Levels: levels, Entry: &g.updated}
	// the levels may have been moved past the entry since it began to fill
	x.Passed = g.updated.FilledAmount != 0 && !moved
	return g.CheckExits(a, x)
}

// entryPrices are the market price when a buy fills, and the worst price of the buy.
func (g *Gate) entryPrices(a *state.Account, m *market.Market, o *market.Order) (price, worst market.Price) {
	last := a.Last(m.ID)
	waits := o.Type.HasTrigger() && !o.Triggered && !firesAt(o, last)
	switch {
	case o.Type.HasPrice() && waits:
		return min(o.Price, o.TriggerAmount), o.Price
	case o.Type.HasPrice() && (last == 0 || o.Price < last):
		return o.Price, o.Price
	case o.Type.HasPrice():
		return last, o.Price
	case waits:
		return o.TriggerAmount, g.spread.Paid(o.Side, o.TriggerAmount, m.TickSize)
	}
	offered, _ := a.BestPrice(m.ID, o.Side)
	worst = max(last, g.spread.Met(o.Side, offered, last, m.TickSize))
	return last, worst
}

// firesAt reports whether a price fires the trigger of a buy; 0 is no price.
func firesAt(o *market.Order, last market.Price) bool {
	if o.Type.IsStop() {
		return last >= o.TriggerAmount
	}
	return last != 0 && last <= o.TriggerAmount
}

// bought is the least that an entry buys if it fills: of an entry by amountQuote, its remaining
// money at the worst price after the higher of the two fees. 0: unknown, because the market never
// had a price.
func (g *Gate) bought(m *market.Market, o *market.Order, worst market.Price) market.Qty {
	if !o.ByQuote() {
		return o.Amount
	}
	if worst == 0 {
		return 0
	}
	return max(1, exchange.BaseForMoney(m, o.AmountQuote, worst, g.fees[m.ID].Highest()))
}

// refuseExit counts the refusal of a level and returns it.
func (g *Gate) refuseExit(m *market.Market, x *Exits, f Fault) error {
	s, reason := &g.slots[x.Strategy], ReasonStop
	if f.leg == market.KeepTarget {
		reason = ReasonTarget
	}
	s.refused[reason]++
	g.refusal = Refusal{Reason: reason, Have: f.have, Limit: f.limit, Message: f.text(m), market: m,
		currency: g.currency}
	g.refusal.have, g.refusal.limit = f.values(m)
	return &g.refusal
}

// Fault is why an exit cannot rest at the exchange. The zero Fault is none.
type Fault struct {
	leg         market.Leg
	rule        faultRule
	have, limit int64
}

type faultRule uint8

const (
	faultNone faultRule = iota + 1
	faultOfSell
	faultSign
	faultTooHigh
	faultTick
	faultSizes // rules before it are about the price alone, rules after it about amount and side
	faultMinBase
	faultMaxBase
	faultMinQuote
	faultMaxQuote
	faultNotBelowTarget
	faultNotBelowEntry
	faultNotBelowMarket // the rule after an entry's is the market's
	faultNotAboveEntry
	faultNotAboveMarket
)

// LevelFault checks the rules of a market for an exit that sells an amount at a level. For an
// unknown amount, 0, it checks only the level. It uses no price and no balance.
func LevelFault(m *market.Market, leg market.Leg, level market.Price, amount market.Qty) Fault {
	switch {
	case level < 0:
		return Fault{leg, faultSign, int64(level), 0}
	case exchange.TooHigh(m, level):
		return Fault{leg, faultTooHigh, int64(level), 0}
	case market.FloorTo(level, m.TickSize) != level:
		return Fault{leg, faultTick, int64(level), int64(m.TickSize)}
	case amount <= 0:
		return Fault{}
	}
	amount = market.FloorDigits(amount, m.AmountDigits, m.QuantityDecimals)
	switch {
	case amount < max(1, m.MinOrderInBase):
		return Fault{leg, faultMinBase, int64(amount), int64(max(1, m.MinOrderInBase))}
	case amount > exchange.MostBase(m):
		return Fault{leg, faultMaxBase, int64(amount), int64(exchange.MostBase(m))}
	case m.MinOrderInQuote == 0 && m.MaxOrderInQuote == 0:
		return Fault{}
	}
	return notionalFault(m, leg, level, amount)
}

func notionalFault(m *market.Market, leg market.Leg, level market.Price, amount market.Qty) Fault {
	value, err := m.Value(level, amount)
	if err != nil {
		return Fault{leg, faultMaxBase, int64(amount), int64(m.MaxOrderInBase)}
	}
	rule, limit := faultRule(0), market.Money(0)
	switch {
	case value.Cmp(m.MoneyValue(m.MinOrderInQuote)) < 0:
		rule, limit = faultMinQuote, m.MinOrderInQuote
	case m.MaxOrderInQuote > 0 && value.Cmp(m.MoneyValue(m.MaxOrderInQuote)) > 0:
		rule, limit = faultMaxQuote, m.MaxOrderInQuote
	default:
		return Fault{}
	}
	worth, _ := m.Notional(level, amount)
	return Fault{leg, rule, int64(worth), int64(limit)}
}

// Found reports whether there is a fault.
func (f Fault) Found() bool { return f.rule != 0 }

// TooSmall reports whether amount or value are below the minimum.
func (f Fault) TooSmall() bool { return f.rule == faultMinBase || f.rule == faultMinQuote }

// Words name the level and its fault, in decimals: "stop: 4.67 EUR is below the minimum of 5".
func (f Fault) Words(m *market.Market) string {
	name := "stop: "
	if f.leg == market.KeepTarget {
		name = "target: "
	}
	return name + f.text(m)
}

func (f Fault) text(m *market.Market) string {
	have, limit := f.values(m)
	switch f.rule {
	case faultNone:
		return "neither stop nor target is left; Cancel ends the bracket"
	case faultOfSell:
		return "exits belong to a buy; leave Exits out of a sell, or use Protect"
	case faultSign:
		return have + " is not above 0"
	case faultTooHigh:
		return have + " is above the highest price of any market"
	case faultTick:
		return have + " is no multiple of the tick size " + limit
	case faultMinBase, faultMinQuote:
		return have + " is below the minimum of " + limit
	case faultMaxBase, faultMaxQuote:
		return have + " is above the maximum of " + limit
	case faultNotBelowTarget:
		return have + " is not below the target " + limit
	case faultNotBelowEntry:
		return have + " is not below " + limit + ", the price of the entry"
	case faultNotBelowMarket:
		return have + " is not below " + limit + ", the latest price"
	case faultNotAboveEntry:
		return have + " is not above " + limit + ", the worst price of the entry"
	}
	return have + " is not above " + limit + ", the latest price"
}

// values are the faulty value, with its unit, and the bound.
func (f Fault) values(m *market.Market) (have, limit string) {
	base, quote, _ := strings.Cut(m.Name, "-")
	switch f.rule {
	case faultNone, faultOfSell:
		return "", ""
	case faultMinBase, faultMaxBase:
		return m.FormatQty(market.Qty(f.have)) + " " + base, m.FormatQty(market.Qty(f.limit))
	case faultMinQuote, faultMaxQuote:
		return m.FormatMoney(market.Money(f.have)) + " " + quote, m.FormatMoney(market.Money(f.limit))
	}
	return m.FormatPrice(market.Price(f.have)), m.FormatPrice(market.Price(f.limit))
}
