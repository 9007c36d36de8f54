package sandbox_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
)

// A test moves the exchange's time by hand.
func ExampleManualClock() {
	clock := sandbox.ManualClock(1772452800_000000000)
	clock.Advance(90 * time.Second)
	fmt.Println(clock.Now())
	fmt.Println(clock.Set(0))
	// Output:
	// 2026-03-02T12:01:30Z
	// clock: 1970-01-01T00:00:00Z lies before the exchange's time, 2026-03-02T12:01:30Z; it never goes back
}

// A test of an own client lets it talk to an exchange in process, whose clock the test holds.
func ExampleNew() {
	const secret = "no secret at all"
	config := sandbox.Default()
	config.Clock = sandbox.ManualClock(1772452800_000000000)
	config.History = 0
	config.Rules.SettleAfter = 2 * time.Second
	config.Accounts = []sandbox.Account{{
		Name: "me", Balances: map[string]string{"EUR": "1000"},
		Keys: []api.Key{{Key: strings.Repeat("k", 64), Secret: secret, Read: true, Trade: true}},
	}}
	config.Markets = config.Markets[:1]
	config.Markets[0].Source = prices.Fixed("50000")
	ex, err := sandbox.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(ex)
	defer server.Close()

	call := func(method, path, body string) []byte {
		stamp := strconv.FormatInt(ex.Clock().Now().Millis(), 10)
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprint(mac, stamp, method, path, body)
		request, _ := http.NewRequest(method, server.URL+path, strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Service-Access-Key", strings.Repeat("k", 64))
		request.Header.Set("Service-Access-Timestamp", stamp)
		request.Header.Set("Service-Access-Signature", hex.EncodeToString(mac.Sum(nil)))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return []byte(err.Error())
		}
		defer response.Body.Close()
		answer, _ := io.ReadAll(response.Body)
		return answer
	}
	var order struct {
		OrderID, Status, FilledAmount, FeePaid string
		Fills                                  []struct{ Settled bool }
	}
	_ = json.Unmarshal(call("POST", "/v2/order",
		`{"market":"BTC-EUR","side":"buy","orderType":"market","amount":"0.01","operatorId":1}`), &order)
	fmt.Println(order.Status, order.FilledAmount, "fee", order.FeePaid, "settled", order.Fills[0].Settled)

	ex.Clock().Advance(2 * time.Second)
	_ = json.Unmarshal(call("GET", "/v2/order?market=BTC-EUR&orderId="+order.OrderID, ""), &order)
	fmt.Println(order.Status, order.FilledAmount, "fee", order.FeePaid, "settled", order.Fills[0].Settled)
	// Output:
	// filled 0.01 fee 0 settled false
	// filled 0.01 fee 1.26 settled true
}
