package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Restore restores a saved account with its orders, in any sequence, except its prices. strategies
// are the names of the present
// strategies by StrategyID − 1; their order, and that of the catalog's markets, may have changed. A
// strategy that is no longer configured may leave only dust and money, which become unallocated
// (Released); a market that is no longer listed may have neither position nor order; units must be
// the same. The error says what differs; the account is then unchanged. An allocation may hold more
// than it has (Check). The profit of a strategy that holds nothing and is no longer configured is
// forgotten.
func (a *Account) Restore(data []byte, orders [][]byte, strategies []string) error {
	s, err := parseSaved(data, orders)
	if err != nil {
		return fmt.Errorf("account: %w", err)
	}
	slices.SortFunc(s.Orders, func(x, y SavedOrder) int { return cmp.Compare(x.ID, y.ID) })
	if err := a.restore(s, strategies); err != nil {
		return fmt.Errorf("account: %w", err)
	}
	return nil
}

// parseSaved reads a saved account with its orders.
func parseSaved(data []byte, orders [][]byte) (*SavedAccount, error) {
	s := &SavedAccount{}
	if err := market.ParseSaved(data, savedVersion, s); err != nil {
		return nil, err
	}
	if len(orders) != s.Open {
		return nil, fmt.Errorf("%d orders were saved with it, and there are %d", s.Open, len(orders))
	}
	for _, text := range orders {
		var o SavedOrder
		if err := market.ParseSaved(text, savedVersion, &o); err != nil {
			return nil, fmt.Errorf("an order: %w", err)
		}
		s.Orders = append(s.Orders, o)
	}
	return s, nil
}

// SavedTotals is what a saved account has of each asset, all allocations together. The units have
// to be those of the catalog.
func SavedTotals(catalog *market.Catalog, data []byte) (map[market.AssetID]market.Money, error) {
	s := &SavedAccount{}
	if err := market.ParseSaved(data, savedVersion, s); err != nil {
		return nil, err
	}
	totals := map[market.AssetID]market.Money{}
	for i := range s.Allocations {
		for symbol, money := range s.Allocations[i].Totals {
			asset := catalog.AssetNamed(symbol)
			if asset == nil || asset.Digits != s.Assets[symbol] {
				return nil, fmt.Errorf("%s is not an asset of the catalog with %d decimals", symbol, s.Assets[symbol])
			}
			totals[asset.ID] += money
		}
	}
	return totals, nil
}

// SavedMarkets lists the markets, by strategy and sorted, in which a saved account has base or an
// order.
func SavedMarkets(data []byte, orders [][]byte) (map[string][]string, error) {
	s, err := parseSaved(data, orders)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	markets := map[string][]string{}
	for i := range s.Positions {
		if p := &s.Positions[i]; p.Amount > 0 {
			markets[p.Strategy] = append(markets[p.Strategy], p.Market)
		}
	}
	for i := range s.Orders {
		o := &s.Orders[i]
		markets[o.Strategy] = append(markets[o.Strategy], o.Market)
	}
	for name, list := range markets {
		slices.Sort(list)
		markets[name] = slices.Compact(list)
	}
	return markets, nil
}

func (a *Account) restore(s *SavedAccount, strategies []string) error {
	if len(strategies) != len(a.seats)-1 {
		return fmt.Errorf("%d strategies have %d names", len(a.seats)-1, len(strategies))
	}
	if err := a.checkUnits(s); err != nil {
		return err
	}
	own := make([]bool, len(a.allocationOf))
	for id, allocation := range a.allocationOf {
		own[id] = allocation > 0
	}
	r := restorer{Account: NewAccount(a.catalog, len(strategies), own), ids: map[string]market.StrategyID{"": 0}}
	for i, name := range strategies {
		r.ids[name] = market.StrategyID(i + 1)
	}
	r.marks, r.quotes, r.foreign, r.window = slices.Clone(a.marks), a.quotes, s.Foreign, a.window
	if err := r.restoreAllocations(s); err != nil {
		return err
	}
	for i := range s.Positions {
		if err := r.restorePosition(&s.Positions[i]); err != nil {
			return err
		}
	}
	r.tracked = forSave
	for i := range s.Orders {
		if err := r.restoreOrder(&s.Orders[i]); err != nil {
			return fmt.Errorf("order %d: %w", s.Orders[i].ID, err)
		}
		r.touched = append(r.touched, s.Orders[i].ID) // the next save removes it if it is forgotten by then
	}
	r.outdateAll()
	if err := (checks{r.Account}).consistent(); err != nil {
		return err
	}
	*a = *r.Account
	return nil
}

// checkUnits compares markets and assets with the catalog, and requires that everything saved
// refers to a listed one.
func (a *Account) checkUnits(s *SavedAccount) error {
	if err := a.catalog.CheckUnits(s.Markets); err != nil {
		return err
	}
	for i := range s.Positions {
		if _, listed := s.Markets[s.Positions[i].Market]; !listed {
			return fmt.Errorf("a position in %q has no units", s.Positions[i].Market)
		}
	}
	for i := range s.Orders {
		if _, listed := s.Markets[s.Orders[i].Market]; !listed {
			return fmt.Errorf("order %d in %q has no units", s.Orders[i].ID, s.Orders[i].Market)
		}
	}
	for _, p := range s.Allocations {
		for symbol := range p.Totals {
			digits, listed := s.Assets[symbol]
			asset := a.catalog.AssetNamed(symbol)
			switch {
			case !listed:
				return fmt.Errorf("a balance of %q has no decimals", symbol)
			case asset == nil:
				return fmt.Errorf("asset %s was saved and is not there any more", symbol)
			case asset.Digits != digits:
				return fmt.Errorf("asset %s was saved with %d decimals and now has %d", symbol, digits, asset.Digits)
			}
		}
	}
	return nil
}

// restorer is an account being restored, with the strategies' ids by name.
type restorer struct {
	*Account
	ids map[string]market.StrategyID
}

func (r *restorer) restoreAllocations(s *SavedAccount) error {
	saved := map[string]bool{}
	for i := range s.Allocations {
		p := &s.Allocations[i]
		saved[p.Owner] = true
		id, known := r.ids[p.Owner]
		switch {
		case !known: // its money becomes unallocated, where it has neither position nor order
			for symbol, total := range p.Totals {
				r.released[r.catalog.AssetNamed(symbol).ID] += total
			}
			id = 0
		case id > 0 && r.allocationOf[id] == 0:
			return fmt.Errorf("strategy %q had an allocation of its own and now has none", p.Owner)
		}
		for symbol, total := range p.Totals {
			balance := &r.balances[id][r.catalog.AssetNamed(symbol).ID]
			sum, err := market.Add(balance.Total, total)
			if err != nil {
				return fmt.Errorf("balance of %s: %w", symbol, err)
			}
			balance.Total = sum
		}
	}
	for _, name := range s.Strategies {
		if id, known := r.ids[name]; known && id > 0 && r.allocationOf[id] > 0 && !saved[name] {
			return fmt.Errorf("strategy %q had no allocation and now has one of its own", name)
		}
	}
	return nil
}

// isDust reports whether a position is too small to be sold, as far as its cost tells.
func (s *SavedPosition) isDust(m *market.Market) bool {
	return s.Amount < m.MinOrderInBase ||
		m.MinOrderInQuote > 0 && s.Cost.Cmp(m.MoneyValue(m.MinOrderInQuote)) < 0
}

func (r *restorer) restorePosition(s *SavedPosition) error {
	m := r.catalog.MarketNamed(s.Market)
	if m == nil && s.Amount != 0 {
		return fmt.Errorf("market %s is gone and strategy %q holds %d units there", s.Market, s.Strategy, s.Amount)
	} else if m == nil {
		return nil
	}
	id, known := r.ids[s.Strategy]
	if !known {
		if s.Amount > 0 && !s.isDust(m) && m.Status == market.Delisted {
			return fmt.Errorf("strategy %q is gone and holds %s of %s, which the exchange lists no more; take it back "+
				"into the config, start, then write it off: bot resolve --gone %s", s.Strategy,
				m.FormatQty(s.Amount), m.Name, m.Name)
		}
		if s.Amount > 0 && !s.isDust(m) {
			return fmt.Errorf("strategy %q is gone and holds %s of %s; take it back into the config, or let another "+
				"strategy take over: bot adopt %s NEW", s.Strategy, m.FormatQty(s.Amount), m.Name, s.Strategy)
		}
		if s.Amount > 0 {
			r.left = append(r.left, *s)
		}
		return nil
	}
	r.seats[id][m.ID].position = market.Position{Amount: s.Amount, Cost: s.Cost, Realised: s.Realised, Fees: s.Fees,
		Opened: s.Opened}
	if s.Recent != nil && len(s.Recent.Steps) > 0 {
		r.ensureHistory(id, m.ID)
		r.histories[id][m.ID] = s.Recent.restored()
	}
	return nil
}

func (r *restorer) restoreOrder(s *SavedOrder) error {
	m := r.catalog.MarketNamed(s.Market)
	if m == nil {
		return fmt.Errorf("market %s is gone", s.Market)
	}
	id, known := r.ids[s.Strategy]
	o := &Order{Order: s.order(m, id)}
	o.touched = forSave
	if err := o.restoreLocal(s); err != nil {
		return err
	}
	switch {
	case !known && o.State.Terminal():
		return nil
	case !known || id == 0:
		return fmt.Errorf("strategy %q is gone; take it back into the config, or let another strategy take over: bot "+
			"adopt %s NEW", s.Strategy, s.Strategy)
	case s.ID <= 0 || r.orders.Get(s.ID) != nil:
		return errors.New("is no order's number, or twice there")
	}
	if err := o.checkRestored(); err != nil {
		return err
	}
	o.seat = r.seatOf(o)
	r.orders.Put(o.ID, o)
	if o.inferred() {
		r.keepAbsent(o) // orders are sorted by number: the latest stay
	}
	if o.State.Terminal() {
		return nil
	}
	allocation := r.balanceOf(o)
	held, err := market.Add(allocation.Held, o.OnHold)
	if err != nil {
		return err
	}
	allocation.Held = held
	r.openIn[o.Market].holds[o.Side] += o.OnHold
	r.addOpen(o)
	return nil
}

// checkRestored returns what is impossible in a restored order.
func (o *Order) checkRestored() error {
	switch {
	case o.Side == 0 || o.Type == 0:
		return errors.New("has no side or no type")
	case min(o.Price, o.TriggerAmount) < 0 || min(o.Amount, o.AmountRemaining, o.FilledAmount, o.counted) < 0 ||
		min(o.AmountQuote, o.AmountQuoteRemaining, o.OnHold, o.extra) < 0:
		return errors.New("has an amount below zero")
	case o.extra > o.OnHold || o.State.Terminal() && o.OnHold != 0:
		return fmt.Errorf("holds %d while %s, %d of it for an update", o.OnHold, o.State, o.extra)
	}
	return nil
}

// order is the part that the exchange knows too.
func (s *SavedOrder) order(m *market.Market, by market.StrategyID) market.Order {
	o := s.Order
	o.Market, o.Strategy = m.ID, by
	o.FeeCurrency, o.OnHoldCurrency = m.Quote, m.Quote
	o.Bracket = market.Bracket{Stop: s.Stop, Target: s.Target, Keep: s.Keep}
	if o.Side == market.Sell {
		o.OnHoldCurrency = m.Base
	}
	return o
}

// restoreLocal restores what the exchange cannot know.
func (o *Order) restoreLocal(s *SavedOrder) error {
	o.CancelWanted, o.Reported, o.Code = s.CancelWanted, s.Reported, s.Code
	o.extra, o.counted, o.unanswered = s.Extra, s.Counted, s.Inferred
	state := slices.Index(stateNames[:], s.State)
	if state <= 0 {
		return fmt.Errorf("state %q is none of %v", s.State, stateNames[1:])
	}
	o.State = State(state)
	if o.State.Terminal() {
		o.extra = 0 // version 1 kept it also for ended orders
	}
	for _, kind := range [...]market.CommandKind{0, market.CommandPlace, market.CommandUpdate, market.CommandCancel} {
		if kind.String() == s.InFlight {
			o.InFlight = kind
		}
	}
	if o.InFlight.String() != s.InFlight {
		return fmt.Errorf("in flight is %q, which is no command", s.InFlight)
	}
	for _, f := range s.Fills {
		o.fills = append(o.fills, fillMark{id: f.ID, settled: f.Settled})
		if !f.Settled {
			o.unsettled++
		}
	}
	return nil
}
