package sandbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAHistoryItemSaysWhatTheBalancesLostAndGained(t *testing.T) {
	b := newBranch(t, func(c *Config) { c.Accounts[1].Balances = map[string]string{"BTC": "1", "EUR": "500"} })
	b.give("alice", "EUR", "1000")
	b.trades("buy", "0.01", "40000")
	require.JSONEq(t, `{"items":[{"transactionId":"00000000-0000-0000-0200-000000000003",
		"executedAt":"2026-01-01T12:00:00.000Z",
		"type":"buy","priceCurrency":"EUR","priceAmount":"40000",
		"sentCurrency":"EUR","sentAmount":"401","receivedCurrency":"BTC","receivedAmount":"0.01",
		"feesCurrency":"EUR","feesAmount":"1","address":null}],
		"currentPage":1,"totalPages":1,"maxItems":100}`, b.get("alice", "GET /account/history", "type=buy"))
	b.wait(1234 * time.Millisecond)
	b.trades("sell", "0.01", "40000")
	require.JSONEq(t, `{"items":[{"transactionId":"00000000-0000-0000-0200-000000000005",
		"executedAt":"2026-01-01T12:00:01.234Z",
		"type":"sell","priceCurrency":"EUR","priceAmount":"40000",
		"sentCurrency":"BTC","sentAmount":"0.01","receivedCurrency":"EUR","receivedAmount":"399",
		"feesCurrency":"EUR","feesAmount":"1","address":null}],
		"currentPage":1,"totalPages":1,"maxItems":100}`, b.get("alice", "GET /account/history", "type=sell"))
	require.Equal(t, `[{"symbol":"EUR","available":"998","inOrder":"0"}]`, b.balances("alice"))
}

func TestTransfersAreInTheHistory(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "USDC", "100")
	w := b.take("alice", "USDC", "10", "x")
	require.Nil(t, b.cancelTransfer(w.ID, b.now()))
	history := b.get("alice", "GET /account/history", "")
	address, _ := b.assetNamed("USDC").depositAddress(b.bank.accounts[0])
	require.JSONEq(t, `{"currentPage":1,"totalPages":1,"maxItems":100,"items":[
		{"transactionId":"00000000-0000-0000-0200-000000000003",
		"executedAt":"2026-01-01T12:00:00.000Z","type":"withdrawal_cancelled","receivedCurrency":"USDC","receivedAmount":"10","feesCurrency":"USDC","feesAmount":"0","address":"x"},
		{"transactionId":"00000000-0000-0000-0200-000000000002","executedAt":"2026-01-01T12:00:00.000Z","type":"withdrawal","sentCurrency":"USDC","sentAmount":"10","feesCurrency":"USDC","feesAmount":"0.5","address":"x"},
		{"transactionId":"00000000-0000-0000-0200-000000000001","executedAt":"2026-01-01T12:00:00.000Z","type":"deposit","receivedCurrency":"USDC","receivedAmount":"100","feesCurrency":"USDC","feesAmount":"0","address":"`+address+`"}
	]}`, history)
}

// pageOf is what GET /account/history answers, with the received amounts instead of the items.
func pageOf(t *testing.T, answer string) string {
	var page struct {
		Items                             []struct{ ReceivedAmount string }
		CurrentPage, TotalPages, MaxItems int
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &page))
	text := fmt.Sprintf("%d/%d of %d:", page.CurrentPage, page.TotalPages, page.MaxItems)
	for _, item := range page.Items {
		text += " " + item.ReceivedAmount
	}
	return text
}

func TestHistoryComesInPagesNewestFirst(t *testing.T) {
	b := newBranch(t)
	require.Equal(t, "1/1 of 100:", pageOf(t, b.get("alice", "GET /account/history", "")))
	for _, amount := range strings.Fields("1 2 3 4 5") {
		b.give("alice", "EUR", amount)
		b.wait(time.Second)
	}
	for query, want := range map[string]string{
		"":                       "1/1 of 100: 5 4 3 2 1",
		"maxItems=2":             "1/3 of 2: 5 4",
		"maxItems=2&page=2":      "2/3 of 2: 3 2",
		"maxItems=2&page=3":      "3/3 of 2: 1",
		"maxItems=2&page=4":      "4/3 of 2:",
		"page=2147483647":        "2147483647/1 of 100:",
		"maxItems=5":             "1/1 of 5: 5 4 3 2 1",
		"type=deposit":           "1/1 of 100: 5 4 3 2 1",
		"type=staking":           "1/1 of 100:",
		"fromDate=1767268802000": "1/1 of 100: 5 4 3",
		"toDate=1767268801000":   "1/1 of 100: 2 1",
		"fromDate=1767268801000&toDate=1767268803000&maxItems=2&page=2": "2/2 of 2: 2",
	} {
		require.Equal(t, want, pageOf(t, b.get("alice", "GET /account/history", query)), query)
	}
	require.Equal(t, "1/1 of 100:", pageOf(t, b.get("bob", "GET /account/history", "")))
}

func TestOnlyTypesOfTheSpecificationAreInTheHistory(t *testing.T) {
	for _, one := range []string{typeBuy, typeSell, typeDeposit, typeWithdrawal, typeWithdrawalCancelled} {
		require.Contains(t, transactionTypes, one)
	}
}
