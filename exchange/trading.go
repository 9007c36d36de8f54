package exchange

import (
	"context"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Intent is a command as it will be sent, all but its signature: what a journal holds before the
// first byte goes out, so that after a crash everybody knows what may have reached the exchange,
// and until when it could.
type Intent struct {
	Command       market.CommandKind
	Order         market.OrderID
	Market        market.ID
	ClientOrderID uuid.UUID
	Protective    bool   // an exit of a bracket: it goes before other orders
	Last          bool   // the first cancel of its order in a stop: a budget that is banned lets it go all the same
	Method, Path  string // the path with /v2 and its query, as signed
	Body          []byte // JSON; empty for a cancel
	Timestamp     int64  // signed, Unix milliseconds on the exchange's clock
	Window        int64  // milliseconds after Timestamp in which the exchange takes it (specification 5)
}

// Record is an order as the exchange tells it, with the fills that came along: all of them from
// GET, those of the request from PUT, none in a list of open orders.
type Record struct {
	Order market.Order
	Fills []market.Fill
}

// Trade is an own execution from the list of trades (venue-facts 1.3), with both names of its
// order.
type Trade struct {
	market.Fill
	ExchangeID    uuid.UUID
	ClientOrderID uuid.UUID // zero: none was set
}

// Holding is what the exchange says that the account has of an asset: available and in open orders,
// in the asset's units.
type Holding struct {
	Asset             market.AssetID
	Available, Orders market.Money
}

// Movement is a change of a balance that no trade made, from the account's history (venue-facts
// 1.4): a deposit, a withdrawal, a transfer, a reward. Money is what came, below 0 what went, fees
// included.
type Movement struct {
	At    market.Time
	Kind  string // the exchange's word: "deposit", "withdrawal", …
	Asset market.AssetID
	Money market.Money
}

// Trading is an exchange as the live loop needs it: one account on it. All methods may be called
// from several goroutines. Errors of the exchange are *Error; OutcomeOf tells for every error of
// Send whether the command was rejected or its outcome is unknown.
type Trading interface {
	// Prepare makes the intent of an approved command, signed as of the exchange's time now.
	Prepare(c *market.Command) (Intent, error)
	// Send sends an intent once, and never again. An error whose OutcomeOf is Rejected says that it
	// certainly did nothing. The record of a cancel has ids alone.
	Send(ctx context.Context, i *Intent) (Record, error)
	// Order asks for one order of the account, by the client's name of it or else the exchange's;
	// CodeNotFound where there is none.
	Order(ctx context.Context, m market.ID, client, name uuid.UUID) (Record, error)
	// Ending asks like Order for one that is to end: the answer that confirms a cancel is waited
	// for, so the question goes before all but cancels.
	Ending(ctx context.Context, m market.ID, client, name uuid.UUID) (Record, error)
	// OpenOrders lists the account's open orders in all markets, without fills.
	OpenOrders(ctx context.Context) ([]Record, error)
	// OpenOrdersIn lists like OpenOrders those of one market, for a twentieth of the weight
	// (venue-facts 1.3: 5 points, not 100).
	OpenOrdersIn(ctx context.Context, m market.ID) ([]Record, error)
	// Trades lists the account's executions in a market from a time on, oldest first, a bounded
	// number of them. more says that there are later ones: ask again from the latest time in the
	// list, which brings the trades of that time once more.
	Trades(ctx context.Context, m market.ID, from market.Time) (trades []Trade, more bool, err error)
	// Holdings lists the account's balances; an asset that is left out has none.
	Holdings(ctx context.Context) ([]Holding, error)
	// Movements lists what has changed the account's balances since a time beside its trades, the
	// latest first. Assets that the catalog does not have are left out.
	Movements(ctx context.Context, since market.Time) ([]Movement, error)
	// CancelAfter arms the timer of a cancel-on-disconnect group anew, or stops it with 0
	// (venue-facts 3.8).
	CancelAfter(ctx context.Context, group uint16, after market.Duration) error
	// Now is the exchange's time, as far as it is known.
	Now() market.Time
}
