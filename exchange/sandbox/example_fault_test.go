package sandbox_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
)

// A test lets the second answer be lost.
func ExampleFault() {
	config := sandbox.Default()
	config.Clock = sandbox.ManualClock(1772452800_000000000)
	config.Faults = []fault.Fault{{Kind: fault.DropAnswer, Nth: 2}}
	ex, err := sandbox.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(ex)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // else it repeats a GET by itself
	for range 3 {
		answer, err := client.Get(server.URL + "/v2/time")
		if err != nil {
			fmt.Println("lost:", errors.Is(err, io.EOF))
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		fmt.Println(string(text))
	}
	// Output:
	// {"time":1772452800000,"timeNs":1772452800000000000}
	// lost: true
	// {"time":1772452800000,"timeNs":1772452800000000000}
}

// A script of faults is TOML; what is wrong with it is named.
func ExampleParseFaults() {
	faults, err := sandbox.ParseFaults([]byte(strings.Join([]string{
		`[[faults]]`,
		`kind = "error"`,
		`code = 109`,
		`work = true`,
		`endpoints = ["POST /order"]`,
		`probability = 0.1`,
	}, "\n")))
	fmt.Println(faults[0].Kind, faults[0].Code, faults[0].Probability, err)
	_, err = sandbox.ParseFaults([]byte("[[faults]]\nkind = 'delayAnswer'"))
	fmt.Println(err)
	// Output:
	// error 109 0.1 <nil>
	// fault 1: delay: a fault of kind delayAnswer needs it
}
