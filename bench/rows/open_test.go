package rows

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// answers is the row of a live bot's orders that leave at once.
func (g *growth) answers() {
	g.grows("live: orders that wait, leave and are answered; an order", 1250/g.scale, func(n int) func() {
		return func() { newHall(g.b, n).trade(0) }
	})
}

// opens compares a live bot with many open orders with one with few.
func (g *growth) opens() {
	const tickers = 2000
	few, many := newHall(g.b, 50), newHall(g.b, 10_000/g.scale)
	g.least(func() { few.trade(tickers) }, func() { many.trade(tickers) })
	g.compare(fmt.Sprintf("live: a ticker, %d orders open", many.orders), "50 open",
		float64(few.took)/tickers, float64(many.took)/tickers, "ns", 2)
}

// hall is an exchange in memory that takes every order and fills none, at a clock that stands: no
// order is asked for. Its strategy places all orders at the first ticker.
type hall struct {
	exchange.Trading
	strategy.Base
	b        *testing.B
	orders   int
	placed   int
	answered int
	lock     sync.Mutex // of terms
	terms    map[uuid.UUID]market.Order
	done     chan struct{} // all orders are answered
	took     time.Duration // the least CPU time of the tickers
}

func newHall(b *testing.B, orders int) *hall { return &hall{b: b, orders: orders} }

// trade runs a bot until its orders are answered, and then tells it so many tickers.
func (h *hall) trade(tickers int) {
	h.placed, h.answered, h.terms, h.done = 0, 0, map[uuid.UUID]market.Order{}, make(chan struct{})
	var catalog market.Catalog
	_, err := catalog.AddAsset("BTC", 8)
	require.NoError(h.b, err)
	eur, err := catalog.AddAsset("EUR", 2)
	require.NoError(h.b, err)
	m := bitcoin()
	require.NoError(h.b, catalog.AddMarket(m))
	account := state.NewAccount(&catalog, 1, nil)
	gate := risk.New(&catalog, risk.Config{Strategies: []risk.Limits{{OperatorID: 1}}})
	e := engine.New(engine.Config{Catalog: &catalog, Account: account, Gate: gate, Run: uuid.UUID{1},
		Slots: []engine.StrategyConfig{{Strategy: h, Markets: []market.ID{m.ID}, Ticker: true, Log: zerolog.Nop()}}})
	e.Step(&market.Event{At: h.Now(), Kind: market.KindTransfer, Asset: eur.ID, Money: million * million})
	events := make(chan market.Event)
	loop := live.New(live.Config{Engine: e, Account: account, Trading: h, Journal: h, ReconcileLog: blank{},
		Events: events, Log: zerolog.Nop(), StopConfig: live.StopConfig{KeepOrders: true}})
	ctx, cancel := context.WithCancel(h.b.Context())
	ended := make(chan error, 1)
	go func() { ended <- loop.Run(ctx) }()
	tick := func() {
		ticker := &market.Ticker{Market: m.ID, Last: 30000_00}
		events <- market.Event{At: h.Now(), Kind: market.KindTicker, Ticker: ticker}
	}
	tick()
	<-h.done
	began := cpuTime(h.b, syscall.RUSAGE_SELF)
	for range tickers {
		tick()
	}
	if took := cpuTime(h.b, syscall.RUSAGE_SELF) - began; h.took == 0 || took < h.took {
		h.took = took
	}
	cancel()
	require.NoError(h.b, <-ended)
	require.Equal(h.b, h.orders, account.OpenBy(1))
}

// OnTicker places what is not placed yet.
func (h *hall) OnTicker(d *strategy.Desk, t market.Ticker) {
	for i := range h.orders - h.placed {
		h.placed++
		if _, err := d.In(t.Market).Buy(strategy.Amount(1_000_000), strategy.At(t.Last/2+market.Price(i))); err != nil {
			h.b.Error(err)
		}
	}
}

// Now is a clock that stands.
func (h *hall) Now() market.Time { return benchStart }

// Prepare keeps the order.
func (h *hall) Prepare(c *market.Command) (exchange.Intent, error) {
	h.lock.Lock()
	h.terms[c.Order.ClientOrderID] = c.Order
	h.lock.Unlock()
	return exchange.Intent{Command: c.Kind, Order: c.Order.ID, Market: c.Order.Market,
		ClientOrderID: c.Order.ClientOrderID, Timestamp: benchStart.Millis(), Window: 10_000}, nil
}

// Send takes an order.
func (h *hall) Send(_ context.Context, i *exchange.Intent) (exchange.WireOrder, error) {
	return h.Order(nil, 0, i.ClientOrderID, uuid.Nil)
}

// Order is an order as the exchange has it: open, and nothing of it filled.
func (h *hall) Order(_ context.Context, _ market.ID, client, _ uuid.UUID) (exchange.WireOrder, error) {
	h.lock.Lock()
	o := h.terms[client]
	h.lock.Unlock()
	binary.BigEndian.PutUint64(o.ExchangeID[:], uint64(o.ID))
	o.Status, o.Created, o.Updated = market.StatusNew, benchStart, benchStart
	o.AmountRemaining, o.OnHold, o.OnHoldCurrency = o.Amount, market.Money(o.Price/100), 2 // of 0.01 BTC in EUR
	return exchange.WireOrder{Order: o}, nil
}

// Holdings are none: the books are not compared.
func (h *hall) Holdings(context.Context) ([]exchange.Holding, error) { return nil, errPipe }

// OpenOrders is not answered.
func (h *hall) OpenOrders(context.Context) ([]exchange.WireOrder, error) { return nil, nil }

// OpenOrdersIn is OpenOrders.
func (h *hall) OpenOrdersIn(context.Context, market.ID) ([]exchange.WireOrder, error) {
	return nil, nil
}

// Event notes nothing.
func (h *hall) Event(*market.Event) {}

// Intent notes nothing.
func (h *hall) Intent(*exchange.Intent) {}

// Sent notes nothing.
func (h *hall) Sent(market.Time, *exchange.Intent) {}

// Outcome counts the answers.
func (h *hall) Outcome(_ market.Time, _ *exchange.Intent, err error) {
	if h.answered++; err != nil {
		h.b.Error(err)
	}
	if h.answered == h.orders {
		close(h.done)
	}
}

// Commit does nothing.
func (h *hall) Commit(market.Time) error { return nil }

// blank is a ReconcileLog that keeps nothing.
type blank struct{}

func (blank) Discrepancy(market.Time, *state.Discrepancy)             {}
func (blank) Breached(_ market.Time, b *live.Breach, _ []live.Breach) { panic(fmt.Sprint(b)) }
func (blank) ChangedByOthers(map[market.OrderID]string)               {}
func (blank) Checkpoint(market.AssetID, live.BalanceCheckpoint)       {}
func (blank) Note(market.Time, string, string)                        {}
