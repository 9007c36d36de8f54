package live

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// oldest is how long a market event may have waited for the loop, which may have stood still: in a
// strategy, at a disk, or with its machine.
const oldest = 10 * time.Second

// hear folds what the feeds tell. Prices that have waited too long are let go by, for newer ones
// follow; candles are late then. A loop that stops lets everything go by: a candle on which nothing
// is traded is not counted as seen.
func (l *Loop) hear(ev *market.Event) {
	if l.stopped {
		return
	}
	if l.waited(ev) > oldest {
		switch ev.Kind {
		case market.KindTicker, market.KindBook, market.KindTrade:
			return
		case market.KindCandles:
			for i := range ev.Candles {
				ev.Candles[i].Late = true
			}
		}
	}
	if l.stamp(); !l.believes(ev) {
		return
	}
	l.auditor.see(ev, l.now)
	l.step(ev)
}

// waited is how long an event of the feeds has waited for the loop, 0 where that is not known.
func (l *Loop) waited(ev *market.Event) market.Duration {
	switch {
	case ev.At == 0:
		return 0
	case l.Clock != nil:
		return l.Clock().Sub(ev.At)
	}
	return l.Trading.Now().Sub(ev.At)
}
