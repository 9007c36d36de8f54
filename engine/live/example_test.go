package live_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// eager buys with the first ticker.
type eager struct {
	strategy.Base
	bought bool
}

func (s *eager) OnTicker(d *strategy.Desk, t market.Ticker) {
	if !s.bought {
		_, err := d.In(t.Market).Buy(strategy.Amount(1_000_000))
		s.bought = err == nil
	}
}

// forgetful is Journal and Findings; it keeps nothing and prints what it is told. A bot's writes to
// its state file.
type forgetful struct{}

func (forgetful) Event(*market.Event)                               {}
func (forgetful) Discrepancy(market.Time, *state.Discrepancy)       {}
func (forgetful) Breached(market.Time, *live.Breach, []live.Breach) {}
func (forgetful) ChangedByOthers(map[market.OrderID]string)         {}
func (forgetful) Checkpoint(market.AssetID, live.BalanceCheckpoint) {}
func (forgetful) Sent(market.Time, *exchange.Intent)                {}
func (forgetful) Intent(i *exchange.Intent)                         { fmt.Println("intent:", i.Method, i.Path) }
func (forgetful) Outcome(_ market.Time, _ *exchange.Intent, e error) {
	fmt.Println("outcome:", exchange.OutcomeOf(e))
}
func (forgetful) Note(_ market.Time, kind, text string) { fmt.Println(kind, text) }
func (forgetful) Commit(market.Time) error              { return nil }

// until ends the example with the first fill.
type until struct{ end func() }

func (u until) Filled(_ *state.Order, f *market.Fill) {
	fmt.Println("filled:", f.Side, f.Amount)
	u.end()
}
func (until) Closed(*state.Order) {}

// ExampleLoop trades on an exchange in process: catalog and clock come from it, the ticker is made
// up.
func ExampleLoop() {
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
	key := config.Accounts[0].Keys[0]
	client, err := rest.New(rest.Config{BaseURL: server.URL, Key: rest.NewSecret(key.Key),
		Secret: rest.NewSecret(key.Secret)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
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

	account := state.NewAccount(catalog, 1, nil)
	e := engine.New(engine.Config{Catalog: catalog, Account: account,
		Gate: risk.New(catalog, risk.Config{Strategies: []risk.Limits{{OperatorID: 1}}}), Run: uuid.New(),
		Observer: until{cancel}, Slots: []engine.StrategyConfig{
			{Name: "eager", Strategy: &eager{}, Markets: []market.ID{1}, Ticker: true, Log: zerolog.Nop()},
		}})
	events := make(chan market.Event, 2)
	now := client.Now()
	events <- market.Event{Kind: market.KindTransfer, At: now, Asset: catalog.MarketNamed("BTC-EUR").Quote,
		Money: 1000_00}
	events <- market.Event{Kind: market.KindTicker, At: now,
		Ticker: &market.Ticker{Market: 1, Last: 50_000_00, Bid: 49_999_00, Ask: 50_001_00}}
	loop := live.New(live.Config{Engine: e, Account: account, Trading: client, Journal: forgetful{},
		ReconcileLog: forgetful{}, Events: events, Log: zerolog.Nop()})
	fmt.Println("ended:", loop.Run(ctx))
	// Output:
	// intent: POST /v2/order
	// outcome: accepted
	// filled: buy 1000000
	// ended: <nil>
}
