package strategy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// PerMarket keeps a T for each market of a strategy: an indicator, or what the strategy knows of
// the market. Make it with Each.
//
// Embedded in a strategy, it makes the strategy a Saver: the exported fields of each T outlive a
// restart as JSON; unexported fields are as Each and the candles of the warm-up have made them.
// Tags of package encoding/json name the fields. Where *T has Loaded() error, it is called after
// the fields of a market were read.
type PerMarket[T any] struct {
	of    []T // by market
	names map[market.ID]string
}

// Each returns a PerMarket with a T for each market of the setup. The market is a copy of its units
// and rules at the start.
func Each[T any](s Setup, made func(m market.Market) T) PerMarket[T] {
	p := PerMarket[T]{of: make([]T, s.Slots()), names: make(map[market.ID]string, len(s.Markets))}
	for _, m := range s.Markets {
		p.of[m.ID], p.names[m.ID] = made(*m), m.Name
	}
	return p
}

// In returns the T of a market of the setup. It panics for another market.
func (p *PerMarket[T]) In(m market.ID) *T { return &p.of[m] }

// Save returns the exported fields of each T as JSON by market name.
func (p *PerMarket[T]) Save() ([]byte, error) {
	known := make(map[string]*T, len(p.names))
	for id, name := range p.names {
		known[name] = &p.of[id]
	}
	return market.AppendSaved(nil, savedVersion, known)
}

// Load reads the JSON of Save. A market that is no longer in the setup is an error; a market that
// is new in the setup keeps its state.
func (p *PerMarket[T]) Load(data []byte) error {
	known := make(map[string]json.RawMessage)
	if err := market.ParseSaved(data, savedVersion, &known); err != nil {
		return err
	}
	ids := make(map[string]market.ID, len(p.names))
	for id, name := range p.names {
		ids[name] = id
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		id, traded := ids[name]
		if !traded {
			return fmt.Errorf("market %s was traded and is not any more", name)
		}
		if err := load(known[name], &p.of[id]); err != nil {
			return fmt.Errorf("market %s: %w", name, err)
		}
	}
	return nil
}

// load reads the exported fields of one market.
func load(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if l, can := into.(interface{ Loaded() error }); can {
		return l.Loaded()
	}
	return nil
}

// savedVersion is the version of the JSON of Save.
const savedVersion = 1

// keeper is a PerMarket of any T.
type keeper interface{ keeps() bool }

// keeps reports whether T has something that Save writes.
func (p *PerMarket[T]) keeps() bool {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return true
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
			return true
		}
	}
	return false
}

// checkKept returns an error where a strategy that is no Saver has a PerMarket with exported
// fields: a restart would lose them without a word.
func checkKept(s Strategy) error {
	t := reflect.TypeOf(s)
	if _, saves := s.(Saver); saves || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	for i := range t.Elem().NumField() {
		f := t.Elem().Field(i)
		if k, is := reflect.New(f.Type).Interface().(keeper); is && k.keeps() {
			return fmt.Errorf("nothing saves the exported fields of %s; embed that PerMarket, write Save and Load, or "+
				"begin the names of its fields with a small letter", f.Name)
		}
	}
	return nil
}
