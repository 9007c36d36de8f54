package bottest

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// tripRow is a round trip, computed with big integers from the exchange's trades.
type tripRow struct {
	amount       int64
	profit, fees *big.Int
	exit         market.Time
}

// dayRow is what was earned on a UTC day, likewise.
type dayRow struct{ realised, fees, turnover *big.Int }

// naiveBooks are the books as the exchange's own records give them, in units of one number of
// decimals.
type naiveBooks struct {
	digits uint8
	trips  map[market.OrderID]*tripRow // by closing order
	days   map[string]*dayRow
}

func newNaiveBooks(digits uint8) *naiveBooks {
	return &naiveBooks{digits: digits, trips: map[market.OrderID]*tripRow{}, days: map[string]*dayRow{}}
}

// count adds a trade with what it has realised. before is the position without it.
func (n *naiveBooks) count(m *market.Market, t *exchange.Trade, before, after ledgerRow) {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.digits-m.ValueDigits)), nil)
	add := func(sum *big.Int, values ...*big.Int) {
		value := new(big.Int).Set(unit)
		for _, v := range values {
			value.Mul(value, v)
		}
		sum.Add(sum, value)
	}
	day := n.days[t.Time.Std().Format("2006-01-02")]
	if day == nil {
		day = &dayRow{new(big.Int), new(big.Int), new(big.Int)}
		n.days[t.Time.Std().Format("2006-01-02")] = day
	}
	gain := new(big.Int).Sub(after.realised, before.realised)
	add(day.realised, gain)
	add(day.fees, new(big.Int).Sub(after.fees, before.fees))
	add(day.turnover, big.NewInt(int64(t.Price)), big.NewInt(int64(t.Amount)))
	if t.Side == market.Buy || before.amount == 0 {
		return
	}
	trip := n.trips[t.Order]
	if trip == nil {
		trip = &tripRow{profit: new(big.Int), fees: new(big.Int)}
		n.trips[t.Order] = trip
	}
	trip.amount += int64(t.Amount)
	add(trip.profit, gain)
	trip.exit = max(trip.exit, t.Time)
}

// copied is the row without shared numbers.
func (w *ledgerRow) copied() ledgerRow {
	return ledgerRow{w.amount, new(big.Int).Set(w.cost), new(big.Int).Set(w.realised), new(big.Int).Set(w.fees)}
}

// sameBooks compares `bot trades`, `bot profit` and `bot equity` with the exchange's trades, to the
// last unit.
func (s *Books) sameBooks(store *journal.Store, want *naiveBooks) {
	t, m := s.T, s.Market()
	list, err := profit.Trades(store, &profit.Query{}, 0)
	require.NoError(t, err)
	require.True(t, slices.IsSortedFunc(list.Trades,
		func(a, b profit.RoundTrip) int { return cmp.Compare(a.ExitedMS, b.ExitedMS) }))
	sum := new(big.Int)
	for _, trade := range list.Trades {
		w := want.trips[market.OrderID(trade.Order)]
		require.NotNil(t, w, "a trip of order %d, which the exchange does not know", trade.Order)
		require.Equal(t, []string{m.FormatQty(market.Qty(w.amount)), w.profit.String()},
			[]string{trade.Amount, s.units(trade.Profit).String()}, "trip of order %d", trade.Order)
		require.Equal(t, w.exit.Millis(), trade.ExitedMS)
		sum.Add(sum, w.profit)
		delete(want.trips, market.OrderID(trade.Order))
	}
	require.Empty(t, want.trips, "round trips that bot trades lacks")
	s.sameProfit(store, want, sum)
	curve, err := profit.Equity(store, &profit.Query{}, 0)
	require.NoError(t, err)
	samples, err := store.Equity("", 0, 0)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(curve.Samples), len(samples))
	if !s.Trimmed { // the journal may lack transfers then
		s.sameFlows(store, curve)
	}
}

// sameFlows compares the flows of the curve with the transfers of the journal.
func (s *Books) sameFlows(store *journal.Store, curve *profit.Curve) {
	want, have := new(big.Int), new(big.Int)
	for _, entry := range s.entries(store, journal.EntryTransfer) {
		moved := entry.Record.(*journal.Transfer)
		if store.Catalog().Asset(moved.Asset).Symbol != curve.Currency {
			return // the curve has its value at that time
		}
		want.Add(want, big.NewInt(int64(moved.Money)))
	}
	for _, sample := range curve.Samples {
		if sample.Flow != "" {
			money, err := market.ParseFixed(sample.Flow, store.Catalog().AssetNamed(curve.Currency).Digits)
			require.NoError(s.T, err)
			have.Add(have, big.NewInt(money))
		}
	}
	require.Equal(s.T, want.String(), have.String(), "what came and left")
}

// units are the units of a value in the bot's currency.
func (s *Books) units(text string) *big.Int {
	v, err := market.ParseValue(text, s.digits())
	require.NoError(s.T, err)
	return unitsOf(s.T, v)
}

// digits are the most decimals of a value in any market.
func (s *Books) digits() (most uint8) {
	for _, m := range s.Units.Markets() {
		most = max(most, m.ValueDigits)
	}
	return most
}

// sameProfit compares each day and the total.
func (s *Books) sameProfit(store *journal.Store, want *naiveBooks, tripped *big.Int) {
	t := s.T
	for _, by := range []string{profit.ByDay, profit.ByStrategy, profit.ByMarket, profit.ByTag} {
		report, err := profit.Profit(store, &profit.Query{By: by}, func(market.ID) market.Price { return 0 }, 0)
		require.NoError(t, err)
		realised, total := new(big.Int), new(big.Int)
		for _, g := range report.Groups {
			realised.Add(realised, s.units(g.Realised))
			if w := want.days[g.Name]; by == profit.ByDay && w != nil {
				require.Equal(t, []string{w.realised.String(), w.fees.String(), w.turnover.String()}, []string{
					s.units(g.Realised).String(), s.units(g.Fees).String(), s.units(g.Turnover).String()}, g.Name)
			}
		}
		for _, w := range want.days {
			total.Add(total, w.realised)
		}
		if report.Currency == "" {
			continue // the bot died before its first commit
		}
		require.Equal(t, total.String(), realised.String(), "realised by %s", by)
		require.Equal(t, total.String(), s.units(report.Total.Realised).String(), "realised in all, by %s", by)
		require.Equal(t, total.String(), tripped.String(), "the profits of all round trips")
	}
}
