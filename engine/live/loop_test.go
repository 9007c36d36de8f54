package live

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// rig is a loop over a box.
type rig struct {
	t       *testing.T
	box     *sender
	account *state.Account
	journal *ledger
	loop    *Loop
	events  chan market.Event
	seed    uint64
	starts  int
	player  strategy.Strategy // nil: a restless one
	limits  *risk.Limits      // nil: those of a restless one
	second  strategy.Strategy // another one beside it; nil: there is none
	seen    sights
}

func newRig(t *testing.T, seed uint64, faults int) *rig {
	return newRigOf(t, seed, newBox(t, seed, faults))
}

func newRigOf(t *testing.T, seed uint64, b *box) *rig {
	r := &rig{t: t, seed: seed, box: &sender{box: b, commands: map[string]market.Command{}}}
	r.journal = &ledger{t: t, intents: map[string]bool{}, sent: map[market.OrderID]exchange.Intent{},
		parts: map[string][]byte{}, fills: map[uuid.UUID]int{}}
	r.box.journal = r.journal
	r.begin()
	return r
}

// begin makes what a process consists of: new, or restored from what the one before has committed.
func (r *rig) begin() {
	t := r.t
	r.starts++
	r.events = make(chan market.Event, 16)
	var notices chan exchange.Notice
	if r.box.teller != nil {
		notices = make(chan exchange.Notice, 4096)
		r.box.mu.Lock()
		r.box.teller.to = notices
		r.box.mu.Unlock()
	}
	strategies := 1
	if r.second != nil {
		strategies = 2
	}
	r.account = state.NewAccount(r.box.catalog, strategies, nil)
	limits := risk.Limits{OperatorID: 7, MaxOpenOrders: 12}
	if r.limits != nil {
		limits = *r.limits
	}
	gate := risk.New(r.box.catalog, risk.Config{Strategies: slices.Repeat([]risk.Limits{limits}, strategies),
		Fees: boxFees})
	run := uuid.NewSHA1(uuid.NameSpaceOID, []byte{byte(r.seed), byte(r.starts)})
	player := r.player
	if player == nil {
		player = &restless{chance: rand.New(rand.NewPCG(r.seed, uint64(r.starts)))}
	}
	seat := engine.StrategyConfig{Name: "restless", Strategy: player, Markets: []market.ID{1},
		Intervals: []market.Interval{market.Interval1m}, Ticker: true, Log: zerolog.Nop()}
	seats := []engine.StrategyConfig{seat}
	if r.second != nil {
		seat.Name, seat.Strategy = "second", r.second
		seats = append(seats, seat)
	}
	e := engine.New(engine.Config{Run: run, Catalog: r.box.catalog, Account: r.account, Gate: gate, Slots: seats})
	doubter := &doubter{ledger: r.journal, chance: rand.New(rand.NewPCG(r.seed, 3)), seen: &r.seen}
	config := Config{Engine: e, Account: r.account, Trading: r.box, Journal: doubter, ReconcileLog: r.journal,
		Events: r.events, Notices: notices, Log: zerolog.Nop(), StopConfig: StopConfig{StopWithin: 30 * time.Minute},
		Earlier: Earlier{Sent: r.journal.lastChance, Breaches: r.journal.kept,
			Owns: func(client uuid.UUID) bool { return r.box.records[client] != nil }}}
	at := r.box.Now()
	if len(r.journal.parts) == 0 {
		for _, asset := range r.box.catalog.Assets() {
			e.Step(&market.Event{At: at, Kind: market.KindTransfer, Asset: asset.ID,
				Money: r.box.venue.Balance(asset.ID).Total})
		}
	} else {
		commands, err := e.Restore(at, r.journal.parts, nil)
		require.NoError(t, err)
		commands = slices.Clone(commands)
		config.Start = func(market.Time) []market.Command { return commands }
	}
	r.journal.engine, r.journal.killed = e, false
	r.loop = New(config)
	doubter.loop = r.loop
}

// trade moves the price every second for a while, tells it to the loop, and then stops it.
func (r *rig) trade(seed uint64, d time.Duration) error {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.loop.Run(ctx) }()
	chance, price := rand.New(rand.NewPCG(seed, 9)), market.Price(100_00)
	for began := time.Now(); time.Since(began) < d; {
		time.Sleep(time.Second)
		price = max(50_00, price+market.Price(chance.IntN(5)-2)*100)
		r.box.move(price)
		r.box.mu.Lock()
		bid, ask := r.box.venue.Best(1)
		r.box.mu.Unlock()
		select {
		case r.events <- market.Event{Kind: market.KindTicker,
			Ticker: &market.Ticker{Market: 1, Last: price, Bid: bid.Price, Ask: ask.Price}}:
		case err := <-done:
			cancel()
			return err
		}
	}
	cancel()
	return <-done
}

// kill ends the process as kill -9 does, seen from outside: from now on nothing is
// committed and nothing is sent; what is on the wire already may still arrive.
func (r *rig) kill() {
	r.journal.mu.Lock()
	defer r.journal.mu.Unlock()
	r.journal.killed = true
}

// agree requires that the exchange and the bot tell the same story.
func (r *rig) agree() {
	t := r.t
	for name, record := range r.box.records {
		require.True(t, record.Order.Done(), "order %s is open at the exchange", name)
	}
	require.Empty(t, r.account.Open(nil, 0, 0))
	for _, asset := range r.box.catalog.Assets() {
		balance := r.box.venue.Balance(asset.ID)
		require.Equal(t, balance.Total, r.account.Total(asset.ID).Total, asset.Symbol)
		require.Zero(t, r.account.Total(asset.ID).Held, asset.Symbol)
	}
	require.NoError(t, r.account.Check())
}

func TestAQuietExchangeAndTheBotAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1, 0)
		require.NoError(t, r.trade(1, 10*time.Minute))
		r.agree()
		require.Greater(t, len(r.box.records), 100)
		require.NotEmpty(t, r.journal.fills)
		for id, times := range r.journal.fills {
			require.Equal(t, 1, times, "fill %s is noted once", id)
		}
	})
}

// quoter wants three bids, always, and counts what it hears.
type quoter struct {
	strategy.Base
	tickers int
	refused []string
}

func (s *quoter) OnTicker(d *strategy.Desk, t market.Ticker) {
	if s.tickers++; len(d.In(t.Market).OpenOrders()) < 3 {
		_, _ = d.In(t.Market).Buy(strategy.Amount(12500000), strategy.At(t.Last-20_00))
	}
}

func (s *quoter) OnOrder(d *strategy.Desk, o market.Order, _ market.Report) {
	if o.Status.Terminal() {
		if _, err := d.In(o.Market).Buy(strategy.Amount(12500000), strategy.At(70_00)); err != nil {
			s.refused = append(s.refused, err.Error())
		}
	}
}

// While one order is unresolved, the others are cancelled already, and the strategy quotes no more.
func TestAStopWaitsForADoubtAndForNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &quoter{}
		r := newRig(t, 1, 0)
		r.player, r.box.swallow = s, 2
		r.begin()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.loop.Run(ctx) }()
		tick := func() {
			time.Sleep(time.Second)
			r.events <- market.Event{Kind: market.KindTicker,
				Ticker: &market.Ticker{Market: 1, Last: 100_00, Bid: 99_00, Ask: 101_00}}
			synctest.Wait()
		}
		for range 4 {
			tick()
		}
		open, err := r.box.OpenOrders(ctx)
		require.NoError(t, err)
		require.Len(t, open, 2, "of three, one is unresolved")
		heard := s.tickers
		cancel()
		for range 4 {
			tick()
		}
		require.Len(t, done, 0, "its window has not ended")
		open, err = r.box.OpenOrders(t.Context())
		require.NoError(t, err)
		require.Empty(t, open)
		require.Equal(t, heard, s.tickers)
		require.Equal(t, []string{"refused: stopping", "refused: stopping"}, s.refused)
		require.NoError(t, <-done)
		r.agree()
	})
}

var lossySeeds = flag.Int("seeds", 40,
	"how many seeds TestNothingIsLostOrDoubledWhateverGetsLost and TestABotThatIsKilledGoesOnAsIfNothingHadHappened "+
		"play")

// Each seed is three minutes of a restless strategy at an exchange that loses 15 of 100 requests
// and as many answers, and lets others wait until their window is over. Thousands of them:
//
//	go test ./engine/live -run 'Whatever|Killed' -seeds 5000
func TestNothingIsLostOrDoubledWhateverGetsLost(t *testing.T) {
	seeds := *lossySeeds
	if testing.Short() {
		seeds = 4
	}
	orders, expired, seen := 0, 0, sights{}
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, seed, 15)
			require.NoError(t, r.trade(seed, 3*time.Minute), "seed %d", seed)
			r.agree()
			orders += len(r.box.records)
			expired += r.box.expired
			seen = sights{seen.orders + r.seen.orders, seen.named + r.seen.named, seen.reached + r.seen.reached}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d orders; %d requests came too late for their window", orders, expired)
	require.Greater(t, orders, 100)
	require.Greater(t, min(seen.orders, seen.named, seen.reached), 1000)
}

// Each seed is a bot that is killed again and again, at an exchange that loses requests and
// answers.
func TestABotThatIsKilledGoesOnAsIfNothingHadHappened(t *testing.T) {
	seeds := *lossySeeds
	if testing.Short() {
		seeds = 4
	}
	orders := 0
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, seed, 10)
			chance := rand.New(rand.NewPCG(seed, 11))
			for range 4 {
				time.AfterFunc(time.Duration(chance.IntN(60_000))*time.Millisecond, r.kill)
				require.ErrorIs(t, r.trade(chance.Uint64(), 2*time.Minute), errKilled, "seed %d", seed)
				time.Sleep(time.Duration(chance.IntN(90_000)) * time.Millisecond)
				r.begin()
			}
			require.NoError(t, r.trade(seed, time.Minute), "seed %d", seed)
			r.agree()
			orders += len(r.box.records)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d orders", orders)
}

// The clock was an hour ahead when the last run was killed: the next one goes on all the same, its
// timers too.
func TestARunAfterAClockThatWasAheadGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3, 0)
		r.box.mu.Lock()
		r.box.shift = time.Hour
		r.box.mu.Unlock()
		time.AfterFunc(30*time.Second, r.kill)
		require.ErrorIs(t, r.trade(1, time.Minute), errKilled)
		r.box.mu.Lock()
		r.box.shift = 0
		r.box.mu.Unlock()
		was, orders := r.loop.Engine.Now(), len(r.box.records)
		r.begin()
		require.NoError(t, r.trade(2, 5*time.Minute))
		require.Greater(t, len(r.box.records), orders+20)
		require.Greater(t, r.loop.Engine.Now(), was.Add(2*time.Minute))
		r.agree()
	})
}
