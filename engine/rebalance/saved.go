package rebalance

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Saved is the buys of a strategy that wait for its sells.
type Saved struct {
	Strategy string           `json:"strategy"`
	At       market.Time      `json:"at"` // of Desk.Rebalance
	Sells    []market.OrderID `json:"sells"`
	Closes   []string         `json:"closes,omitzero"` // markets with a Close that the buys wait for
	Buys     []SavedBuy       `json:"buys"`
	Reserve  market.Money     `json:"reserve,omitzero"` // cash that stays
}

// SavedBuy is the amount of a market that waits to be bought.
type SavedBuy struct {
	Market string     `json:"market"`
	Amount market.Qty `json:"amount"`
}

// Save returns the input of Restore; the caller owns it.
func (s *Set) Save() (saved []Saved) {
	for i, r := range s.kept {
		if r == nil {
			continue
		}
		buys := make([]SavedBuy, len(r.buys))
		for i, b := range r.buys {
			buys[i] = SavedBuy{s.catalog.Market(b.market).Name, b.amount}
		}
		var closes []string
		for _, m := range r.closes {
			closes = append(closes, s.catalog.Market(m).Name)
		}
		saved = append(saved, Saved{Strategy: s.core.Name(market.StrategyID(i + 1)), At: r.at, Sells: r.sells,
			Closes: closes, Buys: buys, Reserve: r.reserve})
	}
	return saved
}

// Restore takes over the buys that waited. Those of a strategy that does not trade their market any
// more are dropped.
func (s *Set) Restore(saved []Saved) {
	for i := range saved {
		from := &saved[i]
		id, markets := s.core.Named(from.Strategy)
		if id == 0 {
			continue
		}
		r := &rebalance{at: from.At, sells: from.Sells, reserve: from.Reserve}
		for _, b := range from.Buys {
			if m := s.catalog.MarketNamed(b.Market); m != nil && slices.Contains(markets, m.ID) {
				r.buys, r.quote = append(r.buys, leg{market: m.ID, amount: b.Amount}), m.Quote
			}
		}
		for _, name := range from.Closes {
			if m := s.catalog.MarketNamed(name); m != nil {
				r.closes = append(r.closes, m.ID)
			}
		}
		if len(r.buys) == len(from.Buys) && len(r.buys) > 0 {
			s.set(id, r)
		}
	}
}
