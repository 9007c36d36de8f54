package runner

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// upToBuyer buys once.
type upToBuyer struct {
	strategy.Base
	size  strategy.Size
	asked bool
}

func (s *upToBuyer) OnTicker(d *strategy.Desk, t market.Ticker) {
	if m := d.In(t.Market); !s.asked {
		_, err := m.Buy(s.size, strategy.StopAt(t.Last/2))
		s.asked = err == nil
	}
}

// dearer lets the price change before the first order arrives.
type dearer struct {
	http.RoundTripper
	stage *stage
	price string
	once  sync.Once
}

func (d *dearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/order") {
		d.once.Do(func() { d.stage.quotedAt(d.price) })
	}
	return d.RoundTripper.RoundTrip(r)
}

// The price doubles between the decision and the arrival: an UpTo buys for the cash that there is.
// Its fill is doubted, asked for again and booked, and the position has its exit.
func TestAnUpToWhosePriceDoublesOnTheWayBuysAndHasItsExit(t *testing.T) {
	for _, text := range []string{"up to 100% cash", "up to 49.87% cash"} {
		for _, way := range []string{overPolls, overOrders} {
			synctest.Test(t, func(t *testing.T) {
				size, err := strategy.ParseSize(text)
				require.NoError(t, err)
				s := newStage(t, 7, func(c *sandbox.Config) {
					c.Admin = "open"
					c.Markets[0].Source = prices.Fixed("30000")
					c.Markets[0].Liquidity = sandbox.Liquidity{Levels: 1, HalfSpread: 5_000, Endless: true}
				})
				s.hears = way
				eager := func() strategy.Strategy { return &upToBuyer{size: size} }
				s.kinds = append(s.kinds, onTickers("eager", eager))
				s.config = strings.NewReplacer("strategies.restless", "strategies.eager", `"restless"`, `"eager"`,
					"params.seed = 7\n", "", `allocation = "10000"`, `allocation = "600"`,
					"keep_exits = false", "keep_exits = true").Replace(s.config)
				s.wrap = func(next http.RoundTripper) http.RoundTripper {
					return &dearer{RoundTripper: next, stage: s, price: "59990"}
				}
				p := s.start()
				time.Sleep(time.Minute)
				p.look(func() {
					held := p.account.Position(1, 1).Amount
					require.Positive(t, held, "%s over %s", text, way)
					require.Equal(t, held, p.engine.Brackets().Covered(1, 1))
					require.Empty(t, p.engine.Brackets().Bare())
					cash, _ := p.account.Balance(1, p.plan.Currency.ID)
					require.GreaterOrEqual(t, cash, market.Money(0))
				})
				require.NoError(t, p.end())
				s.onlyExits(p)
			})
		}
	}
}
