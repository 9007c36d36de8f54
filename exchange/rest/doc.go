// Package rest is the client of an exchange that speaks the specification's API: every endpoint as
// a typed method, signed, with its answers in the units of a market.Catalog. It never decides what
// to trade, never repeats a write and never moves money out of an account; the outcome of an answer
// is settled by exchange.OutcomeOf. Start at Config and New for reading, at Client.Prepare and
// Client.Send for orders.
//
// Ordering invariant: an exchange.Intent is everything that Send will put on the wire but the
// signature, so that it can be on disk first.
//
// Known limitation: the signed path is the path on the wire; a proxy that rewrites it breaks every
// signature.
//
// The table has every method of Client, by endpoint. Some have no caller in this program: they are
// API for other programs, and tests hold each of them against exchange/sandbox.
//
//	GET /time                     Sync, Remeasure, Time
//	GET /markets                  Markets, Rules, Catalog
//	GET /assets                   Assets, Catalog
//	GET /{market}/book            Book
//	GET /{market}/trades          PublicTrades, TradesBetween
//	GET /{market}/candles         Candles
//	GET /ticker/price             TickerPrice, TickerPrices
//	GET /ticker/book              TickerBook, TickerBooks
//	GET /ticker/24h               Tickers24h
//	GET /report/{market}/book     BookReport
//	GET /report/{market}/trades   TradesReport
//	POST /order                   Send
//	PUT /order                    Send
//	GET /order                    Order, OrderUrgent
//	DELETE /order                 Send
//	GET /ordersOpen               OrdersOpen, OpenOrders, OpenOrdersIn
//	GET /orders                   Orders
//	DELETE /orders                CancelOrders
//	DELETE /atomic/orders         CancelSide
//	POST /cancelOrdersAfter       CancelOrdersAfter, CancelAfter
//	GET /trades                   TradesPage, Trades, DayTrades, TradesSince
//	GET /account                  Account
//	GET /balance                  Balances, Holdings
//	GET /stakingBalance           StakingBalances
//	GET /account/fees             Fees
//	GET /account/history          AccountHistory, Movements
//	GET /deposit                  Deposit
//	GET /depositHistory           DepositHistory
//	POST /withdrawal              MayWithdraw (of nothing: it asks for the right alone)
//	GET /withdrawalHistory        WithdrawalHistory
//	none                          Close, Now, Offset, Over, Prepare, RoundTrip, Use, Weight
package rest
