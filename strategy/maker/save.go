package maker

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// savedPair is the saved state of a pair.
type savedPair struct {
	Buy    savedQuote `json:"buy"`
	Sell   savedQuote `json:"sell"`
	Booked bool       `json:"booked"`
}

// savedQuote is one side of it.
type savedQuote struct {
	Order   market.OrderID `json:"order"`
	Price   market.Price   `json:"price"`
	Refused bool           `json:"refused"`
	Moving  bool           `json:"moving"`
	Leaving bool           `json:"leaving"`
}

// Save writes the quotes of each market.
func (k *maker) Save() ([]byte, error) {
	return strategy.SaveMarkets(k.setup, func(m market.ID) savedPair {
		p := &k.pairs[m]
		return savedPair{Buy: p.buy.saved(), Sell: p.sell.saved(), Booked: p.booked}
	})
}

// Load reads the state of Save.
func (k *maker) Load(data []byte) error {
	return strategy.LoadMarkets(k.setup, data, func(m market.ID, saved savedPair) error {
		p := &k.pairs[m]
		p.buy.load(saved.Buy)
		p.sell.load(saved.Sell)
		p.booked = saved.Booked
		return nil
	})
}

func (q *quote) saved() savedQuote {
	return savedQuote{Order: q.order, Price: q.price, Refused: q.refused, Moving: q.moving, Leaving: q.leaving}
}

func (q *quote) load(s savedQuote) {
	q.order, q.price, q.refused, q.moving, q.leaving = s.Order, s.Price, s.Refused, s.Moving, s.Leaving
}
