package orders

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// fillTime is how exact the exchange tells the time of a fill; that of a report is finer.
const fillTime = market.Time(1e6)

// builder builds a Log of orders from the entries of the journal.
type builder struct {
	log    *Log
	orders map[market.OrderID]*Life
}

// entry takes the next entry of the journal.
func (f *builder) entry(e *journal.Entry) error {
	l := f.log
	if l.From == 0 {
		if l.From = e.At; e.Number > 1 {
			l.Gaps = append(l.Gaps, Hole{To: e.At,
				Text: fmt.Sprintf("the journal's entries 1 to %d were taken out", e.Number-1)})
		}
	}
	l.To = max(l.To, e.At)
	switch r := e.Record.(type) {
	case *journal.Intent:
		f.intent(e, r)
	case *journal.SentCommand:
		if w := f.write(r.Order, r.Command); w != nil && w.Sent == 0 {
			w.Sent = e.At
		}
	case *journal.AnswerEntry:
		if w := f.write(r.Order, r.Command); w != nil {
			w.Answered, w.Answer, w.Status, w.Code, w.Message = e.At, r.Answer, r.Status, r.Code, r.Message
		}
	case *journal.ReportEntry:
		f.report(e, r)
	case *journal.Fills:
		for i := range r.Fills {
			if o := f.orders[r.Fills[i].Order]; o != nil {
				o.fill(&r.Fills[i])
			}
		}
	case *journal.Stop:
		for i := range l.Runs {
			if l.Runs[i].ID == r.Run {
				l.Runs[i].Ended = e.At
			}
		}
	}
	return nil
}

// order is the order of a number, a new one where the journal begins after its place.
func (f *builder) order(id market.OrderID) *Life {
	o := f.orders[id]
	if o == nil {
		o = &Life{ID: id}
		f.orders[id] = o
	}
	return o
}

func (f *builder) intent(e *journal.Entry, r *journal.Intent) {
	c := &r.Command
	if c.Order.ID == 0 {
		return // of an order that no account has: the request alone
	}
	o := f.order(c.Order.ID)
	if o.ClientID == c.Order.ClientOrderID || c.Order.Side != 0 {
		o.describe(&c.Order, r.Strategy)
	}
	w := Write{Kind: c.Kind, Entry: e.Number, Decided: c.At, Cause: r.Cause, Changed: c.Changed}
	if c.Kind != market.CommandCancel {
		w.Terms = c.Order.OrderState
	}
	o.Writes = append(o.Writes, w)
}

// describe notes what never changes about an order.
func (o *Life) describe(from *market.Order, strategy string) {
	o.ClientID, o.Market, o.Side, o.Type = from.ClientOrderID, from.Market, from.Side, from.Type
	o.Strategy, o.Tag = cmp.Or(o.Strategy, strategy), cmp.Or(o.Tag, from.Tag)
	if from.Bracket.Any() {
		o.Bracket = from.Bracket
	}
}

// write is the latest write of a kind that has no answer; nil: there is none.
func (f *builder) write(id market.OrderID, kind market.CommandKind) *Write {
	o := f.orders[id]
	if o == nil {
		return nil
	}
	for i := range slices.Backward(o.Writes) {
		if w := &o.Writes[i]; w.Kind == kind && w.Answered == 0 {
			return w
		}
	}
	return nil
}

// report folds what the exchange says of an order.
func (f *builder) report(e *journal.Entry, r *journal.ReportEntry) {
	if r.Order == 0 {
		return
	}
	o := f.order(r.Order)
	for i := range r.Fills {
		o.fill(&r.Fills[i])
	}
	if r.Exec == market.ExecRejected || r.Exec == market.ExecUnknown || r.Updated < o.updated {
		return // an answer that changes nothing of the order, or old news
	}
	o.updated, o.ExchangeID = r.Updated, r.ExchangeID
	if o.Accepted == 0 {
		o.accept(e.At, r)
	}
	o.rest(&r.Report)
}

// accept notes when the exchange took an order, from its first report.
func (o *Life) accept(heard market.Time, r *journal.ReportEntry) {
	w := o.Place()
	for i := range r.Fills {
		o.Took = o.Took || r.Fills[i].Taker
		if at := r.Fills[i].Time; r.Fills[i].Taker && (o.Accepted == 0 || at < o.Accepted) {
			o.Accepted = at
		}
	}
	if o.Accepted != 0 && market.FloorTo(r.Updated, fillTime) == o.Accepted {
		o.Accepted = r.Updated
	}
	answered := w != nil && w.Answer == journal.AnswerAccepted
	switch open := r.Status == market.StatusNew || r.Status == market.StatusAwaitingTrigger; {
	case o.Accepted != 0:
	case r.FilledAmount == 0 && (open || answered && w.Answered == heard):
		o.Accepted = r.Updated
	case answered && w.Sent != 0:
		o.Accepted, o.Estimated = w.Sent+(w.Answered-w.Sent)/2, true
	}
}

// rest begins and ends the time at rest.
func (o *Life) rest(r *market.Report) {
	rests := !r.Status.Terminal() && r.Price != 0 && (!o.Type.HasTrigger() || r.Triggered) &&
		(r.Status == market.StatusNew || r.Status == market.StatusPartiallyFilled)
	if o.Ended = 0; r.Status.Terminal() {
		o.Ended = r.Updated
	}
	if n := len(o.Rests); n > 0 && o.Rests[n-1].To == 0 {
		last := &o.Rests[n-1]
		if rests && last.Price == r.Price && r.Exec != market.ExecUpdated {
			return
		}
		last.To, last.End = max(last.From, r.Updated), endingOf(r.Status)
	}
	if !rests {
		return
	}
	from := r.Updated
	if len(o.Rests) == 0 && !o.Type.HasTrigger() && o.Accepted != 0 && r.Exec != market.ExecUpdated {
		from = o.Accepted
	}
	o.Rests = append(o.Rests, Rest{From: from, Price: r.Price, Amount: r.AmountRemaining})
}

func endingOf(s market.Status) Ending {
	switch s {
	case market.StatusFilled:
		return EndFilled
	case market.StatusCanceled:
		return EndCanceled
	case market.StatusExpired:
		return EndExpired
	}
	return EndUpdated
}

// fill notes a fill, or its fee that was settled later.
func (o *Life) fill(f *market.Fill) {
	for i := range o.Fills {
		if o.Fills[i].ID == f.ID {
			o.Fills[i] = *f
			return
		}
	}
	o.Fills = append(o.Fills, *f)
}

// finish takes over the state of an order from its row, and names what the journal lacks of it.
func (f *builder) finish(o *Life, row *journal.OrderRow) {
	o.describe(&row.Order, row.StrategyName)
	o.State, o.Code = row.State, row.Code
	if !row.State.Terminal() {
		o.Ended = 0
	}
	slices.SortStableFunc(o.Fills, func(x, y market.Fill) int { return cmp.Compare(x.Time, y.Time) })
	switch w := o.Place(); {
	case w == nil:
		o.lack("its place is not in the journal")
	case w.Answer == 0 && o.Accepted == 0:
		o.lack("no answer to its place is in the journal")
	case o.Estimated:
		o.lack("the time of its acceptance is the middle between request and answer")
	case o.Accepted == 0 && row.Reported:
		o.lack("the time of its acceptance is not known")
	}
}
