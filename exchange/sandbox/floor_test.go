package sandbox

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// floor is an exchange without HTTP and without a house: two accounts that trade with each other,
// handlers that are called by hand.
type floor struct {
	*Exchange
	t     testing.TB
	now   market.Time
	alice *account
	bob   *account
}

// started is when a floor's clock starts: 2026-01-01.
const started = market.Time(1767225600) * market.Time(time.Second)

// newFloor has BTC-EUR and ETH-EUR with a tick of 1 and a maker fee of 0.15 %, a taker fee of 0.25
// %.
func newFloor(t testing.TB, change func(*Config)) *floor {
	f := &floor{Exchange: &Exchange{catalog: &market.Catalog{}}, t: t, now: started}
	if change != nil {
		change(&f.config)
	}
	for _, asset := range []market.Asset{{Symbol: "EUR", Digits: 2}, {Symbol: "BTC", Digits: 8},
		{Symbol: "ETH", Digits: 8}} {
		_, err := f.catalog.AddAsset(asset.Symbol, asset.Digits)
		require.NoError(t, err)
	}
	f.listings = []*listing{nil}
	for _, name := range []string{"BTC-EUR", "ETH-EUR"} {
		m := &market.Market{Name: name, PriceDigits: 2,
			Rules: market.Rules{TickSize: 100, QuantityDecimals: 6, NotionalDecimals: 2,
				MinOrderInBase: 10_000, MinOrderInQuote: 500, MaxOrderInBase: 1000_00000000, MaxOpenOrders: 5}}
		require.NoError(t, f.catalog.AddMarket(m))
		f.listings = append(f.listings, &listing{Market: m, publicData: newPublicData(&f.config.Retention)})
	}
	fees := func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }
	f.venue = sim.New(f.catalog, sim.Config{Book: true, Fees: fees}, f.onReport)
	f.alice = &account{id: 0, name: "alice", config: &Account{}}
	f.bob = &account{id: f.venue.OpenAccount(fees), name: "bob", config: &Account{}}
	f.accounts = []*account{f.alice, f.bob}
	for _, a := range f.accounts {
		for _, asset := range f.catalog.Assets() {
			require.NoError(t, f.venue.Transfer(a.id, asset.ID, market.Money(1000*market.Pow10(asset.Digits))))
		}
	}
	f.disconnects.ex = f.Exchange
	f.schedule = []scheduled{&f.disconnects}
	for _, asset := range f.catalog.Assets() {
		f.config.Assets = append(f.config.Assets, Asset{Symbol: asset.Symbol, Decimals: asset.Digits})
	}
	f.config.Tiers = []Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": fees(nil)}}}
	f.bank = &bank{config: &f.config, catalog: f.catalog, venue: f.venue, accounts: f.accounts}
	require.NoError(t, f.bank.open(f.now))
	f.schedule = append(f.schedule, &transferSchedule{f.bank}, &tierSchedule{f.bank})
	return f
}

// call carries out a request, "POST /order" with its parameters as "side=buy amount=1".
func (f *floor) call(a *account, endpoint, parameters string) (string, *exchange.Error) {
	c := &api.Call{Account: a.place(), Now: f.now}
	c.Endpoint = f.bind(endpoints).Named(endpoint)
	require.NotNil(f.t, c.Endpoint, endpoint)
	c.Args = make(api.Arguments, len(c.Endpoint.Params))
	for _, one := range strings.Fields(parameters) {
		name, text, _ := strings.Cut(one, "=")
		to := c.Arg(name)
		to.Set, to.Text = true, text
		to.Number, _ = strconv.ParseInt(text, 10, 64) // read only if the text is an integer
		to.UUID, _ = uuid.Parse(text)
	}
	f.advance(f.now)
	refused := c.Endpoint.Do(c)
	c.Gather()
	return string(c.Out), refused
}

// ok carries out a request that must be taken.
func (f *floor) ok(a *account, endpoint, parameters string) string {
	answer, refused := f.call(a, endpoint, parameters)
	require.Nil(f.t, refused, "%s %s", endpoint, parameters)
	require.True(f.t, answer == "" || json.Valid([]byte(answer)), "%s", answer)
	return answer
}

// refused carries out a request that must not be taken.
func (f *floor) refused(a *account, endpoint, parameters string, code int, message string) {
	answer, refused := f.call(a, endpoint, parameters)
	require.NotNil(f.t, refused, "%s %s answers %s", endpoint, parameters, answer)
	require.Equal(f.t, code, refused.Code, "%s %s: %s", endpoint, parameters, refused.Message)
	require.Contains(f.t, refused.Message, message, "%s %s", endpoint, parameters)
}

// told is what the tests read of an order record.
type told struct {
	OrderID             string      `json:"orderId"`
	ClientOrderID       *string     `json:"clientOrderId"`
	Market              string      `json:"market"`
	Created, Updated    int64       `json:",omitempty"`
	Status, OrderType   string      `json:",omitempty"`
	Amount              string      `json:"amount"`
	AmountRemaining     string      `json:"amountRemaining"`
	AmountQuote         string      `json:"amountQuote"`
	Price               string      `json:"price"`
	OnHold              string      `json:"onHold"`
	TriggerAmount       string      `json:"triggerAmount"`
	TriggerType         string      `json:"triggerType"`
	TriggerReference    string      `json:"triggerReference"`
	FilledAmount        string      `json:"filledAmount"`
	FeePaid             string      `json:"feePaid"`
	Fills               []toldTrade `json:"fills"`
	SelfTradePrevention string      `json:"selfTradePrevention"`
	Visible             bool        `json:"visible"`
	TimeInForce         string      `json:"timeInForce"`
	PostOnly            bool        `json:"postOnly"`
	OperatorID          int64       `json:"operatorId"`
	RestatementReason   string      `json:"restatementReason"`
	CodGroupID          int         `json:"codGroupId"`
}

// toldTrade is what the tests read of a fill or a trade.
type toldTrade struct {
	ID            string  `json:"id"`
	OrderID       string  `json:"orderId"`
	ClientOrderID *string `json:"clientOrderId"`
	Timestamp     int64   `json:"timestamp"`
	Market        string  `json:"market"`
	Side          string  `json:"side"`
	Amount        string  `json:"amount"`
	Price         string  `json:"price"`
	Taker         bool    `json:"taker"`
	Fee           *string `json:"fee"`
	FeeCurrency   *string `json:"feeCurrency"`
	Settled       bool    `json:"settled"`
}

// read decodes an answer.
func read[T any](f *floor, answer string) (value T) {
	require.NoError(f.t, json.Unmarshal([]byte(answer), &value), "%s", answer)
	return value
}

// order carries out a request that answers an order.
func (f *floor) order(a *account, endpoint, parameters string) told {
	return read[told](f, f.ok(a, endpoint, parameters))
}

// list carries out a request that answers a list of orders.
func (f *floor) list(a *account, endpoint, parameters string) []told {
	return read[[]told](f, f.ok(a, endpoint, parameters))
}

// place places an order in BTC-EUR: "buy limit amount=1 price=100".
func (f *floor) place(a *account, text string) told {
	return f.order(a, "POST /order", btc(text))
}

// btc makes the parameters of POST /order for BTC-EUR out of side, type and others.
func btc(text string) string {
	words := strings.Fields(text)
	return "market=BTC-EUR operatorId=7 side=" + words[0] + " orderType=" + words[1] + " " + strings.Join(words[2:],
		" ")
}

// client makes a client order id that differs in its last byte.
func client(n byte) string { return uuid.UUID{15: n, 6: 0x40}.String() }

// wait lets time pass.
func (f *floor) wait(d time.Duration) { f.now = f.now.Add(d) }

// statusOf returns the status of an order of BTC-EUR and why the exchange changed it.
func (f *floor) statusOf(a *account, orderID string) string {
	o := f.order(a, "GET /order", "market=BTC-EUR orderId="+orderID)
	return strings.TrimSpace(o.Status + " " + o.RestatementReason)
}

// ids returns the names of orders.
func ids(orders []told) []string {
	names := []string{}
	for i := range orders {
		names = append(names, orders[i].OrderID)
	}
	return names
}
