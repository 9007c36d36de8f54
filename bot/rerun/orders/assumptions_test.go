package orders

import (
	"math"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// How a time at rest counts: each row is its candles, and what is made of them.
func TestAWaitEndsAtItsFirstFillOrWhatComesBefore(t *testing.T) {
	const start = worldFrom
	touch := Touch{}
	fill, through, partial := Touch{Filled: 2}, Touch{Through: true}, Touch{Partial: true}
	partialFill, throughFill := Touch{Partial: true, Filled: 4}, Touch{Through: true, Filled: 4}
	for _, row := range []struct {
		name    string
		touches []Touch
		end     Ending
		want    Wait
		none    bool
		through throughs
	}{
		{name: "no candle touched it", end: EndCanceled, none: true},
		{name: "filled in the second", touches: []Touch{touch, fill, touch}, end: EndFilled,
			want: Wait{Candles: 2, Filled: true, Share: 0.5}},
		{name: "canceled after two", touches: []Touch{touch, touch}, end: EndCanceled,
			want: Wait{Candles: 2, Canceled: true}},
		{name: "moved after one", touches: []Touch{touch}, end: EndUpdated,
			want: Wait{Candles: 1, Canceled: true}},
		{name: "expired after one", touches: []Touch{touch}, end: EndExpired, want: Wait{Candles: 1}},
		{name: "traded through in the second, and filled", touches: []Touch{touch, throughFill},
			end: EndFilled, want: Wait{Candles: 1}, through: throughs{1, 1}},
		{name: "traded through at once, and not filled", touches: []Touch{through}, end: EndCanceled,
			none: true, through: throughs{1, 0}},
		{name: "arrived late in the first", touches: []Touch{partial, fill}, end: EndFilled,
			want: Wait{Candles: 1, Filled: true, Share: 0.5}},
		{name: "filled in the candle of its arrival", touches: []Touch{partialFill}, end: EndFilled,
			none: true},
	} {
		r := Rest{From: start, To: start + 10*oneMinute, Known: start + 10*oneMinute,
			Interval: market.Interval1m,
			Price:    1, Amount: 4, End: row.end}
		for i, one := range row.touches {
			one.Start = start + market.Time(i)*oneMinute
			r.Touches = append(r.Touches, one)
		}
		seen := throughs{}
		w, ok := waitOf(&market.Market{}, &Life{}, &r, &seen)
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
	place := func(w journal.Answer, sent market.Time) []Write {
		return []Write{{Kind: market.CommandPlace, Decided: worldFrom, Sent: sent, Answer: w}}
	}
	quote := Quote{At: worldFrom, Bid: 99, Ask: 101}
	log := &Log{Catalog: catalog, From: worldFrom, To: worldFrom + 1,
		Intervals: []market.Interval{0, market.Interval1m}}
	for _, o := range []Life{
		{Writes: place(0, 0)},
		{Writes: place(journal.AnswerRejected, 1), State: state.Rejected},
		{Writes: place(journal.AnswerUnknown, 1), State: state.Rejected},
		{Writes: place(journal.AnswerUnknown, 1), State: state.Filled, ExchangeID: uuid.UUID{1}},
		{Writes: place(journal.AnswerAccepted, 1), Accepted: worldFrom + 5, Type: market.TypeStopLoss},
		{Writes: place(journal.AnswerAccepted, 1), Accepted: worldFrom + 5, Took: true},
		{Writes: place(journal.AnswerAccepted, 1), Accepted: worldFrom + 5, Rests: make([]Rest, 1)},
		{Writes: place(journal.AnswerAccepted, 1), Accepted: worldFrom + 5, Took: true, Decision: quote, Arrival: quote,
			Side: market.Buy, Fills: []market.Fill{{Taker: true, Price: 102, Amount: 1e8}}},
		{}, // its place is not in the journal
	} {
		o.Market = 1
		log.Orders = append(log.Orders, &o)
	}
	m, err := MeasureAssumptions(log, Range{})
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
	_, err = MeasureAssumptions(log, Range{})
	require.ErrorIs(t, err, ErrPaper)
}
