package api

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object in the making; its members come out sorted.
type object = map[string]any

// OpenAPI returns the description of the API as an OpenAPI 3.1 document: every endpoint of the
// table with its parameters, weight and answers. It is the same for the life of the exchange.
func (d *Door) OpenAPI() []byte {
	d.describe.Do(func() { d.description = d.Table.describe(d.credentials[0], d.budget, d.operatorOptional) })
	return d.description
}

// describe builds the document from the tables of endpoints and schemas.
func (t Table) describe(credentials credentialHeaders, budget budgetHeaders, operatorOptional bool) []byte {
	paths := object{}
	for i := range t {
		e := &t[i]
		item, ok := paths[Version+e.Path].(object)
		if !ok {
			item = object{}
			paths[Version+e.Path] = item
		}
		item[strings.ToLower(e.Method)] = e.operation(operatorOptional)
	}
	header := func(text string) object { return object{"description": text, "schema": object{"type": "integer"}} }
	secret := func(name, text string) object {
		return object{"type": "apiKey", "in": "header", "name": name, "description": text}
	}
	document := object{
		"openapi": "3.1.1",
		"info": object{"title": "Simulated exchange", "version": Version[1:],
			"description": "x-weight is what a request costs, x-weight-all " +
				"what it costs without the parameter market."},
		"servers": []object{{"url": "/"}},
		"paths":   paths,
		"components": object{
			"schemas": answerSchemas(),
			"headers": object{
				budget.limit:     header("Weight points of a minute."),
				budget.remaining: header("Weight points left before the reset."),
				budget.resetAt:   header("When remaining is the limit again, in Unix ms."),
			},
			"responses": object{"Refusal": object{"description": "The error.", "headers": headersOf(budget),
				"content": content(reference("Error"))}},
			"securitySchemes": object{"key": secret(credentials.key, "API key."),
				"timestamp": secret(credentials.timestamp,
					"Time of the request in Unix ms."), "signature": secret(credentials.signature, signing)},
			"parameters": object{"Window": object{"name": credentials.window, "in": "header",
				"description": "How long after its timestamp the request may arrive, in ms.",
				"schema": object{"type": "integer", "minimum": minWindow, "maximum": maxWindow,
					"default": defaultWindow}}},
		},
	}
	text, err := json.Marshal(document)
	if err != nil {
		panic("door: " + err.Error()) // a schema of the table is no JSON
	}
	return text
}

const signing = "HMAC-SHA256 in hex, by the key's secret, of timestamp, method, path with query, and body."

func headersOf(budget budgetHeaders) object {
	all := object{}
	for _, name := range []string{budget.limit, budget.remaining, budget.resetAt} {
		all[name] = object{"$ref": "#/components/headers/" + name}
	}
	return all
}

// operation describes one endpoint.
func (e *Endpoint) operation(operatorOptional bool) object {
	one := object{
		"operationId": e.operationID(), "summary": e.Summary, "x-section": e.Section, "x-weight": e.Weight,
		"responses": e.responses(),
	}
	if e.WeightAll != 0 {
		one["x-weight-all"] = e.WeightAll
	}
	parameters := []object{}
	for i := range e.Params {
		if p := &e.Params[i]; p.InPath || !e.InBody() {
			parameters = append(parameters, p.describe(e.requires(p, operatorOptional)))
		}
	}
	if !e.Public() {
		parameters = append(parameters, object{"$ref": "#/components/parameters/Window"})
		one["security"] = []object{{"key": []string{}, "timestamp": []string{}, "signature": []string{}}}
		one["x-permissions"] = e.Needs.names()
	}
	if len(parameters) > 0 {
		one["parameters"] = parameters
	}
	if e.InBody() {
		one["requestBody"] = object{"required": true, "content": content(e.bodySchema())}
	}
	return one
}

// operationID names the endpoint: getMarketBook for GET /{market}/book.
func (e *Endpoint) operationID() string {
	id := strings.ToLower(e.Method)
	for _, part := range strings.FieldsFunc(e.Path, func(r rune) bool { return strings.ContainsRune("/{}", r) }) {
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}

// responses lists the answer and the statuses of refusals (specification 7): 403 only where
// credentials count, 404 where an order may be missing, 409 where a book may be closed.
func (e *Endpoint) responses() object {
	schema := reference(e.Answer)
	if e.has("responseRequired") {
		schema = object{"anyOf": []object{reference(e.Answer), reference("ShortOrder")}}
	}
	all := object{strconv.Itoa(e.Success()): object{"description": e.Summary, "content": content(schema)}}
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		if status == http.StatusNotFound && !e.has("orderId") || status == http.StatusConflict &&
			!strings.HasSuffix(e.Path, "/book") {
			continue
		}
		all[strconv.Itoa(status)] = object{"$ref": "#/components/responses/Refusal"}
	}
	return all
}

// has reports whether an endpoint has a parameter.
func (e *Endpoint) has(name string) bool {
	return slices.ContainsFunc(e.Params, func(p Parameter) bool { return p.Name == name })
}

// names lists the permissions of a set (specification 5).
func (r Right) names() []string {
	all := []string{}
	for i, name := range []string{"read", "trade", "withdraw"} {
		if r&(1<<i) != 0 {
			all = append(all, name)
		}
	}
	return all
}

// bodySchema describes the body of an endpoint that has one.
func (e *Endpoint) bodySchema() object {
	properties, required := object{}, []string{}
	for i := range e.Params {
		p := &e.Params[i]
		properties[p.Name] = p.schema()
		if p.Required {
			required = append(required, p.Name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// describe describes a parameter in path or query.
func (p *Parameter) describe(required bool) object {
	one := object{"name": p.Name, "in": "query", "required": required, "schema": p.schema()}
	if p.InPath {
		one["in"] = "path"
	}
	return one
}

// schema describes the values of a parameter.
func (p *Parameter) schema() object {
	one := object{"type": "string"}
	switch p.Kind {
	case Word:
		one["enum"] = p.Words
	case UUID:
		one["format"] = "uuid"
	case Integer:
		one = object{"type": "integer", "format": "int64"}
		if p.Min != math.MinInt64 {
			one["minimum"] = p.Min
		}
		if p.Max != math.MaxInt64 {
			one["maximum"] = p.Max
		}
	case Decimal:
		one["pattern"], one["maxLength"] = "^[0-9]+([.][0-9]+)?$", maxDecimal
	case Flag:
		one["type"] = "boolean"
	case List:
		one = object{"type": "array", "items": object{"type": "object"}}
	}
	if p.Doc != "" {
		one["description"] = p.Doc
	}
	return one
}

func content(schema object) object { return object{"application/json": object{"schema": schema}} }

func reference(name string) object { return object{"$ref": "#/components/schemas/" + name} }
