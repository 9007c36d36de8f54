package backtest

import (
	"github.com/tidemark-trading/tidemark/market"
)

const (
	maxMarkers = 20000 // round trips drawn in the report
	lastTrips  = 25    // round trips listed in the report
)

// marker is a round trip in the charts.
type marker struct {
	entered, exited       market.Time
	entryPrice, exitPrice float64
	pnl                   float64
	charted               bool // in the charted market
}

// shownTrip is a round trip in the list of the page.
type shownTrip struct {
	market *market.Market
	trip   trip
	pnl    market.Value
}

// markers keeps the round trips of the report: the latest in full, and all of them, or every
// second, fourth, … for the charts.
type markers struct {
	held []marker
	seen int
	each int // one in each is kept
	last [lastTrips]shownTrip
}

// add adds the next round trip.
func (k *markers) add(m *market.Market, t *trip, pnl market.Value, chart market.ID) {
	k.last[k.seen%lastTrips] = shownTrip{m, *t, pnl}
	if k.each == 0 {
		k.each = 1
	}
	if k.seen%k.each == 0 {
		k.keep(m, t, pnl, chart)
	}
	k.seen++
}

func (k *markers) keep(m *market.Market, t *trip, pnl market.Value, chart market.ID) {
	if len(k.held) == maxMarkers {
		k.halve()
		if k.seen%k.each != 0 {
			return
		}
	}
	amount := float64(t.amount) / float64(market.Pow10(m.AmountDigits))
	k.held = append(k.held, marker{
		entered: t.entered, exited: t.exited, charted: m.ID == chart, pnl: pnl.Float(m.ValueDigits),
		entryPrice: t.cost.Float(m.ValueDigits) / amount, exitPrice: t.proceeds.Float(m.ValueDigits) / amount,
	})
}

// halve drops every second marker.
func (k *markers) halve() {
	kept := k.held[:0]
	for i := 0; i < len(k.held); i += 2 {
		kept = append(kept, k.held[i])
	}
	k.held, k.each = kept, 2*k.each
}

// latest returns the listed round trips, the newest first.
func (k *markers) latest() []shownTrip {
	var list []shownTrip
	for i := k.seen - 1; i >= 0 && len(list) < lastTrips; i-- {
		list = append(list, k.last[i%lastTrips])
	}
	return list
}
