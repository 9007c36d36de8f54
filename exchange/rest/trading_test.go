package rest

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

func TestTradesOfAWeekendArePagedWithoutAGap(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector: this is one goroutine")
	}
	r := newRig(t, func(c *sandbox.Config, _ *Config) { c.Budget.PerKey, c.Budget.PerIP = -1, -1 })
	bob := r.bob()
	var want []uuid.UUID
	trade := func(times int) {
		for range times {
			bob.send(r.limit(market.Sell, "0.001", "30000"))
			want = append(want, r.send(r.limit(market.Buy, "0.001", "30000")).Fills[0].ID)
			r.clock.Advance(10 * time.Millisecond)
		}
	}
	trade(3)
	r.clock.Advance(60 * time.Hour) // two days and more without any
	trade(2300)                     // more than two pages within a day
	r.clock.Advance(30 * time.Hour)
	trade(2)

	var have []uuid.UUID
	seen := map[uuid.UUID]bool{}
	from := rigStart - 1
	for more := true; more; {
		var trades []exchange.Trade
		var err error
		trades, more, err = r.Trades(t.Context(), r.btc.ID, from)
		require.NoError(t, err)
		require.True(t, !more || trades[len(trades)-1].Time > from, "it goes on")
		for i := 1; i < len(trades); i++ {
			require.NotEqual(t, trades[i-1].ID, trades[i].ID, "where one page ends the next begins")
		}
		for _, one := range trades {
			require.GreaterOrEqual(t, one.Time, from.Millis()*1_000_000)
			from = max(from, one.Time)
			if !seen[one.ID] {
				seen[one.ID], have = true, append(have, one.ID)
			}
		}
	}
	require.Equal(t, want, have)
	_, _, err := r.Trades(t.Context(), r.btc.ID, 0)
	require.ErrorContains(t, err, "no time to begin with")
}

func TestPagesThatDoNotGoOnAreAnError(t *testing.T) {
	r := newRig(t, nil)
	page := []byte(`[`)
	for i := range tradesRows {
		if i > 0 {
			page = append(page, ',')
		}
		page = append(page, `{"id":"00000000-0000-0000-0000-00000000`+string("0123456789abcdef"[i>>12&15])+string(
			"0123456789abcdef"[i>>8&15])+string("0123456789abcdef"[i>>4&15])+string("0123456789abcdef"[i&15])+
			`","side":"buy","timestamp":`+market.FormatFixed(rigStart.Millis()+5000-int64(i), 0)+`}`...)
	}
	r.wire.after = replaced(200, string(append(page, ']')))
	_, _, err := r.Trades(t.Context(), r.btc.ID, rigStart)
	require.ErrorIs(t, err, ErrMismatch)
}

func TestHoldingsAreInTheAssetsUnits(t *testing.T) {
	r := newRig(t, nil)
	r.send(r.limit(market.Buy, "0.5", "30000"))
	held, err := r.Holdings(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []exchange.Holding{{Asset: r.btc.Base, Available: 100_00000000},
		{Asset: r.btc.Quote, Available: 1000000_00 - 15037_50, Orders: 15037_50}}, held)
	r.wire.after = replaced(200,
		`[{"symbol":"GOLD","available":"1","inOrder":"0"},{"symbol":"EUR","available":"0.001","inOrder":"0"}]`)
	_, err = r.Holdings(t.Context())
	require.ErrorIs(t, err, market.ErrInexact)
}

func TestOpenOrdersLeaveOutOtherMarketsOnly(t *testing.T) {
	r := newRig(t, nil)
	placed := r.send(r.limit(market.Buy, "0.5", "29000")).Order
	other := `{"orderId":"a","market":"DOGE-EUR","side":"buy"}`
	r.wire.after = replaced(200, `[`+other+`]`)
	open, err := r.OpenOrders(t.Context())
	require.NoError(t, err)
	require.Empty(t, open)
	r.wire.after = replaced(200,
		`[`+other+`,{"orderId":"`+placed.ExchangeID.String()+`","market":"BTC-EUR","side":"buy","price":"0.001"}]`)
	_, err = r.OpenOrders(t.Context())
	require.ErrorIs(t, err, market.ErrInexact)
}

func TestRulesAreCopiesOfTheCatalogsMarkets(t *testing.T) {
	r := newRig(t, nil)
	rules, err := r.Rules(t.Context())
	require.NoError(t, err)
	require.Equal(t, *r.btc, rules[0])
	rules[0].TickSize = 1
	require.Equal(t, market.Price(50), r.btc.TickSize)

	r.wire.after = replaced(200, `[{"market":"BTC-EUR","status":"cancelOnly","tickSize":"0.001"}]`)
	rules, err = r.Rules(t.Context())
	require.ErrorIs(t, err, exchange.ErrUnits)
	require.ErrorContains(t, err, "BTC-EUR")
	require.Len(t, rules, 1)
	require.Equal(t, "ADA-EUR", rules[0].Name)
	require.Equal(t, market.Delisted, rules[0].Status, "the exchange has it no more")
	r.wire.after = replaced(200, `[{"market":"BTC-EUR","status":"cancelOnly","tickSize":"1.00","quantityDecimals":6}]`)
	rules, err = r.Rules(t.Context())
	require.NoError(t, err)
	require.Equal(t, market.CancelOnly, rules[0].Status)
	require.Equal(t, market.Price(100), rules[0].TickSize)
	require.EqualValues(t, 6, rules[0].QuantityDecimals)
}

func TestTimerThatSaysSomethingElseIsAnError(t *testing.T) {
	r := newRig(t, nil)
	require.NoError(t, r.CancelAfter(t.Context(), 9, time.Minute))
	require.NoError(t, r.CancelAfter(t.Context(), 9, 0))
	for _, body := range []string{`{"codGroupId":8,"timeOfExpirySeconds":1772452860}`,
		`{"codGroupId":9,"timeOfExpirySeconds":0}`, `{"codGroupId":9,"timeOfExpirySeconds":"soon"}`, `{}`} {
		r.wire.before = func(*http.Request) (*http.Response, error) { return answered(200, body), nil }
		err := r.CancelAfter(t.Context(), 9, time.Minute)
		require.Equal(t, exchange.Unknown, exchange.OutcomeOf(err), body)
	}
}

// A cache, or a proxy, gives the answer to another client's request.
func TestAnAnswerAboutAnotherOrderIsNone(t *testing.T) {
	r := newRig(t, nil)
	c := r.limit(market.Buy, "0.5", "29000")
	placed := r.send(c).Order
	other := r.send(r.limit(market.Buy, "0.5", "28000")).Order
	c.Kind, c.Order.ExchangeID = market.CommandCancel, placed.ExchangeID
	r.wire.after = replaced(200,
		`{"orderId":"`+other.ExchangeID.String()+`","clientOrderId":"`+other.ClientOrderID.String()+`","operatorId":77}`)
	_, err := r.Send(t.Context(), r.intent(c))
	require.ErrorIs(t, err, ErrMismatch)
	require.Equal(t, exchange.Unknown, exchange.OutcomeOf(err))
	r.wire.after = replaced(200,
		`{"orderId":"`+placed.ExchangeID.String()+`","clientOrderId":"`+placed.ClientOrderID.String()+`","market":"ADA-EUR","side":"buy","orderType":"limit","status":"new","amount":"1","price":"1"}`)
	_, err = r.Order(t.Context(), r.btc.ID, placed.ClientOrderID, uuid.Nil)
	require.ErrorIs(t, err, ErrMismatch)
	_, err = r.Order(t.Context(), r.btc.ID, uuid.Nil, other.ExchangeID)
	require.ErrorIs(t, err, ErrMismatch)
}
