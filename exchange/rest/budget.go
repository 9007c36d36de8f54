package rest

import (
	"context"
	"fmt"
	"net/http"
)

// Lane is the urgency of a request. A smaller one goes first.
type Lane uint8

// The lanes. The last points of a budget, one for each open order, belong to cancels alone; as many
// again and 50 belong to cancels and their confirmation.
const (
	// LastCancel is a cancel during a stop: tried once, even during a ban or with a false reset.
	LastCancel Lane = iota + 1
	Cancel          // takes orders out of the book
	Confirm         // queries whether a cancel was executed
	Protective      // exits, and the timer of cancel on disconnect
	Order           // place and update
	Reconcile       // queries orders and balances
	MarketData
)

var lanes = [...]string{LastCancel: "lastCancel", Cancel: "cancel", Confirm: "confirm", Protective: "protective",
	Order: "order", Reconcile: "reconcile", MarketData: "marketData"}

// String returns the lane's name.
func (l Lane) String() string {
	if l >= LastCancel && l <= MarketData {
		return lanes[l]
	}
	return fmt.Sprintf("lane(%d)", uint8(l))
}

// Budget decides when a request may spend its weight points (specification 8, venue-facts 2.4). It
// is safe for concurrent use.
type Budget interface {
	// Begin waits until a request of an endpoint, "GET /{market}/book", may be sent, or returns an
	// error that says why it may not: then the request is not sent. Where it returns no error, done
	// must be called once: with the answer's headers, status and body, which is valid until done
	// returns; with nil headers where the answer came over a socket; or with nil and 0 where there
	// was no answer.
	Begin(ctx context.Context, lane Lane, endpoint string, weight int, payer Payer) (
		done func(h http.Header, status int, body []byte), err error)
}

// Weight is the cost of an endpoint in points.
type Weight struct {
	One int // for one market, or where the endpoint has none
	All int // for all markets; 0: as One
}

// of returns the weight of one request.
func (w Weight) of(all bool) int {
	if all && w.All != 0 {
		return w.All
	}
	return w.One
}

// endpoint is an index of endpoints.
type endpoint uint8

const (
	getTime endpoint = iota
	getMarkets
	getAssets
	getBook
	getPublicTrades
	getCandles
	getTickerPrice
	getTickerBook
	getTicker24h
	getBookReport
	getTradesReport
	postOrder
	putOrder
	getOrder
	deleteOrder
	getOrdersOpen
	getOrders
	deleteOrders
	deleteAtomicOrders
	postCancelOrdersAfter
	getTrades
	getAccount
	getBalance
	getStakingBalance
	getFees
	getHistory
	getDeposit
	getDepositHistory
	postWithdrawal
	getWithdrawalHistory
)

// endpoints are the endpoints of specification 1, the two reports, cancel on disconnect, and what
// venue-facts name beyond, with their weights (venue-facts 1.1). POST /crypto/withdrawal is not
// among them: the client moves no money out of an account.
var endpoints = [...]struct {
	name    string
	weight  Weight
	lane    Lane
	private bool
}{
	getTime:               {"GET /time", Weight{One: 1}, Reconcile, false},
	getMarkets:            {"GET /markets", Weight{One: 1}, MarketData, false},
	getAssets:             {"GET /assets", Weight{One: 1}, MarketData, false},
	getBook:               {"GET /{market}/book", Weight{One: 1}, MarketData, false},
	getPublicTrades:       {"GET /{market}/trades", Weight{One: 5}, MarketData, false},
	getCandles:            {"GET /{market}/candles", Weight{One: 1}, MarketData, false},
	getTickerPrice:        {"GET /ticker/price", Weight{One: 1}, MarketData, false},
	getTickerBook:         {"GET /ticker/book", Weight{One: 1}, MarketData, false},
	getTicker24h:          {"GET /ticker/24h", Weight{One: 1, All: 25}, MarketData, false},
	getBookReport:         {"GET /report/{market}/book", Weight{One: 1}, MarketData, false},
	getTradesReport:       {"GET /report/{market}/trades", Weight{One: 5}, MarketData, false},
	postOrder:             {"POST /order", Weight{One: 1}, Order, true},
	putOrder:              {"PUT /order", Weight{One: 1}, Order, true},
	getOrder:              {"GET /order", Weight{One: 1}, Reconcile, true},
	deleteOrder:           {"DELETE /order", Weight{One: 1}, Cancel, true},
	getOrdersOpen:         {"GET /ordersOpen", Weight{One: 5, All: 100}, Reconcile, true},
	getOrders:             {"GET /orders", Weight{One: 5}, Reconcile, true},
	deleteOrders:          {"DELETE /orders", Weight{One: 25, All: 100}, Cancel, true},
	deleteAtomicOrders:    {"DELETE /atomic/orders", Weight{One: 100}, Cancel, true},
	postCancelOrdersAfter: {"POST /cancelOrdersAfter", Weight{One: 5}, Protective, true},
	getTrades:             {"GET /trades", Weight{One: 5}, Reconcile, true},
	getAccount:            {"GET /account", Weight{One: 1}, Reconcile, true},
	getBalance:            {"GET /balance", Weight{One: 5}, Reconcile, true},
	getStakingBalance:     {"GET /stakingBalance", Weight{One: 5}, Reconcile, true},
	getFees:               {"GET /account/fees", Weight{One: 1}, Reconcile, true},
	getHistory:            {"GET /account/history", Weight{One: 1}, Reconcile, true},
	getDeposit:            {"GET /deposit", Weight{One: 1}, Reconcile, true},
	getDepositHistory:     {"GET /depositHistory", Weight{One: 5}, Reconcile, true},
	postWithdrawal:        {"POST /withdrawal", Weight{One: 1}, Order, true},
	getWithdrawalHistory:  {"GET /withdrawalHistory", Weight{One: 5}, Reconcile, true},
}
