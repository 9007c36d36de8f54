package sandbox

import "github.com/tidemark-trading/tidemark/exchange"

// Handlers that are being written: each leaves this file with its own.

type Fault struct{}

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
