package sim

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// told is a bench that remembers what it hears.
func told(t *testing.T) (b *bench, reports *[]market.Report, fills *[]market.Fill) {
	b, reports, fills = newBench(t), &[]market.Report{}, &[]market.Fill{}
	b.venue.sink = func(ev *market.Event) {
		*reports = append(*reports, *ev.Report)
		*fills = append(*fills, ev.Fills...)
	}
	return b, reports, fills
}

func TestAnUpdatedOrderKeepsItsNameAndItsBirthday(t *testing.T) {
	b, reports, _ := told(t)
	b.place(market.Order{Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Price: 90_00, Amount: 1e6}})
	b.advance()
	before := b.venue.orders.Get(1).Order
	b.venue.Do(&market.Command{Kind: market.CommandUpdate, At: b.event.At, Changed: market.ChangePrice,
		Order: market.Order{ID: 1, OrderState: market.OrderState{Price: 91_00}}})
	b.advance()
	after := b.venue.orders.Get(1).Order
	require.Equal(t, before.ExchangeID, after.ExchangeID)
	require.Equal(t, before.Created, after.Created)
	require.Equal(t, before.Updated.Add(time.Minute), after.Updated)
	require.Equal(t, market.ExecUpdated, (*reports)[1].Exec)
	require.Equal(t, market.Price(91_00), (*reports)[1].Price)
}

// The names of orders and fills say which market and which number; nothing is drawn by chance.
func TestNamesAreCountedAndNeverRepeated(t *testing.T) {
	b, reports, fills := told(t)
	for range 3 {
		b.place(market.Order{Side: market.Buy, Type: market.TypeMarket, OrderState: market.OrderState{Amount: 1e6}})
	}
	b.advance()
	seen := map[string]bool{}
	for i := range 3 {
		seen[(*reports)[i].ExchangeID.String()] = true
		seen[(*fills)[i].ID.String()] = true
	}
	require.Len(t, seen, 6)
	require.Equal(t, "00000000-0000-0001-0100-000000000001", (*reports)[0].ExchangeID.String())
	require.Equal(t, "00000000-0000-0001-0000-000000000003", (*fills)[2].ID.String())
}

func TestFillsCarryWhoTradedAndWhere(t *testing.T) {
	b, _, fills := told(t)
	b.place(market.Order{Side: market.Sell, Type: market.TypeLimit,
		OrderState: market.OrderState{Price: 102_00, Amount: 1e6}, Strategy: 3})
	b.advance()
	f := (*fills)[0]
	f.ID = [16]byte{}
	want := market.Fill{Order: 1, Market: 1, Strategy: 3, Side: market.Sell, Settled: true, FeeCurrency: 2,
		Price: 102_00, Amount: 1e6, Time: f.Time}
	require.Equal(t, want, f)
	require.Equal(t, market.Time(0).Add(35*time.Second), f.Time) // 99 at 20 s, 103 at 40 s, 102 on the way
}

// What is heard of a path comes in its order: the fill at 99.50 between the open and the low.
func TestTheFourPointsOfAFollowedPathAreToldBetweenItsFills(t *testing.T) {
	var heard []string
	b := newBench(t)
	b.venue.config.Followed, b.venue.config.Point = []bool{false, true}, func(path []PathPoint) int {
		for _, p := range path {
			require.Equal(t, b.candle[0], *p.Candle)
			heard = append(heard, fmt.Sprint(p.At.Sub(p.Candle.Start), " ", p.Price))
		}
		return len(path)
	}
	b.venue.sink = func(ev *market.Event) {
		if len(ev.Fills) > 0 {
			heard = append(heard, fmt.Sprint("fill ", ev.Fills[0].Price))
		}
	}
	b.advance() // nobody waits for anything, and yet it is walked
	require.Equal(t, []string{"0s 10000", "20s 9900", "40s 10300", "1m0s 10100"}, heard)
	heard = nil
	b.place(market.Order{Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Price: 99_50, Amount: 1e6}})
	b.advance()
	require.Equal(t, []string{"0s 10000", "fill 9950", "20s 9900", "40s 10300", "1m0s 10100"}, heard)
}

// A candle between the calm prices may be passed over: the venue is as if it had seen it.
func TestCalmCandlesMayBePassed(t *testing.T) {
	b := newBench(t)
	b.rest(2)
	low, high := b.venue.QuietRange(1)
	require.Equal(t, market.Price(90_00), low)
	require.Equal(t, market.Price(110_01), high)
	b.candle[0].Close = 102_00
	b.venue.SkipTo(&b.candle[0])
	require.Equal(t, market.Price(102_00), b.venue.Last(1))
	b.place(market.Order{Side: market.Buy, Type: market.TypeMarket, OrderState: market.OrderState{Amount: 1e6}})
	low, high = b.venue.QuietRange(1)
	require.Greater(t, low, high, "a command on its way leaves no calm")
}

func TestWatchedPricesEndTheQuietRange(t *testing.T) {
	b := newBench(t)
	w := b.venue.books[1].watch
	w.Below, w.Above = 95_00, 105_00
	low, high := b.venue.QuietRange(1)
	require.Equal(t, [...]market.Price{95_00, 105_00}, [...]market.Price{low, high})
	w.Below, w.Above = 0, 0
	low, high = b.venue.QuietRange(1)
	require.Less(t, low, market.Price(0))
	require.Equal(t, market.Price(math.MaxInt64), high)
	for _, never := range [...]market.Watch{{Peak: 110_00}, {Open: true}, {Tactic: true}} {
		*w = never
		low, high = b.venue.QuietRange(1)
		require.Greater(t, low, high, "%+v", never)
	}
}

func TestACancelledOrderNoLongerDisturbsTheCalm(t *testing.T) {
	b := newBench(t)
	b.place(market.Order{Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Price: 90_00, Amount: 1e6}})
	b.advance()
	require.True(t, b.venue.Cancel(1, 0, market.CancelOnDisconnect))
	require.False(t, b.venue.Cancel(1, 0, market.CancelOnDisconnect), "it is gone")
	low, _ := b.venue.QuietRange(1)
	require.Negative(t, low)
	check(t, b.venue)
}

// An order whose value does not fit stops the venue: it says so and does nothing more.
func TestOverflowStopsTheVenue(t *testing.T) {
	b := newBench(t)
	require.ErrorIs(t, b.venue.Deposit(1, 1<<63-1), market.ErrOverflow)
	b.venue.solo.balances[2].Total = 1<<63 - 1_000_00 // a sale would not fit
	b.place(market.Order{Side: market.Sell, Type: market.TypeMarket, OrderState: market.OrderState{Amount: 1e10}})
	b.event.At = b.candle[0].End()
	require.ErrorIs(t, b.venue.Advance(&b.event), market.ErrOverflow)
}

func TestSettingsAreReadAsTheyAreWritten(t *testing.T) {
	for path := Adaptive; path <= Optimistic; path++ {
		got, err := ParsePath(path.String())
		require.NoError(t, err)
		require.Equal(t, path, got)
	}
	for fill := Touch; fill <= Through; fill++ {
		got, err := ParseLimitFill(fill.String())
		require.NoError(t, err)
		require.Equal(t, fill, got)
	}
	_, err := ParsePath("straight")
	require.ErrorContains(t, err, "adaptive")
	_, err = ParseLimitFill("never")
	require.ErrorContains(t, err, "touch")
}

// The level at which a trigger fires is found by arithmetic; trying all prices finds the same.
func TestFireLevelIsWhereTheReferenceTurns(t *testing.T) {
	b := newBench(t)
	book := &b.venue.books[1]
	for _, half := range [...]market.Rate{0, 1, 333_333, 5_000_000} {
		book.spread.Half = half
		for reference := market.LastTrade; reference <= market.MidPrice; reference++ {
			for _, side := range [...]market.Side{market.Buy, market.Sell} {
				o := market.Order{Side: side, Type: market.TypeStopLoss,
					OrderState: market.OrderState{TriggerAmount: 500}, TriggerReference: reference}
				level := book.fireLevel(&o)
				for p := market.Price(400); p <= 600; p++ {
					reached := p >= level
					if firesBelow(&o) {
						reached = p <= level
					}
					require.Equal(t, reached, book.fires(&o, p), "%s %s, half spread %d, at %d", side, reference,
						half, p)
				}
			}
		}
	}
}
