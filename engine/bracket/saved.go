package bracket

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Saved is a bracket in an engine's snapshot: strategy and market by name, amounts in the units of
// the saved account. The parts of a bracket that are saved as they are stand in both.
type Saved struct {
	Entry    market.OrderID `json:"entry"`
	Strategy string         `json:"strategy"`
	Market   string         `json:"market"`
	Stop     market.Price   `json:"stop,omitzero"`
	Target   market.Price   `json:"target,omitzero"`
	Keep     market.Leg     `json:"keep,omitzero"`
	Amount   market.Qty     `json:"amount,omitzero"` // bought and not yet sold
	Exit     market.OrderID `json:"exit,omitzero"`   // at the venue or in flight
	Leg      market.Leg     `json:"leg,omitzero"`    // of the exit, present or next
	Swapping bool           `json:"swapping,omitzero"`
	Closed   bool           `json:"closed,omitzero"` // the entry can fill no more
	exposure
	Sold bool `json:"sold,omitzero"`
	least
	StandIn bool `json:"standIn,omitzero"` // the exit stands in for the other leg

	Withdrawn bool       `json:"withdrawn,omitzero"`
	Leaving   market.Qty `json:"leaving,omitzero"`  // the part of Amount that a Close sells
	Ending    bool       `json:"ending,omitzero"`   // a Close has cancelled the exit
	Reducing  bool       `json:"reducing,omitzero"` // a Close has reduced the exit

	trail
	Buyer market.OrderID `json:"buyer,omitzero"` // the order of a tactic that buys now, where it is not the entry
	More  bool           `json:"more,omitzero"`  // a tactic may send more orders
	parting
}

// SavedClose is a Close under way in an engine's snapshot.
type SavedClose struct {
	Strategy string         `json:"strategy"`
	Market   string         `json:"market"`
	Whole    bool           `json:"whole,omitzero"`
	Last     market.OrderID `json:"last"`           // the newest order at the Close
	Only     market.OrderID `json:"only,omitzero"`  // the entry of the only bracket that is closed; 0: all
	Parts    int            `json:"parts,omitzero"` // of that bracket's partial targets are done after it
	Free     market.Qty     `json:"free,omitzero"`  // to be sold that no bracket covers
	Sale     market.OrderID `json:"sale,omitzero"`  // 0: not sent yet
	Tag      string         `json:"tag"`
	Since    market.Time    `json:"since"`
	AtClose  bool           `json:"atClose,omitzero"` // decided on a candle's close
	InPath   bool           `json:"inPath,omitzero"`  // the sale may act inside the path
	Then     *SavedLeave    `json:"then,omitzero"`    // asked for meanwhile; nil: nothing
}

// SavedLeave is a Close that waits for the end of another.
type SavedLeave struct {
	Whole   bool           `json:"whole,omitzero"`
	Amount  market.Qty     `json:"amount,omitzero"`
	Last    market.OrderID `json:"last"`
	AtClose bool           `json:"atClose,omitzero"`
	Tag     string         `json:"tag,omitzero"`
}

// SavedTimes is the time without exits by cause, in nanoseconds.
type SavedTimes map[string]market.Duration

// Changed reports whether the brackets differ from the last MarkSaved.
func (s *Set) Changed() bool {
	return !slices.Equal(s.saved, s.all) || !slices.Equal(s.closes.saved, s.closes.all) ||
		!slices.Equal(s.departs.saved, s.departs.all)
}

// MarkSaved notes that the present brackets are durable.
func (s *Set) MarkSaved() {
	s.saved = append(s.saved[:0], s.all...)
	s.closes.saved = append(s.closes.saved[:0], s.closes.all...)
	s.departs.saved = append(s.departs.saved[:0], s.departs.all...)
}

// Save returns the brackets; names are those of strategies by StrategyID − 1.
func (s *Set) Save(names []string) (all []Saved) {
	for i := range s.all {
		b := &s.all[i]
		all = append(all, Saved{
			Entry: b.entry, Strategy: names[b.strategy-1], Market: s.catalog.Market(b.market).Name,
			Stop: b.levels.Stop, Target: b.levels.Target, Keep: b.levels.Keep, Amount: b.amount, Exit: b.exit,
			Leg: b.leg, Swapping: b.swapping, Closed: b.closed, exposure: b.exposure, Sold: b.sold, least: b.least,
			StandIn: b.standIn, Withdrawn: b.withdrawn, Leaving: b.leaving, Ending: b.ending, Reducing: b.reducing,
			trail: b.trail, Buyer: b.buyer, More: b.more, parting: b.parting,
		})
	}
	return all
}

// SaveCloses returns the Closes under way; names are those of strategies by StrategyID − 1.
func (s *closer) SaveCloses(names []string) (all []SavedClose) {
	for _, c := range s.closes.all {
		all = append(all, SavedClose{Strategy: names[c.strategy-1], Market: s.catalog.Market(c.market).Name,
			Whole: c.whole, Last: c.last, Only: c.only, Parts: c.parts, Free: c.free, Sale: c.sale, Tag: c.tag,
			Since: c.since, AtClose: c.atClose, InPath: c.inPath})
		if t := c.then; t.Market != 0 {
			all[len(all)-1].Then = &SavedLeave{Whole: t.Whole, Amount: t.Amount, Last: t.Last, AtClose: t.AtClose,
				Tag: t.Tag}
		}
	}
	return all
}

// RestoreCloses adds saved Closes to the restored brackets. last is the engine's last order.
func (s *closer) RestoreCloses(all []SavedClose, names []string, last market.OrderID) error {
	for _, from := range all {
		at, m := slices.Index(names, from.Strategy), s.catalog.MarketNamed(from.Market)
		switch {
		case at < 0:
			return fmt.Errorf("close in %s: strategy %q is gone; take it back into the config, or let another "+
				"strategy take over: bot adopt %s NEW", from.Market, from.Strategy, from.Strategy)
		case m == nil:
			return fmt.Errorf("close of %s: market %q is gone", from.Strategy, from.Market)
		case from.Last < 0 || from.Last > last || from.Free < 0 || s.Closing(market.StrategyID(at+1), m.ID):
			return fmt.Errorf("close of %s in %s: order %d, amount %d, the last order was %d", from.Strategy,
				from.Market, from.Last, from.Free, last)
		case !s.fitsParts(&from):
			return fmt.Errorf("close of %s in %s: %d partial targets are done after it, and bracket %d has fewer",
				from.Strategy, from.Market, from.Parts, from.Only)
		case from.Sale != 0 && !s.isSale(from.Sale, market.StrategyID(at+1), m.ID):
			return fmt.Errorf("close of %s in %s: its sale %d is not known: engine and account were not saved together",
				from.Strategy, from.Market, from.Sale)
		}
		s.closes.all = append(s.closes.all, closing{strategy: market.StrategyID(at + 1), market: m.ID,
			whole: from.Whole, last: from.Last, only: from.Only, parts: from.Parts, free: from.Free, sale: from.Sale,
			tag: from.Tag, since: from.Since, atClose: from.AtClose, inPath: from.InPath})
		if t := from.Then; t != nil {
			s.closes.all[len(s.closes.all)-1].then = Leave{Strategy: market.StrategyID(at + 1), Market: m.ID,
				Whole: t.Whole, Amount: t.Amount, Last: t.Last, AtClose: t.AtClose, Tag: t.Tag}
		}
	}
	for i := range s.all {
		if b := &s.all[i]; b.leaving > 0 && !s.Closing(b.strategy, b.market) {
			return fmt.Errorf("bracket %d: a part of it leaves, and no Close is under way", b.entry)
		}
	}
	return nil
}

// SaveTimes returns the counted time without exits, by cause.
func (s *Set) SaveTimes() (times SavedTimes) {
	for _, c := range strategy.Causes() {
		if took := s.unprotected[c]; took > 0 {
			if times == nil {
				times = SavedTimes{}
			}
			times[c.String()] = took
		}
	}
	return times
}

// RestoreTimes takes over the result of SaveTimes.
func (s *Set) RestoreTimes(times SavedTimes) error {
	for name, took := range times {
		var c strategy.Cause
		if err := c.UnmarshalText([]byte(name)); err != nil {
			return err
		}
		s.unprotected[c] = took
	}
	return nil
}

// Restore adds saved brackets to an empty set. last is the engine's last order. An error names the
// bracket and what does not fit the account or the config. A bracket whose exits would be refused
// now is kept and reported.
func (s *Set) Restore(all []Saved, names []string, last market.OrderID) error {
	for i := range all {
		if err := s.restore(&all[i], names, last); err != nil {
			return fmt.Errorf("bracket %d: %w", all[i].Entry, err)
		}
		s.warn(&s.all[len(s.all)-1])
	}
	s.reindex()
	s.watchAll()
	return nil
}

// warn reports a restored bracket of which a leg could not rest under the present rules.
func (s *Set) warn(b *bracket) {
	amount := b.amount
	if o := s.orders.Own(b.buying()); o != nil && !b.closed {
		amount += o.AmountRemaining
	}
	m := s.catalog.Market(b.market)
	for _, leg := range [...]market.Leg{market.KeepStop, market.KeepTarget} {
		if b.level(leg) == 0 {
			continue
		}
		if fault := s.faultAt(b, leg, b.level(leg), amount); fault.Found() {
			s.reports = append(s.reports, strategy.Unprotected{Bracket: b.entry, Strategy: b.strategy, Market: b.market,
				Amount: s.uncovered(b), Levels: b.levels, Cause: causeOf(fault),
				Why: "kept from before, and would be refused now: " +
					fault.Words(m)})
			return
		}
	}
}

func (s *Set) restore(from *Saved, names []string, last market.OrderID) error {
	at, m := slices.Index(names, from.Strategy), s.catalog.MarketNamed(from.Market)
	switch {
	case at < 0:
		return fmt.Errorf("strategy %q is gone; take it back into the config, or let another strategy take over: bot "+
			"adopt %s NEW", from.Strategy, from.Strategy)
	case m == nil:
		return fmt.Errorf("market %q is gone", from.Market)
	case from.Entry <= 0 || from.Entry > last || from.Exit > last || from.Buyer < 0 || from.Buyer > last:
		return fmt.Errorf("the last order was %d, and its exit is %d", last, from.Exit)
	case from.Exit != 0 && !s.isOpen(from.Exit):
		return fmt.Errorf("its exit %d is not open: engine and account were not saved together", from.Exit)
	case from.Leaving < 0 || from.Leaving > max(0, from.Amount):
		return fmt.Errorf("%d of %d leave", from.Leaving, from.Amount)
	case !from.fitsParts(from.Passed) || !from.fitsParts(from.Wanted) || from.Parted < 0:
		return fmt.Errorf("%d partial targets are done, %d are reached, and %d was sold by them; it has %d",
			from.Passed, from.Wanted, from.Parted, from.Follow.Parts.Len())
	case from.Keep > market.KeepTarget || from.Leg > market.KeepTarget:
		return fmt.Errorf("keeps %d and has %d of two exits", from.Keep, from.Leg)
	}
	from.Counted = max(from.Counted, from.UnprotectedSince)
	s.all = append(s.all, bracket{
		entry: from.Entry, strategy: market.StrategyID(at + 1), market: m.ID,
		levels: market.Bracket{Stop: from.Stop, Target: from.Target, Keep: from.Keep},
		amount: from.Amount, exit: from.Exit, leg: from.Leg, swapping: from.Swapping, closed: from.Closed,
		exposure: from.exposure, sold: from.Sold, least: from.least.with(leastOf(m)),
		buyer: from.Buyer, more: from.More, standIn: from.StandIn, withdrawn: from.Withdrawn,
		leaving: from.Leaving, ending: from.Ending, reducing: from.Reducing, trail: from.trail, parting: from.parting,
	})
	return nil
}

// fitsParts reports whether the bracket of a Close, where it is still there, has its partial
// targets.
func (s *closer) fitsParts(c *SavedClose) bool {
	b := s.of(c.Only)
	return c.Parts >= 0 && (b == nil || c.Parts <= b.Follow.Parts.Len())
}

// fitsParts reports whether a bracket can have a number of partial targets behind it.
func (s *Saved) fitsParts(count int) bool { return count >= 0 && count <= s.Follow.Parts.Len() }

func (s *closer) isSale(order market.OrderID, id market.StrategyID, m market.ID) bool {
	o := s.orders.Own(order)
	return o != nil && o.Side == market.Sell && o.Strategy == id && o.Market == m
}

func (s *Set) isOpen(id market.OrderID) bool {
	o := s.orders.Own(id)
	return o != nil && !o.State.Terminal()
}
