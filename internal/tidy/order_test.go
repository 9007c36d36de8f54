package tidy

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// shape is a form in which an order is written down or sent.
type shape struct {
	place string                                      // where a new field has its line for it
	of    reflect.Type                                // the fields that it carries: those of an order, or of its state
	but   string                                      // fields that it leaves out, with reasons at the row
	carry func(*testing.T, market.Order) market.Order // writes an order and reads it back
}

var (
	orderType = reflect.TypeFor[market.Order]()
	stateType = reflect.TypeFor[market.OrderState]()
)

// shapes are all of them. A new field of an order touches market/order.go and the places named
// here.
var shapes = []shape{
	// ID, Strategy, Bracket and Tag are ours alone; the status says what has triggered.
	{"AppendOrder (exchange/wire.go) or ParseOrder (exchange/wireparse.go)", orderType,
		"ID Strategy Bracket Tag Triggered", onTheWire},
	{"the JSON of market/order.go", orderType, "", inTheSandboxesFile},
	// The currencies follow from the market and the side.
	{"the JSON of market/order.go", orderType, "FeeCurrency OnHoldCurrency", inTheSavedAccount},
	{"the tables of state/journal/orderfields.go", orderType, "", inTheTableOfOrders},
	{"the tables of state/journal/orderfields.go", orderType, "", inAnIntent},
	{"stateFields of state/journal/orderfields.go", stateType, "", inAReport},
	{"market.ReportOf (market/order.go) or Account.copyReport (state/order.go)", stateType, "", toldByAReport},
}

// notDescribed are the fields of an order that a description of it leaves out; rows and entries
// name the strategy themselves.
const notDescribed = "Strategy TriggerType Visible FeeCurrency OnHoldCurrency"

func TestEveryFieldOfAnOrderIsInEveryShape(t *testing.T) {
	for _, s := range shapes {
		fields := orderFields(s.of, s.but)
		lost := s.loses(t, fields, fields)
		for _, f := range slices.Clone(lost) { // alone: some fields exclude each other
			if len(s.loses(t, []string{f}, []string{f})) > 0 {
				t.Errorf("%s of an order is lost in %s", f, s.place)
			}
		}
	}
}

// loses sets fields of each order, and returns those that no order has when it comes back.
func (s *shape) loses(t *testing.T, change, fields []string) (lost []string) {
	lost = slices.Clone(fields)
	for _, o := range orders() {
		for _, f := range change {
			set(reflect.ValueOf(&o).Elem().FieldByName(f))
		}
		back := s.carry(t, o)
		lost = slices.DeleteFunc(lost, func(f string) bool {
			return reflect.ValueOf(o).FieldByName(f).Equal(reflect.ValueOf(back).FieldByName(f))
		})
	}
	return lost
}

func TestEveryFieldOfAnOrderIsDescribed(t *testing.T) {
	inAStateFile(t, nil, func(s *journal.Store) {
		describe := func(o market.Order) string {
			return s.Describe(&journal.Entry{Record: &journal.Intent{Command: market.Command{Order: o}}}).String()
		}
		for _, f := range orderFields(orderType, notDescribed) {
			without, with := orders()[0], orders()[0]
			reflect.ValueOf(&without).Elem().FieldByName(f).SetZero()
			set(reflect.ValueOf(&with).Elem().FieldByName(f))
			if describe(without) == describe(with) {
				t.Errorf("%s of an order is not described: it has no row in state/journal/orderfields.go", f)
			}
		}
	})
}

// A client that reads the sandbox's description learns of every member of an order.
func TestTheSandboxDescribesEveryMemberOfAnOrder(t *testing.T) {
	ex, err := sandbox.New(sandbox.Default())
	require.NoError(t, err)
	defer ex.Close()
	answer := httptest.NewRecorder()
	ex.ServeHTTP(answer, httptest.NewRequest("GET", "/openapi.json", nil))
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &document), answer.Body)
	described := document.Components.Schemas["Order"].Properties
	require.NotEmpty(t, described)
	for _, o := range orders() {
		for _, f := range orderFields(orderType, "") {
			set(reflect.ValueOf(&o).Elem().FieldByName(f))
		}
		var members map[string]any
		require.NoError(t, json.Unmarshal(exchange.AppendOrder(nil, twoMarkets(t), &o, nil), &members))
		for name := range members {
			if described[name] == nil {
				t.Errorf("%s of an order is not described in exchange/sandbox/api/schemas.go", name)
			}
		}
	}
}

// orderFields are the names of the fields of an order, or of its state, but some.
func orderFields(of reflect.Type, but string) (names []string) {
	for _, f := range reflect.VisibleFields(of) {
		if !f.Anonymous && !slices.Contains(strings.Fields(but), f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// orders are one of each kind that carries fields which others do not: by amount with a trigger,
// and by quote.
func orders() []market.Order {
	stop := market.Order{ID: 7, ExchangeID: uuid.UUID{1}, ClientOrderID: uuid.UUID{2}, Market: 1, Strategy: 1,
		Side: market.Sell,
		Type: market.TypeStopLossLimit, FeeCurrency: 2, OnHoldCurrency: 1,
		OrderState: market.OrderState{Status: market.StatusNew,
			TimeInForce: market.GTC, SelfTradePrevention: market.DecrementAndCancel, Amount: 10, AmountRemaining: 10,
			Price: 5, TriggerAmount: 6}}
	byQuote := stop
	byQuote.Type, byQuote.Amount, byQuote.AmountRemaining = market.TypeMarket, 0, 0
	byQuote.AmountQuote, byQuote.AmountQuoteRemaining = 9, 9
	return []market.Order{stop, byQuote}
}

// set gives a field a value that it did not have.
func set(f reflect.Value) {
	switch v := f.Addr().Interface().(type) {
	case *market.Value:
		*v = market.ValueOf(1_000)
	case *uuid.UUID:
		v[3]++
	case *market.Time:
		*v += 1_000_000 // the exchange tells milliseconds
	case *market.Bracket:
		v.Stop, v.Target, v.Keep = v.Stop+1, v.Target+2, market.KeepTarget
	case *string:
		*v += "word"
	case *bool:
		*v = !*v
	default:
		switch {
		case f.CanInt():
			f.SetInt(f.Int() + 1)
		case f.Uint() == 1:
			f.SetUint(2)
		default:
			f.SetUint(1)
		}
	}
}

func twoMarkets(t *testing.T) *market.Catalog {
	c := &market.Catalog{}
	for _, symbol := range []string{"BTC", "EUR", "ETH"} {
		_, err := c.AddAsset(symbol, 8)
		require.NoError(t, err)
	}
	for _, name := range []string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, c.AddMarket(&market.Market{Name: name, PriceDigits: 2}))
	}
	return c
}

func onTheWire(t *testing.T, o market.Order) market.Order {
	c := twoMarkets(t)
	back, _, err := exchange.ParseOrder(exchange.AppendOrder(nil, c, &o, nil), c)
	require.NoError(t, err)
	return back
}

func inTheSandboxesFile(t *testing.T, o market.Order) (back market.Order) {
	text, err := json.Marshal(&o)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &back))
	return back
}

func inTheSavedAccount(t *testing.T, o market.Order) market.Order {
	a := state.NewAccount(twoMarkets(t), 2, nil)
	a.Send(&o, 0).Order = o
	var s state.SavedOrder
	require.NoError(t, a.SaveOrders([]string{"one", "two"}, true, func(_ market.OrderID, text []byte) error {
		return market.ParseSaved(text, 1_000, &s)
	}))
	back := s.Order
	back.Bracket = market.Bracket{Stop: s.Stop, Target: s.Target, Keep: s.Keep}
	for i, name := range []string{"", "BTC-EUR", "ETH-EUR"} {
		if s.Market == name {
			back.Market = market.ID(i)
		}
	}
	for i, name := range []string{"", "one", "two"} {
		if s.Strategy == name {
			back.Strategy = market.StrategyID(i)
		}
	}
	return back
}

func toldByAReport(t *testing.T, o market.Order) market.Order {
	a := state.NewAccount(twoMarkets(t), 2, nil)
	own := a.Send(&market.Order{ID: o.ID, Market: o.Market, Strategy: o.Strategy, Side: o.Side, Type: o.Type}, 0)
	r := market.ReportOf(&o, market.ExecNew)
	_, err := a.Apply(&market.Event{Kind: market.KindReport, Market: o.Market, Report: &r})
	require.NoError(t, err)
	return own.Order
}

func inTheTableOfOrders(t *testing.T, o market.Order) (back market.Order) {
	write := func(b *journal.Batch) { b.Order(&state.Order{Order: o, State: state.Open}) }
	inAStateFile(t, write, func(s *journal.Store) {
		row, err := s.Order(o.ID)
		require.NoError(t, err)
		back = row.Order
	})
	return back
}

func inAnIntent(t *testing.T, o market.Order) market.Order {
	entry := journalled(t, &journal.Intent{Command: market.Command{Kind: market.CommandPlace, Order: o}})
	return entry.Record.(*journal.Intent).Command.Order
}

func inAReport(t *testing.T, o market.Order) (back market.Order) {
	entry := journalled(t, &journal.ReportEntry{Report: market.ReportOf(&o, market.ExecNew)})
	back.OrderState = entry.Record.(*journal.ReportEntry).OrderState
	return back
}

// journalled writes a record to the journal of a new state file and reads it back.
func journalled(t *testing.T, r journal.Payload) (entry journal.Entry) {
	inAStateFile(t, func(b *journal.Batch) { b.Journal(1, r) }, func(s *journal.Store) {
		entries, err := s.LastEntries(1)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		entry = entries[0]
	})
	return entry
}

func inAStateFile(t *testing.T, write func(*journal.Batch), read func(*journal.Store)) {
	s, err := journal.Open(filepath.Join(t.TempDir(), "bot.db"))
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Bind(twoMarkets(t), []string{"one", "two"}))
	if write != nil {
		batch := s.NewBatch()
		write(batch)
		require.NoError(t, s.Commit(batch))
	}
	read(s)
}
