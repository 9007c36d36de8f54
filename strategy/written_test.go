package strategy_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// texts are the rules of a written strategy.
type texts struct {
	Entry string        `toml:"rules.entry" default:"" doc:"when to buy"`
	Size  strategy.Size `toml:"rules.size" default:"95% cash" doc:"how much"`
	After int           `toml:"rules.after" default:"0" min:"0" doc:"candles"`
}

// wrote is a written strategy as it was made.
type wrote struct {
	strategy.Base
	rules texts
	own   strategy.Own
}

// read is a written strategy as it was read.
type read struct {
	rules texts
	own   strategy.Own
}

func writtenKind(reads ...*int) strategy.Definition {
	compile := func(r texts, own strategy.Own) (*read, error) {
		for _, n := range reads {
			*n++
		}
		if r.Entry == "" {
			return nil, &strategy.ValueError{Name: "rules.entry", Err: errors.New("is missing")}
		}
		return &read{r, own}, nil
	}
	needs := func(r *read) strategy.Needs { return strategy.Needs{Warmup: len(r.own.Numbers)} }
	build := func(r *read, _ strategy.Setup) (strategy.Strategy, error) {
		return &wrote{rules: r.rules, own: r.own}, nil
	}
	words := func() []strategy.Word { return []strategy.Word{{Use: "close", Doc: "the close", Example: "close > 1"}} }
	return strategy.DefineWritten("written", "stands in a config", map[string]any{"rules.entry": "close > 1"}, words,
		compile, needs, build)
}

// Needs, settings and strategy of the same values are made of one reading; other values are read.
func TestAWrittenStrategyIsReadOnceForTheSameValues(t *testing.T) {
	reads := 0
	kind := writtenKind(&reads)
	for i := range 200 {
		values := map[string]any{"rules.entry": "close > low", "low": int64(i)}
		for range 2 {
			_, err := kind.Needs(values)
			require.NoError(t, err)
			_, err = kind.Resolve(values)
			require.NoError(t, err)
			made, err := kind.New(values, oneMarket())
			require.NoError(t, err)
			require.Equal(t, float64(i), made.(*wrote).own.Numbers["low"])
		}
		require.Equal(t, i+1, reads)
	}
	for range 2 { // an error is found each time
		_, err := kind.Needs(map[string]any{"low": int64(1)})
		require.ErrorContains(t, err, "is missing")
	}
	require.Equal(t, 202, reads)
}

func TestAWrittenStrategyTakesNamesOfItsAuthor(t *testing.T) {
	values := map[string]any{"rules.entry": "close > low", "low": int64(30), "high": "70.5", "rules.let.b": "2",
		"rules.let.a": "close", "rules.after": "4"}
	made, err := writtenKind().New(values, oneMarket())
	require.NoError(t, err)
	require.Equal(t, strategy.Own{Numbers: map[string]float64{"low": 30, "high": 70.5},
		Let: []strategy.Setting{{"a", "close"}, {"b", "2"}}}, made.(*wrote).own)
	require.Equal(t, 4, made.(*wrote).rules.After)
	needs, err := writtenKind().Needs(values)
	require.NoError(t, err)
	require.Equal(t, 2, needs.Warmup)
	settings, err := writtenKind().Resolve(values)
	require.NoError(t, err)
	require.Equal(t, []strategy.Setting{{"rules.entry", "close > low"}, {"rules.size", "95% cash"},
		{"rules.after", "4"},
		{"high", "70.5"}, {"low", "30"}, {"rules.let.a", "close"}, {"rules.let.b", "2"}}, settings)
}

func TestAWrittenStrategyWithoutValuesIsItsExample(t *testing.T) {
	made, err := writtenKind().New(nil, oneMarket())
	require.NoError(t, err)
	require.Equal(t, "close > 1", made.(*wrote).rules.Entry)
	settings, err := writtenKind().Resolve(nil)
	require.NoError(t, err)
	require.Equal(t, []strategy.Setting{{"rules.entry", "close > 1"}, {"rules.size", "95% cash"}}, settings,
		"a rule that is not written is no setting")
	require.True(t, writtenKind().Written())
	require.False(t, kindOfAll().Written())
	require.Len(t, writtenKind().Words(), 1)
	require.Empty(t, kindOfAll().Words())
}

func TestMistakesInAWrittenStrategyAreNamed(t *testing.T) {
	for _, c := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{"low": 1.5}, "strategy written: rules.entry: is missing"},
		{map[string]any{"rules.entyr": "x"}, `strategy written: rules.entyr: unknown rule "entyr"; the nearest is "entry"`},
		{map[string]any{"rules.entry": "x", "low": "thirty"},
			`strategy written: parameter low: "thirty" is not a finite number`},
		{map[string]any{"rules.let": 1.5},
			"strategy written: rules.let: is a table of texts with names: let.NAME = 'text'"},
		{map[string]any{"rules.entry": 1.5}, "strategy written: parameter rules.entry: 1.5 is not a text"},
		{map[string]any{"rules.entry": "x", "rules.let.a": int64(1)},
			"strategy written: parameter rules.let.a: 1 is not a text"},
	} {
		_, err := writtenKind().New(c.values, oneMarket())
		require.EqualError(t, err, c.want)
		_, err = writtenKind().Resolve(c.values)
		require.EqualError(t, err, c.want)
	}
	_, err := kindOfAll().Needs(map[string]any{"rules.entry": "x"})
	require.EqualError(t, err,
		`strategy all: rules.entry: "entry" is a rule, and this kind takes none; rules are for kind = "rules"`)
	var within *strategy.ValueError
	require.ErrorAs(t, err, &within)
	_, err = writtenKind().New(map[string]any{"rules.entry": "x", "rules.size": "0.001 base"},
		strategy.Setup{Markets: []*market.Market{{ID: 1, Name: "BTC-EUR"}}, Interval: market.Interval1h})
	require.ErrorContains(t, err, "parameter rules.size: 0.001 base in BTC-EUR, which has 0 decimals")
}
