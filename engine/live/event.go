package live

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// maxEventAge is how long a market event may have waited for the loop, which may have been blocked
// by a strategy, a disk, or its machine.
const maxEventAge = 10 * time.Second

// onEvent folds an event of the feeds. Prices older than maxEventAge are dropped, because newer
// ones follow; such candles are late. A stopping loop drops everything: a candle on which nothing
// is traded does not count as seen.
func (l *Loop) onEvent(ev *market.Event) {
	if l.stopped {
		return
	}
	if l.waited(ev) > maxEventAge {
		switch ev.Kind {
		case market.KindTicker, market.KindBook, market.KindTrade:
			return
		case market.KindCandles:
			for i := range ev.Candles {
				ev.Candles[i].Late = true
			}
		}
	}
	if l.stamp(); !l.plausible.event(ev, l.now) {
		return
	}
	l.auditor.addPrices(ev, l.now)
	l.step(ev)
}

// waited is how long an event of the feeds has waited for the loop, 0 where that is unknown.
func (l *Loop) waited(ev *market.Event) market.Duration {
	switch {
	case ev.At == 0:
		return 0
	case l.Clock != nil:
		return l.Clock().Sub(ev.At)
	}
	return l.Trading.Now().Sub(ev.At)
}
