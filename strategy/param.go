package strategy

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Param describes a parameter to people. A bound that does not exist is empty.
type Param struct {
	Name    string
	Type    string // int, float, decimal, bool, text, interval or duration
	Default string
	Min     string
	Max     string
	OneOf   string // the allowed texts, separated by commas
	Unit    string // of a number that is written without one
	Doc     string
}

// Setting is the value that a parameter has in a run.
type Setting struct {
	Name string
	Text string
}

// parameter is a Param with its field, codec and bounds.
type parameter struct {
	Param
	index    int // of the field
	codec    codec
	preset   any
	min, max any // nil: no bound
	choices  []string
}

// parametersOf reads the tags of a struct of parameters. It panics where they are wrong; see
// Define.
func parametersOf(kind string, t reflect.Type) []parameter {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("strategy %s: parameters are a %s, want a struct", kind, t))
	}
	params := make([]parameter, 0, t.NumField())
	for i := range t.NumField() {
		p, err := parameterOf(t.Field(i))
		if err != nil {
			panic(fmt.Sprintf("strategy %s: field %s: %v", kind, t.Field(i).Name, err))
		}
		if slices.ContainsFunc(params, func(have parameter) bool { return have.Name == p.Name }) {
			panic(fmt.Sprintf("strategy %s: two parameters are called %q", kind, p.Name))
		}
		p.index = i
		params = append(params, p)
	}
	return params
}

func parameterOf(f reflect.StructField) (parameter, error) {
	p := parameter{Param: Param{
		Name: f.Tag.Get("toml"), Default: f.Tag.Get("default"), Min: f.Tag.Get("min"), Max: f.Tag.Get("max"),
		OneOf: f.Tag.Get("oneof"), Doc: f.Tag.Get("doc"), Unit: f.Tag.Get("unit"),
	}}
	var known bool
	if p.codec, known = codecs[f.Type]; !known {
		return p, fmt.Errorf("a parameter cannot be a %s", f.Type)
	}
	if _, preset := f.Tag.Lookup("default"); !preset || p.Name == "" || p.Doc == "" || !f.IsExported() {
		return p, fmt.Errorf("want an exported field with the tags toml, default and doc")
	}
	if p.Unit != "" {
		if p.codec.inUnit == nil {
			return p, fmt.Errorf("a %s has no unit", p.codec.name)
		}
		p.codec = p.codec.inUnit(p.Unit)
	}
	p.Type = p.codec.name
	if p.OneOf != "" {
		p.choices = strings.Split(p.OneOf, ",")
	}
	return p, p.readTags()
}

// readTags turns the texts of bounds and default into values and checks the default.
func (p *parameter) readTags() (err error) {
	if (p.Min != "" || p.Max != "") && p.codec.compare == nil || p.OneOf != "" && p.Type != "text" {
		return fmt.Errorf("a %s has no such bounds", p.Type)
	}
	if p.min, err = p.bound(p.Min); err != nil {
		return err
	}
	if p.max, err = p.bound(p.Max); err != nil {
		return err
	}
	if p.preset, err = p.read(p.Default); err != nil {
		return err
	}
	p.Default = p.codec.text(p.preset)
	return nil
}

func (p *parameter) bound(text string) (any, error) {
	if text == "" {
		return nil, nil
	}
	value, ok := p.codec.read(text)
	if !ok {
		return nil, fmt.Errorf("bound %q is not %s", text, p.codec.want)
	}
	return value, nil
}

// read converts a value and checks its bounds.
func (p *parameter) read(raw any) (any, error) {
	value, ok := p.codec.read(raw)
	if !ok {
		return nil, fmt.Errorf("parameter %s: %s is not %s", p.Name, quote(raw), p.codec.want)
	}
	if p.min != nil && p.codec.compare(value, p.min) < 0 || p.max != nil && p.codec.compare(value, p.max) > 0 {
		return nil, fmt.Errorf("parameter %s: %s is out of bounds, want %s%s", p.Name, p.codec.text(value), p.bounds(),
			meantPercent(raw, value))
	}
	if p.choices != nil && !slices.Contains(p.choices, p.codec.text(value)) {
		return nil, fmt.Errorf("parameter %s: %s is not one of %s", p.Name, quote(raw), strings.Join(p.choices, ", "))
	}
	return value, nil
}

// meantPercent asks whether a bare number of one or more was meant in per cent; empty: it was none.
func meantPercent(raw, value any) string {
	rate, is := value.(market.Rate)
	if text := fmt.Sprint(raw); is && rate >= market.Whole && !strings.ContainsAny(text, "%b") {
		return fmt.Sprintf("; did you mean \"%s%%\"?", text)
	}
	return ""
}

func (p *parameter) bounds() string {
	switch {
	case p.max == nil:
		return "at least " + p.Min
	case p.min == nil:
		return "at most " + p.Max
	}
	return p.Min + " to " + p.Max
}

// quote shows a foreign value in an error, cut to a readable length.
func quote(raw any) string {
	text := fmt.Sprint(raw)
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	if _, isText := raw.(string); isText {
		return fmt.Sprintf("%q", text)
	}
	return text
}

// resolve returns one value per parameter: the given one or the default.
func resolve(params []parameter, given map[string]any) ([]any, error) {
	known := 0
	for i := range params {
		if _, is := given[params[i].Name]; is {
			known++
		}
	}
	if known < len(given) {
		return nil, unknownOf(params, given)
	}
	values := make([]any, len(params))
	for i := range params {
		values[i] = params[i].preset
		raw, ok := given[params[i].Name]
		if !ok {
			continue
		}
		value, err := params[i].read(raw)
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	return values, nil
}

// unknownOf is the error of the first given name, by the alphabet, that is no parameter's.
func unknownOf(params []parameter, given map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(params, func(p parameter) bool { return p.Name == name }) {
			return unknown(params, name)
		}
	}
	return nil
}

func unknown(params []parameter, name string) error {
	if strings.HasPrefix(name, RulePrefix) {
		return unknownRule(params, name)
	}
	if len(params) == 0 {
		return fmt.Errorf("unknown parameter %s: it takes none", quote(name))
	}
	names := make([]string, len(params))
	for i := range params {
		names[i] = params[i].Name
	}
	return fmt.Errorf("unknown parameter %s: the nearest is %q", quote(name), Nearest(name, names))
}
