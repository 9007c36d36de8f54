package stream

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
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

// desk is one way to an exchange of its own, whose clock is moved by hand.
type desk struct {
	clock   *sandbox.Clock
	ledger  *rest.WeightBudget
	trading exchange.Trading
	client  *rest.Client
	writes  int // over HTTP
	url     string

	key, secret rest.Secret
}

// RoundTrip counts the writes.
func (d *desk) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		d.writes++
	}
	return http.DefaultTransport.RoundTrip(r)
}

func newDesk(t *testing.T, socket bool) *desk {
	d := &desk{clock: sandbox.ManualClock(market.Time(1772452801 * time.Second))}
	config := sandbox.Default()
	config.Clock, config.History = d.clock, 0
	ex, err := sandbox.New(config)
	require.NoError(t, err)
	server := httptest.NewServer(ex)
	t.Cleanup(func() {
		require.NoError(t, ex.Close())
		server.Close()
	})
	key := config.Accounts[0].Keys[0]
	d.url, d.key, d.secret = server.URL, rest.NewSecret(key.Key), rest.NewSecret(key.Secret)
	d.ledger = rest.NewWeightBudget(rest.LedgerConfig{Now: d.clock.Now,
		After: func(market.Duration, func()) func() bool { return func() bool { return true } }})
	d.client, err = rest.New(rest.Config{BaseURL: server.URL, Key: rest.NewSecret(key.Key), Transport: d,
		Secret: rest.NewSecret(key.Secret), Budget: d.ledger, Now: func() time.Time { return d.clock.Now().Std() }})
	require.NoError(t, err)
	catalog, _, err := d.client.Catalog(t.Context())
	require.NoError(t, err)
	d.client.Use(catalog)
	if d.trading = d.client; !socket {
		return d
	}
	d.overSocket(t, server.URL, zerolog.Nop())
	return d
}

// overSocket lets the orders leave over a socket to an address.
func (d *desk) overSocket(t *testing.T, url string, log zerolog.Logger) *Connection {
	on, err := New(Config{BaseURL: url, Key: d.key, Secret: d.secret, Now: d.clock.Now, Log: log})
	require.NoError(t, err)
	open := make(chan struct{})
	var once sync.Once
	on.Subscribe(&Channel{Name: "account", Private: true, Topics: []Topic{{}},
		Opened: func() { once.Do(func() { close(open) }) }})
	r := &rig{t: t, on: on}
	r.run()
	<-open
	d.trading = d.client.Over(on)
	return on
}

// send sends a command, and returns what came of it.
func (d *desk) send(t *testing.T, c *market.Command) (exchange.WireOrder, string) {
	intent, err := d.trading.Prepare(c)
	require.NoError(t, err)
	record, err := d.trading.Send(t.Context(), &intent)
	return record, fmt.Sprint(exchange.OutcomeOf(err), err)
}

// draw draws a command on an order that was placed, or a new one; some are refused.
func draw(random *rand.Rand, m *market.Market, placed []market.Order) *market.Command {
	o := market.Order{ID: market.OrderID(len(placed) + 1), OperatorID: 7, Market: m.ID, Side: market.Buy,
		Type: market.TypeLimit}
	o.ClientOrderID = market.ClientOrderID(uuid.UUID{9}, o.ID)
	o.Price = market.Price(20_000+random.IntN(30_000)) * market.Price(market.Pow10(m.PriceDigits))
	if random.IntN(8) == 0 {
		o.Price++ // off the tick
	}
	o.Amount = market.Qty(1+random.IntN(40)) * market.Qty(market.Pow10(m.AmountDigits)) / 1000
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.CancelNewest
	switch random.IntN(6) {
	case 0:
		o.Side = market.Sell
	case 1:
		o.Type, o.Price = market.TypeMarket, 0
	case 2:
		o.PostOnly, o.CodGroupID = true, 3
	}
	c := &market.Command{Kind: market.CommandPlace, Order: o}
	if len(placed) == 0 || random.IntN(2) == 0 {
		return c
	}
	price := o.Price
	c.Order = placed[random.IntN(len(placed))]
	if c.Kind = market.CommandCancel; random.IntN(2) == 0 {
		c.Kind, c.Changed = market.CommandUpdate, market.ChangePrice
		c.Order.Price = max(price, 1)
	}
	if random.IntN(3) == 0 {
		c.Order.ClientOrderID = uuid.Nil
	}
	return c
}

// Orders over a socket end as the same orders do over HTTP, at an exchange of the same kind:
// records, refusals in their words, the points that are left.
func TestOrdersOverASocketEndAsOverHTTP(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	http, socket := newDesk(t, false), newDesk(t, true)
	before, _ := socket.ledger.Left(rest.PaidByKey)
	m, err := http.client.Rules(t.Context())
	require.NoError(t, err)
	var placed []market.Order
	sells := 0 // what is about them goes over HTTP, whose answer is not lost with a socket
	for range 150 {
		c := draw(random, &m[0], placed)
		if c.Order.Side == market.Sell {
			sells++
		}
		want, how := http.send(t, c)
		got, same := socket.send(t, c)
		require.Equal(t, how, same, "seed %d: %s", seed, c.Kind)
		if got.BySocket { // some go over HTTP all the same
			want.BySocket = true
		}
		require.Equal(t, want, got, "seed %d: %s", seed, c.Kind)
		if c.Kind == market.CommandPlace && want.Order.ExchangeID != uuid.Nil {
			placed = append(placed, want.Order)
		}
		http.clock.Advance(time.Millisecond)
		socket.clock.Advance(time.Millisecond)
	}
	require.NotEmpty(t, placed)
	require.Equal(t, sells, socket.writes)
	require.Equal(t, 150, http.writes)
	left, _ := socket.ledger.Left(rest.PaidByKey)
	require.Equal(t, 150+1, before-left, "the answers over HTTP count the socket's authentication too")
}
