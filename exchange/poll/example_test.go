package poll_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// A feed asks through a client; here the exchange is one in process, whose price stands still.
func ExampleFeed() {
	config := sandbox.Default()
	config.Markets = config.Markets[:1]
	config.Markets[0].Source = prices.Fixed("50000")
	ex, err := sandbox.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(ex)
	defer server.Close()
	client, err := rest.New(rest.Config{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	catalog, _, err := client.Catalog(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	client.Use(catalog)

	feed := poll.New(poll.Config{Data: client, Catalog: catalog, Log: zerolog.Nop(), Tickers: []market.ID{1},
		TickerEvery: 10 * time.Millisecond})
	done := make(chan struct{})
	go func() { feed.Run(ctx); close(done) }()
	for ev := range feed.Events() {
		if ev.Kind == market.KindTicker {
			m := catalog.Market(ev.Ticker.Market)
			fmt.Println(m.Name, m.FormatPrice(ev.Ticker.Last))
			break
		}
	}
	cancel()
	<-done
	// Output: BTC-EUR 50000
}
