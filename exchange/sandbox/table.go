package sandbox

import (
	"math"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// lastMillis is the latest time that a parameter may name (specification 8).
const lastMillis = 8640000000000000

// The parameters that many endpoints share.
var (
	marketInPath = parameter{name: "market", kind: kindMarket, required: true, inPath: true, doc: "BASE-QUOTE"}
	oneMarket    = parameter{name: "market", kind: kindMarket, required: true, doc: "BASE-QUOTE"}
	anyMarket    = parameter{name: "market", kind: kindMarket, doc: "BASE-QUOTE; all markets where it is left out"}
	anySymbol    = parameter{name: "symbol", kind: kindAsset, doc: "an asset; all where it is left out"}
	rowLimit     = parameter{name: "limit", kind: kindInteger, min: 1, max: 1000, doc: "rows at most; 500 where it is left out"}
	startMillis  = parameter{name: "start", kind: kindInteger, max: lastMillis, doc: "from this time on, Unix ms"}
	endMillis    = parameter{name: "end", kind: kindInteger, max: lastMillis, doc: "up to this time, Unix ms"}
	tradeIDFrom  = parameter{name: "tradeIdFrom", kind: kindText, doc: "from this trade on"}
	tradeIDTo    = parameter{name: "tradeIdTo", kind: kindText, doc: "up to this trade"}
	orderID      = parameter{name: "orderId", kind: kindID, doc: "the exchange's name of the order"}
	clientID     = parameter{name: "clientOrderId", kind: kindID, doc: "the client's name of the order; it counts where both are given"}
	operatorID   = parameter{name: "operatorId", kind: kindInteger, required: true, min: math.MinInt64, max: math.MaxInt64, doc: "trader or bot"}
	bookDepth    = parameter{name: "depth", kind: kindInteger, min: 1, max: 1000, doc: "levels of each side; 1000 where it is left out"}
)

// orderTerms are the parameters that POST and PUT /order have in common (specification 4.1 and 4.4).
var orderTerms = []parameter{
	{name: "amount", kind: kindDecimal, doc: "base amount"},
	{name: "amountQuote", kind: kindDecimal, doc: "quote amount: market, stopLoss, takeProfit"},
	{name: "price", kind: kindDecimal, doc: "quote per base, a multiple of the market's tickSize"},
	{name: "triggerAmount", kind: kindDecimal, doc: "trigger price"},
	{name: "timeInForce", kind: kindWord, words: market.Words[market.TimeInForce](), doc: "GTC where it is left out"},
	{name: "selfTradePrevention", kind: kindWord, words: market.Words[market.SelfTradePrevention](), doc: "decrementAndCancel where it is left out"},
	{name: "postOnly", kind: kindFlag, doc: "never take"},
	{name: "responseRequired", kind: kindFlag, doc: "true where it is left out"},
}

// endpointRow is an endpoint with the method that carries out its requests.
type endpointRow struct {
	endpoint endpoint
	do       func(*Exchange, *call) *exchange.Error
}

// bind returns the endpoints of rows, carried out by an exchange.
func (ex *Exchange) bind(rows []endpointRow) table {
	t := make(table, len(rows))
	for i := range rows {
		do := rows[i].do
		t[i] = rows[i].endpoint
		t[i].do = func(c *call) *exchange.Error { return do(ex, c) }
	}
	return t
}

// endpoints are the specification's section 1, the two reports (venue-facts 1.2) and cancel on disconnect (venue-facts 3.8). Weights
// and permissions are those of venue-facts 1.1.
var endpoints = []endpointRow{
	{endpoint: endpoint{method: "GET", path: "/time", summary: "Server time", section: "1", weight: 1, answer: "Time"}, do: (*Exchange).getTime},
	{endpoint: endpoint{method: "GET", path: "/markets", summary: "Markets", section: "2.3", weight: 1, params: []parameter{anyMarket}, answer: "Markets"}, do: (*Exchange).getMarkets},
	{endpoint: endpoint{method: "GET", path: "/assets", summary: "Assets", section: "1", weight: 1, params: []parameter{anySymbol}, answer: "Assets"}, do: (*Exchange).getAssets},
	{endpoint: endpoint{method: "GET", path: "/{market}/book", summary: "Order book", section: "1", weight: 1, params: []parameter{marketInPath, bookDepth}, answer: "Book"}, do: (*Exchange).getBook},
	{endpoint: endpoint{method: "GET", path: "/{market}/trades", summary: "Public trades", section: "1", weight: 5,
		params: []parameter{marketInPath, rowLimit, startMillis, endMillis, tradeIDFrom, tradeIDTo}, answer: "PublicTrades"}, do: (*Exchange).getPublicTrades},
	{endpoint: endpoint{method: "GET", path: "/{market}/candles", summary: "Candles", section: "1", weight: 1,
		params: []parameter{marketInPath, {name: "interval", kind: kindWord, required: true, words: market.Words[market.Interval]()},
			{name: "limit", kind: kindInteger, min: 1, max: 1440, doc: "rows at most; 1440 where it is left out"}, startMillis, endMillis}, answer: "Candles"}, do: (*Exchange).getCandles},
	{endpoint: endpoint{method: "GET", path: "/ticker/price", summary: "Latest prices", section: "1", weight: 1, params: []parameter{anyMarket}, answer: "TickerPrices"}, do: (*Exchange).getTickerPrice},
	{endpoint: endpoint{method: "GET", path: "/ticker/book", summary: "Best bids and asks", section: "1", weight: 1, params: []parameter{anyMarket}, answer: "TickerBooks"}, do: (*Exchange).getTickerBook},
	{endpoint: endpoint{method: "GET", path: "/ticker/24h", summary: "Statistics of the last 24 hours", section: "1", weight: 1, weightAll: 25, params: []parameter{anyMarket}, answer: "Tickers24h"}, do: (*Exchange).getTicker24h},
	{endpoint: endpoint{method: "GET", path: "/report/{market}/book", summary: "Order book report", section: "1", weight: 1, params: []parameter{marketInPath, bookDepth}, answer: "BookReport"}, do: (*Exchange).getBookReport},
	{endpoint: endpoint{method: "GET", path: "/report/{market}/trades", summary: "Trades report", section: "1", weight: 5,
		params: []parameter{marketInPath, rowLimit, startMillis, endMillis, tradeIDFrom, tradeIDTo}, answer: "TradesReport"}, do: (*Exchange).getTradesReport},

	{endpoint: endpoint{method: "POST", path: "/order", summary: "Place an order", section: "4.1", weight: 1, needs: rightTrade,
		params: append([]parameter{oneMarket,
			{name: "side", kind: kindWord, required: true, words: market.Words[market.Side]()}, {name: "orderType", kind: kindWord, required: true, words: market.Words[market.OrderType]()}, operatorID, clientID,
			{name: "triggerType", kind: kindWord, words: market.Words[market.TriggerType]()}, {name: "triggerReference", kind: kindWord, words: market.Words[market.TriggerReference]()},
			{name: "codGroupId", kind: kindInteger, min: 1, max: 1000, doc: "group of orders for cancel on disconnect"},
			{name: "disableMarketProtection", kind: kindFlag, doc: "deprecated: its value is ignored"}}, orderTerms...), answer: "Order"}, do: (*Exchange).postOrder},
	{endpoint: endpoint{method: "PUT", path: "/order", summary: "Update an order", section: "4.4", weight: 1, needs: rightTrade,
		params: append([]parameter{oneMarket, orderID, clientID, operatorID, {name: "amountRemaining", kind: kindDecimal, doc: "new remaining amount"}}, orderTerms...), answer: "Order"}, do: (*Exchange).putOrder},
	{endpoint: endpoint{method: "GET", path: "/order", summary: "One order", section: "4.2", weight: 1, needs: rightTrade | rightRead, params: []parameter{oneMarket, orderID, clientID}, answer: "Order"}, do: (*Exchange).getOrder},
	{endpoint: endpoint{method: "DELETE", path: "/order", summary: "Cancel an order", section: "1", weight: 1, needs: rightTrade, params: []parameter{oneMarket, orderID, clientID, operatorID}, answer: "Cancelled"}, do: (*Exchange).deleteOrder},
	{endpoint: endpoint{method: "GET", path: "/ordersOpen", summary: "Open orders", section: "4.5", weight: 5, weightAll: 100, needs: rightTrade | rightRead, params: []parameter{anyMarket, {name: "base", kind: kindAsset}}, answer: "Orders"}, do: (*Exchange).getOrdersOpen},
	{endpoint: endpoint{method: "GET", path: "/orders", summary: "Orders of a market", section: "4.3", weight: 5, needs: rightTrade | rightRead,
		params: []parameter{oneMarket, rowLimit, startMillis, endMillis, {name: "orderIdFrom", kind: kindID}, {name: "orderIdTo", kind: kindID}}, answer: "Orders"}, do: (*Exchange).getOrders},
	{endpoint: endpoint{method: "DELETE", path: "/orders", summary: "Cancel orders", section: "1", weight: 25, weightAll: 100, needs: rightTrade, params: []parameter{anyMarket, operatorID}, answer: "CancelledList"}, do: (*Exchange).deleteOrders},
	{endpoint: endpoint{method: "POST", path: "/cancelOrdersAfter", summary: "Cancel on disconnect", section: "9", weight: 5, needs: rightTrade,
		params: []parameter{{name: "codGroupId", kind: kindInteger, required: true, min: 1, max: 1000}, {name: "expiryAfterSeconds", kind: kindInteger, required: true, min: 0, max: 300}}, answer: "CancelAfter"}, do: (*Exchange).postCancelOrdersAfter},
	{endpoint: endpoint{method: "GET", path: "/trades", summary: "Own trades", section: "1", weight: 5, needs: rightTrade | rightRead,
		params: []parameter{oneMarket, rowLimit, startMillis, endMillis, tradeIDFrom, tradeIDTo}, answer: "Trades"}, do: (*Exchange).getTrades},

	{endpoint: endpoint{method: "GET", path: "/account", summary: "Account with its fees", section: "1", weight: 1, needs: rightRead, answer: "Account"}, do: (*Exchange).getAccount},
	{endpoint: endpoint{method: "GET", path: "/balance", summary: "Balances", section: "1", weight: 5, needs: rightRead, params: []parameter{anySymbol}, answer: "Balances"}, do: (*Exchange).getBalance},
	{endpoint: endpoint{method: "GET", path: "/account/fees", summary: "Fees", section: "1", weight: 1, needs: rightRead, params: []parameter{anyMarket, {name: "quote", kind: kindAsset}}, answer: "Fees"}, do: (*Exchange).getFees},
	{endpoint: endpoint{method: "GET", path: "/account/history", summary: "Transactions", section: "1", weight: 1, needs: rightRead,
		params: []parameter{{name: "fromDate", kind: kindInteger, max: lastMillis}, {name: "toDate", kind: kindInteger, max: lastMillis}, {name: "page", kind: kindInteger, min: 1, max: math.MaxInt32},
			{name: "maxItems", kind: kindInteger, min: 1, max: 100}, {name: "type", kind: kindWord, words: transactionTypes}}, answer: "History"}, do: (*Exchange).getHistory},
	{endpoint: endpoint{method: "GET", path: "/deposit", summary: "Deposit address", section: "1", weight: 1, needs: rightRead, params: []parameter{{name: "symbol", kind: kindAsset, required: true}}, answer: "DepositAddress"}, do: (*Exchange).getDeposit},
	{endpoint: endpoint{method: "GET", path: "/depositHistory", summary: "Deposits", section: "1", weight: 5, needs: rightRead, params: []parameter{anySymbol, rowLimit, startMillis, endMillis}, answer: "Deposits"}, do: (*Exchange).getDepositHistory},
	{endpoint: endpoint{method: "POST", path: "/withdrawal", summary: "Withdraw", section: "1", weight: 1, needs: rightWithdraw,
		params: []parameter{{name: "symbol", kind: kindAsset, required: true}, {name: "amount", kind: kindDecimal, required: true}, {name: "address", kind: kindText, required: true}, {name: "paymentId", kind: kindText},
			{name: "internal", kind: kindFlag}, {name: "addWithdrawalFee", kind: kindFlag}}, answer: "Withdrawal"}, do: (*Exchange).postWithdrawal},
	{endpoint: endpoint{method: "GET", path: "/withdrawalHistory", summary: "Withdrawals", section: "1", weight: 5, needs: rightRead, params: []parameter{anySymbol, rowLimit, startMillis, endMillis}, answer: "Withdrawals"}, do: (*Exchange).getWithdrawalHistory},
}

// transactionTypes are those of GET /account/history (venue-facts 1.4).
var transactionTypes = []string{"sell", "buy", "staking", "fixed_staking", "deposit", "withdrawal", "affiliate", "distribution", "internal_transfer",
	"withdrawal_cancelled", "rebate", "loan", "external_transferred_funds", "manually_assigned"}
