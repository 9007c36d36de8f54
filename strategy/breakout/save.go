package breakout

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// savedTrade is the saved state of a trade; channel and reach come from the candles of the warm-up.
type savedTrade struct {
	Entry  market.OrderID `json:"entry"`
	Stop   market.Price   `json:"stop"`
	Target market.Price   `json:"target"`
}

// Save writes the last entry of each market and its exits.
func (b *breakout) Save() ([]byte, error) {
	return strategy.SaveMarkets(b.setup, func(m market.ID) savedTrade {
		t := &b.trades[m]
		return savedTrade{Entry: t.entry, Stop: t.stop, Target: t.target}
	})
}

// Load reads the state of Save.
func (b *breakout) Load(data []byte) error {
	return strategy.LoadMarkets(b.setup, data, func(m market.ID, saved savedTrade) error {
		t := &b.trades[m]
		t.entry, t.stop, t.target = saved.Entry, saved.Stop, saved.Target
		return nil
	})
}
