package strategy

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Definition is a strategy that can be made from parameters: `bot strategies` lists the definitions
// that bot.Main gets. Make one with Define. The zero Definition has no parameters and makes
// nothing.
type Definition struct {
	Name string // its name in a config
	Doc  string // one line

	params  []parameter
	written *written // nil: the parameters are all
	valid   func(g given) error
	needs   func(g given) (Needs, error)
	build   func(g given, s Setup) (Strategy, error)
}

// given is one value for each parameter, those of a written strategy's own names behind the others.
type given struct {
	params []parameter
	values []any
}

// Needs are the data that a strategy needs, beside the closed candles of its main interval.
type Needs struct {
	Warmup    int       // closed candles of the main interval, with the first one on which a decision counts
	Intervals Intervals // further ones
	Ticker    bool
	Book      bool
	Signals   []string // names of the [signals.NAME] that it hears
	// Reads names markets whose candles it gets beside those that it trades, of the same intervals.
	// It may not buy there.
	Reads []string
}

// Intervals are further intervals whose closed candles a strategy gets. Each has its warm-up in its
// own candles, 0 for none: Intervals{market.Interval1d: days.Warmup()}. A market can be traded once
// it has the candles of every interval; it waits for no other market.
type Intervals map[market.Interval]int

// Candles are those of one interval.
type Candles struct {
	Interval market.Interval
	Warmup   int
}

// Of lists the candles that a strategy with this main interval gets: those of the main interval
// first, then from the shortest interval on.
func (n Needs) Of(main market.Interval) []Candles {
	all := []Candles{{main, max(n.Warmup, n.Intervals[main])}}
	if len(n.Intervals) == 0 {
		return all
	}
	for _, interval := range slices.Sorted(maps.Keys(n.Intervals)) {
		if interval != main {
			all = append(all, Candles{interval, n.Intervals[interval]})
		}
	}
	return all
}

// Setup has the markets and the interval of one strategy. The markets are copies made at the start:
// their units stay valid; for present rules and status use Desk.Market.
type Setup struct {
	Markets  []*market.Market
	Interval market.Interval // the main interval
	// Reads are the markets of Needs.Reads. It may trade there only if Markets has them too.
	Reads []*market.Market

	faults *[]error // of Size and Price
}

// Size reads a size, such as "0.01 base", as ParseSize does. Where it is none, or not exact in a
// market of the setup, the strategy is not made and the error says why.
func (s Setup) Size(text string) Size {
	size, err := ParseSize(text)
	for _, m := range s.Markets {
		if err == nil {
			err = size.fits(m)
		}
	}
	s.fault(err)
	return size
}

// Price reads a price, such as "20000", as ParsePrice does; otherwise it is as Size.
func (s Setup) Price(text string) Price {
	price, err := ParsePrice(text)
	for _, m := range s.Markets {
		if err == nil {
			err = price.fits(m)
		}
	}
	s.fault(err)
	return price
}

// fault notes an error of a constant. In a setup that a test made by hand it panics.
func (s Setup) fault(err error) {
	switch {
	case err == nil:
	case s.faults == nil:
		panic(err)
	default:
		*s.faults = append(*s.faults, err)
	}
}

// Slots is the length of a slice with a place for each market of the setup at its ID.
func (s Setup) Slots() int {
	slots := 0
	for _, m := range s.Markets {
		slots = max(slots, int(m.ID)+1)
	}
	return slots
}

// copied is the setup with copies of the markets: a strategy that changes them changes no other's.
func (s Setup) copied() Setup {
	markets := make([]*market.Market, len(s.Markets))
	for i, m := range s.Markets {
		own := *m
		markets[i] = &own
	}
	reads := make([]*market.Market, len(s.Reads))
	for i, m := range s.Reads {
		own := *m
		reads[i] = &own
	}
	s.Markets, s.Reads, s.faults = markets, reads, new([]error)
	return s
}

// Define makes a Definition from P, a plain struct of parameters. Each field carries tags:
//
//	Fast int `toml:"fast" default:"20" min:"2" max:"1000" doc:"candles of the fast average"`
//
// A field is an int, int64, float64, bool, string (with an optional oneof:"a,b"), market.Interval,
// time.Duration, market.Rate ("5%", "10bps"), Size ("20% equity", "0.01 base"), Price ("20000") or
// decimal.Decimal. A Size and a Price must be exact in every market of the setup. A Rate or a Size
// may have unit:"bps" or unit:"quote" for numbers that are written without a unit. Only min, max,
// oneof and unit may be left out. Where P or *P has Validate() error, Define calls it after the
// bounds.
//
// Define panics where P is no such struct or its defaults break their own rules: the program is
// wrong, not its input.
func Define[P any](name, doc string, needs func(P) Needs, build func(P, Setup) (Strategy, error)) Definition {
	d := Definition{Name: name, Doc: doc, params: parametersOf(name, reflect.TypeFor[P]())}
	d.valid = func(g given) error {
		_, err := fill[P](g)
		return err
	}
	d.needs = func(g given) (Needs, error) {
		p, err := fill[P](g)
		if err != nil {
			return Needs{}, err
		}
		return needs(p), nil
	}
	d.build = func(g given, s Setup) (Strategy, error) {
		p, err := fill[P](g)
		if err != nil {
			return nil, err
		}
		return build(p, s)
	}
	if err := d.check(nil); err != nil {
		panic(fmt.Sprintf("%v: the defaults are no valid parameters", err))
	}
	return d
}

// Params describes the parameters in the order of their declaration.
func (d Definition) Params() []Param {
	params := make([]Param, len(d.params))
	for i := range d.params {
		params[i] = d.params[i].Param
	}
	return params
}

// Needs returns what the strategy needs with these values. Values are those of a decoded TOML table
// (int64, float64, string, bool) or texts; conversion is exact or refused. A missing value has its
// default. An unknown name is an error that names the nearest known one, a value out of bounds an
// error that names the bounds.
func (d Definition) Needs(values map[string]any) (Needs, error) {
	return onValues(d, values, func(g given) (Needs, error) {
		n, err := d.needs(g)
		if err != nil {
			return Needs{}, err
		}
		if n.Warmup < 0 {
			return Needs{}, fmt.Errorf("needs a warm-up of %d candles; it cannot be negative", n.Warmup)
		}
		for _, i := range slices.Sorted(maps.Keys(n.Intervals)) {
			if !known(i) {
				return Needs{}, fmt.Errorf("needs candles of interval %d, which is none of the exchange's; use one of "+
					"package market, such as market.Interval1h", i)
			}
			if n.Intervals[i] < 0 {
				return Needs{}, fmt.Errorf("needs a warm-up of %d %s candles; it cannot be negative", n.Intervals[i], i)
			}
		}
		return n, nil
	})
}

func known(i market.Interval) bool { return i >= market.Interval1m && i <= market.Interval1M }

// check returns an error where values are not valid.
func (d Definition) check(values map[string]any) error {
	_, err := onValues(d, values, func(g given) (struct{}, error) { return struct{}{}, d.valid(g) })
	return err
}

// New makes the strategy for a setup of at least one market. For values see Needs.
func (d Definition) New(values map[string]any, s Setup) (Strategy, error) {
	return onValues(d, values, func(g given) (Strategy, error) {
		switch {
		case len(s.Markets) == 0:
			return nil, errors.New("no market to trade; name at least one")
		case s.Interval == 0:
			return nil, errors.New("no interval; name the candles to trade on")
		case !known(s.Interval):
			return nil, fmt.Errorf("interval %d is none of the exchange's", s.Interval)
		}
		if err := g.fit(s.Markets); err != nil {
			return nil, err
		}
		own := s.copied()
		made, err := d.build(g, own)
		switch {
		case err != nil:
			return nil, err
		case len(*own.faults) > 0:
			return nil, (*own.faults)[0]
		case isNil(made):
			return nil, errors.New("build returned nil, which is no strategy; return a pointer to one, or an error")
		}
		return made, checkKept(made)
	})
}

// fit checks that the sizes and prices among the values are exact in every market.
func (g given) fit(markets []*market.Market) error {
	for i, value := range g.values {
		exact, is := value.(interface{ fits(m *market.Market) error })
		if !is {
			continue
		}
		for _, m := range markets {
			if err := exact.fits(m); err != nil {
				return fmt.Errorf("parameter %s: %w", g.params[i].Name, err)
			}
		}
	}
	return nil
}

// Resolve returns the value of every parameter in the order of their declaration, defaults
// included, as a result file prints them. Of a written strategy it leaves the rules out that are
// not written. For values see Needs.
func (d Definition) Resolve(values map[string]any) ([]Setting, error) {
	return onValues(d, values, func(g given) ([]Setting, error) {
		if err := d.valid(g); err != nil {
			return nil, err
		}
		settings := make([]Setting, 0, len(g.values))
		for i := range g.values {
			p := &g.params[i]
			if d.written == nil || !reflect.ValueOf(g.values[i]).IsZero() || p.index < 0 {
				settings = append(settings, Setting{Name: p.Name, Text: p.codec.text(g.values[i])})
			}
		}
		return settings, nil
	})
}

// onValues checks values and calls use with them; an error of either step names the strategy.
func onValues[T any](d Definition, values map[string]any, use func(given) (T, error)) (T, error) {
	var result T
	if d.build == nil {
		return result, errors.New("strategy: this Definition is zero; make one with strategy.Define")
	}
	params, values := d.own(values)
	all, err := resolve(params, values)
	if err == nil {
		result, err = protected(use, given{params, all})
	}
	if err != nil {
		return result, fmt.Errorf("strategy %s: %w", d.Name, err)
	}
	return result, nil
}

// protected calls an author's function; a panic becomes an error with its place.
func protected[T any](use func(given) (T, error), g given) (result T, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic in needs, build or Validate: %v%s", reason, origin())
		}
	}()
	return use(g)
}

// origin is the place of the present panic.
func origin() string {
	var counters [32]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(3, counters[:])])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.File != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf(" (at %s:%d)", filepath.Base(f.File), f.Line)
		}
	}
	return ""
}

// isNil reports whether s is nil or a nil pointer.
func isNil(s Strategy) bool {
	if s == nil {
		return true
	}
	v := reflect.ValueOf(s)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// fill makes a P of one value per parameter and calls its Validate.
func fill[P any](g given) (P, error) {
	var p P
	fields := reflect.ValueOf(&p).Elem()
	for i := range fields.NumField() {
		fields.Field(g.params[i].index).Set(reflect.ValueOf(g.values[i]))
	}
	if v, ok := any(&p).(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return p, InvalidError{err}
		}
	}
	return p, nil
}

// InvalidError is the refusal of parameters by their own Validate: each value is within its bounds,
// but they do not go together. A search leaves such a set out.
type InvalidError struct{ error }

// Unwrap returns the error of Validate.
func (e InvalidError) Unwrap() error { return e.error }
