package live

import (
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// mostFills is how many fills one turn books of an order. An answer may bring thousands: the others
// wait for the next turns, so that requests, cancels and a stop are not kept waiting.
const mostFills = 256

// page returns the first fills of an order that one turn may book, and keeps the others, for the
// next turns. What was kept before is in them.
func (l *Loop) page(id market.OrderID, fills []market.Fill) []market.Fill {
	delete(l.pages, id)
	if len(fills) <= mostFills {
		return fills
	}
	l.pages[id] = fills[mostFills:]
	return fills[:mostFills]
}

// bookPages books the next fills of an order of which more are waiting, the orders taking turns by
// their ids.
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
