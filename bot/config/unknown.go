package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/tidemark-trading/tidemark/strategy"
)

// ofOther reports whether the config of the other command has a key. One file serves `bot backtest`
// and `bot run`: each ignores the settings that only the other one has.
func (b *binder) ofOther(path []string) bool {
	at := b.other
	for _, part := range path {
		if at == nil {
			return false
		}
		at = inside(at, part)
	}
	return at != nil
}

// typedIn is the path of a setting of --set in a value; known: there is one.
func typedIn(path []string, raw any) (typed []string, known bool) {
	switch v := raw.(type) {
	case flagText:
		return path, true
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if typed, known = typedIn(Join(path, key), v[key]); known {
				return typed, true
			}
		}
	}
	return path, false
}

// anyName is the tag of a field with the tables of a section that the user names.
const anyName = "*"

// ownNames is the type of the tables of a section that the user names; nil: it has none.
func ownNames(section reflect.Type) reflect.Type {
	for _, f := range reflect.VisibleFields(section) {
		if f.Tag.Get("toml") == anyName {
			return f.Type.Elem()
		}
	}
	return nil
}

// inside is the type of a key in a table of a type; nil: it has no such key.
func inside(table reflect.Type, key string) reflect.Type {
	switch table.Kind() {
	case reflect.Map:
		return table.Elem()
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(table) {
			if f.Tag.Get("toml") == key {
				return f.Type
			}
		}
		return ownNames(table)
	}
	return nil
}

// gone says what took the place of a key that earlier programs had; empty: they had no such key.
func gone(path []string) string {
	if len(path) == 3 && path[0] == "strategies" && path[2] == "shadow" {
		return "is gone: no simulated twin runs inside the bot; bot gap --every 1h compares beside it with the backtest"
	}
	return ""
}

// meant names the key that an unknown one stands for: the nearest in its table. For --set with a
// bare word it is the path of a setting with nearly this name, else of a parameter.
func meant(path []string, key string, config reflect.Type, table map[string]any) string {
	if _, typed := table[key].(flagText); typed && len(path) == 0 {
		if near := nearestOf(settings(nil, config, table), key); near != "" {
			return fmt.Sprintf("did you mean %s?", near)
		}
		strategies, _ := table["strategies"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(strategies)) {
			return fmt.Sprintf("did you mean %s?", shownPath([]string{"strategies", name, "params", key}))
		}
	}
	return fmt.Sprintf("the nearest is %q", strategy.Nearest(key, keysOf(config)))
}

// KeyNear is the dotted key of a parameter or a setting of a config's type that has a name, or
// nearly has it; empty: there is none. params are the names of the parameters of a kind.
func (s *Source) KeyNear(name string, of any, params func(kind string) []string) string {
	tree := map[string]any{}
	if _, err := toml.Decode(s.Text, &tree); err != nil {
		return ""
	}
	found := settings(nil, reflect.TypeOf(of), tree)
	strategies, _ := tree["strategies"].(map[string]any)
	for _, section := range slices.Sorted(maps.Keys(strategies)) {
		table, _ := strategies[section].(map[string]any)
		kind, _ := table["kind"].(string)
		for _, param := range params(kind) {
			found = append(found, []string{"strategies", section, "params", param})
		}
	}
	return nearestOf(found, name)
}

// nearestOf is the path whose last part is nearly a name; empty: there is none.
func nearestOf(paths [][]string, name string) string {
	names := make([]string, len(paths))
	for i := range paths {
		names[i] = paths[i][len(paths[i])-1]
	}
	nearest := strategy.Nearest(name, names)
	if nearest == "" || strategy.Distance(name, nearest) > len(name)/3 {
		return ""
	}
	return shownPath(paths[slices.Index(names, nearest)])
}

// settings are the paths of all settings in the tables of a type, those of the user's own names as
// the config's tree has them.
func settings(path []string, in reflect.Type, tree any) (found [][]string) {
	table, _ := tree.(map[string]any)
	keys := keysOf(in)
	if in.Kind() == reflect.Map || in.Kind() == reflect.Struct && ownNames(in) != nil {
		keys = slices.Sorted(maps.Keys(table))
	}
	for _, key := range keys {
		at, next := Join(path, key), inside(in, key)
		if in.Kind() == reflect.Struct && len(path) > 0 {
			found = append(found, at)
		}
		found = append(found, settings(at, next, table[key])...)
	}
	return found
}

// keysOf are the keys of a table of a type.
func keysOf(table reflect.Type) (keys []string) {
	if table.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(table) {
			if key := f.Tag.Get("toml"); key != "" && key != anyName {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// elsewhere names the commands whose config has an unknown section: perhaps the user chose the
// wrong file.
func elsewhere(path []string, key string) (text string) {
	if len(path) > 0 {
		return ""
	}
	for _, c := range []struct {
		command string
		config  any
	}{{"backtest", Backtest{}}, {"run", Run{}}, {"exchange", Sandbox{}}} {
		if inside(reflect.TypeOf(c.config), key) != nil {
			text += ", bot " + c.command
		}
	}
	if text != "" {
		text = "; a config of " + text[2:] + " has it"
	}
	return text
}
