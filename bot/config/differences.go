package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Difference is a setting that differs between two configs of `bot run`, defaults included.
type Difference struct {
	Path     []string
	Was, Now string // as a person writes them; empty: not set. A value that may be a secret is hiddenValue
}

// hiddenValue stands for a value that may be a secret.
const hiddenValue = "…"

// Key is the path as --set takes it.
func (d *Difference) Key() string { return strings.Join(d.Path, ".") }

// String is the line for a person: "risk.max_exposure: 100 → 200".
func (d *Difference) String() string {
	if d.Was == hiddenValue && d.Now == hiddenValue {
		return d.Key() + ": another one, which is not shown"
	}
	return fmt.Sprintf("%s: %s → %s", d.Key(), orNone(d.Was), orNone(d.Now))
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// Differences lists the settings that differ, by path. A limit that a strategy inherits from [risk]
// is named there alone.
func Differences(was, now *Run) (all []Difference) {
	before, after := flattened{}, flattened{}
	before.add(nil, reflect.ValueOf(*was))
	after.add(nil, reflect.ValueOf(*now))
	keys := map[string]bool{}
	for key := range before {
		keys[key] = true
	}
	for key := range after {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		then, now := before[key], after[key]
		if then.text == now.text {
			continue
		}
		d := Difference{Path: then.path, Was: then.text, Now: now.text}
		if d.Path == nil {
			d.Path = now.path
		}
		if d.inherited(before, after) {
			continue
		}
		if secretAt(d.Path) >= 0 {
			d.hide()
		}
		all = append(all, d)
	}
	return all
}

// inherited reports whether a limit of a strategy changed as that of [risk] did.
func (d *Difference) inherited(before, after flattened) bool {
	if len(d.Path) != 4 || d.Path[0] != "strategies" || d.Path[2] != "risk" {
		return false
	}
	of := keyOf([]string{"risk", d.Path[3]})
	return d.Was != "" && d.Now != "" && before[of].text == d.Was && after[of].text == d.Now
}

func (d *Difference) hide() {
	if d.Was != "" {
		d.Was = hiddenValue
	}
	if d.Now != "" {
		d.Now = hiddenValue
	}
}

// flattened are settings by keyOf.
type flattened map[string]setting

type setting struct {
	path []string
	text string
}

// keyOf is a path as one text that no other path has.
func keyOf(path []string) string { return strings.Join(path, "\x00") }

// add adds a value and all below it. What is empty adds nothing.
func (f flattened) add(path []string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			f.add(path, v.Elem())
		}
		return
	case reflect.Map:
		if v.Len() == 0 {
			return
		}
		for _, name := range v.MapKeys() {
			f.add(Join(path, name.String()), v.MapIndex(name))
		}
		f.put(path, "a table")
		return
	case reflect.Struct:
		if keys := keysOf(v.Type()); len(keys) > 0 {
			for _, field := range reflect.VisibleFields(v.Type()) {
				switch key := field.Tag.Get("toml"); key {
				case "":
				case anyName:
					f.add(path, v.FieldByIndex(field.Index))
				default:
					f.add(Join(path, key), v.FieldByIndex(field.Index))
				}
			}
			return
		}
	}
	f.put(path, textOfSetting(v))
}

func (f flattened) put(path []string, text string) {
	if text != "" && len(path) > 0 {
		f[keyOf(path)] = setting{slices.Clone(path), text}
	}
}

// textOfSetting is a value as a person writes it.
func textOfSetting(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case Span:
		return time.Duration(x).String()
	case fmt.Stringer:
		return x.String()
	}
	if v.Kind() == reflect.Slice {
		var parts []string
		for i := range v.Len() {
			parts = append(parts, fmt.Sprint(v.Index(i)))
		}
		return strings.Join(parts, " ")
	}
	return fmt.Sprint(v.Interface())
}
