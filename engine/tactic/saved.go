package tactic

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Saved is a MakerFirst or a TWAP under way: amounts in the units of the saved account.
type Saved struct {
	strategy.Tactic
	ID       market.OrderID `json:"id"` // of its first order
	Strategy string         `json:"strategy"`
	Market   string         `json:"market"`
	Side     market.Side    `json:"side"`
	Exits    bool           `json:"exits,omitzero"`
	Tag      string         `json:"tag,omitzero"`
	Amount   market.Qty     `json:"amount,omitzero"` // its size in base; 0: in money
	Money    market.Money   `json:"money,omitzero"`
	Done     market.Qty     `json:"done,omitzero"` // bought or sold
	Made     market.Qty     `json:"made,omitzero"` // of it, as a maker
	Value    market.Value   `json:"value,omitzero"`
	Order    market.OrderID `json:"order,omitzero"` // of MakerFirst, under way
	Open     []SavedPart    `json:"open,omitempty"` // orders of a TWAP under way
	Phase    uint8          `json:"phase"`
	Began    market.Time    `json:"began"`
	From     market.Price   `json:"from"`
	Sent     int            `json:"sent,omitzero"` // parts of a TWAP whose time has come
	Next     market.Time    `json:"next,omitzero"` // of the next move, order or attempt, at the earliest
	Due      market.Time    `json:"due,omitzero"`  // of the next timer; 0: none
}

// SavedPart is an order of a TWAP under way.
type SavedPart struct {
	ID    market.OrderID `json:"id"`
	Units market.Money   `json:"units"`
	Done  market.Qty     `json:"done,omitzero"`
	Value market.Value   `json:"value,omitzero"`
}

// Save returns the input of Restore, in the order of the tactics; the caller owns it.
func (s *Set) Save() (saved []Saved) {
	for _, t := range s.all {
		due := t.due
		if due == farAhead {
			due = 0
		}
		saved = append(saved, Saved{Tactic: t.Tactic, ID: t.id, Strategy: s.core.Name(t.strategy),
			Market: s.catalog.Market(t.market).Name, Side: t.side, Exits: t.exits, Tag: t.tag, Amount: t.amount,
			Money: t.money, Done: t.done, Made: t.made, Value: t.value, Order: t.order, Phase: uint8(t.phase),
			Began: t.began, From: t.from, Sent: t.parts, Next: t.next, Due: due})
		for _, p := range t.open {
			last := &saved[len(saved)-1]
			last.Open = append(last.Open, SavedPart{p.id, p.units, p.done, p.value})
		}
	}
	return saved
}

// Restore takes over the tactics that were under way.
func (s *Set) Restore(saved []Saved, last market.OrderID) error {
	for i := range saved {
		t, err := s.restored(&saved[i], last)
		if err != nil {
			return fmt.Errorf("tactic of order %d: %w", saved[i].ID, err)
		}
		s.all = append(s.all, t)
		for _, p := range t.open {
			if p.id != t.id { // which the bracket knows as its entry
				s.exits.Continue(t.id, p.id)
			}
		}
	}
	return nil
}

func (s *Set) restored(from *Saved, last market.OrderID) (*tactic, error) {
	id, markets := s.core.Named(from.Strategy)
	m := s.catalog.MarketNamed(from.Market)
	switch {
	case id == 0:
		return nil, fmt.Errorf("strategy %q is gone; take it back into the config, or let another strategy take over: "+
			"bot adopt %s NEW", from.Strategy, from.Strategy)
	case m == nil || !slices.Contains(markets, m.ID):
		return nil, fmt.Errorf("strategy %s does not trade %s any more; take it back into the config", from.Strategy,
			from.Market)
	case from.ID <= 0 || from.ID > last || from.Order > last:
		return nil, fmt.Errorf("its order is %d, and the last one was %d", from.Order, last)
	case from.Order != 0 && !s.isOf(from, id, m, from.Order):
		return nil, fmt.Errorf("its order %d is not known: engine and account were not saved together", from.Order)
	case (from.Amount > 0) == (from.Money > 0) || from.Amount < 0 || from.Money < 0 || from.Done < 0 || from.Made < 0:
		return nil, fmt.Errorf("its size is %d in base and %d in money, and %d are done", from.Amount, from.Money,
			from.Done)
	case from.Over > 0 && (from.Sent < 1 || from.Sent > from.Parts):
		return nil, fmt.Errorf("%d of %d parts are sent", from.Sent, from.Parts)
	case from.Phase < uint8(working) || from.Phase > uint8(ending) || from.Side != market.Buy &&
		from.Side != market.Sell,
		from.Every <= 0 && from.Over <= 0, from.Over > 0 && (from.Parts <= 0 || from.Step() <= 0):
		return nil, fmt.Errorf("phase %d, side %d, %s", from.Phase, from.Side, from.Words())
	}
	due := from.Due
	if due == 0 {
		due = farAhead
	}
	var open []child
	for _, p := range from.Open {
		if !s.isOf(from, id, m, p.ID) || p.Units <= 0 {
			return nil, fmt.Errorf("its order %d is not known: engine and account were not saved together", p.ID)
		}
		open = append(open, child{p.ID, p.Units, p.Done, p.Value})
	}
	return &tactic{open: open, Tactic: from.Tactic, id: from.ID, strategy: id, market: m.ID,
		side: from.Side, exits: from.Exits,
		tag: from.Tag, amount: from.Amount, money: from.Money, done: from.Done, made: from.Made, value: from.Value,
		order: from.Order, phase: phase(from.Phase), began: from.Began, from: from.From, parts: from.Sent,
		next: from.Next, due: due}, nil
}

// isOf reports whether an order is known and can be one of a saved tactic.
func (s *Set) isOf(t *Saved, id market.StrategyID, m *market.Market, order market.OrderID) bool {
	o := s.account.Known(order)
	return o != nil && o.Strategy == id && o.Market == m.ID && o.Side == t.Side
}

// Resume ends the tactics that have more to send and whose time was over when the bot came
// back: what they should have traded then is a decision of the past. A rest whose maker order was
// being cancelled is taken. Where no time has passed since the save, all tactics go on.
func (s *Set) Resume(saved market.Time) {
	if *s.clock == saved {
		return
	}
	for _, t := range s.all {
		end := s.takeTime(t)
		if t.Over != 0 {
			end = t.began.Add(t.Over)
		}
		if t.phase != working || *s.clock < end || t.Over != 0 && t.parts == t.Parts {
			continue
		}
		t.phase, t.next, t.due = ending, *s.clock, *s.clock
		s.core.Changed()
		s.core.Log(t.strategy).Warn().Str("market", s.catalog.Market(t.market).Name).
			Str("tactic", t.Words()).Msg("tactic: its time was over before the restart; the rest is not traded")
	}
}

// Figures say in an order's explanation which tactic sent it, and how far it is.
func (t *tactic) Figures(c *market.Command, m *market.Market) []state.Figure {
	after := t.done
	if c.Kind == market.CommandPlace {
		after += c.Order.Amount
	}
	name := strategy.TagMakerFirst
	if t.Over != 0 {
		name = strategy.TagTWAP
	}
	if t.phase != working {
		name = strategy.TagTaken
	}
	of := m.FormatQty(t.amount)
	if t.money != 0 {
		of = m.FormatMoney(t.money)
	}
	figures := []state.Figure{{Name: name, Before: m.FormatQty(t.done), After: m.FormatQty(after), Limit: of}}
	if t.follow != nil {
		figures = append(figures, port.Follows(t.follow, m))
	}
	return figures
}
