package exchange_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
)

// allCodes lists the codes of specification 7 and venue-facts 2 by HTTP status, apart from the
// table that is tested.
var allCodes = map[int][]int{
	400: {102, 103, 104, 200, 201, 202, 203, 204, 205, 206, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 230,
		231, 232, 233, 234, 235, 236, 237, 238, 239,
		401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 422, 423, 424, 425, 426, 429, 434, 435,
		436, 437, 438, 439, 510},
	403: {300, 301, 302, 303, 304, 305, 306, 307, 308, 309, 310, 311, 312, 313, 314, 315, 316, 317, 318, 319, 320, 322,
		511, 512, 513},
	404: {110, 240, 415, 514},
	429: {105, 112},
	500: {101, 400},
	503: {107, 108, 109, 111, 419, 430, 431},
}

func TestEveryCodeHasItsStatusAndAMessage(t *testing.T) {
	for status, codes := range allCodes {
		for _, code := range codes {
			refusal := exchange.ErrCode(code)
			require.Equal(t, code, refusal.Code)
			require.Equal(t, status, refusal.Status, "code %d", code)
			require.NotEmpty(t, refusal.Message, "code %d", code)
			require.NotContains(t, refusal.Message, "%", "code %d", code)
		}
	}
}

func TestTheTableHasNoOtherCodes(t *testing.T) {
	known := map[int]bool{}
	for _, codes := range allCodes {
		for _, code := range codes {
			require.False(t, known[code], "code %d stands twice in the test", code)
			known[code] = true
		}
	}
	for code := -1; code < 1000; code++ {
		if !known[code] {
			require.Panics(t, func() { exchange.ErrCode(code) }, "code %d", code)
		}
	}
}

func TestParameterErrorsNameTheParameter(t *testing.T) {
	cases := []struct {
		have *exchange.Error
		want exchange.Error
	}{
		{exchange.Required("operatorId"),
			exchange.Error{Code: 203, Status: 400, Message: "operatorId parameter is required."}},
		{exchange.NotSupported("leverage"),
			exchange.Error{Code: 204, Status: 400, Message: "leverage parameter is not supported."}},
		{exchange.Invalid("price"), exchange.Error{Code: 205, Status: 400, Message: "price parameter is invalid."}},
		{exchange.UnsupportedForType("postOnly"),
			exchange.Error{Code: 202, Status: 400, Message: "postOnly parameter is not supported for this orderType."}},
		{exchange.Exclusive("amount", "amountQuote"),
			exchange.Error{Code: 206, Status: 400, Message: "Use either amount or amountQuote."}},
		// code 429, but HTTP 400
		{exchange.TooManyDecimals("amount"),
			exchange.Error{Code: 429, Status: 400, Message: "amount parameter has too many decimals."}},
		{exchange.MinimumQuote("5 EUR", "0.001 BTC"),
			exchange.Error{Code: 217, Status: 400,
				Message: "Minimum order size in quote currency is 5 EUR or 0.001 BTC."}},
	}
	for _, c := range cases {
		require.Equal(t, c.want, *c.have)
	}
}

func TestBanNamesItsEndWhereClientsLookForIt(t *testing.T) {
	ban := exchange.Banned(1548175200641)
	require.Equal(t, 429, ban.Status)
	_, after, found := strings.Cut(ban.Message, " at ")
	require.True(t, found)
	require.Equal(t, "1548175200641.", after)
}

func TestRecordedErrorsAreWordedAsRecorded(t *testing.T) {
	data, err := os.ReadFile("../../shared/spec/fixtures/errors_observed.json")
	if err != nil {
		t.Skip("recorded errors are not here: ", err)
	}
	var rows []struct {
		HTTP int
		Body json.RawMessage
	}
	require.NoError(t, json.Unmarshal(data, &rows))
	require.NotEmpty(t, rows)
	for _, row := range rows {
		recorded := exchange.ParseError(row.HTTP, row.Body)
		require.Contains(t, wordings(recorded), strings.TrimSuffix(recorded.Message, "."))
		require.Equal(t, recorded.Status, exchange.ErrCode(recorded.Code).Status)
	}
}

// wordings returns what our table says for a code, without the last dot, which the exchange does
// not always send.
func wordings(e *exchange.Error) []string {
	name, _, _ := strings.Cut(e.Message, " ")
	all := []*exchange.Error{exchange.ErrCode(e.Code)}
	switch e.Code {
	case exchange.CodeRequired, exchange.CodeInvalid:
		all = append(all, exchange.ErrCode(e.Code, name))
	case exchange.CodeMinQuote:
		all = append(all, exchange.MinimumQuote("5 EUR", "0.001 BTC"))
	case exchange.CodeBanned:
		all = append(all, exchange.Banned(1548175200641))
	}
	var texts []string
	for _, one := range all {
		texts = append(texts, strings.TrimSuffix(one.Message, "."))
	}
	return texts
}

func TestOutcomeIsRejectedOnlyForTheExchangesOwn4xx(t *testing.T) {
	cases := []struct {
		err  error
		want exchange.Outcome
	}{
		{nil, exchange.Accepted},
		{exchange.ErrCode(216), exchange.Rejected},
		{exchange.Banned(1), exchange.Rejected},
		{exchange.ErrCode(300), exchange.Rejected},
		{exchange.ErrCode(304), exchange.Rejected}, // outside the access window: read, and not done
		{exchange.ErrCode(312), exchange.Rejected},
		{exchange.ErrCode(240), exchange.Rejected},
		{fmt.Errorf("place 7: %w", exchange.ErrCode(216)), exchange.Rejected},
		{&exchange.Error{Code: 431, Status: 409}, exchange.Rejected}, // a book of a market that is closed
		{exchange.ErrCode(101), exchange.Unknown},
		{exchange.ErrCode(107), exchange.Unknown},
		{exchange.ErrCode(108), exchange.Unknown},
		{exchange.ErrCode(109), exchange.Unknown},
		{exchange.ErrCode(111), exchange.Unknown},
		{exchange.ErrCode(430), exchange.Unknown},
		{exchange.ErrCode(431), exchange.Unknown},
		{exchange.ParseError(403, []byte("<html>blocked</html>")), exchange.Unknown}, // a proxy spoke, not the exchange
		{exchange.ParseError(200, []byte(`{"orderId":"1be6`)), exchange.Unknown},     // cut off
		{errors.New("connection reset"), exchange.Unknown},
	}
	for _, c := range cases {
		require.Equal(t, c.want, exchange.OutcomeOf(c.err), "%v", c.err)
	}
}

func TestErrorsAreEqualByCode(t *testing.T) {
	err := fmt.Errorf("update 3: %w", exchange.Invalid("amount"))
	require.ErrorIs(t, err, exchange.ErrCode(exchange.CodeInvalid))
	require.NotErrorIs(t, err, exchange.ErrCode(exchange.CodeNotFound))
}

func TestErrorBodiesComeBackAsTheyWent(t *testing.T) {
	for _, sent := range []*exchange.Error{exchange.ErrCode(301), exchange.Invalid(`pri"ce`), exchange.Invalid("ä\n")} {
		got := exchange.ParseError(sent.Status, exchange.AppendError(nil, sent))
		require.Equal(t, sent, got)
	}
}

func TestBodiesThatAreNoErrorKeepTheirStatus(t *testing.T) {
	for _, body := range []string{"", "null", "[]", "{}", `{"errorCode":0}`, `{"errorCode":-3,"error":"x"}`,
		`{"errorCode":"216"}`, strings.Repeat("é", 200)} {
		got := exchange.ParseError(502, []byte(body))
		require.Equal(t, 0, got.Code, body)
		require.Equal(t, 502, got.Status)
		require.Less(t, len(got.Error()), 200)
	}
}

func ExampleError() {
	err := exchange.ErrCode(exchange.CodeInsufficientBalance)
	fmt.Println(err)
	fmt.Println(err.Outcome())
	// Output:
	// exchange: You do not have sufficient balance to complete this operation (code 216, HTTP 400)
	// rejected
}

func ExampleOutcomeOf() {
	fmt.Println(exchange.OutcomeOf(nil))
	fmt.Println(exchange.OutcomeOf(errors.New("connection reset by peer")))
	// Output:
	// accepted
	// unknown
}

func TestAReasonWithACodeIsExplained(t *testing.T) {
	for reason, want := range map[string]string{
		"trend: exchange 216":   "trend: exchange 216: You do not have sufficient balance to complete this operation",
		"exchange 216":          "exchange 216: You do not have sufficient balance to complete this operation",
		"exchange answered 216": "exchange answered 216: You do not have sufficient balance to complete this operation",
		"trend: exchange 999":   "trend: exchange 999",
		"trend: max_position":   "trend: max_position",
		"top 216":               "top 216",
		"":                      "",
	} {
		require.Equal(t, want, exchange.Explained(reason))
	}
}
