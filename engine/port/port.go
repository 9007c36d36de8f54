// Package port has the interfaces through which the engine's features speak to the engine's core. A
// feature is a package with a Set, which the core calls in the order that Engine.Step shows; what
// the Set wants of the core goes through its port.
package port

import (
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Why is the feature that asks for a command, where the strategy has not asked for it itself.
type Why interface {
	// Figures explain a command in a market for bot explain.
	Figures(c *market.Command, m *market.Market) []state.Figure
}

// Orders passes asks through the gate. inPath lets a command act where the path of a backtest's
// candles stands. why may be nil.
type Orders interface {
	// Place sends an order, which the engine copies. It returns the order's id, or the gate's
	// refusal.
	Place(c *market.Command, why Why, inPath bool) (market.OrderID, error)
	// Update changes an open order, or returns the gate's refusal.
	Update(c *market.Command, why Why, inPath bool) error
	// Cancel cancels an open order. While another write is in flight, the cancel waits.
	Cancel(id market.OrderID, why Why, inPath bool)
}

// Strategies tells features about strategies.
type Strategies interface {
	// Named is the strategy with a name, and the markets that it trades; id 0: there is none.
	Named(name string) (id market.StrategyID, markets []market.ID)
	// Name is the name of a strategy.
	Name(id market.StrategyID) string
	// Log is the log of a strategy.
	Log(id market.StrategyID) *zerolog.Logger
	// Markets are the markets of a strategy; Given are those with the markets that it only reads;
	// Main is its first interval.
	Markets(id market.StrategyID) []market.ID
	Given(id market.StrategyID) []market.ID
	Main(id market.StrategyID) market.Interval
	// Cold reports whether a strategy may not trade in a market yet, because of its warm-up; Lacks
	// says what the market lacks.
	Cold(id market.StrategyID, m market.ID) bool
	Lacks(id market.StrategyID, m market.ID) string
	// Outside reports whether a market does not belong to a strategy's universe.
	Outside(id market.StrategyID, m market.ID) bool
	// Refused counts and logs an ask that was refused.
	Refused(id market.StrategyID, c *market.Command, err error)
	// Changed notes that the engine is to be saved.
	Changed()
}

// Follows is the figure of an entry whose exits follow something.
func Follows(f *strategy.Follow, m *market.Market) state.Figure {
	return state.Figure{Name: "exits", Before: "fixed", After: f.Words(m)}
}
