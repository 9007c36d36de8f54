package ws

import (
	"bytes"
	"slices"
	"sync"

	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// Bounds of what waits for a client that reads slowly, in bytes of text.
const (
	maxBacklog   = 8 << 20  // more end its connection
	slackBacklog = 1 << 20  // more are conflated
	onePortion   = 64 << 10 // that is written at a time, or one message
)

// outgoing is a message with what faults do to it.
type outgoing struct {
	*message
	due   market.Time // not earlier; 0: at once
	over  <-chan struct{}
	end   bool // the connection ends instead
	cut   bool // … in the middle of the frame
	twice bool
}

// plain reports whether no fault meets the message.
func (o *outgoing) plain() bool { return o.due == 0 && !o.end && !o.twice }

// backlog has the messages that wait to be written to one socket. Where it grows, it is conflated
// by a goroutine of its own: who publishes never waits for that. The zero value is not ready: set
// ready.
type backlog struct {
	ready chan struct{} // has an element when there may be something to take

	mu         sync.Mutex // guards everything below
	queue      []outgoing
	spare      []outgoing // memory of an earlier portion
	bytes      int        // of the queue, and of what is being conflated
	conflateAt int        // bytes; 0: slackBacklog
	conflating bool       // the queue's beginning is at conflate, and nothing can be taken
	overrun    bool       // too much waited: the connection ends
}

// push adds a message. It reports false for the first message that is too much; from then on
// nothing is taken.
func (b *backlog) push(one *outgoing) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.overrun {
		return true
	}
	if b.bytes+len(one.text) > maxBacklog {
		b.overrun, b.queue, b.bytes = true, nil, 0
		return false
	}
	b.queue, b.bytes = append(b.queue, *one), b.bytes+len(one.text)
	if b.bytes > max(b.conflateAt, slackBacklog) && !b.conflating {
		b.conflating = true
		go b.conflate(b.queue)
		b.queue = nil
	}
	if !b.conflating {
		b.signal()
	}
	return true
}

func (b *backlog) signal() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// take removes a portion from the beginning; nil: there is nothing to take now. The memory of the
// portion before is used again.
func (b *backlog) take(before []outgoing) []outgoing {
	clear(before)
	b.mu.Lock()
	defer b.mu.Unlock()
	if cap(before) > cap(b.spare) {
		b.spare = before[:0]
	}
	if b.conflating || len(b.queue) == 0 {
		return nil
	}
	n, size := 0, 0
	for n < len(b.queue) && size < onePortion {
		size += len(b.queue[n].text)
		n++
	}
	portion := append(b.spare, b.queue[:n]...)
	b.spare = nil
	clear(b.queue[:n])
	if b.queue = b.queue[n:]; len(b.queue) == 0 {
		b.queue = nil
	}
	b.bytes -= size
	return portion
}

// conflate makes a queue shorter and puts it before what has come meanwhile.
func (b *backlog) conflate(queue []outgoing) {
	queue = conflated(queue)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conflating = false
	if b.overrun {
		return
	}
	b.queue, b.bytes = append(queue, b.queue...), 0
	for i := range b.queue {
		b.bytes += len(b.queue[i].text)
	}
	b.conflateAt = 2 * b.bytes
	b.signal()
}

// conflated drops from a queue what later messages of it make needless (websocket-facts 1, 13):
//
//	ticker     the latest event of a market has all members of the earlier ones
//	ticker24h  the latest event of the same markets stays
//	candles    the latest state of a candle stays
//	book       every event stays, so that nonces have no gap, without the levels that a later one
//	           sets again. After the last one a copy is right, whichever snapshot it began with
//
// Everything else stays as it is and in its order: answers, trades, and all events of an account.
func conflated(queue []outgoing) []outgoing {
	c := conflation{tickers: map[Topic]*outgoing{}, days: map[string]bool{}, candles: map[string]bool{},
		levels: map[Topic]map[string]bool{}}
	kept := len(queue)
	for i := len(queue) - 1; i >= 0; i-- {
		if one := &queue[i]; !one.plain() || c.keeps(one) {
			kept--
			queue[kept] = *one
			c.moved(one.topic, &queue[kept])
		}
	}
	return queue[kept:]
}

// conflation is what the later messages of a queue have.
type conflation struct {
	tickers map[Topic]*outgoing
	days    map[string]bool           // message.days
	candles map[string]bool           // market, interval and start
	levels  map[Topic]map[string]bool // side and price
}

// keeps reports whether a message stays, maybe shorter.
func (c *conflation) keeps(one *outgoing) bool {
	switch one.topic.Channel {
	case Ticker:
		later := c.tickers[one.topic]
		if later != nil {
			later.message = merged(one.message, later.message)
		}
		return later == nil
	case Ticker24h:
		seen := c.days[one.days]
		c.days[one.days] = true
		return !seen
	case Candles:
		head, row, _ := bytes.Cut(one.text, []byte("[["))
		start, _, _ := bytes.Cut(row, []byte(","))
		candle := string(head) + string(start)
		seen := c.candles[candle]
		c.candles[candle] = true
		return !seen
	case Book:
		if c.levels[one.topic] == nil {
			c.levels[one.topic] = map[string]bool{}
		}
		one.message = without(one.message, c.levels[one.topic])
	}
	return true
}

// moved notes where a message that stays stands now. No ticker is merged across a message with a
// fault.
func (c *conflation) moved(t Topic, to *outgoing) {
	if delete(c.tickers, t); t.Channel == Ticker && to.plain() {
		c.tickers[t] = to
	}
}

// merged is the later of two events of a ticker, with the members that only the earlier one has.
func merged(earlier, later *message) *message {
	has := map[string]bool{}
	s := wire.NewScanner(later.text)
	for s.Object(); s.Member(); s.Discard() {
		has[string(s.Name())] = true
	}
	w := wire.Writer{Dst: append([]byte(nil), later.text[:len(later.text)-1]...)}
	s = wire.NewScanner(earlier.text)
	for s.Object(); s.Member(); {
		if name := string(s.Name()); !has[name] {
			w.Key(name)
			w.Dst = append(w.Dst, s.Raw()...)
			continue
		}
		s.Discard()
	}
	w.Close('}')
	return &message{topic: later.topic, text: w.Dst}
}

// without is an event of a book without the levels that are in set, which gets those of the event.
// One level stays in any case: no event has both sides empty.
func without(m *message, set map[string]bool) *message {
	w, dropped, kept := wire.Writer{}, 0, 0
	w.Open('{')
	var spare, at = []byte(nil), 0 // a level in case that none stays, and its place
	s := wire.NewScanner(m.text)
	for s.Object(); s.Member(); {
		w.Key(string(s.Name()))
		if s.Peek() != '[' {
			w.Dst = append(w.Dst, s.Raw()...)
			continue
		}
		side := string(s.Name())
		w.Dst = append(w.Dst, '[')
		for s.Array(); s.Element(); {
			level := s.Raw()
			price, _, _ := bytes.Cut(level, []byte(`","`))
			if key := side + string(price); set[key] {
				spare, at, dropped = level, len(w.Dst), dropped+1
			} else {
				set[key] = true
				w.Comma()
				w.Dst, kept = append(w.Dst, level...), kept+1
			}
		}
		w.Close(']')
	}
	w.Close('}')
	switch {
	case dropped == 0 || dropped == 1 && kept == 0:
		return m
	case kept == 0:
		w.Dst = slices.Insert(w.Dst, at, spare...)
	}
	return &message{topic: m.topic, text: w.Dst}
}
