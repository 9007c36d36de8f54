package gap

import (
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Sent says what the record knows of a command: of backtest.Facts.
func (r *run) Sent(c *market.Command) backtest.Fate {
	if r.over {
		return backtest.Fate{}
	}
	if c.Kind == market.CommandPlace {
		return r.place(c)
	}
	p := r.pairOf(c.Order.ID)
	if p == nil || p.life == nil || !r.facts.Has(Orders) {
		return backtest.Fate{}
	}
	known := p.changeAt(c, r.matcher.window)
	if !p.recorded {
		if known == nil || known.until == 0 {
			return backtest.Fate{}
		}
		return backtest.Fate{Arrives: c.At + known.until - known.at}
	}
	if known == nil || !sameChange(known, c, p) {
		p.exact = false
	}
	if known == nil {
		r.agree(p, c)
	}
	if c.Kind == market.CommandUpdate {
		p.limit, p.offered = c.Order.Price, 0
		if known != nil && known.until != 0 {
			p.arrives = c.At + known.until - known.at
			r.coming = append(r.coming, p)
		}
	}
	return backtest.Fate{Recorded: true}
}

// place matches a new order.
func (r *run) place(c *market.Command) backtest.Fate {
	l := r.matcher.take(c)
	p := &pair{life: l, order: c.Order, log: len(r.out.Orders)}
	r.keep(p)
	o := &c.Order
	one := RunOrder{ID: o.ID, Strategy: o.Strategy, Market: o.Market, Side: o.Side, Type: o.Type, At: c.At,
		Amount: o.Amount, Quote: o.AmountQuote, Price: level(o)}
	r.out.Match.Orders++
	switch {
	case l == nil:
	case l.void:
		r.out.Match.Orders--
	default:
		one.Live = l.order.ID
		r.out.Match.Matched++
		r.live[l.order.ID] = p
		p.used, p.exact = make([]bool, len(l.changes)), sameTerms(&l.order, o)
	}
	r.out.Orders = append(r.out.Orders, one)
	switch {
	case l == nil || !r.facts.Has(Orders):
		return backtest.Fate{}
	case l.answered == 0 && r.facts != whole: // it never left, or the record ends before its answer
		p.life = nil
		return backtest.Fate{}
	}
	p.recorded = r.facts.Has(Fills) || l.refused
	if l.accepted != 0 {
		p.arrives = c.At + l.accepted - l.at
	}
	if p.recorded {
		r.coming = append(r.coming, p)
		r.catchUp(p, c.At)
	}
	return backtest.Fate{Arrives: p.arrives, Recorded: p.recorded}
}

// catchUp queues the answers that the bot had before this run has asked for the order.
func (r *run) catchUp(p *pair, now market.Time) {
	for i := range p.told {
		t := &p.told[i]
		if t.record > r.number {
			return
		}
		if ev := r.rewrite(p, &t.event); ev != nil {
			ev.At = now
			r.queue(ev)
		}
	}
}

// queue lets an answer enter when its time has come.
func (r *run) queue(ev *market.Event) {
	in := market.Input{Kind: market.InputEvent, Event: ev}
	at, _ := slices.BinarySearchFunc(r.due, ev.At, func(in market.Input, t market.Time) int {
		if in.Event.At <= t {
			return -1
		}
		return 1
	})
	r.due = slices.Insert(r.due, at, in)
}

// agree answers a change that the live bot did not ask for: the exchange carries it out.
func (r *run) agree(p *pair, c *market.Command) {
	known := r.session.Account().Known(c.Order.ID)
	if known == nil || p.done {
		return
	}
	o, exec := known.Order, market.ExecUpdated
	at := c.At.Add(r.model.Venue.Latency)
	if c.Kind == market.CommandCancel {
		p.done, exec = true, market.ExecCanceled
		o.Status, o.OnHold = market.StatusCanceled, 0
	} else {
		o.OrderState = c.Order.OrderState
		o.Status, o.FilledAmount, o.FilledAmountQuote, o.FeePaid = known.Status, known.FilledAmount,
			known.FilledAmountQuote, known.FeePaid
		o.AmountRemaining = max(0, o.Amount-o.FilledAmount)
		o.OnHold = r.hold(&o)
	}
	o.Updated = max(known.Updated+1, at)
	report := market.ReportOf(&o, exec)
	r.queue(&market.Event{Kind: market.KindReport, At: at, Market: o.Market, Report: &report})
}

// changeAt is the live change that stands for one of the run: of its kind, with the nearest
// decision within the window; nil: there is none.
func (p *pair) changeAt(c *market.Command, window market.Time) *liveWrite {
	best := -1
	for i := range p.changes {
		one := &p.changes[i]
		if p.used[i] || one.kind != c.Kind || distance(one.at, c.At) > window {
			continue
		}
		if best < 0 || distance(one.at, c.At) < distance(p.changes[best].at, c.At) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	p.used[best] = true
	return &p.changes[best]
}

// sameChange reports whether an own change has the live one's terms.
func sameChange(known *liveWrite, c *market.Command, p *pair) bool {
	return p.exact && (c.Kind == market.CommandCancel || sameTerms(&known.order, &c.Order))
}

// sameTerms reports whether two orders trade the same at the same price.
func sameTerms(a, b *market.Order) bool {
	return a.Type == b.Type && a.Amount == b.Amount && a.AmountQuote == b.AmountQuote && a.Price == b.Price &&
		a.TriggerAmount == b.TriggerAmount
}

// Restored reports whether the record says what becomes of an order that is open at a start.
func (r *run) Restored(o *market.Order) bool {
	p := r.pairOf(o.ID)
	if p == nil && r.known == 0 { // at the first start: orders have the numbers of live ones
		p = r.inherit(o)
	}
	return p != nil && p.recorded
}

// answer lets an answer about a live order enter, for the order of this run.
func (r *run) answer(ev *market.Event) error {
	p := r.live[orderOf(ev)]
	if p == nil || !p.recorded || p.done {
		return nil
	}
	own := r.rewrite(p, ev)
	if own == nil {
		return nil
	}
	return r.enter(&market.Input{Kind: market.InputEvent, Event: own})
}

// rewrite makes of an answer about a live order one about the order of this run. Where all facts
// are taken and the orders are the same, only its number changes. nil: nothing of it remains.
func (r *run) rewrite(p *pair, ev *market.Event) *market.Event {
	own := keep(ev)
	if own.Report != nil {
		own.Report.Order = p.order.ID
	}
	for i := range own.Fills {
		own.Fills[i].Order = p.order.ID
	}
	if p.exact && r.facts.Has(Prices) && r.facts.Has(Fees) {
		p.follow(&own)
		return &own
	}
	return r.convert(p, &own)
}

// follow keeps what an answer says that enters as it is.
func (p *pair) follow(ev *market.Event) {
	for i := range ev.Fills {
		p.live += ev.Fills[i].Amount
	}
	if r := ev.Report; r != nil && r.Exec != market.ExecRejected && r.Exec != market.ExecUnknown {
		p.live = r.FilledAmount
		p.sum = tally{r.FilledAmount, r.FilledAmountQuote, r.FeePaid}
	}
}

// hold is the money that an order holds at the model's fees.
func (r *run) hold(o *market.Order) market.Money {
	m := r.survey.first.made.Catalog.Market(o.Market)
	hold, err := exchange.Hold(m, o, r.fees(), r.session.Account().Last(o.Market))
	if err != nil {
		return 0
	}
	return hold
}
