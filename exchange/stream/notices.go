package stream

import (
	"context"
	"errors"
	"math"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// maxNotices is how many notices may wait for the loop; more end the connection, and the loop asks
// for the state as at a start.
const maxNotices = 1 << 16

// Notices follows the private channel account (websocket-facts 6).
//
// Queue: up to 65,536 notices wait in order. None is dropped while the channel is up: one more ends
// the connection. An event that cannot be read ends it too, because what it told is missing then.
type Notices struct {
	on      *Connection
	catalog *market.Catalog
	now     func() market.Time
	log     zerolog.Logger
	channel *Channel
	out     chan exchange.Notice
	queue   queue[exchange.Notice]
}

// NewNotices returns the notices of all markets, and registers the channel on the connection. now
// is the exchange's time.
func NewNotices(on *Connection, catalog *market.Catalog, now func() market.Time, log zerolog.Logger) *Notices {
	n := &Notices{on: on, catalog: catalog, now: now, log: log, out: make(chan exchange.Notice, 64),
		queue: newQueue[exchange.Notice]()}
	n.channel = &Channel{Name: "account", Topics: []Topic{{}}, Private: true, Event: n.onEvent,
		Opened: func() { n.change(exchange.NoticeUp) }, Closed: func() { n.change(exchange.NoticeDown) }}
	on.Subscribe(n.channel)
	return n
}

// C returns the channel of notices.
func (n *Notices) C() <-chan exchange.Notice { return n.out }

func (n *Notices) onEvent(frame []byte) error {
	notice, err := exchange.ParseNotice(frame, n.catalog)
	switch {
	case errors.Is(err, exchange.ErrUnknownMarket):
		return nil // it is not traded by this bot
	case err != nil:
		return err
	}
	if notice.Kind == exchange.NoticeOrder {
		n.channel.SetLag(n.now().Sub(notice.Order.Updated))
	} else {
		n.channel.SetLag(n.now().Sub(notice.Trade.Time))
	}
	return n.put(notice)
}

// change notes that the channel has opened or ended.
func (n *Notices) change(kind exchange.NoticeKind) {
	if err := n.put(exchange.Notice{Kind: kind}); err != nil {
		n.on.Reset(err)
	}
}

// errFull ends a connection whose notices nothing takes.
var errFull = errors.New("too many notices wait for the loop")

// put lets a notice wait for the loop.
func (n *Notices) put(notice exchange.Notice) error {
	notice.At = n.now()
	most := maxNotices
	if notice.Kind == exchange.NoticeDown {
		most = math.MaxInt
	}
	if !n.queue.put(notice, most) {
		return errFull
	}
	return nil
}

// Run hands the notices on until ctx ends.
func (n *Notices) Run(ctx context.Context) {
	n.queue.run(ctx, func(one exchange.Notice) { hand(ctx, n.out, one) })
}
