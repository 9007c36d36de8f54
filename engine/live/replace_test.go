package live

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

const eighth = market.Qty(12500000)

// requote replaces order 1.
func requote(size market.Qty, price market.Price) func(*strategy.Desk) {
	return func(d *strategy.Desk) {
		_, _ = d.In(1).Buy(strategy.Amount(size), strategy.At(price), strategy.Replacing(1))
	}
}

// A replacement leaves once the exchange has confirmed the end of the order, and only then.
func TestAReplacementWaitsForTheExchange(t *testing.T) {
	for _, c := range []struct {
		name  string
		meets func(*exchange.Intent) fate
		heard []string // of both orders
		left  int      // seconds after which it has left; 0: it is dropped
	}{
		{"the cancel is answered", nil, []string{"new", "canceled", "new"}, 2},
		{"the cancel is lost", first(market.CommandCancel, isLost), []string{"new", "unknown cancel", "new",
			"rejected cancel", "rejected place"}, 0},
		{"the answer is lost", first(market.CommandCancel, goesUnheard), []string{"new", "unknown cancel", "canceled",
			"new"}, 5},
		{"the exchange refuses", first(market.CommandCancel, isRefused), []string{"new", "rejected cancel",
			"rejected place"}, 0},
		{"the cancel cannot be sent", first(market.CommandCancel, isUnsent), []string{"new", "rejected cancel",
			"rejected place"}, 0},
		{"the exchange does nothing", first(market.CommandCancel, isFeigned), []string{"new", "rejected cancel",
			"rejected place"}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, c.meets, bid(80_00), nil, nil, requote(eighth, 85_00))
			p.run()
			p.tick(4 + c.left)
			if c.left == 0 {
				p.tick(40)
			}
			_, first := p.own(1)
			_, second := p.own(2)
			require.Equal(t, [2]bool{c.left == 0, c.left != 0}, [2]bool{first, second}, c.name)
			require.Equal(t, c.heard, slices.Compact(p.s.heard), c.name)
			p.end()
			p.agree()
		})
	}
}

// Whatever becomes of the cancel and of the new order, and wherever the process is killed: the new
// order never comes to the exchange while the old one rests there, and the books are right.
func TestAReplacementThroughFaultsAndKills(t *testing.T) {
	fates := []fate{arrives, isLost, goesUnheard, isFeigned, isRefused, isUnsent}
	// order 1 leaves after commit 4, its cancel after commit 6, the new one after commit 8
	const firstKill, kills = 2*5 - 1, 22
	left, played := 0, 0
	for n := range len(fates) * len(fates) * kills {
		kill, cancel, place := n%kills, n/kills%len(fates), n/kills/len(fates)
		if place != (cancel+kill)%len(fates) && *lossySeeds <= 40 { // with -seeds 41 all of them are played
			continue
		}
		dies := 0
		if kill > 0 {
			dies = firstKill + kill - 1
		}
		synctest.Test(t, func(t *testing.T) { left += replaceAndKill(t, dies, fates[cancel], fates[place]) })
		if t.Failed() {
			t.Fatalf("cancel %d, place %d, killed at %d", cancel, place, dies)
		}
		played++
	}
	t.Logf("%d of %d replacements left", left, played)
	require.Greater(t, left, 10)
}

// replaceAndKill lets a bot replace an order and die, and begins it again. It returns how often the
// replacement left.
func replaceAndKill(t *testing.T, dies int, cancelMeets, placeMeets fate) (sent int) {
	r := newRig(t, uint64(dies), 0)
	r.player = &actor{acts: []func(*strategy.Desk){bid(97_00), requote(eighth/2, 96_00)}}
	r.journal.dies = dies
	var old uuid.UUID
	cancels := first(market.CommandCancel, cancelMeets)
	r.box.meets = func(i *exchange.Intent) fate {
		switch {
		case i.Command == market.CommandPlace && i.Order == 1:
			old = i.ClientOrderID
		case i.Command == market.CommandPlace && i.Order == 2:
			sent++
			record := r.box.records[old]
			require.True(t, record == nil || record.Order.Done(), "the old order rests at the exchange")
			if sent == 1 {
				return placeMeets
			}
		case i.Command == market.CommandCancel:
			return cancels(i)
		}
		return arrives
	}
	r.begin()
	if err := r.trade(uint64(dies), 40*time.Second); !errors.Is(err, errKilled) {
		require.NoError(t, err, "killed at %d", dies)
	}
	r.journal.dies = 0
	r.player = &actor{}
	before := sent
	r.begin()
	require.NoError(t, r.trade(uint64(dies), 30*time.Second))
	require.LessOrEqual(t, sent, 1)
	require.True(t, sent == before || dies > 0)
	r.agree()
	return sent
}
