package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestADepositIsCreditedWithItsLastConfirmation(t *testing.T) {
	b := newBranch(t)
	d, refused := b.deposit("alice", "BTC", "0.5001", b.now())
	require.Nil(t, refused)
	b.wait(20*time.Minute - 1)
	require.Equal(t, `[]`, b.balances("alice"))
	require.Equal(t, `[]`, b.get("alice", "GET /depositHistory", ""))
	b.wait(1)
	require.Equal(t, `[{"symbol":"BTC","available":"0.5","inOrder":"0"}]`, b.balances("alice"))
	require.JSONEq(t, `[{"timestamp":1767270000000,"symbol":"BTC","amount":"0.5","fee":"0.0001","status":"completed","txId":"`+d.TxID+`",
		"address":"`+d.Address+`","paymentId":"`+d.PaymentID+`"}]`, b.get("alice", "GET /depositHistory", ""))
	require.Equal(t, `[]`, b.get("bob", "GET /depositHistory", ""))
	b.wait(day)
	require.Contains(t, b.balances("alice"), `"available":"0.5"`)
}

func TestADepositWithoutConfirmationsIsCreditedAtOnce(t *testing.T) {
	b := newBranch(t)
	_, refused := b.deposit("alice", "EUR", "100", b.now())
	require.Nil(t, refused)
	require.Equal(t, `[{"symbol":"EUR","available":"100","inOrder":"0"}]`, b.balances("alice"))
	require.JSONEq(t, `[{"timestamp":1767268800000,"symbol":"EUR","amount":"100","fee":"0","status":"completed","address":"`+ownIBAN+`"}]`, b.get("alice", "GET /depositHistory", ""))
}

func TestACanceledDepositIsNotCredited(t *testing.T) {
	b := newBranch(t)
	d, refused := b.deposit("alice", "BTC", "0.5", b.now())
	require.Nil(t, refused)
	b.wait(time.Minute)
	require.Nil(t, b.cancelTransfer(d.ID, b.now()))
	require.NotNil(t, b.cancelTransfer(d.ID, b.now()), "it has ended")
	b.wait(day)
	require.Equal(t, `[]`, b.balances("alice"))
	require.Contains(t, b.get("alice", "GET /depositHistory", ""),
		`"timestamp":1767268860000,"symbol":"BTC","amount":"0.4999","fee":"0.0001","status":"canceled"`)
	require.Contains(t, b.get("alice", "GET /account/history", ""), `"items":[]`)
}

func TestADepositThatTheBalanceHasNoRoomForIsCanceled(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "EUR", "92233720368547758.07")
	d, refused := b.deposit("alice", "EUR", "0.01", b.now())
	require.Nil(t, refused)
	require.Equal(t, transferCanceled, d.Status)
	require.Equal(t, `[{"symbol":"EUR","available":"92233720368547758.07","inOrder":"0"}]`, b.balances("alice"))
}

func TestDepositsThatMakeNoSenseAreRefused(t *testing.T) {
	b := newBranch(t, func(c *Config) { c.Assets[2].Status = "MAINTENANCE" })
	for _, row := range []struct{ name, symbol, amount, want string }{
		{"carol", "EUR", "1", "205 account parameter is invalid."},
		{"alice", "DOGE", "1", "205 symbol parameter is invalid."},
		{"alice", "EUR", "1.001", "429 amount parameter has too many decimals."},
		{"alice", "EUR", "0", "205 amount parameter is invalid."},
		{"alice", "EUR", "-1", "205 amount parameter is invalid."},
		{"alice", "EUR", "much", "205 amount parameter is invalid."},
		{"alice", "EUR", "92233720368547758.08", "210 The amount is above the largest that is allowed, 1000000000."},
		{"alice", "BTC", "0.0001", "205 amount parameter is invalid."}, // all of it is fee
		{"alice", "USDC", "1", "401 Deposits of this asset are not available."},
	} {
		_, refused := b.deposit(row.name, row.symbol, row.amount, b.now())
		require.NotNil(t, refused, row)
		require.Equal(t, row.want, wording(refused))
	}
	require.Equal(t, `[]`, b.balances("alice"))
}

func TestADepositAddressIsTheAccountsOwnAndStays(t *testing.T) {
	b, again := newBranch(t), newBranch(t)
	alice := b.get("alice", "GET /deposit", "symbol=BTC")
	require.Regexp(t, `^\{"address":"0x[0-9a-f]{40}","paymentId":"[0-9]+"\}$`, alice)
	require.Equal(t, alice, again.get("alice", "GET /deposit", "symbol=BTC"))
	require.NotEqual(t, alice, b.get("bob", "GET /deposit", "symbol=BTC"))
	require.NotEqual(t, alice, b.get("alice", "GET /deposit", "symbol=USDC"))
}

func TestABankDepositNamesAnAccountAndADescription(t *testing.T) {
	b := newBranch(t)
	require.Regexp(t, `^\{"iban":"`+ownIBAN+`","bic":"`+ownBIC+`","description":"[0-9A-F]{10}"\}$`,
		b.get("alice", "GET /deposit", "symbol=EUR"))
	require.NotEqual(t, b.get("alice", "GET /deposit", "symbol=EUR"), b.get("bob", "GET /deposit", "symbol=EUR"))
	require.True(t, validIBAN(ownIBAN))
}

func TestHistoriesAreNewestFirstAndFiltered(t *testing.T) {
	b := newBranch(t)
	for _, amount := range []string{"1", "2", "3", "4"} {
		b.give("alice", "EUR", amount)
		b.give("alice", "USDC", amount)
		b.wait(time.Second)
	}
	amounts := func(query string) string {
		var list []string
		for _, row := range strings.Split(b.get("alice", "GET /depositHistory", query), `"amount":"`)[1:] {
			list = append(list, row[:1])
		}
		return strings.Join(list, " ")
	}
	require.Equal(t, "4 4 3 3 2 2 1 1", amounts(""))
	require.Equal(t, "4 3 2 1", amounts("symbol=EUR"))
	require.Equal(t, "4 4 3", amounts("limit=3"))
	require.Equal(t, "3 2", amounts("symbol=EUR&start=1767268801000&end=1767268802000"))
	require.Equal(t, "", amounts("symbol=BTC"))
}

func TestOnlyTheLatestTransfersAreKept(t *testing.T) {
	b := newBranch(t, func(c *Config) { c.Retention.Transactions = 3 })
	for range 100 {
		b.give("alice", "EUR", "1")
		require.LessOrEqual(t, cap(b.bank.accounts[0].deposits), 8)
		require.LessOrEqual(t, cap(b.bank.accounts[0].transactions), 8)
	}
	require.Equal(t, 3, strings.Count(b.get("alice", "GET /depositHistory", ""), "completed"))
	require.Equal(t, 3, strings.Count(b.get("alice", "GET /account/history", ""), "transactionId"))
	require.Contains(t, b.get("alice", "GET /account/history", ""), someID(100).String()[34:])
}

func TestAnAssetThatIsNotOpenHasNoTransfers(t *testing.T) {
	for _, status := range []string{"MAINTENANCE", "DELISTED"} {
		b := newBranch(t, func(c *Config) { c.Assets[1].Status = status })
		require.Equal(t, "401 Deposits of this asset are not available.",
			b.refused("alice", "GET /deposit", "symbol=BTC"))
		require.Equal(t, "410 Withdrawals of this asset are not available.",
			b.refused("alice", "POST /withdrawal", "symbol=BTC&amount=5&address=x"))
		require.NotEmpty(t, b.get("alice", "GET /deposit", "symbol=EUR"))
	}
}

func TestAssetsWithTermsThatMakeNoSenseAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Asset){
		"asset BTC: deposit fee: ":        func(a *Asset) { a.DepositFee = "-1" },
		"asset BTC: withdrawal fee: ":     func(a *Asset) { a.WithdrawalFee = "0.000000001" },
		"asset BTC: withdrawal minimum: ": func(a *Asset) { a.WithdrawalMin = "x" },
		"asset BTC: -1 confirmations":     func(a *Asset) { a.Confirmations = -1 },
		"confirmations every 48h0m0s":     func(a *Asset) { a.BlockTime = 48 * time.Hour },
	} {
		_, err := New(bankWith(func(c *Config) { change(&c.Assets[1]) }))
		require.ErrorContains(t, err, want)
	}
}
