package bot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// trader is `bot run` as a process of its own, on an exchange that is one too.
type trader struct {
	t        *testing.T
	exchange *served
	folder   string
	cmd      *exec.Cmd
	stderr   *output
	stdin    *os.File // of the bot; nil: an empty one
}

// trade starts both, with a market maker that quotes close to the middle. The budget of a minute is
// enough for the starts of a test: none waits for the next minute.
func trade(t *testing.T, args ...string) *trader {
	b := newTrader(t)
	b.start(args...)
	return b
}

// newTrader starts the exchange alone.
func newTrader(t *testing.T) *trader {
	exchange := serve(t, nil, "--set", "budget.per_key=5000")
	return &trader{t: t, exchange: exchange, folder: filepath.Join(t.TempDir(), "state")}
}

// start starts the bot and waits until it has orders, or is halted.
func (b *trader) start(args ...string) {
	b.launch(args...)
	bottest.Await(b.t, func() bool {
		var s status
		return b.try("status", &s) == 0 && (s.State == "trading" && s.OpenOrders > 0 || s.State == "halted")
	}, "orders, or a halt; the bot said:\n%s", b.stderr)
}

// launch starts the bot.
func (b *trader) launch(args ...string) {
	b.cmd = bottest.Child(bottest.Program(b.t),
		append([]string{"run", "-c", "../configs/sandbox.toml", "--set",
			"exchange.base_url=" + b.exchange.facts.BaseURL, "--set", "bot.state=" + b.folder,
			"--set", "strategies.maker.params.half_spread_bps=2", "--set", "strategies.maker.params.move_bps=1",
			"--set",
			"poll.books=500ms",
			"--set", "bot.stop_within=5m", "--set", "exchange.window=60s"}, args...)...)
	b.stderr = &output{}
	b.cmd.Stderr = b.stderr
	if b.stdin != nil {
		b.cmd.Stdin = b.stdin
	}
	require.NoError(b.t, b.cmd.Start())
	b.t.Cleanup(func() { _ = b.cmd.Process.Kill() })
}

// stop ends the bot in good order.
func (b *trader) stop() {
	require.NoError(b.t, b.cmd.Process.Signal(os.Interrupt))
	require.NoError(b.t, bottest.Ended(b.cmd), b.stderr.String())
}

// try runs a command on the bot with --json, decodes its answer, and returns its exit code.
func (b *trader) try(command string, into any) int {
	args := append(strings.Fields(command), "--state", b.folder, "--json")
	code, out, _ := call(b.t.Context(), args...)
	if into != nil && out != "" {
		require.NoError(b.t, json.Unmarshal([]byte(out), into), out)
	}
	return code
}

// ask is try that must succeed. What only looks is asked again: a bot on a machine that stands
// still has not answered in time.
func (b *trader) ask(command string, into any) {
	b.t.Helper()
	switch name, _, _ := strings.Cut(command, " "); name {
	case "status", "orders", "positions":
		bottest.Await(b.t, func() bool { return b.try(command, into) == 0 }, command)
	case "resume":
		require.Zero(b.t, b.try(command, into), command)
	default:
		require.Zero(b.t, b.try(command+" --wait 5m", into), command)
	}
}

// client is another program with the same key.
func (b *trader) client() *rest.Client {
	key := b.exchange.facts.Accounts[0].Keys[0]
	c, err := rest.New(rest.Config{BaseURL: b.exchange.facts.BaseURL, Key: rest.NewSecret(key.Key),
		Secret: rest.NewSecret(key.Secret), Prefix: "Service", Window: market.Duration(time.Minute)})
	require.NoError(b.t, err)
	b.t.Cleanup(c.Close)
	require.NoError(b.t, c.Sync(b.t.Context()))
	assets, err := c.Assets(b.t.Context(), "")
	require.NoError(b.t, err)
	markets, err := c.Markets(b.t.Context(), "")
	require.NoError(b.t, err)
	catalog, _ := rest.BuildCatalog(assets, markets)
	c.Use(catalog)
	return c
}

// waitForOrders waits until the bot has open orders.
func (b *trader) waitForOrders() {
	bottest.Await(b.t, func() bool {
		var s status
		b.ask("status", &s)
		return s.OpenOrders > 0
	})
}

// waitToHold waits until the bot has bought something.
func (b *trader) waitToHold() {
	bottest.Await(b.t, func() bool {
		var p positions
		b.ask("positions", &p)
		return len(p.Positions) > 0 && p.Positions[0].Amount != "0"
	})
}

// freeze stops the exchange at a moment when the bot has open orders.
func (b *trader) freeze() {
	bottest.Await(b.t, func() bool {
		bottest.Freeze(b.t, b.exchange.cmd.Process)
		var s status
		if b.ask("status", &s); s.OpenOrders > 0 {
			return true
		}
		require.NoError(b.t, b.exchange.cmd.Process.Signal(syscall.SIGCONT))
		return false
	})
}

// open counts the account's open orders at the exchange, at a tenth of the key's weight budget.
func (b *trader) open(c *rest.Client) int {
	records, err := c.OpenOrders(b.t.Context())
	require.NoError(b.t, err)
	return len(records)
}

// The parts of the answers that these tests read.
type (
	status struct {
		State      string
		Run        string
		Currency   string
		Equity     string
		DayResult  string `json:"day_result"`
		OpenOrders int    `json:"open_orders"`
		Opening    string
		Strategies []struct{ Name, State, Reason string }
		Weight     []struct {
			Of   string
			Left int
		}
		Feeds   []struct{ Feed string }
		Journal int `json:"journal_entries"`
	}
	orders struct {
		Running bool
		Orders  []operator.OrderRow
	}
	positions struct {
		Positions []struct{ Amount, Worth string }
	}
	report struct {
		Done      bool
		Unchanged []string
		Cancelled int
		Open      []struct{ Number int }
		Held      []struct{ Amount string }
		Trading   []string
		Opening   string
	}
)

func TestARunningBotIsOperatedOverItsSocket(t *testing.T) {
	t.Parallel()
	b := trade(t)
	info, err := os.Stat(filepath.Join(b.folder, "bot.sock"))
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket|0o600, info.Mode())

	var s status
	b.waitToHold()
	b.ask("status", &s)
	require.Equal(t, "trading", s.State)
	require.Equal(t, "EUR", s.Currency)
	require.NotEmpty(t, s.Equity)
	require.NotEmpty(t, s.DayResult)
	require.Positive(t, s.Journal)
	require.Len(t, s.Weight, 2)
	bottest.Await(t, func() bool { b.ask("status", &s); left := s.Weight[0].Left; return left > 1000 && left < 5000 },
		"the exchange's own budget, less what was spent, but for the first moment of a minute")
	require.Contains(t, fmt.Sprint(s.Feeds), "ticker BTC-EUR")

	c := b.client()
	var done report
	b.ask("halt maker --reason lunch", &done)
	require.True(t, done.Done)
	require.Zero(t, b.open(c), "the exchange has confirmed before the command succeeds")
	b.ask("status", &s)
	require.Equal(t, "halted by the operator: lunch", s.Strategies[0].Reason)
	b.ask("halt", &done)
	require.Equal(t, []string{"maker"}, done.Unchanged)

	b.ask("resume", &done)
	bottest.Await(t, func() bool { // the maker may have cancelled it itself
		var list orders
		b.ask("orders", &list)
		return len(list.Orders) > 0 && b.try(fmt.Sprintf("cancel %d --wait 5m", list.Orders[0].Number), &done) == 0
	}, "an order is cancelled")
	require.Equal(t, 1, done.Cancelled)
	b.waitForOrders()
	b.ask("cancel-all", &done)
	require.True(t, done.Done)
	require.Equal(t, []string{"maker"}, done.Trading, "it may have placed others since")

	b.ask("flatten", &done)
	require.True(t, done.Done)
	require.Zero(t, b.open(c))
	var p positions
	b.ask("positions", &p)
	require.Equal(t, "0", p.Positions[0].Amount)

	b.stop()
	require.Contains(t, b.stderr.String(), `"strategy":"maker","reason":"halted by the operator: lunch"`)
	require.NoFileExists(t, filepath.Join(b.folder, "bot.sock"))
	b.ask("status", &s)
	require.Equal(t, "stopped", s.State)
	require.Equal(t, "halted", s.Strategies[0].State)
	code, _, failed := call(t.Context(), "halt", "--state", b.folder)
	require.Equal(t, 1, code)
	require.Contains(t, failed, "no bot is running with its state in "+b.folder)
	b.start()
	b.ask("status", &s)
	require.Equal(t, "halted", s.Strategies[0].State, "a halt outlives the process")
	require.Equal(t, "halted", s.State, "it is the only one")
	require.Zero(t, s.OpenOrders)
	b.ask("resume maker", nil)
	b.waitForOrders()
	b.stop()
	require.Contains(t, b.stderr.String(), "it does not trade: it is halted until bot resume")
	requireHalts(t, b.folder, "halt by operator", "resume by operator", "halt by operator", "resume by operator")
	requireActs(t, b.folder, "halt maker lunch", "halt  ", "resume  ", "cancel  ", "cancel-all  ", "flatten  ",
		"resume maker ")
}

func TestABotThatWaitsForTheExchangeIsNotTakenForOneThatDoesNotRun(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "state")
	waiting := bottest.Child(bottest.Program(t), "run", "-c", "../configs/sandbox.toml", "--set",
		"exchange.base_url=http://127.0.0.1:1/v2", "--set", "bot.state="+folder)
	require.NoError(t, waiting.Start())
	defer func() {
		require.NoError(t, waiting.Process.Kill())
		_ = waiting.Wait()
	}()
	for _, command := range []string{"status", "halt", "flatten"} {
		bottest.Await(t, func() bool {
			code, _, failed := call(t.Context(), command, "--state", folder)
			return code == 1 && strings.Contains(failed,
				"bot.db is held by a bot that has not begun to trade, as while the exchange cannot be reached")
		}, command)
	}
}

// requireHalts wants these halts and resumes in the journal, and the table of halts in step with
// them.
func requireHalts(t *testing.T, folder string, want ...string) {
	store, err := journal.Read(filepath.Join(folder, "bot.db"))
	require.NoError(t, err)
	defer store.Close()
	var have []string
	require.NoError(t, store.Entries(1, func(e *journal.Entry) error {
		switch r := e.Record.(type) {
		case *journal.Halt:
			have = append(have, "halt by "+r.By)
		case *journal.Resume:
			have = append(have, "resume by "+r.By)
		}
		return nil
	}))
	require.Equal(t, want, have)
	halts, err := store.Halts()
	require.NoError(t, err)
	require.Empty(t, halts)
}

// requireActs checks the journalled actions of the user: verb, strategy, reason. Repeated cancels
// count once.
func requireActs(t *testing.T, folder string, want ...string) {
	store, err := journal.Read(filepath.Join(folder, "bot.db"))
	require.NoError(t, err)
	defer store.Close()
	who, err := user.Current()
	require.NoError(t, err)
	var have []string
	require.NoError(t, store.Entries(1, func(e *journal.Entry) error {
		if r, is := e.Record.(*journal.Act); is {
			require.Equal(t, "user "+who.Username+" at terminal", r.By+" at "+r.From)
			require.Equal(t, r.Verb == "cancel", r.Order != 0)
			if text := r.Verb + " " + r.Strategy + " " + r.Reason; len(have) == 0 || have[len(have)-1] != text {
				have = append(have, text)
			}
		}
		return nil
	}))
	require.Equal(t, want, have)
}

func TestTheStoryOfAnOrderIsToldByAnyNameAndAfterTheEnd(t *testing.T) {
	t.Parallel()
	b := trade(t)
	var list orders
	at := -1
	bottest.Await(t, func() bool { // the first order may end without a fill
		b.ask("orders --all", &list)
		at = slices.IndexFunc(list.Orders, func(o operator.OrderRow) bool {
			return o.State == "filled" && o.Side == "buy"
		})
		return at >= 0
	})
	require.True(t, list.Running)
	number := strconv.FormatInt(list.Orders[at].Number, 10)
	tell := func(name string) string {
		code, out, failed := call(t.Context(), "explain", name, "--state", b.folder)
		require.Zero(t, code, failed)
		return out
	}
	story := tell(number)
	require.Regexp(t, `(?s)event     (book|ticker) BTC-EUR of .*decided   place buy limit .*`+
		`risk      max_position [0-9.]+ to \d.*, limit 3000\n.*request   POST /v2/order \{.*sent      place.*`+
		`answer    place accepted.*state     .*filled, .*fill      `, story)
	require.Equal(t, story, tell(list.Orders[at].ClientOrderID))
	require.Equal(t, story, tell(list.Orders[at].OrderID))
	_, asJSON, _ := call(t.Context(), "explain", number, "--state", b.folder, "--json")
	require.Regexp(t, `"risk available EUR": "[0-9.]+ to `, asJSON)
	require.NotContains(t, asJSON, `limit "`, "a figure without a limit")
	code, _, failed := call(t.Context(), "explain", "999999", "--state", b.folder)
	require.Equal(t, 64, code)
	require.Contains(t, failed, "order 999999: not found in ")

	noted := func() int64 {
		answer, err := operator.AskSystem().Of(t.Context(), operator.Target{Folder: b.folder})
		require.NoError(t, err)
		return answer.Value.BackupMS
	}
	passing, err := operator.OpenCopy(t.Context(), b.folder, true)
	require.NoError(t, err)
	require.NoError(t, passing.Close())
	require.Zero(t, noted(), "that copy is gone")
	out := filepath.Join(t.TempDir(), "copy.db")
	code, _, failed = call(t.Context(), "state", "backup", "--state", b.folder, "--out", out)
	require.Zero(t, code, failed)
	bottest.Await(t, func() bool { return noted() > 0 }, "the backup is noted")
	code, _, failed = call(t.Context(), "state", "check", "--state", out)
	require.Zero(t, code, failed)

	b.stop()
	require.Equal(t, story, tell(number), "the state file tells the same")
	require.Contains(t, b.stderr.String(), `"message":"order sent"`)
	require.Contains(t, b.stderr.String(), `"message":"order accepted"`)
	b.ask("orders", &list)
	require.False(t, list.Running)
	require.Empty(t, list.Orders)
}

func TestAResumeSaysWhichLimitHoldsAllTheSame(t *testing.T) {
	t.Parallel()
	b := trade(t, "--set", "risk.max_daily_loss=0.01")
	var s status
	bottest.Await(t, func() bool {
		b.ask("status", &s)
		return s.Opening != ""
	}, "the first fee is more than it may lose")
	b.ask("halt", nil)
	var done report
	b.ask("resume", &done)
	require.Equal(t, "max_daily_loss is used up: nothing is opened until tomorrow, UTC", done.Opening)
	b.stop()
}

func TestACommandThatIsNotConfirmedFailsAndGoesOn(t *testing.T) {
	t.Parallel()
	b := trade(t)
	b.freeze()
	var done report
	require.Equal(t, 1, b.try("halt --wait 1s", &done))
	require.False(t, done.Done)
	require.NotEmpty(t, done.Open, "it says what is open still")
	require.NoError(t, b.exchange.cmd.Process.Signal(syscall.SIGCONT))
	bottest.Await(t, func() bool {
		var s status
		b.ask("status", &s)
		return s.OpenOrders == 0
	})
	require.Zero(t, b.open(b.client()))
	b.stop()
}

// TestFlattenComesToItsEndOverAnExchangeThatLosesAnswers loses the answer to every cancel and to
// half of the sells, and every third cancel itself.
func TestFlattenComesToItsEndOverAnExchangeThatLosesAnswers(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "faults.toml")
	require.NoError(t, os.WriteFile(script,
		[]byte("[[faults]]\nkind='dropAnswer'\nendpoints=['DELETE "+
			"/order']\n[[faults]]\nkind='dropRequest'\nendpoints=['DELETE /order']\nprobability=0.3\n"+
			"[[faults]]\nkind='dropAnswer'\nendpoints=['POST /order']\nprobability=0.5\n"), 0o600))
	b := &trader{t: t, exchange: serve(t, nil, "--faults", script), folder: filepath.Join(t.TempDir(), "state")}
	b.start("--set", "exchange.window=1s")
	b.waitToHold()
	var done report
	b.ask("flatten", &done)
	require.True(t, done.Done)
	require.Empty(t, done.Held)
	require.Zero(t, b.open(b.client()))
	b.stop()
}

// admin does something as the exchange's operator.
func (b *trader) admin(path, body string) {
	ask, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.exchange.facts.AdminURL+path,
		strings.NewReader(body))
	require.NoError(b.t, err)
	ask.Header.Set("Authorization", "Bearer "+b.exchange.facts.AdminToken)
	ask.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(ask)
	require.NoError(b.t, err)
	require.NoError(b.t, answer.Body.Close())
	require.Equal(b.t, http.StatusOK, answer.StatusCode)
}

func TestTheStatusNamesMarketsThatDoNotTrade(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	b := trade(t, "--set", "poll.rules=500ms")
	tell := func() string {
		code, out, failed := call(t.Context(), "status", "--state", b.folder)
		require.Zero(t, code, failed)
		return out
	}
	require.NotRegexp(t, `(?m)^market |marketStatus`, tell())
	b.admin("/status", `{"market":"BTC-EUR","status":"halted"}`)
	bottest.Await(t, func() bool {
		return strings.Contains(tell(),
			"BTC-EUR: halted; what it would refuse is not sent")
	})
	b.admin("/status", `{"market":"BTC-EUR","status":"trading"}`)
	bottest.Await(t, func() bool { return !strings.Contains(tell(), "halted") })
	b.stop()
}

func TestFlattenIsNotDoneWhereTheMinimumHasRisenAboveThePosition(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	b := trade(t, "--set", "poll.rules=500ms")
	b.waitToHold()
	b.admin("/rules", `{"market":"BTC-EUR","minOrderInQuoteAsset":"100000"}`)
	var done struct {
		report
		Unsold []string
	}
	require.Equal(t, 1, b.try("flatten", &done))
	require.False(t, done.Done)
	require.Len(t, done.Held, 1)
	require.Len(t, done.Unsold, 1)
	require.Contains(t, done.Unsold[0], "minimum in quote currency")
	b.admin("/rules", `{"market":"BTC-EUR","minOrderInQuoteAsset":"5"}`)
	bottest.Await(t, func() bool { return b.try("flatten", &done) == 0 }, "the bot has to hear of the rule")
	require.True(t, done.Done)
	require.Empty(t, done.Held)
	b.stop()
}

func TestAStopThatIsNotConfirmedSaysWhatIsOpen(t *testing.T) {
	t.Parallel()
	b := trade(t, "--set", "bot.stop_within=1s")
	b.freeze()
	require.NoError(t, b.cmd.Process.Signal(os.Interrupt))
	require.ErrorContains(t, b.cmd.Wait(), "exit status 1")
	require.Regexp(t, `bot: live: \d orders are still open after 1s: `, b.stderr.String())
	require.NoFileExists(t, filepath.Join(b.folder, "bot.sock"))
	require.NoError(t, b.exchange.cmd.Process.Signal(syscall.SIGCONT))
}

func TestForeignOrdersAreCancelledOnlyWhenTheyAreMeant(t *testing.T) {
	t.Parallel()
	b := trade(t)
	b.ask("halt", nil)
	c := b.client()
	intent, err := c.Prepare(&market.Command{Kind: market.CommandPlace,
		Order: market.Order{Market: 1, ClientOrderID: uuid.New(), OperatorID: 99, Side: market.Buy,
			Type: market.TypeLimit,
			OrderState: market.OrderState{TimeInForce: market.GTC, SelfTradePrevention: market.DecrementAndCancel,
				Price: foreignPrice(t, c), Amount: 100_000}}})
	require.NoError(t, err)
	_, err = c.Send(t.Context(), &intent)
	require.NoError(t, err)
	var done report
	b.ask("cancel-all", &done)
	require.Equal(t, 1, b.open(c))
	require.Zero(t, done.Cancelled)
	b.ask("cancel-all --including-foreign", &done)
	require.Equal(t, 1, done.Cancelled)
	require.Zero(t, b.open(c))
	b.stop()
	code, out, failed := call(t.Context(), "state", "check", "--state", b.folder)
	require.Zero(t, code, out+failed)
}

// foreignPrice is a tenth below the market.
func foreignPrice(t *testing.T, c *rest.Client) market.Price {
	tickers, err := c.TickerPrices(t.Context(), nil)
	require.NoError(t, err)
	for _, ticker := range tickers {
		if ticker.Market == 1 {
			return market.FloorTo(ticker.Last*9/10, 1_00)
		}
	}
	t.Fatal("no price")
	return 0
}

func TestTheSocketOfAKilledBotIsReplacedAlsoInAFolderWithALongName(t *testing.T) {
	t.Parallel()
	b := &trader{t: t, exchange: serve(t, nil), folder: filepath.Join(t.TempDir(), strings.Repeat("long", 40))}
	b.start()
	require.NoError(t, b.cmd.Process.Kill())
	_ = b.cmd.Wait() // it was killed
	require.FileExists(t, filepath.Join(b.folder, "bot.sock"))
	var s status
	b.ask("status", &s)
	require.Equal(t, "stopped", s.State)
	first := s.Run
	b.start()
	b.ask("status", &s)
	require.Equal(t, "trading", s.State)
	require.NotEqual(t, first, s.Run)
	b.stop()
}

func TestTheSocketRefusesWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	b := trade(t)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", filepath.Join(b.folder, "bot.sock"))
		}}}
	for _, row := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/status", "{}", 200},
		{"GET", "/status", "", 405},
		{"POST", "/status", "", 400},
		{"POST", "/status", "{", 400},
		{"POST", "/status", `{"strategy":"` + strings.Repeat("x", 1<<17) + `"}`, 400},
		{"POST", "/nothing", "{}", 404},
		{"POST", "/halt", "{}", 400}, // no wait
		{"POST", "/halt", `{"wait_ms":100000000}`, 400},
		{"POST", "/halt", `{"wait_ms":1000,"strategy":"nobody"}`, 400},
		{"POST", "/explain", `{"order":"no order"}`, 400},
		{"POST", "/backup", `{"file":"relative.db"}`, 400},
		{"POST", "/backup", `{"file":"` + filepath.Join(b.folder, "bot.db") + `"}`, 400},
	} {
		request, err := http.NewRequest(row.method, "http://bot"+row.path, strings.NewReader(row.body))
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, row.status, response.StatusCode, "%s %s %.60s", row.method, row.path, row.body)
	}
	code, _, failed := call(t.Context(), "halt", "nobody", "--state", b.folder)
	require.Equal(t, 64, code)
	require.Contains(t, failed, `no strategy "nobody"; there are [maker]`)
	b.stop()
}
