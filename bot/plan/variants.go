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

// Variants makes backtest plans of one config with other settings. Plans that read the same candles
// share all that was read for the first of them. One goroutine uses it.
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
	_, kin, err = v.check(sets)
	if err != nil {
		return "", err
	}
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
	base, err := v.Base(sets)
	if err != nil {
		return nil, err
	}
	checked, _, err := v.check(sets)
	if err != nil {
		return nil, err
	}
	strategies, err := v.strategies(sets, func(*backtest.StrategyPlan) error { return nil })
	if err != nil {
		return nil, err
	}
	p := *base.Run
	p.Venue, p.DataLatency, p.Fees, p.Account = checked.Run.Venue, checked.Run.DataLatency, checked.Fees, checked.Limits
	p.Strategies = slices.Clone(base.Run.Strategies)
	for i := range strategies {
		p.Strategies[i].Values, p.Strategies[i].Limits = strategies[i].Values, strategies[i].Limits
	}
	return &p, nil
}

// Base is a backtest of the kin of settings, completed with its candles.
func (v *Variants) Base(sets []config.Override) (*Backtest, error) {
	kin, err := v.Look(sets)
	if err != nil {
		return nil, err
	}
	if v.whole[kin] == nil {
		base, err := v.read(sets)
		if err != nil {
			return nil, err
		}
		v.whole[kin] = base
	}
	return v.whole[kin], nil
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

// check is a backtest, without candles, of the settings that are no parameters, and a key of those
// that decide which candles are read, and in which units. Its parameters are those of the first set
// that it was made for.
func (v *Variants) check(sets []config.Override) (p *Backtest, kin string, err error) {
	var all, reading strings.Builder
	for _, o := range sets {
		if isParam(o.Path) {
			continue
		}
		if o.Path[0] == "data" || slices.Equal(o.Path, []string{"backtest", "seed"}) {
			return nil, "", v.with(sets).Place(config.Keyf(o.Path, "all sets read one store; it cannot be varied"))
		}
		fmt.Fprintf(&all, "%q=%q;", o.Path, o.Text)
		if !readsAlike(o.Path) {
			fmt.Fprintf(&reading, "%q=%q;", o.Path, o.Text)
		}
	}
	if p = v.checked[all.String()]; p == nil {
		if p, err = v.load(sets); err != nil {
			return nil, "", err
		}
		v.checked[all.String()] = p
	}
	return p, reading.String(), nil
}

// alike are settings of the account and the venue that Plan takes over: they change neither the
// candles nor the units of a run.
var alike = map[string][]string{
	"account": {"maker_fee", "taker_fee", "fee_rounding"},
	"backtest": {"path", "limit_fill", "data_latency", "latency", "half_spread_bps", "slippage_bps", "volume_share",
		"placement_limit"},
	"risk": {"max_drawdown", "max_open_orders", "price_collar", "orders_per_minute", "cool_down", "cool_down_losses"},
}

// readsAlike reports whether a setting leaves the candles of a run as they are.
func readsAlike(path []string) bool {
	return len(path) == 2 && slices.Contains(alike[path[0]], path[1])
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
