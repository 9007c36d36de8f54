package state

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// history is the end of a position's history: the position before some steps, and the steps. While
// a fee is not settled, or a fill may still come late, the position is computed from here. So cost
// and realised profit follow the order in which fills happened, not the order of the reports.
type history struct {
	base  market.Position
	steps []step
}

// step is one change of a position: a fill, or base that came or left without a trade (side 0).
// Steps are in the order of their time, steps of one instant in the order of their orders and fill
// ids, because the exchange does not give theirs.
type step struct {
	order   market.OrderID // of the fill
	id      uuid.UUID      // of the fill
	at      market.Time
	side    market.Side
	amount  market.Qty // below zero: base that left without a trade
	price   market.Price
	fee     market.Value
	settled bool
}

// maxSteps bounds the steps of one position. A fee that is settled after more later fills is booked
// on the present position.
const maxSteps = 256

// KeepRecent lets the account compute positions anew when a fill comes late: after fills of other
// orders up to window later. 0, the default, keeps only steps that wait for fees.
func (a *Account) KeepRecent(window market.Duration) { a.window = window }

// historyOf returns the history of a position, nil for none.
func (a *Account) historyOf(s market.StrategyID, m market.ID) *history {
	if a.histories == nil {
		return nil
	}
	return a.histories[s][m]
}

// ensureHistory returns the history of a position; a new one begins with the present position.
func (a *Account) ensureHistory(s market.StrategyID, m market.ID) *history {
	if a.histories == nil {
		a.histories = make([][]*history, len(a.seats))
		for i := range a.histories {
			a.histories[i] = make([]*history, len(a.seats[i]))
		}
	}
	if r := a.histories[s][m]; r != nil {
		return r
	}
	return &history{base: a.seats[s][m].position}
}

func (x *step) compare(y *step) int {
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.order, y.order), bytes.Compare(x.id[:], y.id[:]))
}

// insert returns a history with one more step, usually the latest, and the position after it.
func (r *history) insert(m *market.Market, now step) (market.Position, *history, error) {
	next := &history{base: r.base, steps: slices.Clone(r.steps)}
	next.put(now)
	next.cover()
	p, err := next.replay(m)
	return p, next, err
}

// put puts a step in its place.
func (r *history) put(now step) {
	at := len(r.steps)
	for at > 0 && r.steps[at-1].compare(&now) > 0 {
		at--
	}
	r.steps = slices.Insert(r.steps, at, now)
}

// cover puts base that came after a sale of more than was held before that sale, to its moment: it
// came for the sale, and the books hear of the sale later.
func (r *history) cover() {
	held := r.base.Amount
	for i := range r.steps {
		x := &r.steps[i]
		switch {
		case x.side == market.Buy, x.side == 0:
			held = max(0, held+x.amount)
			continue
		case x.amount > held:
			late := slices.IndexFunc(r.steps[i:], func(y step) bool { return y.side == 0 && y.amount > 0 })
			if late > 0 {
				came := r.steps[i+late]
				came.at = x.at
				r.steps = slices.Delete(r.steps, i+late, i+late+1)
				r.put(came)
				r.cover()
				return
			}
		}
		held = max(0, held-x.amount)
	}
}

// settle returns a history with the fee of a fill. The fee of a fill before the history is booked
// on the first position.
func (r *history) settle(m *market.Market, side market.Side, f *market.Fill) (p market.Position, next *history,
	err error) {
	next = &history{base: r.base, steps: slices.Clone(r.steps)}
	at := slices.IndexFunc(r.steps, func(x step) bool { return x.side != 0 && x.id == f.ID })
	if at >= 0 {
		next.steps[at].fee, next.steps[at].settled = f.Fee, true
	} else {
		next.base, err = charge(r.base, side, f.Fee)
	}
	if err == nil {
		p, err = next.replay(m)
	}
	return p, next, err
}

// save returns the saved form, nil for none.
func (r *history) save() *SavedRecent {
	if r == nil {
		return nil
	}
	b := &r.base
	s := &SavedRecent{Amount: b.Amount, Cost: b.Cost, Realised: b.Realised, Fees: b.Fees, Opened: b.Opened}
	for _, x := range r.steps {
		s.Steps = append(s.Steps, SavedStep{Order: x.order, ID: x.id, At: x.at, Side: x.side, Amount: x.amount,
			Price: x.price, Fee: x.fee, Settled: x.settled})
	}
	return s
}

// restored is the history of the saved form.
func (s *SavedRecent) restored() *history {
	r := &history{base: market.Position{Amount: s.Amount, Cost: s.Cost, Realised: s.Realised, Fees: s.Fees,
		Opened: s.Opened}}
	for _, x := range s.Steps {
		r.steps = append(r.steps, step{order: x.Order, id: x.ID, at: x.At, side: x.Side, amount: x.Amount,
			price: x.Price, fee: x.Fee, settled: x.Settled})
	}
	return r
}

// keepHistory takes over a history, without the steps that can no longer change. A position without
// such steps has no history.
func (a *Account) keepHistory(s market.StrategyID, id market.ID, r *history) {
	if r == nil {
		return
	}
	m, gone := a.catalog.Market(id), 0
	latest := slices.MaxFunc(r.steps, func(x, y step) int { return cmp.Compare(x.at, y.at) }).at
	for gone < len(r.steps) {
		oldest := &r.steps[gone]
		if len(r.steps)-gone <= maxSteps && (!oldest.settled || a.window > 0 && oldest.at > latest.Add(-a.window)) {
			break
		}
		if oldest.apply(m, &r.base) != nil {
			break // it cannot fail: a replay has applied it
		}
		gone++
	}
	if r.steps = r.steps[gone:]; len(r.steps) == 0 {
		r = nil
	}
	a.histories[s][id] = r
}

// replay applies the steps one after another.
func (r *history) replay(m *market.Market) (p market.Position, err error) {
	p = r.base
	for i := range r.steps {
		if err := r.steps[i].apply(m, &p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// apply applies one step. Base that comes has a cost, base that leaves takes its part of the cost
// along; neither realises anything.
func (x *step) apply(m *market.Market, p *market.Position) error {
	switch {
	case x.side != 0:
		return x.fill(m, p)
	case x.amount > 0:
		return x.deposit(m, p)
	}
	return x.withdraw(p)
}

// fill folds a fill into a position.
func (x *step) fill(m *market.Market, p *market.Position) error {
	gross, err := m.Value(x.price, x.amount)
	if err != nil {
		return err
	}
	cash, err := cashOf(x.side, gross, x.fee)
	if err != nil {
		return err
	}
	return bookFill(p, x.side, x.amount, x.at, x.fee, cash)
}

// bookFill folds a fill with its cash into a position. A buy adds its cost, fee included. A sell
// takes its share of the cost, the last one the remainder; an amount sold beyond the position was
// not bought by this strategy and brings no profit. On an error the position has not changed.
func bookFill(p *market.Position, side market.Side, amount market.Qty, at market.Time, fee, cash market.Value) error {
	fees, err := p.Fees.Add(fee)
	if err != nil {
		return err
	}
	if side == market.Buy {
		err = addTo(p, amount, at, cash.Neg())
	} else if sold := min(amount, p.Amount); sold > 0 {
		err = sell(p, sold, cash.Part(int64(sold), int64(amount)))
	}
	if err == nil {
		p.Fees = fees
	}
	return err
}

// sell takes base out of a position for what its sale brought.
func sell(p *market.Position, sold market.Qty, proceeds market.Value) error {
	part := p.Cost.Part(int64(sold), int64(p.Amount))
	gain, err := proceeds.Sub(part)
	if err != nil {
		return err
	}
	realised, err := p.Realised.Add(gain)
	if err != nil {
		return err
	}
	cost, err := p.Cost.Sub(part)
	if err != nil {
		return err
	}
	p.Amount, p.Cost, p.Realised = p.Amount-sold, cost, realised
	return nil
}

func (x *step) deposit(m *market.Market, p *market.Position) error {
	cost, err := m.Value(x.price, x.amount)
	if err != nil {
		return err
	}
	return addTo(p, x.amount, x.at, cost)
}

// addTo adds base that came at a cost. On an error the position has not changed.
func addTo(p *market.Position, amount market.Qty, at market.Time, cost market.Value) error {
	total, err := market.Add(p.Amount, amount)
	if err != nil {
		return err
	}
	sum, err := p.Cost.Add(cost)
	if err != nil {
		return err
	}
	if p.Amount == 0 {
		p.Opened = at
	}
	p.Amount, p.Cost = total, sum
	return nil
}

func (x *step) withdraw(p *market.Position) (err error) {
	gone := min(p.Amount, -x.amount)
	if gone <= 0 {
		return nil
	}
	cost := p.Cost.Part(int64(gone), int64(p.Amount))
	if p.Cost, err = p.Cost.Sub(cost); err != nil {
		return err
	}
	p.Amount -= gone
	return nil
}
