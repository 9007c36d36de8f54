package runner

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// placing lets a test have its way with the requests that place orders.
type placing struct {
	next http.RoundTripper
	meet func(body string) error // before the request goes on; an error: it never does
}

// RoundTrip is of http.RoundTripper.
func (p placing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/order") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if err := p.meet(string(body)); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return p.next.RoundTrip(r)
}

// A second Ctrl-C during a slow place waits until it has come, and cancels it; without the time for
// that it names the write that may still come.
func TestASecondCtrlCWaitsForAPlaceThatIsUnderWay(t *testing.T) {
	for name, within := range map[string]time.Duration{"with time": switchTimeout, "without": 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := halfStage(t)
			s.wrap = func(next http.RoundTripper) http.RoundTripper {
				return placing{next, func(string) error {
					time.Sleep(5 * time.Second)
					return nil
				}}
			}
			p := s.start()
			time.Sleep(3 * time.Second)
			require.Empty(t, s.OpenAtTheExchange(), "it is under way")
			tools := *p.armed.Load()
			tools.client = s.Auditor // what it sends is in direct.log
			p.armed.Store(&tools)
			report, err := p.runSwitch("a second Ctrl-C", within)
			require.NoError(t, err)
			require.Equal(t, within == switchTimeout, report.Done, name)
			if report.Done {
				require.Equal(t, 1, report.Cancelled)
				require.Empty(t, s.OpenAtTheExchange())
			} else {
				require.Contains(t, report.Open[0].Reason, "place")
				time.Sleep(10 * time.Second)
				require.Len(t, s.OpenAtTheExchange(), 1, "it has come")
			}
			p.kill()
			p.bury()
		})
	}
}

// listing lets the first answer to a list of open orders come late.
type listing struct {
	next http.RoundTripper
	once *sync.Once
}

// RoundTrip is of http.RoundTripper.
func (l listing) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.next.RoundTrip(r)
	if strings.HasSuffix(r.URL.Path, "/ordersOpen") {
		l.once.Do(func() { time.Sleep(6 * time.Second) })
	}
	return answer, err
}

// A place that was under way when the list was asked for, and has its answer when that of the list
// comes, is cancelled, too: the list is older than its order.
func TestASecondCtrlCBelievesNoListThatIsOlderThanAnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := halfStage(t)
		s.wrap = func(next http.RoundTripper) http.RoundTripper {
			return placing{next, func(string) error {
				time.Sleep(5 * time.Second)
				return nil
			}}
		}
		p := s.start()
		time.Sleep(3 * time.Second)
		require.Empty(t, s.OpenAtTheExchange(), "it is under way")
		client, err := rest.New(rest.Config{BaseURL: "https://exchange.test/v2",
			Key: rest.NewSecret(bottest.AuditorKey), Secret: rest.NewSecret("secret of the auditor"),
			Transport: listing{&wire{traffic: s.traffic, quiet: true}, new(sync.Once)}})
		require.NoError(t, err)
		require.NoError(t, client.Sync(t.Context()))
		client.Use(s.Units)
		tools := *p.armed.Load()
		tools.client = client // what it sends is in direct.log
		p.armed.Store(&tools)
		report, err := p.runSwitch("a second Ctrl-C", switchTimeout)
		require.NoError(t, err)
		require.True(t, report.Done)
		require.Equal(t, 1, report.Cancelled)
		require.Empty(t, s.OpenAtTheExchange())
		p.kill()
		p.bury()
	})
}

// An exit whose place is lost is proven absent in seconds, and sent again, also where orders go
// over the socket; until then the whole amount is told as unprotected.
func TestALostExitIsProvenAbsentInSeconds(t *testing.T) {
	for name, hears := range hearings {
		synctest.Test(t, func(t *testing.T) {
			s := owned(t, hears)
			var once sync.Once
			s.wrap = func(next http.RoundTripper) http.RoundTripper {
				return placing{next, func(body string) (err error) {
					if strings.Contains(body, `"sell"`) {
						once.Do(func() { err = errors.New("connection reset by peer") })
					}
					return err
				}}
			}
			p := s.start()
			var bare market.Qty
			causes := map[strategy.Cause]bool{}
			took, began := time.Duration(0), time.Now()
			for ; took < time.Minute && len(s.OpenAtTheExchange()) == 0; took = time.Since(began) {
				time.Sleep(time.Second)
				p.look(func() {
					for _, u := range p.engine.Brackets().Bare() {
						bare = max(bare, u.Amount)
						causes[u.Cause] = true
					}
				})
			}
			require.Less(t, took, 25*time.Second, name)
			require.EqualValues(t, 1_000_000, bare, "%s: the amount is told meanwhile", name)
			require.Equal(t, map[strategy.Cause]bool{strategy.CauseUnknown: true}, causes, "%s: and why", name)
			require.Equal(t, market.TypeStopLoss, s.resting().Type)
			require.NoError(t, p.end())
		})
	}
}

// losing loses the first request with a method about an order.
type losing struct {
	next http.RoundTripper
	lose func(method string) bool
}

// RoundTrip is of http.RoundTripper.
func (l losing) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/order") && l.lose(r.Method) {
		return nil, errWire
	}
	return l.next.RoundTrip(r)
}

// The cancel of an exit, with which a sale of all begins, is lost: that is known in seconds, also
// where orders go over the socket, and the sale goes on.
func TestALostCancelOfAnExitIsKnownInSeconds(t *testing.T) {
	bottest.Unraced(t)
	for name, hears := range hearings {
		synctest.Test(t, func(t *testing.T) {
			s := owned(t, hears)
			var lost atomic.Bool
			lose := func(method string) bool { return method == http.MethodDelete && lost.CompareAndSwap(false, true) }
			s.wrap = func(next http.RoundTripper) http.RoundTripper { return losing{next, lose} }
			s.traffic.sockets.lose = lose
			p := s.start()
			time.Sleep(30 * time.Second)
			require.Equal(t, market.TypeStopLoss, s.resting().Type)
			began := time.Now()
			report, err := s.flatten(p)
			require.NoError(t, err)
			require.True(t, lost.Load())
			require.NotEmpty(t, report.Sales, name)
			require.Less(t, time.Since(began), 25*time.Second, name)
			require.NoError(t, p.end())
		})
	}
}

// laterKind is held once its bot's socket is open.
var laterKind = scripted("later", func() onTicker {
	hold, tickers := held(), 0
	return func(d *strategy.Desk, t market.Ticker) {
		if tickers++; tickers > 10 {
			hold(d, t)
		}
	}
})

// The reply to a buy is lost on the socket, and no event of the account channel tells of the order:
// a query finds it a second later, and what it has bought has its exit.
func TestABuyWhoseReplyIsLostHasItsExitInSeconds(t *testing.T) {
	bottest.Unraced(t)
	for _, c := range []struct {
		account string
		replies int // before that of the buy: to logins and subscriptions
		late    time.Duration
	}{{config.FeedPoll, 1, 0}, {config.FeedPoll, 1, 8 * time.Second}, {config.FeedStream, 3, 0},
		{config.FeedStream, 3, 8 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			late, events := c.late, fault.Fault{Kind: fault.SkipFrame, Channel: "account", Count: 1000}
			second := fault.Fault{Kind: fault.SkipFrame, Channel: "reply", Nth: c.replies + 1, Count: 1}
			if late > 0 {
				second.Kind, second.Delay = fault.DelayFrame, late
			}
			s := owned(t, overPolls, func(c *sandbox.Config) { c.Faults = []fault.Fault{second, events} })
			s.kinds = append(s.kinds, laterKind)
			s.config = strings.Replace(s.config, `"held"`, `"later"`, 1)
			s.everySet = []config.Override{{Path: []string{"stream", "orders"}, Text: config.OrdersStream},
				{Path: []string{"stream", "account"}, Text: c.account}}
			p := s.start()
			began := time.Now()
			fills := func() []exchange.Trade {
				trades, _, err := s.Auditor.Trades(t.Context(), s.Market().ID, s.Auditor.Now().Add(-time.Hour))
				require.NoError(t, err)
				return trades
			}
			for len(fills()) == 0 {
				require.Less(t, time.Since(began), time.Minute)
				time.Sleep(100 * time.Millisecond)
			}
			bought := time.Now()
			for len(s.OpenAtTheExchange()) == 0 {
				time.Sleep(100 * time.Millisecond)
			}
			require.Less(t, time.Since(bought), 3*time.Second, c.account)
			require.Equal(t, market.TypeStopLoss, s.resting().Type)
			time.Sleep(time.Minute)
			require.Equal(t, market.TypeStopLoss, s.resting().Type)
			require.Len(t, fills(), 1, "nothing is doubled")
			p.look(func() {
				require.EqualValues(t, 1_000_000, p.account.Position(1, 1).Amount)
				require.NoError(t, p.account.Check())
			})
			socket, _ := s.traffic.overSocket()
			require.Equal(t, 1, socket)
			require.NoError(t, p.end())
		})
	}
}
