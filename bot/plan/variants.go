package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Variants makes backtest plans of one config with other settings. Plans that differ in parameters
// alone share what was read for the first of them. One goroutine uses it.
type Variants struct {
	source  *config.Source
	kinds   []strategy.Definition
	candles Library
	checked map[string]*Backtest // by settings other than parameters; without candles
	whole   map[string]*Backtest // by kin
}

// NewVariants takes the config of a source, and candles that stay open.
func NewVariants(source *config.Source, kinds []strategy.Definition, candles Library) *Variants {
	return &Variants{source: source, kinds: kinds, candles: candles, checked: map[string]*Backtest{},
		whole: map[string]*Backtest{}}
}

// Look checks settings without running them. Settings of one kin read the same candles. The error
// is that of the config with them; it wraps strategy.InvalidError where parameters do not go
// together.
func (v *Variants) Look(sets []config.Override) (kin string, err error) {
	_, key, err := v.check(sets)
	if err != nil {
		return "", err
	}
	kin = key
	_, err = v.strategies(sets, func(s *backtest.StrategyPlan) error {
		if _, err := s.Kind.Resolve(s.Values); err != nil {
			return err
		}
		needs, err := s.Kind.Needs(s.Values)
		for _, c := range needs.Of(s.Interval) {
			kin += " " + c.Interval.String()
		}
		kin += ";"
		return err
	})
	return kin, err
}

// Plan is the plan of settings that Look allows. It warms up on candles before its range.
func (v *Variants) Plan(sets []config.Override) (*backtest.Plan, error) {
	kin, err := v.Look(sets)
	if err != nil {
		return nil, err
	}
	base := v.whole[kin]
	if base == nil {
		if base, err = v.read(sets); err != nil {
			return nil, err
		}
		v.whole[kin] = base
	}
	p := *base.Run
	strategies, err := v.strategies(sets, func(*backtest.StrategyPlan) error { return nil })
	if err != nil {
		return nil, err
	}
	p.Strategies = slices.Clone(base.Run.Strategies)
	for i := range strategies {
		p.Strategies[i].Values = strategies[i].Values
	}
	return &p, nil
}

// Base is the backtest with these settings, completed with its candles.
func (v *Variants) Base(sets []config.Override) (*Backtest, error) {
	if _, err := v.Plan(sets); err != nil {
		return nil, err
	}
	kin, err := v.Look(sets)
	return v.whole[kin], err
}

// read completes the backtest of settings with its candles.
func (v *Variants) read(sets []config.Override) (*Backtest, error) {
	p, err := v.load(sets)
	if err != nil {
		return nil, err
	}
	p.Run.ColdStart = false
	return p, p.Finish(v.candles)
}

// load reads the config with settings over it.
func (v *Variants) load(sets []config.Override) (*Backtest, error) {
	c, err := config.LoadBacktest(v.with(sets))
	if err != nil {
		return nil, err
	}
	return NewBacktest(c, v.kinds)
}

// with is the source with settings over it.
func (v *Variants) with(sets []config.Override) *config.Source {
	source := *v.source
	source.Overrides = slices.Concat(v.source.Overrides, sets)
	return &source
}

// check is the backtest of the settings that are no parameters, and their key.
func (v *Variants) check(sets []config.Override) (*Backtest, string, error) {
	var others []config.Override
	var key strings.Builder
	for _, o := range sets {
		if !isParam(o.Path) {
			others = append(others, o)
			fmt.Fprintf(&key, "%q=%q;", o.Path, o.Text)
		}
	}
	p := v.checked[key.String()]
	if p == nil {
		var err error
		if p, err = v.load(others); err != nil {
			return nil, "", err
		}
		v.checked[key.String()] = p
	}
	return p, key.String(), nil
}

// isParam reports whether a path is strategies.NAME.params.PARAMETER.
func isParam(path []string) bool {
	return len(path) == 4 && path[0] == "strategies" && path[2] == "params"
}

// strategies are those of the config with the parameters among the settings. look is called for
// those that a parameter changes; its error gets the place of the parameter.
func (v *Variants) strategies(sets []config.Override, look func(*backtest.StrategyPlan) error) (
	[]backtest.StrategyPlan, error) {
	p, _, err := v.check(sets)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(p.Strategies)
	changed := make([][]string, len(list))
	for _, o := range sets {
		if !isParam(o.Path) {
			continue
		}
		at := slices.IndexFunc(list, func(s backtest.StrategyPlan) bool { return s.Name == o.Path[1] })
		if at < 0 {
			return nil, v.with(sets).Place(config.Keyf(o.Path, "there is no strategy %q; the nearest is %q",
				config.Clip(o.Path[1]), strategy.Nearest(o.Path[1], p.Names())))
		}
		if changed[at] == nil {
			list[at].Values = maps.Clone(list[at].Values)
			if list[at].Values == nil {
				list[at].Values = map[string]any{}
			}
		}
		changed[at] = o.Path
		list[at].Values[o.Path[3]] = o.Text
	}
	for i := range list {
		if changed[i] == nil {
			continue
		}
		if err := look(&list[i]); err != nil {
			return nil, v.with(sets).Place(config.At(paramOf(changed[i][:3], err, list[i].Values), err))
		}
	}
	return list, nil
}

// DataHash is a hash of all candles, up to the end of the range, of the series that the settings
// looked at so far read.
func (v *Variants) DataHash() (string, error) {
	lines := map[string]bool{}
	for _, p := range v.whole {
		for _, f := range p.Run.Feeds {
			text, err := v.candles.DataHash(f.Market.Name, f.Interval, 0, p.Run.To)
			if err != nil {
				return "", err
			}
			lines[fmt.Sprintln(f.Market.Name, f.Interval, text)] = true
		}
	}
	hash := sha256.New()
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprint(hash, line)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// End is the end of the last candle that a backtest reads.
func (p *Backtest) End() (end market.Time, err error) {
	for _, f := range p.Run.Feeds {
		stored, err := p.Candles.Span(f.Market.Name, f.Interval)
		if err != nil {
			return 0, err
		}
		end = max(end, p.inRange(stored).To)
	}
	return end, nil
}

// Shared is a library that several goroutines may use.
func Shared(lib Library) Library { return &shared{Library: lib} }

// shared lets one call through at a time. Sources that it has opened are read side by side.
type shared struct {
	Library
	mutex sync.Mutex
}

func (s *shared) Digits(name string) (price, volume uint8, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.Library.Digits(name)
}

func (s *shared) Span(name string, interval market.Interval) (candles.Range, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.Library.Span(name, interval)
}

func (s *shared) Gaps(name string, interval market.Interval, from, to market.Time) ([]candles.Gap, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.Library.Gaps(name, interval, from, to)
}

func (s *shared) DataHash(name string, interval market.Interval, from, to market.Time) (string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.Library.DataHash(name, interval, from, to)
}

func (s *shared) open(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.Library.open(f, from, to)
}
