package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/canary"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// stage is an exchange in process with the real bot before it: its client and ledger, its feeds,
// its loop, and its state file on disk. Only the network is not there, and in synctest's bubble no
// time is wasted.
type stage struct {
	bottest.Books
	ex        *sandbox.Exchange
	traffic   *traffic
	config    string
	kinds     []strategy.Definition
	now       func() time.Time // the bot's clock; nil: that of the bubble
	slept     func() market.Duration
	observer  observer // of the bot's trades; nil: none
	within    func(http.Handler) http.Handler
	wrap      func(http.RoundTripper) http.RoundTripper // what stands between the bot and the wire; nil: nothing
	canary    func() *canary.Process                    // of a start; nil: none
	faults    func(point string)                        // of the process; nil: none
	log       bottest.Log
	starts    int
	switching atomic.Int32 // kill switches at work: the power that fails would end them too
	everySet  []config.Override
	placed    market.OrderID // by other clients
	seed      uint64
	hears     string // overPolls, …: how the bot hears the exchange
}

// stageBot takes its exits with it when it stops, so that the books of both sides are compared
// while nothing can fill; away_test.go plays the stops that leave them.
const stageBot = `
[bot]
stop_within = "20m"
keep_exits = false
[exchange]
base_url = "https://exchange.test/v2"
key_env = "KEY"
secret_env = "SECRET"
[poll]
balances = "10s"
orders = "20s"
[risk]
max_open_orders = 4
max_order_value = "700"
max_position = "2500"
max_exposure = "4000"
max_daily_loss = "4000"
max_data_age = "30s"
orders_per_minute = 40
[strategies.restless]
kind = "restless"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "10000"
operator_id = 7
cod_group_id = 3
params.seed = %d
`

// stageOf returns a stage whose strategy is of another kind, without parameters.
func stageOf(t *testing.T, name string, kind strategy.Definition) *stage {
	s := newStage(t, 7, nil)
	s.kinds = append(s.kinds, kind)
	s.config = strings.NewReplacer("strategies.restless", "strategies."+name, `"restless"`, strconv.Quote(name),
		"params.seed = 7\n", "").Replace(s.config)
	return s
}

// newStage returns a stage; change may alter the exchange.
func newStage(t *testing.T, seed uint64, change func(*sandbox.Config)) *stage {
	config := bottest.Exchange(seed)
	if change != nil {
		change(&config)
	}
	ex, err := sandbox.New(config)
	require.NoError(t, err)
	s := &stage{Books: bottest.Books{T: t, Folder: filepath.Join(memoryFolder(t), "state")}, ex: ex,
		config: fmt.Sprintf(stageBot, seed), kinds: []strategy.Definition{restlessKind,
			shipped.SMACross}, seed: seed, hears: *over}
	s.traffic = newTraffic(t, ex, seed)
	s.Auditor, s.Units = s.client(bottest.AuditorKey, "secret of the auditor")
	s.Before = s.Holdings()
	g := &s.traffic.gauge
	g.auditor, g.market = s.Auditor, s.Market()
	g.before = s.Before[g.market.Base]
	t.Cleanup(func() {
		if t.Failed() { // the bot may still be there, and a socket would not end
			s.traffic.cut(true)
		}
		s.traffic.handlers.Wait()
		require.NoError(t, ex.Close())
		if t.Failed() {
			t.Logf("seed %d, log of the bot:\n%s", s.seed, s.log.Tail(60))
		}
	})
	return s
}

// onlyExits requires of a bot that has stopped that only exits of positions rest at the exchange,
// and that what they do not sell is told: position − resting sells = told amount.
func (s *stage) onlyExits(p *process) {
	s.T.Helper()
	free, told := map[market.ID]market.Qty{}, market.Qty(0)
	for i := range p.plan.Names() {
		for _, m := range p.plan.Catalog.Markets() {
			free[m.ID] += p.engine.Brackets().Covered(strategyID(i+1), m.ID)
		}
	}
	theirs := s.OrdersAtTheExchange()
	for _, own := range p.account.Open(nil, 0, 0) { // what has filled since the bot ended
		record := theirs[own.ClientOrderID]
		free[own.Market] -= record.Order.FilledAmount - own.FilledAmount
	}
	for _, o := range s.OpenAtTheExchange() {
		free[o.Order.Market] -= o.Order.AmountRemaining
		require.True(s.T, slices.ContainsFunc(p.account.Open(nil, 0, 0), func(own *market.Order) bool {
			return own.ClientOrderID == o.Order.ClientOrderID && p.engine.Brackets().IsExit(own.ID)
		}), "%+v", o.Order)
	}
	for _, u := range p.engine.Brackets().Bare() {
		free[u.Market] -= u.Amount
		told += u.Amount
	}
	for id, rest := range free {
		require.Zero(s.T, rest, "market %d", id)
	}
	if told > 0 {
		require.Regexp(s.T, "position left: .*until the next start", s.log.Tail(20))
	}
}

// memoryFolder is a folder of the test's own, in memory where the machine has such a place: what a
// disk needs to sync is not what is played.
func memoryFolder(t *testing.T) string {
	folder, err := os.MkdirTemp("/dev/shm", "tidemark")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// client returns a separate client: no fault names its key, and its requests are not recorded.
func (s *stage) client(key, secret string) (*rest.Client, *market.Catalog) {
	return s.clientOver(&wire{traffic: s.traffic, quiet: true}, key, secret)
}

// clientOver is client with a transport.
func (s *stage) clientOver(over http.RoundTripper, key, secret string) (*rest.Client, *market.Catalog) {
	c, err := rest.New(rest.Config{BaseURL: "https://exchange.test/v2", Key: rest.NewSecret(key),
		Secret: rest.NewSecret(secret), Transport: over})
	require.NoError(s.T, err)
	for range 50 { // faults of public endpoints strike everybody
		if err = c.Sync(context.Background()); err == nil {
			var catalog *market.Catalog
			if catalog, _, err = c.Catalog(context.Background()); err == nil {
				c.Use(catalog)
				return c, catalog
			}
		}
	}
	require.NoError(s.T, err)
	return nil, nil
}

// process is a bot at work, as a process would be.
type process struct {
	*runner
	stage *stage
	wire  *wire
	stop  context.CancelFunc
	done  chan error
}

// plan makes the plan of a start.
func (s *stage) plan(w *wire) *plan.Live {
	p, err := s.reread()
	require.NoError(s.T, err)
	p.Transport, p.Now = w, s.now
	if s.wrap != nil {
		p.Transport = s.wrap(w)
	}
	return p
}

// reread reads the config as it is now, for a start or a reload.
func (s *stage) reread() (*plan.Live, error) {
	c, err := config.LoadRun(&config.Source{File: "stage.toml", Text: s.config,
		Overrides: append(s.ways(), s.everySet...)})
	if err != nil {
		return nil, err
	}
	c.Bot.State = s.Folder
	return plan.NewLive(c, s.kinds, func(name string) string {
		return map[string]string{"KEY": bottest.BotKey, "SECRET": bottest.BotSecret, "AUDITOR": bottest.AuditorKey,
			"AUDITORS": "secret of the auditor", "OTHER": bottest.OtherKey, "OTHERS": "secret of the other"}[name]
	})
}

// options are what a start has of its process.
func (s *stage) options() Options {
	o := Options{slept: s.slept, observer: s.observer, wrapPaper: s.within, Reread: s.reread, Faults: s.faults}
	if s.canary != nil {
		o.Canary, o.CanaryCommands = s.canary(), 20
	}
	return o
}

// start starts the bot, and insists until the exchange lets it: what supervises a process does the
// same.
func (s *stage) start() *process {
	for try := 0; ; try++ {
		p, err := s.open()
		if err == nil {
			ctx := p.ctx()
			go func() { p.done <- p.trade(ctx) }()
			return p
		}
		require.Less(s.T, try, 100, "the bot never starts: %v", err)
		time.Sleep(5 * time.Second)
	}
}

// open makes the bot, without letting it trade.
func (s *stage) open() (*process, error) {
	s.starts++
	p := &process{stage: s, wire: &wire{traffic: s.traffic}, done: make(chan error, 1)}
	var err error
	p.runner, err = openRunner(context.Background(), s.plan(p.wire), zerolog.New(&s.log).Level(zerolog.DebugLevel).
		With().Int("start", s.starts).Logger(), s.options())
	if err != nil {
		require.NoError(s.T, p.close())
		return nil, err
	}
	p.wire.watch(p.store)
	return p, nil
}

func (p *process) ctx() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	return ctx
}

// look reads what only the bot's loop may touch while it turns.
func (p *process) look(read func()) {
	require.NoError(p.stage.T, p.loop.Inspect(context.Background(), func(market.Time) { read() }))
}

// end stops the bot in good order and returns what Run said.
func (p *process) end() error {
	p.stop()
	failed := <-p.done
	p.leaveAndClose(failed)
	return failed
}

func (p *process) leaveAndClose(failed error) {
	require.NoError(p.stage.T, p.writeStop(failed))
	err := p.account.Check()
	if failed == nil || err == nil || !strings.Contains(err.Error(), " and holds ") {
		require.NoError(p.stage.T, err)
	} // else: an order whose end is unknown holds what another hand has sold
	require.NoError(p.stage.T, p.close())
}

// kill ends the bot as kill -9 does, seen from outside: what is committed stays, what is
// on the wire already may still arrive, and nothing else happens any more. It may be called from
// within a request.
func (p *process) kill() {
	s := p.stage
	dir := fmt.Sprintf("%s-%d", strings.TrimSuffix(s.Folder, filepath.Ext(s.Folder)), s.starts)
	require.NoError(s.T, os.MkdirAll(dir, 0o700))
	if !p.wire.die() {
		return // it is dead
	}
	require.NoError(s.T, p.store.Backup(filepath.Join(dir, statedir.StateFile)))
	copyRecording(s.T, s.Folder, dir)
	require.NoError(s.T, p.store.Close()) // the next commit fails, and with it the loop
	s.Folder = dir
}

// copyRecording copies what the operating system has of a recording.
func copyRecording(t *testing.T, from, to string) {
	if err := os.CopyFS(filepath.Join(to, statedir.RecordingFolder),
		os.DirFS(filepath.Join(from, statedir.RecordingFolder))); !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
}

// bury waits until a bot that was killed has noticed.
func (p *process) bury() {
	require.Error(p.stage.T, <-p.done)
	p.client.Close()
}

// openRunner makes a bot of a plan: it locks the state file, asks the exchange what there is, and
// brings the engine to where it was, or warms it up. Close it, also after an error. Where ctx ends
// meanwhile, a bot that may have orders at the exchange is opened all the same, to end them.
func openRunner(ctx context.Context, p *plan.Live, log zerolog.Logger, o Options) (r *runner, err error) {
	r = newRunner(p, log, o)
	return r, r.open(ctx)
}
