package strategy

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/tidemark-trading/tidemark/market"
)

// Kind is a strategy that can be made from parameters: what `bot strategies` lists and what bot.Main is given. Make one with
// Define. The zero Kind has no parameters and makes nothing.
type Kind struct {
	Name string // how a config names it
	Doc  string // one line

	params []parameter
	needs  func(values []any) (Needs, error)
	build  func(values []any, s Setup) (Strategy, error)
}

// Needs is what a strategy wants to be fed with, beside the closed candles of its main interval.
type Needs struct {
	Warmup    int // closed candles of the main interval, up to and with the first on which a decision may be trusted
	Intervals []market.Interval
	Ticker    bool
	Book      bool
}

// Setup is where one strategy works. The markets are copies, as they are when the strategy is made: units stay, rules and status
// as of now come from Desk.Market.
type Setup struct {
	Markets  []*market.Market
	Interval market.Interval // the main interval
}

// Slots is the length of a slice that has a place for every market of the setup at its ID.
func (s Setup) Slots() int {
	slots := 0
	for _, m := range s.Markets {
		slots = max(slots, int(m.ID)+1)
	}
	return slots
}

// copied is the setup with markets of its own: what a strategy does to them reaches no other.
func (s Setup) copied() Setup {
	markets := make([]*market.Market, len(s.Markets))
	for i, m := range s.Markets {
		own := *m
		markets[i] = &own
	}
	s.Markets = markets
	return s
}

// Define makes a Kind from P, a plain struct of parameters. Each field carries tags:
//
//	Fast int `toml:"fast" default:"20" min:"2" max:"1000" doc:"candles of the fast average"`
//
// A field is an int, int64, float64, bool, string (with an optional oneof:"a,b"), market.Interval, time.Duration or
// decimal.Decimal (prices and amounts as people write them). Only min, max and oneof may be left out. Where P or *P has
// Validate() error, it is asked after the bounds were checked.
//
// Define panics where P is no such struct or its defaults break their own rules: the program is wrong, not its input.
func Define[P any](name, doc string, needs func(P) Needs, build func(P, Setup) (Strategy, error)) Kind {
	k := Kind{Name: name, Doc: doc, params: parametersOf(name, reflect.TypeFor[P]())}
	k.needs = func(values []any) (Needs, error) {
		p, err := fill[P](k.params, values)
		if err != nil {
			return Needs{}, err
		}
		return needs(p), nil
	}
	k.build = func(values []any, s Setup) (Strategy, error) {
		p, err := fill[P](k.params, values)
		if err != nil {
			return nil, err
		}
		return build(p, s)
	}
	if _, err := k.Needs(nil); err != nil {
		panic(fmt.Sprintf("%v: the defaults are no valid parameters", err))
	}
	return k
}

// Params describes the parameters in the order of their declaration.
func (k Kind) Params() []Param {
	params := make([]Param, len(k.params))
	for i := range k.params {
		params[i] = k.params[i].Param
	}
	return params
}

// Needs returns what the strategy needs with these values. Values are those of a decoded TOML table (int64, float64, string,
// bool) or texts; conversion is exact or refused. What is left out has its default; an unknown name is an error that names
// the nearest known one, a value out of bounds one that names the bounds.
func (k Kind) Needs(values map[string]any) (Needs, error) {
	return onValues(k, values, k.needs)
}

// New makes the strategy for a setup of at least one market. For values see Needs.
func (k Kind) New(values map[string]any, s Setup) (Strategy, error) {
	return onValues(k, values, func(all []any) (Strategy, error) {
		switch {
		case len(s.Markets) == 0:
			return nil, errors.New("no market to trade; name at least one")
		case s.Interval == 0:
			return nil, errors.New("no interval; name the candles to trade on")
		}
		return k.build(all, s.copied())
	})
}

// Resolve returns the value of every parameter in the order of their declaration, defaults included, as a result file prints
// them. For values see Needs.
func (k Kind) Resolve(values map[string]any) ([]Setting, error) {
	return onValues(k, values, func(all []any) ([]Setting, error) {
		if _, err := k.needs(all); err != nil { // asks Validate
			return nil, err
		}
		settings := make([]Setting, len(all))
		for i := range all {
			settings[i] = Setting{Name: k.params[i].Name, Text: k.params[i].codec.text(all[i])}
		}
		return settings, nil
	})
}

// onValues checks values and hands them on; an error of either step names the kind.
func onValues[T any](k Kind, values map[string]any, use func([]any) (T, error)) (T, error) {
	var result T
	if k.build == nil {
		return result, errors.New("strategy: this Kind is zero; make one with strategy.Define")
	}
	all, err := resolve(k.params, values)
	if err == nil {
		result, err = use(all)
	}
	if err != nil {
		return result, fmt.Errorf("strategy %s: %w", k.Name, err)
	}
	return result, nil
}

// fill makes a P of one value per parameter and asks its Validate.
func fill[P any](params []parameter, values []any) (P, error) {
	var p P
	fields := reflect.ValueOf(&p).Elem()
	for i := range params {
		fields.Field(params[i].index).Set(reflect.ValueOf(values[i]))
	}
	if v, ok := any(&p).(interface{ Validate() error }); ok {
		return p, v.Validate()
	}
	return p, nil
}
