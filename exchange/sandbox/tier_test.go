package sandbox

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// categories gives the tiers rates by category.
func categories(c *Config) {
	c.Tiers = []Tier{
		{Volume: "0", Fees: map[string]exchange.Fees{"": {Maker: 900_000, Taker: 900_000}, "A": {Taker: 100_000},
			"B": {Maker: -50_000, Taker: 200_000}}},
		{Volume: "1000", Fees: map[string]exchange.Fees{"": {Maker: 800_000, Taker: 800_000}}},
	}
}

// filled notes a made-up fill of alice.
func (b *branch) filled(name string, price market.Price, amount market.Qty) {
	m := b.catalog.MarketNamed(name)
	b.traded(b.bank.accounts[0], &market.Fill{Market: m.ID, Side: market.Buy, Price: price, Amount: amount,
		Time: b.now(), FeeCurrency: m.Quote})
}

func (b *branch) fees(name string) string { return b.get(name, "GET /account/fees", "") }

func TestFeesAreThoseOfTheMarketsCategory(t *testing.T) {
	b := newBranch(t, categories)
	for query, want := range map[string]string{
		"":                          "0.002", // B
		"market=USDC-EUR":           "0.002", // B
		"market=BTC-EUR":            "0.001", // A
		"market=BTC-USDC":           "0.009", // C has none of its own
		"quote=EUR":                 "0.001", // that of BTC-EUR, the first
		"quote=USDC":                "0.009",
		"market=BTC-EUR&quote=USDC": "0.001", // the market counts
	} {
		require.Contains(t, b.get("alice", "GET /account/fees", query), `"taker":"`+want+`"`, query)
	}
	require.Equal(t, "205 quote parameter is invalid.", b.refused("alice", "GET /account/fees", "quote=BTC"))
}

func TestATierIsWorkedOutAtOneInTheNight(t *testing.T) {
	b := newBranch(t)
	b.filled("BTC-EUR", 5_000_000, 2e8) // 50,000 EUR each
	require.Contains(t, b.fees("alice"), `"tier":"0","volume":"0.00"`)
	b.wait(13*time.Hour - 1)
	require.Contains(t, b.fees("alice"), `"tier":"0","volume":"0.00"`)
	b.wait(1)
	require.Contains(t, b.fees("alice"), `"tier":"1","volume":"100000.00","taker":"0.002","maker":"0.001"`)
	require.Contains(t, b.fees("bob"), `"tier":"0"`)
}

func TestADayCountsForThirtyNights(t *testing.T) {
	b := newBranch(t, func(c *Config) { c.Accounts[1].Volume = "100000" })
	b.filled("BTC-EUR", 5_000_000, 2e8)
	require.Contains(t, b.fees("bob"), `"tier":"1","volume":"100000.00"`)
	b.wait(13*time.Hour + 28*day) // the volume at the start is that of the day before
	require.Contains(t, b.fees("bob"), `"tier":"1"`)
	require.Contains(t, b.fees("alice"), `"tier":"1"`)
	b.wait(day)
	require.Contains(t, b.fees("bob"), `"tier":"0","volume":"0.00"`)
	require.Contains(t, b.fees("alice"), `"tier":"1"`)
	b.wait(day)
	require.Contains(t, b.fees("alice"), `"tier":"0","volume":"0.00"`)
}

func TestDaysThatNoLongerCountAreForgotten(t *testing.T) {
	b := newBranch(t)
	for range 200 {
		b.filled("BTC-EUR", 1_00, 1e8)
		b.filled("BTC-EUR", 1_00, 1e8)
		b.wait(day)
	}
	require.Contains(t, b.fees("alice"), `"volume":"60.00"`)
	require.LessOrEqual(t, len(b.bank.accounts[0].days), tierDays+1)
}

func TestOtherQuotesCountByTheirPriceInEuro(t *testing.T) {
	b := newBranch(t)
	b.filled("BTC-USDC", 100_00, 1e8)
	b.wait(day)
	require.Contains(t, b.fees("alice"), `"volume":"100.00"`) // USDC-EUR has no price yet: one for one
	b.price("USDC-EUR", "0.8512")
	b.filled("BTC-USDC", 100_00, 1e8)
	b.wait(day)
	require.Contains(t, b.fees("alice"), `"volume":"185.12"`)
}

func TestAVolumeTooLargeToCountIsTheHighestTier(t *testing.T) {
	b := newBranch(t)
	b.price("USDC-EUR", "900000000000000")
	m := b.catalog.MarketNamed("BTC-USDC")
	for range 2 {
		b.addTurnover(b.bank.accounts[0], m, &market.Fill{Market: m.ID, Price: 9e15, Amount: 1e8, Time: b.now()})
	}
	b.wait(day)
	require.Contains(t, b.fees("alice"), `"tier":"8"`)
	require.Equal(t, market.Money(math.MaxInt64), b.bank.accounts[0].volume)
}

func TestTheVenueTakesTheFeesOfTheTier(t *testing.T) {
	b := newBranch(t, categories)
	b.give("alice", "EUR", "5000")
	b.give("bob", "BTC", "20.0001")
	b.trades("buy", "10", "200")
	// 0.1 % as a taker
	require.Contains(t, b.get("alice", "GET /account/history", "maxItems=1"), `"feesCurrency":"EUR","feesAmount":"2"`)
	b.wait(day)
	b.trades("buy", "10", "200")
	// 0.8 %
	require.Contains(t, b.get("alice", "GET /account/history", "maxItems=1"), `"feesCurrency":"EUR","feesAmount":"16"`)
}

func TestAnExchangeWithoutTiersIsFree(t *testing.T) {
	b := newBranch(t, func(c *Config) { c.Tiers = nil })
	require.JSONEq(t, `{"tier":"0","volume":"0.00","taker":"0","maker":"0"}`, b.fees("alice"))
}

func TestTheNightAfterTheStartIsTheNextOne(t *testing.T) {
	midnight := bankStart.Add(-12 * time.Hour)
	for _, row := range []struct{ start, want time.Duration }{{0, time.Hour}, {time.Hour, 25 * time.Hour},
		{time.Hour - 1, time.Hour}, {23 * time.Hour, 25 * time.Hour}} {
		b := newBranch(t, func(c *Config) { c.Clock = ManualClock(midnight.Add(row.start)) })
		require.Equal(t, midnight.Add(row.want), b.nextTierUpdate, row)
	}
}

func TestTiersThatMakeNoSenseAreRefused(t *testing.T) {
	free := map[string]exchange.Fees{"": {}}
	for want, tiers := range map[string][]Tier{
		"tier 0: the first tier begins at volume 0": {{Volume: "5", Fees: free}},
		"tier 2: volume 5 is not above": {{Fees: free}, {Volume: "6", Fees: free},
			{Volume: "5", Fees: free}},
		`tier 0: no fees for category ""`:             {{Fees: map[string]exchange.Fees{"A": {}}}},
		`tier 0: fees of category "" are not between`: {{Fees: map[string]exchange.Fees{"": {Taker: 1e8}}}},
		"tier 0: volume: \"1.234\" with 2 decimals":   {{Volume: "1.234", Fees: free}},
		"tier 0: volume: -1 is negative":              {{Volume: "-1", Fees: free}},
	} {
		_, err := New(bankWith(func(c *Config) { c.Tiers = tiers }))
		require.ErrorContains(t, err, want)
	}
	_, err := New(bankWith(func(c *Config) { c.Accounts[0].Volume = "many" }))
	require.ErrorContains(t, err, "account alice: volume")
}
