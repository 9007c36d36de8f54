package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// botStore is a new state file of two markets and two strategies.
func botStore(t testing.TB) *Store {
	s, err := Open(filepath.Join(t.TempDir(), "bot.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
	return s
}

// again closes a store and opens its file anew.
func again(t testing.TB, s *Store) *Store {
	require.NoError(t, s.Close())
	s, err := Open(s.path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
	return s
}

var testRun = uuid.UUID{15: 1}

// exchangeID is what the exchange calls an order of these tests.
func exchangeID(id market.OrderID) uuid.UUID { return uuid.UUID{0: 9, 14: byte(id >> 8), 15: byte(id)} }

// ownOrder is a buy of 100 units that the exchange has not told of.
func ownOrder(id market.OrderID) *state.Order {
	return &state.Order{State: state.Sent, InFlight: market.CommandPlace,
		Order: market.Order{ID: id, ClientOrderID: market.ClientOrderID(testRun, id), OperatorID: 7,
			Market: market.ID(1 + id%2), Strategy: 1, Side: market.Buy, Type: market.TypeLimit,
			OrderState: market.OrderState{TimeInForce: market.GTC, Price: 5_000_000, Amount: 100,
				AmountRemaining: 100}, Tag: "entry"}}
}

// fillOf is the n-th fill of an order.
func fillOf(o *state.Order, n byte, amount market.Qty, at market.Time) market.Fill {
	return market.Fill{ID: uuid.UUID{0: n, 14: byte(o.ID >> 8), 15: byte(o.ID)}, Order: o.ID, Market: o.Market,
		Strategy: o.Strategy, Side: o.Side, Settled: true,
		FeeCurrency: 1, Price: o.Price, Amount: amount, Fee: market.ValueOf(3), Time: at}
}

func figure(name, before, after, limit string) state.Figure {
	return state.Figure{Name: name, Before: before, After: after, Limit: limit}
}

// intentOf is the place of an order.
func intentOf(o *state.Order) *Intent {
	return &Intent{Command: market.Command{Kind: market.CommandPlace, At: 5, Order: o.Order}, Method: "POST",
		Path: "/v2/order",
		Body: fmt.Appendf(nil, `{"clientOrderId":"%s"}`, o.ClientOrderID), Timestamp: 1700000000000, WindowMS: 10000,
		Cause: Cause{Kind: market.KindCandles, Market: o.Market, At: 5,
			Recorded: 77}, Risk: []state.Figure{figure("max_position", "0", "50", "100")}}
}

// live commits the whole life of an order: intent, sent, accepted, half filled, filled.
func live(t testing.TB, s *Store, b *Batch, id market.OrderID) {
	o, at := ownOrder(id), market.Time(id)*1000
	b.Journal(at, intentOf(o))
	b.Order(o)
	require.NoError(t, s.Commit(b))
	b.Journal(at+1, &SentCommand{Order: id, Command: market.CommandPlace})
	require.NoError(t, s.Commit(b))
	o.ExchangeID, o.State, o.Status, o.InFlight, o.Reported = exchangeID(id), state.Open, market.StatusNew, 0, true
	b.Journal(at+2, &AnswerEntry{Order: id, Command: market.CommandPlace, Answer: AnswerAccepted, Status: 200,
		ExchangeID: o.ExchangeID})
	b.Order(o)
	require.NoError(t, s.Commit(b))
	for n := range byte(2) {
		o.FilledAmount, o.Updated = o.FilledAmount+50, at+3+market.Time(n)
		o.AmountRemaining -= 50
		o.Status, o.State = market.StatusPartiallyFilled, state.PartiallyFilled
		if o.AmountRemaining == 0 {
			o.Status, o.State = market.StatusFilled, state.Filled
		}
		report := market.ReportOf(&o.Order, market.ExecTrade)
		b.Event(&market.Event{At: at + 3 + market.Time(n), Kind: market.KindReport, Market: o.Market, Report: &report,
			Fills: []market.Fill{fillOf(o, n+1, 50, at+3+market.Time(n))}})
		b.Order(o)
		b.Position(1, o.Market, &market.Position{Amount: o.FilledAmount, Cost: market.ValueOf(9)})
		require.NoError(t, s.Commit(b))
	}
}

func TestTheStoryOfAnOrderIsReadInOrderByAnyOfItsIDs(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	live(t, s, b, 1)
	live(t, s, b, 2)
	s = again(t, s)
	for _, name := range []string{"2", market.ClientOrderID(testRun, 2).String(), exchangeID(2).String()} {
		row, err := s.FindOrder(name)
		require.NoError(t, err, name)
		require.EqualValues(t, 2, row.ID)
		require.Equal(t, state.Filled, row.State)
		require.Equal(t, "grid", row.StrategyName)
	}
	byClient, err := s.OrderByClientID(market.ClientOrderID(testRun, 1))
	require.NoError(t, err)
	require.EqualValues(t, 1, byClient.ID)

	story, err := s.Story(2)
	require.NoError(t, err)
	kinds := []EntryKind{}
	for _, e := range story {
		kinds = append(kinds, e.Kind)
	}
	require.Equal(t, []EntryKind{EntryIntent, EntrySent, EntryOutcome, EntryReport, EntryReport}, kinds)
	want := intentOf(ownOrder(2))
	want.Strategy = "grid"
	require.Equal(t, want, story[0].Record)
	require.EqualValues(t, 6, story[0].Number)
	require.EqualValues(t, 2000, story[0].At)
	fills, err := s.FillsOf(2)
	require.NoError(t, err)
	require.Len(t, fills, 2)
}

func TestOnlyOrdersThatAreNotDoneAreOpen(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	live(t, s, b, 1)
	for id := range market.OrderID(3) {
		b.Order(ownOrder(id + 2))
	}
	require.NoError(t, s.Commit(b))
	refused := ownOrder(3)
	refused.State = state.Rejected
	b.Order(refused)
	require.NoError(t, s.Commit(b))
	open := func() (ids []market.OrderID) {
		rows, err := s.OpenOrders()
		require.NoError(t, err)
		for _, row := range rows {
			ids = append(ids, row.ID)
		}
		return ids
	}
	require.Equal(t, []market.OrderID{2, 4}, open())
	refused.State = state.Open // the exchange has it all the same
	b.Order(refused)
	require.NoError(t, s.Commit(b))
	require.Equal(t, []market.OrderID{2, 3, 4}, open())
}

func TestAnOrderMayLiveItsWholeLifeInOneBatch(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	o := ownOrder(1)
	b.Order(o)
	o.State = state.Rejected
	b.Order(o)
	require.NoError(t, s.Commit(b))
	rows, err := s.OpenOrders()
	require.NoError(t, err)
	require.Empty(t, rows)
	requireSound(t, s)
}

func TestAFillIsKeptOnceAndItsFeeMayComeLater(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	o := ownOrder(1)
	b.Order(o)
	early := fillOf(o, 1, 60, 500)
	early.Settled, early.Fee = false, market.Value{}
	late := fillOf(o, 1, 60, 501)
	event := func(f market.Fill) *market.Event {
		return &market.Event{At: 600, Kind: market.KindFill, Fills: []market.Fill{f}}
	}
	b.Event(event(early))
	b.Event(event(early))
	b.Event(event(late))
	b.Event(event(early))
	b.Event(event(market.Fill{ID: uuid.UUID{3}, Market: 1})) // of no own order
	require.NoError(t, s.Commit(b))
	var rows []FillRow
	require.NoError(t, s.Fills(0, 0, func(f *FillRow) error { rows = append(rows, *f); return nil }))
	require.Len(t, rows, 1)
	require.True(t, rows[0].Settled)
	require.Equal(t, market.ValueOf(3), rows[0].Fee)
	require.EqualValues(t, 500, rows[0].Time)
	number, err := s.LastNumber()
	require.NoError(t, err)
	require.EqualValues(t, 5, number, "the journal has all that was told")
}

func TestFillsAreReadByRange(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	for id := range market.OrderID(5) {
		f := fillOf(ownOrder(id+1), 1, 10, market.Time(id)*10-20)
		b.Fill(&f)
	}
	require.NoError(t, s.Commit(b))
	times := func(from, to market.Time) (at []market.Time) {
		require.NoError(t, s.Fills(from, to, func(f *FillRow) error { at = append(at, f.Time); return nil }))
		return at
	}
	require.Equal(t, []market.Time{-20, -10, 0, 10, 20}, times(0, 0))
	require.Equal(t, []market.Time{-10, 0, 10}, times(-10, 20))
	stop := errors.New("stop")
	require.ErrorIs(t, s.Fills(0, 0, func(*FillRow) error { return stop }), stop)
}

func TestBlobsCursorsHaltsAndRunsAreStored(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	b.Start(10, &Start{Run: testRun, Version: "v1", ConfigHash: "abc", Currency: "EUR", Strategies: twoStrategies})
	b.Blob("engine", []byte("one"))
	b.Blob("engine", []byte("two"))
	b.Cursor(11, "trades BTC-EUR", []byte{1, 2})
	b.Halt(12, &Halt{Scope: "strategy grid", Reason: "panic", By: "engine"})
	b.Halt(13, &Halt{Scope: "account", Reason: "shortfall", By: "reconcile"})
	require.NoError(t, s.Commit(b))
	b.Resume(14, &Resume{Scope: "account", By: "operator"})
	require.NoError(t, s.Commit(b))
	require.NoError(t, s.Commit(b), "an empty batch is no transaction")

	s = again(t, s)
	blob, err := s.Blob("engine")
	require.NoError(t, err)
	require.Equal(t, "two", string(blob))
	b.Blob("parts/b", []byte("of b"))
	b.Blob("parts/a", []byte("of a"))
	b.Blob("parts", nil)
	require.NoError(t, s.Commit(b))
	parts, err := s.Blobs("parts/")
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{"a": []byte("of a"), "b": []byte("of b")}, parts)
	b.RemoveBlob("parts/b")
	b.RemoveBlob("parts/c")
	require.NoError(t, s.Commit(b))
	parts, err = s.Blobs("parts/")
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{"a": []byte("of a")}, parts)
	none, err := s.Blob("gate")
	require.NoError(t, err)
	require.Nil(t, none)
	cursor, err := s.Cursor("trades BTC-EUR")
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2}, cursor)
	halts, err := s.Halts()
	require.NoError(t, err)
	require.Equal(t, []HaltRow{{Halt{"strategy grid", "panic", "engine"}, 12}}, halts)
	runs, err := s.Runs()
	require.NoError(t, err)
	require.Equal(t, []RunRow{{Start{testRun, "v1", "abc", "EUR", twoStrategies}, 10, 1}}, runs)
	last, err := s.LastNumber()
	require.NoError(t, err)
	var kinds []EntryKind
	require.NoError(t, s.Entries(last-1, func(e *Entry) error {
		kinds = append(kinds, e.Kind)
		return nil
	}))
	require.Equal(t, []EntryKind{EntryHalt, EntryResume}, kinds)
}

func TestPositionsAreKeptByStrategyAndMarket(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	b.Position(2, 1, &market.Position{Amount: 5, Cost: market.ValueOf(-1), Opened: 3})
	b.Position(1, 2, &market.Position{Amount: 6})
	require.NoError(t, s.Commit(b))
	rows, err := s.Positions()
	require.NoError(t, err)
	require.Equal(t, []PositionRow{
		{market.Position{Amount: 6}, "grid", 1, 2},
		{market.Position{Amount: 5, Cost: market.ValueOf(-1), Opened: 3}, "trend", 2, 1}}, rows)
}

func TestABatchWithAMistakeIsRefusedWhole(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	b.Journal(1, &Timer{})
	b.Position(1, 9, &market.Position{})
	require.ErrorContains(t, s.Commit(b), "market 9 is not of this catalog")
	b.Reset()
	b.Order(ownOrder(1))
	require.NoError(t, s.Commit(b))
	other := ownOrder(1)
	other.ExchangeID = exchangeID(1)
	b.Order(other)
	require.NoError(t, s.Commit(b))
	other = ownOrder(3)
	other.ExchangeID = exchangeID(1)
	b.Journal(1, &Timer{})
	b.Order(other)
	require.ErrorContains(t, s.Commit(b), "belongs to order 1")
	number, err := s.LastNumber()
	require.NoError(t, err)
	require.Zero(t, number)
}
