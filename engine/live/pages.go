package live

import (
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// maxFills is how many fills of an order one turn books. An answer may bring thousands: the rest
// waits for later turns, so that calls, cancels and a stop are not delayed.
const maxFills = 256

// page returns the first fills of an order that one turn may book, and keeps the rest for later
// turns. fills include those kept before.
func (l *Loop) page(id market.OrderID, fills []market.Fill) []market.Fill {
	delete(l.pages, id)
	if len(fills) <= maxFills {
		return fills
	}
	l.pages[id] = fills[maxFills:]
	return fills[:maxFills]
}

// bookPages books the next page of one order; orders take turns by id.
func (l *Loop) bookPages() {
	ids := slices.Sorted(maps.Keys(l.pages))
	if len(ids) == 0 || l.failed != nil {
		return
	}
	at, found := slices.BinarySearch(ids, l.paged)
	if found {
		at++
	}
	id := ids[at%len(ids)]
	l.paged = id
	own := l.Account.Known(id)
	if own == nil {
		delete(l.pages, id)
		return
	}
	if fills := l.page(id, own.Fresh(l.pages[id])); len(fills) > 0 {
		l.step(&market.Event{Kind: market.KindFill, Market: own.Market, Fills: fills})
		l.follow(id)
	}
}
