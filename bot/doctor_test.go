package bot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// doctorExchange has an account with a key for everything, one that may not withdraw, and one that
// may only read.
const doctorExchange = `
[accounts.demo]
balances = { EUR = "10000" }
[accounts.demo.keys]
all = { permissions = ["read", "trade", "withdraw"] }
bot = { permissions = ["read", "trade"] }
look = { permissions = ["read"] }
`

// doctorRun is a config of `bot run` that lacks nothing.
const doctorRun = `
[bot]
state = %q
need_limits = true
[exchange]
base_url = %q
key_env = "BOT_KEY"
secret_env = "BOT_SECRET"
[risk]
max_exposure = "6000"
max_daily_loss = "500"
max_drawdown = "0.2"
max_open_orders = 10
max_order_value = "6000"
max_position = "6000"
price_collar = "0.05"
orders_per_minute = 30
max_data_age = "30s"
cool_down_losses = 3
cool_down = "1h"
[strategies.trend]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "5000"
operator_id = 7
`

// Answer is what a test looks at of a finding.
type Answer struct{ Check, Level, Text, Hint string }

// practice is an exchange with a patient in front of it.
type practice struct {
	t      *testing.T
	ex     *served
	config string
	dir    string
	env    map[string]string
}

func newPractice(t *testing.T, settings ...string) *practice {
	p := &practice{t: t, dir: t.TempDir(), env: map[string]string{}}
	file := filepath.Join(p.dir, "exchange.toml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(settings, "\n")+doctorExchange), 0o600))
	p.ex = serve(t, nil, "-c", file)
	p.config = filepath.Join(p.dir, "run.toml")
	require.NoError(t, os.Mkdir(filepath.Join(p.dir, "state"), 0o700))
	require.NoError(t, os.WriteFile(p.config,
		fmt.Appendf(nil, doctorRun, filepath.Join(p.dir, "state"), p.ex.facts.BaseURL), 0o600))
	p.use(1)
	return p
}

// use gives the bot one of the keys: 0 all, 1 bot, 2 look.
func (p *practice) use(key int) {
	k := p.ex.facts.Accounts[0].Keys[key]
	p.env["BOT_KEY"], p.env["BOT_SECRET"] = k.Key, k.Secret
}

// call runs the doctor.
func (p *practice) call(args ...string) (code int, stdout, stderr string) {
	var out, failed bytes.Buffer
	code = bot.Run(p.t.Context(), bot.Process{Args: append([]string{"doctor", "-c", p.config}, args...),
		Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &failed,
		Getenv: func(name string) string { return p.env[name] }, Definitions: append(shipped.Definitions(),
			busyKind())})
	return code, out.String(), failed.String()
}

// examine runs the doctor and returns its exit code with what it found.
func (p *practice) examine(args ...string) (int, []Answer) {
	p.t.Helper()
	code, out, failed := p.call(append(args, "--json")...)
	var all []Answer
	require.NoError(p.t, json.Unmarshal([]byte(out), &all), failed)
	for _, secret := range p.env {
		require.NotContains(p.t, out+failed, secret)
	}
	return code, all
}

// wants wants a finding with a level and a text, and the exit code that follows from all of them.
func (p *practice) wants(check, level, text string, args ...string) {
	p.t.Helper()
	code, all := p.examine(args...)
	want := 0
	there := false
	for _, f := range all {
		if f.Level == "fail" {
			want = 1
		}
		if f.Level != "ok" {
			require.NotEmpty(p.t, f.Hint, "%v", f)
		}
		there = there || f.Check == check && f.Level == level && strings.Contains(f.Text, text)
	}
	require.True(p.t, there, "want %s %s %q among %+v", level, check, text, all)
	require.Equal(p.t, want, code)
}

func TestTheDoctorFindsNothingWhereAllIsWell(t *testing.T) {
	p := newPractice(t)
	code, all := p.examine()
	require.Zero(t, code)
	checks := map[string]bool{}
	for _, f := range all {
		require.Equal(t, "ok", f.Level, "%+v", f)
		checks[f.Check] = true
	}
	for _, check := range []string{"secrets", "limits", "disk", "state file", "exchange", "clock", "key", "trade right",
		"withdrawals", "market", "polling", "balances", "others", "rehearsal", "orders"} {
		require.True(t, checks[check], check)
	}
	left, err := os.ReadDir(filepath.Join(p.dir, "state"))
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing but the result is kept")
	kept, err := statedir.ReadCheckup(filepath.Join(p.dir, "state"))
	require.NoError(t, err)
	require.Len(t, kept.Findings, len(all))
	require.InDelta(t, time.Now().UnixMilli(), kept.AtMS, 6e5)
	text, err := os.ReadFile(filepath.Join(p.dir, "state", left[0].Name()))
	require.NoError(t, err)
	for _, secret := range p.env {
		require.NotContains(t, string(text), secret)
	}
	code, out, _ := p.call()
	require.Zero(t, code)
	require.Regexp(t, `(?m)^ok    exchange +http://127.0.0.1:\d+/v2 answers, on this machine$`, out)
	require.Regexp(t, `(?m)^ +100 a minute  GET /ordersOpen: weight 100 every 1m0s$`, out)
	require.Regexp(t, `(?m)^\d+ ok, 0 to be judged, 0 fail$`, out)
}

// A market that an earlier run has known and the exchange lists no more is told, and the other
// checks are made.
func TestTheDoctorGoesOnBesideAMarketThatHasGone(t *testing.T) {
	p := newPractice(t)
	config, err := os.ReadFile(p.config)
	require.NoError(t, err)
	two := bytes.Replace(config, []byte(`["BTC-EUR"]`), []byte(`["BTC-EUR", "GONE-EUR"]`), 1)
	require.NoError(t, os.WriteFile(p.config, two, 0o600))
	p.wants("markets", "fail", "the exchange has no market GONE-EUR")

	catalog := &market.Catalog{}
	for _, symbol := range []string{"EUR", "BTC", "GONE"} {
		_, err := catalog.AddAsset(symbol, map[string]uint8{"EUR": 2, "BTC": 8, "GONE": 8}[symbol])
		require.NoError(t, err)
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "GONE-EUR", PriceDigits: 2}))
	store, err := journal.Open(filepath.Join(p.dir, "state", statedir.StateFile))
	require.NoError(t, err)
	require.NoError(t, store.Bind(catalog, []string{"trend"}))
	require.NoError(t, store.Commit(store.NewBatch()))
	require.NoError(t, store.Close())
	p.wants("market", "warn", "GONE-EUR: the exchange lists it no more")
	p.wants("market", "ok", "BTC-EUR")
	p.wants("orders", "ok", "trend in BTC-EUR")
}

func TestTheDoctorKnowsTheRightsOfAKey(t *testing.T) {
	p := newPractice(t)
	p.use(0)
	p.wants("withdrawals", "warn", "may withdraw")
	p.use(2)
	p.wants("trade right", "fail", "310")
	p.wants("withdrawals", "ok", "may not withdraw")
	p.env["BOT_SECRET"] = strings.Repeat("0", 128)
	p.wants("key", "fail", "309")
	p.env["BOT_KEY"] = strings.Repeat("0", 64)
	p.wants("key", "fail", "305")
}

func TestTheDoctorOpensTheStreamOfOrders(t *testing.T) {
	t.Parallel()
	p := newPractice(t)
	p.wants("stream", "ok", "opens and takes the key", "--set", "stream.orders=stream")
	code, _, failed := p.call("--set", "stream.orders=letter")
	require.Equal(t, 64, code, failed)
	require.Contains(t, failed, `"letter" is not one of stream, rest`)
}

func TestTheDoctorFindsWhatIsMissingAndWhatIsTooMuch(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	p := newPractice(t, "[budget]\nper_key = 100000\n") // ten doctors spend more than that of a minute
	p.wants("limits", "fail", "max_position", "--set", "risk.max_position=0")
	p.wants("limits", "warn", "max_position", "--set", "risk.max_position=0", "--set", "bot.need_limits=false")
	p.wants("volatility", "ok", "its warm-up has 21 of the 21 closes", "--set", "risk.volatility_target=20%")
	p.wants("volatility", "warn", "of the 21 closes of 1d that an estimate needs", "--set",
		"risk.volatility_target=20%", "--set", "risk.volatility_interval=1d")
	p.wants("allocation", "fail", "20000", "--set", "strategies.trend.allocation=20000")
	p.wants("orders", "fail", "max_order_value", "--set", "risk.max_order_value=1")
	p.wants("orders", "fail", "more than the strategy has", "--set", "strategies.trend.allocation=1")
	p.wants("markets", "fail", "no market XYZ-EUR", "--set", "strategies.trend.markets=XYZ-EUR")
	p.wants("polling", "fail", "of 1000 weight points", "--set", "poll.orders=5s", "--set",
		"exchange.weight_per_key=1000")
	p.wants("exchange", "fail", "does not answer", "--set", "exchange.base_url=http://127.0.0.1:1/v2")
	code, _, failed := p.call("--set", "exchange.base_url=http://198.51.100.1/v2")
	require.Equal(t, 64, code, failed)
	require.Contains(t, failed, "in clear")
}

func TestTheDoctorLooksAtFilesAndFolders(t *testing.T) {
	p := newPractice(t)
	state := filepath.Join(p.dir, "state")
	require.NoError(t, os.Chmod(state, 0o755))
	p.wants("folder", "fail", "others may read")
	require.NoError(t, os.Chmod(state, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(state, "bot.db"), []byte("no database"), 0o600))
	p.wants("state file", "fail", "bot.db")
	require.NoError(t, os.Remove(filepath.Join(state, "bot.db")))
	key := filepath.Join(p.dir, "key")
	require.NoError(t, os.WriteFile(key, []byte("x"), 0o644))
	code, _, failed := p.call("--set", "exchange.key_env=", "--set", "exchange.key_file="+key)
	require.Equal(t, 64, code)
	require.Contains(t, failed, "others may read")
}

func TestTheDoctorSeesSomebodyElseOnTheAccount(t *testing.T) {
	p := newPractice(t)
	k := p.ex.facts.Accounts[0].Keys[1]
	client, err := rest.New(rest.Config{BaseURL: p.ex.facts.BaseURL, Key: rest.NewSecret(k.Key),
		Secret: rest.NewSecret(k.Secret)})
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, client.Sync(t.Context()))
	catalog, _, err := client.Catalog(t.Context())
	require.NoError(t, err)
	client.Use(catalog)
	place := func(operator int64) {
		m := catalog.MarketNamed("BTC-EUR")
		price, err := m.ParsePrice("10000")
		require.NoError(t, err)
		amount, err := m.ParseQty("0.01")
		require.NoError(t, err)
		intent, err := client.Prepare(&market.Command{Kind: market.CommandPlace,
			Order: market.Order{ID: 1, ClientOrderID: uuid.New(), OperatorID: operator, Market: m.ID, Side: market.Buy,
				Type: market.TypeLimit, OrderState: market.OrderState{Amount: amount, Price: price,
					TimeInForce:         market.GTC,
					SelfTradePrevention: market.CancelNewest}}})
		require.NoError(t, err)
		_, err = client.Send(t.Context(), &intent)
		require.NoError(t, err)
	}
	p.wants("others", "ok", "0 open orders")
	place(8)
	p.wants("others", "warn", "1 open orders have another operatorId")
	place(7)
	p.wants("others", "warn", "1 open orders have this bot's operator_id and are not in its state file")
}

func TestTheDoctorTellsAWrongClockAndPaperMode(t *testing.T) {
	p := newPractice(t, "[clock]", "start = 2026-03-02")
	p.wants("clock", "warn", "behind this machine")
	p.wants("key", "ok", "works") // requests are signed with the exchange's time
	p.env = map[string]string{}
	p.wants("mode", "ok", "no key is needed", "--set", "bot.mode=paper", "--set", "paper.start.EUR=10000", "--set",
		"exchange.key_env=", "--set", "exchange.secret_env=")
	p.wants("allocation", "fail", "5000 of 100 EUR", "--set", "bot.mode=paper", "--set", "paper.start.EUR=100", "--set",
		"exchange.key_env=", "--set", "exchange.secret_env=")
}

func TestTheDoctorRehearsesWhatAStrategyWouldOrder(t *testing.T) {
	p := newPractice(t, "[budget]", "per_key = 0", "per_ip = 0")
	kind := func(name string, more ...string) []string {
		args := []string{"--set", "strategies.trend.kind=" + name}
		for _, set := range more {
			args = append(args, "--set", set)
		}
		return args
	}
	dca := func(more ...string) []string {
		return kind("dca", append([]string{"strategies.trend.params.every_candles=1", "risk.max_open_orders=0",
			"risk.orders_per_minute=0"}, more...)...)
	}
	p.wants("orders", "ok", "the smallest order of its rehearsal, market buy for 25 EUR, passes", dca()...)
	p.wants("rehearsal", "ok", "trend over the latest 500 1m candles: ", dca()...)
	p.wants("rehearsal", "fail", "orders that it asked for were refused: exchange 217",
		dca("strategies.trend.params.money=1")...)
	p.wants("orders", "ok", "its rehearsal placed no order; the smallest order that the market takes",
		dca("strategies.trend.params.money=1")...)
	p.wants("rehearsal", "fail", "were refused: max_order_value", dca("risk.max_order_value=20")...)
	p.wants("rehearsal", "warn", "refused: max_position", dca("risk.max_position=100")...)
	p.wants("rehearsal", "warn", "its loss met max_daily_loss: ", dca("risk.max_daily_loss=1")...)
	p.wants("rehearsal", "warn", "its loss met max_drawdown: ", dca("risk.max_drawdown=0.0001")...)
	p.wants("rehearsal", "ok", "it asked for no order",
		dca("strategies.trend.params.every_candles=1000000", "strategies.trend.params.every=8760h")...)
	p.wants("rehearsal", "fail", "it was halted at", kind("busy")...)
	p.wants("rehearsal", "ok", " orders",
		append(kind("maker", "risk.orders_per_minute=0", "risk.cool_down_losses=0", "risk.cool_down=0s"), "--set",
			"bot.need_limits=false")...)
}

func TestTheDoctorTriesTheReceiversOfAlerts(t *testing.T) {
	p := newPractice(t)
	var got output
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(&got, "%s %s\n", r.URL.Path, body)
		if strings.HasPrefix(r.URL.Path, "/gone") {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer receiver.Close()
	p.env["THERE"], p.env["GONE"], p.env["NOBODY"] = receiver.URL+"/here-SECRET", receiver.URL+"/gone-SECRET",
		"http://127.0.0.1:1/nobody-SECRET"
	to := []string{"--set", "alerts.to.there.url_env=THERE", "--set", "alerts.to.gone.url_env=GONE", "--set",
		"alerts.to.nobody.url_env=NOBODY"}
	p.wants("alerts", "ok", "3 receivers, not tried", to...)
	require.Empty(t, got.String())
	to = append(to, "--alerts")
	p.wants("alerts", "ok", "there (json) took a message", to...)
	require.Equal(t, 1, strings.Count(got.String(), `/here-SECRET {"kind":"test","at":"`+time.Now().UTC().
		Format("2006")), &got)
	require.Equal(t, 1, strings.Count(got.String(), `/gone-SECRET `), "what is not taken is not sent again: %s", &got)
	p.wants("alerts", "fail", "gone (json): the receiver answered 404", to...)
	p.wants("alerts", "fail", "nobody (json): dial tcp 127.0.0.1:1", to...)
	p.wants("alerts", "warn", "no receiver", "--alerts")
}
