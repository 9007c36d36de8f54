package grid

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// savedLadder is a ladder as it outlives the process.
type savedLadder struct {
	Centre market.Price     `json:"centre"`
	Buys   []market.OrderID `json:"buys"`
	Sells  []market.OrderID `json:"sells"`
}

// Save writes the centre and the rungs' orders of each market.
func (g *grid) Save() ([]byte, error) {
	return strategy.SaveMarkets(g.setup, func(m market.ID) savedLadder {
		l := &g.ladders[m]
		return savedLadder{Centre: l.centre, Buys: orders(l.buys.rungs), Sells: orders(l.sells.rungs)}
	})
}

// Load reads the state of Save. Another number of levels is an error: the orders beyond would be
// left alone.
func (g *grid) Load(data []byte) error {
	return strategy.LoadMarkets(g.setup, data, func(m market.ID, saved savedLadder) error {
		l := &g.ladders[m]
		if len(saved.Buys) != len(l.buys.rungs) || len(saved.Sells) != len(l.sells.rungs) {
			return fmt.Errorf("saved with levels = %d, now it is %d; set it back, or cancel its orders and give it "+
				"another name", len(saved.Buys), len(l.buys.rungs))
		}
		l.centre, l.reach, l.reckoned = saved.Centre, saved.Centre.Part(g.recentre), false
		for k := range l.buys.rungs {
			l.buys.rungs[k].order, l.sells.rungs[k].order = saved.Buys[k], saved.Sells[k]
		}
		return nil
	})
}

// orders are the rungs' orders.
func orders(rungs []rung) []market.OrderID {
	ids := make([]market.OrderID, len(rungs))
	for k := range rungs {
		ids[k] = rungs[k].order
	}
	return ids
}
