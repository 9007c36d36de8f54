package killswitch

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Names recognises own orders by their client order ids.
type Names struct {
	holdings *Holdings // nil: none
	listed   map[uuid.UUID]*HeldOrder
	sales    map[uuid.UUID]bool
	numbers  map[uuid.UUID]int64 // of the run's orders near the last; nil: not computed yet
}

// The numbers tried around a bot's last order: it may have placed more orders since it wrote its
// holdings.
const (
	numbersBefore = 10_000
	numbersAfter  = 100_000
)

// NewNames recognises the orders in a bot's holdings, which may be nil, later orders of the same
// run, and the sales of a log.
func NewNames(h *Holdings, lines []Line) *Names {
	n := &Names{holdings: h, listed: map[uuid.UUID]*HeldOrder{}, sales: map[uuid.UUID]bool{}}
	if h != nil {
		for i := range h.Orders {
			n.listed[h.Orders[i].Client] = &h.Orders[i]
		}
	}
	for i := range lines {
		if lines[i].Kind == KindSell {
			n.sales[lines[i].Client] = true
		}
	}
	return n
}

// Own reports whether an order is the bot's.
func (n *Names) Own(client uuid.UUID) bool {
	if client == uuid.Nil {
		return false
	}
	_, made := n.number(client)
	return n.listed[client] != nil || n.sales[client] || made
}

// Confirmed are the orders in a bot's holdings that the exchange has confirmed, by their names.
func (n *Names) Confirmed(c *market.Catalog) (orders []market.Order) {
	if n.holdings == nil {
		return nil
	}
	for i := range n.holdings.Orders {
		o := &n.holdings.Orders[i]
		if m := c.MarketNamed(o.Market); m != nil && o.Order != uuid.Nil {
			orders = append(orders, market.Order{Market: m.ID, ClientOrderID: o.Client, ExchangeID: o.Order})
		}
	}
	return orders
}

// number is the number of an order of the current run.
func (n *Names) number(client uuid.UUID) (number int64, made bool) {
	if n.holdings == nil || n.holdings.Run == uuid.Nil {
		return 0, false
	}
	if n.numbers == nil {
		n.numbers = map[uuid.UUID]int64{}
		for i := max(1, n.holdings.LastOrder-numbersBefore); i <= n.holdings.LastOrder+numbersAfter; i++ {
			n.numbers[market.ClientOrderID(n.holdings.Run, market.OrderID(i))] = i
		}
	}
	number, made = n.numbers[client]
	return number, made
}

// Settle resolves the sales in the log that have no end. In a market with an unknown sale nothing
// more is sold.
func (s *Switch) Settle(ctx context.Context) (unknown map[string]bool, err error) {
	ended := map[uuid.UUID]bool{}
	for _, l := range s.Log.Lines() {
		if l.Kind == KindEnd {
			ended[l.Client] = true
		}
	}
	unknown = map[string]bool{}
	for _, l := range slices.Clone(s.Log.Lines()) {
		if l.Kind != KindSell || ended[l.Client] {
			continue
		}
		s.Say("asking what became of an earlier sale of %s %s (%s)", l.Amount, l.Market, l.Client)
		_, certain, err := s.resolve(ctx, &l)
		if err != nil {
			return nil, err
		}
		if !certain {
			unknown[l.Market] = true
			s.report.Done = false
			s.report.Unsold = append(s.report.Unsold,
				fmt.Sprintf("%s: it is not known what became of the earlier sale %s: nothing more is sold there",
					l.Market, l.Client))
		}
	}
	return unknown, nil
}

// Wants are the amounts of a bot's holdings that are still to be sold. Later sales are taken off:
// those of the bot's orders, those in the switch's log, and other trades of the account. Later
// purchases are not added.
func (s *Switch) Wants(ctx context.Context, n *Names, operator func(strategy string) int64) ([]Want, error) {
	wants, err := s.Held(n, operator)
	if err != nil {
		return nil, err
	}
	for _, p := range n.holdings.Positions {
		if s.Catalog.MarketNamed(p.Market) == nil {
			s.report.Done = false
			s.report.Unsold = append(s.report.Unsold, fmt.Sprintf("%s: %s %s: the exchange does not list the market",
				p.Strategy, p.Amount, p.Market))
		}
	}
	if err := s.subtractOrders(ctx, n, wants); err != nil {
		return nil, err
	}
	s.subtractSales(wants, n)
	return wants, s.subtractTrades(ctx, n, wants)
}

// Held are the positions of the bot's holdings file, in markets that the exchange lists.
func (s *Switch) Held(n *Names, operator func(strategy string) int64) (wants []Want, err error) {
	for _, p := range n.holdings.Positions {
		m := s.Catalog.MarketNamed(p.Market)
		if m == nil {
			continue
		}
		amount, err := m.ParseQty(p.Amount)
		if err != nil {
			return nil, fmt.Errorf("%s: position of %s in %s: %w", HoldingsFile, p.Strategy, p.Market, err)
		}
		if amount > 0 {
			wants = append(wants, Want{Strategy: p.Strategy, Market: m.ID, Amount: amount,
				Operator: operator(p.Strategy), OpenedMS: p.OpenedMS})
		}
	}
	return wants, nil
}

// reduce subtracts a sold amount from a strategy's wants in a market, and the part that it does not
// have from the others'.
func reduce(wants []Want, strategy string, m market.ID, sold market.Qty) {
	for _, own := range [...]bool{true, false} {
		for i := range wants {
			w := &wants[i]
			if w.Market == m && (w.Strategy == strategy) == own {
				part := min(sold, w.Amount)
				w.Amount, sold = w.Amount-part, sold-part
			}
		}
	}
}

// subtractOrders subtracts what the bot's sell orders have filled since.
func (s *Switch) subtractOrders(ctx context.Context, n *Names, wants []Want) error {
	for i := range n.holdings.Orders {
		o := &n.holdings.Orders[i]
		m := s.Catalog.MarketNamed(o.Market)
		if o.Side != market.Sell.String() || m == nil {
			continue
		}
		before, err := m.ParseQty(o.Filled)
		if err != nil {
			return fmt.Errorf("%s: order %s: %w", HoldingsFile, o.Client, err)
		}
		var record exchange.WireOrder
		err = retry(ctx, func() (err error) {
			record, err = s.Exchange.Order(ctx, m.ID, o.Client, uuid.Nil)
			return err
		})
		if err != nil && !notFound(err) {
			return fmt.Errorf("ask for order %s: %w", o.Client, err)
		}
		if err != nil && o.WindowMS != 0 { // the order may still arrive
			found, absent := s.outcomeOf(ctx, m, &Line{Client: o.Client, SignedMS: o.SentMS, WindowMS: o.WindowMS})
			if found == nil && !absent {
				return fmt.Errorf("it is not known what became of order %s, which sells", o.Client)
			}
			if found != nil {
				record = *found
			}
		}
		reduce(wants, o.Strategy, m.ID, max(0, record.Order.FilledAmount-before))
	}
	return nil
}

// subtractSales subtracts the log's sales that the holdings do not include.
func (s *Switch) subtractSales(wants []Want, n *Names) {
	for _, l := range s.Log.Lines() {
		m := s.Catalog.MarketNamed(l.Market)
		if l.Kind != KindEnd || m == nil || !n.sales[l.Client] || n.listed[l.Client] != nil {
			continue
		}
		if sold, err := m.ParseQty(l.Amount); err == nil {
			reduce(wants, l.Strategy, m.ID, sold)
		}
	}
}

// subtractTrades subtracts later trades: of orders that the holdings do not list, and of others.
func (s *Switch) subtractTrades(ctx context.Context, n *Names, wants []Want) error {
	from, err := market.TimeOfMillis(n.holdings.AtMS)
	if err != nil {
		return fmt.Errorf("%s: %w", HoldingsFile, err)
	}
	asked := map[market.ID]bool{}
	for i := range wants {
		m := s.Catalog.Market(wants[i].Market)
		if asked[m.ID] {
			continue
		}
		asked[m.ID] = true
		sold := market.Qty(0)
		err := s.trades(ctx, m, from, func(t *exchange.Trade) {
			number, made := n.number(t.ClientOrderID)
			booked := made && number <= n.holdings.LastOrder || n.listed[t.ClientOrderID] != nil ||
				n.sales[t.ClientOrderID]
			if t.Side == market.Sell && !booked && t.Time >= from {
				sold += t.Amount
			}
		})
		if err != nil {
			return fmt.Errorf("trades in %s since the holdings were left: %w", m.Name, err)
		}
		if sold > 0 {
			s.Say("%s %s were sold since the bot left its holdings: that much less is sold", m.FormatQty(sold), m.Name)
			reduce(wants, "", m.ID, sold)
		}
	}
	return nil
}
