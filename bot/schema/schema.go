// Package schema writes JSON schemas of the types that documents are written from: for the API of
// the dashboard, for docs/schemas, for the tools of bot mcp. It never reads a document. Start at
// Document.
package schema

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
)

// Object is a JSON object in the making; its members come out sorted.
type Object = map[string]any

// Book writes the schemas of types. Structs are named, so that a type may hold itself.
type Book struct {
	Schemas Object // by name
	prefix  string
}

// NewBook returns a book whose references to a named schema begin with prefix.
func NewBook(prefix string) *Book { return &Book{Schemas: Object{}, prefix: prefix} }

// Document is the schema of a document as a file of its own.
func Document(of reflect.Type, title string) Object {
	b := NewBook("#/$defs/")
	whole := Object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	maps.Copy(whole, b.Of(of))
	if len(b.Schemas) > 0 {
		whole["$defs"] = b.Schemas
	}
	return whole
}

// Of is the schema of the values that encoding/json makes of a type. A type that writes itself
// may be anything, or a text.
func (b *Book) Of(of reflect.Type) Object {
	switch {
	case of == reflect.TypeFor[backtest.Figure]():
		return Object{"type": []string{"number", "null"}}
	case of.Implements(reflect.TypeFor[json.Marshaler]()), of.Kind() == reflect.Interface:
		return Object{}
	case of.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return Object{"type": "string"}
	}
	switch of.Kind() {
	case reflect.Pointer:
		return Object{"anyOf": []Object{b.Of(of.Elem()), {"type": "null"}}}
	case reflect.Struct:
		return b.named(of)
	case reflect.Slice, reflect.Array:
		if of.Elem().Kind() == reflect.Uint8 {
			return Object{"type": []string{"string", "null"}}
		}
		return Object{"type": []string{"array", "null"}, "items": b.Of(of.Elem())}
	case reflect.Map:
		return Object{"type": []string{"object", "null"}, "additionalProperties": b.Of(of.Elem())}
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.String:
		return Object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return Object{"type": "number"}
	}
	return Object{"type": "integer"}
}

// named is a reference to the schema of a struct.
func (b *Book) named(of reflect.Type) Object {
	name := strings.NewReplacer(".", "_", "[", "_", "]", "_", "/", "_").Replace(of.String())
	if b.Schemas[name] == nil {
		properties, required := Object{}, []string{}
		one := Object{"type": "object", "properties": properties, "additionalProperties": false}
		b.Schemas[name] = one // before its fields: one may lead back here
		b.fields(of, properties, &required)
		one["required"] = required
	}
	return Object{"$ref": b.prefix + name}
}

// fields adds the fields of a struct, those of embedded ones too.
func (b *Book) fields(of reflect.Type, properties Object, required *[]string) {
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
			b.fields(inner, properties, required)
		default:
			if name == "" {
				name = f.Name
			}
			properties[name] = b.Of(f.Type)
			if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
				*required = append(*required, name)
			}
		}
	}
}
