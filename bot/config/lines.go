package config

import (
	"errors"
	"strings"

	"github.com/BurntSushi/toml"
)

// lineOf is the line of the first key in a TOML text that is a path, or lies in the table of that
// path; 0: there is none. The decoder has accepted the text.
func lineOf(text string, path []string) int {
	tables := map[string]toml.Primitive{}
	meta, _ := toml.Decode(text, &tables)
	for _, key := range meta.Keys() {
		if begins(key, path) {
			return lineIn(tables, &meta, text, key)
		}
	}
	return 0
}

// lineIn is the line of a key: the decoder names it where the value of the key has a wrong type.
func lineIn(table map[string]toml.Primitive, meta *toml.MetaData, text string, key toml.Key) int {
	for _, name := range key[:len(key)-1] {
		next := map[string]toml.Primitive{}
		if meta.PrimitiveDecode(table[name], &next) != nil {
			return 0
		}
		table = next
	}
	var at toml.ParseError
	if !errors.As(meta.PrimitiveDecode(table[key[len(key)-1]], wrongType{}), &at) {
		return 0
	}
	return 1 + strings.Count(text[:at.Position.Start], "\n")
}

// wrongType is a type that no value has.
type wrongType struct{}

// UnmarshalTOML refuses the value.
func (wrongType) UnmarshalTOML(any) error { return errors.ErrUnsupported }
