package bracket

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Orders is the brackets' view of an engine. inPath lets a command act inside the path of the
// current candle, not at the next open, because it was attached to the entry.
type Orders interface {
	// Last is the latest price of a market, 0 before the first.
	Last(m market.ID) market.Price
	// Own returns an own order that still expects something, open or not, or nil.
	Own(id market.OrderID) *state.Order
	// Unprotect takes the exits from an own order.
	Unprotect(o *state.Order)
	// Place sends an order, which the engine copies. It returns the order's id, or the gate's
	// refusal.
	Place(c *market.Command, inPath bool) (market.OrderID, error)
	// Update changes an open order, or returns the gate's refusal.
	Update(c *market.Command, inPath bool) error
	// Cancel cancels an open order. While another write is in flight, the cancel waits.
	Cancel(id market.OrderID, inPath bool)
	// CancelAll cancels every open order of a strategy in a market.
	CancelAll(id market.StrategyID, m market.ID)
	// Position is a strategy's position in a market, and the part of it that no open sell holds.
	Position(id market.StrategyID, m market.ID) (held, free market.Qty)
	// Pending reports whether an order of a strategy in a market is open, of those numbered up to
	// last, or one of them all has fills that are not booked yet.
	Pending(id market.StrategyID, m market.ID, last market.OrderID) bool
	// Main is the first interval of a strategy.
	Main(id market.StrategyID) market.Interval
	// TakerFee is the fee of a sale at market.
	TakerFee(m market.ID) market.Rate
	// Cost is the average cost of an amount of a strategy's position, fees included.
	Cost(id market.StrategyID, m market.ID, amount market.Qty) market.Value
	// Newest is the newest order number.
	Newest() market.OrderID
	// MayLeave is MayClose for a person, whom no limit of the strategy stops.
	MayLeave(id market.StrategyID, m market.ID, amount market.Qty) (last market.OrderID, err error)
	// MayClose returns the newest order number, or the gate's refusal of a Close over an amount.
	MayClose(id market.StrategyID, m market.ID, amount market.Qty) (last market.OrderID, err error)
	// Buyers are the orders under way that a tactic has sent after the entry of a bracket.
	Buyers(entry market.OrderID) []market.OrderID
	// Moved is called when a stop has moved by itself.
	Moved(m *strategy.StopMoved)
	// PartReached is called when the price has reached partial targets: they are about to be sold,
	// or stay with the rest.
	PartReached(p *strategy.PartReached)
}

// brackets are the brackets with what is computed from them: an index, the watched prices, the time
// without exits. What a callback changes can be taken back, for touch comes before every change.
type brackets struct {
	orders  Orders
	catalog *market.Catalog
	clock   *market.Time // arrival of the current event
	all     []bracket
	watches []market.Watch   // by market
	bare    []market.OrderID // the entries of brackets with a bareSince, in no order
	stopped bool             // nothing new begins
	guards  bool             // stopped, the brackets still place the exits that positions lack
	held    bool             // nothing is sent before Guard: what has happened meanwhile is being learnt
	// finishes: stopped, Closes that have begun go on, and no exit is placed
	finishes bool
	// following counts the brackets with terms to follow
	following int
	undo      []undo                            // of what the current callback has changed, the latest last
	marking   bool                              // a callback is under way
	entryOf   map[market.OrderID]market.OrderID // by exit
	mixed     bool                              // the entries do not rise
	saved     []bracket                         // as last saved
	// reused: a pointer to a local through an interface would allocate on every ask
	command market.Command

	reports, spare []strategy.Unprotected
	// unprotected is by cause, without the uncounted time of bare brackets.
	unprotected [strategy.CauseStopped + 1]market.Duration
}

// Set is all brackets of an engine: it places, swaps and sizes their exits. It is a plain value
// owned by the engine's goroutine.
type Set struct {
	brackets
	closer
	departer
	follower
	outside []market.OrderID // sales of Outside
	places  []int            // of Retry; reused
}

// New returns a set without brackets. clock is the engine's time.
func New(catalog *market.Catalog, clock *market.Time, orders Orders) *Set {
	s := &Set{brackets: brackets{orders: orders, catalog: catalog, clock: clock,
		watches: make([]market.Watch, len(catalog.Markets())+1), entryOf: make(map[market.OrderID]market.OrderID)}}
	s.closer = closer{brackets: &s.brackets, departer: &s.departer, exits: s}
	s.departer.closer, s.follower.closer = &s.closer, &s.closer
	return s
}

func (s *brackets) now() market.Time { return *s.clock }

// Len is the number of brackets, of Closes under way, and of positions that are to be left.
func (s *Set) Len() int { return len(s.all) + len(s.closes.all) + len(s.departs.all) }

// Busy reports whether there are brackets, Closes or reports.
func (s *Set) Busy() bool { return s.Len()+len(s.reports)+len(s.closes.failures) > 0 }

// Watches returns the nearest prices that brackets wait for, by market.ID. The slice belongs to the
// set and changes.
func (s *Set) Watches() []market.Watch { return s.watches }

// Stop lets brackets and Closes send nothing more but cancels, unless Guard follows. They still
// follow reports, and go on after a Restore.
func (s *Set) Stop() { s.stopped = true }

// silent reports whether nothing is sent but cancels.
func (s *brackets) silent() bool { return (s.stopped || s.held) && !s.guards }

// Hold lets brackets, Closes and departures of a restored set send nothing until Guard.
func (s *Set) Hold() { s.held = true }

// Resume lets every restored bracket try again at once what it waited for: causes may have gone
// while no bot ran.
func (s *Set) Resume() {
	for i := range s.all {
		if b := &s.all[i]; b.UnprotectedSince != 0 {
			b.resetFailures()
		}
	}
}

// hasLevels reports whether there is a stop or a target.
func hasLevels(levels market.Bracket) bool { return levels.Stop != 0 || levels.Target != 0 }

// Open adds the bracket of an entry with exits attached.
func (s *Set) Open(o *market.Order) {
	if !hasLevels(o.Bracket) {
		return
	}
	s.add(bracket{entry: o.ID, strategy: o.Strategy, market: o.Market, levels: o.Bracket,
		leg: firstLeg(o.Bracket), least: leastOf(s.catalog.Market(o.Market))})
}

// Protect opens a bracket, with an id of its own, over base that is held already. If no exit can be
// placed, it returns the refusal and opens none.
func (s *Set) Protect(name market.OrderID, id market.StrategyID, m market.ID, amount market.Qty,
	levels market.Bracket) error {
	b, news := s.add(bracket{
		entry: name, strategy: id, market: m, levels: levels, leg: firstLeg(levels), amount: amount, closed: true,
		least: leastOf(s.catalog.Market(m)),
	}), len(s.reports)
	b.Began, b.Bought, b.Paid = s.now(), amount, s.orders.Cost(id, m, amount)
	if err := s.attempt(b, false); b.exit == 0 {
		s.reports = s.reports[:news] // the refusal says it
		s.remove(b)
		return err
	}
	s.rewatch(b)
	return nil
}

// add adds a bracket behind the others.
func (s *brackets) add(b bracket) *bracket {
	if s.marking {
		s.undo = append(s.undo, undo{added: true})
	}
	s.mixed = len(s.all) > 0 && (s.mixed || s.all[len(s.all)-1].entry > b.entry)
	s.all = append(s.all, b)
	return &s.all[len(s.all)-1]
}

// Covered is the amount of a strategy's brackets in a market.
func (s *brackets) Covered(id market.StrategyID, m market.ID) (amount market.Qty) {
	for i := range s.all {
		if b := &s.all[i]; b.strategy == id && b.market == m {
			amount += b.amount
		}
	}
	return amount
}

// IsExit reports whether an order is the exit of a bracket or the sale of a Close.
func (s *closer) IsExit(id market.OrderID) bool {
	b := s.of(id)
	return b != nil && b.exit == id || s.closes.selling(id) != nil
}

// EntryOf is the entry of the bracket that an order belongs to: as its entry, its exit, or the sale
// of a Close of that bracket alone. 0: the order belongs to no bracket.
func (s *closer) EntryOf(id market.OrderID) market.OrderID {
	if c := s.closes.selling(id); c != nil {
		return c.only
	}
	if b := s.of(id); b != nil {
		return b.entry
	}
	return 0
}

// of returns the bracket with this entry or exit, or nil.
func (s *brackets) of(id market.OrderID) *bracket {
	if entry, is := s.entryOf[id]; is {
		id = entry
	}
	if at := s.placeOf(id); at >= 0 {
		return &s.all[at]
	}
	return nil
}

// placeOf returns the place of the bracket with this entry, or -1.
func (s *brackets) placeOf(entry market.OrderID) int {
	if s.mixed {
		return slices.IndexFunc(s.all, func(b bracket) bool { return b.entry == entry })
	}
	at := sort.Search(len(s.all), func(i int) bool { return s.all[i].entry >= entry })
	if at < len(s.all) && s.all[at].entry == entry {
		return at
	}
	return -1
}

// setExit sets the exit of a bracket; 0: it has none.
func (s *brackets) setExit(b *bracket, exit market.OrderID) {
	s.touch(b)
	if b.exit != 0 {
		delete(s.entryOf, b.exit)
	}
	if b.exit = exit; exit != 0 {
		s.entryOf[exit] = b.entry
	}
}

// End ends the bracket of an order at its strategy's wish, unless the entry has bought nothing yet:
// the exit is cancelled and not replaced.
func (s *Set) End(id market.StrategyID, order market.OrderID) {
	if b := s.of(order); b != nil && b.strategy == id && !b.untouched() {
		s.dissolve(b)
	}
}

// EndIn ends the brackets of a market, in any phase: its trading has ended for good.
func (s *Set) EndIn(m market.ID) {
	for i := len(s.all) - 1; i >= 0; i-- {
		if b := &s.all[i]; b.market == m {
			s.dissolve(b)
		}
	}
}

func (s *Set) dissolve(b *bracket) {
	exit := b.exit
	if c := s.closes.of(b.strategy, b.market); c != nil {
		c.free += b.leaving
	}
	if o := s.orders.Own(b.entry); o != nil {
		s.orders.Unprotect(o)
	}
	s.remove(b)
	if exit != 0 {
		s.orders.Cancel(exit, false)
	}
}

func (s *brackets) remove(b *bracket) {
	m := b.market
	at := s.placeOf(b.entry)
	s.protect(b)
	s.setExit(b, 0)
	for _, order := range s.buyers(b) {
		delete(s.entryOf, order)
	}
	w := b.watched
	s.countFollowing(b, -1)
	if s.marking {
		s.undo = append(s.undo, undo{removed: true, at: at, was: *b})
	}
	s.all = slices.Delete(s.all, at, at+1)
	s.unwatch(m, w)
}

// undo takes back one change of the brackets: it adds or removes one, or changes it.
type undo struct {
	added   bool // behind the others
	removed bool // from at
	at      int
	was     bracket // before
}

// Mark begins a callback, for Rollback.
func (s *Set) Mark() {
	s.undo, s.marking = s.undo[:0], true
	if len(s.closes.all)+len(s.closes.marked) > 0 {
		s.closes.marked = append(s.closes.marked[:0], s.closes.all...)
	}
}

// Unmark ends a callback.
func (s *Set) Unmark() { s.marking = false }

// touch comes before every change of a bracket.
func (s *brackets) touch(b *bracket) {
	if s.marking {
		s.keep(b)
	}
}

// keep keeps a bracket as it was before a change in a callback.
func (s *brackets) keep(b *bracket) {
	if last := len(s.undo) - 1; last >= 0 && s.undo[last].was.entry == b.entry && !s.undo[last].removed {
		return // it has what was before this change too
	}
	s.undo = append(s.undo, undo{was: *b})
}

// takeBack undoes what the current callback has changed.
func (s *brackets) takeBack() {
	for at := len(s.undo) - 1; at >= 0; at-- {
		switch u := &s.undo[at]; {
		case u.added:
			s.all = s.all[:len(s.all)-1]
		case u.removed:
			s.all = slices.Insert(s.all, u.at, u.was)
		default:
			s.all[slices.IndexFunc(s.all, func(b bracket) bool { return b.entry == u.was.entry })] = u.was
		}
	}
	if len(s.undo) > 0 {
		s.reindex()
	}
	s.undo = s.undo[:0]
}

// Rollback restores the brackets of the last Mark, and calls keep with every exit that stays.
func (s *Set) Rollback(keep func(exit market.OrderID)) {
	s.takeBack()
	s.closes.all = append(s.closes.all[:0], s.closes.marked...)
	for i := range s.all {
		if b := &s.all[i]; !b.swapping && !b.ending {
			keep(b.exit)
		}
	}
	s.watchAll()
	s.marking = false
}

// reindex makes anew what the set keeps beside its brackets.
func (s *brackets) reindex() {
	s.bare, s.following, s.mixed = s.bare[:0], 0, false
	clear(s.entryOf)
	for i := range s.all {
		b := &s.all[i]
		s.mixed = s.mixed || i > 0 && s.all[i-1].entry > b.entry
		if b.exit != 0 {
			s.entryOf[b.exit] = b.entry
		}
		for _, order := range s.buyers(b) {
			s.entryOf[order] = b.entry
		}
		if b.UnprotectedSince != 0 {
			s.bare = append(s.bare, b.entry)
		}
		s.countFollowing(b, 1)
	}
}

// Check reports an error where what the set keeps beside its brackets does not agree with them.
func (s *Set) Check() error {
	own := *s
	own.entryOf, own.watches, own.bare = map[market.OrderID]market.OrderID{}, slices.Clone(s.watches), nil
	own.reindex()
	slices.Sort(own.bare)
	bare := slices.Sorted(slices.Values(s.bare))
	if !slices.Equal(own.bare, bare) || own.following != s.following || !maps.Equal(own.entryOf, s.entryOf) ||
		own.mixed && !s.mixed {
		return fmt.Errorf("brackets: %v bare, exits %v; they say %v bare, exits %v", s.bare, s.entryOf, own.bare,
			own.entryOf)
	}
	for i := range s.all {
		if b := &s.all[i]; b.leaving < 0 || b.leaving > max(0, b.amount) || b.amount < 0 {
			return fmt.Errorf("bracket %d: %d of %d leave", b.entry, b.leaving, b.amount)
		}
	}
	own.all = slices.Clone(s.all)
	own.watchAll()
	if !slices.Equal(own.watches, s.watches) {
		return fmt.Errorf("brackets: watches %v, they say %v", s.watches, own.watches)
	}
	return nil
}
