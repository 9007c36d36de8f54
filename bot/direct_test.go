package bot

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Every boundary of the kill switch, each followed by the switch again and by a start:
//
//	go test ./bot -run TheKillSwitchIsKilled -direct-kills 99 -timeout 20m
var directKills = flag.Int("direct-kills", 4,
	"at how many of its boundaries TestTheKillSwitchIsKilledAndNothingIsSoldTwice kills the switch, evenly spread")

// FaultyMain is Main for children that die at a step of the kill switch: KILL_AT names the step, or
// its number from 1 on.
func FaultyMain() {
	count, at := 0, os.Getenv("KILL_AT")
	Process{Definitions: []strategy.Definition{holderKind, sleeperKind}, faults: func(point string) {
		if count++; at == point || at == strconv.Itoa(count) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}}.Main()
}

// holderKind buys once and then rests an order on each side, far away.
var holderKind = strategy.Define("holder", "buys, and rests two orders",
	func(struct{}) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &holder{}, nil })

type holder struct{ strategy.Base }

func (*holder) OnTicker(d *strategy.Desk, t market.Ticker) {
	switch {
	case len(d.In(t.Market).OpenOrders()) > 0:
	case d.In(t.Market).Position().Amount == 0:
		_, _ = d.In(t.Market).Buy(strategy.Amount(1_000_000))
	default:
		_, _ = d.In(t.Market).Sell(strategy.Amount(400_000), strategy.At(3*t.Last/200*100))
		_, _ = d.In(t.Market).Buy(strategy.Amount(200_000), strategy.At(t.Last/200*100))
	}
}

// sleeperKind is a holder that sleeps once it has its two orders.
var sleeperKind = strategy.Define("sleeper", "sleeps in OnTicker",
	func(sleeperParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p sleeperParams, _ strategy.Setup) (strategy.Strategy, error) { return &sleeper{nap: p.Nap}, nil })

type sleeperParams struct {
	Nap time.Duration `toml:"nap" default:"1h" min:"0s" doc:"how long"`
}

type sleeper struct {
	holder
	nap time.Duration
}

func (s *sleeper) OnTicker(d *strategy.Desk, t market.Ticker) {
	if open := d.In(t.Market).OpenOrders(); len(open) == 2 && open[1].ExchangeID != uuid.Nil {
		time.Sleep(s.nap)
		s.nap = 0
	}
	s.holder.OnTicker(d, t)
}

const directConfig = `
[bot]
state = %q
stop_within = %q
[exchange]
base_url = %q
key = %q
secret = %q
window = "1s"
weight_per_key = 100000
weight_per_ip = 100000
[poll]
tickers = "300ms"
[metrics]
listen = %q
[strategies.dip]
kind = %q
markets = ["BTC-EUR"]
interval = "1m"
allocation = "5000"
operator_id = 7
`

// switchPlay is a bot as a child before an exchange of this process, over loopback.
type switchPlay struct {
	bottest.Books
	ex        *sandbox.Exchange
	dir, file string
	server    *httptest.Server
	alerts    bottest.Log
	// stands before the exchange; nil: nothing
	front atomic.Pointer[func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)]
}

// newSwitchPlay returns the play of one strategy; nothing runs yet.
func newSwitchPlay(t *testing.T, kind, stopWithin, metrics string) *switchPlay {
	config := bottest.Exchange(1)
	for i := range config.Accounts[0].Keys {
		config.Accounts[0].Keys[i].Budget = 10_000_000
	}
	ex, err := sandbox.New(config)
	require.NoError(t, err)
	p := &switchPlay{Books: bottest.Books{T: t}, ex: ex, dir: t.TempDir()}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if front := p.front.Load(); front != nil {
			(*front)(w, r, ex.ServeHTTP)
			return
		}
		ex.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		p.server.CloseClientConnections()
		p.server.Close()
		require.NoError(t, ex.Close())
	})
	p.Folder, p.file = filepath.Join(p.dir, "state"), filepath.Join(p.dir, "bot.toml")
	require.NoError(t, os.WriteFile(p.file, fmt.Appendf(nil, directConfig, p.Folder, stopWithin, p.server.URL+"/v2",
		bottest.BotKey, bottest.BotSecret, metrics, kind), 0o600))
	p.Auditor, err = rest.New(rest.Config{BaseURL: p.server.URL + "/v2", Key: rest.NewSecret(bottest.AuditorKey),
		Secret: rest.NewSecret("secret of the auditor")})
	require.NoError(t, err)
	t.Cleanup(p.Auditor.Close)
	require.NoError(t, p.Auditor.Sync(t.Context()))
	p.Units, _, err = p.Auditor.Catalog(t.Context())
	require.NoError(t, err)
	p.Auditor.Use(p.Units)
	p.Before = p.Holdings()
	return p
}

// command is a child that dies at a step; "" never.
func (p *switchPlay) command(killAt string, args ...string) *exec.Cmd {
	path, err := exec.LookPath("faultybot")
	require.NoError(p.T, err, "testscript.Main puts it on the path")
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.WaitDelay = append(os.Environ(), "KILL_AT="+killAt), time.Minute
	cmd.Stderr = new(bottest.Log)
	return cmd
}

// run starts the bot.
func (p *switchPlay) run(killAt string) *exec.Cmd {
	cmd := p.command(killAt, "run", "-c", p.file)
	require.NoError(p.T, cmd.Start())
	p.T.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// run runs the kill switch and returns its exit code, -1 where it was killed, and what it printed.
func (p *switchPlay) turn(killAt, typed string, flags ...string) (code int, out string) {
	cmd := p.command(killAt, append([]string{"cancel-all", "--direct", "-c", p.file}, flags...)...)
	cmd.Stdin = strings.NewReader(typed)
	printed, _ := cmd.Output()
	return cmd.ProcessState.ExitCode(), string(printed) + cmd.Stderr.(*bottest.Log).String()
}

// begin lets the bot buy and rest its two orders.
func (p *switchPlay) begin() *exec.Cmd {
	cmd := p.run("")
	bottest.Await(p.T, func() bool {
		open, err := p.Auditor.OpenOrders(p.T.Context())
		require.NoError(p.T, err)
		h, err := killswitch.ReadHoldings(p.Folder)
		return err == nil && h != nil && len(h.Positions) == 1 && len(open) == 2
	}, "it holds and rests", cmd.Stderr)
	return cmd
}

// base is what the account has of the base beyond what it began with.
func (p *switchPlay) base() market.Qty {
	return market.Qty(p.Holdings()[p.Market().Base] - p.Before[p.Market().Base])
}

// sells are the account's executions that sold, and how much.
func (p *switchPlay) sells() (orders map[uuid.UUID]market.Qty, sum market.Qty) {
	orders = map[uuid.UUID]market.Qty{}
	trades, _, err := p.Auditor.Trades(p.T.Context(), p.Market().ID, p.Auditor.Now().Add(-time.Hour))
	require.NoError(p.T, err)
	for i := range trades {
		if trades[i].Side == market.Sell {
			orders[trades[i].ClientOrderID] += trades[i].Amount
			sum += trades[i].Amount
		}
	}
	return orders, sum
}

// settle starts the bot, waits until nothing is open or in doubt, stops it, and holds the books
// against the exchange.
func (p *switchPlay) settle(halted bool) {
	p.T.Helper()
	cmd := p.run("")
	bottest.Await(p.T, func() bool {
		var s operator.Status
		_, err := operator.Call(p.T.Context(), p.Folder, operator.PathStatus, &operator.Request{},
			operator.AnswerTimeout,
			&s)
		var o operator.Orders
		_, failed := operator.Call(p.T.Context(), p.Folder, operator.PathOrders, &operator.Request{},
			operator.AnswerTimeout,
			&o)
		return err == nil && failed == nil &&
			(len(o.Orders) == 0 || !halted && len(o.Orders) == 2 && o.Orders[0].InFlight+o.Orders[1].InFlight == "") &&
			(s.State == operator.Halted) == halted
	}, "everything settles", cmd.Stderr)
	require.NoError(p.T, cmd.Process.Signal(os.Interrupt))
	require.NoError(p.T, cmd.Wait(), "%s", cmd.Stderr)
	store := p.Stored()
	report, err := store.Check()
	require.NoError(p.T, err)
	require.Empty(p.T, report.Flaws)
	held := market.Qty(0)
	rows, err := store.Positions()
	require.NoError(p.T, err)
	for i := range rows {
		held += rows[i].Amount
	}
	require.Equal(p.T, p.base(), held, "the books have what the account has")
	booked := map[uuid.UUID]market.Qty{}
	require.NoError(p.T, store.Fills(0, 0, func(f *journal.FillRow) error {
		if f.Side == market.Sell {
			row, err := store.Order(f.Order)
			require.NoError(p.T, err)
			booked[row.ClientOrderID] += f.Amount
		}
		return nil
	}))
	sold, _ := p.sells()
	require.Equal(p.T, sold, booked, "every sale is booked once")
	require.NoError(p.T, store.Close())
	requireReplay(p.T, p.Folder)
	require.NoFileExists(p.T, filepath.Join(p.Folder, killswitch.LogFile))
}

// switchSteps is how many steps the switch has in the play: begin, two cancels with answer and end,
// a sale with answer and end, done.
const switchSteps = 1 + 2*4 + 4 + 1

func TestTheKillSwitchIsKilledAndNothingIsSoldTwice(t *testing.T) {
	bottest.Unraced(t)
	every := max(1, switchSteps / *directKills)
	for at := switchSteps; at > 0; at -= every {
		t.Run(strconv.Itoa(at), func(t *testing.T) {
			t.Parallel()
			p := newSwitchPlay(t, "holder", "30s", "")
			bot := p.begin()
			require.NoError(t, bot.Process.Kill())
			_ = bot.Wait()
			code, out := p.turn(strconv.Itoa(at), "", "--flatten")
			require.Equal(t, -1, code, "it was killed: %s", out)
			if at%2 == 0 { // a start comes first
				p.settle(true)
				p.noneSoldTwice()
			}
			code, out = p.turn("", "", "--flatten")
			require.Zero(t, code, out)
			require.Empty(t, p.openOrders())
			require.Zero(t, p.base(), "all is sold, and nothing else: %s", out)
			p.noneSoldTwice()
			for _, point := range []string{"direct booked", "holdings left", "direct retired"} {
				start := p.run(point)
				require.Error(t, start.Wait(), "killed when %s", point)
				require.Equal(t, -1, start.ProcessState.ExitCode(), "%s: %s", point, start.Stderr)
				if point == "direct retired" {
					break
				}
			}
			p.settle(true)
			p.noneSoldTwice()
		})
	}
}

func (p *switchPlay) noneSoldTwice() {
	_, sum := p.sells()
	require.LessOrEqual(p.T, sum, market.Qty(1_000_000), "more was sold than the bot had")
}

func (p *switchPlay) openOrders() []exchange.WireOrder {
	open, err := p.Auditor.OpenOrders(p.T.Context())
	require.NoError(p.T, err)
	return open
}

func TestTheKillSwitchCancelsOwnOrdersAlone(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	p := newSwitchPlay(t, "holder", "30s", "")
	bot := p.begin()
	require.NoError(t, bot.Process.Kill())
	_ = bot.Wait()
	require.NoError(t, os.WriteFile(filepath.Join(p.Folder, statedir.StateFile), []byte("damaged"), 0o600))
	m := p.Market()
	foreign := market.Command{Kind: market.CommandPlace,
		Order: market.Order{Market: m.ID, Side: market.Buy, Type: market.TypeLimit, OperatorID: 7,
			OrderState: market.OrderState{Amount: 100_000, Price: 1_000_000, TimeInForce: market.GTC,
				SelfTradePrevention: market.DecrementAndCancel}, ClientOrderID: uuid.New()}}
	intent, err := p.Auditor.Prepare(&foreign)
	require.NoError(t, err)
	_, err = p.Auditor.Send(t.Context(), &intent)
	require.NoError(t, err)

	code, out := p.turn("", "", "--json")
	require.Zero(t, code, out)
	var report killswitch.SwitchResult
	require.NoError(t, json.NewDecoder(strings.NewReader(out)).Decode(&report), out)
	require.Equal(t, 2, report.Cancelled)
	require.Len(t, p.openOrders(), 1, "that of others stays, whatever its operatorId")
	require.Equal(t, market.Qty(1_000_000), p.base())
	code, out = p.turn("", "", "--including-foreign")
	require.Zero(t, code, out)
	require.Empty(t, p.openOrders())
	log, err := os.ReadFile(filepath.Join(p.Folder, killswitch.LogFile))
	require.NoError(t, err)
	require.NotContains(t, string(log)+out, bottest.BotSecret)
	require.NotContains(t, string(log)+out, bottest.BotKey)
}

func TestWithoutHoldingsAPersonTypesWhatIsSold(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	p := newSwitchPlay(t, "holder", "30s", "")
	bot := p.begin()
	require.NoError(t, bot.Process.Kill())
	_ = bot.Wait()
	require.NoError(t, os.Remove(filepath.Join(p.Folder, killswitch.HoldingsFile)))
	code, out := p.turn("", "\n", "--flatten")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "nothing was typed")
	require.Empty(t, p.openOrders(), "known by their operatorId")
	code, out = p.turn("", "BTC-EUR 0.006\n\n", "--flatten")
	require.Zero(t, code, out)
	require.Equal(t, market.Qty(400_000), p.base())
	p.settle(true)
}

func TestARunningBotBooksWhatTheKillSwitchDoes(t *testing.T) {
	t.Parallel()
	p := newSwitchPlay(t, "holder", "30s", "")
	bot := p.begin()
	code, out := p.turn("", "", "--flatten")
	require.Zero(t, code, out)
	require.Zero(t, p.base(), out)
	bottest.Await(t, func() bool {
		var positions operator.Positions
		var s operator.Status
		_, err := operator.Call(t.Context(), p.Folder, operator.PathPositions, &operator.Request{},
			operator.AnswerTimeout,
			&positions)
		_, failed := operator.Call(t.Context(), p.Folder, operator.PathStatus, &operator.Request{},
			operator.AnswerTimeout,
			&s)
		return err == nil && failed == nil && positions.Positions[0].Amount == "0" && s.State == operator.Halted &&
			s.OpenOrders == 0
	}, "it books the sale, and is halted", bot.Stderr)
	require.NoError(t, bot.Process.Signal(os.Interrupt))
	require.NoError(t, bot.Wait(), "%s", bot.Stderr)
	p.settle(true)
}
