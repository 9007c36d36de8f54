package sandbox

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// description is what answers are held against: the document, and the schemas of it that were used,
// by path into the document.
type description struct {
	mu       sync.Mutex
	document any
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// described is the description of the API with the default prefix, made once for all tests.
var described = sync.OnceValue(func() *description {
	d, err := api.New(&api.Config{Table: listed})
	if err != nil {
		panic(err)
	}
	return readDescription(d.OpenAPI())
})

func readDescription(text []byte) *description {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", document); err != nil {
		panic(err)
	}
	return &description{document: document, compiler: compiler, schemas: map[string]*jsonschema.Schema{}}
}

// object returns the object of the document at a path of keys.
func (d *description) object(path ...string) map[string]any {
	one := d.document.(map[string]any)
	for _, key := range path {
		one = one[key].(map[string]any)
	}
	return one
}

// schema returns the schema at a JSON pointer of the document.
func (d *description) schema(t testing.TB, pointer string) *jsonschema.Schema {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.schemas[pointer] == nil {
		schema, err := d.compiler.Compile("openapi.json#" + pointer)
		require.NoError(t, err, pointer)
		d.schemas[pointer] = schema
	}
	return d.schemas[pointer]
}

// succeeded are the endpoints of listed that have answered with success.
var succeeded sync.Map

// conforms requires that an answer is one that the description of the API promises. path begins
// with /v2.
func conforms(t testing.TB, method, path string, status int, body string) {
	t.Helper()
	e, _ := route(method, strings.TrimPrefix(path, api.Version))
	if status >= http.StatusBadRequest {
		if e != nil {
			require.Contains(t, described().object("paths", api.Version+e.Path, strings.ToLower(method), "responses"),
				strconv.Itoa(status), "%s %s may not answer %d: %s", method, path, status, body)
		}
		fitsSchema(t, "/components/schemas/Error", body)
		return
	}
	require.NotNil(t, e, "%s %s has no row in the table", method, path)
	if body == "" && method == http.MethodPost &&
		slices.ContainsFunc(e.Params, func(p api.Parameter) bool { return p.Name == "responseRequired" }) {
		return // responseRequired=false: only the status (specification 4.1)
	}
	require.Equal(t, e.Success(), status, "%s %s", method, path)
	succeeded.Store(e, true)
	escaped := strings.ReplaceAll(api.Version+e.Path, "/", "~1")
	fitsSchema(t, "/paths/"+escaped+"/"+strings.ToLower(method)+"/responses/"+strconv.Itoa(status)+
		"/content/application~1json/schema", body)
}

// fitsSchema requires that a text is JSON of the schema at a pointer.
func fitsSchema(t testing.TB, pointer, text string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err, text)
	require.NoError(t, described().schema(t, pointer).Validate(value), text)
}

func TestEveryAnswerOfTheTableHasASchema(t *testing.T) {
	have := described().object("components", "schemas")
	for i := range listed {
		require.Contains(t, have, listed[i].Answer, "%s %s", listed[i].Method, listed[i].Path)
	}
}

func TestAnAnswerWithAnUnknownOrAMissingFieldDoesNotFit(t *testing.T) {
	schema := described().schema(t, "/components/schemas/Time")
	for text, fit := range map[string]bool{
		`{"time":1,"timeNs":1}`:         true,
		`{"time":1}`:                    false,
		`{"time":1,"timeNs":1,"day":1}`: false,
		`{"time":"1","timeNs":1}`:       false,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, fit, schema.Validate(value) == nil, text)
	}
}

func TestRecordedAnswersFitTheirSchemas(t *testing.T) {
	cases := map[string]string{
		"time.json": "Time", "assets.json": "Assets", "book.json": "Book", "trades_public.json": "PublicTrades",
		"candles_1m_2025.json": "Candles", "ticker_price.json": "TickerPrices",
		"ticker_book.json": "TickerBooks", "ticker_24h.json": "Tickers24h", "orders_open_2025.json": "Orders",
		"orders_cancel_docs.json": "CancelledList",
		"account_2025.json":       "Account", "account_fees_docs.json": "Fees", "balance_symbol_2025.json": "Balances",
		"deposit_history_2025.json": "Deposits", "withdrawal_history_2025.json": "Withdrawals",
		"account_history_docs.json": "History", "report_book_docs.json": "BookReport",
	}
	for name, schema := range cases {
		t.Run(name, func(t *testing.T) {
			fitsSchema(t, "/components/schemas/"+schema, fixture(t, name))
		})
	}
}

func TestTheDescriptionNamesTheHeadersOfTheOperator(t *testing.T) {
	text := string(newRig(t, func(c *Config) { c.Prefixes = []string{"Acme", "Service"} }).ex.door.OpenAPI())
	require.True(t, json.Valid([]byte(text)))
	require.Contains(t, text, `"Acme-Access-Key"`)
	require.Contains(t, text, `"acme-ratelimit-remaining"`)
	require.NotContains(t, text, "Service-Access")
}

func TestTheDescriptionKnowsWhereTheOperatorIsOptional(t *testing.T) {
	for _, optional := range []bool{false, true} {
		text := newRig(t, func(c *Config) { c.Rules.OperatorOptional = optional }).ex.door.OpenAPI()
		var document struct {
			Paths map[string]map[string]struct {
				Parameters []struct {
					Name     string
					Required bool
				}
			}
		}
		require.NoError(t, json.Unmarshal(text, &document))
		for _, path := range []string{"/v2/order", "/v2/orders"} {
			found := false
			for _, p := range document.Paths[path]["delete"].Parameters {
				if p.Name == "operatorId" {
					found = true
					require.Equal(t, !optional, p.Required, path)
				}
			}
			require.True(t, found, path)
		}
	}
}
