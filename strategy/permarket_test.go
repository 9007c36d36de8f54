package strategy_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// known is what a strategy knows of a market: a saved part, and one that candles make again.
type known struct {
	Top    market.Price `json:"top"`
	closes int
}

func (k *known) Loaded() error {
	if k.Top < 0 {
		return errors.New("a top below zero")
	}
	return nil
}

type climber struct {
	strategy.Base
	strategy.PerMarket[known]
}

func TestAnEmbeddedPerMarketSavesItsExportedFields(t *testing.T) {
	var b strategytest.Bench
	first, second := b.Market("BTC-EUR", 2, 4, 1000_00), b.Market("ETH-EUR", 2, 4, 0)
	fresh := func() *climber {
		return &climber{PerMarket: strategy.Each(b.Setup(market.Interval1h),
			func(market.Market) known { return known{closes: 7} })}
	}
	old := fresh()
	old.In(first.ID).Top, old.In(second.ID).Top, old.In(second.ID).closes = 101_25, 3, 9
	data, err := old.Save()
	require.NoError(t, err)
	require.JSONEq(t, `{"version":1,"state":{"BTC-EUR":{"top":10125},"ETH-EUR":{"top":3}}}`, string(data))
	again := fresh()
	require.NoError(t, b.Restart(old, again, nil))
	require.Equal(t, known{Top: 101_25, closes: 7}, *again.In(first.ID))
	require.Equal(t, known{Top: 3, closes: 7}, *again.In(second.ID))

	for text, want := range map[string]string{
		`{"version":1,"state":{"ADA-EUR":{"top":1}}}`:  "market ADA-EUR was traded and is not any more",
		`{"version":1,"state":{"BTC-EUR":{"low":1}}}`:  `market BTC-EUR: json: unknown field "low"`,
		`{"version":1,"state":{"BTC-EUR":{"top":-1}}}`: "market BTC-EUR: a top below zero",
		`{"version":2,"state":{}}`:                     "saved in version 2",
	} {
		require.ErrorContains(t, fresh().Load([]byte(text)), want)
	}
}

// forgetful keeps a PerMarket that nothing saves.
type forgetful struct {
	strategy.Base
	tops strategy.PerMarket[known]
}

func TestAPerMarketThatNothingSavesIsAnError(t *testing.T) {
	var b strategytest.Bench
	b.Market("BTC-EUR", 2, 4, 1000_00)
	d := strategy.Define("forgetful", "", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
			return &forgetful{tops: strategy.Each(s, func(market.Market) known { return known{} })}, nil
		})
	_, err := d.New(nil, b.Setup(market.Interval1h))
	require.ErrorContains(t, err, "nothing saves the exported fields of tops; embed that PerMarket")
}

// priced has constants as texts and parameters with units.
type priced struct {
	Gap   market.Rate    `toml:"gap" default:"25" unit:"bps" min:"1" max:"100" doc:"a distance"`
	Size  strategy.Size  `toml:"size" default:"25" unit:"quote" doc:"an amount"`
	Level strategy.Price `toml:"level" default:"20000" min:"0.01" doc:"a price"`
}

type nothing struct{ strategy.Base }

func constants(text string) strategy.Definition {
	return strategy.Define("priced", "", func(priced) strategy.Needs { return strategy.Needs{} },
		func(p priced, s strategy.Setup) (strategy.Strategy, error) {
			s.Size(text)
			return &nothing{}, nil
		})
}

func TestConstantsAndParametersAreExactInEveryMarketOrRefused(t *testing.T) {
	var b strategytest.Bench
	b.Market("BTC-EUR", 2, 4, 1000_00)
	setup := b.Setup(market.Interval1h)
	d := constants("0.01 base")
	_, err := d.New(nil, setup)
	require.NoError(t, err)
	settings, err := d.Resolve(map[string]any{"gap": "0.5%", "size": "20% equity", "level": 19_999.99})
	require.NoError(t, err)
	require.Equal(t, []strategy.Setting{{"gap", "50"}, {"size", "20% equity"}, {"level", "19999.99"}}, settings)
	settings, err = d.Resolve(map[string]any{"gap": int64(30), "size": 12.5})
	require.NoError(t, err)
	require.Equal(t, []strategy.Setting{{"gap", "30"}, {"size", "12.5"}, {"level", "20000"}}, settings)

	_, err = d.New(map[string]any{"level": "0.001"}, setup)
	require.ErrorContains(t, err, "parameter level: 0.001 is out of bounds")
	_, err = d.New(map[string]any{"level": "20000.125"}, setup)
	require.ErrorContains(t, err, "parameter level: 20000.125 in BTC-EUR, which has 2 decimals")
	_, err = d.New(map[string]any{"size": "0.001"}, setup)
	require.ErrorContains(t, err, "parameter size: 0.001 quote in BTC-EUR")
	_, err = d.New(map[string]any{"size": "much"}, setup)
	require.ErrorContains(t, err, `parameter size: "much" is not a size such as`)
	_, err = d.New(map[string]any{"gap": "2%"}, setup)
	require.ErrorContains(t, err, "parameter gap: 200 is out of bounds, want 1 to 100")
	_, err = constants("0.00001 base").New(nil, setup)
	require.ErrorContains(t, err, "strategy priced: 0.00001 base in BTC-EUR, which has 4 decimals")
	_, err = constants("0 base").New(nil, setup)
	require.ErrorContains(t, err, "a size is more than zero")
}
