package rsirevert

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// savedSide is a side as it outlives the process; its RSI comes from the candles of the warm-up.
type savedSide struct {
	Order market.OrderID `json:"order"`
	Age   int            `json:"age"`
}

// Save writes the last order of each market and its age.
func (r *rsiRevert) Save() ([]byte, error) {
	return strategy.SaveMarkets(r.setup, func(m market.ID) savedSide {
		return savedSide{Order: r.sides[m].order, Age: r.sides[m].age}
	})
}

// Load reads the state of Save.
func (r *rsiRevert) Load(data []byte) error {
	return strategy.LoadMarkets(r.setup, data, func(m market.ID, saved savedSide) error {
		r.sides[m].order, r.sides[m].age = saved.Order, saved.Age
		return nil
	})
}
