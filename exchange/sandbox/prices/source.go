package prices

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Source is where a market's price comes from.
type Source interface {
	// Movements returns the movements of the market's price from s.From on. The same Start gives
	// the same movements. A later From leaves out the movements before it and changes no other one:
	// an exchange that was killed gets the prices that it would have had. A source whose price
	// stands still at From returns it once, so that the market has a price.
	Movements(s Start) (Movements, error)
}

// Start is where a source begins. A source serves one exchange alone.
type Start struct {
	Market    *market.Market // whose units all prices and amounts have
	Seed      uint64         // the exchange's
	Beginning market.Time    // of the exchange's first run, less its history: the moment that a source counts from
	From      market.Time    // of the first movement, at the earliest; not before Beginning
}

// Movements writes the next movement into m and reports whether there is one: without, the price
// stands still from now on. Movements come in order of time.
type Movements func(m *Movement) (bool, error)

// Movement is one step of a market's price: a trade between others, or a price alone.
type Movement struct {
	At     market.Time
	Price  market.Price
	Amount market.Qty  // traded; 0: nothing was
	Side   market.Side // of the taker
}

// Fixed is a price that stands still: a decimal in the market's quote currency, "95000.50". It is
// traded at once when the exchange starts, the market's smallest amount, so that there is a last
// price; then never again.
type Fixed string

// Movements returns the one movement.
func (f Fixed) Movements(s Start) (Movements, error) {
	price, err := Parse(s.Market, string(f))
	if err != nil {
		return nil, err
	}
	amount, done := max(s.Market.MinOrderInBase, smallest(s.Market)), false
	return func(m *Movement) (bool, error) {
		if done {
			return false, nil
		}
		done = true
		*m = Movement{At: s.From, Price: price, Amount: amount, Side: market.Buy}
		return true, nil
	}, nil
}

// Steady is a price that stands still, as Fixed, with liquidity that comes back: the taken part of
// a level is there again after Refill at the latest.
type Steady struct {
	Price  string
	Refill market.Duration // 0: never
}

// Movements returns the trade of the beginning, and then the same price, without a trade, at every
// multiple of Refill.
func (f Steady) Movements(s Start) (Movements, error) {
	first, err := Fixed(f.Price).Movements(s)
	if err != nil || f.Refill <= 0 {
		return first, err
	}
	at := s.Beginning + (s.From-s.Beginning)/market.Time(f.Refill)*market.Time(f.Refill)
	var again Movement
	return func(m *Movement) (bool, error) {
		if again.Price == 0 {
			_, err := first(m)
			again = Movement{At: at, Price: m.Price, Side: m.Side}
			return true, err
		}
		again.At = again.At.Add(f.Refill)
		*m = again
		return true, nil
	}, nil
}

// Parse reads a decimal in the quote currency as a price that the market can have: positive and a
// multiple of the tick. An error names the market.
func Parse(m *market.Market, text string) (market.Price, error) {
	price, err := m.ParsePrice(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: price: %w", m.Name, err)
	case price <= 0 || m.TickSize > 1 && price%m.TickSize != 0:
		return 0, fmt.Errorf("%s: price %s is not a positive multiple of the tick %s",
			m.Name, m.FormatPrice(price), m.FormatPrice(m.TickSize))
	}
	return price, nil
}

// smallest is the smallest amount that the market's quantityDecimals allow.
func smallest(m *market.Market) market.Qty {
	return market.Qty(market.Pow10(m.AmountDigits - min(m.AmountDigits, m.QuantityDecimals)))
}

// Mix makes one seed of two numbers. Neighbours lead to seeds that have nothing in common (the
// finish of SplitMix64).
func Mix(a, b uint64) uint64 {
	x := a ^ b*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
