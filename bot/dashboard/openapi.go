package dashboard

import (
	"encoding/json"
	"reflect"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/schema"
)

// object is a JSON object in the making; its members come out sorted.
type object = schema.Object

// describe describes questions, and the actions where acting, as an OpenAPI 3.1 document. The
// schemas are made of the types that the answers are written from.
func describe(all []question, acting bool) []byte {
	t := schema.NewBook("#/components/schemas/")
	failure := content(t.Of(reflect.TypeFor[operator.Failure]()))
	refusals := object{
		"400": object{"description": "The question is wrong; nothing was done.", "content": failure},
		"503": object{"description": "The bot does not answer.", "content": failure},
	}
	paths := object{}
	for _, one := range all {
		answers := object{"200": object{"description": one.summary, "content": content(t.Of(one.answer))},
			"404": object{"description": "There is no such file.", "content": failure}}
		for status, answer := range refusals {
			answers[status] = answer
		}
		paths["/"+one.name] = object{"get": object{"operationId": one.name, "summary": one.summary,
			"parameters": describeParameters(one.parameters), "responses": answers}}
	}
	for i := range actions {
		if !acting {
			break
		}
		do := &actions[i]
		answers := object{"200": object{"description": "What was done, and what is left.",
			"content": content(t.Of(reflect.TypeFor[operator.ActResult]()))},
			"403": object{"description": "The token only looks."}}
		for status, answer := range refusals {
			answers[status] = answer
		}
		paths[do.path] = object{"post": object{"operationId": do.verb(), "summary": do.title, "responses": answers,
			"requestBody": object{"required": true, "content": content(t.Of(reflect.TypeFor[command]()))}}}
	}
	text, err := json.Marshal(object{"openapi": "3.1.1", "paths": paths, "servers": []object{{"url": "../v1"}},
		"info":     object{"title": "Tidemark dashboard", "version": "1"},
		"security": []object{{"token": []string{}}},
		"components": object{"schemas": t.Schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}}})
	if err != nil {
		panic("dashboard: " + err.Error()) // maps of texts can always be written
	}
	return text
}

func describeParameters(all []parameter) []object {
	list := []object{}
	for _, p := range all {
		schema := object{"type": "string"}
		if p.words != nil {
			schema["enum"] = p.words
		}
		if p.many {
			schema = object{"type": "array", "items": schema}
		}
		list = append(list, object{"name": p.name, "in": "query", "description": p.doc, "schema": schema})
	}
	return list
}

func content(schema object) object { return object{"application/json": object{"schema": schema}} }
