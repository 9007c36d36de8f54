package sandbox

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestAStateFileKeepsTheRulesUnderTheirNames(t *testing.T) {
	text, err := json.Marshal(rules{market.Halted, market.Rules{TickSize: 1, QuantityDecimals: 2, MaxOrderInQuote: 3, FeeCategory: "A"}})
	require.NoError(t, err)
	require.Equal(t, `{"Status":"halted","TickSize":1,"QuantityDecimals":2,"NotionalDecimals":0,"MinOrderInBase":0,"MinOrderInQuote":0,`+
		`"MaxOrderInBase":0,"MaxOrderInQuote":3,"MaxOpenOrders":0,"FeeCategory":"A"}`, string(text))
}

func TestOnlyRulesThatWereChangedOverruleTheConfig(t *testing.T) {
	for i := range reflect.TypeFor[market.Rules]().NumField() {
		name := reflect.TypeFor[market.Rules]().Field(i).Name
		stored := storedMarket{}
		is := reflect.ValueOf(&stored.Rules.Rules).Elem().Field(i)
		is.Set(reflect.ValueOf(someRules).Field(i))
		m := market.Market{Status: market.Trading}
		stored.overrule(&m)
		require.Equal(t, is.Interface(), reflect.ValueOf(m.Rules).Field(i).Interface(), name)
		require.Equal(t, market.Trading, m.Status, "%s: the status was not changed", name)
		stored.Configured.Rules, m.Rules = stored.Rules.Rules, market.Rules{}
		stored.overrule(&m)
		require.Zero(t, m.Rules, "%s: the config's rule counts where the file's was never changed", name)
	}
	stored, m := storedMarket{Configured: rules{Status: market.Trading}, Rules: rules{Status: market.Halted}}, market.Market{Rules: someRules}
	stored.overrule(&m)
	require.Equal(t, market.Market{Status: market.Halted, Rules: someRules}, m)
}

// someRules have something in every field.
var someRules = market.Rules{TickSize: 1, QuantityDecimals: 2, NotionalDecimals: 3, MinOrderInBase: 4, MinOrderInQuote: 5,
	MaxOrderInBase: 6, MaxOrderInQuote: 7, MaxOpenOrders: 8, FeeCategory: "B"}
