package stream

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// An order meets one of its own account, and a stop is triggered: the client tells of both as the
// exchange does, with the execution's kind, the status, the reason and what is left.
func TestRestatedAndTriggeredAreHeardAsTheExchangeTellsThem(t *testing.T) {
	config := sandbox.Default()
	config.Clock, config.History = sandbox.ManualClock(market.Time(1772452801*time.Second)), 0
	config.Markets[0].Source = nil
	ex, err := sandbox.New(config)
	require.NoError(t, err)
	server := httptest.NewServer(ex)
	t.Cleanup(func() {
		require.NoError(t, ex.Close())
		server.Close()
	})
	key, secret := rest.NewSecret(config.Accounts[0].Keys[0].Key), rest.NewSecret(config.Accounts[0].Keys[0].Secret)
	client, err := rest.New(rest.Config{BaseURL: server.URL, Key: key, Secret: secret,
		Now: func() time.Time { return config.Clock.Now().Std() }})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	catalog, _, err := client.Catalog(t.Context())
	require.NoError(t, err)
	client.Use(catalog)
	on, err := New(Config{BaseURL: server.URL, Key: key, Secret: secret, Now: config.Clock.Now, Log: zerolog.Nop()})
	require.NoError(t, err)
	notices := NewNotices(on, catalog, config.Clock.Now, zerolog.Nop())
	(&rig{t: t, on: on}).run()
	go notices.Run(t.Context())
	require.Equal(t, exchange.NoticeUp, (<-notices.C()).Kind)

	m := catalog.MarketNamed("BTC-EUR")
	whole, euros := market.Qty(market.Pow10(m.AmountDigits))/100, market.Price(market.Pow10(m.PriceDigits))
	number := market.OrderID(0)
	place := func(side market.Side, kind market.OrderType, amount market.Qty, price, trigger market.Price) {
		number++
		o := market.Order{ID: number, ClientOrderID: market.ClientOrderID(uuid.UUID{9}, number), OperatorID: 7,
			Market: m.ID, Side: side, Type: kind, OrderState: market.OrderState{Amount: amount, Price: price,
				TriggerAmount: trigger, TimeInForce: market.GTC, SelfTradePrevention: market.DecrementAndCancel}}
		if trigger != 0 {
			o.TriggerType, o.TriggerReference = market.TriggerPrice, market.BestBid
		}
		intent, err := client.Prepare(&market.Command{Kind: market.CommandPlace, Order: o})
		require.NoError(t, err)
		_, err = client.Send(t.Context(), &intent)
		require.NoError(t, err)
	}
	type told struct {
		exec      market.ExecutionType
		status    market.Status
		reason    market.RestatementReason
		left      market.Qty
		triggered bool
	}
	hears := func(want ...told) {
		t.Helper()
		for _, one := range want {
			n := <-notices.C()
			require.Equal(t, exchange.NoticeOrder, n.Kind)
			o := &n.Order
			require.Equal(t, one,
				told{n.Exec, o.Status, o.RestatementReason, o.AmountRemaining, o.Triggered})
		}
	}
	place(market.Buy, market.TypeLimit, 3*whole, 90_000*euros, 0)
	hears(told{market.ExecNew, market.StatusNew, 0, 3 * whole, false})
	place(market.Sell, market.TypeLimit, whole, 90_000*euros, 0)
	hears(told{market.ExecNew, market.StatusNew, 0, whole, false},
		told{market.ExecRestated, market.StatusNew, market.DecrementOnSelfTradePrevention, 2 * whole, false},
		told{market.ExecCanceled, market.StatusCanceled, market.CancelOnSelfTradePrevention, whole, false})
	place(market.Sell, market.TypeStopLossLimit, whole, 95_000*euros, 89_000*euros)
	hears(told{market.ExecNew, market.StatusAwaitingTrigger, 0, whole, false})
	place(market.Sell, market.TypeStopLossLimit, whole, 96_000*euros, 91_000*euros)
	hears(told{market.ExecNew, market.StatusNew, 0, whole, true},
		told{market.ExecTriggered, market.StatusNew, 0, whole, true})
}
