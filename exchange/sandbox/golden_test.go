package sandbox

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/filetest"
)

// writeGolden lets the test of this file write what it compares with. A state file of an older
// program is never written again, only a missing file is made: the test shows that the file
// of back then still opens. After a change of the format, or of an answer's form:
//
//	go test ./exchange/sandbox -run OfTheFirstVersion -golden
var writeGolden = flag.Bool("golden", false,
	"write the state file of testdata if it is missing, and the answers beside it anew; read the difference before "+
		"you keep them")

// goldenConfig is the exchange of the first version's file. The file fits no other: it stays as it
// is.
func goldenConfig(path string) Config {
	return Config{
		State: path, Admin: "token of the operator", Seed: 7, Clock: ManualClock(rigStart), History: 10 * time.Minute,
		Budget:    api.Budget{PerKey: -1, PerIP: -1},
		Retention: Retention{Orders: 5, Trades: 7, Transactions: 6, Candles: 5},
		Rules:     Rules{SettleAfter: 7 * time.Second, GroupsPerAccount: 2},
		Faults: []fault.Fault{{Kind: fault.LateFill, Endpoints: []string{"POST /order"}, Market: "ETH-EUR",
			Delay: 40 * time.Second}},
		Assets: []Asset{
			{Symbol: "EUR", Name: "Euro", Decimals: 2, Networks: []string{"SEPA"}, WithdrawalMin: "5"},
			{Symbol: "BTC", Name: "Bitcoin", Decimals: 8, WithdrawalFee: "0.00001", WithdrawalMin: "0.0001",
				Confirmations: 2},
			{Symbol: "ETH", Name: "Ethereum", Decimals: 8, WithdrawalFee: "0.0001", WithdrawalMin: "0.001",
				Confirmations: 32},
			{Symbol: "ADA", Name: "Cardano", Decimals: 6, WithdrawalFee: "0.5", WithdrawalMin: "2", Confirmations: 10},
		},
		Markets: []Market{
			{Name: "BTC-EUR", Source: prices.Synthetic{Price: "95000", Volatility: 0.5},
				Liquidity: Liquidity{Levels: 4, HalfSpread: 20_000, Step: 100,
					Size: "0.02"}, PriceDigits: 2, TickSize: "0.01",
				QuantityDecimals: 8, NotionalDecimals: 2, MinOrderInBase: "0.0001", MinOrderInQuote: "5",
				MaxOpenOrders: 100, FeeCategory: "A"},
			{Name: "ETH-EUR", Source: prices.Fixed("3300"),
				Liquidity: Liquidity{Levels: 4, HalfSpread: 20_000, Step: 100,
					Size: "0.02"}, PriceDigits: 2, TickSize: "0.01",
				QuantityDecimals: 8, NotionalDecimals: 2, MinOrderInBase: "0.001", MinOrderInQuote: "5",
				MaxOpenOrders: 100, FeeCategory: "A"},
			{Name: "ADA-EUR", Source: prices.Fixed("0.5"), PriceDigits: 5, TickSize: "0.00001", QuantityDecimals: 6,
				NotionalDecimals: 2, MinOrderInBase: "1", MinOrderInQuote: "5", MaxOpenOrders: 100, FeeCategory: "B"},
		},
		Accounts: []Account{rigAccount("alice"), rigAccount("bob")},
		Tiers: []Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": {Maker: 150_000, Taker: 250_000}}},
			{Volume: "20000", Fees: map[string]exchange.Fees{"": {Maker: -10_000, Taker: 200_000}}}},
	}
}

// openGolden makes the exchange of a state file. Its clock stands at the rig's start: it goes on
// from the time of the file.
func openGolden(t *testing.T, path string) *rig {
	t.Helper()
	ex, err := New(goldenConfig(path))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ex.Close() })
	return &rig{t: t, ex: ex}
}

// makeGolden lets two clients and an operator do something of everything.
func makeGolden(t *testing.T, path string) {
	r := openGolden(t, path)
	l := &whims{Rand: rand.New(rand.NewPCG(7, 7))}
	for range 400 {
		l.step()(r)
	}
	for _, body := range []string{ // whatever the whims have left, these are open in the end
		`{"market":"ADA-EUR","status":"trading"}`, `{"market":"BTC-EUR","status":"auction"}`,
		`{"market":"ETH-EUR","status":"trading"}`,
	} {
		r.operate(http.MethodPost, "/status", body)
	}
	r.operate(http.MethodPost, "/rules", `{"market":"ADA-EUR","tickSize":"0.00001","maxOpenOrders":50}`)
	for _, body := range []string{
		`{"market":"ADA-EUR","operatorId":5,"side":"buy","orderType":"limit","amount":"100","price":"0.4","codGroupId":3,"clientOrderId":"00000000-0000-4000-8000-00000000abcd"}`,
		`{"market":"ADA-EUR","operatorId":5,"side":"sell","orderType":"stopLoss","amount":"100","triggerAmount":"0.3","triggerType":"price","triggerReference":"bestBid"}`,
		`{"market":"ETH-EUR","operatorId":5,"side":"buy","orderType":"limit","amount":"0.01","price":"1000"}`,
	} {
		r.send("alice", http.MethodPost, "/order", body).ok(t)
	}
	r.send("alice", http.MethodPost, "/cancelOrdersAfter", `{"codGroupId":3,"expiryAfterSeconds":300}`).ok(t)
	r.send("bob", http.MethodPost, "/withdrawal",
		`{"symbol":"EUR","amount":"25.5","address":"DE89370400440532013000"}`).ok(t)
	require.NoError(t, r.ex.Close())
}

// firstVersion is a copy of the file of the first version.
func firstVersion(t *testing.T) (path string) {
	return filetest.Golden(t, *writeGolden, "exchange-v1", func(path string) { makeGolden(t, path) })
}

// A state file that the first version wrote opens in every later one: everybody finds there what
// was there, and trading goes on.
func TestAStateFileOfTheFirstVersionOpens(t *testing.T) {
	path := firstVersion(t)
	r := openGolden(t, path)
	said, answers := strings.Join(r.view(), ""), filepath.Join("testdata", "exchange-v1.txt")
	if *writeGolden {
		require.NoError(t, os.WriteFile(answers, []byte(said), 0o644))
	}
	want, err := os.ReadFile(answers)
	require.NoError(t, err)
	requireSame(t, strings.Split(string(want), "\n"), strings.Split(said, "\n"),
		"what everybody sees in the file of the first version")

	r.pass(6 * time.Minute)
	r.send("alice", http.MethodGet, "/order?market=ADA-EUR&clientOrderId=00000000-0000-4000-8000-00000000abcd",
		"").says(t, `"restatementReason":"cancelOnDisconnect"`)
	r.send("bob", http.MethodPost, "/order",
		`{"market":"ADA-EUR","operatorId":6,"side":"buy","orderType":"limit","amount":"50","price":"0.5"}`).ok(t)
	r.send("alice", http.MethodPost, "/order",
		`{"market":"ADA-EUR","operatorId":6,"side":"sell","orderType":"market","amount":"50"}`).
		says(t, `"status":"filled"`)
	require.NoError(t, r.ex.Close())
}

func TestAStateFileOfALaterVersionIsRefusedWithTheMend(t *testing.T) {
	path := firstVersion(t)
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		about := tx.Bucket(bucketAbout)
		return about.Put(keyAbout, bytes.Replace(about.Get(keyAbout), []byte(`"Version":1`), []byte(`"Version":2`), 1))
	}))
	require.NoError(t, db.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = New(goldenConfig(path))
	require.ErrorContains(t, err,
		"it has version 2, and this program knows 1 at most; start the exchange with the newer program")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "the file is as it was")
}
