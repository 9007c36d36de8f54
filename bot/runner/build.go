package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/stream"
	"github.com/tidemark-trading/tidemark/internal/goroutine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
	"github.com/tidemark-trading/tidemark/strategy"
)

// books are the parts of a bot in which orders and money are booked. The loop's goroutine has them
// while it runs.
type books struct {
	plan      *plan.Live
	log       zerolog.Logger
	run       uuid.UUID
	trading   *rest.Client // that orders go through
	store     *journal.Store
	account   *state.Account
	engine    *engine.Engine
	door      live.Inputs // to the engine
	journal   *botJournal
	gate      *risk.Gate
	watch     *watch     // nil: no metrics, alerts or systemd
	resumed   bool       // the state file had an earlier run
	listening *listening // to signals from outside
}

// carry books a transfer event, and returns what follows for brackets. The commands are valid until
// the next step.
func (b *books) carry(at market.Time, ev *market.Event) []market.Command {
	ev.At, ev.Kind = at, market.KindTransfer
	commands := b.door.Enter(&market.Input{Kind: market.InputBooking, Event: ev}).Commands
	b.journal.Event(ev)
	return commands
}

// nameOf is the name of a strategy; empty: there is none of that id.
func (b *books) nameOf(id market.StrategyID) string {
	if names := b.plan.Names(); id > 0 && int(id) <= len(names) {
		return names[id-1]
	}
	return ""
}

// runner is a bot: built by open, run by serve.
type runner struct {
	Options
	books
	funds   funding
	direct  directBooks
	keeper  holdingsKeeper
	client  *rest.Client    // of the exchange: market data, and in live mode orders
	orders  *streamedOrders // nil: orders leave over HTTP alone
	paper   *paper          // nil in live mode
	weights weights
	core    *core.Core // account, gate and engine
	feed    *poll.Feed
	streams *streams // nil: everything is polled
	loop    *live.Loop
	earlier earlierRun
	needs   []strategy.Needs // by StrategyID − 1
	// on the exchange's clock: candles that had closed by then are history, later ones are traded
	// on
	began   market.Time
	rescued lastSave
	asked   atomic.Int64 // when the bot was asked to stop while it opened, in Unix ns; 0: it was not
	overdue bool         // stop_within is over, and the loop turns
	dog     *watchdog
	// what the kill switch of this process needs; nil: markets are not learnt yet
	armed    atomic.Pointer[killSwitchInputs]
	ranked   rankings
	settings reloadable
}

// earlierRun is the data that the run before this one has left.
type earlierRun struct {
	parts  map[string][]byte // of the engine
	newer  *live.Newer       // what shows that an order is newer than the state file; nil: no run came before
	groups []uint16          // cancel-on-disconnect groups whose timers may run
}

// newRunner returns a bot that has only its plan.
func newRunner(p *plan.Live, log zerolog.Logger, o Options) *runner {
	r := &runner{Options: o, books: books{plan: p, log: log, run: uuid.New()}, ranked: rankings{}}
	r.funds.books = &r.books
	r.keeper.books, r.keeper.wake = &r.books, make(chan struct{}, 1)
	r.direct.books, r.direct.holdings, r.direct.fault = &r.books, &r.keeper, r.fault
	r.dog = newWatchdog(r)
	return r
}

// open builds the bot.
func (r *runner) open(ctx context.Context) error {
	if err := r.openStore(ctx); err != nil {
		return err
	}
	if err := r.openWatch(ctx); err != nil {
		return err
	}
	opening, end, err := r.openContext(ctx)
	if err != nil {
		return err
	}
	defer end()
	for _, step := range [...]func(context.Context) error{r.checkCanary, r.openClient, r.openTrading, r.openEngine,
		r.openFeed, r.openListening, r.begin, r.openLoop} {
		if err := step(opening); err != nil {
			return err
		}
	}
	return nil
}

// close closes the state file and the connections.
func (r *runner) close() (err error) {
	if err = r.rescue(); err != nil {
		err = Error{err}
	}
	r.watch.close()
	if r.client != nil {
		r.client.Close()
	}
	if r.journal != nil && r.journal.recording != nil {
		err = errors.Join(err, r.journal.recording.Close())
	}
	r.endCanary()
	if r.store != nil {
		err = errors.Join(err, r.store.Close())
	}
	if r.paper != nil {
		err = errors.Join(err, r.paper.Close())
	}
	return err
}

// warnOfFolder returns a warning of a state folder that other users may read.
func warnOfFolder(dir string) []string {
	if info, err := os.Stat(dir); err == nil && statedir.OpenToOthers(info) {
		return []string{"others may read the state folder " + dir + "; do: chmod 700 " + config.InQuotes(dir)}
	}
	return nil
}

// openStore opens the state file, which no other bot may hold.
func (r *runner) openStore(ctx context.Context) (err error) {
	if err := os.MkdirAll(r.plan.Config.Bot.State, 0o700); err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	if r.store, err = journal.OpenUntil(ctx, filepath.Join(r.plan.Config.Bot.State, statedir.StateFile)); err != nil {
		return statedir.Error{Err: err}
	}
	return nil
}

// openEngine makes account, gate and engine with the strategies in their slots.
func (r *runner) openEngine(ctx context.Context) (err error) {
	p := r.plan
	for i := range p.Strategies {
		s := &p.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			return fmt.Errorf("strategy %s: %w", s.Name, err)
		}
		r.needs = append(r.needs, needs)
	}
	if err = r.settle(ctx); err != nil {
		return err
	}
	shown := r.newShown()
	made := core.Config{Catalog: p.Catalog, Strategies: p.Strategies, Limits: p.Limits, Fees: p.Fees,
		TradeFrom: r.began, SaveLimit: int(p.Config.Bot.SaveKB) << 10, Run: r.run, Explain: true, Observer: r,
		Plots: shown,
		Apart: goroutine.Call, Log: r.log}
	if r.core, err = core.New(&made); err != nil {
		return err
	}
	r.account, r.gate, r.engine = r.core.Account, r.core.Gate, r.core.Engine
	r.journal = &botJournal{books: &r.books, batch: r.store.NewBatch(), names: p.Names(), weights: &r.weights,
		inputRecorder: inputRecorder{books: &r.books, shown: shown, latest: r.newLatestCandles(p.Strategies)},
		agreed:        checkpoints{balances: map[string]statedir.BalanceCheckpoint{}},
		refusals:      refusals{kinds: map[refusalKey]*refusedKind{}},
		notes: notes{passed: map[market.OrderID]approval{}, received: map[feedKey]market.Time{},
			rules: map[market.ID]market.Market{}},
		trimming: trimming{keep: market.Duration(p.Config.Bot.Keep)}}
	if err = r.openSeal(); err != nil {
		return err
	}
	r.door = live.Inputs{Engine: r.engine, Recorder: r.journal}
	if r.journal.reserve, err = makeReserve(p.Config.Bot.State); err != nil {
		return err
	}
	r.dog.cell.Store(r.engine.Callback())
	r.settings.Store(&settings{plan: p})
	if r.journal.manifest, err = core.NewManifest(&made, version.Of(debug.ReadBuildInfo())); err != nil {
		return err
	}
	return r.openRecording()
}

// openRecording opens the recording of market events beside the state file.
func (r *runner) openRecording() (err error) {
	if r.journal.entries, err = r.store.LastNumber(); err != nil || r.plan.Config.Bot.RecordMB == 0 {
		return err
	}
	known, err := r.store.Blob(statedir.RecordingBlob)
	if err != nil {
		return err
	}
	r.journal.recording, err = recording.Open(filepath.Join(r.plan.Config.Bot.State, statedir.RecordingFolder),
		recording.Options{Catalog: r.plan.Catalog, Strategies: r.plan.Names(), Next: statedir.NextRecord(known),
			Limit: r.plan.Config.Bot.RecordMB << 20, Aside: r.journal.packing.Go, Tee: r.openCanary()})
	if err != nil {
		return fmt.Errorf("recording of market events: %w", err)
	}
	return nil
}

// begin loads the saved parts of an earlier run, or warms the engine up and gives the strategies
// their money.
func (r *runner) begin(ctx context.Context) (err error) {
	now := r.trading.Now()
	r.journal.batch.Blob(statedir.ModeBlob, []byte(r.plan.Config.Bot.FolderMode()))
	r.journal.batch.Blob(profit.ZoneBlob, []byte(r.plan.Config.Bot.Zone))
	r.journal.batch.Blob(statedir.KindsBlob, r.plan.Kinds())
	if err := r.keepGroups(); err != nil {
		return err
	}
	if !r.plan.Config.Bot.Paper() {
		r.journal.batch.Blob(statedir.ExchangeBlob, []byte(r.plan.Config.Exchange.Origin()))
		r.journal.batch.Blob(statedir.KeyBlob, []byte(statedir.KeyDigest(r.plan.Key)))
	}
	r.journal.batch.Start(now, &journal.Start{Run: r.run, Version: version.Of(debug.ReadBuildInfo()),
		ConfigHash: r.plan.SettingsHash, Currency: r.plan.Currency.Symbol, Strategies: r.plan.Names()})
	if len(r.plan.Rankings) > 0 {
		if err := r.setRankings(r.plan.Rankings); err != nil {
			return err
		}
	}
	if r.earlier.parts, r.resumed, err = statedir.Parts(r.store); err != nil || r.resumed {
		return err // openLoop restores, so that its commands are at hand
	}
	if _, err := r.openCore(ctx, now); err != nil {
		return fmt.Errorf("history for the warm-up: %w", err)
	}
	return r.funds.fund(ctx, now)
}

// openOrders makes the way of the orders to the exchange.
func (r *runner) openOrders() error {
	gone := &delistings{Trading: r.trading}
	for name := range r.plan.Gone {
		gone.note(r.plan.Catalog.MarketNamed(name).ID, market.Delisted)
	}
	r.journal.notes.delisted = gone.note
	r.direct.valve = &orderGateway{Trading: gone}
	if r.paper != nil || r.plan.Config.Stream.Orders != config.OrdersStream {
		return nil
	}
	log := r.log.With().Str("stream", "orders").Logger()
	on, err := stream.New(r.plan.Stream(r.client, r.weights.WeightBudget, true, log))
	if err != nil {
		return err
	}
	r.orders = &streamedOrders{r.trading.Over(on), on}
	gone.Trading = r.orders
	return nil
}

// openLoop makes the loop, on an engine that is restored where an earlier run left a state.
func (r *runner) openLoop(ctx context.Context) error {
	p := r.plan
	if err := r.openOrders(); err != nil {
		return err
	}
	r.armed.Store(&killSwitchInputs{client: r.client, catalog: p.Catalog, store: r.store, watch: r.watch})
	config := live.Config{
		Engine: r.engine, Recorder: r.journal, Account: r.account, Trading: r.direct.valve,
		Journal:      r.watch.journal(r.journal),
		ReconcileLog: r.watch.reconcileLog(r.journal), Events: r.events(), Notices: r.streams.noticed(),
		Muted: r.streams.muted, SetAside: r.setAside, Clock: r.client.Now, Log: r.log,
		OpenEvery:     market.Duration(p.Config.Poll.Orders),
		HoldingsEvery: market.Duration(p.Config.Poll.Balances),
		QuietEvery:    market.Duration(p.Config.Stream.Lists),
		Groups:        p.Groups(), GroupExpiry: market.Duration(p.Config.Exchange.CancelAfter),
		Start: func(market.Time) []market.Command { return nil }, Stepped: r.watch.stepped(), Ready: r.ready,
		StopConfig: live.StopConfig{StopLeft: r.stopWithin, StopWithin: r.stopWithin(),
			KeepOrders: p.Config.Bot.KeepOrders, KeepExits: p.Config.Bot.KeepExits},
		Earlier: live.Earlier{Sent: r.sentUntil, FormerGroups: r.earlier.groups, Owns: r.owns, Ended: r.ended},
	}
	if r.resumed {
		commands, err := r.restore(ctx)
		if err != nil {
			return err
		}
		config.Start = func(market.Time) []market.Command { return commands }
	} else if _, err := r.direct.bookAtStart(); err != nil {
		return err
	}
	var err error
	if config.Checkpoints, err = r.agreements(); err != nil {
		return err
	}
	config.Newer = r.earlier.newer
	if err := r.configureAudit(ctx, &config); err != nil {
		return err
	}
	r.watch.attach()
	r.journal.record(&recording.Record{Kind: recording.KindWaiting, At: r.engine.Now()})
	r.loop = live.New(config)
	return nil
}

// restore brings the engine to the state in which the last run ended, and returns the commands that
// follow from it.
func (r *runner) restore(ctx context.Context) ([]market.Command, error) {
	commands, err := r.openCore(ctx, r.trading.Now())
	if err != nil {
		return nil, err
	}
	if r.earlier.newer, err = r.newerThan(r.engine.LastOrder()); err != nil {
		return nil, err
	}
	r.journal.newer.newer = r.earlier.newer
	for _, h := range r.engine.Halts() { // later ones are of this start
		if h.At < r.began {
			r.journal.halts++
		}
	}
	saved, err := r.store.Positions()
	if err != nil {
		return nil, err
	}
	r.journal.positions(saved)
	direct, err := r.direct.bookAtStart()
	if err != nil {
		return nil, err
	}
	return append(commands, direct...), r.funds.fund(ctx, r.trading.Now())
}

// openCore fetches the candles of the warm-ups and begins the engine, in the recording too.
func (r *runner) openCore(ctx context.Context, at market.Time) ([]market.Command, error) {
	history, err := r.history(ctx)
	if err != nil {
		return nil, err
	}
	r.nameHistory(at, history)
	r.feed.Follows(history)
	if err := r.journal.begin(at, r.earlier.parts, history); err != nil {
		return nil, err
	}
	commands, err := r.core.Open(at, r.earlier.parts, history)
	if err != nil && r.resumed {
		return nil, r.configMismatch(fmt.Errorf("state of the last run: %w", err))
	}
	return commands, err
}

// configMismatch wraps an error of the last run's state: as a mistake in the config, which a
// restart does not correct, where the config has changed since.
func (r *runner) configMismatch(err error) error {
	runs, failed := r.store.Runs()
	if failed == nil && len(runs) > 0 && runs[len(runs)-1].ConfigHash != r.plan.SettingsHash {
		return config.Usagef("%w", err)
	}
	return err
}
