package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// cell is one cell of transitions, with its place.
type cell struct {
	outcome resolution
	answer  answer
	moment  moment
	step    step
}

// cells are all cells, the empty ones included.
func cells() (all []cell) {
	for o := resolved; o < outcomes; o++ {
		for a := noAnswer; a < answers; a++ {
			for m := range moments {
				all = append(all, cell{o, a, m, transitions[o][a][m]})
			}
		}
	}
	return all
}

func (c cell) String() string {
	return fmt.Sprintf("%+v", struct{ outcome, answer, moment, step any }(c.fields()))
}

func (c cell) fields() struct{ outcome, answer, moment, step any } {
	return struct{ outcome, answer, moment, step any }{c.outcome, c.answer, c.moment, c.step}
}

// is reports whether the answer is one of some.
func (a answer) is(some ...answer) bool { return slices.Contains(some, a) }

// is reports whether the outcome is one of some.
func (o resolution) is(some ...resolution) bool { return slices.Contains(some, o) }

// taken reports whether the exchange has said that it has the order, and the order has not ended.
func (o resolution) taken() bool {
	return o.is(resolved, updateInFlight, cancelInFlight, updateUnresolved, oldUpdateUnresolved, cancelUnresolved)
}

// inFlight reports whether a write is on its way.
func (o resolution) inFlight() bool { return o.is(placeInFlight, updateInFlight, cancelInFlight) }

// notFound reports whether the answer is a 240 to a query.
func (a answer) notFound() bool { return a.is(notFound, notFoundAgain, notFoundLong) }

// found reports whether the answer is a record that a query brought.
func (a answer) found() bool { return a.is(foundOpen, foundChanged, foundEnded, foundChangedEnded) }

// noticed reports whether the answer is an event of the account channel that can be true.
func (a answer) noticed() bool { return a >= noticedOpen && a <= noticedChangedEnded }

// lists reports whether the answer is one of the lists' that any outcome can have.
func (a answer) lists() bool { return a >= listsFailed && a <= listsNothing && a != listsTradesLong }

// listed reports whether the answer is that the list of each minute shows an order open that has
// ended.
func (a answer) listed() bool { return a.is(listedOpen, listedAgain, listedLong) }

// stays reports whether a step leaves outcome and books as they are, and queries again at a time.
func (c cell) stays(then followUp) bool { return c.step == step{c.outcome, nothing, then} }

// canCome reports whether an answer can come in an outcome.
func canCome(o resolution, a answer) bool {
	switch {
	case a.is(foundChanged, foundChangedEnded): // only of an update is it known what it asked for
		return o == updateUnresolved
	case a.is(noticedChanged, noticedChangedEnded): // the event itself may tell of an update
		return o.is(updateInFlight, updateUnresolved, oldUpdateUnresolved)
	case a == listsTradesLong:
		return o == placeUnresolved
	case a.lists(): // they are asked where a 240 was answered that counts
		return o.taken() || o.listed() || o.is(placeUnresolved, ended)
	case a.listed(): // the list of each minute tells them of orders alone that the books do not have open
		return o.listed() || o.is(ended, absent)
	case a.is(accepted, acceptedEnded):
		return o.listed() || o.is(placeInFlight, updateInFlight, ended)
	case a == acceptedCancel:
		return o.listed() || o.is(cancelInFlight, ended)
	case a.is(refused, refusedNotFound, unanswered, writeRefuted):
		// the answer to a write may be overtaken by the order's end
		return o.listed() || o.inFlight() || o == ended
	}
	return true
}

// rule is a sentence about cells. holds is asked of the cells alone that about is true of.
type rule struct {
	text  string
	about func(c cell) bool
	holds func(c cell) bool
}

func filled(c cell) bool { return c.step.next != 0 }

// rules are the contract of outcomes, written without the table in view: design.md "What live must
// get right".
var rules = []rule{
	{"a cell is empty exactly where the answer cannot come", func(c cell) bool { return true }, func(c cell) bool {
		can := canCome(c.outcome, c.answer) && (c.answer != listsTradesLong || c.moment == after)
		return can == filled(c) && (filled(c) || c.step == step{})
	}},
	{"what is no answer, or cannot be true, changes nothing, and the question is put again", func(c cell) bool {
		return filled(c) && c.answer.is(noAnswer, answerRefuted, listsFailed, listsRefuted)
	}, func(c cell) bool {
		switch {
		case !c.answer.lists() || c.outcome.listed():
			return c.stays(inTurn)
		case c.outcome == placeUnresolved:
			return c.stays(inSecond)
		}
		return c.stays(inFive)
	}},
	{"a place is absent where, after its window, two 240s lie apart and then neither list knows it, and never else",
		filled, func(c cell) bool {
			proven := c.outcome == placeUnresolved && c.answer == listsNothing && c.moment == after
			if proven {
				return c.step == step{absent, endAbsent, never}
			}
			return c.step.do != endAbsent && (c.step.next != absent || c.outcome == absent)
		}},
	{"a 240 ends nothing and resolves nothing", func(c cell) bool { return filled(c) && c.answer.notFound() },
		func(c cell) bool {
			return c.step.next == c.outcome && (c.step.do == nothing || c.step.do == reportNotFound)
		}},
	{"a person is told of the first 240 about an order that the exchange had taken, and of no other", filled,
		func(c cell) bool {
			return (c.step.do == reportNotFound) == (c.answer == notFound && (c.outcome.taken() || c.outcome == ended))
		}},
	{"the lists are asked after 240s that lie apart, of a place after its window alone", filled, func(c cell) bool {
		due := c.answer == notFoundLong && (c.outcome.taken() || c.outcome == placeUnresolved && c.moment == after)
		return (c.step.then == askLists) == due
	}},
	{"a 240 about a place counts after its window alone, and two have to lie apart", func(c cell) bool {
		return c.outcome == placeUnresolved && c.answer.notFound()
	}, func(c cell) bool {
		switch {
		case c.moment != after:
			return c.step.then == atEnd
		case c.answer == notFound:
			return c.step.then == apart
		}
		return c.answer == notFoundLong || c.step.then == inSecond
	}},
	{"an order that is not found is queried often, one that has ended seldom, one that is absent no more",
		func(c cell) bool {
			return c.answer.notFound() && c.outcome != placeUnresolved
		}, func(c cell) bool {
			switch c.outcome {
			case ended:
				return c.step.then == inMinute
			case absent:
				return c.step.then == never
			case placeInFlight, endedListed, endedCancelling:
				return c.step.then == inTurn
			}
			return c.answer == notFoundLong || c.step.then == inFive
		}},
	{"while a place is in flight a 240 tells nothing: it has not arrived yet", func(c cell) bool {
		return c.outcome == placeInFlight && c.answer.notFound()
	}, func(c cell) bool { return c.stays(inTurn) }},
	{"a status that ends resolves", func(c cell) bool {
		return filled(c) && c.answer.is(foundEnded, foundChangedEnded, acceptedEnded) &&
			(c.answer != acceptedEnded || !c.outcome.listed())
	}, func(c cell) bool { return c.step.next == ended }},
	{"a place that is found has been taken, before its answer or without it", func(c cell) bool {
		return c.outcome.is(placeInFlight, placeUnresolved) && c.answer.found() && filled(c)
	}, func(c cell) bool {
		return c.step == step{map[answer]resolution{foundOpen: resolved, foundEnded: ended}[c.answer], foldPlaced,
			inTurn}
	}},
	{"a record of an order without an unresolved write is folded", func(c cell) bool {
		return c.answer.found() && filled(c) && c.outcome.is(resolved, updateInFlight, cancelInFlight, ended)
	}, func(c cell) bool {
		next := c.outcome
		if c.answer == foundEnded {
			next = ended
		}
		return c.step == step{next, fold, inTurn}
	}},
	{"an order that is found after it was taken for absent is taken back", func(c cell) bool {
		return c.outcome == absent && c.answer.found() && filled(c)
	}, func(c cell) bool {
		if c.answer == foundOpen {
			return c.step == step{resolved, fold, inTurn}
		}
		return c.step == step{ended, fold, never}
	}},
	{"an update is resolved by the values it asked for, or by the end of its window, and not by an answer older than " +
		"itself", func(c cell) bool {
		return c.outcome.is(updateUnresolved, oldUpdateUnresolved) && c.answer.is(foundOpen, foundChanged)
	}, func(c cell) bool {
		shown := c.answer == foundChanged && c.moment != early
		switch {
		case !filled(c):
			return true
		case c.moment == after && c.answer == foundOpen && c.outcome == updateUnresolved:
			return c.step == step{resolved, foldRefused, inTurn}
		case c.moment == after || shown:
			return c.step == step{resolved, foldUpdated, inTurn}
		}
		return c.step == step{c.outcome, fold, byEnd}
	}},
	{"an order that ends under an update shows whether the update came first", func(c cell) bool {
		return c.outcome.is(updateUnresolved, oldUpdateUnresolved) && c.answer.is(foundEnded, foundChangedEnded) &&
			filled(c)
	}, func(c cell) bool {
		did := c.answer == foundChangedEnded && c.moment != early || c.outcome == oldUpdateUnresolved &&
			c.moment == after
		return c.step == step{ended, map[bool]effect{true: foldUpdated, false: fold}[did], inTurn}
	}},
	{"a cancel is resolved by the end of the order, or by an order that is open after the window", func(c cell) bool {
		return c.outcome == cancelUnresolved && c.answer.found() && filled(c)
	}, func(c cell) bool {
		switch {
		case c.answer == foundEnded:
			return c.step == step{ended, fold, inTurn}
		case c.moment == after:
			return c.step == step{resolved, foldRefused, inTurn}
		}
		return c.step == step{cancelUnresolved, fold, byEnd}
	}},
	{"lists that know an unresolved place, or were asked too early, have its 240s counted anew", func(c cell) bool {
		return c.outcome == placeUnresolved && c.answer.is(listsOpen, listsTrades, listsNothing) &&
			(c.answer != listsNothing || c.moment != after)
	}, func(c cell) bool {
		if c.answer == listsTrades {
			return c.step == step{placeUnresolved, foldTrades, anew}
		}
		return c.stays(anew)
	}},
	{"a place that has traded and that no query finds, long after its window, ends with its trades", func(c cell) bool {
		return c.answer == listsTradesLong && filled(c)
	}, func(c cell) bool { return c.step == step{ended, endByTrades, inTurn} }},
	{"an order that the exchange had taken stays open where it is listed, and ends with its trades where it is not",
		func(c cell) bool {
			return c.outcome.taken() && c.answer.is(listsOpen, listsTrades, listsNothing)
		}, func(c cell) bool {
			if c.answer == listsOpen {
				return c.step == step{c.outcome, logListed, laterList}
			}
			return c.step == step{ended, endByTrades, inTurn}
		}},
	{"the lists change nothing of an order that ended while they were asked", func(c cell) bool {
		return c.outcome == ended && c.answer.lists()
	}, func(c cell) bool { return c.stays(inFive) }},
	{"nor of one that the list of each minute shows open after its end", func(c cell) bool {
		return c.outcome.listed() && c.answer.lists()
	}, func(c cell) bool { return c.stays(inTurn) }},
	{"an order that two lists show open after its end is queried, then cancelled; a fifth list halts",
		func(c cell) bool {
			return c.answer.listed() && filled(c)
		}, func(c cell) bool {
			do := map[answer]effect{listedOpen: reportListedEnded, listedAgain: cancelListed,
				listedLong: haltListed}[c.answer]
			next := endedCancelling
			switch {
			case c.answer == listedOpen && c.outcome.listed(): // it is told already
				do, next = nothing, c.outcome
			case c.answer == listedOpen:
				next = endedListed
			case c.answer == listedAgain && c.outcome == endedCancelling: // the cancel is on its way already
				do = nothing
			}
			return c.step == step{next, do, soon}
		}},
	{"an order is taken back where a query finds it after lists have shown it open", filled, func(c cell) bool {
		switch {
		case c.outcome.listed() && c.answer == foundEnded:
			return c.step == step{ended, reopen, inTurn}
		case c.outcome.listed() && c.answer == foundOpen:
			return c.step == step{map[resolution]resolution{endedListed: resolved,
				endedCancelling: cancelInFlight}[c.outcome], reopen, inTurn}
		}
		return c.step.do != reopen
	}},
	{"a write is sent, a cancel alone, where lists show an order open that the books cannot take back", filled,
		func(c cell) bool {
			sends := c.step.do == cancelListed || c.step.do == haltListed
			return sends == (c.answer == listedLong || c.answer == listedAgain && c.outcome != endedCancelling)
		}},
	{"the answer to the cancel of an order that the books do not have open is told, and resolves nothing but by an end",
		func(c cell) bool {
			return c.outcome.listed() && c.answer >= accepted
		}, func(c cell) bool {
			switch c.answer {
			case accepted, acceptedEnded: // an update that the end has overtaken
				return c.stays(soon)
			case refused, refusedNotFound:
				return c.step == step{endedListed, reportRefused, inTurn}
			}
			return c.step == step{endedListed, nothing, soon}
		}},
	{"trades by themselves are booked and resolve nothing", func(c cell) bool { return c.answer == tradesSeen },
		func(c cell) bool {
			if c.outcome == absent {
				return c.stays(soon)
			}
			return c.step == step{c.outcome, foldTrades, inTurn}
		}},
	{"an event that cannot be true changes nothing, and the order is queried at once", func(c cell) bool {
		return c.answer == noticeRefuted
	}, func(c cell) bool { return c.stays(soon) }},
	{"an event shows that a place was taken, before its answer or without it", func(c cell) bool {
		return c.outcome.is(placeInFlight, placeUnresolved) && c.answer.noticed() && filled(c)
	}, func(c cell) bool {
		return c.step == step{map[answer]resolution{noticedOpen: resolved, noticedEnded: ended}[c.answer], foldPlaced,
			inTurn}
	}},
	{"an event that shows an update carried out resolves it at any moment", func(c cell) bool {
		return c.answer.is(noticedChanged, noticedChangedEnded) && filled(c)
	}, func(c cell) bool {
		next := map[answer]resolution{noticedChanged: resolved, noticedChangedEnded: ended}[c.answer]
		return c.step == step{next, foldUpdated, inTurn}
	}},
	{"an event about an order that the exchange had taken is folded; of a write only the order's end resolves anything",
		func(c cell) bool {
			return c.outcome.taken() && c.answer.is(noticedOpen, noticedEnded)
		}, func(c cell) bool {
			switch {
			case c.answer == noticedEnded:
				return c.step == step{ended, fold, inTurn}
			case c.outcome.is(updateUnresolved, oldUpdateUnresolved, cancelUnresolved):
				return c.step == step{c.outcome, fold, byEnd}
			}
			return c.step == step{c.outcome, fold, inTurn}
		}},
	{"an event takes an order back that was taken for absent", func(c cell) bool {
		return c.outcome == absent && c.answer.noticed() && filled(c)
	}, func(c cell) bool {
		if c.answer == noticedOpen {
			return c.step == step{resolved, fold, inTurn}
		}
		return c.step == step{ended, fold, never}
	}},
	{"an event that shows an order open after its end leads to a query, and opens nothing", func(c cell) bool {
		return (c.outcome == ended || c.outcome.listed()) && c.answer.noticed() && filled(c)
	}, func(c cell) bool {
		if c.outcome == ended && c.answer == noticedEnded {
			return c.step == step{ended, fold, inTurn}
		}
		return c.stays(soon)
	}},
	{"an accepted write is resolved, an accepted cancel not before its order is seen to have ended", func(c cell) bool {
		return filled(c) && c.outcome.inFlight() && c.answer.is(accepted, acceptedEnded, acceptedCancel)
	}, func(c cell) bool {
		switch {
		case c.answer == acceptedCancel:
			return c.step == step{cancelUnresolved, nothing, soon}
		case c.step.do != map[resolution]effect{placeInFlight: foldPlaced, updateInFlight: foldUpdated}[c.outcome]:
			return false
		}
		return c.step.then == inTurn &&
			c.step.next == map[answer]resolution{accepted: resolved, acceptedEnded: ended}[c.answer]
	}},
	{"a refused write is resolved: it did nothing; where its order was not found, a query tells how that has ended",
		func(c cell) bool {
			return c.outcome.inFlight() && c.answer.is(refused, refusedNotFound)
		}, func(c cell) bool {
			want := step{resolved, reportRefused, inTurn}
			switch {
			case c.outcome == placeInFlight:
				want.next = ended
			case c.answer == refusedNotFound:
				want.then = soon
			}
			return c.step == want
		}},
	{"a write without an answer that can be believed is unresolved, and queried at once", func(c cell) bool {
		return c.outcome.inFlight() && c.answer.is(unanswered, writeRefuted)
	}, func(c cell) bool {
		unresolved := map[resolution]resolution{placeInFlight: placeUnresolved, updateInFlight: updateUnresolved,
			cancelInFlight: cancelUnresolved}
		return c.step == step{unresolved[c.outcome], reportUnknown, soon}
	}},
	{"the answer to a write that the order's end has overtaken changes no outcome", func(c cell) bool {
		return c.outcome == ended && c.answer >= accepted
	}, func(c cell) bool {
		switch c.answer {
		case accepted, acceptedEnded:
			return c.step == step{ended, foldUpdated, inTurn}
		case refused:
			return c.step == step{ended, reportRefused, inTurn}
		case refusedNotFound:
			return c.step == step{ended, reportRefused, soon}
		}
		return c.stays(soon)
	}},
}

// broken is the text of the first rule that a cell breaks, "" for none.
func broken(c cell) string {
	for _, r := range rules {
		if r.about(c) && !r.holds(c) {
			return r.text
		}
	}
	return ""
}

func TestEveryOutcomeAndEveryAnswerAtEveryMomentKeepsTheRules(t *testing.T) {
	for _, c := range cells() {
		require.Empty(t, broken(c), c)
	}
}

// Each part of each cell, the empty ones included, is replaced by each other value that it could
// have.
func TestNoCellCanBeAnotherWithoutBreakingARule(t *testing.T) {
	flips := 0
	for _, c := range cells() {
		var others []step
		for next := range outcomes {
			others = append(others, step{next, c.step.do, c.step.then})
		}
		for do := nothing; do <= haltListed; do++ {
			others = append(others, step{c.step.next, do, c.step.then})
		}
		for then := inTurn; then <= never; then++ {
			others = append(others, step{c.step.next, c.step.do, then})
		}
		for _, other := range others {
			if flip := (cell{c.outcome, c.answer, c.moment, other}); other != c.step {
				flips++
				require.NotEmpty(t, broken(flip), "%v may be %v as well", c, other)
			}
		}
	}
	t.Logf("%d cells, %d flips", len(cells()), flips)
}

// setting is a loop with one order of a known outcome, and the time at which its last write was
// sent.
type setting struct {
	*play
	q    *query
	sent market.Time
}

const (
	sinceAfter = 10 * time.Second // of a write's sending it is known that its outcome is not
	untilAfter = 20 * time.Second // the exchange can take it no more
	nowAfter   = 30 * time.Second
)

// set makes the order 1 and brings it to an outcome.
func set(t *testing.T, o resolution) *setting {
	p := playing(t, nil)
	s := &setting{play: p, sent: p.loop.stamp()}
	order := market.Order{ID: 1, ClientOrderID: uuid.UUID{1}, Market: 1, Strategy: 1, Side: market.Buy,
		Type: market.TypeLimit, OrderState: market.OrderState{Amount: 8, Price: 80_00}, Created: s.sent}
	own := p.account.Send(&order, 0)
	c := market.Command{Kind: market.CommandPlace, Order: order}
	s.q = p.loop.queryOf(1)
	p.loop.now = s.sent.Add(nowAfter)
	switch o {
	case placeInFlight, placeUnresolved:
	case absent:
		p.loop.answer(&c, market.ExecUnknown, 0)
		p.loop.answer(&c, market.ExecRejected, 0)
	case ended, endedListed, endedCancelling:
		p.loop.report(1, s.record(market.StatusCanceled, 4), market.ExecNew) // its fill is still missing
		s.q.listed, s.q.cancelling = o.listed(), o == endedCancelling
	default:
		p.loop.report(1, s.record(market.StatusNew, 0), market.ExecNew)
		switch o {
		case updateInFlight, updateUnresolved, oldUpdateUnresolved:
			c = s.command(market.CommandUpdate)
			p.account.SendUpdate(own, 0)
		case cancelInFlight, cancelUnresolved:
			c = s.command(market.CommandCancel)
			p.account.SendCancel(own)
		}
	}
	if o.is(placeUnresolved, updateUnresolved, oldUpdateUnresolved, cancelUnresolved) {
		s.q.unresolved = &unresolved{outcome: o, command: c, since: s.sent.Add(sinceAfter),
			until: s.sent.Add(untilAfter)}
	}
	if o.is(placeInFlight, updateInFlight, cancelInFlight) {
		p.loop.writes[1] = &outgoing{command: c}
	}
	p.s.heard = nil
	return s
}

// command is a write of the order; an update asks for the price 79.
func (s *setting) command(kind market.CommandKind) market.Command {
	c := market.Command{Kind: kind, Order: s.account.Known(1).Order, Changed: market.ChangePrice}
	c.Order.Price = 79_00
	return c
}

// record is the order as the exchange tells it.
func (s *setting) record(status market.Status, filled market.Qty) *exchange.WireOrder {
	o := s.account.Known(1).Order
	o.Status, o.FilledAmount, o.AmountRemaining, o.Updated = status, filled, o.Amount-filled, s.sent
	return &exchange.WireOrder{Order: o}
}

// reply makes a reply that reads as an answer.
func (s *setting) reply(a answer, m moment, write resolution) *reply {
	s.loop.verify = believe // its replies are about outcomes, and say little else
	r := &reply{from: fromQuery,
		asked: s.sent.Add([moments]time.Duration{5 * time.Second, 15 * time.Second, 25 * time.Second}[m])}
	status := market.StatusNew
	if a.is(foundEnded, foundChangedEnded, acceptedEnded, noticedEnded, noticedChangedEnded) {
		status = market.StatusFilled
	}
	r.record = s.record(status, 0)
	switch {
	case a.lists() || a == listsTradesLong:
		r.from, r.record, r.open = fromLists, nil, a == listsOpen
		if a == listsTradesLong {
			s.q.unresolved.until = r.asked.Add(-acceptedPatience)
		}
		if s.q.notFoundSince = r.asked; a.is(listsTrades, listsTradesLong) {
			r.trades = []exchange.Trade{{Fill: market.Fill{ID: uuid.UUID{7}, Price: 80_00, Amount: 1}}}
		}
	case a.listed():
		r.from, r.record, r.shown = fromRegular, nil, map[answer]int{listedOpen: 2, listedAgain: 3, listedLong: 5}[a]
	case a == tradesSeen:
		r.from, r.record, r.trades = fromTrades, nil, []exchange.Trade{{Fill: market.Fill{ID: uuid.UUID{7},
			Price: 80_00, Amount: 1}}}
	case a.noticed() || a == noticeRefuted:
		r.from, r.exec = fromNotice, market.ExecTrade
		r.record.Order.Updated = s.loop.now
	case a >= accepted:
		r.from, r.write = fromSend, &outgoing{command: s.command(kindOf(a, write)),
			intent: exchange.Intent{Timestamp: s.sent.Millis(), Window: 20_000}}
	}
	switch a {
	case noAnswer, unanswered, listsFailed:
		r.err = errLost
	case notFound, notFoundAgain, notFoundLong, refusedNotFound:
		r.err = exchange.ErrCode(exchange.CodeNotFound)
		s.q.notFoundSince = map[answer]market.Time{notFoundAgain: r.asked - 1,
			notFoundLong: r.asked.Add(-acceptedPatience)}[a]
	case refused:
		r.err = exchange.ErrCode(exchange.CodeHalted)
	case foundChanged, foundChangedEnded:
		r.record.Order.Price = 79_00
	case noticedChanged, noticedChangedEnded:
		r.exec, r.record.Order.Price = market.ExecUpdated, 79_00
	case answerRefuted, listsRefuted, writeRefuted, noticeRefuted:
		s.loop.verify = func(*state.Order, *reply) (string, bool) { return "amount 8 is 9", false }
	}
	return r
}

// believe is a verify that finds nothing wrong.
func believe(*state.Order, *reply) (problem string, ok bool) { return "", true }

// kindOf is the write that an answer answers.
func kindOf(a answer, o resolution) market.CommandKind {
	switch {
	case o == placeInFlight:
		return market.CommandPlace
	case o == cancelInFlight || a == acceptedCancel:
		return market.CommandCancel
	}
	return market.CommandUpdate
}

// Every cell is played in a loop with a real account: the reply is read as the answer that it is,
// what follows is what the cell says, and nothing is sent.
func TestTheLoopCarriesOutWhatTheTableSays(t *testing.T) {
	for _, c := range cells() {
		if !filled(c) || c.moment != after && !c.outcome.is(placeUnresolved, updateUnresolved, oldUpdateUnresolved,
			cancelUnresolved) {
			continue
		}
		s := set(t, c.outcome)
		r := s.reply(c.answer, c.moment, c.outcome)
		own := s.account.Known(1)
		require.Equal(t, c.outcome, s.q.outcome(own), c)
		require.Equal(t, c.moment, s.q.moment(r.asked), c)
		before := *s.q
		s.loop.receive(s.q, r)

		require.Equal(t, c.step.next, s.q.outcome(s.account.Known(1)), c)
		cancels := c.step.do == cancelListed || c.step.do == haltListed && c.outcome != endedCancelling
		require.Equal(t, cancels, s.loop.outbox.holds(1), c)
		require.False(t, cancels && s.loop.outbox.of[1][0].command.Kind != market.CommandCancel, c)
		require.Empty(t, s.box.leaves, c)
		require.NoError(t, s.account.Check(), c)
		s.requireHeard(c)
		if s.loop.queries.of[1] != nil {
			s.requireFollowUp(c, &before, r.asked)
		}
		if c.step.then == never {
			require.Nil(t, s.loop.queries.of[1], c)
		}
	}
}

// requireHeard requires that the strategy heard of its order what an effect tells.
func (s *setting) requireHeard(c cell) {
	heard := strings.Join(s.s.heard, ", ")
	refused := slices.Contains([]effect{foldRefused, reportRefused, endAbsent}, c.step.do)
	require.Equal(s.t, refused, strings.Contains(heard, "rejected"), "%v heard %q", c, heard)
	require.Equal(s.t, c.step.do == reportUnknown || c.step.do == endAbsent, strings.Contains(heard, "unknown"),
		"%v heard %q", c, heard)
	if slices.Contains([]effect{nothing, reportNotFound, logListed}, c.step.do) {
		require.Empty(s.t, heard, c)
	}
	require.Equal(s.t, slices.Contains(s.journal.remarks, "missing: order 1"), c.step.do == reportNotFound, c)
	require.Equal(s.t, slices.Contains(s.journal.remarks, "gone: order 1"), c.step.do == endByTrades, c)
	require.Equal(s.t, slices.Contains(s.journal.remarks, "open after its end: order 1"),
		c.step.do == reportListedEnded,
		c)
	_, halted := s.loop.Engine.Halted(1)
	require.Equal(s.t, c.step.do == haltListed, halted, c)
	booked := c.step.do == foldTrades || c.step.do == endByTrades && c.answer.is(listsTrades, listsTradesLong)
	require.Equal(s.t, booked, s.s.fills == 1, c)
}

// requireFollowUp requires that the next query comes when a cell says.
func (s *setting) requireFollowUp(c cell, before *query, asked market.Time) {
	now, q, until := s.loop.now, s.q, s.sent.Add(untilAfter)+1
	want := map[followUp]market.Time{inTurn: before.next, inMinute: before.next, soon: now, askLists: now,
		byEnd: min(before.next, until), atEnd: max(before.next, until),
		inSecond: now.Add(time.Second), anew: now.Add(time.Second), inFive: now.Add(5 *
			time.Second), laterList: now.Add(5 * time.Second), apart: asked.Add(2 * time.Second)}
	require.Equal(s.t, want[c.step.then], q.next, c)
	require.Equal(s.t, c.step.then == askLists, q.lists, c)
	switch {
	case c.answer.noticed() || c.answer.found() || c.answer.is(accepted, acceptedEnded) || c.step.then == anew:
		require.Zero(s.t, q.notFoundSince, c)
	case c.step.then == apart || c.step.do == reportNotFound:
		require.Equal(s.t, asked, q.notFoundSince, c)
	case c.step.then == laterList:
		require.Equal(s.t, now.Add(5*time.Minute), q.notFoundSince, c)
	default:
		require.Equal(s.t, before.notFoundSince, q.notFoundSince, c)
	}
}
