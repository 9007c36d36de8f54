package strategy

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The beginnings of the names of values that stand under [rules] and [rules.let] in a config.
const (
	RulePrefix = "rules."
	LetPrefix  = RulePrefix + "let."
)

// Own are the values of a written strategy whose names its author chose, sorted.
type Own struct {
	Numbers map[string]float64 // of [params]
	Let     []Setting          // texts of [rules.let]
}

// Word is a word of the language in which a strategy is written.
type Word struct {
	Use     string `json:"use"` // with its arguments
	Doc     string `json:"doc"`
	Example string `json:"example"`
	Warmup  int    `json:"warmup_candles"` // that the example needs
}

// written is what a written strategy has beside its rules.
type written struct {
	example map[string]any
	words   func() []Word
}

// ValueError is a mistake within one value, told by its place in it. A config shows it without
// kind and name: its key says both.
type ValueError struct {
	Name string
	Err  error
}

// Error names the value and the mistake.
func (e *ValueError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the mistake.
func (e *ValueError) Unwrap() error { return e.Err }

// DefineWritten is Define for strategies that stand in a config as texts. The parameters of P are
// the rules: their names begin with RulePrefix. Every other name is the author's own: a number, or
// behind LetPrefix a text. read makes C of them, once for the same values: several goroutines use
// it, and must not change it. Without any value the strategy is the example; it is not checked
// here, which would cost each start of a program. words lists the language.
func DefineWritten[P, C any](name, doc string, example map[string]any, words func() []Word,
	read func(P, Own) (C, error), needs func(C) Needs, build func(C, Setup) (Strategy, error)) Definition {
	d := Definition{Name: name, Doc: doc, params: parametersOf(name, reflect.TypeFor[P]()),
		written: &written{example, words}}
	latest := &readings[C]{}
	of := func(g given) (C, error) {
		return latest.of(g.key(), func() (c C, err error) {
			p, err := fill[P](g)
			if err != nil {
				return c, err
			}
			return read(p, g.own(len(d.params)))
		})
	}
	d.needs = func(g given) (Needs, error) {
		c, err := of(g)
		if err != nil {
			return Needs{}, err
		}
		return needs(c), nil
	}
	d.valid = func(g given) error {
		_, err := of(g)
		return err
	}
	d.build = func(g given, s Setup) (Strategy, error) {
		c, err := of(g)
		if err != nil {
			return nil, err
		}
		return build(c, s)
	}
	return d
}

// readings are the latest values that were read. A search asks for needs, settings and strategy of
// the same values, group after group of sets.
type readings[C any] struct {
	sync.Mutex
	list [64]reading[C]
	next int
}

type reading[C any] struct {
	key string
	of  C
}

// of is what was read of the values with a key. Where it is not there, read makes it.
func (r *readings[C]) of(key string, read func() (C, error)) (C, error) {
	r.Lock()
	for i := range r.list {
		if one := &r.list[i]; one.key == key {
			defer r.Unlock()
			return one.of, nil
		}
	}
	r.Unlock()
	c, err := read()
	if err == nil {
		r.Lock()
		r.list[r.next] = reading[C]{key, c}
		r.next = (r.next + 1) % len(r.list)
		r.Unlock()
	}
	return c, err
}

// key is a text that only the same values have.
func (g given) key() string {
	var key []byte
	for i := range g.values {
		text := g.params[i].codec.text(g.values[i])
		key = strconv.AppendInt(append(key, g.params[i].Name...), int64(len(text)), 10)
		key = append(append(key, ' '), text...)
	}
	return string(key)
}

// Written reports whether the strategy stands in a config. Its Params are the rules; it has others
// by the names in the config.
func (d Definition) Written() bool { return d.written != nil }

// Words lists the language of a written strategy.
func (d Definition) Words() []Word {
	if d.written == nil {
		return nil
	}
	return d.written.words()
}

// own are the parameters with those that values name by themselves, and the values.
func (d Definition) own(values map[string]any) ([]parameter, map[string]any) {
	if d.written == nil {
		return d.params, values
	}
	if len(values) == 0 {
		values = d.written.example
	}
	params := slices.Clip(d.params)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var kind reflect.Type
		switch {
		case slices.ContainsFunc(d.params, func(p parameter) bool { return p.Name == name }):
			continue
		case strings.HasPrefix(name, LetPrefix):
			kind = reflect.TypeFor[string]()
		case strings.HasPrefix(name, RulePrefix):
			continue
		default:
			kind = reflect.TypeFor[float64]()
		}
		p := parameter{Param: Param{Name: name, Type: codecs[kind].name}, codec: codecs[kind], index: -1}
		params = append(params, p)
	}
	return params, values
}

// own are the values behind the first.
func (g given) own(first int) Own {
	own := Own{Numbers: map[string]float64{}}
	for i := first; i < len(g.params); i++ {
		switch value := g.values[i].(type) {
		case float64:
			own.Numbers[g.params[i].Name] = value
		case string:
			own.Let = append(own.Let, Setting{strings.TrimPrefix(g.params[i].Name, LetPrefix), value})
		}
	}
	return own
}

// unknownRule is the error of a rule that no parameter is.
func unknownRule(params []parameter, name string) error {
	var rules []string
	for i := range params {
		if rule, is := strings.CutPrefix(params[i].Name, RulePrefix); is {
			rules = append(rules, rule)
		}
	}
	rule := strings.TrimPrefix(name, RulePrefix)
	if rule == "let" && len(rules) > 0 {
		return &ValueError{name, errors.New("is a table of texts with names: let.NAME = 'text'")}
	}
	if len(rules) == 0 {
		return &ValueError{name, fmt.Errorf("%s is a rule, and this kind takes none; rules are for kind = \"rules\"",
			quote(rule))}
	}
	return &ValueError{name, fmt.Errorf("unknown rule %s; the nearest is %q", quote(rule), Nearest(rule, rules))}
}
