package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// clientsFolder names the variable of the environment that names a folder with the clients'
// packages. docs/conformance.md has the commands:
//
//	mkdir -p /tmp/clients && cd /tmp/clients && npm init -y && npm install ccxt bitvavo
//	TIDEMARK_CLIENTS=/tmp/clients go test ./exchange/sandbox -run Client -v
const clientsFolder = "TIDEMARK_CLIENTS"

// TestAClientThatManyExchangesShareWalksEverything lets ccxt for JavaScript, unmodified, use the
// exchange as it would the real one.
func TestAClientThatManyExchangesShareWalksEverything(t *testing.T) {
	walkClient(t, "ccxt", "ccxt.cjs", nil, 38)
}

// TestTheOperatorsOwnClientWalksEverything lets the operator's JavaScript package, unmodified, do
// the same.
func TestTheOperatorsOwnClientWalksEverything(t *testing.T) {
	walkClient(t, "bitvavo", "operator.cjs", func(c *Config) { c.Rules.OperatorOptional = true }, 22)
}

// TestTheSharedClientWalksTheSocket lets ccxt, unmodified, watch and trade over the WebSocket.
func TestTheSharedClientWalksTheSocket(t *testing.T) {
	walkClient(t, "ccxt", "ccxt-socket.cjs", nil, 27)
}

// TestTheOperatorsOwnClientWalksTheSocket lets the operator's package, unmodified, do the same.
func TestTheOperatorsOwnClientWalksTheSocket(t *testing.T) {
	walkClient(t, "bitvavo", "operator-socket.cjs", func(c *Config) { c.Rules.OperatorOptional = true }, 29)
}

// TestAPythonClientWalksEverything lets a client of Python's standard library, which signs as
// Python clients of the exchange do and reckons its money by itself, use everything.
func TestAPythonClientWalksEverything(t *testing.T) {
	walkScript(t, "python3", "python.py", nil, 13)
}

// walkClient runs a script of testdata/clients with node against an exchange on loopback. Every
// answer that the client gets is held against the description of the API. Without node or the
// client's package the test is skipped.
func walkClient(t *testing.T, name, script string, change func(*Config), steps int) {
	folder := os.Getenv(clientsFolder)
	if folder == "" {
		t.Skip(clientsFolder + " names no folder with the clients' packages")
	}
	if _, err := os.Stat(folder + "/node_modules/" + name); err != nil {
		t.Skip("the package is not there: ", err)
	}
	walkScript(t, "node", script, change, steps)
}

// walkScript runs a script with its interpreter against an exchange on loopback; without the
// interpreter the test is skipped.
func walkScript(t *testing.T, interpreter, script string, change func(*Config), steps int) {
	program, err := exec.LookPath(interpreter)
	if err != nil {
		t.Skipf("there is no %s: %s", interpreter, err)
	}
	config := Default()
	config.Prefixes = []string{"Bitvavo"}
	keys := clientKeys(&config)
	if change != nil {
		change(&config)
	}
	ex, err := New(config)
	require.NoError(t, err)
	_, refusal := ex.bank.deposit("demo", "EUR", "250", ex.clock.Now())
	require.Nil(t, refusal)
	exchange := &overheard{ex: ex}
	server := httptest.NewServer(exchange)
	defer server.Close()
	defer ex.streams.hub.Close()

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, program, "testdata/clients/"+script)
	command.WaitDelay = time.Second
	command.Env = append(os.Environ(), "EXCHANGE_URL="+server.URL, "CREDENTIALS="+keys)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	ex.streams.hub.Close()
	server.Close() // whatever was answered has been heard
	exchange.check(t)
	require.Equal(t, steps, strings.Count(string(out), "ok "), "%s", out)
	t.Logf("%s", out)
}

// clientKeys adds a key that may only read and one whose budget is less than one request, and
// returns all as the scripts read them.
func clientKeys(config *Config) string {
	demo := &config.Accounts[0]
	demo.Balances = map[string]string{"EUR": "99750", "BTC": "1"}
	all := map[string]map[string]string{"demo": {"apiKey": demo.Keys[0].Key, "secret": demo.Keys[0].Secret}}
	demo.Keys = append(demo.Keys, api.Key{Key: rigKey("reader"), Secret: "r", Read: true},
		api.Key{Key: rigKey("hasty"), Secret: "h", Read: true, Budget: 4})
	all["reader"] = map[string]string{"apiKey": rigKey("reader"), "secret": "r"}
	all["hasty"] = map[string]string{"apiKey": rigKey("hasty"), "secret": "h"}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// overheard serves an exchange and keeps what it answers.
type overheard struct {
	ex *Exchange

	mu      sync.Mutex // guards answers
	answers []heard
}

// heard is one answer to a client.
type heard struct {
	method, path, body string
	status             int
}

func (o *overheard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isSocket(r) { // the script says what comes over it
		o.ex.ServeHTTP(w, r)
		return
	}
	recorder := httptest.NewRecorder()
	o.ex.ServeHTTP(recorder, r)
	for name, values := range recorder.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes())
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers = append(o.answers, heard{r.Method, r.URL.Path, recorder.Body.String(), recorder.Code})
}

// check holds what was answered against the description of the API. A client asks for nothing that
// is not there.
func (o *overheard) check(t *testing.T) {
	for _, a := range o.answers {
		conforms(t, a.method, a.path, a.status, a.body)
		require.NotContains(t, a.body, `"errorCode":110`, "%s %s", a.method, a.path)
	}
}
