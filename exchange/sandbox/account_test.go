package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestBalancesShowOnlyWhatThereIs(t *testing.T) {
	b := newBranch(t)
	require.Equal(t, `[]`, b.balances("alice"))
	b.give("alice", "EUR", "100.50")
	b.give("alice", "BTC", "1.0001")
	require.Equal(t, `[{"symbol":"BTC","available":"1","inOrder":"0"},{"symbol":"EUR","available":"100.5","inOrder":"0"}]`, b.balances("alice"))
	require.Equal(t, `[]`, b.balances("bob"))
	require.Equal(t, `[{"symbol":"EUR","available":"100.5","inOrder":"0"}]`,
		b.get("alice", "GET /balance", "symbol=EUR"))
	require.Equal(t, `[]`, b.get("alice", "GET /balance", "symbol=USDC"))
}

func TestWhatOrdersHoldIsNotAvailable(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "BTC", "1.0001")
	b.order(market.Sell, "0.25", "50000")
	b.price("BTC-EUR", "40000")
	require.Equal(t, `[{"symbol":"BTC","available":"0.75","inOrder":"0.25"}]`, b.balances("alice"))
}

func TestAnAccountShowsItsTierAsANumberAndItsFeesShowItAsText(t *testing.T) {
	b := newBranch(t, func(c *Config) { c.Accounts[1].Volume = "250000" })
	require.JSONEq(t, `{"fees":{"tier":0,"volume":"0.00","taker":"0.0025","maker":"0.0015"},
		"capabilities":["buy","sell","depositCrypto","depositFiat","withdrawCrypto","withdrawFiat"]}`, b.get("alice", "GET /account", ""))
	require.JSONEq(t, `{"tier":"0","volume":"0.00","taker":"0.0025","maker":"0.0015"}`,
		b.get("alice", "GET /account/fees", ""))
	require.JSONEq(t, `{"tier":"2","volume":"250000.00","taker":"0.0016","maker":"0.0008"}`,
		b.get("bob", "GET /account/fees", ""))
}

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

func TestAccountAnswersHaveTheRecordedShape(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "EUR", "20.89")
	for file, what := range map[string]string{
		"account_2025.json": "GET /account", "account_fees_docs.json": "GET /account/fees",
		"balance_symbol_2025.json": "GET /balance",
	} {
		sameShape(t, fixtureKeys(t, file), firstObject(t, b.get("alice", what, "")))
	}
}
