package sandbox

import (
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// depth is scratch for the two sides of a book, and for the number of orders at the levels of one.
type depth struct {
	bids, asks []market.Level
	orders     []int
}

// bookText is the book of a market as GET /{market}/book writes it, of one nonce: until the nonce
// grows the book is the same, and readers get copies of the text. It serves every depth up to its
// own, because fewer levels are the beginning of more.
type bookText struct {
	nonce      int64
	depth      int // levels of each side that were asked for; 0: no text yet
	bids, asks sideText
}

// sideText is one side of a book as text, without the brackets around it.
type sideText struct {
	text []byte
	ends []int // by level: where it ends in text
}

// serves reports whether the text has what a book of a nonce up to a depth shows.
func (b *bookText) serves(nonce int64, depth int) bool {
	whole := max(len(b.bids.ends), len(b.asks.ends)) < b.depth // the book has no more levels
	return b.depth > 0 && b.nonce == nonce && (depth <= b.depth || whole)
}

// write makes the text of the levels of a side.
func (s *sideText) write(m *market.Market, levels []market.Level) {
	w := wire.Writer{Dst: s.text[:0]}
	s.ends = s.ends[:0]
	for i := range levels {
		w.Level(m, &levels[i])
		s.ends = append(s.ends, len(w.Dst))
	}
	s.text = w.Dst
}

// first returns the text of the first levels of a side.
func (s *sideText) first(levels int) []byte {
	if levels >= len(s.ends) {
		return s.text
	}
	return s.text[:s.ends[levels-1]]
}

// trading refuses the book of a market that is not trading (specification 3.2). Code 431 comes with
// 409 here, elsewhere with the table's 503.
func (l *listing) trading() *exchange.Error {
	if l.Status == market.Trading {
		return nil
	}
	refused := *exchange.ErrCode(exchange.CodeNotTrading)
	refused.Status = 409
	refused.Message = "getBook is not available for " + l.Name + " in state " + strings.ToUpper(l.Status.String())
	return &refused
}

// book returns the levels of a market's book. They are scratch.
func (ex *Exchange) book(l *listing, levels int) *depth {
	d := &ex.depth
	d.bids, d.asks = ex.venue.AppendDepth(l.ID, levels, d.bids[:0], d.asks[:0])
	return d
}

// getBook answers GET /{market}/book. The timestamp is that of the answer, in nanoseconds.
func (ex *Exchange) getBook(c *api.Call) *exchange.Error {
	l, levels := ex.named(c), int(c.Integer("depth", bookDepth.Max))
	if refused := l.trading(); refused != nil {
		return refused
	}
	ex.streams.flushBook(l, ex.reached)
	b := &l.text
	if !b.serves(l.nonce, levels) {
		d := ex.book(l, levels)
		b.bids.write(l.Market, d.bids)
		b.asks.write(l.Market, d.asks)
		b.nonce, b.depth = l.nonce, levels
	}
	return object(c, func(w *wire.Writer) {
		w.Text("market", l.Name)
		w.Integer("nonce", l.nonce)
		w.Key("bids")
		w.Dst = append(append(append(w.Dst, '['), b.bids.first(levels)...), ']')
		w.Key("asks")
		w.Dst = append(append(append(w.Dst, '['), b.asks.first(levels)...), ']')
		w.Integer("timestamp", int64(c.Now))
	})
}
