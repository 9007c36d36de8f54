package bot

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/price"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/smacross"
)

// stage is an exchange in process with the real bot before it: its client and ledger, its feeds, its loop, and its state file on disk.
// Only the network is not there, and in synctest's bubble no time is wasted.
type stage struct {
	t        *testing.T
	ex       *sandbox.Exchange
	traffic  *traffic
	auditor  *rest.Client // of the bot's account, by a key that no fault strikes
	units    *market.Catalog
	before   map[market.AssetID]market.Money
	folder   string
	config   string
	kinds    []strategy.Kind
	now      func() time.Time // the bot's clock; nil: that of the bubble
	slept    func() market.Duration
	witness  witness // of what the bot trades; nil: nobody
	within   func(http.Handler) http.Handler
	wrap     func(http.RoundTripper) http.RoundTripper // what stands between the bot and the wire; nil: nothing
	log      journalOfLogs
	starts   int
	everySet []override
	placed   market.OrderID // by other clients
}

// The keys of the stage's accounts.
var (
	stageKey   = strings.Repeat("b0t-", 16)
	auditorKey = strings.Repeat("aud1", 16)
	otherKey   = strings.Repeat("0th3", 16)
)

const stageSecret = "the-secret-words-of-the-bot-that-must-not-be-seen-anywhere"

// stageConfig is the exchange: a market that moves, with a house that offers on both sides, and the account of the bot beside another.
func stageConfig(seed uint64) sandbox.Config {
	keys := func(key, secret string, budget int) sandbox.Key {
		return sandbox.Key{Key: key, Secret: secret, Read: true, Trade: true, Budget: budget}
	}
	return sandbox.Config{
		Assets: []sandbox.Asset{{Symbol: "EUR", Decimals: 2}, {Symbol: "BTC", Decimals: 8}},
		Markets: []sandbox.Market{{Name: "BTC-EUR", PriceDigits: 2, TickSize: "1", QuantityDecimals: 8, NotionalDecimals: 2, MinOrderInBase: "0.0001", MinOrderInQuote: "5", MaxOrderInBase: "1000",
			MaxOrderInQuote: "1000000000", MaxOpenOrders: 100, FeeCategory: "A", Source: price.Synthetic{Price: "30000", Volatility: 0.3}, House: sandbox.House{Levels: 20, HalfSpread: 5_000, Size: "0.05"}}},
		Accounts: []sandbox.Account{
			{Name: "bot", Balances: map[string]string{"EUR": "20000", "BTC": "1"}, Keys: []sandbox.Key{keys(stageKey, stageSecret, 0), keys(auditorKey, "secret of the auditor", 1_000_000)}},
			{Name: "other", Balances: map[string]string{"EUR": "1000000", "BTC": "100"}, Keys: []sandbox.Key{keys(otherKey, "secret of the other", 1_000_000)}},
		},
		Tiers: []sandbox.Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": {Maker: 150_000, Taker: 250_000}}}},
		Seed:  seed, History: time.Hour, Budget: sandbox.Budget{PerIP: -1},
	}
}

const stageBot = `
[bot]
stop_within = "20m"
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
allotment = "10000"
operator_id = 7
cod_group_id = 3
params.seed = %d
`

// newStage returns a stage; change may alter the exchange.
func newStage(t *testing.T, seed uint64, change func(*sandbox.Config)) *stage {
	config := stageConfig(seed)
	if change != nil {
		change(&config)
	}
	ex, err := sandbox.New(config)
	require.NoError(t, err)
	s := &stage{t: t, ex: ex, folder: filepath.Join(memoryFolder(t), "state"), config: fmt.Sprintf(stageBot, seed), kinds: []strategy.Kind{restlessKind, smacross.Kind}}
	s.traffic = newTraffic(t, ex)
	s.auditor, s.units = s.client(auditorKey, "secret of the auditor")
	s.before = s.holdings()
	g := &s.traffic.gauge
	g.auditor, g.market = s.auditor, s.market()
	g.before = s.before[g.market.Base]
	t.Cleanup(func() {
		s.traffic.handlers.Wait()
		require.NoError(t, ex.Close())
		if t.Failed() {
			t.Logf("log of the bot:\n%s", s.log.tail(60))
		}
	})
	return s
}

// memoryFolder is a folder of the test's own, in memory where the machine has such a place: what a disk needs to sync is not what is played.
func memoryFolder(t *testing.T) string {
	folder, err := os.MkdirTemp("/dev/shm", "tidemark")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// client returns a client of its own, which no fault strikes by its key and nobody watches.
func (s *stage) client(key, secret string) (*rest.Client, *market.Catalog) {
	c, err := rest.New(rest.Config{BaseURL: "https://exchange.test/v2", Key: rest.NewSecret(key), Secret: rest.NewSecret(secret), Transport: &wire{traffic: s.traffic, quiet: true}})
	require.NoError(s.t, err)
	for range 50 { // faults of public endpoints strike everybody
		if err = c.Sync(context.Background()); err == nil {
			var catalog *market.Catalog
			if catalog, _, err = c.Catalog(context.Background()); err == nil {
				c.Use(catalog)
				return c, catalog
			}
		}
	}
	require.NoError(s.t, err)
	return nil, nil
}

// holdings are what the account has of each asset.
func (s *stage) holdings() map[market.AssetID]market.Money {
	held, err := s.auditor.Holdings(context.Background())
	require.NoError(s.t, err)
	total := map[market.AssetID]market.Money{}
	for _, h := range held {
		total[h.Asset] = h.Available + h.Orders
	}
	return total
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
func (s *stage) plan(w *wire) *runPlan {
	c, err := loadRun(&configSource{file: "stage.toml", text: s.config, overrides: s.everySet})
	require.NoError(s.t, err)
	c.Bot.State = s.folder
	p, err := newRunPlan(c, s.kinds, func(name string) string {
		return map[string]string{"KEY": stageKey, "SECRET": stageSecret, "AUDITOR": auditorKey, "AUDITORS": "secret of the auditor", "OTHER": otherKey, "OTHERS": "secret of the other"}[name]
	})
	require.NoError(s.t, err)
	p.transport, p.now, p.slept, p.witness, p.within = w, s.now, s.slept, s.witness, s.within
	if s.wrap != nil {
		p.transport = s.wrap(w)
	}
	return p
}

// start starts the bot, and insists until the exchange lets it: what supervises a process does the same.
func (s *stage) start() *process {
	for try := 0; ; try++ {
		p, err := s.open()
		if err == nil {
			ctx := p.ctx()
			go func() { p.done <- p.trade(ctx) }()
			return p
		}
		require.Less(s.t, try, 100, "the bot never starts: %v", err)
		time.Sleep(5 * time.Second)
	}
}

// open makes the bot, without letting it trade.
func (s *stage) open() (*process, error) {
	s.starts++
	p := &process{stage: s, wire: &wire{traffic: s.traffic}, done: make(chan error, 1)}
	var err error
	p.runner, err = openRunner(context.Background(), s.plan(p.wire), zerolog.New(&s.log).Level(zerolog.DebugLevel).With().Int("start", s.starts).Logger())
	if err != nil {
		require.NoError(s.t, p.close())
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
	require.NoError(p.stage.t, p.loop.Look(context.Background(), func(market.Time) { read() }))
}

// end stops the bot in good order and returns what Run said.
func (p *process) end() error {
	p.stop()
	failed := <-p.done
	p.leaveAndClose(failed)
	return failed
}

func (p *process) leaveAndClose(failed error) {
	require.NoError(p.stage.t, p.leave(failed))
	require.NoError(p.stage.t, p.account.Check())
	require.NoError(p.stage.t, p.close())
}

// kill ends the bot as kill -9 does, as far as anybody can tell: what is committed stays, what is on the wire already may still arrive,
// and nothing else happens any more. It may be called from within a request.
func (p *process) kill() {
	s := p.stage
	folder := fmt.Sprintf("%s-%d", strings.TrimSuffix(s.folder, filepath.Ext(s.folder)), s.starts)
	require.NoError(s.t, os.MkdirAll(folder, 0o700))
	if !p.wire.die() {
		return // it is dead
	}
	require.NoError(s.t, p.store.Backup(filepath.Join(folder, stateFile)))
	require.NoError(s.t, p.store.Close()) // the next commit fails, and with it the loop
	s.folder = folder
}

// bury waits until a bot that was killed has noticed.
func (p *process) bury() {
	require.Error(p.stage.t, <-p.done)
	p.client.Close()
}

// journalOfLogs keeps what the bot logs.
type journalOfLogs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *journalOfLogs) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *journalOfLogs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// tail is the last lines.
func (l *journalOfLogs) tail(n int) string {
	lines := strings.Split(strings.TrimSpace(l.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// stored opens the state file for reading.
func (s *stage) stored() *journal.Store {
	store, err := journal.Read(filepath.Join(s.folder, stateFile))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = store.Close() })
	return store
}
