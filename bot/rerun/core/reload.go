package core

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state/recording"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Reload is a change of limits and parameters of a running core. Prepare makes the new strategies
// beside the core, on any goroutine; Core.Reload lets them take over.
type Reload struct {
	Manifest *Manifest // what the core is made of afterwards
	Until    market.Time
	Parts    map[string][]byte // of the core, as of Until
	History  []market.Candle   // of the warm-ups, closed by then, in the order of their close
	Kinds    []strategy.Definition
	Apart    engine.Apart
	Log      zerolog.Logger

	changed []market.StrategyID
	next    *Core
}

// Changed lists the strategies that have other parameters in another manifest. A manifest that
// differs in more than parameters and limits is an error.
func (m *Manifest) Changed(next *Manifest) (changed []market.StrategyID, err error) {
	if !slices.Equal(m.Names(), next.Names()) || len(m.Markets) != len(next.Markets) || m.Run != next.Run ||
		m.Fees != next.Fees || m.Limits.Currency != next.Limits.Currency {
		return nil, fmt.Errorf("strategies, markets, run, fees or currency differ: that needs a restart")
	}
	for i := range m.Strategies {
		then, now := &m.Strategies[i], &next.Strategies[i]
		if then.Kind != now.Kind || then.Own != now.Own || then.Interval != now.Interval ||
			!slices.Equal(then.Markets, now.Markets) {
			return nil, fmt.Errorf("strategy %s: kind, allocation, interval or markets differ: that needs a restart",
				now.Name)
		}
		if !maps.Equal(then.Values, now.Values) {
			changed = append(changed, market.StrategyID(i+1))
		}
	}
	return changed, nil
}

// With is the manifest of the same engine with the parameters and limits of other plans of its
// strategies.
func (m *Manifest) With(strategies []backtest.StrategyPlan, limits risk.AccountLimits) (*Manifest, error) {
	next := *m
	next.Limits, next.Strategies = limits, slices.Clone(m.Strategies)
	for i := range strategies {
		s, facts := &strategies[i], &next.Strategies[i]
		settings, err := s.Kind.Resolve(s.Values)
		if err != nil {
			return nil, fmt.Errorf("strategy %s: %w", s.Name, err)
		}
		facts.Limits, facts.Values = s.Limits, make(map[string]string, len(settings))
		for _, setting := range settings {
			facts.Values[setting.Name] = setting.Text
		}
	}
	return &next, nil
}

// Prepare makes the strategies that have other parameters than those of a core made of from, and
// warms them up. The error names a strategy that cannot be made, or that fails in its warm-up.
func (r *Reload) Prepare(from *Manifest) (err error) {
	if r.changed, err = from.Changed(r.Manifest); err != nil {
		return err
	}
	made, err := r.Manifest.Core(r.Kinds)
	if err != nil {
		return err
	}
	made.Apart, made.Log = r.Apart, r.Log
	if r.next, err = New(made); err != nil || len(r.changed) == 0 {
		return err
	}
	r.next.Engine.See(r.History, r.Until)
	return r.next.Engine.Prepare(r.Until, r.Parts, closes(r.History), r.changed)
}

// CatchUp shows the prepared strategies the candles that the core has had since.
func (r *Reload) CatchUp(later []market.Candle) error {
	if len(r.changed) == 0 {
		return nil
	}
	return r.next.Engine.CatchUp(closes(later))
}

// Prepared is the engine whose strategies take over, and which of them do.
func (r *Reload) Prepared() (next *engine.Engine, changed []market.StrategyID) {
	return r.next.Engine, r.changed
}

// Strategies are the names of the strategies with other parameters, after Prepare.
func (r *Reload) Strategies() (names []string) {
	for _, id := range r.changed {
		names = append(names, r.Manifest.Strategies[id-1].Name)
	}
	return names
}

// Reload lets prepared strategies and limits take over, after they have seen the candles that the
// core has had since. An error leaves the core as it was. The commands are valid until the next
// input.
func (k *Core) Reload(at market.Time, r *Reload, later []market.Candle) ([]market.Command, error) {
	if err := r.CatchUp(later); err != nil {
		return nil, err
	}
	return k.Engine.TakeOver(at, r.next.Engine, r.changed)
}

// Record is a reload as the recording keeps it. It is written before Core.Reload: one that fails
// there fails in a replay too.
func (r *Reload) Record(at market.Time, later []market.Candle) (*recording.Record, error) {
	text, err := r.Manifest.Encode()
	return &recording.Record{Kind: recording.KindReload, At: at, Manifest: text, Parts: r.Parts, Until: r.Until,
		Candles: slices.Concat(r.History, later), Size: len(r.History)}, err
}

// ReloadOf is the reload of a record, with its later candles.
func ReloadOf(rec *recording.Record, m *Manifest) (r *Reload, later []market.Candle) {
	return &Reload{Manifest: m, Until: rec.Until, Parts: rec.Parts, History: rec.Candles[:rec.Size]},
		rec.Candles[rec.Size:]
}

// closes yields candles in the groups in which they closed.
func closes(candles []market.Candle) iter.Seq2[[]market.Candle, error] {
	return func(yield func([]market.Candle, error) bool) {
		for group := range market.ByClose(candles) {
			if !yield(group, nil) {
				return
			}
		}
	}
}
