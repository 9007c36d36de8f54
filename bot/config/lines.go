package config

import (
	"errors"
	"strings"

	"github.com/BurntSushi/toml"
)

// lineOfKey is the line of a key in a TOML text that the decoder has accepted, or of the first key
// in a table of that name; 0: the text has neither. path holds the parts of the name.
func lineOfKey(text string, path []string) int {
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
