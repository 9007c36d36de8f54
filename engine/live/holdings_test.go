package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// idle trades nothing.
type idle struct{ strategy.Base }

// take moves money out of the account, or into it, and lets the account's history tell of as much.
func (r *rig) take(asset market.AssetID, money, told market.Money) {
	r.box.mu.Lock()
	defer r.box.mu.Unlock()
	require.NoError(r.t, r.box.venue.Deposit(asset, -money))
	if told != 0 {
		r.box.moved = append(r.box.moved, exchange.Movement{At: boxNow(), Kind: "withdrawal", Asset: asset, Money: -told})
	}
}

func TestOnlyAnUnexplainedShortfallHalts(t *testing.T) {
	for name, c := range map[string]struct {
		money, told, lacks market.Money // lacks: what the books have too much in the end
		halted             bool
		says               string
	}{
		"all of it is told":       {100_00, 100_00, 0, false, "explained by withdrawal, -100; taken out of the books"},
		"none of it is told":      {100_00, 0, 100_00, true, "not explained: the account's history has no movement, and nobody else has traded; halted"},
		"a part of it is told":    {100_00, 60_00, 100_00, true, "explained in part by withdrawal, -60: -40 is not; halted"},
		"a unit less is rounding": {100_00, 99_99, 0, false, "explained by withdrawal, -99.99; taken out of the books"},
		"more than ever came":     {-70_00, 0, -70_00, false, "not explained: the account's history has no movement, and nobody else has traded; what the books do not have is nobody's, and is not traded"},
		"a deposit":               {-70_00, -70_00, -70_00, false, "explained by withdrawal, 70; what the books do not have is nobody's, and is not traded"},
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

// Orders are placed and filled between what the balances tell of and their arrival, with nothing in flight at either end.
func TestBalancesSayNothingOfBooksThatMovedMeanwhile(t *testing.T) {
	agreed := 0
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, seed, 0)
			r.box.late = 4 * time.Second
			require.NoError(t, r.trade(1, 5*time.Minute))
			require.Empty(t, r.journal.concluded, "seed %d", seed)
			agreed += len(r.loop.holdings.agreed)
		})
	}
	require.Positive(t, agreed, "there are moments at which they tell something")
}

func TestMoneyThatHasLeftIsTakenFromThePoolAndFromPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1, 0)
		r.player = &idle{}
		r.begin()
		r.journal.engine.Step(&market.Event{At: boxNow(), Kind: market.KindTransfer, Asset: 2, Money: 3, Owner: 1, Market: 1, Price: 100_00})
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
