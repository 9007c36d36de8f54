package rest_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// town is the simulated exchange in a synctest bubble, and a ledger before it. Its clock is the
// bubble's.
type town struct {
	t       testing.TB
	ex      *sandbox.Exchange
	key     api.Key
	ledger  *rest.WeightBudget
	skew    time.Duration // of the ledger's clock
	mu      sync.Mutex    // guards everything below
	warned  []rest.Warning
	reached int // requests that came to the exchange
	banned  int // of them with 429
}

func openTown(t testing.TB, perKey, perIP int) *town {
	config := sandbox.Default()
	config.History, config.Clock = 0, sandbox.NewClock(0, 1)
	config.Budget = api.Budget{PerKey: perKey, PerIP: perIP}
	ex, err := sandbox.New(config)
	require.NoError(t, err)
	w := &town{t: t, ex: ex, key: config.Accounts[0].Keys[0]}
	w.ledger = w.open(perKey, perIP)
	return w
}

// open makes a ledger, as a new process does.
func (w *town) open(perKey, perIP int) *rest.WeightBudget {
	return rest.NewWeightBudget(rest.LedgerConfig{
		PerKey: perKey, PerIP: perIP, Now: w.now,
		After: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop },
		Warn: func(warning rest.Warning) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.warned = append(w.warned, warning)
		},
	})
}

func (w *town) now() market.Time { return market.Time(time.Now().Add(w.skew).UnixNano()) }

// served is how many requests came to the exchange, refused how many of them it answered with 429.
func (w *town) served() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached
}

func (w *town) refused() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.banned
}

func (w *town) warnings(kind rest.WarningKind) (some []rest.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.warned {
		if one.Kind == kind {
			some = append(some, one)
		}
	}
	return some
}

// ask is one request as it stands in the table of weights.
type ask struct {
	method, path string
	weight       int
	payer        rest.Payer
}

var (
	askTime     = ask{"GET", "/v2/time", 1, rest.PaidByIP}
	askTrades   = ask{"GET", "/v2/BTC-EUR/trades?limit=1", 5, rest.PaidByIP}
	askTickers  = ask{"GET", "/v2/ticker/24h", 25, rest.PaidByIP}
	askBook     = ask{"GET", "/v2/ticker/book", 1, rest.PaidByKey}
	askBalance  = ask{"GET", "/v2/balance", 5, rest.PaidByKey}
	askAllOpen  = ask{"GET", "/v2/ordersOpen", 100, rest.PaidByKey}
	askOneOrder = ask{"GET", "/v2/order?market=BTC-EUR&orderId=00000000-0000-0000-0000-000000000001", 1, rest.PaidByKey}
)

// send is one request on the wire.
func (w *town) send(a ask) (h http.Header, status int, body []byte) {
	r := httptest.NewRequest(a.method, a.path, nil)
	if a.payer == rest.PaidByKey {
		stamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
		mac := hmac.New(sha256.New, []byte(w.key.Secret))
		mac.Write([]byte(stamp + a.method + a.path))
		r.Header.Set("Service-Access-Key", w.key.Key)
		r.Header.Set("Service-Access-Timestamp", stamp)
		r.Header.Set("Service-Access-Signature", hex.EncodeToString(mac.Sum(nil)))
	}
	recorder := httptest.NewRecorder()
	w.ex.ServeHTTP(recorder, r)
	h = http.Header{}
	for name, values := range recorder.Header() {
		h[http.CanonicalHeaderKey(name)] = values // as a connection brings them
	}
	w.count(recorder.Code)
	return h, recorder.Code, recorder.Body.Bytes()
}

func (w *town) count(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached++
	if status == http.StatusTooManyRequests {
		w.banned++
	}
}

// do is one request through the ledger, on the way for so long there and back.
func (w *town) do(ctx context.Context, l *rest.WeightBudget, lane rest.Lane, a ask, there, back time.Duration) error {
	done, err := l.Begin(ctx, lane, a.method+" "+a.path, a.weight, a.payer)
	if err != nil {
		return err
	}
	time.Sleep(there)
	h, status, body := w.send(a)
	time.Sleep(back)
	done(h, status, body)
	return nil
}

func TestNoMinuteOfTheExchangeIsOverspent(t *testing.T) {
	first := uint64(time.Now().UnixNano())
	for seed := first; seed < first+40; seed++ {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			time.Sleep(time.Duration(random.Int64N(int64(time.Minute))))
			perKey, perIP := 150+random.IntN(300), 60+random.IntN(200)
			w := openTown(t, perKey, perIP)
			w.skew = time.Duration(random.Int64N(400)-200) * time.Millisecond
			for range 2 + random.IntN(2) { // lives of a process; each is killed in the midst of its requests
				w.live(random, w.ledger, time.Duration(random.Int64N(int64(100*time.Second))))
				state := w.ledger.Snapshot()
				w.ledger = w.open(perKey, perIP)
				w.ledger.Restore(state)
			}
			time.Sleep(5 * time.Second)
			require.Zero(t, w.refused(), "seed %d: of %d requests, %d points for the key and %d for the address", seed,
				w.served(), perKey, perIP)
			require.Greater(t, w.served(), 20, "seed %d: nothing much was asked", seed)
		})
	}
}

// live lets many clients ask at once for some time. Requests and answers get lost, and some answers
// have no headers, as over a socket.
func (w *town) live(random *rand.Rand, l *rest.WeightBudget, life time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), max(life, 20*time.Second))
	defer cancel()
	asks := []ask{askTime, askTrades, askTickers, askBook, askBook, askBalance, askOneOrder}
	for range 5 + random.IntN(30) {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		go func() {
			for ctx.Err() == nil {
				a, lane := asks[own.IntN(len(asks))], rest.Lane(1+own.IntN(5))
				done, err := l.Begin(ctx, lane, "", a.weight, a.payer)
				if err != nil {
					return
				}
				time.Sleep(time.Duration(own.Int64N(int64(800 * time.Millisecond))))
				var h http.Header
				var status int
				var body []byte
				fate := own.IntN(20)
				if fate != 0 { // else it never arrives
					h, status, body = w.send(a)
				}
				time.Sleep(time.Duration(own.Int64N(int64(2 * time.Second))))
				if fate < 2 {
					h, status, body = nil, 0, nil
				}
				if fate >= 14 { // it came over a socket
					h = nil
				}
				done(h, status, body)
				time.Sleep(time.Duration(own.Int64N(int64(time.Second))))
			}
		}()
	}
	<-ctx.Done()
	if random.IntN(2) == 0 {
		time.Sleep(5 * time.Second) // all are answered; else the process dies with requests under way
	}
}

// A minute that begins early on the ledger's clock must not be spent from while the exchange still
// counts the last.
func TestAClockThatIsAheadOverspendsNothing(t *testing.T) {
	for _, skew := range []time.Duration{0, 240 * time.Millisecond, -240 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			w := openTown(t, 100, 100)
			w.skew = skew
			time.Sleep(time.Second)
			for range 500 { // five minutes of points, one after the other
				require.NoError(t, w.do(t.Context(), w.ledger, rest.Cancel, askOneOrder, 0, 0))
			}
			require.Zero(t, w.refused(), "skew %s", skew)
			require.Less(t, time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), 4*time.Minute+time.Second,
				"and nothing is left over")
		})
	}
}

func TestTheClientKeepsToTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 120, 60)
		key, secret := rest.NewSecret(w.key.Key), rest.NewSecret(w.key.Secret)
		client, err := rest.New(rest.Config{BaseURL: "http://127.0.0.1", Key: key, Secret: secret, Budget: w.ledger,
			Transport: handlerTransport{w}})
		require.NoError(t, err)
		require.NoError(t, client.Sync(t.Context()))
		start := time.Now()
		var all sync.WaitGroup
		for range 60 {
			all.Go(func() {
				_, err := client.Balances(t.Context(), "")
				require.NoError(t, err)
				_, err = client.Time(t.Context())
				require.NoError(t, err)
			})
		}
		all.Wait()
		require.Zero(t, w.refused())
		require.Equal(t, 60*2+5, w.served())
		require.Greater(t, time.Since(start), 5*time.Minute, "300 points at 52 a minute")
	})
}

// handlerTransport brings requests to the exchange without a connection.
type handlerTransport struct{ *town }

func (h handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	h.ex.ServeHTTP(recorder, r)
	h.count(recorder.Code)
	answer := recorder.Result()
	for name, values := range recorder.Header() {
		answer.Header[http.CanonicalHeaderKey(name)] = values
	}
	return answer, nil
}

func TestACancelNeverWaitsBehindMarketData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 200, 200)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		for range 30 {
			go func() {
				for w.do(ctx, w.ledger, rest.MarketData, askBook, 30*time.Millisecond, 30*time.Millisecond) == nil {
				}
			}()
		}
		for range 100 {
			time.Sleep(1700 * time.Millisecond)
			before := time.Now()
			require.NoError(t, w.do(ctx, w.ledger, rest.Cancel, askOneOrder, 0, 0))
			require.Zero(t, time.Since(before), "at %s", before)
		}
		slow := w.warnings(rest.WarnSlow)
		require.GreaterOrEqual(t, len(slow), 2, "market data had to wait")
		require.LessOrEqual(t, len(slow), 4, "and each minute said so once")
		require.Zero(t, w.refused())
		<-ctx.Done()
		time.Sleep(time.Second)
	})
}

func TestEachLaneStopsWhereTheReserveOfThoseBeforeItBegins(t *testing.T) {
	for _, row := range []struct {
		lane   rest.Lane
		orders int
		payer  rest.Payer
		want   int // points of 1000 that it gets in a minute
	}{
		{rest.Cancel, 20, rest.PaidByKey, 1000},
		{rest.Confirm, 20, rest.PaidByKey, 980},    // one for each order is left
		{rest.Protective, 20, rest.PaidByKey, 910}, // two for each order and 50 are left
		{rest.Order, 20, rest.PaidByKey, 810},
		{rest.Reconcile, 20, rest.PaidByKey, 760},
		{rest.Confirm, 5000, rest.PaidByKey, 750},
		{rest.Protective, 5000, rest.PaidByKey, 500}, // never more than half
		{rest.Reconcile, 0, rest.PaidByIP, 950},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := openTown(t, 1000, 1000)
			w.ledger.SetOpenOrders(row.orders)
			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
			defer cancel()
			have := 0
			for have <= 1000 {
				if _, err := w.ledger.Begin(ctx, row.lane, "", 10, row.payer); err != nil {
					require.ErrorIs(t, err, context.DeadlineExceeded)
					break
				}
				have += 10
			}
			require.Equal(t, row.want, have, "%s with %d orders", row.lane, row.orders)
		})
	}
}

func TestMarketDataSlowsDownBeforeItStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 1000, 1000)
		start, half := time.Now(), time.Duration(0)
		for n := 0; n < 740; n++ { // of 750
			require.NoError(t, w.do(t.Context(), w.ledger, rest.MarketData, askBook, 0, 0))
			if n == 375 {
				half = time.Since(start)
			}
		}
		require.Zero(t, half, "the first half is free")
		took := time.Since(start)
		require.Greater(t, took, 55*time.Second, "the second is spread over the minute")
		require.Less(t, took, time.Minute)
	})
}

func TestUrgentRequestsOvertakeAndOthersKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 100, 100)
		var mu sync.Mutex
		var went []string
		enter := func(name string, lane rest.Lane) {
			go func() {
				done, err := w.ledger.Begin(t.Context(), lane, "", 60, rest.PaidByIP) // one a minute
				require.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				went = append(went, name)
				reset := time.Now().Truncate(time.Minute).Add(time.Minute).UnixMilli()
				done(http.Header{"Service-Ratelimit-Limit": {"100"}, "Service-Ratelimit-Remaining": {"40"},
					"Service-Ratelimit-Resetat": {strconv.FormatInt(reset, 10)}}, 200, nil)
			}()
			synctest.Wait()
		}
		enter("before all", rest.MarketData)
		enter("data 1", rest.MarketData)
		enter("data 2", rest.MarketData)
		enter("order", rest.Order)
		enter("state", rest.Reconcile)
		enter("stop", rest.Protective)
		enter("cancel 1", rest.Cancel)
		enter("cancel 2", rest.Cancel)
		time.Sleep(8 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, []string{"before all", "cancel 1", "cancel 2", "stop", "order", "state", "data 1", "data 2"},
			went)
	})
}

func TestABanStopsEverythingUntilItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 100, 100)
		time.Sleep(10 * time.Second)
		for range 100 { // another program with the same key
			w.send(askBook)
		}
		require.Zero(t, w.refused())
		require.NoError(t, w.do(t.Context(), w.ledger, rest.Order, askBook, 0, 0))
		require.Equal(t, 1, w.refused())
		end := w.ledger.BannedUntil(rest.PaidByKey)
		require.Equal(t, "2000-01-01T00:02:00.25Z", end.String(),
			"the rest of the minute, and one more, and the margin")
		served := w.served()
		var went sync.Map
		for lane := rest.Cancel; lane <= rest.MarketData; lane++ {
			go func() {
				if w.do(t.Context(), w.ledger, lane, askBook, 0, 0) == nil {
					went.Store(lane, w.now())
				}
			}()
		}
		time.Sleep(110*time.Second + 200*time.Millisecond)
		require.Equal(t, served, w.served(), "nothing was sent meanwhile")
		require.NoError(t, w.do(t.Context(), w.ledger, rest.MarketData, askTime, 0, 0), "the address is not banned")
		time.Sleep(time.Second)
		for lane := rest.Cancel; lane <= rest.MarketData; lane++ {
			at, ok := went.Load(lane)
			require.True(t, ok, lane)
			require.Equal(t, end, at, "%s goes on by itself", lane)
		}
		require.Equal(t, 1, w.refused())
		require.Len(t, w.warnings(rest.WarnBan), 1)
		require.Equal(t, "the exchange has banned the key for spending too much: nothing is sent until 00:02:00 UTC",
			w.warnings(rest.WarnBan)[0].String())
		require.Len(t, w.warnings(rest.WarnBanOver), 1)
	})
}

func TestTheEndOfABanIsWhatTheAnswerSays(t *testing.T) {
	const text = `{"errorCode":105,"error":"Your IP or API key has been banned for not respecting the rate limit. The ban expires at %d."}`
	at := func(clock string) int64 {
		when, err := time.Parse(time.TimeOnly, clock)
		require.NoError(t, err)
		return when.AddDate(2000, 0, 0).UnixMilli()
	}
	const banned = `{"errorCode":105,"error":"banned"}`
	for _, row := range []struct {
		name    string
		status  int
		body    string
		resetAt string
		payer   rest.Payer
		want    string // 00:00:00: no ban
		doubted string // the date in the warning
	}{
		{"text", 429, fmt.Sprintf(text, at("00:01:40")), "", rest.PaidByKey, "00:01:40", ""},
		{"header", 429, banned, strconv.FormatInt(at("00:03:00"), 10), rest.PaidByKey, "00:02:10",
			"2000-01-01 00:03:00 UTC"},
		{"the later of both", 429, fmt.Sprintf(text, at("00:01:40")), strconv.FormatInt(at("00:03:00"), 10),
			rest.PaidByKey, "00:02:10", "2000-01-01 00:03:00 UTC"},
		{"the later of both, which is the text's", 429, fmt.Sprintf(text, at("00:03:00")),
			strconv.FormatInt(at("00:01:40"), 10), rest.PaidByKey, "00:02:10", "2000-01-01 00:03:00 UTC"},
		{"code with another status", 403, fmt.Sprintf(text, at("00:04:00")), "", rest.PaidByKey, "00:02:10",
			"2000-01-01 00:04:00 UTC"},
		{"neither: a minute after the minute", 429, banned, "", rest.PaidByKey, "00:02:00", ""},
		{"neither: a quarter of an hour", 429, banned, "", rest.PaidByIP, "00:16:00", ""},
		{"in the past", 429, fmt.Sprintf(text, at("00:00:00")), "", rest.PaidByKey, "00:02:00", ""},
		{"in seconds", 429, fmt.Sprintf(text, at("00:05:00")/1000), "", rest.PaidByKey, "00:02:00", ""},
		{"in a hundred years", 429, fmt.Sprintf(text, at("00:05:00")*5), "", rest.PaidByKey, "00:02:00",
			"2119-12-31 00:25:00 UTC"},
		{"a header in years", 429, banned, strconv.FormatInt(at("00:03:00")*2, 10), rest.PaidByKey, "00:02:10",
			"2029-12-31 00:06:00 UTC"},
		{"nothing", 429, "", "", rest.PaidByIP, "00:00:00", ""},
		{"a page", 429, "<html>too many requests</html>", "", rest.PaidByKey, "00:00:00", ""},
		{"a page with a reset", 429, "too many", strconv.FormatInt(at("00:03:00"), 10), rest.PaidByKey, "00:00:00", ""},
		{"another code", 429, `{"errorCode":110,"error":"Slow down."}`, "", rest.PaidByKey, "00:00:00", ""},
		{"decimals", 400, `{"errorCode":429,"error":"amount parameter has too many decimal digits."}`, "",
			rest.PaidByKey, "00:00:00", ""},
		{"a success that looks like one", 200, fmt.Sprintf(text, at("00:04:00")), "", rest.PaidByKey, "00:00:00", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := openTown(t, 100, 100)
			time.Sleep(10 * time.Second)
			done, err := w.ledger.Begin(t.Context(), rest.Order, "", 1, row.payer)
			require.NoError(t, err)
			done(http.Header{"Service-Ratelimit-Resetat": {row.resetAt}}, row.status, []byte(row.body))
			have := w.ledger.BannedUntil(row.payer).Std()
			if !have.Equal(time.Unix(0, 0)) {
				have = have.Add(-250 * time.Millisecond)
			}
			require.Equal(t, row.want, have.Format(time.TimeOnly), row.name)
			for _, warning := range w.warnings(rest.WarnBan) {
				require.Equal(t, row.doubted, warning.Doubted, row.name)
			}
		})
	}
}

// A proxy before the exchange refuses: seconds, or its Retry-After.
func TestAPageThatIsNoAnswerOfTheExchangeLetsRequestsWaitForSeconds(t *testing.T) {
	for _, row := range []struct {
		status      int
		body, after string
		want        []time.Duration // after one page, two …
	}{
		{429, "<html>", "", []time.Duration{1e9, 2e9, 4e9, 8e9, 10e9, 10e9}},
		{403, "", "", []time.Duration{1e9, 2e9}},
		{418, "I am a teapot", "", []time.Duration{1e9, 2e9}},
		{429, "{}", "7", []time.Duration{7e9, 7e9}},
		{429, "<html>", "0", []time.Duration{1e9}},
		{429, "<html>", "Sat, 01 Jan 2000 00:00:40 GMT", []time.Duration{40e9}},
		{429, "<html>", "86400", []time.Duration{120e9}},
		{429, "<html>", "soon", []time.Duration{1e9}},
		{429, "<html>", "-5", []time.Duration{1e9}},
		{500, "<html>", "", []time.Duration{0}},
		{404, "<html>", "", []time.Duration{0}},
		{403, `{"errorCode":311,"error":"no"}`, "", []time.Duration{0}},
	} {
		for _, payer := range []rest.Payer{rest.PaidByKey, rest.PaidByIP} {
			synctest.Test(t, func(t *testing.T) {
				w := openTown(t, 1000, 1000)
				ask := func() func(http.Header, int, []byte) {
					done, err := w.ledger.Begin(t.Context(), rest.Order, "", 1, payer)
					require.NoError(t, err)
					return done
				}
				page := http.Header{"Retry-After": {row.after}, "Date": {"Sat, 01 Jan 2000 00:00:00 GMT"}}
				done := ask()
				for _, want := range row.want {
					done(page, row.status, []byte(row.body))
					began := time.Now()
					done = ask()
					require.Equal(t, want, time.Since(began), "%v", row)
					require.Zero(t, w.ledger.BannedUntil(payer))
				}
				done(nil, 200, nil)
				if row.want[0] > 0 {
					ask()(page, row.status, nil)
					require.Equal(t, row.want[0], w.ledger.HeldUntil(payer).Sub(market.Time(time.Now().UnixNano())),
						"a success begins anew")
					done, err := w.ledger.Begin(t.Context(), rest.LastCancel, "", 1, payer)
					require.NoError(t, err, "the last cancels do not wait")
					done(nil, 200, nil)
				}
				require.Empty(t, w.warnings(rest.WarnBan))
			})
		}
	}
}

func TestAWeightThatTheHeadersShowIsLearntAndSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 1000, 1000)
		cheap := askTickers
		cheap.weight = 1 // it costs 25
		require.NoError(t, w.do(t.Context(), w.ledger, rest.MarketData, askTime, 0, 0))
		for range 6 {
			require.NoError(t, w.do(t.Context(), w.ledger, rest.MarketData, cheap, 0, 0))
		}
		require.Len(t, w.warnings(rest.WarnWeight), 1)
		require.Equal(t, "GET /v2/ticker/24h costs 25 and not 1 points: the table of weights is out of date, or "+
			"another program spends from the same budget", w.warnings(rest.WarnWeight)[0].String())
		left, _ := w.ledger.Left(rest.PaidByIP)
		require.Equal(t, 1000-1-6*25, left)
		_, err := w.ledger.Begin(t.Context(), rest.MarketData, "GET /v2/ticker/24h", 1, rest.PaidByIP)
		require.NoError(t, err)
		left, _ = w.ledger.Left(rest.PaidByIP)
		require.Equal(t, 1000-1-7*25, left, "what is under way counts with its real weight")
		require.Equal(t, []rest.WeightState{{Endpoint: "GET /v2/ticker/24h", Table: 1, Real: 25}},
			w.ledger.Snapshot().Weights)
		again := w.open(1000, 1000)
		again.Restore(w.ledger.Snapshot())
		require.Equal(t, w.ledger.Snapshot().Weights, again.Snapshot().Weights)
		require.NoError(t, w.do(t.Context(), again, rest.MarketData, cheap, 0, 0))
		left, _ = again.Left(rest.PaidByIP)
		require.LessOrEqual(t, left, 1000-1-7*25)
	})
}

func TestWhatOthersSpendInBetweenIsNoWeight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 1000, 1000)
		for n := range 20 {
			require.NoError(t, w.do(t.Context(), w.ledger, rest.MarketData, askTime, 0, 0))
			if n%3 != 0 {
				w.send(askTrades)
			}
		}
		require.Empty(t, w.warnings(rest.WarnWeight))
	})
}

// Two bots with one key, each with its own rhythm, would otherwise fill each other's logs.
func TestAWeightThatComesAndGoesWithSomebodyElseIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 1000, 1000)
		for range 3 {
			for range 5 {
				w.send(askTrades)
				require.NoError(t, w.do(t.Context(), w.ledger, rest.MarketData, askTime, 0, 0))
			}
			require.Len(t, w.ledger.Snapshot().Weights, 1)
			require.Greater(t, w.ledger.Snapshot().Weights[0].Real, 1)
			for range 5 {
				require.NoError(t, w.do(t.Context(), w.ledger, rest.MarketData, askTime, 0, 0))
			}
			require.Equal(t, 1, w.ledger.Snapshot().Weights[0].Real)
		}
		require.Len(t, w.warnings(rest.WarnWeight), 1)
	})
}

func TestARestartForgetsNeitherPointsNorBan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 100, 100)
		time.Sleep(10 * time.Second)
		for range 8 {
			require.NoError(t, w.do(t.Context(), w.ledger, rest.Order, askBalance, 0, 0))
		}
		_, err := w.ledger.Begin(t.Context(), rest.Protective, "", 3, rest.PaidByKey) // under way when the process dies
		require.NoError(t, err)
		text, err := json.Marshal(w.ledger.Snapshot())
		require.NoError(t, err)
		reopen := func() *rest.WeightBudget {
			var state rest.WeightBudgetState
			require.NoError(t, json.Unmarshal(text, &state))
			l := w.open(100, 100)
			l.Restore(state)
			return l
		}
		left := func(l *rest.WeightBudget) int {
			points, _ := l.Left(rest.PaidByKey)
			return points
		}
		require.Equal(t, 100-40-3, left(reopen()))
		time.Sleep(15 * time.Second)
		require.Equal(t, 100-40-3, left(reopen()))
		time.Sleep(30 * time.Second)
		require.Equal(t, 60, left(reopen()), "what was under way has arrived by now, or never will")
		time.Sleep(10 * time.Second)
		require.Equal(t, 100, left(reopen()), "another minute")

		for range 100 {
			w.send(askBook)
		}
		require.NoError(t, w.do(t.Context(), w.ledger, rest.Order, askBook, 0, 0))
		text, err = json.Marshal(w.ledger.Snapshot())
		require.NoError(t, err)
		banned := reopen()
		require.Equal(t, w.ledger.BannedUntil(rest.PaidByKey), banned.BannedUntil(rest.PaidByKey))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = banned.Begin(ctx, rest.Cancel, "", 1, rest.PaidByKey)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(3 * time.Minute)
		require.Zero(t, reopen().BannedUntil(rest.PaidByKey))
	})
}

func TestWhoGivesUpWaitingSpendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 100, 100)
		_, err := w.ledger.Begin(t.Context(), rest.Cancel, "", 95, rest.PaidByKey)
		require.NoError(t, err)
		cause := errors.New("the order is no longer wanted")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		_, err = w.ledger.Begin(ctx, rest.Cancel, "", 1, rest.PaidByKey)
		require.ErrorIs(t, err, context.Canceled)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		_, err = w.ledger.Begin(ctx, rest.Cancel, "", 10, rest.PaidByKey)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "wait for points of the weight budget (cancel)")
		left, _ := w.ledger.Left(rest.PaidByKey)
		require.Equal(t, 5, left)
		_, err = w.ledger.Begin(t.Context(), rest.Cancel, "", 5, rest.PaidByKey)
		require.NoError(t, err, "nobody who gave up is in the way")
	})
}

func TestWhatAMinuteCanNeverPayIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 150, 100)
		_, err := w.ledger.Begin(t.Context(), rest.Reconcile, "", askAllOpen.weight, rest.PaidByKey)
		require.EqualError(t, err,
			"a request of weight 100 for reconcile: at most 78 of the 150 points of a minute may go there")
		_, err = w.ledger.Begin(t.Context(), rest.Cancel, "", askAllOpen.weight, rest.PaidByKey)
		require.NoError(t, err)
	})
}

func TestTheForecastSaysWhenThePointsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 600, 600)
		_, ends := w.ledger.Forecast(rest.PaidByKey)
		require.False(t, ends)
		for range 20 { // 20 points a second would need 1200 a minute
			time.Sleep(time.Second)
			for range 4 {
				require.NoError(t, w.do(t.Context(), w.ledger, rest.Protective, askBalance, 0, 0))
			}
		}
		end, ends := w.ledger.Forecast(rest.PaidByKey)
		require.True(t, ends)
		require.Equal(t, "00:00:30", end.Std().Format(time.TimeOnly))
		_, ends = w.ledger.Forecast(rest.PaidByIP)
		require.False(t, ends)
		require.NoError(t, w.do(t.Context(), w.ledger, rest.MarketData, askBook, 0, 0))
		slow := w.warnings(rest.WarnSlow)
		require.Len(t, slow, 1)
		require.Equal(t, "at this plan the weight budget of the key ends at 00:00:30 UTC: marketData waits",
			slow[0].String())
	})
}

func TestAClockThatIsSetRightDoesNotLockTheBudget(t *testing.T) {
	for _, skew := range []time.Duration{5 * time.Minute, -5 * time.Minute, 40 * time.Second, -40 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := openTown(t, 100, 100)
			time.Sleep(10 * time.Minute)
			w.skew = skew
			for range 10 {
				require.NoError(t, w.do(t.Context(), w.ledger, rest.Order, askBalance, 0, 0))
			}
			w.skew = 0
			before := time.Now()
			for range 8 { // what a minute has for orders
				require.NoError(t, w.do(t.Context(), w.ledger, rest.Order, askBalance, 0, 0))
			}
			require.Less(t, time.Since(before), 2*time.Minute, "skew %s", skew)
			require.Zero(t, w.refused(), "skew %s", skew)
		})
	}
}

// Two requests are on their way at a time: what the exchange has counted is of both.
func TestWhatWentTogetherTeachesNoWeight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 1000, 1000)
		used := 0
		answer := func() http.Header {
			return http.Header{"Service-Ratelimit-Limit": {"1000"},
				"Service-Ratelimit-Remaining": {strconv.Itoa(1000 - used)},
				"Service-Ratelimit-Resetat":   {strconv.FormatInt(w.now().Add(time.Minute).Millis()/60_000*60_000, 10)}}
		}
		for range 10 {
			first, err := w.ledger.Begin(t.Context(), rest.Reconcile, "GET /balance", 5, rest.PaidByKey)
			require.NoError(t, err)
			second, err := w.ledger.Begin(t.Context(), rest.Reconcile, "GET /order", 1, rest.PaidByKey)
			require.NoError(t, err)
			used += 6
			second(answer(), 200, nil)
			first(answer(), 200, nil)
		}
		require.Empty(t, w.warnings(rest.WarnWeight))
	})
}

func TestAClockThatIsSetBackEndsTheMinuteAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openTown(t, 100, 100)
		w.skew = time.Hour
		_, err := w.ledger.Begin(t.Context(), rest.Cancel, "", 90, rest.PaidByKey)
		require.NoError(t, err)
		w.skew = 0
		_, reset := w.ledger.Left(rest.PaidByKey)
		require.LessOrEqual(t, reset.Sub(w.now()), time.Minute)
	})
}
