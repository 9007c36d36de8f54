package journal_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// One turn of the live loop: the intent of an order is on disk before anything is sent.
func ExampleStore() {
	dir, err := os.MkdirTemp("", "bot")
	check(err)
	defer os.RemoveAll(dir)
	store, err := journal.Open(filepath.Join(dir, "bot.db"))
	check(err)
	defer store.Close()

	catalog := &market.Catalog{}
	_, err = catalog.AddAsset("BTC", 8)
	check(err)
	_, err = catalog.AddAsset("EUR", 2)
	check(err)
	check(catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2}))
	check(store.Bind(catalog, []string{"trend"}))

	run := uuid.MustParse("7c1f6a2e-7a36-4f0c-9d7e-2f6a1f0a5b01")
	order := state.Order{State: state.Sent, InFlight: market.CommandPlace,
		Order: market.Order{ID: 1, ClientOrderID: market.ClientOrderID(run, 1),
			Market: 1, Strategy: 1, Side: market.Buy, Type: market.TypeLimit,
			OrderState: market.OrderState{Price: 50_000_00, Amount: 100_000}}}
	batch := store.NewBatch()
	batch.Journal(1, &journal.Intent{Command: market.Command{Kind: market.CommandPlace, Order: order.Order},
		Method: "POST", Path: "/v2/order"})
	batch.Order(&order)
	check(store.Commit(batch))

	found, err := store.OrderByClientID(order.ClientOrderID)
	check(err)
	story, err := store.Story(found.ID)
	check(err)
	fmt.Println(found.StrategyName, found.State, story[0].Kind)
	// Output: trend sent intent
}

// What enters the engine is recorded beside the journal, which names records by their number.
func ExampleWriter() {
	dir, err := os.MkdirTemp("", "recording")
	check(err)
	defer os.RemoveAll(dir)
	catalog := &market.Catalog{}
	_, err = catalog.AddAsset("BTC", 8)
	check(err)
	_, err = catalog.AddAsset("EUR", 2)
	check(err)
	check(catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2}))

	record, err := recording.Open(dir, recording.Options{Catalog: catalog})
	check(err)
	_, err = record.Append(&market.Event{At: 5, Kind: market.KindTicker,
		Ticker: &market.Ticker{Market: 1, Last: 50_000_00}})
	check(err)
	check(record.Close())

	reader, err := recording.Read(dir, catalog, nil, 0)
	check(err)
	defer reader.Close()
	number, read, err := reader.Next()
	check(err)
	event := read.Input.Event
	fmt.Println(number, event.Kind, catalog.Market(1).FormatPrice(event.Ticker.Last))
	// Output: 1 ticker 50000
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
