package sandbox

import (
	"math"
	"time"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/ws"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// bookEvery is the time from a change of a book to its event: all changes of that time are in one
// event (websocket-facts 5).
const bookEvery = 100 * time.Millisecond

// copied is a book as of its nonce, for a market whose book a socket follows. Then the nonce counts
// the events; otherwise it counts the changes.
type copied struct {
	copies     bool
	bids, asks []market.Level
	changed    bool        // since the nonce
	due        market.Time // of the next event, where changed
}

// copyBook begins or ends to follow a market's book.
func (s *streams) copyBook(l *listing, follows bool) {
	switch {
	case follows == l.stream.copies:
	case follows:
		l.stream.bids, l.stream.asks = s.venue.AppendDepth(l.ID, math.MaxInt, nil, nil)
		l.stream.copies = true
	default:
		if l.stream.changed {
			l.nonce++
		}
		l.stream.copied = copied{}
	}
}

// flushBook tells how a followed book has changed since its nonce, and counts the nonce up.
func (s *streams) flushBook(l *listing, now market.Time) {
	if !l.stream.changed {
		return
	}
	l.stream.changed = false
	if l.Status != market.Trading {
		return
	}
	d := &s.depth
	d.bids, d.asks = s.venue.AppendDepth(l.ID, math.MaxInt, d.bids[:0], d.asks[:0])
	w := l.telling("book")
	w.Integer("nonce", l.nonce+1)
	bare := len(w.Dst) + len(`,"bids":[],"asks":[]`)
	w.Key("bids")
	l.stream.bids = writeDelta(w, l.Market, market.Buy, l.stream.bids, d.bids)
	w.Key("asks")
	l.stream.asks = writeDelta(w, l.Market, market.Sell, l.stream.asks, d.asks)
	if len(w.Dst) == bare {
		return
	}
	l.nonce++
	w.Integer("timestamp", int64(now))
	w.Close('}')
	s.tell(ws.Topic{Channel: ws.Book, Market: l.ID}, w)
}

// writeDelta writes the levels that differ between two states of one side, and returns the later
// state in the memory of the former. Prices and amounts have all decimals, and "0" ends a level.
func writeDelta(w *wire.Writer, m *market.Market, side market.Side, was, is []market.Level) []market.Level {
	w.Dst = append(w.Dst, '[')
	i, k := 0, 0
	for i < len(was) || k < len(is) {
		switch {
		case k == len(is) || i < len(was) && better(side, was[i].Price, is[k].Price):
			writeLevel(w, m, was[i].Price, 0)
			i++
		case i == len(was) || better(side, is[k].Price, was[i].Price):
			writeLevel(w, m, is[k].Price, is[k].Amount)
			k++
		default:
			if was[i].Amount != is[k].Amount {
				writeLevel(w, m, is[k].Price, is[k].Amount)
			}
			i, k = i+1, k+1
		}
	}
	w.Close(']')
	return append(was[:0], is...)
}

// better reports whether a price stands nearer to the other side than b.
func better(side market.Side, a, b market.Price) bool {
	if side == market.Buy {
		return a > b
	}
	return a < b
}

func writeLevel(w *wire.Writer, m *market.Market, price market.Price, amount market.Qty) {
	w.Open('[')
	w.Dst = append(market.AppendFixedPadded(append(w.Dst, '"'), int64(price), m.PriceDigits), `","`...)
	if amount == 0 {
		w.Dst = append(w.Dst, '0')
	} else {
		w.Dst = market.AppendFixedPadded(w.Dst, int64(amount), m.AmountDigits)
	}
	w.Dst = append(w.Dst, '"', ']')
}

// bookBatches are the events of books that are due: a duty of the exchange.
type bookBatches struct {
	ex   *Exchange
	next market.Time // no book is due earlier; never: none is due
}

func (b *bookBatches) due() market.Time { return b.next }

// run flushes the books that are due by a time.
func (b *bookBatches) run(at market.Time) {
	b.next = never
	for _, l := range b.ex.listings[1:] {
		switch {
		case !l.stream.changed:
		case l.stream.due <= at:
			b.ex.streams.flushBook(l, b.ex.reached)
		default:
			b.next = min(b.next, l.stream.due)
		}
	}
}
