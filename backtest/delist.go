package backtest

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// MarketChange is a change of a market during a run.
type MarketChange struct {
	At     market.Time
	Market market.ID
	Rules  *market.Rules // from now on; nil: as before
	Fees   *Fees         // of the account in this market, from now on; nil: as before
	// Delisted: trading has ended for good. Orders are cancelled, and base is worth the last price
	// less the plan's haircut from then on.
	Delisted bool
}

// Delisting is a market whose trading ended during a run.
type Delisting struct {
	Market string `json:"market"`
	At     Moment `json:"at"`
	Last   Amount `json:"last_price"`
	Worth  Amount `json:"valued_at"` // the last price less the haircut
	Held   Amount `json:"held"`      // base that was held then, over all strategies
	Lost   Amount `json:"lost"`      // by the haircut, in the account's currency
}

// marketsNow are the markets of a run as its changes have made them so far.
type marketsNow struct {
	changed  int                         // how many of the plan's changes have happened
	rules    map[market.ID]market.Market // of markets that change: units, status and rules now
	rates    []exchange.Fees             // by market, now
	delisted []Delisting
}

// delistedTag is the exit of a position that a delisting has ended.
const delistedTag = "delisted"

// beginChanges brings the markets to their beginning: an earlier pass of the plan has changed them.
func (d *driver) beginChanges() {
	if len(d.plan.Changes) == 0 {
		return
	}
	d.rules = make(map[market.ID]market.Market)
	for ; d.changed < len(d.plan.Changes) && d.plan.Changes[d.changed].At == 0; d.changed++ {
		c := &d.plan.Changes[d.changed]
		m := d.plan.Catalog.Market(c.Market)
		m.Status = market.Trading
		if c.Rules != nil {
			m.Rules = *c.Rules
		}
		if c.Fees != nil {
			d.rates[m.ID] = exchange.Fees(*c.Fees)
		}
		d.rules[m.ID] = *m
	}
}

// ownRules sets the markets as they are in this run: another one that shares the catalog may be at
// another time.
func (d *driver) ownRules() {
	for id := range d.rules {
		m, own := d.plan.Catalog.Market(id), d.rules[id]
		m.Status, m.Rules = own.Status, own.Rules
	}
}

// change makes the changes before the candles that close at end.
func (d *driver) change(end market.Time) error {
	for ; d.changed < len(d.plan.Changes) && d.plan.Changes[d.changed].At < end; d.changed++ {
		c := &d.plan.Changes[d.changed]
		m := d.plan.Catalog.Market(c.Market)
		if c.Fees != nil {
			d.setFees(m, exchange.Fees(*c.Fees))
		}
		var err error
		if c.Delisted {
			err = d.delist(m, c.At)
		} else if c.Rules != nil {
			err = d.setStatus(m, market.Trading, c.Rules)
		}
		if err != nil {
			return err
		}
		d.rules[m.ID] = *m
	}
	return nil
}

// setFees gives engine, venue and report other fees of a market. Resting orders keep their holds.
func (d *driver) setFees(m *market.Market, fees exchange.Fees) {
	d.rates[m.ID] = fees
	d.gate.SetFees(m.ID, fees)
	d.venue.SetFees(0, d.feesOf)
}

// feesOf are the fees of a market now.
func (d *driver) feesOf(m *market.Market) exchange.Fees { return d.rates[m.ID] }

// setStatus tells engine and venue the status of a market, and its rules.
func (d *driver) setStatus(m *market.Market, status market.MarketStatus, rules *market.Rules) error {
	ev := market.Event{Kind: market.KindMarketStatus, At: d.engine.Now(), Market: m.ID, Status: status}
	if rules != nil {
		ev.Rules = &market.Market{Rules: *rules}
	}
	d.send(d.engine.Step(&ev))
	if err := d.engine.Err(); err != nil {
		return err
	}
	return d.venue.Advance(&ev)
}

// delist ends a market: what is on its way is refused, what rests is cancelled, and base is worth
// the last price less the haircut.
func (d *driver) delist(m *market.Market, at market.Time) error {
	last, now := d.account.Last(m.ID), d.engine.Now()
	d.send(d.engine.Enter(&market.Input{Kind: market.InputDelisted, Market: m.ID}).Commands)
	if err := d.setStatus(m, market.CancelOnly, nil); err != nil || last == 0 {
		return err
	}
	arrival := market.Event{Kind: market.KindTicker, At: now, Ticker: &market.Ticker{Market: m.ID, Last: last}}
	if err := d.venue.Advance(&arrival); err != nil {
		return err
	}
	for _, o := range slices.Clone(d.account.Open(nil, 0, m.ID)) {
		d.venue.Cancel(o.ID, now, market.CancelOnDelisting)
	}
	if err := d.setStatus(m, market.Halted, nil); err != nil {
		return err
	}
	worth := last.Below(d.plan.Haircut)
	if err := d.noteDelisting(m, at, last, worth); err != nil {
		return err
	}
	d.account.Mark(&market.Candle{Market: m.ID, Close: worth}, now)
	return d.engine.Err()
}

// noteDelisting keeps what the report says of a delisting, and ends the round trips of its market.
func (d *driver) noteDelisting(m *market.Market, at market.Time, last, worth market.Price) error {
	held := market.Qty(d.account.Total(m.Base).Total)
	lost, err := m.Notional(last-worth, held)
	if err != nil {
		return fmt.Errorf("delisting of %s: %w", m.Name, err)
	}
	d.delisted = append(d.delisted, Delisting{Market: m.Name, At: Moment(at), Last: Amount{market.Money(last),
		m.PriceDigits}, Worth: Amount{market.Money(worth), m.PriceDigits},
		Held: Amount{market.Money(held), m.AmountDigits}, Lost: Amount{lost, m.QuoteDigits}})
	if d.recorder != nil {
		d.recorder.Delisted(m, at, worth)
	}
	return nil
}

// Delisted ends the positions in a market at a price, as round trips of their own.
func (r *recorder) Delisted(m *market.Market, at market.Time, worth market.Price) {
	for _, h := range r.held.by {
		if h == nil || h.market.ID != m.ID || h.amount == 0 {
			continue
		}
		t := trip{reason: delistedTag, entered: h.entered, exited: at, amount: h.amount}
		cost, fees, err := h.take(h.amount)
		if err == nil {
			t.proceeds, err = m.Value(worth, t.amount)
		}
		t.cost, t.fees, h.flat = cost, fees, true
		if err == nil {
			err = r.trip(h, &t)
		}
		r.endPosition(h)
		r.fail(err)
	}
}

// delistedWarnings say what a delisting has cost.
func (d *driver) delistedWarnings() (lines []string) {
	for i := range d.delisted {
		x := &d.delisted[i]
		if x.Held.Units > 0 {
			lines = append(lines, fmt.Sprintf("%s was delisted at %s: %s held at %s are worth %s each from then on "+
				"(haircut %s), which cost %s %s.", x.Market, x.At, x.Held, x.Last, x.Worth, percent(d.plan.Haircut),
				x.Lost, d.plan.Currency.Symbol))
		}
	}
	return lines
}
