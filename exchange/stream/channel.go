package stream

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// Channel is a registration on a connection: one subscription, its handlers and its figures.
// The handlers are called in the goroutine that reads the connection: they must not wait. Each may
// be nil.
type Channel struct {
	Name    string // as the facts name it: ticker, ticker24h, candles, trades, book, account
	Topics  []Topic
	Private bool // it needs an authenticated connection

	// Opened is called when the exchange has acknowledged the subscription, before its first event,
	// at each connection: what happened before is not told, so ask for it.
	Opened func()
	// Event is called with each event. The frame is valid until it returns. An error ends the
	// connection: an event that cannot be read may not be left out.
	Event func(frame []byte) error
	// Closed is called when the connection with an open subscription has ended.
	Closed func()
	// Silent is called when the channel has been silent for much longer than usual, and again and
	// again while it stays so, each time after twice the time.
	Silent func(silent market.Duration)
	Quiet  market.Duration // the silence that is always usual; 10 s

	open   atomic.Bool
	events atomic.Int64
	lag    atomic.Int64 // ns
	pace   pace         // of the reading goroutine
	born   time.Time    // when it was registered
	heard  atomic.Int64 // ns after born: the latest event, or the opening; 0: neither
}

// Topic is one entry of a subscription.
type Topic struct {
	Markets  []string // nil: all, which the channel account alone knows
	Interval string   // of candles
}

// IsOpen reports whether the exchange has acknowledged the subscription on the present connection.
func (ch *Channel) IsOpen() bool { return ch.open.Load() }

// Events is how many events have come.
func (ch *Channel) Events() int64 { return ch.events.Load() }

// Lag is how old the latest event was when it came, by the exchange's clock; 0: unknown.
func (ch *Channel) Lag() market.Duration { return market.Duration(ch.lag.Load()) }

// SetLag notes the lag of an event.
func (ch *Channel) SetLag(lag market.Duration) { ch.lag.Store(int64(lag)) }

// Age is the time since the latest event, or since the opening where none came; false: the channel
// has never been open.
func (ch *Channel) Age() (market.Duration, bool) {
	heard := ch.heard.Load()
	return time.Duration(ch.now() - heard), heard != 0
}

// now is the time since born in nanoseconds, which is never 0.
func (ch *Channel) now() int64 { return max(1, int64(time.Since(ch.born))) }

// begin notes the acknowledgement.
func (ch *Channel) begin() {
	if ch.open.Load() {
		return
	}
	ch.heard.Store(ch.now())
	ch.pace.begin()
	ch.open.Store(true)
	if ch.Opened != nil {
		ch.Opened()
	}
}

// close notes the end of the connection.
func (ch *Channel) close() {
	if ch.open.Swap(false) && ch.Closed != nil {
		ch.Closed()
	}
}

// take takes an event.
func (ch *Channel) take(frame []byte) error {
	if !ch.open.Load() {
		return nil // the acknowledgement comes first; an event before it is of no subscription
	}
	now := ch.now()
	ch.events.Add(1)
	ch.pace.note(now - ch.heard.Swap(now))
	if ch.Event == nil {
		return nil
	}
	return ch.Event(frame)
}

// subscription is the message that subscribes to the channel.
func (ch *Channel) subscription() []byte {
	w := wire.Writer{Dst: []byte{'{'}}
	w.Key("channels")
	w.Open('[')
	for _, topic := range ch.Topics {
		w.Open('{')
		w.Text("name", ch.Name)
		if topic.Interval != "" {
			w.Key("interval")
			appendTexts(&w, topic.Interval)
		}
		if topic.Markets == nil {
			w.Text("markets", "*")
		} else {
			w.Key("markets")
			appendTexts(&w, topic.Markets...)
		}
		w.Close('}')
	}
	w.Close(']')
	return append(w.Dst, '}')
}

func appendTexts(w *wire.Writer, texts ...string) {
	w.Open('[')
	for _, text := range texts {
		w.Comma()
		w.Quote(text)
	}
	w.Close(']')
}
