package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

var postOrder = []string{"POST /order"}

// What a client sees of each way to lose a request or its answer, and whether its order is there
// afterwards.
func TestALostRequestDoesNothingAndALostAnswerHidesWork(t *testing.T) {
	for _, c := range []struct {
		fault  fault.Fault
		sees   error
		orders int
	}{
		{fault.Fault{Kind: fault.DropRequest}, io.EOF, 0},
		{fault.Fault{Kind: fault.DropAnswer}, io.EOF, 1},
		{fault.Fault{Kind: fault.ResetRequest}, syscall.ECONNRESET, 0},
		{fault.Fault{Kind: fault.ResetAnswer}, syscall.ECONNRESET, 1},
		{fault.Fault{Kind: fault.Truncate}, io.ErrUnexpectedEOF, 1},
	} {
		t.Run(c.fault.Kind.String(), func(t *testing.T) {
			c.fault.Count = 1
			l := faulty(t, c.fault)
			_, err := l.place()
			require.ErrorIs(t, err, c.sees)
			require.Equal(t, c.orders, l.orders("alice"))
			require.Equal(t, []int{1}, l.fired())

			a, err := l.place() // the next goes through
			require.NoError(t, err)
			a.ok(t)
			require.Equal(t, c.orders+1, l.orders("alice"))
		})
	}
}

func TestATruncatedAnswerHasItsHeadersAndHalfOfItsBody(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.Truncate})
	a, err := l.place()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, 200, a.status)
	require.NotEmpty(t, a.header.Get("Service-Ratelimit-Remaining"))
	require.True(t, strings.HasPrefix(a.body, `{"orderId":"`), a.body)
	require.NotContains(t, a.body, "}")

	// An answer without a body is cut off all the same.
	a, err = l.ask("alice", "POST", "/order", strings.Replace(buy, "{", `{"responseRequired":false,`, 1))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Empty(t, a.body)
}

func TestAnErrorOnDemandHidesWorkOnlyWhereItIsToldTo(t *testing.T) {
	for _, code := range fault.FaultCodes {
		for _, work := range []bool{false, true} {
			want := exchange.ErrCode(code)
			if work && want.Status < 500 {
				continue
			}
			t.Run(fmt.Sprint(code, work), func(t *testing.T) {
				l := faulty(t, fault.Fault{Kind: fault.Error, Code: code, Work: work, Endpoints: postOrder})
				a, err := l.place()
				require.NoError(t, err)
				a.refused(t, want.Status, code)
				require.NotEmpty(t, a.header.Get("Service-Ratelimit-Remaining"))
				require.Equal(t, work, l.orders("alice") == 1)
			})
		}
	}
}

func TestABanOnDemandSaysWhenItEnds(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.Error, Code: 105, Count: 1})
	l.hear("", "GET", "/time", "").refused(t, 429, 105).
		says(t, fmt.Sprintf("The ban expires at %d.", rigStart.Add(time.Minute).Millis()))
	l.hear("", "GET", "/time", "").ok(t) // nobody is banned
}

func TestARequestThatIsRefusedAnywayHearsItsOwnRefusal(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.Error, Code: 107})
	l.hear("alice", "POST", "/order", `{}`).refused(t, 400, 203)
	l.hear("", "GET", "/balance", "").refused(t, 403, 300)
	l.hear("", "GET", "/nowhere", "").refused(t, 404, 110)
}

func TestAPageOfAProxyIsNoJSON(t *testing.T) {
	for _, status := range []int{200, 502} {
		for _, work := range []bool{false, true} {
			l := faulty(t, fault.Fault{Kind: fault.HTML, Code: status, Work: work})
			a, err := l.place()
			require.NoError(t, err)
			require.Equal(t, status, a.status)
			require.Equal(t, "text/html; charset=utf-8", a.header.Get("Content-Type"))
			require.Empty(t, a.header.Get("Service-Ratelimit-Remaining"))
			require.Equal(t, 0, exchange.ParseError(a.status, []byte(a.body)).Code)
			require.Equal(t, work, l.orders("alice") == 1)
		}
	}
}

// asked sends a request in the background and returns where its answer comes.
func (l *line) asked(account, method, path, body string) <-chan answer {
	came := make(chan answer, 1)
	l.waits.Go(func() {
		a, err := l.ask(account, method, path, body)
		if err != nil {
			a.body = err.Error()
		}
		came <- a
	})
	return came
}

// patience is how long a test waits for what must come: a busy machine may stand still for half a
// minute.
const patience = 3 * time.Minute

// waiting returns when a request waits on the exchange's clock.
func (l *line) waiting() {
	l.t.Helper()
	require.Eventually(l.t, func() bool {
		l.ex.clock.mu.Lock()
		defer l.ex.clock.mu.Unlock()
		return l.ex.clock.moved != nil
	}, patience, time.Millisecond)
}

func TestADelayedRequestIsDoneWhenTheClockSaysSo(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.DelayRequest, Delay: 5 * time.Second, Endpoints: postOrder})
	came := l.asked("alice", "POST", "/order", buy)
	l.waiting()
	require.Equal(t, 0, l.orders("alice"))
	l.pass(4 * time.Second)
	l.waiting()
	require.Equal(t, 0, l.orders("alice"))
	l.pass(time.Second)
	(<-came).ok(t)
	require.Equal(t, 1, l.orders("alice"))
}

func TestARequestDelayedBeyondItsWindowIsTooLate(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.DelayRequest, Delay: 11 * time.Second})
	came := l.asked("alice", "POST", "/order", buy)
	l.waiting()
	l.pass(11 * time.Second)
	(<-came).refused(t, 403, 304)
	require.Equal(t, 0, l.orders("alice"))
}

func TestADelayedRequestIsDoneAlthoughItsClientHasGone(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.DelayRequest, Delay: 5 * time.Second})
	came := l.asked("alice", "POST", "/order", buy)
	l.waiting()
	l.server.CloseClientConnections()
	require.Zero(t, (<-came).status, "it has heard nothing")
	require.Equal(t, 0, l.orders("alice"))
	l.pass(5 * time.Second)
	require.Eventually(t, func() bool { return l.orders("alice") == 1 }, patience, time.Millisecond)
}

func TestADelayedAnswerComesAfterItsWork(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.DelayAnswer, Delay: time.Minute})
	came := l.asked("alice", "POST", "/order", buy)
	l.waiting()
	require.Equal(t, 1, l.orders("alice"))
	require.Empty(t, came)
	l.pass(time.Minute)
	(<-came).ok(t)
}

func TestADelayOnARunningClockPassesByItself(t *testing.T) {
	l := newLine(t, func(c *Config) {
		c.Clock = NewClock(rigStart, 1)
		c.Faults = []fault.Fault{{Kind: fault.DelayAnswer, Delay: 30 * time.Millisecond},
			{Kind: fault.DelayRequest, Delay: 30 * time.Millisecond}}
	})
	began := time.Now()
	l.hear("", "GET", "/time", "").ok(t)
	require.GreaterOrEqual(t, time.Since(began), 60*time.Millisecond) // delays add up
}

func TestWithoutTheScriptWhoWaitsGoesOn(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.DelayRequest, Delay: time.Hour})
	came := l.asked("", "GET", "/time", "")
	l.waiting()
	l.admin("DELETE", "/faults", "").ok(t)
	(<-came).ok(t)
	l.hear("", "GET", "/time", "").ok(t)
}

// order reads an order as its account sees it.
func (l *line) order(account, id string) (o told) {
	l.t.Helper()
	l.hear(account, "GET", "/order?market=BTC-EUR&orderId="+id, "").json(l.t, &o)
	return o
}

const (
	bobSells   = `{"market":"BTC-EUR","side":"sell","orderType":"limit","amount":"0.01","price":"50000","operatorId":1}`
	marketSell = `{"market":"BTC-EUR","side":"sell","orderType":"market","amount":"0.01","operatorId":1}`
)

func TestALateFillComesToTheBookAfterItsDelay(t *testing.T) {
	for _, body := range []string{bobSells, marketSell} {
		l := faulty(t, fault.Fault{Kind: fault.LateFill, Account: "bob", Delay: 3 * time.Second})
		var first, o told
		l.hear("alice", "POST", "/order", buy).json(t, &first)
		l.hear("bob", "POST", "/order", body).json(t, &o)
		require.Equal(t, "new", o.Status)
		require.False(t, o.Visible)
		l.pass(2 * time.Second)
		require.Equal(t, "new", l.order("bob", o.OrderID).Status)
		require.Equal(t, "new", l.order("alice", first.OrderID).Status)
		l.pass(time.Second)
		require.Equal(t, "filled", l.order("bob", o.OrderID).Status)
		require.Equal(t, "filled", l.order("alice", first.OrderID).Status)
	}
}

func TestALateOrderThatMeetsNobodyRestsOrExpires(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.LateFill, Delay: time.Second})
	var limit, taker told
	l.hear("alice", "POST", "/order", buy).json(t, &limit)
	l.hear("bob", "POST", "/order", strings.Replace(bobSells, `"price"`, `"timeInForce":"IOC","price"`, 1)).json(t,
		&taker)
	nonce := l.ex.listings[1].nonce
	l.admin("POST", "/cancelOrders", `{"market":"BTC-EUR","orderId":"`+limit.OrderID+`"}`).ok(t)
	require.Equal(t, nonce, l.ex.listings[1].nonce, "who stands aside is not in the book")
	l.hear("alice", "POST", "/order", buy).json(t, &limit)
	l.pass(500 * time.Millisecond)
	l.admin("POST", "/status", `{"market":"BTC-EUR","status":"auction"}`).ok(t)
	l.pass(time.Second)
	require.Equal(t, "expired", l.order("bob", taker.OrderID).Status)
	o := l.order("alice", limit.OrderID)
	require.Equal(t, "new", o.Status)
	require.True(t, o.Visible)
}

func TestALateOrderCanBeCancelledMeanwhile(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.LateFill, Delay: time.Second, Endpoints: postOrder})
	var o told
	l.hear("alice", "POST", "/order", buy).json(t, &o)
	l.hear("alice", "DELETE", "/order?market=BTC-EUR&operatorId=1&orderId="+o.OrderID, "").ok(t)
	l.pass(time.Second)
	require.Equal(t, "canceled", l.order("alice", o.OrderID).Status)
}

func TestAnUpdateBringsALateOrderToTheBook(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.LateFill, Delay: time.Second, Endpoints: postOrder})
	var o told
	l.hear("alice", "POST", "/order", buy).json(t, &o)
	l.hear("alice", "PUT", "/order", `{"market":"BTC-EUR","orderId":"`+o.OrderID+`","operatorId":1,"price":"50001"}`).
		ok(t)
	require.True(t, l.order("alice", o.OrderID).Visible)
	l.pass(time.Second)
	require.Equal(t, 1, l.orders("alice"))
}

func TestFeesSettledLateAreToldLate(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.LateSettlement, Endpoints: postOrder, Account: "bob",
		Delay: 4 * time.Second},
		fault.Fault{Kind: fault.LateFill, Account: "bob", Nth: 2, Delay: time.Second, Endpoints: postOrder})
	var maker, taker, late told
	l.hear("alice", "POST", "/order", buy).json(t, &maker)
	l.hear("bob", "POST", "/order", bobSells).json(t, &taker)
	require.Equal(t, "filled", taker.Status)
	require.False(t, taker.Fills[0].Settled)
	require.Nil(t, taker.Fills[0].Fee)
	require.False(t, l.order("alice", maker.OrderID).Fills[0].Settled, "a trade is settled for both or for none")
	l.pass(4 * time.Second)
	o := l.order("bob", taker.OrderID)
	require.True(t, o.Fills[0].Settled)
	require.NotEqual(t, "0", o.FeePaid)

	// Of an order that comes late too the delay counts from the fill.
	l.hear("alice", "POST", "/order", buy).ok(t)
	l.hear("bob", "POST", "/order", bobSells).json(t, &late)
	l.pass(4900 * time.Millisecond)
	require.False(t, l.order("bob", late.OrderID).Fills[0].Settled)
	l.pass(100 * time.Millisecond)
	require.True(t, l.order("bob", late.OrderID).Fills[0].Settled)
	require.True(t, l.ex.settleLater == 0)
}

func TestASkewedClockTellsAndChecksAnotherTime(t *testing.T) {
	for _, c := range []struct {
		skew market.Duration
		code int
	}{{time.Minute, 304}, {-time.Minute, 304}, {9 * time.Second, 0}} {
		l := faulty(t, fault.Fault{Kind: fault.ClockSkew, Skew: c.skew})
		l.hear("", "GET", "/time", "").ok(t).says(t, fmt.Sprintf(`"timeNs":%d`, int64(rigStart.Add(c.skew))))
		if a := l.hear("alice", "POST", "/order", buy); c.code != 0 {
			a.refused(t, 403, c.code)
		} else {
			a.ok(t).says(t, fmt.Sprintf(`"created":%d`, rigStart.Millis())) // what is told of the past does not move
		}
	}
}

func TestAnAnswerOverAHandMadeConnectionIsAborted(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.ResetAnswer})
	require.PanicsWithError(t, http.ErrAbortHandler.Error(),
		func() { l.ex.ServeHTTP(httptest.NewRecorder(), l.request("", "GET", "/time", "")) })
}

func TestClientsMeetFaultsWhileTheScriptChanges(t *testing.T) {
	l := newLine(t, func(c *Config) {
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		c.Faults = []fault.Fault{{Kind: fault.DropAnswer, Probability: 0.2},
			{Kind: fault.LateFill, Delay: time.Millisecond, Probability: 0.5}, {Kind: fault.Error, Code: 109,
				Work: true, Probability: 0.2}}
	})
	var clients sync.WaitGroup
	for _, name := range []string{"alice", "bob", "alice", "bob"} {
		clients.Go(func() {
			for i := range 40 {
				body := buy
				if i%2 == 0 {
					body = bobSells
				}
				if _, err := l.ask(name, "POST", "/order", body); err != nil && !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				l.ask(name, "GET", "/ordersOpen", "") // it may be dropped too
			}
		})
	}
	for i := range 10 {
		l.pass(time.Millisecond)
		l.admin("PUT", "/faults",
			fmt.Sprintf(`{"seed":%d,"faults":[{"kind":"dropRequest","probability":0.3},{"kind":"delayAnswer","delay":"1ms"}]}`, i)).ok(t)
		l.admin("POST", "/rules", fmt.Sprintf(`{"market":"BTC-EUR","maxOpenOrders":%d}`, 100+i)).ok(t)
	}
	l.admin("DELETE", "/faults", "").ok(t)
	clients.Wait()
}
