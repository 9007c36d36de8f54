package profit

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// dealt is a booked fill in BTC-EUR: whole coins, a price in euros, a fee in euros.
func dealt(by string, order market.OrderID, side market.Side, coins market.Qty, price market.Price, fee int64,
	at market.Time) journal.Booking {
	return journal.Booking{Kind: journal.BookedFill, StrategyName: by, Fill: market.Fill{ID: uuid.UUID{15: byte(order)},
		Market: 1, Order: order, Side: side, Settled: true, Amount: coins * 1e8, Price: price * 100,
		Fee: market.ValueOf(fee * 1e10), Time: at}}
}

// givenTo is a booked adoption in BTC-EUR.
func givenTo(from, to string, coins market.Money, cost, worth int64, at market.Time) journal.Booking {
	return journal.Booking{Kind: journal.BookedAdoption, StrategyName: from, To: to, Market: 1, Asset: 1, At: at,
		Money: coins * 1e8, Cost: market.ValueOf(cost * 1e10),
		Worth: journal.Worth{Known: true, Value: market.Money(worth * 100)}}
}

// adoptedShelf is a life of three strategies: grid buys 3 and sells 1, trend holds 1, trend takes
// over, a sale of before the adoption is heard of after it, and swing takes over from trend.
func adoptedShelf(t *testing.T) *shelf {
	s := newShelf(t)
	s.bookings = []journal.Booking{
		dealt("grid", 1, market.Buy, 3, 100, 3, 10),
		dealt("grid", 2, market.Sell, 1, 110, 1, 20),
		dealt("trend", 3, market.Buy, 1, 150, 1, 25),
		givenTo("grid", "trend", 2, 202, 220, 30),
		dealt("trend", 5, market.Sell, 1, 130, 1, 40),
		dealt("trend", 4, market.Sell, 1, 120, 0, 28), // the bot heard of it late
		givenTo("trend", "swing", 1, 118, 140, 50),
		dealt("swing", 6, market.Sell, 1, 140, 0, 60),
	}
	return s
}

func TestAnAdoptedPositionIsSoldAtItsCost(t *testing.T) {
	s := adoptedShelf(t)
	list, err := Trades(s, &Query{}, 0)
	require.NoError(t, err)
	type row struct {
		order                   int64
		strategy, entry, profit string
		entered                 int64
	}
	var rows []row
	for _, one := range list.Trades {
		rows = append(rows, row{one.Order, one.Strategy, one.Entry, one.Profit, one.EnteredMS})
	}
	// trend has 2 + 1 coins for 202 + 151 when it sells: order 4 takes a third, order 5 the half of
	// the rest.
	require.Equal(t, "grid", rows[0].strategy)
	require.Equal(t, "8", rows[0].profit, "110 - 1 less a third of 303")
	require.Equal(t, "trend trend swing", rows[1].strategy+" "+rows[2].strategy+" "+rows[3].strategy)
	require.Equal(t, []int64{4, 5, 6}, []int64{rows[1].order, rows[2].order, rows[3].order})
	require.Equal(t, "2.3333333334", rows[1].profit, "120 less a third of 353, whatever it is booked after")
	require.Equal(t, "11.3333333333", rows[2].profit)
	require.Equal(t, "22", rows[3].profit, "140 less the cost that was booked")
	for _, name := range []string{"grid", "trend", "swing"} {
		alone, err := Trades(s, &Query{Strategy: name}, 0)
		require.NoError(t, err)
		var want []RoundTrip
		for _, one := range list.Trades {
			if one.Strategy == name {
				want = append(want, one)
			}
		}
		require.Equal(t, want, alone.Trades, "a question about %s alone", name)
	}
	report, err := Profit(s, &Query{By: ByStrategy}, func(market.ID) market.Price { return 1 }, 100)
	require.NoError(t, err)
	realised := map[string]string{}
	for _, g := range report.Groups {
		realised[g.Name] = g.Realised
	}
	require.Equal(t, map[string]string{"grid": "8", "trend": "13.6666666667", "swing": "22"}, realised)
	require.Equal(t, "0", report.Total.Unrealised)
}

// An adoption is a flow of both strategies and none of the account; what the position has gained is
// no profit of the new one.
func TestAnAdoptionIsAFlowOfBothStrategies(t *testing.T) {
	s := newShelf(t)
	s.bookings = []journal.Booking{
		{Kind: journal.BookedTransfer, StrategyName: "grid", Asset: 3, Money: 500_00, At: 1,
			Worth: journal.Worth{Known: true, Value: 500_00, Equity: 500_00}},
		dealt("grid", 1, market.Buy, 2, 100, 0, 10),
		givenTo("grid", "swing", 2, 200, 240, 30),
		{Kind: journal.BookedAdoption, StrategyName: "grid", To: "swing", Asset: 3, Money: 300_00, At: 30,
			Worth: journal.Worth{Known: true, Value: 300_00}},
	}
	s.samples["grid"] = []journal.EquitySample{{At: 5}, {At: 30, Equity: 40_00}}
	s.samples["swing"] = []journal.EquitySample{{At: 40, Equity: 40_00}, {At: 50, Equity: 60_00}}
	s.samples[""] = []journal.EquitySample{{At: 5, Equity: 500_00}, {At: 30, Equity: 540_00}, {At: 50, Equity: 560_00}}
	ends := func(strategy string) (first, last string, weighted float64) {
		c, err := Equity(s, &Query{Strategy: strategy}, 100)
		require.NoError(t, err)
		require.False(t, c.Earned)
		return c.Samples[0].Equity, c.Samples[len(c.Samples)-1].Equity, *c.TimeWeighted
	}
	_, last, weighted := ends("grid")
	require.Equal(t, "0", last)
	require.InDelta(t, 0.08, weighted, 1e-9, "40 of 500")
	_, last, weighted = ends("swing")
	require.Equal(t, "560", last)
	require.InDelta(t, 20.0/540, weighted, 1e-9, "the 40 of before are the other's")
	_, last, weighted = ends("")
	require.Equal(t, "560", last)
	require.InDelta(t, 0.12, weighted, 1e-9)
}
