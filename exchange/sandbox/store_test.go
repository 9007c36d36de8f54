package sandbox

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// kept is a change of a rig's config: moving prices, a house, short lists, fees that are told late,
// two groups with a timer, and a state file; "" is none.
func kept(path string) func(*Config) {
	return func(c *Config) {
		c.State = path
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		c.Retention = Retention{Orders: 5, Trades: 7, Transactions: 6, Candles: 20}
		c.Rules.SettleAfter, c.Rules.GroupsPerAccount = 7*time.Second, 2
		c.History = 30 * time.Minute
		c.Admin = "token of the operator"
		c.Faults = []fault.Fault{{Kind: fault.LateFill, Endpoints: []string{"POST /order"}, Market: "ETH-EUR",
			Delay: 40 * time.Second}}
		c.Markets[0].Source, c.Markets[1].Source = prices.Synthetic{Price: "95000", Volatility: 0.5}, recorded()
		for i := range 2 {
			c.Markets[i].Liquidity = Liquidity{Levels: 4, HalfSpread: 20_000, Step: 100, Size: "0.02"}
		}
		c.Markets[2].Source = prices.Fixed("0.5")
		c.Tiers = []Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": {Maker: 150_000, Taker: 250_000}}},
			{Volume: "20000", Fees: map[string]exchange.Fees{"": {Maker: -10_000, Taker: 200_000}}}}
	}
}

// recorded is a source that replays five hours of ETH-EUR, up and down, and then stands still.
func recorded() prices.Source {
	minute, at := int64(0), rigStart.Add(-30*time.Minute)
	return prices.Replay{Candles: func() (c market.Candle, more bool, err error) {
		open := market.Price(330000 + (minute*7919)%9000 - 4500)
		c = market.Candle{Start: market.Interval1m.Floor(at).Add(time.Duration(minute) * time.Minute),
			Interval: market.Interval1m, Open: open, High: open + 900, Low: open - 700, Close: open +
				300, Volume: 3_00000000}
		minute++
		return c, minute <= 300, nil
	}}
}

// kill lets go of the state file as a kill does: what is not written is lost.
func (r *rig) kill() {
	r.ex.mu.Lock()
	defer r.ex.mu.Unlock()
	require.NoError(r.t, r.ex.store.db.Close())
}

// again makes the exchange anew from its state file, with the clock that it had.
func (r *rig) again(change ...func(*Config)) {
	config := rigConfig()
	kept(r.ex.config.State)(&config)
	config.Clock = r.ex.clock
	for _, alter := range change {
		alter(&config)
	}
	before := r.ex.onPanic
	ex, err := New(config)
	require.NoError(r.t, err)
	r.ex = ex
	r.ex.onPanic = before
}

// questions are what can be asked without changing anything.
func questions() (public, private []string) {
	for _, m := range [...]string{"BTC-EUR", "ETH-EUR", "ADA-EUR"} {
		public = append(public, "/"+m+"/book", "/"+m+"/trades", "/"+m+"/trades?limit=3", "/report/"+m+"/book",
			"/report/"+m+"/trades")
		for _, interval := range market.Intervals() {
			public = append(public, "/"+m+"/candles?interval="+interval.String())
		}
		private = append(private, "/orders?market="+m, "/orders?limit=2&market="+m, "/trades?market="+m,
			"/account/fees?market="+m)
	}
	for _, path := range [...]string{"/ticker/price", "/ticker/book", "/ticker/24h", "/time", "/markets", "/assets"} {
		public = append(public, path)
	}
	for _, symbol := range [...]string{"EUR", "BTC", "ADA"} {
		private = append(private, "/deposit?symbol="+symbol)
	}
	return public, append(private, "/ordersOpen", "/balance", "/account", "/account/fees", "/account/history",
		"/account/history?maxItems=2&page=2", "/depositHistory", "/withdrawalHistory")
}

// view is what everybody can see of the exchange, answer by answer.
func (r *rig) view() (all []string) {
	public, private := questions()
	for _, path := range public {
		a := r.get(path)
		all = append(all, fmt.Sprintln(path, a.status, a.body))
	}
	for _, account := range [...]string{"alice", "bob"} {
		for _, path := range private {
			a := r.send(account, http.MethodGet, path, "")
			require.Equal(r.t, http.StatusOK, a.status, "%s: %s", path, a.body)
			all = append(all, fmt.Sprintln(account, path, a.body))
		}
	}
	return append(all, r.operate(http.MethodGet, "/ledger", ""), r.operate(http.MethodGet, "/transfers", ""),
		r.operate(http.MethodGet, "/clock", ""))
}

// requireSame wants the same lines, and shows the first that differs.
func requireSame(t *testing.T, want, have []string, when string) {
	for i := range min(len(want), len(have)) {
		require.Equal(t, want[i], have[i], when)
	}
	require.Len(t, have, len(want), when)
}

// step is one thing that a client or an operator does; it returns what was answered.
type step func(r *rig) string

func requestAs(account, method, path, body string) step {
	return func(r *rig) string {
		a := r.send(account, method, path, body)
		return fmt.Sprintln(account, method, path, body, a.status, a.body)
	}
}

// operates is what the operator does.
func operates(method, path, body string) step {
	return func(r *rig) string { return r.operate(method, path, body) }
}

// operate asks the admin interface.
func (r *rig) operate(method, path, body string) string {
	request := httptest.NewRequest(method, "/admin"+path, strings.NewReader(body))
	request.RemoteAddr = "127.0.0.1:5000"
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+r.ex.config.Admin)
	recorder := httptest.NewRecorder()
	r.ex.ServeHTTP(recorder, request)
	return fmt.Sprintln(method, path, body, recorder.Code, recorder.Body)
}

// whims draws what happens to an exchange.
type whims struct {
	*rand.Rand
	names int
	given []string // clientOrderIds
}

func (l *whims) of(words ...string) string { return words[l.IntN(len(words))] }

func (l *whims) step() step {
	account, m := l.of("alice", "bob"), l.of("BTC-EUR", "BTC-EUR", "ETH-EUR", "ADA-EUR")
	switch draw := l.IntN(100); {
	case draw < 40:
		return requestAs(account, http.MethodPost, "/order", l.order(m))
	case draw < 50 && len(l.given) > 0:
		return requestAs(account, http.MethodPut, "/order",
			fmt.Sprintf(`{"market":%q,"clientOrderId":%q,"operatorId":2,"price":%q}`, m, l.of(l.given...), l.price(m)))
	case draw < 58 && len(l.given) > 0:
		return requestAs(account, http.MethodDelete, "/order?operatorId=3&market="+m+"&clientOrderId="+l.of(l.given...),
			"")
	case draw < 60:
		return requestAs(account, http.MethodDelete, "/orders?operatorId=3&market="+m, "")
	case draw < 65:
		return requestAs(account, http.MethodPost, "/cancelOrdersAfter",
			fmt.Sprintf(`{"codGroupId":%d,"expiryAfterSeconds":%s}`, 1+l.IntN(3), l.of("0", "10", "15", "30")))
	case draw < 70:
		return requestAs(account, http.MethodPost, "/withdrawal",
			fmt.Sprintf(`{"symbol":%q,"amount":"%d.5","address":"DE89370400440532013000"}`, l.of("EUR", "BTC", "ADA"),
				1+l.IntN(30)))
	case draw < 73:
		return operates(http.MethodPost, "/deposit", fmt.Sprintf(`{"account":%q,"symbol":%q,"amount":"%d"}`, account,
			l.of("EUR", "BTC", "ADA"), 1+l.IntN(50)))
	case draw < 76:
		return operates(http.MethodPost, "/status",
			fmt.Sprintf(`{"market":%q,"status":%q}`, m, l.of("trading", "trading", "trading", "halted", "auction",
				"auctionMatching", "cancelOnly")))
	case draw < 78:
		return operates(http.MethodPost, "/rules", fmt.Sprintf(`{"market":%q,"tickSize":%q,"maxOpenOrders":%d}`, m,
			l.of("0.01", "0.05", "1", "2.5"), 3+l.IntN(100)))
	case draw < 79:
		return operates(http.MethodPost, "/price",
			fmt.Sprintf(`{"market":%q,"price":"%d","amount":"1"}`, m,
				map[string]int{"BTC-EUR": 18500, "ETH-EUR": 640, "ADA-EUR": 1}[m]*5+5*l.IntN(40)))
	case draw < 80:
		return operates(http.MethodPost, "/cancelOrders",
			fmt.Sprintf(`{"market":%q,"account":%q,"reason":%q}`, m, account,
				l.of("cancelOnMaintenance", "cancelOnDelisting")))
	case draw < 81:
		return operates(http.MethodPost, "/clock", `{"advance":"90s"}`)
	case draw < 83:
		return func(r *rig) string { return strings.Join(r.view(), "") }
	}
	passed := time.Duration(l.Int64N(int64([...]time.Duration{2 * time.Second, time.Minute,
		20 * time.Minute}[l.IntN(3)])))
	return func(r *rig) string { r.pass(passed); return "" }
}

func (l *whims) price(m string) string {
	about := map[string]float64{"BTC-EUR": 95000, "ETH-EUR": 3300, "ADA-EUR": 0.5}[m]
	return fmt.Sprintf("%.2f", about*(0.97+0.06*l.Float64()))
}

func (l *whims) order(m string) string {
	amount := fmt.Sprintf("%.4f",
		map[string]float64{"BTC-EUR": 0.03, "ETH-EUR": 0.9, "ADA-EUR": 500}[m]*(0.1+l.Float64()))
	text := fmt.Sprintf(`{"market":%q,"operatorId":1,"side":%q,"selfTradePrevention":%q`, m, l.of("buy", "sell"),
		l.of("decrementAndCancel", "cancelOldest", "cancelNewest", "cancelBoth"))
	kind := l.of("limit", "limit", "limit", "market", "market", "stopLoss", "stopLossLimit", "takeProfit",
		"takeProfitLimit")
	text += fmt.Sprintf(`,"orderType":%q`, kind)
	if strings.HasSuffix(kind, "imit") {
		text += fmt.Sprintf(`,"price":%q`, l.price(m))
	}
	if kind != "limit" && kind != "market" {
		text += fmt.Sprintf(`,"triggerType":"price","triggerReference":%q,"triggerAmount":%q`,
			l.of("lastTrade", "bestBid", "bestAsk", "midPrice"), l.price(m))
	}
	if kind == "market" && l.IntN(2) == 0 {
		text += fmt.Sprintf(`,"amountQuote":"%d"`, 6+l.IntN(3000))
	} else {
		text += fmt.Sprintf(`,"amount":%q`, amount)
	}
	if l.IntN(3) > 0 {
		if l.IntN(6) > 0 || len(l.given) == 0 { // else one of those that there were
			l.names++
			l.given = append(l.given, fmt.Sprintf("00000000-0000-4000-8000-%012d", l.names))
		}
		l.given = l.given[max(0, len(l.given)-12):]
		text += fmt.Sprintf(`,"clientOrderId":%q`, l.given[len(l.given)-1])
	}
	if l.IntN(3) == 0 {
		text += fmt.Sprintf(`,"codGroupId":%d`, 1+l.IntN(3))
	}
	return text + "}"
}

var seeds = flag.Int("seeds",
	1, "how many seeds TestAnExchangeThatIsKilledLivesOnAsIfItHadNotBeen plays; TestAKillLosesNothingThatWasAnswered "+
		"kills 4 times for each")

// An exchange that is killed now and then, and one that keeps nothing and is never killed, give the
// same answers to everything. More seeds:
//
//	go test -run Killed ./exchange/sandbox -seeds 20
func TestAnExchangeThatIsKilledLivesOnAsIfItHadNotBeen(t *testing.T) {
	steps := 250
	if testing.Short() {
		steps = 80
	}
	for seed := range uint64(*seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			l := &whims{Rand: rand.New(rand.NewPCG(seed, 7))}
			mortal, other := newRig(t, kept(filepath.Join(t.TempDir(), "exchange.db"))), newRig(t, kept(""))
			kills := 0
			for n := range steps {
				happen := l.step()
				want, have := happen(other), happen(mortal)
				requireSame(t, strings.Split(want, "\n"), strings.Split(have, "\n"), fmt.Sprint("step ", n))
				if n%100 == 50 {
					mortal.pass(14 * time.Hour) // past the hour at which tiers are worked out
					other.pass(14 * time.Hour)
				}
				if l.IntN(8) == 0 {
					kills++
					mortal.kill()
					passed := time.Duration(l.Int64N(int64(time.Minute)))
					mortal.pass(passed)
					other.pass(passed)
					mortal.again()
					requireSame(t, other.view(), mortal.view(), fmt.Sprintf("step %d, kill %d", n, kills))
				}
			}
			require.NoError(t, mortal.ex.Close())
			mortal.again()
			requireSame(t, other.view(), mortal.view(), "in the end")
			require.NoError(t, mortal.ex.Err())
			require.NoError(t, mortal.ex.Close())
			requireTidy(t, mortal.ex)
		})
	}
}

// requireTidy wants a closed exchange's file to hold no more than is remembered.
func requireTidy(t *testing.T, ex *Exchange) {
	db, err := bbolt.Open(ex.config.State, 0o600, &bbolt.Options{ReadOnly: true})
	require.NoError(t, err)
	defer db.Close()
	lists := map[string]int{}
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		for name, most := range map[string]int{"trades": 7, "transactions": 6, "tape": 7, "bars": 20} {
			require.NoError(t, tx.Bucket([]byte(name)).ForEach(func(key, _ []byte) error {
				list := name + string(key[:len(key)-8])
				lists[list]++
				require.LessOrEqual(t, lists[list], most, "%q", list)
				return nil
			}))
		}
		orders := 0
		for _, l := range ex.listings[1:] {
			orders += l.orders.Len()
		}
		require.Equal(t, orders, tx.Bucket(bucketOrders).Stats().KeyN)
		transfers := map[*transfer]bool{}
		for _, a := range ex.accounts {
			for _, one := range slices.Concat(latest(a.deposits, 6), latest(a.withdrawals, 6), ex.bank.inFlight) {
				transfers[one] = true
			}
		}
		require.Equal(t, len(transfers), tx.Bucket(bucketTransfers).Stats().KeyN)
		return nil
	}))
	require.NotEmpty(t, lists)
	require.NoError(t, os.Remove(ex.config.State))
}
