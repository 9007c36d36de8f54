package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// limits are what the bot's config sets. Everything that reaches the exchange is held against them, as it is sent and as it has been carried
// out. A zero is none.
type limits struct {
	open, perMinute int
	value, position float64
	age             time.Duration
}

// stageLimits are those of stageBot.
var stageLimits = limits{open: 4, perMinute: 40, value: 700, position: 2500, age: 30 * time.Second}

const (
	drift    = 1.02             // how far the price moves at most between a decision and its look at it, over a play
	underWay = 10 * time.Second // how long a decision may be on its way: its window
)

// gauge watches over the limits. Its traffic's lock guards it.
type gauge struct {
	limits
	auditor *rest.Client // nil: what the exchange holds is not looked at
	base    market.AssetID
	before  market.Money // of base
	price   float64      // as the bot last heard it
	heard   time.Time    // when
	growing []time.Time  // of places and updates
	exits   map[string]bool
	most    int // open orders, at any moment
}

// write is the body of a place or an update.
type write struct {
	ClientOrderID string `json:"clientOrderId"`
	Side          string `json:"side"`
	Amount        string `json:"amount"`
	Price         string `json:"price"`
	Trigger       string `json:"triggerAmount"`
	CodGroupID    int    `json:"codGroupId"`
}

// sent looks at a place or an update that leaves the bot.
func (t *traffic) sentWrite(method string, body []byte) {
	g := &t.gauge
	var w write
	_ = json.Unmarshal(body, &w)
	if method == http.MethodPost && w.Price+w.Trigger != "" && w.CodGroupID == 0 {
		g.exits[w.ClientOrderID] = true // of a bracket: it protects, and only what the exchange asks holds for it
	}
	if method == http.MethodDelete || g.exits[w.ClientOrderID] {
		return
	}
	amount, _ := strconv.ParseFloat(w.Amount, 64)
	price, _ := strconv.ParseFloat(w.Price, 64)
	if g.value > 0 && amount*price > g.value {
		t.t.Errorf("an order over %f, beyond the limit: %s", amount*price, body)
	}
	now := time.Now()
	if g.age > 0 && w.Side == "buy" && now.Sub(g.heard) > g.age+underWay {
		t.t.Errorf("an order that opens on prices of %s ago: %s", now.Sub(g.heard), body)
	}
	g.growing = slices.DeleteFunc(append(g.growing, now), func(at time.Time) bool { return now.Sub(at) >= time.Minute-underWay })
	if g.perMinute > 0 && len(g.growing) > g.perMinute {
		t.t.Errorf("%d places and updates within a minute", len(g.growing))
	}
}

// hearPrices reads the prices that the bot hears.
func (t *traffic) hearPrices(path string, answer *http.Response) {
	if path != "/v2/ticker/price" && path != "/v2/ticker/book" || answer.StatusCode != http.StatusOK {
		return
	}
	body := answer.Body.(*served)
	text, _ := io.ReadAll(body.Reader)
	body.Reader = bytes.NewReader(text)
	var list []struct{ Price string }
	if json.Unmarshal(text, &list) != nil || body.broken {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = time.Now()
	for _, row := range list {
		if price, err := strconv.ParseFloat(row.Price, 64); err == nil {
			t.price = price
		}
	}
}

// look counts what is open at the exchange and what the position can come to.
func (t *traffic) look() (open int, btc float64) {
	g := &t.gauge
	records, err := g.auditor.OpenOrders(context.Background())
	require.NoError(t.t, err)
	held, err := g.auditor.Holdings(context.Background())
	require.NoError(t.t, err)
	base := -g.before
	for _, h := range held {
		if h.Asset == g.base {
			base += h.Available + h.Orders
		}
	}
	for i := range records {
		o := &records[i].Order
		if o.CodGroupID != 0 {
			open++
		}
		if o.Side == market.Buy && o.CodGroupID != 0 { // one of somebody else is none of the bot's position
			base += market.Money(o.AmountRemaining)
		}
	}
	return open, float64(base) / 1e8
}

// carriedOut looks at the exchange after it has carried out a write.
func (t *traffic) carriedOut() {
	g := &t.gauge
	if g.auditor == nil {
		return
	}
	open, base := t.look()
	t.mu.Lock()
	defer t.mu.Unlock()
	g.most = max(g.most, open)
	if g.open > 0 && open > g.open {
		t.t.Errorf("%d orders are open at the exchange", open)
	}
	if g.position > 0 && base*g.price > g.position*drift {
		t.t.Errorf("the position can come to %f BTC at %f", base, g.price)
	}
}

// reached is how many orders were open at once, at most.
func (t *traffic) reached() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.most
}

// sameOpen waits for a moment at which the bot's open orders are those of the exchange, which nobody else trades on: with what is under
// way, and fills that are not heard of yet, they are not always.
func (s *stage) sameOpen(p *process) {
	var theirs, ours []string
	for range 240 {
		theirs, ours = nil, nil
		for _, r := range s.openAtTheExchange() {
			theirs = append(theirs, r.Order.ClientOrderID.String())
		}
		require.NoError(s.t, p.loop.Look(context.Background(), func(market.Time) {
			for _, o := range p.account.Open(nil, 0, 0) {
				ours = append(ours, o.ClientOrderID.String())
			}
		}))
		slices.Sort(theirs)
		slices.Sort(ours)
		if slices.Equal(theirs, ours) {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	require.Equal(s.t, theirs, ours)
}
