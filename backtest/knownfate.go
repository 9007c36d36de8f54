package backtest

import (
	"errors"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// knownFate does with a command what the record knows of it, and reports whether that is all.
func (d *driver) knownFate(c *market.Command) bool {
	fate := d.facts.Sent(c)
	if !fate.Recorded && fate.Arrives != 0 {
		d.venue.DoAt(c, fate.Arrives)
	}
	return fate.Recorded || fate.Arrives != 0
}

// hears keeps an event of the venue until the engine hears of it, and reports whether it did. An
// order's events stay in their order.
func (d *driver) hears(ev *market.Event) bool {
	at := d.facts.Told(ev)
	for i := range d.later {
		if ev.Report != nil && d.later[i].Report != nil && d.later[i].Report.Order == ev.Report.Order {
			at = max(at, d.later[i].At)
		}
	}
	if at <= max(ev.At, d.engine.Now()) || ev.Kind == market.KindTimer {
		return false
	}
	own := *ev
	own.At, own.Fills = at, slices.Clone(ev.Fills)
	if ev.Report != nil {
		report := *ev.Report
		own.Report = &report
	}
	if ev.Trade != nil {
		trade := *ev.Trade
		own.Trade = &trade
	}
	place := len(d.later)
	for place > 0 && d.later[place-1].At > at {
		place--
	}
	d.later = slices.Insert(d.later, place, own)
	return true
}

// hearNext lets the engine hear of the event that is due next.
func (d *driver) hearNext() {
	ev := d.later[0]
	d.later = slices.Delete(d.later, 0, 1)
	ev.At = max(ev.At, d.engine.Now())
	d.send(d.engine.Step(&ev))
}

// reported enters what a record says of an order. Its fills change the venue's balances, except for
// money that orders there hold.
func (s *Session) reported() error {
	d, ev := s.d, &s.entering
	var before []market.Money
	for _, a := range d.plan.Catalog.Assets() {
		before = append(before, d.account.Total(a.ID).Total)
	}
	d.send(d.engine.Step(ev))
	for i, a := range d.plan.Catalog.Assets() {
		if change := d.account.Total(a.ID).Total - before[i]; change != 0 {
			if err := d.venue.Transfer(0, a.ID, change); errors.Is(err, market.ErrOverflow) {
				return err
			}
		}
	}
	return d.engine.Err()
}
