package sandbox

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Handlers that are being written: each leaves this file with its own.

type Clock struct{}
type Source interface{}
type Fault struct{}

func (ex *Exchange) getTime(c *call) *exchange.Error              { return exchange.ErrCode(400) }
func (ex *Exchange) getMarkets(c *call) *exchange.Error           { return exchange.ErrCode(400) }
func (ex *Exchange) getAssets(c *call) *exchange.Error            { return exchange.ErrCode(400) }
func (ex *Exchange) getBook(c *call) *exchange.Error              { return exchange.ErrCode(400) }
func (ex *Exchange) getPublicTrades(c *call) *exchange.Error      { return exchange.ErrCode(400) }
func (ex *Exchange) getCandles(c *call) *exchange.Error           { return exchange.ErrCode(400) }
func (ex *Exchange) getTickerPrice(c *call) *exchange.Error       { return exchange.ErrCode(400) }
func (ex *Exchange) getTickerBook(c *call) *exchange.Error        { return exchange.ErrCode(400) }
func (ex *Exchange) getTicker24h(c *call) *exchange.Error         { return exchange.ErrCode(400) }
func (ex *Exchange) getBookReport(c *call) *exchange.Error        { return exchange.ErrCode(400) }
func (ex *Exchange) getTradesReport(c *call) *exchange.Error      { return exchange.ErrCode(400) }
func (ex *Exchange) getAccount(c *call) *exchange.Error           { return exchange.ErrCode(400) }
func (ex *Exchange) getBalance(c *call) *exchange.Error           { return exchange.ErrCode(400) }
func (ex *Exchange) getFees(c *call) *exchange.Error              { return exchange.ErrCode(400) }
func (ex *Exchange) getHistory(c *call) *exchange.Error           { return exchange.ErrCode(400) }
func (ex *Exchange) getDeposit(c *call) *exchange.Error           { return exchange.ErrCode(400) }
func (ex *Exchange) getDepositHistory(c *call) *exchange.Error    { return exchange.ErrCode(400) }
func (ex *Exchange) postWithdrawal(c *call) *exchange.Error       { return exchange.ErrCode(400) }
func (ex *Exchange) getWithdrawalHistory(c *call) *exchange.Error { return exchange.ErrCode(400) }

// What the public side and the accounts are told; each leaves this file with its own.

func (ex *Exchange) print(id uuid.UUID, t *market.Trade) {}
func (ex *Exchange) traded(a *account, f *market.Fill)   {}
func (l *listing) touch()                                {}
