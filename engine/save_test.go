package engine_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// restart makes the bench's engine anew with other strategies, and lets it go on from what the old
// one saves.
func (b *bench) restart(history [][]market.Candle, strategies ...strategy.Strategy) []market.Command {
	b.t.Helper()
	return b.restartAt(b.now, history, strategies...)
}

// restartNow is restart within an instant. It requires that the new engine would save what the old
// one has saved.
func (b *bench) restartNow(history [][]market.Candle, strategies ...strategy.Strategy) []market.Command {
	b.t.Helper()
	before := saveAll(b.t, b.engine)
	commands := b.restartAt(b.engine.Now(), history, strategies...)
	after := saveAll(b.t, b.engine)
	require.Len(b.t, after, len(before))
	for part := range before {
		require.Equal(b.t, string(before[part]), string(after[part]))
	}
	return commands
}

// restartAt is restart at a time.
func (b *bench) restartAt(at market.Time, history [][]market.Candle,
	strategies ...strategy.Strategy) []market.Command {
	b.t.Helper()
	saved := saveAll(b.t, b.engine)
	b.account, b.engine = b.remake(strategies...)
	commands, err := b.engine.Restore(at, saved, past(history))
	require.NoError(b.t, err)
	require.NoError(b.t, b.account.Check())
	return commands
}

func TestNothingIsWrittenWhereNothingHasChanged(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1)) })}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}},
		account: risk.AccountLimits{MaxDrawdown: 50_000_000}})
	var written []string
	save := func() []string {
		written = nil
		require.NoError(t, b.engine.Save(func(part string,
			data []byte) error {
			if data == nil {
				part += " is gone"
			}
			written = append(written, part)
			return nil
		}))
		return written
	}
	everything := []string{"account", "prices", "gate", "engine"}
	require.Equal(t, everything, save())
	require.Empty(t, save())
	b.flat(1, 100)
	const order = "order/000000000001"
	// an order, the first price, a number used up
	require.Equal(t, []string{order, "account", "prices", "engine"}, save())
	b.flat(1, 100)
	require.Equal(t, []string{order}, save()) // it arrived
	b.flat(5, 100)
	b.step(&market.Event{Kind: market.KindTicker, At: b.now,
		Ticker: &market.Ticker{Market: 1, Last: 99 * at1, Bid: 98 * at1}})
	require.Empty(t, save())
	b.candle(99, 99, 10, 10)
	require.Equal(t, []string{order + " is gone", "account", "gate"}, save()) // bought, and too deep a fall
	require.Len(t, saveAll(t, b.engine), 4)
}

func TestAWriteThatFailsIsMadeUpFor(t *testing.T) {
	b := one(t, &script{})
	broken := errors.New("disk full")
	for failing := range 4 {
		b.deposit(1, eur)
		n := -1
		require.ErrorIs(t, b.engine.SaveAll(func(string, []byte) error {
			if n++; n == failing {
				return broken
			}
			return nil
		}), broken)
	}
	var written []string
	require.NoError(t, b.engine.Save(func(part string, _ []byte) error { written = append(written, part); return nil }))
	require.Subset(t, []string{"account", "prices", "gate", "engine"}, written)
	require.Contains(t, written, "engine")
}

func TestLiveOrdersKeepTheirClientIDOverARestart(t *testing.T) {
	place := func() *script {
		return &script{candle: once(func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1), strategy.PostOnly(),
				strategy.SelfTrade(market.CancelNewest))
		})}
	}
	first, second := uuid.MustParse("11111111-1111-4111-8111-111111111111"),
		uuid.MustParse("22222222-2222-4222-8222-222222222222")
	runs := []uuid.UUID{first, second}
	b := newBench(t, setup{run: first, limits: []risk.Limits{{OperatorID: 77}},
		slots: []engine.StrategyConfig{{Strategy: place()}}})
	b.flat(2, 100)
	require.Equal(t, market.ClientOrderID(runs[0], 1), b.account.Order(1).ClientOrderID)

	var sent []market.Command
	b.after = func(commands []market.Command) { sent = append(sent, commands...) }
	saved := saveAll(t, b.engine)
	next := newBench(t, setup{run: second, limits: []risk.Limits{{OperatorID: 77}}, noDeposit: true,
		slots: []engine.StrategyConfig{{Strategy: &script{candle: once(func(d *strategy.Desk) {
			require.NoError(t, d.Update(1, strategy.At(49*at1)))
			d.In(1).Buy(strategy.Amount(btc), strategy.At(48*at1))
		})}}}})
	_, err := next.engine.Restore(b.now, saved, nil)
	require.NoError(t, err)
	b.engine, b.account = next.engine, next.account
	b.flat(1, 100)
	require.Len(t, sent, 2)
	update, placed := &sent[0].Order, &sent[1].Order
	require.Equal(t, market.OrderID(1), update.ID)
	require.Equal(t, market.ClientOrderID(first, 1), update.ClientOrderID)
	require.Equal(t, b.account.Order(1).ExchangeID, update.ExchangeID)
	require.Equal(t, int64(77), update.OperatorID)
	require.True(t, update.PostOnly, "an update that left it out would make a taker of a maker")
	require.Equal(t, market.CancelNewest, update.SelfTradePrevention)
	require.Equal(t, market.GTC, update.TimeInForce)
	require.Equal(t, market.OrderID(2), placed.ID)
	require.Equal(t, market.ClientOrderID(second, 2), placed.ClientOrderID)
}

func TestWithoutARunOrdersHaveNoClientID(t *testing.T) {
	b := one(t, &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc),
			strategy.At(50*at1))
	})})
	b.flat(1, 100)
	require.Zero(t, b.account.Order(1).ClientOrderID)
}

func TestWhileCandlesAreSeenAgainNothingIsAsked(t *testing.T) {
	b := one(t, &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc))
		d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
	})})
	b.flat(3, 100)
	var calls journal
	greedy := func(d *strategy.Desk) {
		for _, ask := range []func() error{
			func() error { _, err := d.In(1).Buy(strategy.Amount(btc)); return err },
			func() error { return d.Cancel(2) },
			func() error { return d.Update(2, strategy.At(51*at1)) },
			func() error {
				_, err := d.In(1).Protect(strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
				return err
			},
		} {
			var refused *risk.Refusal
			require.ErrorAs(t, ask(), &refused)
			require.Equal(t, risk.ReasonWarmUp, refused.Reason)
		}
		d.Timer(d.Now(), 1)
		calls.add("at %d has %d and %d open", (d.Now()-start)/minute, d.In(1).Position().Amount/btc,
			len(d.In(1).OpenOrders()))
	}
	live := false
	again := &script{start: greedy, candle: func(d *strategy.Desk, c market.Candle) {
		if !live {
			greedy(d)
		}
	}}
	b2 := newBench(t, setup{noDeposit: true, slots: []engine.StrategyConfig{{Strategy: again, Warmup: []int{2}}}})
	saved := saveAll(t, b.engine)
	group := candleOf(1, 100, 100, 100, 100)
	group.Start = start + minute
	later := group
	later.Start += minute
	commands, err := b2.engine.Restore(b.now+minute, saved,
		past([][]market.Candle{{group}, {later}}))
	require.NoError(t, err)
	require.Empty(t, commands)
	require.Equal(t, journal{"at 4 has 1 and 1 open", "at 2 has 1 and 1 open", "at 3 has 1 and 1 open"}, calls)
	require.Equal(t, b.now+minute, b2.engine.Now())
	require.Empty(t, b2.engine.Refused(1))
	_, waiting := b2.engine.NextTimer()
	require.False(t, waiting)
}

func TestTheWarmUpIsOverWithTheHistoryOfARestart(t *testing.T) {
	answers := func(history int) (errs []error) {
		s := func() *script {
			return &script{ticker: func(d *strategy.Desk, _ market.Ticker) {
				_, err := d.In(1).Buy(strategy.Amount(btc/100), strategy.At(50*at1))
				errs = append(errs, err)
			}}
		}
		ticker := &market.Ticker{Market: 1, Last: 100 * at1}
		b := newBench(t, setup{from: start + minute,
			slots: []engine.StrategyConfig{{Strategy: s(), Warmup: []int{3}, Ticker: true}}})
		b.flat(4, 100)
		b.step(&market.Event{Kind: market.KindTicker, At: b.now, Ticker: ticker})
		var groups [][]market.Candle
		for i := range history {
			c := candleOf(1, 100, 100, 100, 100)
			c.Start = start + market.Time(i)*minute
			groups = append(groups, []market.Candle{c})
		}
		b.restart(groups, s())
		b.step(&market.Event{Kind: market.KindTicker, At: b.now, Ticker: ticker})
		b.flat(1, 100)
		b.step(&market.Event{Kind: market.KindTicker, At: b.now, Ticker: ticker})
		return errs
	}
	require.Equal(t, []error{nil, nil, nil}, answers(4))
	require.Equal(t, []error{nil, nil, nil}, answers(3))
	short := answers(2) // one candle is missing: it is waited for
	require.NoError(t, short[0])
	require.ErrorContains(t, short[1], "warm_up")
	require.NoError(t, short[2])
}

func TestStrategiesAreFoundByNameAfterARestart(t *testing.T) {
	buy := func() *script {
		return &script{candle: once(func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
		})}
	}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "old", Strategy: buy()}}})
	b.flat(2, 100)
	require.Equal(t, btc, b.position())

	saved := saveAll(t, b.engine)
	fresh := &script{start: func(d *strategy.Desk) {
		_, err := d.In(1).Buy(strategy.Amount(btc), strategy.At(10*at1))
		require.NoError(t,
			err)
	}}
	next := newBench(t, setup{noDeposit: true,
		slots: []engine.StrategyConfig{{Name: "new", Strategy: fresh}, {Name: "old", Strategy: &script{}}}})
	commands, err := next.engine.Restore(b.now, saved, nil)
	require.NoError(t, err)
	require.Len(t, commands, 1, "a new strategy starts as in any run")
	require.Equal(t, market.OrderID(3), commands[0].Order.ID)
	require.Zero(t, next.account.Position(1, 1).Amount)
	require.Equal(t, btc, next.account.Position(2, 1).Amount)
	b.engine, b.account = next.engine, next.account
	b.send(commands)
	b.candle(100, 112, 100, 111) // the target of the old one's bracket
	b.flat(1, 111)
	require.Zero(t, b.account.Position(2, 1).Amount)
}

func TestAPanicOverHistoryHaltsTheStrategy(t *testing.T) {
	b := one(t, &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc),
			strategy.At(50*at1))
	})})
	b.flat(2, 100)
	saved := saveAll(t, b.engine)
	b2 := newBench(t, setup{noDeposit: true,
		slots: []engine.StrategyConfig{{Strategy: &script{candle: func(*strategy.Desk,
			market.Candle) {
			panic("again")
		}},
			Warmup: []int{1}}}})
	group := []market.Candle{candleOf(1, 100, 100, 100, 100)}
	commands, err := b2.engine.Restore(b.now, saved,
		past([][]market.Candle{group}))
	require.NoError(t, err)
	require.Equal(t, "cancel 1", describe(&commands[0]))
	require.Equal(t, "panic: again", b2.engine.Halts()[0].Reason)
}

func TestAHaltOutlivesTheProcess(t *testing.T) {
	b := one(t, &script{candle: once(func(*strategy.Desk) { panic("once") })})
	b.flat(1, 100)
	halts := b.engine.Halts()
	require.Len(t, halts, 1)
	b.restart([][]market.Candle{{candleOf(1, 100, 100, 100, 100)}}, &script{
		start:  func(*strategy.Desk) { t.Fatal("started though it is halted") },
		candle: func(*strategy.Desk, market.Candle) { t.Fatal("called though it is halted") },
	})
	require.Equal(t, halts, b.engine.Halts())
	b.flat(2, 100)
}

// forgetful is a Saver that fails as it is told to.
type forgetful struct {
	strategy.Base
	save, load func() error
}

// Save writes a byte, or too many where it has no other way to fail.
func (f *forgetful) Save() ([]byte, error) {
	if f.save == nil {
		return make([]byte, engine.DefaultSaveLimit+1), nil
	}
	return []byte("x"), f.save()
}

func (f *forgetful) Load([]byte) error { return f.load() }

// The others go on, and are saved; after a restart it is halted still.
func TestAStrategyWhoseStateCannotBeSavedIsHaltedAlone(t *testing.T) {
	for _, c := range []struct {
		save func() error
		want string
	}{
		{func() error { return errors.New("no memory") }, "its state cannot be saved: no memory"},
		{func() error { panic("too much") }, "its state cannot be saved: panic: too much"},
		{nil, "its state cannot be saved: it has 1048577 bytes, and may have 1048576; keep less, or raise bot.save_kb"},
	} {
		failing, fine := &forgetful{save: c.save}, &forgetful{save: func() error { return nil }}
		slots := func(a, b strategy.Strategy) []engine.StrategyConfig {
			return []engine.StrategyConfig{{Name: "a", Strategy: a}, {Name: "b", Strategy: b}}
		}
		b := newBench(t, setup{slots: slots(failing, fine)})
		saved := saveAll(t, b.engine)
		require.Nil(t, saved[engine.PartStrategy+"a"])
		require.NotNil(t, saved[engine.PartStrategy+"b"])
		due := b.engine.Unsaved()
		require.Len(t, due, 1)
		b.engine.HaltOne(b.now, due[0].Strategy, due[0].Reason)
		require.Empty(t, b.engine.Unsaved(), "once")
		why, halted := b.engine.Halted(1)
		require.True(t, halted)
		require.Equal(t, c.want, why.Reason)
		_, halted = b.engine.Halted(2)
		require.False(t, halted)
		saved = saveAll(t, b.engine)
		next := newBench(t, setup{noDeposit: true,
			slots: slots(&forgetful{}, &forgetful{load: func() error { return nil }})})
		_, err := next.engine.Restore(b.now, saved, nil)
		require.NoError(t, err)
		_, halted = next.engine.Halted(1)
		require.True(t, halted)
		b.engine.Resume(b.now, 1)
		saveAll(t, b.engine)
		require.NotEmpty(t, b.engine.Unsaved(), "it is tried again after a resume")
	}
}

func TestAStrategyWhoseStateCannotBeLoadedStartsHalted(t *testing.T) {
	fine := func() error { return nil }
	fails := func() error { return errors.New("no memory") }
	panics := func() error { panic("too much") }
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: &forgetful{save: fine}}}})
	saved := saveAll(t, b.engine)
	for _, c := range []struct {
		next strategy.Strategy
		want string
	}{
		{&forgetful{load: fails}, "no memory"},
		{&forgetful{load: panics}, "panic: too much"},
		{idle{}, "was of another kind; give the new one a name of its own"},
	} {
		_, e := b.remake(c.next)
		_, err := e.Restore(0, saved, nil)
		require.NoError(t, err, "the others trade")
		halt, halted := e.Halted(1)
		require.True(t, halted)
		require.Contains(t, halt.Reason, "its saved state cannot be loaded: "+c.want+"; its exits are guarded")
		e.Resume(b.now, 1)
		_, halted = e.Halted(1)
		require.True(t, halted, "it has to be loaded first")
		later := saveAll(t, e)
		maps.Copy(later, map[string][]byte{"strategy/s1": saved["strategy/s1"]}) // it was not written
		_, e = b.remake(&forgetful{save: fine, load: fine})
		_, err = e.Restore(0, later, nil)
		require.NoError(t, err)
		_, halted = e.Halted(1)
		require.True(t, halted)
		e.Resume(b.now, 1)
		_, halted = e.Halted(1)
		require.False(t, halted, "a start that can load it goes on")
	}
}

func TestTwoStrategiesOfOneNameCannotBeSaved(t *testing.T) {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "a", Strategy: idle{}}, {Name: "a",
		Strategy: idle{}}}})
	err := b.engine.SaveAll(func(string, []byte) error { return nil })
	require.EqualError(t, err, `engine: strategy 2 is named "a"; give each a name of its own`)
}

func TestAnEngineInErrorSavesNothing(t *testing.T) {
	b := one(t, &script{})
	b.engine.Step(&market.Event{Kind: market.KindTransfer, At: start, Asset: 1, Money: 1<<63 - 1})
	require.ErrorIs(t, b.engine.SaveAll(func(string, []byte) error { t.Fatal("written"); return nil }),
		market.ErrOverflow)
}

// bracketed is a saved engine with a bracket, an order and a timer of strategy s1 in BTC-EUR.
func bracketed(t testing.TB) map[string][]byte {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TargetAt(110*at1))
		d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1), strategy.Tag("low"))
		d.Timer(d.Now()+10*minute, 3)
	})}
	b := one(t, s)
	b.flat(3, 100)
	return saveAll(t, b.engine)
}

func TestRestoreSaysWhatDiffers(t *testing.T) {
	const order2 = "order/000000000002"
	saved := bracketed(t)
	for _, c := range []struct {
		part, old, new string
		want           string
	}{
		{"account", `"version":1`, `"version":7`, "account: saved in version 7, this program knows versions 1 to 1"},
		{order2, `"version":1`, `"version":7`,
			"account: an order: saved in version 7, this program knows versions 1 to 1"},
		{"account", `"state":{`, `"stale":{`, `unknown field "stale"`},
		{"account", `{"price":2`, `{"price":3`,
			"market BTC-EUR was saved with decimals of price 3, amount 8, quote 2 and now has 2, 8, 2"},
		{"account", `"BTC-EUR"`, `"XYZ-EUR"`, "market XYZ-EUR is gone and strategy \"s1\" holds 100000000 units there"},
		{"account", `"EUR":2`, `"EUR":3`, "asset EUR was saved with 3 decimals and now has 2"},
		{"account", `"strategy":"s1"`, `"strategy":"s9"`,
			`strategy "s9" is gone and holds 1 of BTC-EUR; take it back into the config`},
		{order2, `"state":"open"`, `"state":"opened"`, `order 2: state "opened" is none of`},
		{order2, `"side":"buy"`, `"side":"both"`, `side "both" is not one of`},
		{order2, `"onHold":`, `"onHold":-`, "order 2: has an amount below zero"},
		{"prices", `"version":1`, `"version":0`, "prices: saved in version 0"},
		{"prices", `{"price":2`, `{"price":1`, "prices: market BTC-EUR was saved with decimals"},
		{"gate", `"s1":{`, `"s1":{"refused":{"mood":1}`, "gate: "},
		{"engine", `"lastId":3`, `"lastId":2`,
			"order 3 is open and the last one was 2: engine and account were not saved together"},
		{"engine", `"exit":3`, `"exit":1`, "bracket 1: its exit 1 is not open"},
		{"engine", `"market":"BTC-EUR"`, `"market":"XYZ-EUR"`, `bracket 1: market "XYZ-EUR" is gone`},
		{"engine", `"strategy":"s1","market"`, `"strategy":"s9","market"`, `bracket 1: strategy "s9" is gone`},
		{"engine", `"entry":1`, `"entry":1,"keep":9`, "bracket 1: keeps 9 and has 0 of two exits"},
	} {
		text := string(saved[c.part])
		require.Contains(t, text, c.old, c.part)
		broken := maps.Clone(saved)
		for part, text := range saved {
			if part == c.part || c.part == "account" && strings.HasPrefix(part, engine.PartOrder) {
				broken[part] = []byte(strings.ReplaceAll(string(text), c.old, c.new))
			}
		}
		_, err := restored(t, broken)
		require.ErrorContains(t, err, c.want)
	}
	for part := range saved {
		broken := maps.Clone(saved)
		delete(broken, part)
		_, err := restored(t, broken)
		if strings.HasPrefix(part, engine.PartOrder) {
			require.EqualError(t, err, "restore: account: 2 orders were saved with it, and there are 1")
		} else {
			require.EqualError(t, err, "restore: nothing was saved of "+part)
		}
		for n := range len(saved[part]) {
			broken[part] = saved[part][:n:n]
			_, err := restored(t, broken)
			require.Error(t, err, "%s cut off after %d bytes", part, n)
		}
		broken[part] = append(slices.Clone(saved[part]), '1')
		_, err = restored(t, broken)
		require.ErrorContains(t, err, "goes on behind its end")
	}
	account, err := restored(t, saved)
	require.NoError(t, err)
	require.NoError(t, account.Check())
}

// restored restores an engine with an idle strategy s1.
func restored(t testing.TB, saved map[string][]byte) (*state.Account, error) {
	b := newBench(t, setup{noDeposit: true, slots: []engine.StrategyConfig{{Strategy: idle{}}}})
	_, err := b.engine.Restore(0, saved, nil)
	return b.account, err
}

func TestAStrategyMustGoOnTradingWhereItHasSomething(t *testing.T) {
	b := newBench(t, setup{markets: 2,
		slots: []engine.StrategyConfig{{Markets: []market.ID{1, 2},
			Strategy: &script{candle: once(func(d *strategy.Desk) { d.In(2).Buy(strategy.Amount(btc)) })}}}})
	b.group(candleOf(1, 100, 100, 100, 100), candleOf(2, 100, 100, 100, 100))
	b.group(candleOf(1, 100, 100, 100, 100), candleOf(2, 100, 100, 100, 100))
	saved := saveAll(t, b.engine)
	next := newBench(t, setup{markets: 2, noDeposit: true,
		slots: []engine.StrategyConfig{{Markets: []market.ID{1}, Strategy: idle{}}}})
	_, err := next.engine.Restore(0, saved, nil)
	require.EqualError(t, err,
		"restore: engine: strategy s1 holds 1 of ETH-EUR, or has orders there, and does not trade it any more; take "+
			"it back into the config")
}

func TestAnErrorOfTheHistoryEndsTheRestart(t *testing.T) {
	saved := bracketed(t)
	b := newBench(t, setup{noDeposit: true, slots: []engine.StrategyConfig{{Strategy: idle{}}}})
	torn := errors.New("torn")
	_, err := b.engine.Restore(0, saved,
		func(yield func([]market.Candle, error) bool) { yield(nil, torn) })
	require.ErrorIs(t, err, torn)
}

func FuzzRestoreNeverPanics(f *testing.F) {
	saved := bracketed(f)
	parts := slices.Sorted(maps.Keys(saved))
	for i, part := range parts {
		f.Add(uint8(i), saved[part])
	}
	f.Fuzz(func(t *testing.T, part uint8, data []byte) {
		broken := maps.Clone(saved)
		broken[parts[int(part)%len(parts)]] = data
		b := newBench(t, setup{noDeposit: true, slots: []engine.StrategyConfig{{Strategy: idle{}}}})
		_, err := b.engine.Restore(0, broken, nil)
		if err != nil {
			return
		}
		again := saveAll(t, b.engine) // the account may be short, as Account.Check says; Restore checks the rest
		_, err = restored(t, again)
		require.NoError(t, err)
	})
}

// TestAStrategyThatIsShortGoesOnAfterARestart buys with all money of an allocation, dearer than the
// gate could know. After the restart, buys are refused until a sale has brought the money back.
func TestAStrategyThatIsShortGoesOnAfterARestart(t *testing.T) {
	b := newBench(t, setup{noDeposit: true, own: []bool{false, true}, slots: []engine.StrategyConfig{{Strategy: &script{
		candle: func(d *strategy.Desk, _ market.Candle) { d.In(1).Buy(strategy.Amount(btc)) }}}}})
	candle := func(at market.Time) []market.Command {
		return b.engine.Step(&market.Event{Kind: market.KindCandles, At: at,
			Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
	}
	fill := func(id market.OrderID, side market.Side, price market.Price) {
		f := fillNumbered(byte(id), id, btc)
		f.Side, f.Price = side, price
		b.engine.Step(&market.Event{Kind: market.KindReport, At: b.engine.Now(),
			Report: reported(id, b.engine.Now(), market.StatusFilled, btc), Fills: []market.Fill{f}})
		require.NoError(t, b.engine.Err())
	}
	b.engine.Step(&market.Event{Kind: market.KindTransfer, At: start, Owner: 1, Asset: 1, Money: 100 * eur})
	require.Len(t, candle(start+minute), 1)
	fill(1, market.Buy, 105*at1)
	saved := saveAll(t, b.engine)
	var refused error
	b.account, b.engine = b.remake(&script{candle: func(d *strategy.Desk, _ market.Candle) {
		if _, refused = d.In(1).Buy(strategy.Amount(btc / 10)); refused != nil {
			d.In(1).Sell(strategy.Amount(btc))
		}
	}})
	_, err := b.engine.Restore(0, saved, nil)
	require.NoError(t, err)
	require.Equal(t, saved, saveAll(t, b.engine))
	available, held := b.account.Balance(1, 1)
	require.Equal(t, [2]market.Money{-5 * eur, 0}, [2]market.Money{available, held})
	require.Len(t, candle(start+2*minute), 1)
	require.ErrorContains(t, refused, "refused: ")
	fill(2, market.Sell, 107*at1)
	require.Len(t, candle(start+3*minute), 1)
	require.NoError(t, refused)
	require.NoError(t, b.account.Check())
}
