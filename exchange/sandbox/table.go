package sandbox

import (
	"cmp"
	"math"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// lastMillis is the latest time that a parameter may name (specification 8).
const lastMillis = 8640000000000000

// The parameters that many endpoints share.
var (
	marketInPath = api.Parameter{Name: "market", Kind: api.MarketName, Required: true, InPath: true, Doc: "BASE-QUOTE"}
	oneMarket    = api.Parameter{Name: "market", Kind: api.MarketName, Required: true, Doc: "BASE-QUOTE"}
	anyMarket    = api.Parameter{Name: "market", Kind: api.MarketName,
		Doc: "BASE-QUOTE; all markets where it is left out"}
	anySymbol = api.Parameter{Name: "symbol", Kind: api.AssetSymbol, Doc: "an asset; all where it is left out"}
	rowLimit  = api.Parameter{Name: "limit", Kind: api.Integer, Min: 1, Max: 1000,
		Doc: "rows at most; 500 where it is left out"}
	startMillis = api.Parameter{Name: "start", Kind: api.Integer, Max: lastMillis, Doc: "from this time on, Unix ms"}
	endMillis   = api.Parameter{Name: "end", Kind: api.Integer, Max: lastMillis, Doc: "up to this time, Unix ms"}
	tradeIDFrom = api.Parameter{Name: "tradeIdFrom", Kind: api.Text, Doc: "from this trade on"}
	tradeIDTo   = api.Parameter{Name: "tradeIdTo", Kind: api.Text, Doc: "up to this trade"}
	orderID     = api.Parameter{Name: "orderId", Kind: api.UUID, Doc: "the exchange's name of the order"}
	clientID    = api.Parameter{Name: "clientOrderId", Kind: api.UUID,
		Doc: "the client's name of the order; it counts where both are given"}
	operatorID = api.Parameter{Name: "operatorId", Kind: api.Integer, Required: true, Min: math.MinInt64,
		Max: math.MaxInt64, Doc: "trader or bot"}
	bookDepth = api.Parameter{Name: "depth", Kind: api.Integer, Min: 1, Max: 1000,
		Doc: "levels of each side; 1000 where it is left out"}
)

// orderTerms are the parameters that POST and PUT /order have in common (specification 4.1 and
// 4.4).
var orderTerms = []api.Parameter{
	{Name: "amount", Kind: api.Decimal, Doc: "base amount"},
	{Name: "amountQuote", Kind: api.Decimal, Doc: "quote amount: market, stopLoss, takeProfit"},
	{Name: "price", Kind: api.Decimal, Doc: "quote per base, a multiple of the market's tickSize"},
	{Name: "triggerAmount", Kind: api.Decimal, Doc: "trigger price"},
	{Name: "timeInForce", Kind: api.Word, Words: market.Words[market.TimeInForce](), Doc: "GTC where it is left out"},
	{Name: "selfTradePrevention", Kind: api.Word, Words: market.Words[market.SelfTradePrevention](),
		Doc: "decrementAndCancel where it is left out"},
	{Name: "postOnly", Kind: api.Flag, Doc: "never take"},
	{Name: "responseRequired", Kind: api.Flag, Doc: "true where it is left out"},
}

// endpointRow is an endpoint with the method that carries out its requests. Where the endpoint has
// no Section, its section is 1, and without a Weight it costs one point.
type endpointRow struct {
	api.Endpoint
	do func(*Exchange, *api.Call) *exchange.Error
}

// bind returns the endpoints of rows, carried out by an exchange.
func (ex *Exchange) bind(rows []endpointRow) api.Table {
	t := make(api.Table, len(rows))
	for i, row := range rows {
		t[i] = row.Endpoint
		t[i].Section, t[i].Weight = cmp.Or(row.Section, "1"), cmp.Or(row.Weight, 1)
		t[i].Do = func(c *api.Call) *exchange.Error { return row.do(ex, c) }
	}
	return t
}

// endpoints are the specification's section 1, the two reports (venue-facts 1.2), cancel on
// disconnect (venue-facts 3.8), and three that only venue-facts name: DELETE /atomic/orders, GET
// /stakingBalance and POST /crypto/withdrawal. Weights and permissions are those of venue-facts
// 1.1.
var endpoints = []endpointRow{
	{api.Endpoint{Method: "GET", Path: "/time", Action: "getTime", Summary: "Server time", Answer: "Time"},
		(*Exchange).getTime},
	{api.Endpoint{Method: "GET", Path: "/markets", Action: "getMarkets", Summary: "Markets", Section: "2.3",
		Params: []api.Parameter{anyMarket}, Answer: "Markets"}, (*Exchange).getMarkets},
	{api.Endpoint{Method: "GET", Path: "/assets", Action: "getAssets", Summary: "Assets",
		Params: []api.Parameter{anySymbol}, Answer: "Assets"}, (*Exchange).getAssets},
	{api.Endpoint{Method: "GET", Path: "/{market}/book", Action: "getBook", Summary: "Order book",
		Params: []api.Parameter{marketInPath, bookDepth}, Answer: "Book"}, (*Exchange).getBook},
	{api.Endpoint{Method: "GET", Path: "/{market}/trades", Action: "getTrades", Summary: "Public trades", Weight: 5,
		Params: []api.Parameter{marketInPath, rowLimit, startMillis, endMillis, tradeIDFrom, tradeIDTo},
		Answer: "PublicTrades"}, (*Exchange).getPublicTrades},
	{api.Endpoint{Method: "GET", Path: "/{market}/candles", Action: "getCandles", Summary: "Candles",
		Params: []api.Parameter{marketInPath, {Name: "interval", Kind: api.Word, Required: true,
			Words: market.Words[market.Interval]()},
			{Name: "limit", Kind: api.Integer, Min: 1, Max: 1440, Doc: "rows at most; 1440 where it is left out"},
			startMillis, endMillis}, Answer: "Candles"}, (*Exchange).getCandles},
	{api.Endpoint{Method: "GET", Path: "/ticker/price", Action: "getTickerPrice", Summary: "Latest prices",
		Params: []api.Parameter{anyMarket}, Answer: "TickerPrices"}, (*Exchange).getTickerPrice},
	{api.Endpoint{Method: "GET", Path: "/ticker/book", Action: "getTickerBook", Summary: "Best bids and asks",
		Params: []api.Parameter{anyMarket}, Answer: "TickerBooks"}, (*Exchange).getTickerBook},
	{api.Endpoint{Method: "GET", Path: "/ticker/24h", Action: "getTicker24h",
		Summary: "Statistics of the last 24 hours", WeightAll: 25, Params: []api.Parameter{anyMarket},
		Answer: "Tickers24h"}, (*Exchange).getTicker24h},
	{api.Endpoint{Method: "GET", Path: "/report/{market}/book", Summary: "Order book report",
		Params: []api.Parameter{marketInPath, bookDepth}, Answer: "BookReport"}, (*Exchange).getBookReport},
	{api.Endpoint{Method: "GET", Path: "/report/{market}/trades", Summary: "Trades report", Weight: 5,
		Params: []api.Parameter{marketInPath, rowLimit, startMillis, endMillis, tradeIDFrom, tradeIDTo},
		Answer: "TradesReport"}, (*Exchange).getTradesReport},

	{api.Endpoint{Method: "POST", Path: "/order", Action: "privateCreateOrder", Summary: "Place an order",
		Section: "4.1", Needs: api.Trade, Params: append([]api.Parameter{oneMarket, {Name: "side", Kind: api.Word,
			Required: true, Words: market.Words[market.Side]()}, {Name: "orderType", Kind: api.Word, Required: true,
			Words: market.Words[market.OrderType]()}, operatorID, clientID, {Name: "triggerType", Kind: api.Word,
			Words: market.Words[market.TriggerType]()}, {Name: "triggerReference", Kind: api.Word,
			Words: market.Words[market.TriggerReference]()},
			{Name: "codGroupId", Kind: api.Integer, Min: 1, Max: 1000, Doc: "group of orders for cancel on disconnect"},
			{Name: "disableMarketProtection", Kind: api.Flag, Doc: "deprecated: its value is ignored"}}, orderTerms...),
		Answer: "Order"}, (*Exchange).postOrder},
	{api.Endpoint{Method: "PUT", Path: "/order", Action: "privateUpdateOrder", Summary: "Update an order",
		Section: "4.4", Needs: api.Trade, Params: append([]api.Parameter{oneMarket, orderID, clientID, operatorID,
			{Name: "amountRemaining", Kind: api.Decimal, Doc: "new remaining amount"}}, orderTerms...),
		Answer: "Order"}, (*Exchange).putOrder},
	{api.Endpoint{Method: "GET", Path: "/order", Action: "privateGetOrder", Summary: "One order", Section: "4.2",
		Needs: api.Trade | api.Read, Params: []api.Parameter{oneMarket, orderID, clientID}, Answer: "Order"},
		(*Exchange).getOrder},
	{api.Endpoint{Method: "DELETE", Path: "/order", Action: "privateCancelOrder", Summary: "Cancel an order",
		Needs: api.Trade, Params: []api.Parameter{oneMarket, orderID, clientID, operatorID}, Answer: "Cancelled"},
		(*Exchange).deleteOrder},
	{api.Endpoint{Method: "GET", Path: "/ordersOpen", Action: "privateGetOrdersOpen", Summary: "Open orders",
		Section: "4.5", Weight: 5, WeightAll: 100, Needs: api.Trade | api.Read, Params: []api.Parameter{anyMarket,
			{Name: "base", Kind: api.AssetSymbol}}, Answer: "Orders"}, (*Exchange).getOrdersOpen},
	{api.Endpoint{Method: "GET", Path: "/orders", Action: "privateGetOrders", Summary: "Orders of a market",
		Section: "4.3", Weight: 5, Needs: api.Trade | api.Read, Params: []api.Parameter{oneMarket, rowLimit,
			startMillis, endMillis, {Name: "orderIdFrom", Kind: api.UUID},
			{Name: "orderIdTo", FormerName: "orderId", Kind: api.UUID}}, Answer: "Orders"}, (*Exchange).getOrders},
	{api.Endpoint{Method: "DELETE", Path: "/orders", Action: "privateCancelOrders", Summary: "Cancel orders",
		Weight: 25, WeightAll: 100, Needs: api.Trade, Params: []api.Parameter{anyMarket, operatorID},
		Answer: "CancelledList"}, (*Exchange).deleteOrders},
	{api.Endpoint{Method: "DELETE", Path: "/atomic/orders", Action: "privateAtomicCancelOrders",
		Summary: "Cancel all orders of a side at once", Section: "venue-facts 1.3", Weight: 100, Needs: api.Trade,
		Params: []api.Parameter{oneMarket, {Name: "side", Kind: api.Word, Required: true,
			Words: market.Words[market.Side]()}, operatorID}, Answer: "CancelledList"}, (*Exchange).deleteAtomicOrders},
	{api.Endpoint{Method: "POST", Path: "/cancelOrdersAfter", Action: "privateCancelOrdersAfter",
		Summary: "Cancel on disconnect", Section: "9", Weight: 5, Needs: api.Trade,
		Params: []api.Parameter{{Name: "codGroupId", Kind: api.Integer, Required: true, Min: 1, Max: 1000},
			{Name: "expiryAfterSeconds", Kind: api.Integer, Required: true, Min: 0, Max: 300}}, Answer: "CancelAfter"},
		(*Exchange).postCancelOrdersAfter},
	{api.Endpoint{Method: "GET", Path: "/trades", Action: "privateGetTrades", Summary: "Own trades", Weight: 5,
		Needs:  api.Trade | api.Read,
		Params: []api.Parameter{oneMarket, rowLimit, startMillis, endMillis, tradeIDFrom, tradeIDTo},
		Answer: "Trades"}, (*Exchange).getTrades},

	{api.Endpoint{Method: "GET", Path: "/account", Action: "privateGetAccount", Summary: "Account with its fees",
		Needs: api.Read, Answer: "Account"}, atBank((*bank).getAccount)},
	{api.Endpoint{Method: "GET", Path: "/balance", Action: "privateGetBalance", Summary: "Balances", Weight: 5,
		Needs: api.Read, Params: []api.Parameter{anySymbol}, Answer: "Balances"}, atBank((*bank).getBalance)},
	{api.Endpoint{Method: "GET", Path: "/stakingBalance", Summary: "Staked balances", Section: "venue-facts 1.4",
		Weight: 5, Needs: api.Read, Answer: "StakingBalances"}, atBank((*bank).getStakingBalance)},
	{api.Endpoint{Method: "GET", Path: "/account/fees", Action: "privateGetFees", Summary: "Fees", Needs: api.Read,
		Params: []api.Parameter{anyMarket, {Name: "quote", Kind: api.AssetSymbol}}, Answer: "Fees"},
		atBank((*bank).getFees)},
	{api.Endpoint{Method: "GET", Path: "/account/history", Action: "privateGetTransactionHistory",
		Summary: "Transactions", Needs: api.Read,
		Params: []api.Parameter{{Name: "fromDate", Kind: api.Integer, Max: lastMillis},
			{Name: "toDate", Kind: api.Integer, Max: lastMillis},
			{Name: "page", Kind: api.Integer, Min: 1, Max: math.MaxInt32},
			{Name: "maxItems", Kind: api.Integer, Min: 1, Max: 100},
			{Name: "type", Kind: api.Word, Words: transactionTypes}}, Answer: "History"}, atBank((*bank).getHistory)},
	{api.Endpoint{Method: "GET", Path: "/deposit", Action: "privateDepositAssets", Summary: "Deposit address",
		Needs: api.Read, Params: []api.Parameter{{Name: "symbol", Kind: api.AssetSymbol, Required: true}},
		Answer: "DepositAddress"}, atBank((*bank).getDeposit)},
	{api.Endpoint{Method: "GET", Path: "/depositHistory", Action: "privateGetDepositHistory", Summary: "Deposits",
		Weight: 5, Needs: api.Read, Params: []api.Parameter{anySymbol, rowLimit, startMillis, endMillis},
		Answer: "Deposits"}, atBank((*bank).getDepositHistory)},
	{api.Endpoint{Method: "POST", Path: "/withdrawal", Action: "privateWithdrawAssets", Summary: "Withdraw",
		Needs: api.Withdraw, Params: []api.Parameter{{Name: "symbol", Kind: api.AssetSymbol, Required: true},
			{Name: "amount", Kind: api.Decimal, Required: true}, {Name: "address", Kind: api.Text, Required: true},
			{Name: "paymentId", Kind: api.Text}, {Name: "internal", Kind: api.Flag},
			{Name: "addWithdrawalFee", Kind: api.Flag}}, Answer: "Withdrawal"}, atBank((*bank).postWithdrawal)},
	{api.Endpoint{Method: "POST", Path: "/crypto/withdrawal", Action: "privateCryptoWithdrawal",
		Summary: "Withdraw a digital asset", Section: "venue-facts 1.4", Weight: 25, Needs: api.Withdraw,
		Params: []api.Parameter{{Name: "asset", Kind: api.AssetSymbol, Required: true},
			{Name: "network", Kind: api.Text, Required: true, Doc: "one of the asset's networks"},
			{Name: "address", Kind: api.Text, Required: true}, {Name: "amount", Kind: api.Decimal, Required: true},
			{Name: "deductFeeFromAmount", Kind: api.Flag, Doc: "false where it is left out: the fee comes on top"},
			{Name: "idempotencyKey", Kind: api.Text,
				Doc: "5 to 50 characters; the same one again withdraws nothing more"}, {Name: "memo", Kind: api.Text}},
		Answer: "CryptoWithdrawal", Created: true}, atBank((*bank).postCryptoWithdrawal)},
	{api.Endpoint{Method: "GET", Path: "/withdrawalHistory", Action: "privateGetWithdrawalHistory",
		Summary: "Withdrawals", Weight: 5, Needs: api.Read,
		Params: []api.Parameter{anySymbol, rowLimit, startMillis, endMillis}, Answer: "Withdrawals"},
		atBank((*bank).getWithdrawalHistory)},
}

// transactionTypes are those of GET /account/history (venue-facts 1.4).
var transactionTypes = []string{"sell", "buy", "staking", "fixed_staking", "deposit", "withdrawal", "affiliate",
	"distribution", "internal_transfer",
	"withdrawal_cancelled", "rebate", "loan", "external_transferred_funds", "manually_assigned"}
