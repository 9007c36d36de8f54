package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// idle trades nothing.
type idle struct{ strategy.Base }

// take moves money out of the exchange's account, or into it, and adds told to the account's
// history.
func (r *rig) take(asset market.AssetID, money, told market.Money) {
	r.box.mu.Lock()
	defer r.box.mu.Unlock()
	require.NoError(r.t, r.box.venue.Deposit(asset, -money))
	if told != 0 {
		r.box.moved = append(r.box.moved, exchange.Movement{At: boxNow(), Kind: "withdrawal", Asset: asset,
			Money: -told})
	}
}

func TestOnlyAnUnexplainedShortfallHalts(t *testing.T) {
	for name, c := range map[string]struct {
		money, told, lacks market.Money // lacks: what the books have too much in the end
		halted             bool
		says               string
	}{
		"all of it is told": {100_00, 100_00, 0, false,
			"explained by withdrawal, -100; taken out of the books: shared 100"},
		"none of it is told": {100_00, 0, 100_00, true,
			"not explained: the account's history has no movement, and no other program has traded; halted"},
		"a part of it is told": {100_00, 60_00, 100_00, true,
			"explained in part by withdrawal, -60: -40 is not; halted"},
		"a unit less is rounding": {100_00, 99_99, 0, false,
			"explained by withdrawal, -99.99; taken out of the books: shared 100"},
		"more than ever came": {-70_00, 0, -70_00, false,
			"not explained: the account's history has no movement, and no other program has traded; " +
				"the surplus is unallocated, and is not traded"},
		"a deposit": {-70_00, -70_00, -70_00, false,
			"explained by withdrawal, 70; the surplus is unallocated, and is not traded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 1, 0)
				r.player = &idle{}
				r.begin()
				go func() {
					time.Sleep(70 * time.Second)
					r.take(1, c.money, c.told)
				}()
				require.NoError(t, r.trade(1, 5*time.Minute))
				require.Equal(t, []string{c.says}, r.journal.concluded, "it is said once")
				require.Equal(t, c.lacks, r.account.Total(1).Total-r.box.venue.Balance(1).Total)
				_, halted := r.journal.engine.Halted(1)
				require.Equal(t, c.halted, halted)
				require.NoError(t, r.account.Check())
			})
		})
	}
}

// Orders are placed and filled between what the balances tell of and their arrival, with nothing in
// flight at either end.
func TestBalancesSayNothingOfBooksThatMovedMeanwhile(t *testing.T) {
	agreed, seeds := 0, uint64(20)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, seed, 0)
			r.box.late = 4 * time.Second
			require.NoError(t, r.trade(1, 5*time.Minute))
			require.Empty(t, r.journal.concluded, "seed %d", seed)
			agreed += len(r.loop.holdings.checkpoints)
		})
	}
	require.Positive(t, agreed, "there are moments at which they tell something")
}

// Two comparisons in a row miss an own fill each, of the same size; the second is booked while the
// trades are asked for. The balance then looks short, and is not.
func TestTwoFillsThatAreAlikeAreNoShortfall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil)
		now := p.loop.stamp()
		q := inquiry{asked: now, books: p.loop.holdings.books(), surplus: map[market.AssetID]market.Money{1: -5_00}}
		p.loop.step(&market.Event{Kind: market.KindTransfer, Asset: 1, Money: -5_00}) // as the fill does
		p.loop.holdings.explain(&q, nil)
		require.Empty(t, p.journal.concluded)
		_, halted := p.loop.Engine.Halted(1)
		require.False(t, halted)

		q.books = p.loop.holdings.books()
		p.loop.holdings.explain(&q, nil)
		require.Len(t, p.journal.concluded, 1, "books that stand still speak")
	})
}

func TestMoneyThatHasLeftIsTakenFromThePoolAndFromPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1, 0)
		r.player = &idle{}
		r.begin()
		r.journal.engine.Step(&market.Event{At: boxNow(), Kind: market.KindTransfer, Asset: 2, Money: 3, Owner: 1,
			Market: 1, Price: 100_00})
		require.NoError(t, r.box.venue.Deposit(2, 3))
		go func() {
			time.Sleep(70 * time.Second)
			r.take(2, 2, 2)
		}()
		require.NoError(t, r.trade(1, 5*time.Minute))
		require.Len(t, r.journal.concluded, 1)
		require.EqualValues(t, 1, r.account.Position(1, 1).Amount)
		require.Equal(t, r.box.venue.Balance(2).Total, r.account.Total(2).Total)
	})
}

// Whose trades are told apart by the client's names, and nothing is certain while one of ours is
// not booked or a fee is not known.
func TestOnlyTradesOfOthersMoveWhatIsNobodys(t *testing.T) {
	pending, ended, other := uuid.UUID{1}, uuid.UUID{2}, uuid.UUID{3}
	known := market.Fill{ID: uuid.UUID{11}, Order: 1, Market: 1, Side: market.Buy, Amount: 1, Price: 1, Settled: true}
	fill := market.Fill{ID: uuid.UUID{12}, Market: 1, Side: market.Buy, Amount: 1_00000000, Price: 100_00,
		Fee: market.ValueOf(0), Settled: true, Time: 5}
	unsettled := fill
	unsettled.Settled = false
	for name, c := range map[string]struct {
		trade exchange.Trade
		moved int // base and quote
		lacks lack
	}{
		"not the bot's":              {exchange.Trade{Fill: fill, ClientOrderID: other}, 2, 0},
		"by hand":                    {exchange.Trade{Fill: fill}, 2, 0},
		"not the bot's, unsettled":   {exchange.Trade{Fill: unsettled, ClientOrderID: other}, 0, foreignFee},
		"own, booked":                {exchange.Trade{Fill: known, ClientOrderID: pending}, 0, 0},
		"own, not booked":            {exchange.Trade{Fill: fill, ClientOrderID: pending}, 0, ownFill},
		"of an own order that ended": {exchange.Trade{Fill: fill, ClientOrderID: ended}, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, nil)
			p.loop.Owns = func(client uuid.UUID) bool { return client == ended }
			own := p.account.Send(&market.Order{ID: 1, ClientOrderID: pending, Market: 1, Strategy: 1, Side: market.Buy,
				Type: market.TypeLimit, OrderState: market.OrderState{Amount: 8}}, 0)
			own.InFlight, own.State = 0, state.Open
			p.loop.stamp()
			q := p.loop.queryOf(1)
			q.at(p.loop.now.Add(time.Hour))
			p.loop.step(&market.Event{Kind: market.KindFill, Market: 1, Fills: []market.Fill{known}})
			one := inquiry{trades: []exchange.Trade{c.trade}, markets: []market.ID{1}}
			moved, lacks := p.loop.holdings.foreignTrades(&one)
			require.Equal(t, c.lacks, lacks, name)
			require.Len(t, moved, c.moved, name)
			require.Equal(t, name == "own, not booked", q.next == p.loop.now, "it is asked for at once")
		})
	}
}

func TestOnlyMovementsBetweenTwoLooksExplain(t *testing.T) {
	x := explanation{asset: &market.Asset{ID: 1}, from: 10, to: 20}
	for _, m := range []exchange.Movement{{At: 9, Asset: 1, Money: 1}, {At: 10, Asset: 1, Money: 2},
		{At: 19, Asset: 1, Money: 4}, {At: 20, Asset: 1, Money: 8}, {At: 15, Asset: 2, Money: 16}} {
		x.add([]exchange.Movement{m})
	}
	require.EqualValues(t, 6, x.moved)
}

func TestWhatOrdersHoldIsNotTakenOutOfTheBooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil)
		p.loop.stamp()
		all := p.account.Total(1).Total
		p.account.Send(&market.Order{ID: 1, Market: 1, Strategy: 1, Side: market.Buy, Type: market.TypeLimit,
			OrderState: market.OrderState{Amount: 8}}, all-10)
		require.False(t, p.loop.holdings.canCorrect(1, 11))
		require.True(t, p.loop.holdings.canCorrect(1, 10))
		require.Equal(t, "shared 0.1", p.loop.holdings.correct(p.account.Catalog().Asset(1), 10, nil))
		require.Equal(t, all-10, p.account.Total(1).Total)
	})
}

// An own order has filled, and for a minute no answer tells of it: two comparisons show one
// difference.
func TestAFillThatIsNotBookedIsNoSurplus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.run()
		p.tick(2)
		p.box.deafen("order")
		p.box.move(70_00)
		p.tick(75)
		require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
			for _, c := range p.loop.holdings.checkpoints { // of the start, where all was equal
				require.Zero(t, c.Surplus)
			}
		}))
		p.box.deafen("")
		p.tick(120)
		require.Equal(t, 1, p.s.fills)
		require.Empty(t, p.journal.concluded)
		require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
			require.Len(t, p.loop.holdings.checkpoints, 2)
			for _, c := range p.loop.holdings.checkpoints {
				require.Zero(t, c.Surplus)
			}
		}))
		p.end()
		p.agree()
	})
}

// A shortfall cannot be explained for minutes: the balances are compared as often as ever.
func TestAShortfallThatIsNotExplainedYetAsksNoMoreThanBefore(t *testing.T) {
	for _, deaf := range []string{"trades", ""} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 1, 0)
			r.player = &idle{}
			r.begin()
			go func() {
				time.Sleep(70 * time.Second)
				r.take(1, 100_00, 0)
				r.box.deafen(deaf)
				r.box.mu.Lock()
				defer r.box.mu.Unlock()
				r.box.theirs = append(r.box.theirs, exchange.Trade{Fill: market.Fill{ID: uuid.UUID{7}, Market: 1,
					Side: market.Buy, Amount: 1, Price: 100_00, Time: boxNow()}})
			}()
			require.NoError(t, r.trade(1, 10*time.Minute))
			require.Len(t, r.journal.concluded, 1, "it is said once")
			require.Contains(t, r.journal.concluded[0], "not booked yet")
			require.Less(t, r.box.balances, 25, "ten minutes, each 30 s")
		})
	}
}

// A start finds less base than the books have. What is not explained is told at once, and again
// when the regular comparison halts; what is explained names its strategy.
func TestAShortfallAtAStartIsNeverSilent(t *testing.T) {
	const booked = "explained by withdrawal, -0.00000002; taken out of the books: restless 0.00000002"
	const nothing = "not explained: the account's history has no movement, and no other program has traded; "
	const again = "; not booked yet, the balances are compared again"
	for name, c := range map[string]struct {
		told   market.Money // by the account's history
		deaf   string       // at the start
		trade  *exchange.Trade
		says   []string
		halted bool
	}{
		"explained":     {told: 2, says: []string{booked}},
		"not explained": {says: []string{nothing + again[2:], nothing + "halted"}, halted: true},
		"no history": {deaf: "trades", told: 2, says: []string{"what moved it could not be asked for: " +
			errLost.Error() + again, booked}},
		"a fee is not settled": {trade: &exchange.Trade{Fill: market.Fill{ID: uuid.UUID{7}, Market: 1,
			Side: market.Sell, Amount: 2, Price: 100_00}}, says: []string{
			"a trade that is not the bot's has no settled fee yet" + again}},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 1, 0)
			r.player = &idle{}
			r.begin()
			r.journal.engine.Step(&market.Event{At: boxNow(), Kind: market.KindTransfer, Asset: 2, Money: 3, Owner: 1,
				Market: 1, Price: 100_00})
			require.NoError(t, r.box.venue.Deposit(2, 3))
			require.NoError(t, r.trade(1, 2*time.Minute))
			require.Empty(t, r.journal.concluded)
			r.take(2, 2, c.told)
			if c.trade != nil {
				c.trade.Time = boxNow()
				r.box.theirs = append(r.box.theirs, *c.trade)
			}
			r.box.deafen(c.deaf)
			r.begin()
			go func() {
				time.Sleep(10 * time.Second)
				r.box.deafen("")
			}()
			require.NoError(t, r.trade(1, 5*time.Minute))
			require.Equal(t, c.says, r.journal.concluded, name)
			_, halted := r.journal.engine.Halted(1)
			require.Equal(t, c.halted, halted, name)
		})
	}
}

// A market that has gone tells of no trade, and one that the exchange has just dropped refuses the
// question. A shortfall of its base may be a fill of an own order there: it is said, and halts
// nothing.
func TestAMarketThatHasGoneExplainsNoBalance(t *testing.T) {
	for name, gone := range map[string]bool{"it refuses the question": false, "the books know it": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := playing(t, nil)
				m := p.account.Catalog().Market(1)
				q := inquiry{asked: p.loop.stamp(), books: p.loop.holdings.books(),
					surplus: map[market.AssetID]market.Money{m.Base: -5_00}}
				if gone {
					m.Status = market.Delisted
					p.loop.holdings.fetched(&q, nil)
				} else {
					p.loop.holdings.fetched(&q, exchange.Invalid("market"))
				}
				require.Len(t, p.journal.concluded, 1)
				require.Regexp(t, "not booked yet, the balances are compared again$", p.journal.concluded[0])
				_, halted := p.journal.engine.Halted(1)
				require.False(t, halted)
			})
		})
	}
}
