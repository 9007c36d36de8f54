package dashboard

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

// object is a JSON object in the making; its members come out sorted.
type object = map[string]any

// describe describes questions, and the actions where acting, as an OpenAPI 3.1 document. The
// schemas are made of the types that the answers are written from.
func describe(all []question, acting bool) []byte {
	t := typist{schemas: object{}}
	failure := content(t.schema(reflect.TypeFor[operator.Failure]()))
	refusals := object{
		"400": object{"description": "The question is wrong; nothing was done.", "content": failure},
		"503": object{"description": "The bot does not answer.", "content": failure},
	}
	paths := object{}
	for _, one := range all {
		answers := object{"200": object{"description": one.summary, "content": content(t.schema(one.answer))},
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
			"content": content(t.schema(reflect.TypeFor[operator.ActResult]()))},
			"403": object{"description": "The token only looks."}}
		for status, answer := range refusals {
			answers[status] = answer
		}
		paths[do.path] = object{"post": object{"operationId": do.verb(), "summary": do.title, "responses": answers,
			"requestBody": object{"required": true, "content": content(t.schema(reflect.TypeFor[command]()))}}}
	}
	text, err := json.Marshal(object{"openapi": "3.1.1", "paths": paths, "servers": []object{{"url": "../v1"}},
		"info":     object{"title": "Tidemark dashboard", "version": "1"},
		"security": []object{{"token": []string{}}},
		"components": object{"schemas": t.schemas,
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

// typist writes the schemas of types. Structs are named, so that a type may hold itself.
type typist struct{ schemas object }

// schema is the schema of the values that encoding/json makes of a type. A type that writes itself
// may be anything, or a text.
func (t *typist) schema(of reflect.Type) object {
	switch {
	case of == reflect.TypeFor[backtest.Figure]():
		return object{"type": []string{"number", "null"}}
	case of.Implements(reflect.TypeFor[json.Marshaler]()), of.Kind() == reflect.Interface:
		return object{}
	case of.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return object{"type": "string"}
	}
	switch of.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []object{t.schema(of.Elem()), {"type": "null"}}}
	case reflect.Struct:
		return t.named(of)
	case reflect.Slice, reflect.Array:
		if of.Elem().Kind() == reflect.Uint8 {
			return object{"type": []string{"string", "null"}}
		}
		return object{"type": []string{"array", "null"}, "items": t.schema(of.Elem())}
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": t.schema(of.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	}
	return object{"type": "integer"}
}

// named is a reference to the schema of a struct.
func (t *typist) named(of reflect.Type) object {
	name := strings.NewReplacer(".", "_", "[", "_", "]", "_", "/", "_").Replace(of.String())
	if t.schemas[name] == nil {
		properties, required := object{}, []string{}
		schema := object{"type": "object", "properties": properties, "additionalProperties": false}
		t.schemas[name] = schema // before its fields: one may lead back here
		t.fields(of, properties, &required)
		schema["required"] = required
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// fields adds the fields of a struct, those of embedded ones too.
func (t *typist) fields(of reflect.Type, properties object, required *[]string) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-", !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			t.fields(inner, properties, required)
		default:
			if name == "" {
				name = f.Name
			}
			properties[name] = t.schema(f.Type)
			if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
				*required = append(*required, name)
			}
		}
	}
}
