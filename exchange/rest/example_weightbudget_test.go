package rest_test

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// All clients that show one key share its ledger. It knows what is spent from the answers' headers.
func ExampleWeightBudget() {
	ledger := rest.NewWeightBudget(rest.LedgerConfig{
		Now:   func() market.Time { return market.Time(time.Now().UnixNano()) },
		After: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop },
		Warn:  func(w rest.Warning) { fmt.Println(w) },
	})
	client, err := rest.New(rest.Config{BaseURL: "https://api.example.com", Budget: ledger})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	_, ends := ledger.Forecast(rest.PaidByIP)
	fmt.Println("the points last:", !ends)
	// Output: the points last: true
}

// What is asked for again and again is added up before it is begun.
func ExamplePolls() {
	plan := rest.Polls{
		{Name: "balance", Weight: 5, Every: 200 * time.Millisecond, Payer: rest.PaidByKey},
		{Name: "open orders", Weight: 25, Every: time.Minute, Payer: rest.PaidByKey},
		{Name: "tickers", Weight: 1, Every: time.Second},
	}
	fmt.Println(plan.Check(1000, 1000))
	// Output:
	// the polling plan needs 1525 of the 1000 weight points that the key has a minute, more than 800 (80 %); ask less often for:
	//   1500 a minute  balance: weight 5 every 200ms
	//     25 a minute  open orders: weight 25 every 1m0s
}

// A signature covers what is sent, to the byte.
func ExampleSigner() {
	signer := rest.NewSigner(rest.NewSecret("secret"))
	fmt.Println(string(signer.AppendSignature(nil, 1548172481125, "POST", "/v2/order", []byte(`{"market":"BTC-EUR"}`))))
	// Output: af174fe1699a66e557830ab4d48aea976f8ab77e5f1d93f93d6408f3dfd72728
}
