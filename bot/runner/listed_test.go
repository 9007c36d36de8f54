package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// liar answers for the exchange that an order which rests has been cancelled, and lists it no more,
// while it lies.
type liar struct {
	http.RoundTripper
	client atomic.Pointer[string] // the order's client id; nil: the truth
}

func (l *liar) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	client := l.client.Load()
	query := r.URL.Path == "/v2/order" && client != nil && strings.Contains(r.URL.RawQuery, *client)
	if err != nil || client == nil || r.Method != http.MethodGet || !query && r.URL.Path != "/v2/ordersOpen" {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if query {
		body = bytes.Replace(body, []byte(`"status":"new"`), []byte(`"status":"canceled"`), 1)
	} else {
		var list []json.RawMessage
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(o json.RawMessage) bool { return bytes.Contains(o, []byte(*client)) })
		if body, err = json.Marshal(list); err != nil {
			return nil, err
		}
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return answer, nil
}

// The exchange says of a resting order that it has been cancelled, and a list lacks it, once; later
// lists show it open. With 18000 the strategy can hold two such orders, so the first is taken back;
// with 12000 it cannot, so the first is cancelled.
func TestAnOrderThatTheExchangeListsAsOpenAfterItsEndIsTakenBack(t *testing.T) {
	bottest.Unraced(t)
	for allocation, open := range map[string]int{"18000": 2, "12000": 1} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1, func(c *sandbox.Config) {
				c.Markets[0].Source, c.Markets[0].Liquidity = prices.Fixed("30000"), sandbox.Liquidity{}
			})
			s.kinds = append(s.kinds, keeperKind)
			s.config = strings.NewReplacer("keep_orders = true\n", "", `"12000"`, `"`+allocation+`"`).Replace(keeperBot)
			s.traffic.limits = limits{value: 9000}
			lie := &liar{}
			s.wrap = func(w http.RoundTripper) http.RoundTripper {
				lie.RoundTripper = w
				return lie
			}
			p := s.start()
			time.Sleep(30 * time.Second)
			var first market.Order
			p.look(func() { first = *p.account.Open(nil, 0, 0)[0] })
			name := first.ClientOrderID.String()
			lie.client.Store(&name)
			for ended := false; !ended; { // it is queried once a minute
				time.Sleep(time.Second)
				p.look(func() { ended = p.account.Own(first.ID) == nil })
			}
			lie.client.Store(nil)
			time.Sleep(4 * time.Minute)
			p.look(func() {
				require.Len(t, p.account.Open(nil, 0, 0), open, "allocation %s", allocation)
				require.Equal(t, open == 2, p.account.Own(first.ID) != nil)
				require.Zero(t, p.loop.Foreign())
				_, halted := p.engine.Halted(1)
				require.False(t, halted)
			})
			require.Contains(t, s.log.String(),
				"two lists of the exchange show an order open that has ended in the account")
			listed, err := s.Auditor.OpenOrders(t.Context())
			require.NoError(t, err)
			require.Len(t, listed, open, "the exchange has the orders that the books have")
			require.NoError(t, p.end())
			s.agree(p)
		})
	}
}
