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
//
// # Decisions
//
//   - Prepared as an intent, sent once. Prepare makes all but the signature; it is journalled, then
//     Send signs. No write is ever repeated, by client or transport. An answer that speaks of
//     another order counts as none.
//   - A request under way counts in two minutes. Only the exchange knows in which minute it read a
//     request, so the budget adds each unanswered one to both. Only code 105 is a ban: a status
//     alone may be a proxy's. Price: some points of a minute stay unused.
//   - The exchange's time goes on by uptime. Sync ties an instant to the monotonic clock, measured
//     again every five minutes and after a sleep; an answer that took more than four seconds does
//     not count.
//   - A socket is another carrier. An action has the members of the intent's body; queries, lists
//     and timers always go over HTTP, for a proof must not share the fate of a lost order. A
//     connection of its own, and a minute as window. Price: a lost order keeps its funds for a
//     minute.
package rest
