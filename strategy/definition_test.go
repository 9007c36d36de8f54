package strategy_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// all has a parameter of every type.
type all struct {
	Fast     int             `toml:"fast" default:"20" min:"2" max:"1000" doc:"candles of the fast average"`
	Slow     int64           `toml:"slow" default:"50" min:"3" doc:"candles of the slow average"`
	Factor   float64         `toml:"factor" default:"1.5" max:"10" doc:"a factor"`
	Share    decimal.Decimal `toml:"share" default:"0.99" min:"0.01" max:"1" doc:"a share"`
	Reverse  bool            `toml:"reverse" default:"false" doc:"the other way round"`
	Mode     string          `toml:"mode" default:"calm" oneof:"calm,wild" doc:"a mode"`
	Interval market.Interval `toml:"interval" default:"4h" min:"1m" max:"1d" doc:"a second interval"`
	Every    time.Duration   `toml:"every" default:"90m" min:"1m" doc:"a pause"`
}

func (p all) Validate() error {
	if int64(p.Fast) >= p.Slow {
		return errors.New("fast is not below slow")
	}
	return nil
}

type made struct {
	strategy.Base
	params all
	setup  strategy.Setup
}

func kindOfAll() strategy.Definition {
	needs := func(p all) strategy.Needs {
		return strategy.Needs{Warmup: int(p.Slow), Intervals: strategy.Intervals{p.Interval: 7}}
	}
	build := func(p all, s strategy.Setup) (strategy.Strategy, error) { return &made{params: p, setup: s}, nil }
	return strategy.Define("all", "has every type of parameter", needs, build)
}

func oneMarket() strategy.Setup {
	return strategy.Setup{Markets: []*market.Market{{ID: 3}}, Interval: market.Interval1h}
}

func TestParamsDescribeTheFieldsInTheirOrder(t *testing.T) {
	params := kindOfAll().Params()
	require.Len(t, params, 8)
	require.Equal(t, strategy.Param{Name: "fast", Type: "int", Default: "20", Min: "2", Max: "1000",
		Doc: "candles of the fast average"}, params[0])
	require.Equal(t, strategy.Param{Name: "share", Type: "decimal", Default: "0.99", Min: "0.01", Max: "1",
		Doc: "a share"}, params[3])
	require.Equal(t, strategy.Param{Name: "mode", Type: "text", Default: "calm", OneOf: "calm,wild", Doc: "a mode"},
		params[5])
	require.Equal(t, "interval", params[6].Type)
	require.Equal(t, "1h30m0s", params[7].Default)
}

func TestNewReadsDecodedValuesAndTexts(t *testing.T) {
	want := all{7, 30, 2, decimal.New(25, -2), true, "wild", market.Interval1h, time.Hour}
	decoded := map[string]any{"fast": int64(7), "slow": int64(30), "factor": int64(2), "share": 0.25, "reverse": true,
		"mode": "wild", "interval": "1h", "every": "1h"}
	texts := map[string]any{"fast": "7", "slow": "30", "factor": "2.0", "share": "0.25", "reverse": "true",
		"mode": "wild", "interval": "1h", "every": "60m"}
	for _, values := range []map[string]any{decoded, texts} {
		s, err := kindOfAll().New(values, oneMarket())
		require.NoError(t, err)
		have := s.(*made).params
		require.True(t, want.Share.Equal(have.Share))
		have.Share = want.Share
		require.Equal(t, want, have)
	}
}

func TestNeedsFollowTheValues(t *testing.T) {
	needs, err := kindOfAll().Needs(map[string]any{"slow": int64(200), "interval": "1d"})
	require.NoError(t, err)
	require.Equal(t, strategy.Needs{Warmup: 200, Intervals: strategy.Intervals{market.Interval1d: 7}}, needs)
	require.Equal(t, []strategy.Candles{{market.Interval1h, 200}, {market.Interval1d, 7}}, needs.Of(market.Interval1h))
	require.Equal(t, []strategy.Candles{{market.Interval1d, 200}}, needs.Of(market.Interval1d), "the same candles")
}

func TestResolveTellsEveryValue(t *testing.T) {
	settings, err := kindOfAll().Resolve(map[string]any{"share": 0.5, "every": "36h"})
	require.NoError(t, err)
	require.Equal(t, []strategy.Setting{
		{"fast", "20"}, {"slow", "50"}, {"factor", "1.5"}, {"share", "0.5"}, {"reverse", "false"}, {"mode",
			"calm"}, {"interval", "4h"}, {"every", "36h0m0s"},
	}, settings)
}

func TestWhatIsResolvedReadsBackTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, err := kindOfAll().Resolve(map[string]any{
			"fast": rapid.Int64Range(2, 49).Draw(t, "fast"), "factor": rapid.Float64Range(-1e300, 10).Draw(t, "factor"),
			"share": decimal.New(rapid.Int64Range(1_000_000, 100_000_000).Draw(t, "share"), -8).String(),
			"every": time.Duration(rapid.Int64Range(int64(time.Minute), math.MaxInt64).Draw(t, "every")).String(),
		})
		require.NoError(t, err)
		again := map[string]any{}
		for _, s := range first {
			again[s.Name] = s.Text
		}
		second, err := kindOfAll().Resolve(again)
		require.NoError(t, err)
		require.Equal(t, first, second)
	})
}

func TestWrongValuesAreRefusedByName(t *testing.T) {
	cases := []struct {
		name  string
		value any
		want  string
	}{
		{"fsat", int64(7), `unknown parameter "fsat": the nearest is "fast"`},
		{"intervall", "1h", `unknown parameter "intervall": the nearest is "interval"`},
		{"fast", int64(1), "parameter fast: 1 is out of bounds, want 2 to 1000"},
		{"fast", int64(1001), "parameter fast: 1001 is out of bounds, want 2 to 1000"},
		{"slow", int64(2), "parameter slow: 2 is out of bounds, want at least 3"},
		{"factor", 10.5, "parameter factor: 10.5 is out of bounds, want at most 10"},
		{"fast", 7.0, "parameter fast: 7 is not a whole number"}, // a float is no whole number, even a round one
		{"fast", "7.5", `parameter fast: "7.5" is not a whole number`},
		{"fast", "99999999999999999999", `parameter fast: "99999999999999999999" is not a whole number`},
		{"fast", true, "parameter fast: true is not a whole number"},
		{"factor", math.NaN(), "parameter factor: NaN is not a finite number"},
		{"factor", "-Inf", `parameter factor: "-Inf" is not a finite number`},
		{"factor", int64(1)<<53 + 1, "parameter factor: 9007199254740993 is not a finite number"}, // would be rounded
		{"share", math.NaN(), "parameter share: NaN is not a decimal number such as 0.25"},
		{"share", "1e999999999", `parameter share: "1e999999999" is not a decimal number such as 0.25`},
		{"share", "0.001", "parameter share: 0.001 is out of bounds, want 0.01 to 1"},
		{"reverse", "yes", `parameter reverse: "yes" is not true or false`},
		{"reverse", int64(1), "parameter reverse: 1 is not true or false"},
		{"mode", "mild", `parameter mode: "mild" is not one of calm, wild`},
		{"mode", int64(1), "parameter mode: 1 is not a text"},
		{"interval", "3h", `parameter interval: "3h" is not an interval (1m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 1W 1M)`},
		{"interval", "1W", "parameter interval: 1W is out of bounds, want 1m to 1d"},
		{"every", int64(60), `parameter every: 60 is not a duration such as "90m"`},
		{"every", time.Now(), ""}, // whatever TOML knows besides
		{"fast", int64(60), "fast is not below slow"},
	}
	for _, c := range cases {
		_, err := kindOfAll().New(map[string]any{c.name: c.value}, oneMarket())
		require.ErrorContains(t, err, "strategy all: "+c.want)
		_, needsErr := kindOfAll().Needs(map[string]any{c.name: c.value})
		require.EqualError(t, needsErr, err.Error())
		_, resolveErr := kindOfAll().Resolve(map[string]any{c.name: c.value})
		require.EqualError(t, resolveErr, err.Error())
	}
}

func TestOfTwoUnknownParametersTheFirstByNameIsTold(t *testing.T) {
	_, err := kindOfAll().Needs(map[string]any{"zzz": int64(1), "aaa": int64(1)})
	require.ErrorContains(t, err, `"aaa"`)
}

func TestASetupNeedsAMarketAndAnInterval(t *testing.T) {
	_, err := kindOfAll().New(nil, strategy.Setup{Interval: market.Interval1h})
	require.EqualError(t, err, "strategy all: no market to trade; name at least one")
	_, err = kindOfAll().New(nil, strategy.Setup{Markets: oneMarket().Markets})
	require.EqualError(t, err, "strategy all: no interval; name the candles to trade on")
	require.Equal(t, 4, oneMarket().Slots())
}

func TestTheZeroDefinitionIsAnError(t *testing.T) {
	_, err := strategy.Definition{}.New(nil, oneMarket())
	require.ErrorContains(t, err, "this Definition is zero")
	require.Empty(t, strategy.Definition{}.Params())
}

func TestAKindWithoutParametersNamesNone(t *testing.T) {
	kind := define[struct{}]()
	_, err := kind.Needs(map[string]any{"x": int64(1)})
	require.EqualError(t, err, `strategy bad: unknown parameter "x": it takes none`)
}

func define[P any]() strategy.Definition {
	return strategy.Define("bad", "is wrong", func(P) strategy.Needs { return strategy.Needs{} },
		func(P, strategy.Setup) (strategy.Strategy, error) { return nil, nil })
}

func TestDefinePanicsOnAWrongStruct(t *testing.T) {
	cases := []struct {
		name   string
		define func()
	}{
		{"no struct", func() { define[int]() }},
		{"type", func() {
			define[struct {
				A []int `toml:"a" default:"1" doc:"a"`
			}]()
		}},
		{"no default", func() {
			define[struct {
				A int `toml:"a" doc:"a"`
			}]()
		}},
		{"no doc", func() {
			define[struct {
				A int `toml:"a" default:"1"`
			}]()
		}},
		{"default out of bounds", func() {
			define[struct {
				A int `toml:"a" default:"1" min:"2" doc:"a"`
			}]()
		}},
		{"bound of another type", func() {
			define[struct {
				A int `toml:"a" default:"1" min:"x" doc:"a"`
			}]()
		}},
		{"bounds of a text", func() {
			define[struct {
				A string `toml:"a" default:"1" min:"0" doc:"a"`
			}]()
		}},
		{"one name twice", func() {
			define[struct {
				A int `toml:"a" default:"1" doc:"a"`
				B int `toml:"a" default:"1" doc:"b"`
			}]()
		}},
		{"defaults against Validate", func() { define[refusing]() }},
	}
	for _, c := range cases {
		require.Panics(t, c.define, c.name)
	}
}

type refusing struct{}

func (*refusing) Validate() error { return errors.New("never") }
