package sandbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// TestForgettingOrdersChangesNoAnswer sends the same requests to an exchange that forgets all but
// the latest closed orders, whose memory serves new ones, and to one that forgets none. Every
// answer about orders that both know is the same.
func TestForgettingOrdersChangesNoAnswer(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		keep := rapid.IntRange(1, 3).Draw(r, "keep")
		with := func(orders int) *stage {
			return newStage(t, func(c *Config) {
				c.Budget = api.Budget{PerKey: -1, PerIP: -1}
				c.Retention.Orders = orders
				c.Rules.SettleAfter = time.Second
				c.Markets[0].Source = pricesOf("100", "101.37", "98.2", "97", "103.99")
			})
		}
		p := &pair{few: with(keep), all: with(0)}
		for step := range 40 {
			p.act(r)
			if step%8 != 7 {
				continue
			}
			for _, who := range []string{"alice", "bob"} {
				p.same(r, who, "GET /ordersOpen")
				p.same(r, who, "GET /trades market=BTC-EUR")
				all := p.all.ask(who, "GET /orders market=BTC-EUR").ok(t).body
				for _, one := range decoded[[]json.RawMessage](p.few, p.few.ask(who, "GET /orders market=BTC-EUR")) {
					require.Contains(r, all, string(one))
				}
			}
		}
	})
}

// pair is two exchanges that get the same requests.
type pair struct {
	few, all *stage
	orders   []string // "alice orderId", of limit orders
}

// same sends a line to both and requires the same answer.
func (p *pair) same(r *rapid.T, who, line string) string {
	few, all := p.few.ask(who, line), p.all.ask(who, line)
	require.Equal(r, all.body, few.body, "%s: %s", who, line)
	return few.body
}

// act places an order, updates or cancels one, or lets time pass.
func (p *pair) act(r *rapid.T) {
	who := rapid.SampledFrom([]string{"alice", "bob"}).Draw(r, "who")
	side := rapid.SampledFrom([]string{"buy", "sell"}).Draw(r, "side")
	price := rapid.SampledFrom([]string{"99", "100", "100.5", "101"}).Draw(r, "price")
	switch kind := rapid.IntRange(0, 9).Draw(r, "kind"); {
	case kind == 0:
		p.few.ex.clock.Advance(time.Second)
		p.all.ex.clock.Advance(time.Second)
	case kind == 1:
		p.same(r, who, "DELETE /orders operatorId=1")
	case kind < 4 && len(p.orders) > 0:
		name, id, _ := strings.Cut(rapid.SampledFrom(p.orders).Draw(r, "order"), " ")
		line := "DELETE /order market=BTC-EUR operatorId=1 orderId=" + id
		if kind == 2 {
			line = "PUT /order market=BTC-EUR operatorId=1 price=" + price + " orderId=" + id
		}
		p.same(r, name, line)
	default:
		prevention := rapid.SampledFrom(market.Words[market.SelfTradePrevention]()).Draw(r, "prevention")
		rest := rapid.SampledFrom([]string{"limit amount=1 price=" + price, "limit amount=0.3 price=" + price,
			"limit amount=1 timeInForce=IOC price=" + price, "market amount=1.7"}).Draw(r, "order")
		line := orderLine(side + " " + rest + " selfTradePrevention=" + prevention)
		answer := p.few.ask(who, line)
		require.Equal(r, p.all.ask(who, line).body, answer.body, "%s: %s", who, line)
		if answer.status == http.StatusOK && strings.HasPrefix(rest, "limit") {
			p.orders = append(p.orders, who+" "+decoded[row](p.few, answer).id())
		}
	}
}
