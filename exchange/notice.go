package exchange

import "github.com/tidemark-trading/tidemark/market"

// NoticeKind says what a Notice tells.
type NoticeKind uint8

// The kinds of notices.
const (
	// NoticeOrder is an event about an own order: Order and Exec are set.
	NoticeOrder NoticeKind = iota + 1
	// NoticeFill is an event about a fill of an own order: Trade is set.
	NoticeFill
	// NoticeUp says that the exchange has acknowledged the subscription: events arrive from At on.
	// No event tells of anything before, so the state is asked for.
	NoticeUp
	// NoticeDown says that the channel has ended, or is not trusted any more.
	NoticeDown
)

// Notice is one event of the exchange's private channel account (websocket-facts 6), or a change of
// that channel. Notices come in the order of their arrival: the exchange promises no other.
type Notice struct {
	Kind NoticeKind
	At   market.Time // of the arrival, on the exchange's clock
	// Order is the order as the event shows it: without FeePaid, and OnHold may still be the hold
	// before a fill.
	Order market.Order
	Exec  market.ExecutionType // what happened to Order
	Trade Trade                // not settled where the event has no fee
}
