package rest_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// An order is prepared, written to a journal that outlives a crash, and sent once.
func ExampleClient_Send() {
	config := sandbox.Default()
	ex, _ := sandbox.New(config)
	server := httptest.NewServer(ex)
	defer server.Close()
	key := config.Accounts[0].Keys[0]
	client, err := rest.New(rest.Config{BaseURL: server.URL, Key: rest.NewSecret(key.Key),
		Secret: rest.NewSecret(key.Secret)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	ctx := context.Background()
	if err := client.Sync(ctx); err != nil {
		fmt.Println(err)
		return
	}
	catalog, _, err := client.Catalog(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	client.Use(catalog)
	m := catalog.MarketNamed("BTC-EUR")
	amount, _ := m.ParseQty("0.01")
	price, _ := m.ParsePrice("1000")
	intent, err := client.Prepare(&market.Command{Kind: market.CommandPlace,
		Order: market.Order{ID: 1, ClientOrderID: market.ClientOrderID(uuid.New(), 1), OperatorID: 1,
			Market: m.ID, Side: market.Buy, Type: market.TypeLimit, OrderState: market.OrderState{Amount: amount,
				Price: price, TimeInForce: market.GTC, SelfTradePrevention: market.CancelNewest}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(intent.Method, intent.Path, intent.Window)
	record, err := client.Send(ctx, &intent)
	fmt.Println(record.Order.Status, exchange.OutcomeOf(err))
	// Output:
	// POST /v2/order 10000
	// new accepted
}

// Keys do not travel in clear.
func ExampleNew() {
	_, err := rest.New(rest.Config{BaseURL: "http://api.example.com"})
	fmt.Println(err)
	// Output:
	// rest: http://api.example.com would send keys and orders in clear: use https://api.example.com, or a loopback address for an exchange on this machine
}

// A secret does not show.
func ExampleSecret() {
	fmt.Println(rest.Config{BaseURL: "https://api.example.com", Secret: rest.NewSecret("hush"),
		Window: time.Second}.Secret)
	// Output:
	// [redacted]
}
