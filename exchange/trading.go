package exchange

import (
	"context"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Intent is a command as it will be sent, without its signature. The journal stores it before the
// first byte goes out: after a crash it shows which commands may have reached the exchange, and
// until when they could.
type Intent struct {
	Command       market.CommandKind
	Order         market.OrderID
	Market        market.ID
	ClientOrderID uuid.UUID
	Sell          bool   // its order is a sell
	Exit          bool   // place or change of a bracket's exit, or the sale in its place: it goes before other orders
	Last          bool   // the first cancel of its order in a stop: it is sent even under a ban
	Method, Path  string // the path with /v2 and its query, as signed
	Body          []byte // JSON; empty for a cancel
	Timestamp     int64  // signed, Unix milliseconds on the exchange's clock
	// Window is how many milliseconds after Timestamp the exchange takes it (specification 5). Over
	// a socket, where nothing bounds that, it is the longest window that there is.
	Window int64
}

// WireOrder is an order as the exchange returns it, with its fills: all of them from GET, those of
// the request from PUT, none in a list of open orders.
type WireOrder struct {
	Order market.Order
	Fills []market.Fill
	// BySocket: it came over a WebSocket. Fills and an end that it tells of are no proof, nor is a
	// refusal that came in its place.
	BySocket bool
}

// Trade is an own execution from the list of trades (venue-facts 1.3), with both names of its
// order.
type Trade struct {
	market.Fill
	ExchangeID    uuid.UUID
	ClientOrderID uuid.UUID // zero: none was set
}

// Holding is the account's balance of an asset at the exchange: available and in open orders, in
// the asset's units.
type Holding struct {
	Asset             market.AssetID
	Available, Orders market.Money
}

// Movement is a change of a balance without a trade, from the account's history (venue-facts 1.4):
// a deposit, a withdrawal, a transfer, a reward. Money is positive for money in, negative for money
// out, fees included.
type Movement struct {
	At    market.Time
	Kind  string // the exchange's word: "deposit", "withdrawal", …
	Asset market.AssetID
	Money market.Money
}

// Trading is an exchange as the live loop needs it: one account on it. All methods may be called
// from several goroutines. Errors of the exchange are *Error; OutcomeOf says for every error of
// Send whether the command was rejected or its outcome is unknown.
type Trading interface {
	// Prepare makes the intent of an approved command, signed as of the exchange's time now.
	Prepare(c *market.Command) (Intent, error)
	// Send sends an intent once. An error whose OutcomeOf is Rejected is certain: the command did
	// nothing. The record of a cancel has ids alone.
	Send(ctx context.Context, i *Intent) (WireOrder, error)
	// Order queries one order of the account, by its client order id or else the exchange's id;
	// CodeNotFound where there is none.
	Order(ctx context.Context, m market.ID, client, name uuid.UUID) (WireOrder, error)
	// OrderUrgent is Order for an order that is being cancelled: the query goes before all requests
	// but cancels, because a stop or a swap waits for the confirmation.
	OrderUrgent(ctx context.Context, m market.ID, client, name uuid.UUID) (WireOrder, error)
	// OpenOrders lists the account's open orders in all markets, without fills.
	OpenOrders(ctx context.Context) ([]WireOrder, error)
	// OpenOrdersIn is OpenOrders of one market, for a twentieth of the weight (venue-facts 1.3: 5
	// points, not 100).
	OpenOrdersIn(ctx context.Context, m market.ID) ([]WireOrder, error)
	// Trades lists the account's executions in a market from a time on, oldest first, a bounded
	// number of them. more says that later ones exist: ask again from the latest time in the list,
	// and expect the trades of that time once more.
	Trades(ctx context.Context, m market.ID, from market.Time) (trades []Trade, more bool, err error)
	// Holdings lists the account's balances; an asset that is not in the list has a balance of 0.
	Holdings(ctx context.Context) ([]Holding, error)
	// Movements lists the changes of balances without a trade since a time, the latest first. It
	// leaves out assets that the catalog does not have.
	Movements(ctx context.Context, since market.Time) ([]Movement, error)
	// CancelAfter arms the timer of a cancel-on-disconnect group anew, or stops it with 0
	// (venue-facts 3.8).
	CancelAfter(ctx context.Context, group uint16, after market.Duration) error
	// Now is the best estimate of the exchange's time.
	Now() market.Time
}
