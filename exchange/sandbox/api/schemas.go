package api

import (
	"encoding/json"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// schema is the shape of one object of an answer. All its fields are there unless they are
// optional, and no others.
type schema struct {
	name   string
	fields []field
}

// field is one member of an object.
type field struct {
	name     string
	shape    string // JSON Schema
	optional bool
}

// The shapes of values: amounts are strings, times integers (specification 1).
const (
	aText     = `{"type":"string"}`
	aDecimal  = `{"type":"string","pattern":"^-?[0-9]+([.][0-9]+)?$"}`
	aPrice    = `{"type":["string","null"],"pattern":"^[0-9]+([.][0-9]+)?$"}`
	anInteger = `{"type":"integer","format":"int64"}`
	aCount    = `{"type":"integer","format":"int64","minimum":0}`
	aMoment   = `{"type":["integer","null"],"format":"int64","minimum":0}`
	aFlag     = `{"type":"boolean"}`
	aUUID     = `{"type":"string","format":"uuid","pattern":"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}`
	aMarket   = `{"type":"string","pattern":"^[^-]+-[^-]+$"}`
	anISOTime = `{"type":"string","format":"date-time"}`
	aSide     = `{"enum":["buy","sell"]}`
	someTexts = `{"type":"array","items":{"type":"string"}}`
	aBookSide = `{"type":"array","items":{"type":"array","prefixItems":[` + aDecimal + `,` + aDecimal +
		`],"minItems":2,"items":false}}`
)

// oneOf is the shape of a word.
func oneOf(words []string) string { return `{"enum":["` + strings.Join(words, `","`) + `"]}` }

// schemas are the objects of answers (specification 2, 4.4 and 7, venue-facts 1.2 to 1.4).
var schemas = []schema{
	{"Error", []field{{name: "errorCode", shape: anInteger}, {name: "error", shape: aText}}},
	{"Time", []field{{name: "time", shape: aCount}, {name: "timeNs", shape: aCount}}},
	{"Market", []field{
		{name: "market", shape: aMarket}, {name: "status",
			shape: oneOf(market.Words[market.MarketStatus]())}, {name: "base", shape: aText},
		{name: "quote", shape: aText},
		{name: "pricePrecision", shape: `{"type":"null"}`}, {name: "minOrderInBaseAsset",
			shape: aDecimal}, {name: "minOrderInQuoteAsset", shape: aDecimal},
		{name: "maxOrderInBaseAsset", shape: aDecimal}, {name: "maxOrderInQuoteAsset",
			shape: aDecimal}, {name: "quantityDecimals", shape: aCount}, {name: "notionalDecimals", shape: aCount},
		{name: "tickSize", shape: aDecimal}, {name: "maxOpenOrders", shape: aCount}, {name: "feeCategory",
			shape: aText}, {name: "orderTypes", shape: someTexts}}},
	{"Asset", []field{
		{name: "symbol", shape: aText}, {name: "name", shape: aText}, {name: "decimals",
			shape: aCount}, {name: "depositFee", shape: `{"type":"string","pattern":"^(none|[0-9]+([.][0-9]+)?)$"}`},
		{name: "depositConfirmations", shape: aCount},
		{name: "depositStatus", shape: transferStatus}, {name: "withdrawalFee",
			shape: aDecimal}, {name: "withdrawalMinAmount", shape: aDecimal},
		{name: "withdrawalStatus", shape: transferStatus}, {name: "networks",
			shape: `{"type":"array","items":{"type":"string"},"minItems":1}`}, {name: "message", shape: aText}}},
	{"Book", []field{{name: "market", shape: aMarket}, {name: "nonce", shape: aCount}, {name: "bids", shape: aBookSide},
		{name: "asks", shape: aBookSide}, {name: "timestamp", shape: aCount}}},
	{"PublicTrade", []field{{name: "id", shape: aUUID}, {name: "timestamp", shape: aCount},
		{name: "amount", shape: aDecimal}, {name: "price", shape: aDecimal}, {name: "side", shape: aSide}}},
	{"TickerPrice", []field{{name: "market", shape: aMarket}, {name: "price", shape: aPrice}}},
	{"TickerBook", []field{{name: "market", shape: aMarket}, {name: "bid", shape: aPrice},
		{name: "bidSize", shape: aPrice}, {name: "ask", shape: aPrice}, {name: "askSize", shape: aPrice}}},
	{"Ticker24h", []field{
		{name: "market", shape: aMarket}, {name: "startTimestamp", shape: aCount}, {name: "timestamp",
			shape: aCount}, {name: "open", shape: aPrice}, {name: "openTimestamp", shape: aMoment},
		{name: "high", shape: aPrice}, {name: "low", shape: aPrice}, {name: "last",
			shape: aPrice}, {name: "closeTimestamp", shape: aMoment}, {name: "bid", shape: aPrice},
		{name: "bidSize", shape: aPrice},
		{name: "ask", shape: aPrice}, {name: "askSize", shape: aPrice}, {name: "volume",
			shape: aPrice}, {name: "volumeQuote", shape: aPrice}}},
	{"BookReport", []field{
		{name: "submissionTimestamp", shape: anISOTime}, {name: "assetCode", shape: aText}, {name: "assetName",
			shape: aText}, {name: "bids", shape: reportSide}, {name: "asks", shape: reportSide},
		{name: "priceCurrency", shape: aText}, {name: "priceNotation", shape: aText}, {name: "quantityCurrency",
			shape: aText}, {name: "quantityNotation", shape: aText},
		{name: "venue", shape: aText}, {name: "tradingSystem", shape: aText}, {name: "publicationTimestamp",
			shape: anISOTime}}},
	{"ReportedLevel", []field{{name: "side", shape: `{"enum":["BUYI","SELL"]}`}, {name: "price", shape: aDecimal},
		{name: "quantity", shape: aDecimal}, {name: "numOrders", shape: aCount}}},
	{"ReportedTrade", []field{
		{name: "tradeId", shape: aUUID}, {name: "transactTimestamp", shape: anISOTime}, {name: "assetCode",
			shape: aText}, {name: "assetName", shape: aText}, {name: "price", shape: aDecimal},
		{name: "missingPrice", shape: aText}, {name: "priceNotation", shape: aText}, {name: "priceCurrency",
			shape: aText}, {name: "quantity", shape: aDecimal}, {name: "quantityCurrency", shape: aText},
		{name: "quantityNotation", shape: aText}, {name: "venue", shape: aText}, {name: "publicationTimestamp",
			shape: anISOTime}, {name: "publicationVenue", shape: aText}}},
	{"Order", []field{
		{name: "orderId", shape: aUUID}, {name: "clientOrderId", shape: `{"type":["string","null"],"format":"uuid"}`,
			optional: true}, {name: "market", shape: aMarket},
		{name: "created", shape: aCount}, {name: "updated", shape: aCount}, {name: "createdNs",
			shape: aCount}, {name: "updatedNs", shape: aCount},
		{name: "status", shape: `{"enum":["new","awaitingTrigger","partiallyFilled","filled","canceled","expired"]}`},
		{name: "side", shape: aSide},
		{name: "orderType", shape: oneOf(market.Words[market.OrderType]())},
		{name: "amount", shape: aDecimal, optional: true}, {name: "amountRemaining", shape: aDecimal,
			optional: true}, {name: "price", shape: aDecimal, optional: true},
		{name: "amountQuote", shape: aDecimal, optional: true}, {name: "amountQuoteRemaining", shape: aDecimal,
			optional: true}, {name: "onHold", shape: aDecimal}, {name: "onHoldCurrency", shape: aText},
		{name: "triggerPrice", shape: aDecimal, optional: true}, {name: "triggerAmount", shape: aDecimal,
			optional: true}, {name: "triggerType", shape: `{"const":"price"}`, optional: true},
		{name: "triggerReference", shape: oneOf(market.Words[market.TriggerReference]()),
			optional: true}, {name: "filledAmount", shape: aDecimal}, {name: "filledAmountQuote", shape: aDecimal},
		{name: "feePaid", shape: aDecimal}, {name: "feeCurrency", shape: aText}, {name: "fills",
			shape: `{"type":"array","items":{"$ref":"#/components/schemas/Fill"}}`},
		{name: "selfTradePrevention", shape: oneOf(market.Words[market.SelfTradePrevention]())}, {name: "visible",
			shape: aFlag},
		{name: "timeInForce", shape: oneOf(market.Words[market.TimeInForce]())}, {name: "postOnly",
			shape: aFlag}, {name: "disableMarketProtection", shape: `{"const":false}`, optional: true},
		{name: "operatorId", shape: anInteger, optional: true}, {name: "restatementReason", shape: aText,
			optional: true}, {name: "codGroupId", shape: `{"type":"integer","minimum":1,"maximum":1000}`,
			optional: true}}},
	{"ShortOrder", []field{
		{name: "market", shape: aMarket}, {name: "orderId", shape: aUUID}, {name: "clientOrderId", shape: aUUID,
			optional: true}, {name: "created", shape: aCount}, {name: "updated", shape: aCount},
		{name: "createdNs", shape: aCount}, {name: "updatedNs", shape: aCount}}},
	{"Fill", []field{
		{name: "id", shape: aUUID}, {name: "timestamp", shape: aCount}, {name: "amount",
			shape: aDecimal}, {name: "price", shape: aDecimal}, {name: "taker", shape: aFlag},
		{name: "fee", shape: aDecimal, optional: true}, {name: "feeCurrency", shape: aText,
			optional: true}, {name: "settled", shape: aFlag}}},
	{"Cancelled", []field{{name: "orderId", shape: aUUID}, {name: "clientOrderId", shape: aUUID, optional: true},
		{name: "operatorId", shape: anInteger, optional: true}, {name: "market", shape: aMarket, optional: true}}},
	{"CancelAfter", []field{{name: "codGroupId", shape: aCount}, {name: "timeOfExpirySeconds", shape: aCount}}},
	{"Trade", []field{
		{name: "id", shape: aUUID}, {name: "orderId", shape: aUUID}, {name: "clientOrderId", shape: aUUID,
			optional: true}, {name: "timestamp", shape: aCount}, {name: "market", shape: aMarket},
		{name: "side", shape: aSide}, {name: "amount", shape: aDecimal}, {name: "price",
			shape: aDecimal}, {name: "taker", shape: aFlag}, {name: "fee", shape: aDecimal, optional: true},
		{name: "feeCurrency", shape: aText, optional: true}, {name: "settled", shape: aFlag}, {name: "operatorId",
			shape: anInteger, optional: true}}},
	{"AccountFees", []field{{name: "tier", shape: aCount}, {name: "volume", shape: aDecimal},
		{name: "maker", shape: aDecimal}, {name: "taker", shape: aDecimal}}},
	{"Account", []field{{name: "fees", shape: `{"$ref":"#/components/schemas/AccountFees"}`},
		{name: "capabilities", shape: someTexts}}},
	{"Fees", []field{{name: "tier", shape: `{"type":"string","pattern":"^[0-9]+$"}`}, {name: "volume", shape: aDecimal},
		{name: "maker", shape: aDecimal}, {name: "taker", shape: aDecimal}}},
	{"Balance", []field{{name: "symbol", shape: aText}, {name: "available", shape: aDecimal},
		{name: "inOrder", shape: aDecimal}}},
	{"History", []field{
		{name: "items", shape: `{"type":"array","items":{"$ref":"#/components/schemas/Transaction"}}`},
		{name: "currentPage", shape: aCount}, {name: "totalPages", shape: aCount}, {name: "maxItems", shape: aCount}}},
	{"Transaction", []field{
		{name: "transactionId", shape: aUUID}, {name: "executedAt", shape: anISOTime}, {name: "type",
			shape: aText}, {name: "priceCurrency", shape: aText, optional: true},
		{name: "priceAmount", shape: aDecimal, optional: true},
		{name: "sentCurrency", shape: aText, optional: true}, {name: "sentAmount", shape: aDecimal,
			optional: true}, {name: "receivedCurrency", shape: aText, optional: true},
		{name: "receivedAmount", shape: aDecimal, optional: true},
		{name: "feesCurrency", shape: aText, optional: true}, {name: "feesAmount", shape: aDecimal,
			optional: true}, {name: "address", shape: `{"type":["string","null"]}`, optional: true}}},
	{"CryptoAddress", []field{{name: "address", shape: aText}, {name: "paymentId", shape: aText, optional: true}}},
	{"BankAccount", []field{{name: "iban", shape: aText}, {name: "bic", shape: aText},
		{name: "description", shape: aText}}},
	{"Deposit", transferFields},
	{"WithdrawalEntry", transferFields},
	{"Withdrawal", []field{{name: "success", shape: aFlag}, {name: "symbol", shape: aText},
		{name: "amount", shape: aDecimal}}},
	{"CryptoWithdrawal", []field{{name: "id", shape: aUUID}, {name: "asset", shape: aText},
		{name: "network", shape: aText}, {name: "address", shape: aText}, {name: "amount", shape: aDecimal},
		{name: "fee", shape: aDecimal}, {name: "createdAt", shape: anISOTime}}},
	{"StakingBalance", []field{{name: "symbol", shape: aText}, {name: "amount", shape: aDecimal}}},
}

const (
	transferStatus = `{"enum":["OK","MAINTENANCE","DELISTED"]}`
	reportSide     = `{"type":"array","items":{"$ref":"#/components/schemas/ReportedLevel"}}`
)

// transferFields are those of an entry in depositHistory and withdrawalHistory.
var transferFields = []field{
	{name: "timestamp", shape: aCount}, {name: "symbol", shape: aText}, {name: "amount",
		shape: aDecimal}, {name: "address", shape: aText, optional: true},
	{name: "paymentId", shape: aText, optional: true},
	{name: "txId", shape: aText, optional: true}, {name: "fee", shape: aDecimal}, {name: "status", shape: aText},
}

// lists are the answers that are lists of an object, by their name in the table of endpoints. Those
// with alone are the bare object where a filter names one market or asset.
var lists = []struct {
	name, of string
	alone    bool
}{
	{"Markets", "Market", true}, {"Assets", "Asset", true}, {"TickerPrices", "TickerPrice", true}, {"TickerBooks",
		"TickerBook", true}, {"Tickers24h", "Ticker24h", true},
	{"PublicTrades", "PublicTrade", false}, {"TradesReport", "ReportedTrade", false}, {"Orders", "Order",
		false}, {"CancelledList", "Cancelled", false}, {"Trades", "Trade", false},
	{"Balances", "Balance", false}, {"StakingBalances", "StakingBalance", false}, {"Deposits", "Deposit",
		false}, {"Withdrawals", "WithdrawalEntry", false},
}

// answerSchemas builds the schemas of all answers, by name.
func answerSchemas() object {
	all := object{
		// A candle: start of its interval in Unix ms, open, high, low, close, volume.
		"Candles": json.RawMessage(`{"type":"array","items":{"type":"array","prefixItems":[` + aCount + `,` + aDecimal +
			`,` + aDecimal + `,` + aDecimal + `,` + aDecimal + `,` + aDecimal + `],"minItems":6,"items":false}}`),

		"DepositAddress": object{"oneOf": []object{reference("CryptoAddress"), reference("BankAccount")}},
	}
	for _, s := range schemas {
		all[s.name] = s.object()
	}
	for _, list := range lists {
		shape := object{"type": "array", "items": reference(list.of)}
		if list.alone {
			shape = object{"oneOf": []object{shape, reference(list.of)}}
		}
		all[list.name] = shape
	}
	return all
}

// object returns the JSON Schema of s.
func (s *schema) object() object {
	properties, required := object{}, []string{}
	for _, f := range s.fields {
		properties[f.name] = json.RawMessage(f.shape)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}
