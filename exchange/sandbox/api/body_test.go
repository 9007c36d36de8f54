package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// faultOf reads a body and returns why it is no JSON object.
func faultOf(text string) string {
	order := &Endpoint{Method: "POST",
		Params: []Parameter{{Name: "market", Kind: Text}, {Name: "amount", Kind: Decimal},
			{Name: "operatorId", Kind: Integer}}}
	d := decoder{catalog: &market.Catalog{}, call: &Call{Endpoint: order, Args: make(Arguments, len(order.Params))}}
	return d.body([]byte(text))
}

func TestWhatIsNoObjectIsToldFromWhatIsNoJSON(t *testing.T) {
	for _, text := range []string{" ", "[]", `"a"`, "1", "null", "x"} {
		fault := faultOf(text)
		require.Equal(t, "it is no JSON object", fault, text)
	}
	for _, text := range []string{"{", `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`, `{a:1}`, `{"a":01}`, `{"a":+1}`,
		`{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":tru}`, `{"a":"\x"}`, `{"a":"\u12g4"}`,
		"{\"a\":\"\n\"}", `{"a":"`, `{"a":[1,]}`, `{"a":{"b"}}`, `{} {}`, `{}}`, `{"a":1}x`, `{"a":[}`, `{"a":"\`} {
		fault := faultOf(text)
		require.Equal(t, "it is not valid JSON", fault, text)
	}
}

func TestNestingHasABound(t *testing.T) {
	nested := func(depth int) string {
		return `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}"
	}
	fault := faultOf(nested(maxDepth))
	require.Empty(t, fault)
	fault = faultOf(nested(maxDepth + 1))
	require.Equal(t, "it is nested too deep", fault)
}

// FuzzBodyIsAnObject holds the reading of bodies against encoding/json: the same texts are objects.
func FuzzBodyIsAnObject(f *testing.F) {
	for _, seed := range []string{`{}`, `{"market":"BTC-EUR","amount":"1.5","operatorId":1}`,
		`{"a":{"b":[1,2,{"c":null}]},"d":true}`, ` [ ] `, `{"a":1}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fault := faultOf(string(text))
		if fault == "it is nested too deep" {
			return // encoding/json goes deeper
		}
		object := utf8.Valid(text) && json.Valid(text) && bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
		require.Equal(t, object || len(text) == 0, fault == "", fault)
	})
}
