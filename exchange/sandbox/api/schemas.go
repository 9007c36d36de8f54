package api

import (
	"encoding/json"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// schema is the shape of one object of an answer: its members as "name:shape", each a name of
// shapes, another schema, or a list of one in brackets. All are there but those whose name ends
// with a question mark, and no others.
type schema struct{ name, members string }

// aDecimal and aCount are shapes that a candle has, too.
const (
	aDecimal = `{"type":"string","pattern":"^-?[0-9]+([.][0-9]+)?$"}`
	aCount   = `{"type":"integer","format":"int64","minimum":0}`
)

// shapes are the shapes of values as JSON Schema: amounts are strings, times integers
// (specification 1).
var shapes = map[string]string{
	"text":    `{"type":"string"}`,
	"decimal": aDecimal,
	"price":   `{"type":["string","null"],"pattern":"^[0-9]+([.][0-9]+)?$"}`,
	"integer": `{"type":"integer","format":"int64"}`,
	"count":   aCount,
	"moment":  `{"type":["integer","null"],"format":"int64","minimum":0}`,
	"flag":    `{"type":"boolean"}`,
	"uuid":    `{"type":"string","format":"uuid","pattern":"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}`,
	"market":  `{"type":"string","pattern":"^[^-]+-[^-]+$"}`,
	"iso":     `{"type":"string","format":"date-time"}`,
	"side":    `{"enum":["buy","sell"]}`,
	"texts":   `{"type":"array","items":{"type":"string"}}`,
	"levels": `{"type":"array","items":{"type":"array","prefixItems":[` + aDecimal + `,` + aDecimal +
		`],"minItems":2,"items":false}}`,
	"part":                `{"type":"number","exclusiveMinimum":0,"maximum":1}`,
	"transferStatus":      `{"enum":["OK","MAINTENANCE","DELISTED"]}`,
	"status":              oneOf(market.Words[market.MarketStatus]()),
	"null":                `{"type":"null"}`,
	"depositFee":          `{"type":"string","pattern":"^(none|[0-9]+([.][0-9]+)?)$"}`,
	"networks":            `{"type":"array","items":{"type":"string"},"minItems":1}`,
	"bookSide":            `{"enum":["BUYI","SELL"]}`,
	"uuidOrNull":          `{"type":["string","null"],"format":"uuid"}`,
	"orderStatus":         `{"enum":["new","awaitingTrigger","partiallyFilled","filled","canceled","expired"]}`,
	"orderType":           oneOf(market.Words[market.OrderType]()),
	"triggerType":         `{"const":"price"}`,
	"triggerReference":    oneOf(market.Words[market.TriggerReference]()),
	"selfTradePrevention": oneOf(market.Words[market.SelfTradePrevention]()),
	"timeInForce":         oneOf(market.Words[market.TimeInForce]()),
	"false":               `{"const":false}`,
	"codGroupId":          `{"type":"integer","minimum":1,"maximum":1000}`,
	"digits":              `{"type":"string","pattern":"^[0-9]+$"}`,
	"textOrNull":          `{"type":["string","null"]}`,
	"transferType":        `{"enum":["deposit","withdrawal"]}`,
}

// oneOf is the shape of a word.
func oneOf(words []string) string { return `{"enum":["` + strings.Join(words, `","`) + `"]}` }

// schemas are the objects of answers (specification 2, 4.4 and 7, venue-facts 1.2 to 1.4).
var schemas = []schema{
	{"Error", "errorCode:integer error:text"},
	{"Time", "time:count timeNs:count"},
	{"Market", "market:market status:status base:text quote:text pricePrecision:null " +
		"minOrderInBaseAsset:decimal minOrderInQuoteAsset:decimal maxOrderInBaseAsset:decimal " +
		"maxOrderInQuoteAsset:decimal quantityDecimals:count notionalDecimals:count tickSize:decimal " +
		"maxOpenOrders:count feeCategory:text orderTypes:texts"},
	{"Asset", "symbol:text name:text decimals:count depositFee:depositFee depositConfirmations:count " +
		"depositStatus:transferStatus withdrawalFee:decimal withdrawalMinAmount:decimal " +
		"withdrawalStatus:transferStatus networks:networks message:text"},
	{"Book", "market:market nonce:count bids:levels asks:levels timestamp:count"},
	{"PublicTrade", "id:uuid timestamp:count amount:decimal price:decimal side:side"},
	{"TickerPrice", "market:market price:price"},
	{"TickerBook", "market:market bid:price bidSize:price ask:price askSize:price"},
	{"Ticker24h", "market:market startTimestamp:count timestamp:count open:price openTimestamp:moment high:price " +
		"low:price last:price closeTimestamp:moment bid:price bidSize:price ask:price askSize:price volume:price " +
		"volumeQuote:price"},
	{"BookReport", "submissionTimestamp:iso assetCode:text assetName:text bids:[ReportedLevel] asks:[ReportedLevel] " +
		"priceCurrency:text priceNotation:text quantityCurrency:text quantityNotation:text venue:text " +
		"tradingSystem:text publicationTimestamp:iso"},
	{"ReportedLevel", "side:bookSide price:decimal quantity:decimal numOrders:count"},
	{"ReportedTrade", "tradeId:uuid transactTimestamp:iso assetCode:text assetName:text price:decimal " +
		"missingPrice:text priceNotation:text priceCurrency:text quantity:decimal quantityCurrency:text " +
		"quantityNotation:text venue:text publicationTimestamp:iso publicationVenue:text"},
	{"Order", "orderId:uuid clientOrderId?:uuidOrNull market:market created:count updated:count createdNs:count " +
		"updatedNs:count status:orderStatus side:side orderType:orderType amount?:decimal amountRemaining?:decimal " +
		"price?:decimal amountQuote?:decimal amountQuoteRemaining?:decimal onHold:decimal onHoldCurrency:text " +
		"triggerPrice?:decimal triggerAmount?:decimal triggerType?:triggerType triggerReference?:triggerReference " +
		"filledAmount:decimal filledAmountQuote:decimal feePaid:decimal feeCurrency:text fills:[Fill] " +
		"selfTradePrevention:selfTradePrevention visible:flag timeInForce:timeInForce postOnly:flag " +
		"disableMarketProtection?:false operatorId?:integer restatementReason?:text " +
		"codGroupId?:codGroupId"},
	{"ShortOrder", "market:market orderId:uuid clientOrderId?:uuid created:count updated:count createdNs:count " +
		"updatedNs:count"},
	{"Fill", "id:uuid timestamp:count amount:decimal price:decimal taker:flag fee?:decimal feeCurrency?:text " +
		"settled:flag"},
	{"Cancelled", "orderId:uuid clientOrderId?:uuid operatorId?:integer market?:market"},
	{"CancelAfter", "codGroupId:count timeOfExpirySeconds:count"},
	{"Trade", "id:uuid orderId:uuid clientOrderId?:uuid timestamp:count market:market side:side amount:decimal " +
		"price:decimal taker:flag fee?:decimal feeCurrency?:text settled:flag operatorId?:integer"},
	{"AccountFees", "tier:count volume:decimal maker:decimal taker:decimal"},
	{"Account", "fees:AccountFees capabilities:texts"},
	{"Fees", "tier:digits volume:decimal maker:decimal taker:decimal"},
	{"Balance", "symbol:text available:decimal inOrder:decimal"},
	{"History", "items:[Transaction] currentPage:count totalPages:count maxItems:count"},
	{"Transaction", "transactionId:uuid executedAt:iso type:text priceCurrency?:text priceAmount?:decimal " +
		"sentCurrency?:text sentAmount?:decimal receivedCurrency?:text receivedAmount?:decimal feesCurrency?:text " +
		"feesAmount?:decimal address?:textOrNull"},
	{"CryptoAddress", "address:text paymentId?:text"},
	{"BankAccount", "iban:text bic:text description:text"},
	{"Deposit", transferFields},
	{"WithdrawalEntry", transferFields},
	{"Withdrawal", "success:flag symbol:text amount:decimal"},
	{"CryptoWithdrawal", "id:uuid asset:text network:text address:text amount:decimal fee:decimal createdAt:iso"},
	{"StakingBalance", "symbol:text amount:decimal"},
}

// transferFields are those of an entry in depositHistory and withdrawalHistory.
const transferFields = "timestamp:count symbol:text amount:decimal address?:text paymentId?:text txId?:text " +
	"fee:decimal status:text"

// lists are the answers that are lists of an object, by their name in the table of endpoints. Those
// with alone are the bare object where a filter names one market or asset.
var lists = []struct {
	name, of string
	alone    bool
}{
	{"Markets", "Market", true}, {"Assets", "Asset", true}, {"TickerPrices", "TickerPrice", true},
	{"TickerBooks", "TickerBook", true}, {"Tickers24h", "Ticker24h", true}, {"PublicTrades", "PublicTrade", false},
	{"TradesReport", "ReportedTrade", false}, {"Orders", "Order", false}, {"CancelledList", "Cancelled", false},
	{"Trades", "Trade", false}, {"Balances", "Balance", false}, {"StakingBalances", "StakingBalance", false},
	{"Deposits", "Deposit", false}, {"Withdrawals", "WithdrawalEntry", false},
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
	for _, member := range strings.Fields(s.members) {
		name, shape, _ := strings.Cut(member, ":")
		name, optional := strings.CutSuffix(name, "?")
		if !optional {
			required = append(required, name)
		}
		of, list := strings.CutPrefix(shape, "[")
		switch text, known := shapes[shape]; {
		case known:
			properties[name] = json.RawMessage(text)
		case list:
			properties[name] = json.RawMessage(`{"type":"array","items":{"$ref":"#/components/schemas/` +
				strings.TrimSuffix(of, "]") + `"}}`)
		default:
			properties[name] = reference(shape)
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}
