package runner

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// sellerKind buys in a bracket, sells that with an order of its own after a minute, and buys the
// same again, without exits, after another.
var sellerKind = strategy.Define("seller", "sells with its own order",
	func(struct{}) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &seller{}, nil })

type seller struct {
	strategy.Base
	began market.Time
	done  int
}

func (s *seller) OnTicker(d *strategy.Desk, t market.Ticker) {
	m := d.In(t.Market)
	if s.began == 0 {
		if s.began = d.Now(); m.Held() > 0 { // a restart
			s.done = 3
		}
	}
	if d.Now() < s.began.Add(market.Duration(s.done)*60e9) || s.done == 3 {
		return
	}
	var err error
	switch s.done {
	case 0:
		_, err = m.Buy(strategy.Amount(1_000_000), strategy.StopAt(t.Last-5_000_00))
	case 1:
		_, err = m.Sell(strategy.Amount(1_000_000))
	case 2:
		_, err = m.Buy(strategy.Amount(1_000_000))
	}
	if err == nil {
		s.done++
	}
}

// stopless is an exchange that refuses stops.
type stopless struct {
	next    http.RoundTripper
	refused atomic.Int64
}

func (r *stopless) RoundTrip(ask *http.Request) (*http.Response, error) {
	if ask.Method != http.MethodPost {
		return r.next.RoundTrip(ask)
	}
	body, err := io.ReadAll(ask.Body)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(body, []byte("stopLoss")) {
		ask.Body = io.NopCloser(bytes.NewReader(body))
		return r.next.RoundTrip(ask)
	}
	r.refused.Add(1)
	return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Request: ask,
		Body: io.NopCloser(strings.NewReader(`{"errorCode":216,"error":"insufficient balance"}`))}, nil
}

// A bracket whose exit the exchange refuses ends with its position, which an own order sells. It
// places no exit over what is bought afterwards, over polls and over the stream.
func TestABracketEndsWithItsPositionThatAnOwnOrderSells(t *testing.T) {
	for name, hears := range hearings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 7, func(c *sandbox.Config) { c.Markets[0].Source = prices.Fixed("30000") })
				s.hears, s.kinds = hears, append(s.kinds, sellerKind)
				s.config = strings.NewReplacer("strategies.restless", "strategies.seller", `"restless"`, `"seller"`,
					"params.seed = 7\n", "", "keep_exits = false", "keep_exits = true").Replace(s.config)
				front := &stopless{}
				s.wrap = func(next http.RoundTripper) http.RoundTripper {
					front.next = next
					return front
				}
				p := s.start()
				time.Sleep(50 * time.Second)
				p.look(func() { require.Len(t, p.engine.Brackets().Bare(), 1, "its exit is refused") })
				require.Positive(t, front.refused.Load())
				time.Sleep(40 * time.Second)
				s.holds(p, 0)
				refused := front.refused.Load()
				time.Sleep(10 * time.Minute)
				s.holds(p, 1_000_000)
				require.NoError(t, p.end())
				p = s.start()
				time.Sleep(10 * time.Minute)
				s.holds(p, 1_000_000)
				require.Equal(t, refused, front.refused.Load(), "no exit was tried again")
				require.NoError(t, p.end())
			})
		})
	}
}

// holds requires that the bot holds so much and that no bracket covers or misses any of it.
func (s *stage) holds(p *process, amount market.Qty) {
	s.T.Helper()
	var held, covered market.Qty
	var bare int
	p.look(func() {
		held, covered = p.account.Position(1, 1).Amount, p.engine.Brackets().Covered(1, 1)
		bare = len(p.engine.Brackets().Bare())
	})
	require.Equal(s.T, amount, held)
	require.Zero(s.T, covered)
	require.Zero(s.T, bare)
	require.Empty(s.T, s.OpenAtTheExchange())
}
