// Package bottest has what tests of a bot share, in one process or with children: an audit that
// holds a state file against its exchange, an exchange to trade on, children that cannot hang, and
// patience. No program imports it. Start at Books.
package bottest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Books are the two accounts of a bot: its state file, and the exchange, queried with a key of its
// own that no fault strikes.
type Books struct {
	T       *testing.T
	Auditor *rest.Client
	Units   *market.Catalog
	Before  map[market.AssetID]market.Money // the account's balances at the start; nil: not known
	Folder  string                          // with the state file
	Trimmed bool                            // the bot removes old orders and fills; only those that it has are compared
}

// Audit is the counts of an audit.
type Audit struct{ Orders, Fills, Rejected int }

// AgreeOnFile compares orders, fills and positions of the state file with the exchange, and checks
// the file.
func (s *Books) AgreeOnFile() (a Audit) {
	t, store := s.T, s.Stored()
	theirs := s.OrdersAtTheExchange()
	err := store.Orders(0, func(row *journal.OrderRow) error {
		record, there := theirs[row.ClientOrderID]
		delete(theirs, row.ClientOrderID)
		if !there {
			require.Equal(t, state.Rejected, row.State, "order %s is not at the exchange", row.ClientOrderID)
			a.Rejected++
			return nil
		}
		a.Orders++
		s.SameOrder(&record.Order, row)
		return nil
	})
	require.NoError(t, err)
	if !s.Trimmed {
		require.Empty(t, theirs, "orders of the account that the bot does not know")
	}
	s.sameFills(store, &a)
	s.samePositions(store)
	report, err := store.Check()
	require.NoError(t, err)
	require.Empty(t, report.Flaws)
	return a
}

// SameOrder compares an order of the exchange with the bot's row.
func (s *Books) SameOrder(theirs *market.Order, row *journal.OrderRow) {
	t := s.T
	require.Equal(t, theirs.Status, row.Status, "order %s: %s", row.ClientOrderID, row.State)
	require.Equal(t, theirs.Done(), row.State.Terminal(), "order %s: %s", row.ClientOrderID, row.State)
	type figures struct {
		amount, filled market.Qty
		price          market.Price
		quote, fee     market.Value
		name           uuid.UUID
	}
	of := func(o *market.Order) figures {
		return figures{o.Amount, o.FilledAmount, o.Price, o.FilledAmountQuote, o.FeePaid, o.ExchangeID}
	}
	if of(theirs) != of(&row.Order) {
		require.Equal(t, of(theirs), of(&row.Order), "order %s: %s", row.ClientOrderID, s.Story(s.Stored(), row.ID))
	}
	require.Zero(t, row.InFlight, "order %s", row.ClientOrderID)
}

// OrdersAtTheExchange are all orders of the account, by client order id, which must be unique.
func (s *Books) OrdersAtTheExchange() map[uuid.UUID]exchange.WireOrder {
	all := map[uuid.UUID]exchange.WireOrder{}
	for _, m := range s.Units.Markets() {
		s.ordersIn(m, all)
	}
	return all
}

func (s *Books) ordersIn(m *market.Market, all map[uuid.UUID]exchange.WireOrder) {
	for page := (rest.Page{Limit: 1000}); ; {
		list, err := s.Auditor.Orders(context.Background(), m, page)
		require.NoError(s.T, err)
		require.Empty(s.T, list.Unread)
		for i := range list.Records {
			r := &list.Records[i]
			if r.Order.ExchangeID.String() == page.To {
				continue
			}
			require.NotContains(s.T, all, r.Order.ClientOrderID, "two orders of one name")
			all[r.Order.ClientOrderID] = *r
		}
		if len(list.Records) < page.Limit {
			return
		}
		page.To = list.Records[len(list.Records)-1].Order.ExchangeID.String()
	}
}

// Market is the market that the bots of tests trade: BTC-EUR where the exchange has it.
func (s *Books) Market() *market.Market {
	if m := s.Units.MarketNamed("BTC-EUR"); m != nil {
		return m
	}
	return s.Units.Market(1)
}

// ledgerRow is a strategy's position and profit in a market, computed with big integers from the
// exchange's trades.
type ledgerRow struct {
	amount               int64
	cost, realised, fees *big.Int
}

// samePositions computes every position from the trades of the account, ordered by time, order and
// fill, and compares cost, fees and realised profit to the last unit with the table and with its
// export.
func (s *Books) samePositions(store *journal.Store) {
	t := s.T
	for _, entry := range s.entries(store, journal.EntryTransfer) {
		if moved := entry.Record.(*journal.Transfer); moved.Market != 0 {
			return // a position was moved without a trade: these tests look at it themselves
		}
	}
	adoptions := s.adoptions(store)
	f := tradeBooks{Books: s, rows: map[string]*ledgerRow{}, naive: newNaiveBooks(s.digits()),
		owners: s.owners(store, len(adoptions) > 0)}
	for _, m := range s.Units.Markets() {
		trades := s.trades(m)
		for i := range trades {
			require.Contains(t, f.owners, trades[i].ID, "a trade of an order that the bot does not know")
			trades[i].Order = f.owners[trades[i].ID].order
		}
		f.count(m, f.adopt(store, m, trades, adoptions))
	}
	want, naive := f.rows, f.naive
	exported := s.exportedPositions(store)
	rows, err := store.Positions()
	require.NoError(t, err)
	for i := range rows {
		p, m := &rows[i], store.Catalog().Market(rows[i].Market)
		key := p.StrategyName + " " + m.Name
		w := want[key]
		require.NotNil(t, w, "a position without a trade: %s", key)
		have := ledgerRow{int64(p.Amount), unitsOf(t, p.Cost), unitsOf(t, p.Realised), unitsOf(t, p.Fees)}
		require.Equal(t, w.String(), have.String(), "%s: amount, cost, realised, fees", key)
		require.Equal(t, []string{m.FormatQty(p.Amount), m.FormatValue(p.Cost), m.FormatValue(p.Realised),
			m.FormatValue(p.Fees)}, exported[key])
		delete(want, key)
	}
	require.Empty(t, want, "positions that the table lacks")
	s.sameBooks(store, naive)
	if s.Before != nil {
		s.sameLots()
	}
}

// tradeBooks are positions, computed from trades.
type tradeBooks struct {
	*Books
	rows   map[string]*ledgerRow // by strategy and market
	naive  *naiveBooks
	owners map[uuid.UUID]owner
}

// count adds trades in a market in the order of their times.
func (f *tradeBooks) count(m *market.Market, trades []exchange.Trade) {
	slices.SortFunc(trades, func(a, b exchange.Trade) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Order, b.Order), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for i := range trades {
		row := f.row(f.owners[trades[i].ID].strategy, m)
		before := row.copied()
		row.trade(&trades[i].Fill)
		f.naive.count(m, &trades[i], before, row.copied())
	}
}

func (f *tradeBooks) row(strategy string, m *market.Market) *ledgerRow {
	key := strategy + " " + m.Name
	if f.rows[key] == nil {
		f.rows[key] = &ledgerRow{cost: new(big.Int), realised: new(big.Int), fees: new(big.Int)}
	}
	return f.rows[key]
}

// adopt carries out the adoptions in a market, each after the trades of its two strategies that
// were booked before it, and returns the trades that are left. A position goes over as it is by
// the trades alone, and the journal has to say the same.
func (f *tradeBooks) adopt(store *journal.Store, m *market.Market, trades []exchange.Trade,
	adoptions []journal.Booking) []exchange.Trade {
	for i := range adoptions {
		a := &adoptions[i]
		if a.Market == 0 || store.Catalog().Market(a.Market).Name != m.Name {
			continue
		}
		var before, left []exchange.Trade
		for _, trade := range trades {
			if o := f.owners[trade.ID]; o.booked < a.Number && (o.strategy == a.StrategyName || o.strategy == a.To) {
				before = append(before, trade)
			} else {
				left = append(left, trade)
			}
		}
		f.count(m, before)
		from, to := f.row(a.StrategyName, m), f.row(a.To, m)
		require.Equal(f.T, int64(a.Money), from.amount, "%s to %s", a.StrategyName, a.To)
		require.Equal(f.T, unitsOf(f.T, a.Cost).String(), from.cost.String(), "%s to %s", a.StrategyName, a.To)
		to.amount += from.amount
		to.cost.Add(to.cost, from.cost)
		from.amount, from.cost, trades = 0, new(big.Int), left
	}
	return trades
}

// adoptions are the handovers of the bookings, in their order.
func (s *Books) adoptions(store *journal.Store) (all []journal.Booking) {
	require.NoError(s.T, store.Bookings(0, func(b *journal.Booking) error {
		if b.Kind == journal.BookedAdoption {
			all = append(all, *b)
		}
		return nil
	}))
	return all
}

// owner is whose order a trade is of.
type owner struct {
	order    market.OrderID
	strategy string
	booked   uint64 // number of its booking; 0: not looked up
}

// owners are the owners of the account's trades: as the bookings have them if the orders may be
// gone or have changed their strategy, else as the orders have them.
func (s *Books) owners(store *journal.Store, booked bool) map[uuid.UUID]owner {
	all := map[uuid.UUID]owner{}
	if s.Trimmed || booked {
		require.NoError(s.T, store.Bookings(0, func(b *journal.Booking) error {
			if b.Kind == journal.BookedFill {
				all[b.Fill.ID] = owner{b.Fill.Order, b.StrategyName, b.Number}
			}
			return nil
		}))
		return all
	}
	for _, m := range s.Units.Markets() {
		for _, trade := range s.trades(m) {
			row, err := store.OrderByClientID(trade.ClientOrderID)
			require.NoError(s.T, err, "a trade of an order that the bot does not know")
			all[trade.ID] = owner{row.ID, row.StrategyName, 0}
		}
	}
	return all
}

// String shows the figures in their units.
func (w *ledgerRow) String() string {
	return fmt.Sprintf("amount %d, cost %s, realised %s, fees %s", w.amount, w.cost, w.realised, w.fees)
}

func unitsOf(t *testing.T, v market.Value) *big.Int {
	text, err := v.MarshalText()
	require.NoError(t, err)
	units, ok := new(big.Int).SetString(string(text), 10)
	require.True(t, ok)
	return units
}

// trade adds one trade. A sale takes its share of the cost, rounded towards zero, and the last one
// the rest.
func (w *ledgerRow) trade(f *market.Fill) {
	fee := new(big.Int)
	text, _ := f.Fee.MarshalText()
	fee.SetString(string(text), 10)
	cash := new(big.Int).Mul(big.NewInt(int64(f.Price)), big.NewInt(int64(f.Amount)))
	w.fees.Add(w.fees, fee)
	if f.Side == market.Buy {
		w.amount += int64(f.Amount)
		w.cost.Add(w.cost, cash.Add(cash, fee))
		return
	}
	share := new(big.Int).Set(w.cost) // of a sale beyond what was bought, too: the amount then says it
	if w.amount > int64(f.Amount) {
		share.Mul(share, big.NewInt(int64(f.Amount))).Quo(share, big.NewInt(w.amount))
	}
	w.amount -= int64(f.Amount)
	w.cost.Sub(w.cost, share)
	w.realised.Add(w.realised, cash.Sub(cash, fee).Sub(cash, share))
}

// exportedPositions is the table as `bot state export positions` writes it: amount, cost, realised
// and fees by strategy and market.
func (s *Books) exportedPositions(store *journal.Store) map[string][]string {
	var out bytes.Buffer
	_, err := store.Export(&out, "positions")
	require.NoError(s.T, err)
	all := map[string][]string{}
	for line := range bytes.Lines(out.Bytes()) {
		var p map[string]string
		require.NoError(s.T, json.Unmarshal(line, &p))
		figure := func(name string) string { return cmp.Or(p[name], "0") } // what is 0 is left out
		all[p["strategy"]+" "+p["market"]] = []string{figure("amount"), figure("cost"), figure("realised"),
			figure("fees")}
	}
	return all
}

func (s *Books) entries(store *journal.Store, kind journal.EntryKind) (all []journal.Entry) {
	require.NoError(s.T, store.Entries(0, func(e *journal.Entry) error {
		if e.Kind == kind {
			all = append(all, *e)
		}
		return nil
	}))
	return all
}

// trades are the trades of the account in a market, each once.
func (s *Books) trades(m *market.Market) (all []exchange.Trade) {
	known := map[uuid.UUID]bool{}
	for from, more := market.Time(1), true; more; {
		var page []exchange.Trade
		var err error
		page, more, err = s.Auditor.Trades(context.Background(), m.ID, max(from, s.Auditor.Now().Add(-30*24*time.Hour)))
		require.NoError(s.T, err)
		for _, f := range page {
			if from = max(from, f.Time); !known[f.ID] {
				known[f.ID] = true
				all = append(all, f)
			}
		}
	}
	return all
}

// sameFills compares the trades of the account with the fills of the state file.
func (s *Books) sameFills(store *journal.Store, a *Audit) {
	type row struct {
		id     uuid.UUID
		price  market.Price
		amount market.Qty
		fee    market.Value
		taker  bool
	}
	var theirs, ours []row
	for _, m := range s.Units.Markets() {
		for _, f := range s.trades(m) {
			theirs = append(theirs, row{f.ID, f.Price, f.Amount, f.Fee, f.Taker})
		}
	}
	require.NoError(s.T, store.Fills(0, 0, func(f *journal.FillRow) error {
		ours = append(ours, row{f.ID, f.Price, f.Amount, f.Fee, f.Taker})
		return nil
	}))
	byID := func(a, b row) int { return slices.Compare(a.id[:], b.id[:]) }
	if s.Trimmed {
		theirs = slices.DeleteFunc(theirs, func(r row) bool { return !slices.Contains(ours, r) })
	}
	slices.SortFunc(theirs, byID)
	slices.SortFunc(ours, byID)
	require.Equal(s.T, theirs, ours)
	a.Fills = len(ours)
}

// OpenAtTheExchange lists the open orders of the account.
func (s *Books) OpenAtTheExchange() []exchange.WireOrder {
	open, err := s.Auditor.OpenOrders(context.Background())
	require.NoError(s.T, err)
	return open
}

// Story is the journal of an order, for the message of a failed test.
func (s *Books) Story(store *journal.Store, id market.OrderID) (text string) {
	entries, err := store.Story(id)
	require.NoError(s.T, err)
	for i := range entries {
		text += fmt.Sprintf("\n%s %s %+v", entries[i].At, entries[i].Kind, entries[i].Record)
	}
	return text
}

// Holdings are the balances of the account.
func (s *Books) Holdings() map[market.AssetID]market.Money {
	held, err := s.Auditor.Holdings(context.Background())
	require.NoError(s.T, err)
	total := map[market.AssetID]market.Money{}
	for _, h := range held {
		total[h.Asset] = h.Available + h.Orders
	}
	return total
}

// Stored opens the state file for reading.
func (s *Books) Stored() *journal.Store {
	store, err := journal.Read(filepath.Join(s.Folder, statedir.StateFile))
	require.NoError(s.T, err)
	s.T.Cleanup(func() { _ = store.Close() })
	return store
}

// Sound requires the state file to pass `bot state check`.
func (s *Books) Sound() {
	store, err := journal.Read(filepath.Join(s.Folder, statedir.StateFile))
	require.NoError(s.T, err)
	report, err := store.Check()
	require.NoError(s.T, err)
	require.Empty(s.T, report.Flaws)
	require.NoError(s.T, store.Close())
}
