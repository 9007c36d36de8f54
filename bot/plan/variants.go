package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
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
	whole   map[string]*Backtest // by dataset

	// Sets are those whose warm-ups the units of all plans fit, so that all share them; nil: each
	// dataset fits the set that it was read for.
	Sets iter.Seq[[]config.Override]

	last     looked
	datasets map[string]string                             // each dataset, and each warm-up, by itself
	warmups  map[string]map[string][]backtest.StrategyPlan // by dataset and warm-up: a set that was looked at
	// room that is used again
	all, dataset, warmup []byte
	list                 []backtest.StrategyPlan
	changed              [][]string
}

// NewVariants takes the config of a source, and candles that stay open.
func NewVariants(source *config.Source, kinds []strategy.Definition, candles Library) *Variants {
	return &Variants{source: source, kinds: kinds, candles: candles, checked: map[string]*Backtest{},
		whole: map[string]*Backtest{}, datasets: map[string]string{},
		warmups: map[string]map[string][]backtest.StrategyPlan{}}
}

// Look checks settings without running them. Settings of one dataset read the same candles. The
// error is that of the config with them; it wraps strategy.InvalidError where parameters do not go
// together.
func (v *Variants) Look(sets []config.Override) (dataset string, err error) {
	l, err := v.look(sets)
	return l.dataset, err
}

// Warmup is a key of the warm-ups of settings that Look allows: all of one dataset and key can
// trade from the same time on.
func (v *Variants) Warmup(sets []config.Override) (string, error) {
	l, err := v.look(sets)
	return l.warmup, err
}

// looked is settings that Look allows.
type looked struct {
	sets            []config.Override
	checked         *Backtest               // see check
	strategies      []backtest.StrategyPlan // until the next look
	dataset, warmup string
}

func (v *Variants) look(sets []config.Override) (l looked, err error) {
	if v.last.checked != nil && slices.EqualFunc(v.last.sets, sets, same) {
		return v.last, nil
	}
	v.last, l = looked{}, looked{sets: sets}
	if l.checked, err = v.check(sets); err != nil {
		return looked{}, err
	}
	v.warmup = v.warmup[:0]
	l.strategies, err = v.strategies(l.checked, sets, func(s *backtest.StrategyPlan) error {
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			return err
		}
		if err := l.checked.checkHeard(needs.Signals); err != nil {
			return err
		}
		for _, c := range needs.Of(s.Interval) {
			v.dataset = append(append(v.dataset, ' '), c.Interval.String()...)
			v.warmup = strconv.AppendInt(append(v.warmup, ' '), int64(c.Warmup), 10)
		}
		for _, name := range needs.Reads {
			v.dataset = append(append(v.dataset, ' '), name...)
		}
		v.dataset, v.warmup = append(v.dataset, ';'), append(v.warmup, ';')
		return nil
	})
	if err != nil {
		return looked{}, err
	}
	l.dataset, l.warmup = v.once(v.dataset), v.once(v.warmup)
	v.last = l
	v.note(&l)
	return l, nil
}

// note keeps one set of each warm-up of a dataset.
func (v *Variants) note(l *looked) {
	if v.warmups[l.dataset] == nil {
		v.warmups[l.dataset] = map[string][]backtest.StrategyPlan{}
	}
	if _, known := v.warmups[l.dataset][l.warmup]; !known {
		v.warmups[l.dataset][l.warmup] = slices.Clone(l.strategies)
	}
}

// earliest is the time from which the sets of a dataset that were looked at so far read a feed.
func (v *Variants) earliest(dataset string, p *Backtest, f backtest.Feed) market.Time {
	from, longest := p.Run.History(f, 1), *p.Run
	for _, strategies := range v.warmups[dataset] {
		longest.Strategies = slices.Clone(p.Run.Strategies)
		for i := range strategies {
			longest.Strategies[i].Values = strategies[i].Values
		}
		from = min(from, longest.History(f, 1))
	}
	return from
}

func same(a, b config.Override) bool {
	return a.Text == b.Text && a.Word == b.Word && slices.Equal(a.Path, b.Path)
}

// once is a text that is kept once.
func (v *Variants) once(text []byte) string {
	kept, is := v.datasets[string(text)]
	if !is {
		kept = string(text)
		v.datasets[kept] = kept
	}
	return kept
}

// Plan is the plan of settings that Look allows. It warms up on candles before its range.
func (v *Variants) Plan(sets []config.Override) (*backtest.Plan, error) {
	l, err := v.look(sets)
	if err != nil {
		return nil, err
	}
	base, err := v.base(l.dataset, sets)
	if err != nil {
		return nil, err
	}
	p, checked := *base.Run, l.checked
	p.Venue, p.DataLatency, p.Fees, p.Account = checked.Run.Venue, checked.Run.DataLatency, checked.Fees, checked.Limits
	p.Strategies = slices.Clone(base.Run.Strategies)
	for i := range l.strategies {
		p.Strategies[i].Values, p.Strategies[i].Limits = l.strategies[i].Values, l.strategies[i].Limits
	}
	return &p, nil
}

// Base is a backtest of the dataset of settings, completed with its candles.
func (v *Variants) Base(sets []config.Override) (*Backtest, error) {
	dataset, err := v.Look(sets)
	if err != nil {
		return nil, err
	}
	return v.base(dataset, sets)
}

// base is a backtest of a dataset, which that of the settings is.
func (v *Variants) base(dataset string, sets []config.Override) (*Backtest, error) {
	if v.whole[dataset] == nil {
		base, err := v.read(sets)
		if err != nil {
			return nil, err
		}
		v.whole[dataset] = base
	}
	return v.whole[dataset], nil
}

// read completes the backtest of settings with its candles.
func (v *Variants) read(sets []config.Override) (*Backtest, error) {
	p, err := v.load(sets)
	if err != nil {
		return nil, err
	}
	p.Run.ColdStart = false
	if v.Sets != nil {
		p.reach = func(f backtest.Feed) (market.Time, error) { return v.reach(p, sets, f) }
	}
	return p, p.Finish(v.candles)
}

// reach is the time from which any of the Sets that are of the dataset of these settings reads a
// feed. Only few ranges have candles with more decimals before them: elsewhere it looks at no set.
func (v *Variants) reach(p *Backtest, sets []config.Override, f backtest.Feed) (from market.Time, err error) {
	from = p.Run.History(f, 1)
	all, err := v.candles.Part(f.Market.Name, f.Interval, 0, p.Run.To)
	if err != nil {
		return 0, err
	}
	part, err := v.candles.Part(f.Market.Name, f.Interval, from, p.Run.To)
	if err != nil || part.PriceDigits == all.PriceDigits && part.VolumeDigits == all.VolumeDigits {
		return from, err
	}
	looking := NewVariants(v.source, v.kinds, v.candles)
	dataset, err := looking.Look(sets)
	if err != nil {
		return 0, err
	}
	for other := range v.Sets {
		_, _ = looking.look(other) // a set with an error is left out, or ends the search where it is run
	}
	return looking.earliest(dataset, p, f), nil
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

// check is a backtest, without candles, of the settings that are no parameters. Its parameters are
// those of the first set that it was made for. The beginning of v.dataset is a key of the settings
// that decide which candles are read, and in which units.
func (v *Variants) check(sets []config.Override) (p *Backtest, err error) {
	v.all, v.dataset = v.all[:0], v.dataset[:0]
	for _, o := range sets {
		if config.ValueAt(o.Path) != "" {
			continue
		}
		if o.Path[0] == "data" || slices.Equal(o.Path, []string{"backtest", "seed"}) {
			return nil, v.with(sets).Place(config.Keyf(o.Path, "all sets read one store; it cannot be varied"))
		}
		v.all = fmt.Appendf(v.all, "%q=%q;", o.Path, o.Text)
		if !alike(o.Path) {
			v.dataset = fmt.Appendf(v.dataset, "%q=%q;", o.Path, o.Text)
		}
	}
	if p = v.checked[string(v.all)]; p == nil {
		if p, err = v.load(sets); err != nil {
			return nil, err
		}
		v.checked[string(v.all)] = p
	}
	return p, nil
}

// alike reports whether Plan takes a setting over: it changes neither the candles of a run nor its
// units.
func alike(path []string) bool {
	return len(path) == 2 && (path[0] == "risk" && path[1] != "volatility_interval" ||
		slices.Contains(ofVenue[path[0]], path[1]))
}

// ofVenue are settings of the venue and its fees that are alike.
var ofVenue = map[string][]string{
	"account": {"maker_fee", "taker_fee", "fee_rounding"},
	"backtest": {"path", "limit_fill", "limit_gap", "data_latency", "latency", "half_spread_bps", "slippage_bps",
		"volume_share", "placement_limit", "fill_probability"},
}

// strategies are those of a checked backtest with the parameters among the settings. look is
// called for those that a parameter changes; its error gets the place of the parameter.
func (v *Variants) strategies(p *Backtest, sets []config.Override, look func(*backtest.StrategyPlan) error) (
	[]backtest.StrategyPlan, error) {
	v.list = append(v.list[:0], p.Strategies...)
	v.changed = append(v.changed[:0], make([][]string, len(v.list))...)
	list, changed := v.list, v.changed
	for _, o := range sets {
		name := config.ValueAt(o.Path)
		if name == "" {
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
		list[at].Values[name] = o.Text
	}
	for i := range list {
		if changed[i] == nil {
			continue
		}
		if err := look(&list[i]); err != nil {
			return nil, v.refusal(sets, changed[i][1], list[i].Values, err)
		}
	}
	return list, nil
}

// refusal is an error of a strategy's parameters, with the place of the parameter. Of a set that is
// left out only few read the error: its place is looked up when its text is.
func (v *Variants) refusal(sets []config.Override, section string, values map[string]any, err error) error {
	placed := func() error { return v.with(sets).Place(valueError(section, err, values)) }
	if errors.As(err, new(strategy.InvalidError)) {
		return leftOut{err, placed}
	}
	return placed()
}

// leftOut is the error of parameters that do not go together.
type leftOut struct {
	error
	placed func() error
}

func (l leftOut) Error() string { return l.placed().Error() }
func (l leftOut) Unwrap() error { return l.error }

// DataHash is a hash of the signals, and of the candles that the settings looked at so far read:
// from the first one of their longest warm-up to the end of the range.
func (v *Variants) DataHash() (string, error) {
	lines := map[string]bool{}
	for dataset, p := range v.whole {
		for _, f := range p.Run.Feeds {
			text, err := v.candles.DataHash(f.Market.Name, f.Interval, v.earliest(dataset, p, f), p.Run.To)
			if err != nil {
				return "", err
			}
			lines[fmt.Sprintln(f.Market.Name, f.Interval, text)] = true
		}
		lines[p.advice] = true
	}
	hash := sha256.New()
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprint(hash, line)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Begin is the beginning of the range, or of the first candle in it.
func (p *Backtest) Begin() (from market.Time, err error) {
	from = math.MaxInt64
	for _, f := range p.Run.Feeds {
		part, err := p.span(f.Market.Name, f.Interval)
		if err != nil {
			return 0, err
		}
		from = min(from, part.From)
	}
	return from, nil
}

// StoreFlag is the flag --db of the candle store, with a space before it; empty for the usual one.
func (p *Backtest) StoreFlag() string { return storeFlag(p.Config.Data.Candles) }

// HashUntil is a hash of the candles before to that a run reads from the backtest's store.
func (p *Backtest) HashUntil(run *backtest.Plan, to market.Time) (string, error) {
	hash := sha256.New()
	for _, f := range run.Feeds {
		text, err := p.Candles.DataHash(f.Market.Name, f.Interval, run.ReadFrom(f), to)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, f.Market.Name, f.Interval, text)
	}
	fmt.Fprint(hash, p.advice)
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// End is the end of the last candle that a backtest reads.
func (p *Backtest) End() (end market.Time, err error) {
	for _, f := range p.Run.Feeds {
		part, err := p.span(f.Market.Name, f.Interval)
		if err != nil {
			return 0, err
		}
		end = max(end, part.To)
	}
	return end, nil
}

// Shared is a library that several goroutines may use.
func Shared(lib Library) Library {
	return &shared{Library: lib, asked: map[string]bool{}, hashes: map[SeriesHash]bool{}}
}

// shared lets one call through at a time. Sources that it has opened are read side by side. It
// notes what other machines will need.
type shared struct {
	Library
	mutex  sync.Mutex
	asked  map[string]bool // names of markets
	all    bool            // the list of markets was asked for
	hashes map[SeriesHash]bool
}

// SeriesHash is a hash of the candles of a series in a range.
type SeriesHash struct {
	Market   string          `json:"market"`
	Interval market.Interval `json:"interval"`
	From     market.Time     `json:"from"` // 0: no bound
	To       market.Time     `json:"to"`   // 0: no bound
	Hash     string          `json:"hash"`
}

// Check compares the candles of a library with those of the hash.
func (h *SeriesHash) Check(candles Library) error {
	hash, err := candles.DataHash(h.Market, h.Interval, h.From, h.To)
	if err == nil && hash != h.Hash {
		err = fmt.Errorf("the candles of %s %s are other ones", h.Market, h.Interval)
	}
	return err
}

// Asked lists the questions to a library.
type Asked struct {
	Markets []string       // names, sorted; nil: the list of all markets was asked for
	Hashes  []SeriesHash   // that it gave, sorted
	Store   *candles.Store // behind it; nil: the candles are made up
}

// AskedOf lists the questions, so far, to a library that Shared made.
func AskedOf(lib Library) Asked {
	s := lib.(*shared)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var a Asked
	if stored, is := s.Library.(Stored); is {
		a.Store = stored.Store
	}
	if !s.all {
		a.Markets = slices.Sorted(maps.Keys(s.asked))
	}
	a.Hashes = slices.SortedFunc(maps.Keys(s.hashes), func(a, b SeriesHash) int {
		return cmp.Or(strings.Compare(a.Market, b.Market), cmp.Compare(a.Interval, b.Interval),
			cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return a
}

// ask notes that a market is needed. Until the caller calls done, no other call goes through.
func (s *shared) ask(name string) (done func()) {
	s.mutex.Lock()
	s.asked[name] = true
	return s.mutex.Unlock
}

// Markets notes that all are needed.
func (s *shared) Markets() ([]string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.all = true
	return s.Library.Markets()
}

func (s *shared) Part(name string, interval market.Interval, from, to market.Time) (candles.Part, error) {
	defer s.ask(name)()
	return s.Library.Part(name, interval, from, to)
}

func (s *shared) Span(name string, interval market.Interval) (candles.Range, error) {
	defer s.ask(name)()
	return s.Library.Span(name, interval)
}

func (s *shared) Gaps(name string, interval market.Interval, from, to market.Time) ([]candles.Gap, error) {
	defer s.ask(name)()
	return s.Library.Gaps(name, interval, from, to)
}

func (s *shared) DataHash(name string, interval market.Interval, from, to market.Time) (string, error) {
	defer s.ask(name)()
	hash, err := s.Library.DataHash(name, interval, from, to)
	if err == nil {
		s.hashes[SeriesHash{name, interval, from, to, hash}] = true
	}
	return hash, err
}

func (s *shared) open(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.Library.open(f, from, to)
}
