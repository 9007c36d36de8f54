package state

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// openFacts are all that the account knows of some open orders without a look at each.
type openFacts struct {
	ids                              []market.OrderID
	open, inFlight, counted, byQuote int
	buying                           amounts
	bid, ask                         market.Price // the best ones
}

func (f *openFacts) add(o *Order) {
	f.ids = append(f.ids, o.ID)
	f.open++
	if o.InFlight != 0 {
		f.inFlight++
	}
	if o.Type != market.TypeMarket {
		f.counted++
	}
	if o.Side == market.Buy && o.ByQuote() {
		f.byQuote++
	} else if o.Side == market.Buy {
		f.buying.add(int64(o.AmountRemaining))
	}
	if o.canMatch() && o.Side == market.Buy {
		f.bid = max(f.bid, o.Price)
	} else if o.canMatch() && (f.ask == 0 || o.Price < f.ask) {
		f.ask = o.Price
	}
}

// lists compares the lists of open orders, their counters and the best prices with a look at
// each order.
func (a checks) lists() error {
	for s := range a.openOf {
		for m := range a.openIn {
			var want openFacts
			for _, o := range a.orders.All {
				if !o.State.Terminal() && (s == 0 || int(o.Strategy) == s) && (m == 0 || int(o.Market) == m) {
					want.add(o)
				}
			}
			slices.Sort(want.ids)
			if err := a.facts(market.StrategyID(s), market.ID(m), &want); err != nil {
				return err
			}
		}
	}
	return nil
}

// facts checks the open orders of a strategy in a market, 0 for all.
func (a checks) facts(s market.StrategyID, m market.ID, want *openFacts) error {
	var listed []market.OrderID
	for _, o := range a.Open(nil, s, m) {
		listed = append(listed, o.ID)
	}
	l := &a.seats[s][m]
	switch {
	case !slices.Equal(listed, want.ids):
		return fmt.Errorf("strategy %d market %d lists %v as open and has %v", s, m, listed, want.ids)
	case s != 0 && m != 0 && l.byQuote != want.byQuote:
		return fmt.Errorf("strategy %d market %d counts %d buys over quote and has %d", s, m, l.byQuote, want.byQuote)
	case s != 0 && m != 0 && l.buying != want.buying:
		return fmt.Errorf("strategy %d market %d has %v base in buys and counts %v", s, m, want.buying, l.buying)
	case s != 0 && m == 0 && a.OpenBy(s) != want.open:
		return fmt.Errorf("strategy %d counts %d open orders and has %d", s, a.OpenBy(s), want.open)
	case s != 0 && m == 0 && a.InFlightBy(s) != want.inFlight:
		return fmt.Errorf("strategy %d counts %d in flight and has %d", s, a.InFlightBy(s), want.inFlight)
	case s == 0 && m != 0 && a.OpenIn(m) != want.counted:
		return fmt.Errorf("market %d counts %d open orders and has %d", m, a.OpenIn(m), want.counted)
	case s == 0 && m != 0 && a.BestOwn(m, market.Buy) != want.bid:
		return fmt.Errorf("market %d has the best bid %d and knows %d", m, want.bid, a.BestOwn(m, market.Buy))
	case s == 0 && m != 0 && a.BestOwn(m, market.Sell) != want.ask:
		return fmt.Errorf("market %d has the best ask %d and knows %d", m, want.ask, a.BestOwn(m, market.Sell))
	}
	return nil
}
