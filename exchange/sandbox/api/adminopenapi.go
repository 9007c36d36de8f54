package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

const aNumber = `{"type":"number","exclusiveMinimum":0,"maximum":1}`

// adminSchemas are the objects of answers that only the admin interface gives.
var adminSchemas = []schema{
	{"Clock", []field{{name: "time", shape: aCount}, {name: "timeNs", shape: aCount},
		{name: "speed", shape: aDecimal}}},
	{"OrderCancelled", []field{{name: "account", shape: aText}, {name: "market", shape: aMarket},
		{name: "orderId", shape: aUUID}}},
	{"Transfer", []field{{name: "transactionId", shape: aUUID}, {name: "account", shape: aText},
		{name: "type", shape: `{"enum":["deposit","withdrawal"]}`}, {name: "symbol", shape: aText},
		{name: "amount", shape: aDecimal}, {name: "fee", shape: aDecimal}, {name: "status", shape: aText}, {name: "due",
			shape: aMoment}}},
	{"AccountBalances", []field{{name: "account", shape: aText},
		{name: "balances", shape: `{"type":"array","items":{"$ref":"#/components/schemas/Balance"}}`}}},
	{"AssetTotals", []field{{name: "symbol", shape: aText}, {name: "accounts", shape: aDecimal},
		{name: "liquidity", shape: aDecimal},
		{name: "transferred", shape: aDecimal}}},
	{"Ledger", []field{{name: "accounts",
		shape: `{"type":"array","items":{"$ref":"#/components/schemas/AccountBalances"}}`},
		{name: "assets", shape: `{"type":"array","items":{"$ref":"#/components/schemas/AssetTotals"}}`}}},
	{"Faults", []field{{name: "seed", shape: aCount}, {name: "start", shape: aCount},
		{name: "faults", shape: `{"type":"array","items":{"$ref":"#/components/schemas/Fault"}}`}}},
	{"Fault", []field{
		{name: "kind", shape: aText}, {name: "endpoints", shape: someTexts, optional: true}, {name: "account",
			shape: aText, optional: true}, {name: "key", shape: aText, optional: true},
		{name: "market", shape: aMarket, optional: true}, {name: "nth", shape: aCount, optional: true}, {name: "count",
			shape: aCount, optional: true}, {name: "probability", shape: aNumber, optional: true},
		{name: "after", shape: aText, optional: true}, {name: "until", shape: aText, optional: true}, {name: "delay",
			shape: aText, optional: true}, {name: "skew", shape: aText, optional: true},
		{name: "code", shape: aCount, optional: true}, {name: "work", shape: aFlag, optional: true}, {name: "status",
			shape: oneOf(market.Words[market.MarketStatus]()), optional: true},
		{name: "price", shape: aDecimal, optional: true},
		{name: "tickSize", shape: aDecimal, optional: true}, {name: "reason", shape: aText,
			optional: true}, {name: "chosen", shape: aCount}, {name: "fired", shape: aCount}}},
}

// DescribeAdmin builds the description of the admin interface as an OpenAPI 3.1 document: GET
// /admin/openapi.json.
func (t Table) DescribeAdmin(root string) []byte {
	schemas := answerSchemas()
	for i := range adminSchemas {
		schemas[adminSchemas[i].name] = adminSchemas[i].object()
	}
	schemas["Transfers"] = object{"type": "array", "items": reference("Transfer")}
	schemas["CancelledByAdmin"] = object{"type": "array", "items": reference("OrderCancelled")}
	paths := object{}
	for i := range t {
		e := &t[i]
		path := strings.TrimSuffix(root, "/") + e.Path
		item, ok := paths[path].(object)
		if !ok {
			item = object{}
			paths[path] = item
		}
		item[strings.ToLower(e.Method)] = e.adminOperation()
	}
	text, err := json.Marshal(object{
		"openapi": "3.1.1", "info": object{"title": "Simulated exchange: admin",
			"version": "1"}, "servers": []object{{"url": "/"}}, "paths": paths,
		"security": []object{{"token": []string{}}},
		"components": object{"schemas": schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	})
	if err != nil {
		panic("door: " + err.Error()) // a schema of the table is no JSON
	}
	return text
}

// adminOperation describes one endpoint of the admin interface.
func (e *Endpoint) adminOperation() object {
	responses := object{"200": object{"description": e.Summary, "content": content(reference(e.Answer))}}
	for _, status := range [...]int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound} {
		responses[strconv.Itoa(status)] = object{"description": "The error.", "content": content(reference("Error"))}
	}
	one := object{"operationId": "admin" + strings.ToUpper(e.operationID()[:1]) + e.operationID()[1:],
		"summary": e.Summary, "responses": responses}
	if e.InBody() {
		one["requestBody"] = object{"required": true, "content": content(e.bodySchema())}
	}
	return one
}
