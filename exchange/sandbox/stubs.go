package sandbox

import (
	"sync/atomic"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Handlers that are being written: each leaves this file with its own.

// Clock is a stand-in that stands still until it is moved.
type Clock struct{ at atomic.Int64 }

// ManualClock returns a clock that stands at start.
func ManualClock(start market.Time) *Clock {
	c := new(Clock)
	c.at.Store(int64(start))
	return c
}

// Now returns the time.
func (c *Clock) Now() market.Time { return market.Time(c.at.Load()) }

// Advance moves the clock.
func (c *Clock) Advance(d market.Duration) { c.at.Add(int64(d)) }

// Source is where a price comes from.
type Source interface{}

// Fault is a fault on demand.
type Fault struct{}

func (ex *Exchange) getTime(c *call) *exchange.Error               { return exchange.ErrCode(400) }
func (ex *Exchange) getMarkets(c *call) *exchange.Error            { return exchange.ErrCode(400) }
func (ex *Exchange) getAssets(c *call) *exchange.Error             { return exchange.ErrCode(400) }
func (ex *Exchange) getBook(c *call) *exchange.Error               { return exchange.ErrCode(400) }
func (ex *Exchange) getPublicTrades(c *call) *exchange.Error       { return exchange.ErrCode(400) }
func (ex *Exchange) getCandles(c *call) *exchange.Error            { return exchange.ErrCode(400) }
func (ex *Exchange) getTickerPrice(c *call) *exchange.Error        { return exchange.ErrCode(400) }
func (ex *Exchange) getTickerBook(c *call) *exchange.Error         { return exchange.ErrCode(400) }
func (ex *Exchange) getTicker24h(c *call) *exchange.Error          { return exchange.ErrCode(400) }
func (ex *Exchange) getBookReport(c *call) *exchange.Error         { return exchange.ErrCode(400) }
func (ex *Exchange) getTradesReport(c *call) *exchange.Error       { return exchange.ErrCode(400) }
func (ex *Exchange) postOrder(c *call) *exchange.Error             { return exchange.ErrCode(400) }
func (ex *Exchange) putOrder(c *call) *exchange.Error              { return exchange.ErrCode(400) }
func (ex *Exchange) getOrder(c *call) *exchange.Error              { return exchange.ErrCode(400) }
func (ex *Exchange) deleteOrder(c *call) *exchange.Error           { return exchange.ErrCode(400) }
func (ex *Exchange) getOrdersOpen(c *call) *exchange.Error         { return exchange.ErrCode(400) }
func (ex *Exchange) getOrders(c *call) *exchange.Error             { return exchange.ErrCode(400) }
func (ex *Exchange) deleteOrders(c *call) *exchange.Error          { return exchange.ErrCode(400) }
func (ex *Exchange) postCancelOrdersAfter(c *call) *exchange.Error { return exchange.ErrCode(400) }
func (ex *Exchange) getTrades(c *call) *exchange.Error             { return exchange.ErrCode(400) }
func (ex *Exchange) getAccount(c *call) *exchange.Error            { return exchange.ErrCode(400) }
func (ex *Exchange) getBalance(c *call) *exchange.Error            { return exchange.ErrCode(400) }
func (ex *Exchange) getFees(c *call) *exchange.Error               { return exchange.ErrCode(400) }
func (ex *Exchange) getHistory(c *call) *exchange.Error            { return exchange.ErrCode(400) }
func (ex *Exchange) getDeposit(c *call) *exchange.Error            { return exchange.ErrCode(400) }
func (ex *Exchange) getDepositHistory(c *call) *exchange.Error     { return exchange.ErrCode(400) }
func (ex *Exchange) postWithdrawal(c *call) *exchange.Error        { return exchange.ErrCode(400) }
func (ex *Exchange) getWithdrawalHistory(c *call) *exchange.Error  { return exchange.ErrCode(400) }
