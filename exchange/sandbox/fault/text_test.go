package fault

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// knownEndpoint stands for the table of an exchange.
func knownEndpoint(name string) bool { return name == "POST /order" || name == "GET /{market}/book" }

const faultScriptText = `
# every tenth answer of POST /order is lost
[[faults]]
kind = "dropAnswer"
endpoints = ["POST /order", "GET /{market}/book"]
probability = 0.1
account = "alice"
key = "k"
market = "BTC-EUR"
nth = 2
count = 3
after = "10s"
until = "1m30s"

[[faults]]
kind = "error"
code = 109
work = true
probability = 1

[[faults]]
kind = "clockSkew"
skew = "-7s"

[[faults]]
kind = "marketStatus"
after = "1h"
market = "BTC-EUR"
status = "auctionMatching"
price = "50000"

[[faults]]
kind = "tickSize"
market = "BTC-EUR"
tickSize = "0.5"

[[faults]]
kind = "cancelOrders"
reason = "cancelOnMaintenance"

[[faults]]
kind = "delayRequest"
delay = "250ms"

[[faults]]
kind = "missedFill"
market = "BTC-EUR"
probability = 0.4
after = "1m"
until = "2m"
`

var faultsWritten = []Fault{
	{Kind: DropAnswer, Endpoints: []string{"POST /order", "GET /{market}/book"}, Probability: 0.1, Account: "alice",
		Key: "k", Market: "BTC-EUR", Nth: 2, Count: 3, After: 10 * time.Second, Until: 90 * time.Second},
	{Kind: Error, Code: 109, Work: true, Probability: 1},
	{Kind: ClockSkew, Skew: -7 * time.Second},
	{Kind: MarketStatus, After: time.Hour, Market: "BTC-EUR", Status: market.AuctionMatching, Price: "50000"},
	{Kind: TickSize, Market: "BTC-EUR", Tick: "0.5"},
	{Kind: CancelOrders, Reason: market.CancelOnMaintenance},
	{Kind: DelayRequest, Delay: 250 * time.Millisecond},
	{Kind: MissedFill, Market: "BTC-EUR", Probability: 0.4, After: time.Minute, Until: 2 * time.Minute},
}

func TestAScriptIsReadFromTOML(t *testing.T) {
	faults, err := Parse([]byte(faultScriptText), knownEndpoint)
	require.NoError(t, err)
	require.Equal(t, faultsWritten, faults)
	faults, err = Parse(nil, knownEndpoint)
	require.NoError(t, err)
	require.Empty(t, faults)
}

func TestAScriptIsWrittenAsItIsRead(t *testing.T) {
	for _, fault := range faultsWritten {
		text, err := json.Marshal(fault.text())
		require.NoError(t, err)
		back, err := ParseJSON("["+string(text)+"]", knownEndpoint)
		require.NoError(t, err)
		require.Equal(t, []Fault{fault}, back)
	}
}

func TestAMistakeInAScriptNamesFaultAndKey(t *testing.T) {
	const fault, truncate = "[[faults]]\n", "[[faults]]\nkind='truncate'\n"
	for text, words := range map[string]string{
		"faults = 1":                              "faults: ",
		"fault = []":                              `faults: unknown key "fault"`,
		"[[faults]":                               "faults: toml: line 1",
		"[[faults]]":                              "fault 1: kind is missing",
		fault + "kind='dropAnswers'":              `fault 1: kind: "dropAnswers" is not one of dropRequest, dropAnswer,`,
		truncate + truncate + "probabilty=0.5":    `fault 2: unknown key "probabilty"; the keys are kind, endpoints,`,
		truncate + "count='3'":                    "fault 1: count: want a whole number, not string",
		truncate + "count=1.5":                    "fault 1: count: want a whole number, not number 1.5",
		truncate + "work='yes'":                   "fault 1: work: want true or false, not string",
		truncate + "endpoints='POST /order'":      "fault 1: endpoints: want a list of texts, not string",
		truncate + "endpoints=['POST /v2/order']": `fault 1: endpoints: there is no "POST /v2/order"; write method and path without /v2`,
		truncate + "probability=0":                "fault 1: probability: 0 is not above 0",
		truncate + "probability=1.1":              "fault 1: probability: 1.1 is not above 0 and at most 1",
		truncate + "probability=nan":              "fault 1: ",
		truncate + "nth=0":                        "fault 1: nth: 0 is below 1",
		truncate + "count=-1":                     "fault 1: count: -1 is below 1",
		truncate + "after='soon'":                 "fault 1: after: time: invalid duration",
		truncate + "after='-1s'":                  "fault 1: after: -1s is negative",
		truncate + "after='2s'\nuntil='1s'":       "fault 1: until: 1s is not later than after, 2s",
		truncate + "delay='2s'":                   "fault 1: delay: a fault of kind truncate has none",

		fault + "kind='delayAnswer'":                           "fault 1: delay: a fault of kind delayAnswer needs it",
		fault + "kind='error'\ncode=216":                       "fault 1: code: 216 is not one of [101 105",
		fault + "kind='error'\ncode=105\nwork=true":            "fault 1: work: code 105 says that nothing was done",
		fault + "kind='html'\ncode=404":                        "fault 1: code: 404 is not 200 or 502",
		fault + "kind='marketStatus'\nstatus='closed'":         `fault 1: status: market status "closed" is not one of`,
		fault + "kind='tickSize'\ntickSize='1'":                "fault 1: market: a fault of kind tickSize needs it",
		fault + "kind='cancelOrders'\nreason='cancelPostOnly'": "fault 1: reason: cancelPostOnly is not one of",

		fault + "kind='marketStatus'\nstatus='halted'\n" +
			"price='5'": "fault 1: price: only status auctionMatching has an opening price",
		fault + "kind='cancelOrders'\n" +
			"endpoints=['POST /order']": "fault 1: endpoints: a fault of kind cancelOrders has none",
	} {
		_, err := Parse([]byte(text), knownEndpoint)
		require.ErrorContains(t, err, words, text)
	}
	for text, words := range map[string]string{
		`{}`:                         "faults: want a list of objects",
		`[1]`:                        "fault 1: want an object, not number",
		`[{"kind":"truncate"},null]`: "fault 2: kind is missing",
	} {
		_, err := ParseJSON(text, knownEndpoint)
		require.ErrorContains(t, err, words, text)
	}
}

func TestEveryKindOfFaultHasItsRow(t *testing.T) {
	for kind := DropRequest; kind <= MissedFill; kind++ {
		row := rows[kind]
		require.NotEmpty(t, row.client)
		require.NotEmpty(t, row.work)
		require.Equal(t, kind.Scheduled(), row.work == "scheduled")
		back, err := parseKind(kind.String())
		require.NoError(t, err)
		require.Equal(t, kind, back)
		settings := (&Fault{}).settings()
		for _, name := range append(row.needs, row.takes...) {
			require.Contains(t, settings, setting{name: name})
		}
	}
	require.Len(t, rows, int(NewNonces)+1)
	require.Equal(t, "fault kind(99)", Kind(99).String())
	require.Equal(t, reflect.TypeFor[Fault]().NumField(), len((&Fault{}).settings())+1,
		"every setting but the kind is one that check knows")
	require.Equal(t, reflect.TypeFor[faultText]().NumField(), reflect.TypeFor[Fault]().NumField())
}

func FuzzParseFaults(f *testing.F) {
	f.Add([]byte(faultScriptText))
	f.Add([]byte("[[faults]]\nkind='html'\ncode=200"))
	f.Fuzz(func(t *testing.T, text []byte) {
		faults, err := Parse(text, knownEndpoint)
		if err != nil {
			return
		}
		for i := range faults { // what was read is written so that it reads the same
			again, err := json.Marshal(faults[i].text())
			require.NoError(t, err)
			back, err := readFault(again, knownEndpoint)
			require.NoError(t, err, string(again))
			if len(faults[i].Endpoints) == 0 {
				faults[i].Endpoints = nil
			}
			require.Equal(t, faults[i], back)
		}
	})
}

func TestTheDocsListEveryFault(t *testing.T) {
	var lines []string
	for _, row := range rows[1:] {
		var settings []string
		for _, name := range row.needs {
			settings = append(settings, "**`"+name+"`**")
		}
		for _, name := range row.takes {
			settings = append(settings, "`"+name+"`")
		}
		lines = append(lines, fmt.Sprintf("| `%s` | %s | %s | %s |", row.name, row.client, row.work,
			strings.Join(settings, ", ")))
	}
	text, err := os.ReadFile("../../../docs/exchange.md")
	require.NoError(t, err)
	page := string(text)
	head := "| kind | what the client sees | was the work done | settings |\n|---|---|---|---|\n"
	require.Contains(t, page, "\n"+head+strings.Join(lines, "\n")+"\n\n",
		"docs/exchange.md: the table below the head does not say what the code says")
	for _, name := range slices.Concat(selectors, schedules) {
		require.Contains(t, page, "| `"+name+"` |")
	}
}
