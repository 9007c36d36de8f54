package strategy

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// OrderBook is a read-only view of a market's order book: bids from the highest, asks from the
// lowest. It can be read until OnBook returns; later every method panics, which halts the strategy.
// A strategy keeps the levels that it needs.
type OrderBook struct {
	window *BookWindow
	shown  uint64 // the window's count when the view was made
}

// Market is the book's market.
func (b OrderBook) Market() market.ID { return b.read().Market }

// Nonce is the exchange's number of this state of the book.
func (b OrderBook) Nonce() int64 { return b.read().Nonce }

// Time is the time of this state of the book, on the exchange's clock.
func (b OrderBook) Time() market.Time { return b.read().Time }

// Synthetic reports whether the book was made from a candle's path, not seen on a market.
func (b OrderBook) Synthetic() bool { return b.read().Synthetic }

// Depth is the number of levels of each side.
func (b OrderBook) Depth() (bids, asks int) {
	book := b.read()
	return len(book.Bids), len(book.Asks)
}

// Bid returns bid number n, from 0, the best, and whether the book has it.
func (b OrderBook) Bid(n int) (level market.Level, ok bool) { return levelOf(b.read().Bids, n) }

// Ask returns ask number n, from 0, the best, and whether the book has it.
func (b OrderBook) Ask(n int) (level market.Level, ok bool) { return levelOf(b.read().Asks, n) }

// Best returns the best bid and the best ask, and whether the book has both.
func (b OrderBook) Best() (bid, ask market.Level, both bool) {
	book := b.read()
	if len(book.Bids) == 0 || len(book.Asks) == 0 {
		return market.Level{}, market.Level{}, false
	}
	return book.Bids[0], book.Asks[0], true
}

func levelOf(levels []market.Level, n int) (level market.Level, ok bool) {
	if n < 0 || n >= len(levels) {
		return market.Level{}, false
	}
	return levels[n], true
}

// read returns the book, and panics after the end of its OnBook.
func (b OrderBook) read() *market.OrderBook {
	if b.window == nil {
		panic("strategy: this OrderBook is zero; OnBook is given one")
	}
	if d := b.window.Desk; d != nil && !d.engine.Admit(d.id, "OrderBook") {
		return new(market.OrderBook)
	}
	if b.window.book == nil || b.window.shown != b.shown {
		panic(fmt.Sprintf("strategy: an order book was read after the OnBook that was given it (number %d of its "+
			"strategy) had returned; keep the levels that you need, not the book", b.shown))
	}
	return b.window.book
}

// BookWindow shows a strategy one order book at a time. It is for engines, and for tests of a
// strategy without an engine. The zero BookWindow is closed.
type BookWindow struct {
	Desk *Desk // views may be read only where this desk may be used; nil: everywhere

	book  *market.OrderBook // nil: closed
	shown uint64            // number of books shown so far
}

// Open shows a book until Close. Views of earlier books stay closed.
func (w *BookWindow) Open(b *market.OrderBook) OrderBook {
	w.book = b
	w.shown++
	return OrderBook{window: w, shown: w.shown}
}

// Close ends the view.
func (w *BookWindow) Close() { w.book = nil }
