package sandbox

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

// overload is a fault that shows whom it strikes and does nothing else.
var overload = fault.Fault{Kind: fault.Error, Code: 107}

// struck asks for the time so often and returns which requests met a fault, as text: x for those.
func (l *line) struck(times int) string {
	l.t.Helper()
	var pattern strings.Builder
	for range times {
		if l.get("/time").status == 503 {
			pattern.WriteByte('x')
		} else {
			pattern.WriteByte('.')
		}
	}
	return pattern.String()
}

func TestSelectorsChooseWhomAFaultStrikes(t *testing.T) {
	const other = `{"market":"ETH-EUR","side":"buy","orderType":"limit","amount":"0.01","price":"1000","operatorId":1}`
	for name, c := range map[string]struct {
		change func(*fault.Fault)
		struck string // of the requests below
	}{
		"all": {func(*fault.Fault) {}, "abcdef"},
		"endpoint": {func(f *fault.Fault) { f.Endpoints = []string{"GET /{market}/book", "DELETE /orders"} },
			"ae"},
		"account":        {func(f *fault.Fault) { f.Account = "bob" }, "df"},
		"key":            {func(f *fault.Fault) { f.Key = rigKey("alice") }, "bce"},
		"market":         {func(f *fault.Fault) { f.Market = "BTC-EUR" }, "abe"},
		"another market": {func(f *fault.Fault) { f.Market = "ETH-EUR" }, "c"},
		"all of them": {func(f *fault.Fault) {
			f.Market, f.Account, f.Key, f.Endpoints = "BTC-EUR", "alice", rigKey("alice"), []string{"POST /order"}
		}, "b"},
		"nth":            {func(f *fault.Fault) { f.Nth = 3 }, "c"},
		"nth of market":  {func(f *fault.Fault) { f.Market, f.Nth = "BTC-EUR", 3 }, "e"},
		"count":          {func(f *fault.Fault) { f.Count = 2 }, "ab"},
		"nth, count":     {func(f *fault.Fault) { f.Nth, f.Count = 2, 5 }, "b"},
		"a later fault":  {func(f *fault.Fault) { f.After = time.Second }, ""},
		"an earlier one": {func(f *fault.Fault) { f.Until = time.Nanosecond }, "abcdef"},
	} {
		t.Run(name, func(t *testing.T) {
			fault := overload
			c.change(&fault)
			l := faulty(t, fault)
			var struck strings.Builder
			for i, a := range []answer{
				l.get("/BTC-EUR/book"), l.send("alice", "POST", "/order", buy), l.send("alice", "POST", "/order",
					other), l.send("bob", "GET", "/balance", ""),
				l.send("alice", "DELETE", "/orders?operatorId=1&market=BTC-EUR", ""), l.send("bob", "GET",
					"/ordersOpen", ""),
			} {
				if a.status == 503 {
					struck.WriteByte("abcdef"[i])
				} else {
					a.ok(t)
				}
			}
			require.Equal(t, c.struck, struck.String())
		})
	}
}

func TestFaultsHaveTheirTimeOnTheExchangesClock(t *testing.T) {
	fault := overload
	fault.After, fault.Until = 2*time.Second, 4*time.Second
	l := faulty(t, fault)
	pattern := ""
	for range 6 {
		pattern += l.struck(1)
		l.pass(time.Second)
	}
	require.Equal(t, "..xx..", pattern)
}

func TestTheSameSeedAndRequestsGiveTheSameFaults(t *testing.T) {
	run := func(seed uint64, more ...fault.Fault) string {
		one := overload
		one.Probability = 0.3
		return newLine(t, func(c *Config) {
			c.Seed, c.Faults, c.Budget.PerIP = seed,
				append([]fault.Fault{one}, more...), -1
		}).struck(300)
	}
	first := run(7)
	require.Equal(t, first, run(7))
	require.NotEqual(t, first, run(8))
	require.InDelta(t, 90, strings.Count(first, "x"), 30)
	require.Equal(t, first, run(7, fault.Fault{Kind: fault.LateSettlement, Delay: time.Second, Probability: 0.5}),
		"a further fault draws from a sequence of its own")
}

func TestOfFaultsThatDecideTheFirstDoesAndDelaysAddUp(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.Error, Code: 109, Nth: 2}, overload,
		fault.Fault{Kind: fault.HTML, Code: 502}, fault.Fault{Kind: fault.ClockSkew,
			Skew: time.Hour}, fault.Fault{Kind: fault.ClockSkew, Skew: -time.Minute})
	l.get("/time").refused(t, 503, 107)
	l.get("/time").refused(t, 503, 109)
	require.Equal(t, []int{1, 1, 0, 2, 2}, l.fired())
	l.admin("PUT", "/faults", `{"faults":[{"kind":"clockSkew","skew":"1h"},{"kind":"clockSkew","skew":"-1m"}]}`).ok(t)
	l.get("/time").ok(t).says(t, fmt.Sprintf(`"timeNs":%d`, int64(rigStart.Add(59*time.Minute))))
}

func TestScheduledFaultsHappenWhenTheyAreDueAndOnce(t *testing.T) {
	l := faulty(t,
		fault.Fault{Kind: fault.CancelOrders, After: 30 * time.Second, Market: "BTC-EUR",
			Reason: market.CancelOnMaintenance, Account: "alice"},
		fault.Fault{Kind: fault.TickSize, After: 10 * time.Second, Market: "BTC-EUR", Tick: "0.5"},
		fault.Fault{Kind: fault.MarketStatus, After: 20 * time.Second, Status: market.Halted},
		fault.Fault{Kind: fault.MarketStatus, After: 40 * time.Second, Status: market.Trading, Market: "BTC-EUR"},
		fault.Fault{Kind: fault.CancelOrders, After: 50 * time.Second},
	)
	var alice, bob told
	l.send("alice", "POST", "/order", strings.Replace(buy, `"50000"`, `"50000.01"`, 1)).json(t, &alice)
	l.send("bob", "POST", "/order", buy).json(t, &bob)
	statuses := func() string {
		var all []struct{ Status string }
		l.get("/markets").json(t, &all)
		return all[0].Status + " " + all[1].Status
	}
	l.pass(10 * time.Second)
	l.send("alice", "POST", "/order", strings.Replace(buy, `"50000"`, `"50000.01"`, 1)).refused(t, 400, 422)
	require.Equal(t, "new", l.order("alice", alice.OrderID).Status, "an order off the new tick stays")
	l.pass(10 * time.Second)
	require.Equal(t, "halted halted", statuses())
	l.send("alice", "POST", "/order", buy).refused(t, 400, 423)
	l.pass(10 * time.Second)
	o := l.order("alice", alice.OrderID)
	require.Equal(t, "canceled", o.Status)
	require.Equal(t, "cancelOnMaintenance", o.RestatementReason)
	require.Equal(t, "new", l.order("bob", bob.OrderID).Status)
	l.pass(10 * time.Second)
	require.Equal(t, "trading halted", statuses())
	l.pass(time.Hour)
	require.Equal(t, "cancelOnAdminRequest", l.order("bob", bob.OrderID).RestatementReason)
	require.Equal(t, []int{1, 1, 1, 1, 1}, l.fired())
}

// A price that only touches an order leaves it while the fault lasts; one beyond it fills it.
func TestAMissedFillWaitsForAPriceBeyond(t *testing.T) {
	l := newLine(t, paperHouse, func(c *Config) {
		c.Faults = []fault.Fault{{Kind: fault.MissedFill, After: 10 * time.Second, Until: 40 * time.Second,
			Market: "BTC-EUR"}}
	})
	place := func() (ids []string) {
		require.NoError(t, l.ex.SetQuote("BTC-EUR", 60000_00, 59999_00, 60001_00))
		for range 3 {
			var o told
			l.send("alice", "POST", "/order", buy).json(t, &o)
			ids = append(ids, o.OrderID)
		}
		return ids
	}
	filled := func(ids []string, ask market.Price) (n int) {
		require.NoError(t, l.ex.SetQuote("BTC-EUR", 60000_00, ask-1_00, ask))
		for _, id := range ids {
			if l.order("alice", id).Status == "filled" {
				n++
			}
		}
		return n
	}
	require.Equal(t, 3, filled(place(), 50000_00), "the fault has not begun")
	l.pass(10 * time.Second)
	ids := place()
	require.Zero(t, filled(ids, 50000_00), "the ask has come to the orders")
	require.Equal(t, 3, filled(ids, 49999_99), "and gone beyond them")
	l.pass(30 * time.Second)
	require.Equal(t, 3, filled(place(), 50000_00), "the fault is over")
	require.Equal(t, []int{1}, l.fired())
	l.admin("PUT", "/faults", `{"faults":[{"kind":"missedFill"}]}`).ok(t)
	ids = place()
	require.Zero(t, filled(ids, 50000_00))
	l.admin("DELETE", "/faults", "").ok(t)
	require.Equal(t, 3, filled(ids, 50000_00), "without its script no fault lasts")
}

func TestWithoutFaultsForRequestsNobodyIsAsked(t *testing.T) {
	l := faulty(t, fault.Fault{Kind: fault.MarketStatus, After: time.Second, Status: market.Halted})
	require.Nil(t, l.ex.requestFaults.Load())
	l.admin("PUT", "/faults", `{"faults":[{"kind":"dropAnswer","endpoints":["GET /balance"]}]}`).ok(t)
	require.NotNil(t, l.ex.requestFaults.Load())
	l.get("/time").ok(t)
	l.admin("DELETE", "/faults", "").ok(t)
	require.Nil(t, l.ex.requestFaults.Load())
}

func TestAMistakeInTheConfigsFaultsIsNamed(t *testing.T) {
	for words, one := range map[string]fault.Fault{
		`fault 1: kind: 0 is none`:                {},
		`fault 1: account: there is no "carol"`:   {Kind: fault.DropAnswer, Account: "carol"},
		`fault 1: key: there is no "k"`:           {Kind: fault.DropAnswer, Key: "k"},
		`fault 1: market: there is no "DOGE-EUR"`: {Kind: fault.DropAnswer, Market: "DOGE-EUR"},
		`fault 1: tickSize: "0.001" is not above 0`: {Kind: fault.TickSize, Market: "BTC-EUR",
			Tick: "0.001"},
		`fault 1: tickSize: "0" is not above 0`: {Kind: fault.TickSize, Market: "BTC-EUR",
			Tick: "0"},
		`fault 1: price: an opening price is that of one market`: {Kind: fault.MarketStatus,
			Status: market.AuctionMatching, Price: "5"},
		`fault 1: price: BTC-EUR: price 0 is not a positive multiple`: {Kind: fault.MarketStatus,
			Status: market.AuctionMatching, Price: "0", Market: "BTC-EUR"},
		`fault 1: delay: a fault of kind lateFill needs it`: {Kind: fault.LateFill},
		`fault 1: nth: a fault of kind marketStatus has none`: {Kind: fault.MarketStatus, Status: market.Halted,
			Nth: 1},
		`fault 1: delay: -1s is not between 0 and 8760h`: {Kind: fault.DelayAnswer, Delay: -time.Second},
		`fault 1: skew: -8761h0m0s is more than 8760h`:   {Kind: fault.ClockSkew, Skew: -8761 * time.Hour},
		`fault 1: reason: cancelPostOnly is not one of`: {Kind: fault.CancelOrders,
			Reason: market.CancelPostOnly},
	} {
		config := rigConfig()
		config.Faults = []fault.Fault{one}
		_, err := New(config)
		require.ErrorContains(t, err, words)
	}
}

func TestTheScriptOfTheDocumentationParses(t *testing.T) {
	text, err := os.ReadFile("../../configs/faults.toml")
	require.NoError(t, err)
	faults, err := ParseFaults(text)
	require.NoError(t, err)
	require.NotEmpty(t, faults)
	_, err = New(Config{Assets: Default().Assets, Markets: Default().Markets, Accounts: Default().Accounts,
		Tiers: Default().Tiers, Clock: ManualClock(rigStart), Faults: faults})
	require.NoError(t, err)
}
