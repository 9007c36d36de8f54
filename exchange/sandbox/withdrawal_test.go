package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

const someIBAN = "GB82WEST12345698765432"

func (b *branch) status(name string) string {
	text := b.get(name, "GET /withdrawalHistory", "limit=1")
	_, text, _ = strings.Cut(text, `"status":"`)
	status, _, _ := strings.Cut(text, `"`)
	return status
}

func TestAWithdrawalTakesItsStepsInTime(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "BTC", "1.0001")
	w := b.take("alice", "BTC", "0.5", "bc1qsomewhere", "paymentId=77")
	require.Contains(t, b.balances("alice"), `"available":"0.5","inOrder":"0"`)
	for _, step := range []struct {
		after  time.Duration
		status string
		sent   bool
	}{
		{10*time.Second - 1, "awaiting_processing", false}, {1, "approved", false}, {10*time.Second - 1, "approved",
			false}, {1, "sending", true}, {10 * time.Second, "in_mempool", true},
		{10*time.Minute - 1, "in_mempool", true}, {1, "processed", true}, {10*time.Minute - 1, "processed", true}, {1,
			"completed", true}, {day, "completed", true},
	} {
		b.wait(step.after)
		require.Equal(t, step.status, b.status("alice"))
		require.Equal(t, step.sent, strings.Contains(b.get("alice", "GET /withdrawalHistory", ""), `"txId":"0x`), step)
	}
	require.Equal(t, never, w.Due)
	require.Empty(t, b.inFlight)
	require.JSONEq(t, `[{"timestamp":1767270000000,"symbol":"BTC","amount":"0.4998","fee":"0.0002","status":"completed","txId":"`+w.TxID+`","address":"bc1qsomewhere","paymentId":"77"}]`,
		b.get("alice", "GET /withdrawalHistory", ""))
	require.Contains(t, b.balances("alice"), `"available":"0.5","inOrder":"0"`)
}

func TestABankWithdrawalMeetsNoBlockchain(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "EUR", "100")
	b.take("alice", "EUR", "40", someIBAN)
	b.wait(29 * time.Second)
	require.Equal(t, "sending", b.status("alice"))
	b.wait(time.Second)
	require.Equal(t, "completed", b.status("alice"))
	require.NotContains(t, b.get("alice", "GET /withdrawalHistory", ""), "txId")
}

func TestTheStagesOfAWithdrawalAreASetting(t *testing.T) {
	b := newBranch(t, func(c *Config) { c.Rules.WithdrawalStage = time.Hour })
	b.give("alice", "EUR", "100")
	b.take("alice", "EUR", "40", someIBAN)
	b.wait(3*time.Hour - 1)
	require.Equal(t, "sending", b.status("alice"))
	b = newBranch(t, func(c *Config) { c.Rules.WithdrawalStage = -1 })
	b.give("alice", "EUR", "100")
	b.take("alice", "EUR", "40", someIBAN)
	require.Equal(t, "completed", b.status("alice"))
}

func TestWithdrawalsAreRefusedForAReason(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "BTC", "1.0001")
	b.give("alice", "EUR", "100")
	b.place("alice", "sell limit amount=0.4 price=50000")
	b.price("BTC-EUR", "40000")
	before := b.balances("alice")
	const to = "&address=bc1qsomewhere"
	for query, want := range map[string]string{
		"symbol=BTC&amount=0.5&internal=true" + to: "205 internal parameter is invalid.",
		"symbol=BTC&amount=0.000000001" +
			to: "429 amount parameter has too many decimals.",
		"symbol=EUR&amount=1.001&address=" +
			someIBAN: "429 amount parameter has too many decimals.",
		"symbol=BTC&amount=1000000000.00000001" +
			to: "210 The amount is above the largest that is allowed, 1000000000.",
		"symbol=BTC&amount=92233720369" +
			to: "210 The amount is above the largest that is allowed, 1000000000.",
		"symbol=BTC&amount=0" + to:          "205 amount parameter is invalid.",
		"symbol=BTC&amount=0.00099999" + to: "406 Your withdrawal is too small.",
		// 0.4 are held
		"symbol=BTC&amount=0.60000001" +
			to: "408 The balance is too low for this withdrawal.",
		"symbol=BTC&amount=0.6&addWithdrawalFee=true" +
			to: "408 The balance is too low for this withdrawal.",
		"symbol=USDC&amount=5" +
			to: "408 The balance is too low for this withdrawal.",
		"symbol=BTC&amount=0.5&address=":                     "412 btc_address_invalid.",
		"symbol=BTC&amount=0.5&address=bc1q\\u0020somewhere": "412 btc_address_invalid.",
		"symbol=BTC&amount=0.5&address=bc1q\\u0009":          "412 btc_address_invalid.",
		"symbol=USDC&amount=5&address=" + manyOf("0", 129):   "412 usdc_address_invalid.",
		"symbol=BTC&amount=0.5&paymentId=a\\u000ab" + to:     "205 paymentId parameter is invalid.",
		"symbol=EUR&amount=5" + to:                           "409 This is not a verified bank account.",
		"symbol=EUR&amount=5&address=GB83WEST12345698765432": "409 This is not a verified bank account.",
		"symbol=BTC&amount=92233720368.54775807&addWithdrawalFee=true" +
			to: "210 The amount is above the largest that is allowed, 1000000000.",
	} {
		require.Equal(t, want, b.refused("alice", "POST /withdrawal", query), query)
	}
	require.Equal(t, before, b.balances("alice"))
	require.Equal(t, `[]`, b.get("alice", "GET /withdrawalHistory", ""))
	b.get("alice", "POST /withdrawal", "symbol=BTC&amount=0.6&internal=false"+to)
	require.Contains(t, b.balances("alice"), `"available":"0","inOrder":"0.4"`)
}

func TestAWithdrawalMustBeWorthMoreThanItsFee(t *testing.T) {
	b := newBranch(t, func(c *Config) { c.Assets[2].WithdrawalMin = "" })
	b.give("alice", "USDC", "100")
	require.Equal(t, "406 Your withdrawal is too small.",
		b.refused("alice", "POST /withdrawal", "symbol=USDC&amount=0.5&address=x"))
	require.Equal(t, market.Money(1), b.take("alice", "USDC", "0.500001", "x").Amount)
	require.Equal(t, market.Money(1), b.take("alice", "USDC", "0.000001", "x", "addWithdrawalFee=true").Amount)
}

func TestACanceledWithdrawalComesBackWhole(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "USDC", "100")
	for _, wait := range []time.Duration{0, 15 * time.Second} { // awaiting_processing, approved
		w := b.take("alice", "USDC", "50", "x")
		require.Contains(t, b.balances("alice"), `"available":"50"`)
		b.wait(wait)
		require.Nil(t, b.cancelTransfer(w.ID, b.now()))
		require.Equal(t, "canceled", b.status("alice"))
		require.Contains(t, b.balances("alice"), `"available":"100"`)
		require.NotNil(t, b.cancelTransfer(w.ID, b.now()), "only once")
		b.wait(day)
		require.Equal(t, "canceled", b.status("alice"))
		require.Contains(t, b.balances("alice"), `"available":"100"`)
	}
	require.Contains(t, b.get("alice", "GET /account/history", "type=withdrawal_cancelled&maxItems=1"),
		`"receivedCurrency":"USDC","receivedAmount":"50"`)
}

func TestWhatHasBeenSentCannotBeCanceled(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "USDC", "100")
	w := b.take("alice", "USDC", "50", "x")
	b.wait(20 * time.Second)
	for b.status("alice") != "completed" {
		require.Equal(t, "205 transactionId parameter is invalid.", wording(b.cancelTransfer(w.ID, b.now())))
		b.wait(10 * time.Second)
	}
	require.NotNil(t, b.cancelTransfer(w.ID, b.now()))
	require.NotNil(t, b.cancelTransfer(someID(200), b.now()))
	require.Contains(t, b.balances("alice"), `"available":"50"`)
}

func TestAWithdrawalThatCannotComeBackGoesOn(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "EUR", "92233720368547758.07")
	w := b.take("alice", "EUR", "1", someIBAN)
	b.give("alice", "EUR", "1")
	require.NotNil(t, b.cancelTransfer(w.ID, b.now()))
	b.wait(day)
	require.Equal(t, "completed", b.status("alice"))
}

func TestBankAccountsNeedTheRightCheckDigits(t *testing.T) {
	for _, text := range []string{someIBAN, "NL91ABNA0417164300", "DE89370400440532013000", "BE68539007547034",
		"NO9386011117947", "MT84MALT011000012345MTLCAST001S"} {
		require.True(t, validIBAN(text), text)
		for i := range text { // one wrong character
			wrong := []byte(text)
			wrong[i] = '0' + (wrong[i]-'0'+1)%10
			require.False(t, validIBAN(string(wrong)), "%s", wrong)
		}
	}
	for _, text := range []string{"", "GB82", "gb82west12345698765432", "GB82 WEST 1234 5698 7654 32",
		"82GBWEST12345698765432", someIBAN + manyOf("0", 13), "GB82WEST1234569876543Ä"} {
		require.False(t, validIBAN(text), text)
	}
}

func manyOf(text string, count int) string { return strings.Repeat(text, count) }
