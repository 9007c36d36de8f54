package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// adminSchemas are the objects of answers that only the admin interface gives.
var adminSchemas = []schema{
	{"Clock", "time:count timeNs:count speed:decimal"},
	{"OrderCancelled", "account:text market:market orderId:uuid"},
	{"Transfer", "transactionId:uuid account:text type:transferType symbol:text amount:decimal fee:decimal " +
		"status:text due:moment"},
	{"AccountBalances", "account:text balances:[Balance]"},
	{"AssetTotals", "symbol:text accounts:decimal liquidity:decimal transferred:decimal"},
	{"Ledger", "accounts:[AccountBalances] assets:[AssetTotals]"},
	{"Faults", "seed:count start:count faults:[Fault]"},
	{"Fault", "kind:text endpoints?:texts account?:text key?:text market?:market nth?:count count?:count " +
		"probability?:part after?:text until?:text delay?:text skew?:text code?:count work?:flag status?:status " +
		"price?:decimal tickSize?:decimal reason?:text chosen:count fired:count"},
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
