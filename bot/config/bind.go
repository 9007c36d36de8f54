package config

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// binder writes a decoded TOML tree over a config. Every key must be known, and every value must
// have its key's type.
type binder struct {
	config *Backtest    // passed to inherit; nil: the config has no inheritor
	other  reflect.Type // the config of another command: its keys are ignored; nil: there is none
}

// reader is a value that parses its own TOML forms.
type reader interface{ read(raw any) error }

// inheritor is an entry of a table with defaults from another section.
type inheritor interface{ inherit(*Backtest) }

// starter is an entry of a table with defaults of its own.
type starter interface{ start() }

// bind writes raw into a value. Its errors are *KeyError.
func (b *binder) bind(path []string, into reflect.Value, raw any) error {
	switch to := into.Addr().Interface().(type) {
	case reader:
		return At(path, HideSecret(path, to.read(raw)))
	case encoding.TextUnmarshaler:
		text, ok := textOf(raw)
		if !ok {
			return Keyf(path, "%s is no text; write it in quotes", typeOf(raw))
		}
		return At(path, HideSecret(path, to.UnmarshalText([]byte(text))))
	case *map[string]any:
		return b.bindParams(path, to, raw)
	}
	switch into.Kind() {
	case reflect.Struct:
		return b.bindStruct(path, into, raw)
	case reflect.Map:
		return b.bindMap(path, into, raw)
	case reflect.Pointer:
		fresh := reflect.New(into.Type().Elem())
		into.Set(fresh)
		return b.bind(path, fresh.Elem(), raw)
	}
	return At(path, HideSecret(path, bindPlain(into, raw)))
}

func tableOf(path []string, raw any) (map[string]any, error) {
	table, ok := raw.(map[string]any)
	if !ok {
		return nil, Keyf(path, "want a table, not %s", typeOf(raw))
	}
	return table, nil
}

// bindStruct checks for unknown keys first, then binds the known ones in the order of the fields.
func (b *binder) bindStruct(path []string, into reflect.Value, raw any) error {
	table, err := tableOf(path, raw)
	if err != nil {
		return err
	}
	names, named := keysOf(into.Type()), map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if slices.Contains(names, key) {
			continue
		}
		if ownNames(into.Type()) != nil {
			named[key] = table[key]
			continue
		}
		at := Join(path, key)
		if b.ofOther(at) {
			set, typed := typedIn(at, table[key])
			if !typed {
				continue
			}
			at = set
		}
		if cure := gone(at); cure != "" {
			return Keyf(at, "%s", cure)
		}
		return Keyf(at, "unknown key; %s%s", meant(path, key, into.Type(), table), elsewhere(path, key))
	}
	for _, f := range reflect.VisibleFields(into.Type()) {
		key := f.Tag.Get("toml")
		if value, given := table[key]; given && key != "" {
			if err := b.bind(Join(path, key), into.FieldByIndex(f.Index), value); err != nil {
				return err
			}
		}
		if key == anyName && len(named) > 0 {
			if err := b.bindMap(path, into.FieldByIndex(f.Index), named); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *binder) bindMap(path []string, into reflect.Value, raw any) error {
	table, err := tableOf(path, raw)
	if err != nil {
		return err
	}
	into.Set(reflect.MakeMap(into.Type()))
	for _, key := range slices.Sorted(maps.Keys(table)) {
		entry := reflect.New(into.Type().Elem())
		if heir, ok := entry.Interface().(inheritor); ok {
			heir.inherit(b.config)
		}
		if fresh, ok := entry.Interface().(starter); ok {
			fresh.start()
		}
		if err := b.bind(Join(path, key), entry.Elem(), table[key]); err != nil {
			return err
		}
		into.SetMapIndex(reflect.ValueOf(key), entry.Elem())
	}
	return nil
}

// bindParams copies a table whose keys only the strategy's Kind knows, with the tables in it.
func (b *binder) bindParams(path []string, to *map[string]any, raw any) error {
	table, err := tableOf(path, raw)
	if err != nil {
		return err
	}
	*to = make(map[string]any, len(table))
	for key, value := range table {
		switch raw := value.(type) {
		case flagText:
			value = string(raw)
		case map[string]any:
			inner := map[string]any{}
			if err := b.bindParams(Join(path, key), &inner, raw); err != nil {
				return err
			}
			value = inner
		}
		(*to)[key] = value
	}
	return nil
}

// bindPlain writes a text, number, truth value or list of texts.
func bindPlain(into reflect.Value, raw any) error {
	text, isText := textOf(raw)
	_, typed := raw.(flagText)
	switch into.Kind() {
	case reflect.String:
		if !isText {
			return fmt.Errorf("%s is no text; write it in quotes", typeOf(raw))
		}
		into.SetString(text)
	case reflect.Bool:
		if value, ok := raw.(bool); ok {
			into.SetBool(value)
		} else if typed && (text == "true" || text == "false") {
			into.SetBool(text == "true")
		} else {
			return fmt.Errorf("%v is neither true nor false", quoted(raw))
		}
	case reflect.Slice:
		return bindList(into, raw)
	default:
		return bindWhole(into, raw)
	}
	return nil
}

// bindWhole writes a whole number that is not negative.
func bindWhole(into reflect.Value, raw any) error {
	n, ok := raw.(int64)
	if text, typed := raw.(flagText); typed {
		parsed, err := strconv.ParseInt(string(text), 10, 64)
		n, ok = parsed, err == nil
	}
	if !ok || n < 0 {
		return fmt.Errorf("%v is no whole number from 0 up", quoted(raw))
	}
	if into.CanUint() {
		into.SetUint(uint64(n))
		return nil
	}
	into.SetInt(n)
	return nil
}

func bindList(into reflect.Value, raw any) error {
	if text, typed := raw.(flagText); typed {
		into.Set(reflect.ValueOf(strings.Split(string(text), ",")))
		return nil
	}
	list, ok := raw.([]any)
	texts := make([]string, len(list))
	for i := range list {
		text, isText := list[i].(string)
		texts[i], ok = text, ok && isText
	}
	if !ok {
		return fmt.Errorf("%s is no list of texts; write it like [\"BTC-EUR\"]", typeOf(raw))
	}
	into.Set(reflect.ValueOf(texts))
	return nil
}

// quoted formats a value for an error: a text, number or bool itself, else its type.
func quoted(raw any) string {
	switch v := raw.(type) {
	case string:
		return strconv.Quote(Clip(v))
	case flagText:
		return strconv.Quote(Clip(string(v)))
	case int64, float64, bool:
		return fmt.Sprint(raw)
	}
	return typeOf(raw)
}

// typeOf names the TOML type of a value. Errors about a wrong type name the type, not the value,
// which may be a secret.
func typeOf(raw any) string {
	switch raw.(type) {
	case string, flagText:
		return "a text"
	case int64, float64:
		return "a number"
	case bool:
		return "true or false"
	case time.Time:
		return "a date"
	case map[string]any:
		return "a table"
	}
	return "a list"
}
