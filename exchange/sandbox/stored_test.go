package sandbox

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestAStateFileKeepsTheRulesUnderTheirNames(t *testing.T) {
	text, err := json.Marshal(rules{market.Halted, market.Rules{TickSize: 1, QuantityDecimals: 2, MaxOrderInQuote: 3,
		FeeCategory: "A"}})
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
	stored, m := storedMarket{Configured: rules{Status: market.Trading},
		Rules: rules{Status: market.Halted}}, market.Market{Rules: someRules}
	stored.overrule(&m)
	require.Equal(t, market.Market{Status: market.Halted, Rules: someRules}, m)
}

// Files of older programs have an order's fields under the names that they have in Go.
func TestAnOrderOfAnOlderStateFileIsRead(t *testing.T) {
	id, client := uuid.MustParse("00000000-0000-0001-0100-000000000008"),
		uuid.MustParse("00000000-0000-4000-8000-00000000abcd")
	want := market.Order{
		ID: 1, ExchangeID: id, ClientOrderID: client, OperatorID: 2, Market: 3, Strategy: 4, CodGroupID: 5,
		Side: market.Sell, Type: market.TypeStopLossLimit, TriggerType: market.TriggerPrice,
		TriggerReference: market.BestBid,
		Visible:          true, FeeCurrency: 6, OnHoldCurrency: 7,
		OrderState: market.OrderState{
			Status: market.StatusPartiallyFilled, TimeInForce: market.IOC, SelfTradePrevention: market.CancelOldest,
			RestatementReason: market.CancelOnDelisting, PostOnly: true, Triggered: true, Price: 8, TriggerAmount: 9,
			Amount:          10,
			AmountRemaining: 11, AmountQuote: 12, AmountQuoteRemaining: 13, OnHold: 14, FilledAmount: 15,
			FilledAmountQuote: market.ValueOf(16), FeePaid: market.ValueOf(17), Updated: 19,
		},
		Created: 18, Bracket: market.Bracket{Stop: 20, Target: 21, Keep: market.KeepTarget}, Tag: "word",
	}
	text := `{"Account":1,"Order":{"ID":1,"ExchangeID":"00000000-0000-0001-0100-000000000008",` +
		`"ClientOrderID":"00000000-0000-4000-8000-00000000abcd","OperatorID":2,"Market":3,"Strategy":4,"CodGroupID":5,"Side":"sell",` +
		`"Type":"stopLossLimit","Status":"partiallyFilled","TimeInForce":"IOC","SelfTradePrevention":"cancelOldest",` +
		`"TriggerType":"price","TriggerReference":"bestBid","RestatementReason":"cancelOnDelisting","PostOnly":true,"Visible":true,` +
		`"Triggered":true,"FeeCurrency":6,"OnHoldCurrency":7,"Price":8,"TriggerAmount":9,"Amount":10,"AmountRemaining":11,` +
		`"AmountQuote":12,"AmountQuoteRemaining":13,"OnHold":14,"FilledAmount":15,"FilledAmountQuote":%s,"FeePaid":%s,` +
		`"Created":18,"Updated":19,"Bracket":{"Stop":20,"Target":21,"Keep":1},"Tag":"word"}}`
	filled, err := json.Marshal(want.FilledAmountQuote)
	require.NoError(t, err)
	paid, err := json.Marshal(want.FeePaid)
	require.NoError(t, err)
	var stored storedRecord
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, text, filled, paid), &stored))
	require.Equal(t, want, stored.Order)
}

// someRules have something in every field.
var someRules = market.Rules{TickSize: 1, QuantityDecimals: 2, NotionalDecimals: 3, MinOrderInBase: 4,
	MinOrderInQuote: 5,
	MaxOrderInBase:  6, MaxOrderInQuote: 7, MaxOpenOrders: 8, FeeCategory: "B"}
