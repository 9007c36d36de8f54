package journal

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// One commit has the entry, both orders, both fills and their bookings.
func TestACrossIsInTheJournalWithBothOrders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.db")
	everyKind(t, path)
	s, err := Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
	b := s.NewBatch()
	want := crossed(b, 9_500_000)
	require.NoError(t, s.Commit(b))
	requireSound(t, s)

	for order, length := range map[market.OrderID]int{3: 2, 4: 1, 5: 1} {
		story, err := s.Story(order)
		require.NoError(t, err)
		require.Len(t, story, length)
		require.Equal(t, want, story[length-1].Record)
	}
	for _, order := range []market.OrderID{4, 5} {
		row, err := s.Order(order)
		require.NoError(t, err)
		require.Equal(t, state.Filled, row.State)
		fills, err := s.FillsOf(order)
		require.NoError(t, err)
		require.Len(t, fills, 1)
		require.True(t, fills[0].Crossed)
	}
	var booked []Booking
	require.NoError(t, s.Bookings(0, func(b *Booking) error {
		if b.Fill.Crossed {
			booked = append(booked, *b)
		}
		return nil
	}))
	require.Len(t, booked, 2)
	require.Equal(t, []string{"trend", "grid"}, []string{booked[0].StrategyName, booked[1].StrategyName})
	require.Equal(t, "entry", booked[1].Tag)
	for name, order := range map[string]market.OrderID{"trend": 4, "grid": 5} {
		found, _, err := s.Latest(&Wanted{Strategy: name, Kinds: []EntryKind{EntryCross}, Most: 9, Looks: 99})
		require.NoError(t, err)
		require.Len(t, found, 1, "it is an entry of both strategies")
		require.Equal(t, order, found[0].Order)
	}
	found, _, err := s.Latest(&Wanted{Order: 5, Most: 9, Looks: 99})
	require.NoError(t, err)
	require.Equal(t, "grid", found[0].Strategy)
}
