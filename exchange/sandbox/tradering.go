package sandbox

import (
	"encoding/binary"
	"sort"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// publicTrade is one public trade.
type publicTrade struct {
	id     uuid.UUID // of the market's sequence of trades
	at     market.Time
	price  market.Price
	amount market.Qty
	side   market.Side // of the taker
}

// tradeRing is the public trades of a market, the oldest first. It remembers the latest of them.
//
// Ordering invariant: ids and times rise. A trade that is printed with an earlier time than the
// last one has that one's time.
type tradeRing struct {
	keep   int           // how many
	trades []publicTrade // some more than keep; the last keep count
	rows   rowCounter
}

// print adds a trade, and reports whether it is new: one whose id is not higher than the last has
// been printed before, by the other of its two orders.
func (t *tradeRing) print(trade *publicTrade) bool {
	last := t.last()
	if last != nil {
		if counter(trade.id) <= counter(last.id) {
			return false
		}
		trade.at = max(trade.at, last.at)
	}
	t.trades = appendKept(t.trades, trade, t.keep)
	t.rows.total++
	return true
}

// appendKept appends to a slice whose latest keep elements count. Now and then it drops older ones,
// a fifth of the slice at a time.
func appendKept[T any](kept []T, one *T, keep int) []T {
	if len(kept) > keep+keep/4 {
		kept = kept[:copy(kept, kept[len(kept)-keep+1:])]
	}
	return append(kept, *one)
}

// last returns the latest trade, or nil.
func (t *tradeRing) last() *publicTrade {
	if len(t.trades) == 0 {
		return nil
	}
	return &t.trades[len(t.trades)-1]
}

// all returns the trades on the ring.
func (t *tradeRing) all() []publicTrade { return latest(t.trades, t.keep) }

// tradeRange is a range of trades: by time and by id at once.
type tradeRange struct {
	from, to     market.Time // from inclusive, to exclusive
	first, final uint64      // counters, both inclusive
}

// allTrades is the range without bounds.
func allTrades() tradeRange { return tradeRange{to: never, final: 1<<64 - 1} }

// in returns the trades of a stretch, the oldest first. It is the ring's own memory.
func (t *tradeRing) in(s tradeRange) []publicTrade {
	all := t.all()
	low := sort.Search(len(all), func(i int) bool { return all[i].at >= s.from && counter(all[i].id) >= s.first })
	high := sort.Search(len(all), func(i int) bool { return all[i].at >= s.to || counter(all[i].id) > s.final })
	return all[min(low, high):high]
}

// counter is the place of a trade in its market's sequence: the end of its id.
func counter(id uuid.UUID) uint64 { return binary.BigEndian.Uint64(id[8:]) & (1<<48 - 1) }

// tradeID is the id of the market's count-th trade.
func tradeID(id market.ID, count uint64) (name uuid.UUID) {
	binary.BigEndian.PutUint64(name[:8], uint64(id))
	binary.BigEndian.PutUint64(name[8:], count)
	return name
}

// trades returns the trades that a call asks for, the oldest first: start and end inclusive, and
// likewise the two ids.
func (ex *Exchange) trades(c *api.Call) (*listing, []publicTrade, *exchange.Error) {
	l, s := ex.named(c), allTrades()
	times, refused := timesOf(c, true)
	if refused != nil {
		return nil, nil, refused
	}
	if c.Has("start") {
		s.from = moment(times.from)
	}
	if c.Has("end") {
		s.to = moment(times.to + 1)
	}
	places, refused := placesOf(c, tradeIDFrom.Name, tradeIDTo.Name, l.ID, nameOfFill)
	if refused != nil {
		return nil, nil, refused
	}
	s.first, s.final = uint64(places.from), uint64(places.to)
	trades := l.tape.in(s)
	return l, trades[max(0, len(trades)-int(c.Integer("limit", defaultRows))):], nil
}

// defaultRows is how many rows a list has at most where limit is left out.
const defaultRows = 500

// moment is a request's time, at most the largest Time.
func moment(millis int64) market.Time {
	t, err := market.TimeOfMillis(millis)
	if err != nil {
		return never
	}
	return t
}

// getPublicTrades answers GET /{market}/trades, newest first.
func (ex *Exchange) getPublicTrades(c *api.Call) *exchange.Error {
	l, trades, refused := ex.trades(c)
	if refused != nil {
		return refused
	}
	return list(c, func(w *wire.Writer) {
		for i := len(trades) - 1; i >= 0; i-- {
			t := &trades[i]
			w.Open('{')
			w.ID("id", t.id)
			w.Integer("timestamp", t.at.Millis())
			w.Fixed("amount", int64(t.amount), l.AmountDigits)
			w.Fixed("price", int64(t.price), l.PriceDigits)
			w.Text("side", t.side.String())
			w.Close('}')
		}
	})
}
