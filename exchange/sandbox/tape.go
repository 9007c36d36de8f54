package sandbox

import (
	"encoding/binary"
	"sort"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// publicTrade is one trade that everybody sees.
type publicTrade struct {
	id     uuid.UUID // of the market's sequence of trades
	at     market.Time
	price  market.Price
	amount market.Qty
	side   market.Side // of the taker
}

// tape is the public trades of a market, the oldest first. It remembers the latest keep of them; keep must be positive.
//
// Ordering invariant: ids and times rise. A trade that is printed with an earlier time than the last one has that one's time.
type tape struct {
	keep   int
	trades []publicTrade // some more than keep; the last keep count
}

// print adds a trade, and reports whether it is new: one whose id is not higher than the last has been printed before, by the
// other of its two orders.
func (t *tape) print(trade *publicTrade) bool {
	last := t.last()
	if last != nil {
		if counter(trade.id) <= counter(last.id) {
			return false
		}
		trade.at = max(trade.at, last.at)
	}
	t.trades = appendKept(t.trades, trade, t.keep)
	return true
}

// appendKept appends to a slice of which only the latest keep count. It drops older ones now and then, a fifth of the slice at a time.
func appendKept[T any](kept []T, one *T, keep int) []T {
	if len(kept) > keep+keep/4 {
		kept = kept[:copy(kept, kept[len(kept)-keep+1:])]
	}
	return append(kept, *one)
}

// last returns the latest trade, or nil.
func (t *tape) last() *publicTrade {
	if len(t.trades) == 0 {
		return nil
	}
	return &t.trades[len(t.trades)-1]
}

// all returns what the tape remembers.
func (t *tape) all() []publicTrade { return t.trades[max(0, len(t.trades)-t.keep):] }

// stretch is a range of trades: by time and by id at once.
type stretch struct {
	from, to     market.Time // from inclusive, to exclusive
	first, final uint64      // counters, both inclusive
}

// everything is the stretch without bounds.
func everything() stretch { return stretch{to: never, final: 1<<64 - 1} }

// in returns the trades of a stretch, the oldest first. It is the tape's own memory.
func (t *tape) in(s stretch) []publicTrade {
	all := t.all()
	low := sort.Search(len(all), func(i int) bool { return all[i].at >= s.from && counter(all[i].id) >= s.first })
	high := sort.Search(len(all), func(i int) bool { return all[i].at >= s.to || counter(all[i].id) > s.final })
	return all[min(low, high):high]
}

// counter is the place of a trade in its market's sequence: the end of its id.
func counter(id uuid.UUID) uint64 { return binary.BigEndian.Uint64(id[8:]) & (1<<48 - 1) }

// tradeCounter reads the id of a trade of the market and reports whether it is one.
func tradeCounter(id market.ID, text string) (uint64, bool) {
	if len(text) != 36 {
		return 0, false
	}
	parsed, err := uuid.Parse(text)
	head := binary.BigEndian.Uint64(parsed[:8])
	return counter(parsed), err == nil && head == uint64(id) && parsed[8] == 0 && parsed[9] == 0
}
