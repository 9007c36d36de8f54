package strategy

import "github.com/tidemark-trading/tidemark/market"

// SignalHandler gets the signals of the sources in its Needs.Signals: those about its markets and
// those about all markets (Market 0). At one instant they come before candles. A strategy hears
// signals during its warm-up too; asks are refused then, so keep what a state says.
type SignalHandler interface {
	OnSignal(d *Desk, s market.Signal)
}

// Signal is the signal of a source that holds for the market now: of those about it, or about all
// markets, the one with the latest Time; of one Time, the one that was known last. heard is false
// where there is none, or it is older than max_age of its source.
func (m MarketDesk) Signal(source string) (s market.Signal, heard bool) {
	if !m.reads("Signal") {
		return market.Signal{}, false
	}
	return m.desk.engine.Signal(source, m.id)
}
