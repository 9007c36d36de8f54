package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// audit is what an audit has counted.
type audit struct{ orders, fills, rejected int }

// agree requires that the exchange and the state file of a bot that has ended tell the same story: every order with its status, amounts
// and fees, every fill, no order that only one of them has, and the balances.
func (s *stage) agree(p *process) audit {
	a := s.agreeOnFile()
	after := s.holdings()
	for _, asset := range p.plan.catalog.Assets() {
		ours := p.account.Total(asset.ID)
		if asset.ID == p.plan.currency.ID {
			ours.Total -= p.plan.allotments[1]
		}
		require.Equal(s.t, after[asset.ID]-s.before[asset.ID], ours.Total, "balance of %s", asset.Symbol)
	}
	if g := &s.traffic.gauge; g.money > 0 {
		require.InDelta(s.t, float64(after[g.market.Base]-s.before[g.market.Base])/1e8, g.told.base, 1e-8, "what the bot was told of its fills")
		require.InDelta(s.t, float64(after[g.market.Quote]-s.before[g.market.Quote])/100, g.cash, 0.01*float64(1+a.fills))
	}
	return a
}

// agreeOnFile is agree without the balances, which the account in memory tells.
func (s *stage) agreeOnFile() (a audit) {
	t, store := s.t, s.stored()
	theirs := s.ordersAtTheExchange()
	err := store.Orders(0, func(row *state.OrderRow) error {
		record, there := theirs[row.ClientOrderID]
		delete(theirs, row.ClientOrderID)
		if !there {
			require.Equal(t, state.Rejected, row.State, "order %s is not at the exchange", row.ClientOrderID)
			a.rejected++
			return nil
		}
		a.orders++
		s.sameOrder(&record.Order, row)
		return nil
	})
	require.NoError(t, err)
	require.Empty(t, theirs, "orders of the account that the bot does not know")
	s.sameFills(store, &a)
	report, err := store.Check()
	require.NoError(t, err)
	require.Empty(t, report.Flaws)
	return a
}

// sameOrder compares an order of the exchange with the bot's row.
func (s *stage) sameOrder(theirs *market.Order, row *state.OrderRow) {
	t := s.t
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
		require.Equal(t, of(theirs), of(&row.Order), "order %s: %s", row.ClientOrderID, s.story(s.stored(), row.ID))
	}
	require.Zero(t, row.InFlight, "order %s", row.ClientOrderID)
}

// ordersAtTheExchange are all orders of the account, by the client's name, which no two may share.
func (s *stage) ordersAtTheExchange() map[uuid.UUID]exchange.Record {
	all := map[uuid.UUID]exchange.Record{}
	for _, m := range s.units.Markets() {
		s.ordersIn(m, all)
	}
	return all
}

func (s *stage) ordersIn(m *market.Market, all map[uuid.UUID]exchange.Record) {
	for page := (rest.Page{Limit: 1000}); ; {
		list, err := s.auditor.Orders(context.Background(), m, page)
		require.NoError(s.t, err)
		require.Empty(s.t, list.Unread)
		for i := range list.Records {
			r := &list.Records[i]
			if r.Order.ExchangeID.String() == page.To {
				continue
			}
			require.NotContains(s.t, all, r.Order.ClientOrderID, "two orders of one name")
			all[r.Order.ClientOrderID] = *r
		}
		if len(list.Records) < page.Limit {
			return
		}
		page.To = list.Records[len(list.Records)-1].Order.ExchangeID.String()
	}
}

func (s *stage) market() *market.Market {
	return s.units.MarketNamed("BTC-EUR")
}

// sameFills compares the trades of the account with the fills of the state file.
func (s *stage) sameFills(store *state.BotStore, a *audit) {
	type row struct {
		id     uuid.UUID
		price  market.Price
		amount market.Qty
		fee    market.Value
		taker  bool
	}
	var theirs, ours []row
	for _, m := range s.units.Markets() {
		for from, more := market.Time(1), true; more; {
			var trades []exchange.Trade
			var err error
			trades, more, err = s.auditor.Trades(context.Background(), m.ID, max(from, s.auditor.Now().Add(-30*24*hour)))
			require.NoError(s.t, err)
			for _, f := range trades {
				from = max(from, f.Time)
				theirs = append(theirs, row{f.ID, f.Price, f.Amount, f.Fee, f.Taker})
			}
		}
	}
	require.NoError(s.t, store.Fills(0, 0, func(f *state.FillRow) error {
		ours = append(ours, row{f.ID, f.Price, f.Amount, f.Fee, f.Taker})
		return nil
	}))
	byID := func(a, b row) int { return slices.Compare(a.id[:], b.id[:]) }
	slices.SortFunc(theirs, func(a, b row) int { return cmp.Or(byID(a, b), cmp.Compare(a.price, b.price)) })
	theirs = slices.Compact(theirs)
	slices.SortFunc(ours, byID)
	require.Equal(s.t, theirs, ours)
	a.fills = len(ours)
}

// openAtTheExchange lists the open orders of the account.
func (s *stage) openAtTheExchange() []exchange.Record {
	open, err := s.auditor.OpenOrders(context.Background())
	require.NoError(s.t, err)
	return open
}

// story is the journal of an order, for a person who looks into a failure.
func (s *stage) story(store *state.BotStore, id market.OrderID) (text string) {
	entries, err := store.Story(id)
	require.NoError(s.t, err)
	for i := range entries {
		text += fmt.Sprintf("\n%s %s %+v", entries[i].At, entries[i].Kind, entries[i].Record)
	}
	return text
}
