package profit

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// adopted is a position, or money, that went from one strategy to another: a flow of both, and none
// of the account.
type adopted struct {
	at       market.Time
	from, to uint32       // places in ledger.names
	value    market.Money // in the account's currency
	cost     market.Money // of a position, likewise
	money    bool         // it is money of their own
}

// epoch is the time from an adoption on, for a strategy in a market: whatever is booked in it
// counts after that adoption.
type epoch struct {
	number uint32 // of the adoption, from 1
	at     market.Time
}

// adopt adds an adoption.
func (l *timeline) adopt(b *journal.Booking) {
	a := adopted{at: b.At, from: l.strategy(b.StrategyName), to: l.strategy(b.To), value: b.Worth.Value,
		money: b.Market == 0}
	if b.Market == 0 {
		a.cost = a.value
		l.adopted = append(l.adopted, a)
		return
	}
	m := l.catalog.Market(b.Market)
	if l.currency != nil && m.Quote == l.currency.ID {
		a.cost, _ = b.Cost.NearestMoney(m.MoneyDrop()) // beyond the range of money there is no curve either
	}
	if !b.Worth.Known {
		a.value = a.cost
	}
	l.adopted = append(l.adopted, a)
	one, other := [2]uint32{a.from, uint32(b.Market)}, [2]uint32{a.to, uint32(b.Market)}
	now := epoch{number: uint32(len(l.adopted)), at: max(b.At, l.epochs[one].at, l.epochs[other].at)}
	if l.epochs == nil {
		l.epochs = map[[2]uint32]epoch{}
	}
	l.epochs[one], l.epochs[other] = now, now
	l.events = append(l.events, event{at: b.At, counts: now.at, epoch: now.number, newOwner: a.to + 1, market: b.Market,
		settled: true, strategy: a.from, amount: market.Qty(b.Money), fee: b.Cost})
}

// replayAdoption gives a whole position to another strategy, as it was booked: an older file may
// lack the events that led to it.
func (l *timeline) replayAdoption(all holdings, e *event, wanted func(*event) bool) (err error) {
	newOwner := *e
	newOwner.strategy = e.newOwner - 1
	from, to := l.holding(all, e), l.holding(all, &newOwner)
	from.asked, to.asked = from.asked || wanted(e), to.asked || wanted(&newOwner)
	if to.Amount == 0 || from.Opened < to.Opened {
		to.Opened = cmp.Or(from.Opened, e.at)
	}
	if to.Amount, err = market.Add(to.Amount, e.amount); err != nil {
		return err
	}
	if to.Cost, err = to.Cost.Add(e.fee); err != nil {
		return err
	}
	to.gross, err = to.gross.Add(from.gross)
	from.Amount, from.Cost, from.gross, from.Opened = 0, market.Value{}, market.Value{}, 0
	return err
}

// adoptions adds the adoptions of a strategy to its flows. own says that it has money of its own. A
// strategy without that has no equity, so that an adopted position brings it what it has already
// earned, and no more; likewise base that comes or leaves.
func (l *timeline) adoptions(flows []flow, strategy string, until market.Time) (_ []flow, own bool) {
	own = slices.ContainsFunc(flows, func(f flow) bool { return !f.base })
	for i := range l.adopted {
		a := &l.adopted[i]
		own = own || a.money && l.names[a.to] == strategy
	}
	for i := range flows {
		if f := &flows[i]; !own {
			f.value, f.given = f.value-f.given, 0
		}
	}
	for i := range l.adopted {
		a := &l.adopted[i]
		f := flow{at: a.at + 1, value: a.value, given: a.cost} // behind the last sample of the run before
		switch strategy {
		case l.names[a.to]:
			f.strategy = a.to
		case l.names[a.from]:
			f.strategy, f.value, f.given = a.from, -a.value, -a.cost
		default:
			continue
		}
		if !own {
			f.value, f.given = f.value-f.given, 0
		}
		if f.value != 0 && (until == 0 || f.at < until) {
			flows = append(flows, f)
		}
	}
	return flows, own
}
