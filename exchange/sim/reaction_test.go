package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// reaction is what the script does the moment something happens: it gives a command, watches
// another price, or waits for something else.
type reaction struct {
	to    reactionTo
	order market.OrderID
	at    market.Time // of a timer
	words []string
}

type reactionTo uint8

const (
	toPrice reactionTo = iota + 1
	toFill
	toCancel
	toUpdate
	toTimer
)

// react reads a line "on TO …".
func (s *stage) react(to string, words []string) {
	r := reaction{words: words}
	at, err := time.Parse("04:05", to)
	switch {
	case err == nil:
		r.to, r.at = toTimer, market.Time(at.Minute()*60+at.Second())*market.Time(time.Second)
	case to == "price":
		r.to = toPrice
	case to == "cancel":
		r.to, r.order, r.words = toCancel, s.id(words[0]), words[1:]
	case to == "update":
		r.to, r.order, r.words = toUpdate, s.id(words[0]), words[1:]
	default:
		r.to, r.order = toFill, s.id(to)
	}
	s.reactions = append(s.reactions, r)
	s.setTactic()
}

// hear writes an event down and reacts to it.
func (s *stage) hear(ev *market.Event) {
	s.tell(ev)
	if ev.Kind == market.KindTrade {
		s.priced(&s.watches[1], ev.Trade.Price)
	}
	for i := 0; i < len(s.reactions); i++ {
		r := s.reactions[i]
		if !r.waitsFor(ev) {
			continue
		}
		s.reactions = append(s.reactions[:i], s.reactions[i+1:]...)
		i--
		switch r.words[0] {
		case "watch":
			s.watch(r.words[1], s.price(r.words[2]))
		case "on":
			s.react(r.words[1], r.words[2:])
		default:
			s.do(ev.At, r.words)
		}
	}
	s.setTactic()
}

// priced notes a price that was told: a peak rises with it, what a tactic waits for is over.
func (s *stage) priced(w *market.Watch, price market.Price) {
	if w.Peak != 0 {
		w.Peak = max(w.Peak, price)
	}
	if price <= w.Fall {
		w.Fall = 0
	}
	if price >= w.Rise {
		w.Rise = 0
	}
}

func (r *reaction) waitsFor(ev *market.Event) bool {
	switch ev.Kind {
	case market.KindTrade:
		return r.to == toPrice
	case market.KindTimer:
		return r.to == toTimer && r.at <= ev.At
	}
	switch of := ev.Report; r.to {
	case toFill:
		return len(ev.Fills) > 0 && of.Order == r.order
	case toCancel:
		return of.Order == r.order && of.Exec == market.ExecCanceled
	case toUpdate:
		return of.Order == r.order && of.Exec == market.ExecUpdated
	}
	return false
}

// setTactic writes down the next timer, and that a tactic is under way while there is one, or a
// price that it waits for.
func (s *stage) setTactic() {
	var next market.Time
	for _, r := range s.reactions {
		if r.to == toTimer && (next == 0 || r.at < next) {
			next = r.at
		}
	}
	first := &s.watches[1]
	first.Tactic = next != 0 || first.Fall|first.Rise != 0
	s.watches[0].Tactic, s.watches[0].Timer = first.Tactic, next
}

// restart is the end of the engine and another one: it waits for nothing. Of a Book the venue is
// made again too, from the snapshots of its orders.
func (s *stage) restart() {
	clear(s.watches)
	s.reactions = nil
	old := s.open()
	require.Empty(s.t, old.waiting, "a restart while commands are on their way")
	if !s.config.Book {
		return
	}
	s.venue = New(s.catalog, s.config, s.hear)
	state := old.BookState(1)
	s.venue.Resume(1, &state)
	for _, asset := range s.catalog.Assets() {
		require.NoError(s.t, s.venue.Deposit(asset.ID, old.Balance(asset.ID).Total))
	}
	all := append(openOrders(old), ordersAside(old)...)
	slices.SortFunc(all, func(a, b *order) int { return cmp.Compare(a.sequence, b.sequence) })
	for _, o := range all {
		kept, _ := old.Snapshot(o.ID)
		require.NoError(s.t, s.venue.Restore(0, &kept))
	}
}
