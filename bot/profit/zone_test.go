package profit

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// A state file keeps a sample each quarter of an hour of old days: enough for the days of every
// time zone. The twin has all samples.
func TestOldDaysOfEveryZoneAreThoseOfAllSamples(t *testing.T) {
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 3))
	twin := newShelf(t)
	store, err := journal.Open(filepath.Join(t.TempDir(), "bot.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	require.NoError(t, store.Bind(twin.catalog, nil))
	batch := store.NewBatch()
	batch.Start(1, &journal.Start{Currency: "EUR"})
	at, equity := market.Time(1_774_500_000_000_000_000), market.Money(0) // March 2026: clocks change
	end := at + 6*24*hour
	transfer := func(money market.Money) {
		moved := market.Event{At: at + 1, Kind: market.KindTransfer, Asset: 3, Money: money}
		worth := journal.Worth{Known: true, Value: money, Equity: equity + money}
		batch.Transfer(&moved, worth)
		twin.bookings = append(twin.bookings, journal.Booking{Kind: journal.BookedTransfer, At: at + 1, Asset: 3,
			Money: money, Worth: worth})
		equity += money
	}
	for transfer(1_000_000); at < end; {
		at += market.Time(time.Minute) - market.Time(chance.Int64N(int64(time.Second)))
		equity += market.Money(chance.Int64N(2001) - 1000)
		one := journal.EquitySample{At: at, Equity: equity, Low: equity - 5, High: equity + 5}
		batch.Equity(one)
		twin.samples[""] = append(twin.samples[""], one)
		if chance.IntN(600) == 0 {
			transfer(market.Money(1 + chance.Int64N(1e5)))
		}
	}
	require.NoError(t, store.Commit(batch))
	stored, err := store.Equity("", 0, end-3*24*hour)
	require.NoError(t, err)
	require.LessOrEqual(t, len(stored), 3*24*4+1, "quarters of an hour alone")
	for _, zone := range []string{"UTC", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Eucla", "Pacific/Chatham",
		"America/St_Johns", "Australia/Lord_Howe", "Europe/Berlin"} {
		have, err := Profit(store, &Query{Zone: zone}, nil, end)
		require.NoError(t, err)
		want, err := Profit(twin, &Query{Zone: zone}, nil, end)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(want.Groups), 6, zone)
		require.Len(t, have.Groups, len(want.Groups), zone)
		for i, w := range want.Groups {
			h := have.Groups[i]
			require.Equal(t, []string{w.Name, w.Equity, w.Unrealised, w.Flows},
				[]string{h.Name, h.Equity, h.Unrealised, h.Flows}, "%s, seed %d", zone, seed)
			require.InDelta(t, *w.Return, *h.Return, 1e-9, "%s %s, seed %d", zone, w.Name, seed)
		}
	}
}
