package backtest

import (
	"errors"

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
