package assumptions

import (
	"math"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/orderlog"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// How a time at rest counts: each row is its candles, and what is made of them.
func TestAWaitEndsAtItsFirstFillOrWhatComesBefore(t *testing.T) {
	const start = worldFrom
	touch := orderlog.Touch{}
	fill, through, partial := orderlog.Touch{Filled: 2}, orderlog.Touch{Through: true}, orderlog.Touch{Partial: true}
	partialFill, throughFill := orderlog.Touch{Partial: true, Filled: 4}, orderlog.Touch{Through: true, Filled: 4}
	for _, row := range []struct {
		name    string
		touches []orderlog.Touch
		end     orderlog.Ending
		want    Wait
		none    bool
		through throughs
	}{
		{name: "no candle touched it", end: orderlog.EndCanceled, none: true},
		{name: "filled in the second", touches: []orderlog.Touch{touch, fill, touch}, end: orderlog.EndFilled,
			want: Wait{Candles: 2, Filled: true, Share: 0.5}},
		{name: "canceled after two", touches: []orderlog.Touch{touch, touch}, end: orderlog.EndCanceled,
			want: Wait{Candles: 2, Canceled: true}},
		{name: "moved after one", touches: []orderlog.Touch{touch}, end: orderlog.EndUpdated,
			want: Wait{Candles: 1, Canceled: true}},
		{name: "expired after one", touches: []orderlog.Touch{touch}, end: orderlog.EndExpired, want: Wait{Candles: 1}},
		{name: "traded through in the second, and filled", touches: []orderlog.Touch{touch, throughFill},
			end: orderlog.EndFilled, want: Wait{Candles: 1}, through: throughs{1, 1}},
		{name: "traded through at once, and not filled", touches: []orderlog.Touch{through}, end: orderlog.EndCanceled,
			none: true, through: throughs{1, 0}},
		{name: "arrived late in the first", touches: []orderlog.Touch{partial, fill}, end: orderlog.EndFilled,
			want: Wait{Candles: 1, Filled: true, Share: 0.5}},
		{name: "filled in the candle of its arrival", touches: []orderlog.Touch{partialFill}, end: orderlog.EndFilled,
			none: true},
	} {
		r := orderlog.Rest{From: start, To: start + 10*oneMinute, Known: start + 10*oneMinute,
			Interval: market.Interval1m,
			Price:    1, Amount: 4, End: row.end}
		for i, one := range row.touches {
			one.Start = start + market.Time(i)*oneMinute
			r.Touches = append(r.Touches, one)
		}
		seen := throughs{}
		w, ok := waitOf(&market.Market{}, &orderlog.Order{}, &r, &seen)
		require.Equal(t, !row.none, ok, row.name)
		require.Equal(t, row.through, seen, row.name)
		if w.Value = 0; ok {
			require.Equal(t, row.want, w, row.name)
		}
	}
}

// Orders that say nothing are counted by reason, and too few figures are none.
func TestOrdersThatSayNothingAreCounted(t *testing.T) {
	catalog := marketOf(t)
	place := func(w journal.Answer, sent market.Time) []orderlog.Write {
		return []orderlog.Write{{Kind: market.CommandPlace, Decided: worldFrom, Sent: sent, Answer: w}}
	}
	quote := orderlog.Quote{At: worldFrom, Bid: 99, Ask: 101}
	log := &orderlog.Log{Catalog: catalog, From: worldFrom, To: worldFrom + 1,
		Intervals: []market.Interval{0, market.Interval1m}}
	for _, o := range []orderlog.Order{
		{Writes: place(0, 0)},
		{Writes: place(journal.AnswerRejected, 1), State: state.Rejected},
		{Writes: place(journal.AnswerUnknown, 1), State: state.Rejected},
		{Writes: place(journal.AnswerUnknown, 1), State: state.Filled, ExchangeID: uuid.UUID{1}},
		{Writes: place(journal.AnswerAccepted, 1), Accepted: worldFrom + 5, Type: market.TypeStopLoss},
		{Writes: place(journal.AnswerAccepted, 1), Accepted: worldFrom + 5, Took: true},
		{Writes: place(journal.AnswerAccepted, 1), Accepted: worldFrom + 5, Rests: make([]orderlog.Rest, 1)},
		{Writes: place(journal.AnswerAccepted, 1), Accepted: worldFrom + 5, Took: true, Decision: quote, Arrival: quote,
			Side: market.Buy, Fills: []market.Fill{{Taker: true, Price: 102, Amount: 1e8}}},
		{}, // its place is not in the journal
	} {
		o.Market = 1
		log.Orders = append(log.Orders, &o)
	}
	m, err := Measure(log, Range{})
	require.NoError(t, err)
	require.Equal(t, 5, m.Orders)
	require.Equal(t, 1, m.Unanswered)
	require.Len(t, m.Latencies, 4)
	require.Equal(t, []Count{{1, notSent}, {1, refused}, {1, unanswered}, {1, timeless}, {1, triggered}, {1, quoteless},
		{1, untouched}}, m.LeftOut)
	require.Len(t, m.Costs, 1)
	require.InDelta(t, 100, m.Costs[0].Slippage, 1e-9)
	require.InDelta(t, 100, m.Costs[0].HalfSpread, 1e-9)
	v := m.Values()
	require.True(t, math.IsNaN(v.HalfSpread) && math.IsNaN(v.Slippage) && math.IsNaN(v.Latency) && math.IsNaN(v.Fill))
	require.Contains(t, m.Section(), "# slippage_bps: not measured, of 1 orders that met the market, 20 are needed\n")

	log.Paper = true
	_, err = Measure(log, Range{})
	require.ErrorIs(t, err, ErrPaper)
}
