package killswitch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Exchange is the account that the switch acts on.
type Exchange interface {
	exchange.Trading
	// TickerPrices appends the latest price of each market of the catalog to dst.
	TickerPrices(ctx context.Context, dst []market.Ticker) ([]market.Ticker, error)
}

// Switch cancels open orders and sells positions at an exchange, without a bot's loop. It belongs
// to one goroutine.
type Switch struct {
	Exchange Exchange
	Catalog  *market.Catalog
	Log      *Log
	Own      func(o *market.Order) bool // whether an open order is this bot's
	Foreign  bool                       // cancel the orders of others too
	// Confirmed are the own orders that the exchange has confirmed and the bot knows no end of, by
	// their names: a list that lacks one is not believed before the order itself is asked for.
	Confirmed []market.Order
	Operator  int64                            // for requests about orders without an operatorId
	Say       func(format string, args ...any) // reports progress to a person
	Fault     func(point string)               // for tests: called between two steps; nil: not called
	report    SwitchResult
	known     map[uuid.UUID]bool // orders whose end this run knows
	kept      map[market.ID]bool // markets in which sells of the bot stay: KeepExits
}

// SwitchResult is the result of the switch.
type SwitchResult struct {
	Done      bool     `json:"done"`      // the exchange confirmed everything
	Log       string   `json:"log"`       // path of the log
	Cancelled int      `json:"cancelled"` // orders that have ended
	Open      []Left   `json:"open"`      // orders that may be open
	Kept      []Left   `json:"kept"`      // sells that stay, because nothing can be sold there now
	Bare      []Bare   `json:"bare"`      // what the bot holds and no order sells any more
	Sold      []Sale   `json:"sold"`
	Unsold    []string `json:"unsold"` // each with its reason
}

// Bare is an amount that a bot holds and that no order of its own sells.
type Bare struct {
	Strategy string `json:"strategy"`
	Market   string `json:"market"`
	Amount   string `json:"amount"`
}

// Left is an order that may be open.
type Left struct {
	Client uuid.UUID `json:"client_order_id"`
	Order  uuid.UUID `json:"order_id,omitzero"`
	Market string    `json:"market"`
	Reason string    `json:"reason"`
}

// Sale is a sale that has ended.
type Sale struct {
	Client   uuid.UUID `json:"client_order_id"`
	Strategy string    `json:"strategy,omitempty"`
	Market   string    `json:"market"`
	Amount   string    `json:"amount"` // base, as filled
	Value    string    `json:"value"`  // quote, before fees
}

// The waits of the switch.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 2 * time.Second
	margin    = 2 * time.Second // beyond a request's window, and between two answers that make an absence certain
)

// Margin is how long beyond the window of a request the exchange may still seem to take it.
const Margin = market.Duration(margin)

// Begin logs that a person has started the switch.
func (s *Switch) Begin(by string, flatten bool) error {
	s.report = SwitchResult{Done: true, Log: s.Log.path, Open: []Left{}, Kept: []Left{}, Bare: []Bare{},
		Sold: []Sale{}, Unsold: []string{}}
	s.known = map[uuid.UUID]bool{}
	return s.note(&Line{Kind: KindBegin, AtMS: s.Exchange.Now().Millis(), By: by, Flatten: flatten})
}

// End logs the end of the switch, and returns the report.
func (s *Switch) End() (*SwitchResult, error) {
	answer := "all confirmed"
	if !s.report.Done {
		answer = "not all confirmed"
	}
	return &s.report, s.note(&Line{Kind: KindDone, AtMS: s.Exchange.Now().Millis(), Answer: answer})
}

// Leave lists what is held without an order that sells it, after all cancels and sales.
func (s *Switch) Leave(wants []Want) {
	for i := range wants {
		w := &wants[i]
		m := s.Catalog.Market(w.Market)
		for _, sale := range s.report.Sold {
			if sale.Market != m.Name || sale.Strategy != w.Strategy {
				continue
			}
			if sold, err := m.ParseQty(sale.Amount); err == nil {
				w.Amount -= sold
			}
		}
		if w.Amount > 0 && !s.kept[w.Market] {
			s.report.Bare = append(s.report.Bare,
				Bare{Strategy: w.Strategy, Market: m.Name, Amount: m.FormatQty(w.Amount)})
		}
	}
}

// Fail marks the report as not confirmed because of an error that is not the log's, and returns the
// error.
func (s *Switch) Fail(err error) error {
	s.report.Done = false
	return err
}

func (s *Switch) note(l *Line) error {
	err := s.Log.Append(l)
	s.at(string(l.Kind) + " logged")
	return err
}

func (s *Switch) at(point string) {
	if s.Fault != nil {
		s.Fault(point)
	}
}

// Cancel cancels the open orders until none is left or ctx ends. Failed cancels are repeated. The
// error comes from the log, or from an exchange that refuses to list the open orders.
func (s *Switch) Cancel(ctx context.Context) error {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		open, err := s.open(ctx)
		if err != nil {
			s.report.Done = false
			return fmt.Errorf("list the open orders: %w", err)
		}
		if len(open) == 0 {
			return nil
		}
		s.report.Open = s.report.Open[:0]
		for i := range open {
			if err := s.cancel(ctx, &open[i]); err != nil {
				return err
			}
		}
		for i := range open {
			if err := s.confirm(ctx, &open[i]); err != nil {
				return err
			}
		}
		if len(s.report.Open) > 0 && !pause(ctx, wait) {
			s.report.Done = false
			return nil
		}
	}
}

// open lists the orders to cancel.
func (s *Switch) open(ctx context.Context) (open []market.Order, err error) {
	var records []exchange.WireOrder
	err = retry(ctx, func() (err error) {
		records, err = s.Exchange.OpenOrders(ctx)
		return err
	})
	if err == nil {
		records, err = s.complete(ctx, records)
	}
	if err != nil {
		return nil, err
	}
	s.report.Kept = s.report.Kept[:0]
	for i := range records {
		o := &records[i].Order
		switch {
		case !s.Foreign && !s.Own(o):
		case s.kept[o.Market] && o.Side == market.Sell && s.Own(o):
			s.report.Kept = append(s.report.Kept, Left{Client: o.ClientOrderID, Order: o.ExchangeID,
				Market: s.Catalog.Market(o.Market).Name, Reason: "nothing can be sold there now"})
		default:
			open = append(open, *o)
		}
	}
	return open, nil
}

// complete adds to a list the confirmed orders that it lacks and that have not ended.
func (s *Switch) complete(ctx context.Context, records []exchange.WireOrder) ([]exchange.WireOrder, error) {
	listed := map[uuid.UUID]bool{}
	for i := range records {
		listed[records[i].Order.ExchangeID] = true
	}
	for i := range s.Confirmed {
		o := &s.Confirmed[i]
		if listed[o.ExchangeID] || s.known[o.ExchangeID] || !s.Own(o) {
			continue
		}
		var record exchange.WireOrder
		err := retry(ctx, func() (err error) {
			record, err = s.Exchange.OrderUrgent(ctx, o.Market, o.ClientOrderID, o.ExchangeID)
			return err
		})
		switch {
		case err == nil && !record.Order.Done():
			records = append(records, record)
		case err == nil, refused(err): // it has ended, or the exchange knows it no more
			s.known[o.ExchangeID] = true
		default:
			return nil, err
		}
	}
	return records, nil
}

// cancel sends one cancel. Its outcome shows in the order itself.
func (s *Switch) cancel(ctx context.Context, o *market.Order) error {
	c := market.Command{Kind: market.CommandCancel, Order: *o}
	if c.Order.OperatorID == 0 {
		c.Order.OperatorID = s.Operator
	}
	intent, err := s.Exchange.Prepare(&c)
	if err != nil {
		return err
	}
	m := s.Catalog.Market(o.Market)
	line := Line{Kind: KindCancel, AtMS: s.Exchange.Now().Millis(), Client: o.ClientOrderID, Order: o.ExchangeID,
		Market: m.Name, Operator: c.Order.OperatorID,
		Method: intent.Method, Path: intent.Path, SignedMS: intent.Timestamp, WindowMS: intent.Window}
	if err := s.note(&line); err != nil {
		return err
	}
	_, err = s.Exchange.Send(ctx, &intent)
	s.at("cancel sent")
	return s.outcome(o, err)
}

// outcome logs the exchange's answer.
func (s *Switch) outcome(o *market.Order, err error) error {
	l := Line{Kind: KindOutcome, AtMS: s.Exchange.Now().Millis(), Client: o.ClientOrderID, Order: o.ExchangeID,
		Answer: exchange.OutcomeOf(err).String()}
	if err != nil {
		l.Message = err.Error()
	}
	return s.note(&l)
}

// confirm queries how a cancelled order has ended.
func (s *Switch) confirm(ctx context.Context, o *market.Order) error {
	record, err := s.Exchange.OrderUrgent(ctx, o.Market, o.ClientOrderID, o.ExchangeID)
	m := s.Catalog.Market(o.Market)
	l := Line{Kind: KindEnd, AtMS: s.Exchange.Now().Millis(), Client: o.ClientOrderID, Order: o.ExchangeID,
		Market: m.Name}
	switch {
	case err == nil && record.Order.Done():
		l.Answer, l.Amount = record.Order.Status.String(), m.FormatQty(record.Order.FilledAmount)
	case notFound(err):
		l.Answer = "absent"
	case err == nil:
		s.left(o, "it is still "+record.Order.Status.String())
		return nil
	default:
		s.left(o, err.Error())
		return nil
	}
	if !s.known[o.ExchangeID] {
		s.known[o.ExchangeID] = true
		s.report.Cancelled++
		s.Say("cancelled: %s %s %s", m.Name, o.Side, o.ClientOrderID)
	}
	return s.note(&l)
}

// Under adds an order of which a write may still arrive to the report.
func (s *Switch) Under(o *market.Order, reason string) {
	s.report.Done = false
	s.left(o, reason)
}

func (s *Switch) left(o *market.Order, reason string) {
	s.report.Open = append(s.report.Open,
		Left{Client: o.ClientOrderID, Order: o.ExchangeID, Market: s.Catalog.Market(o.Market).Name, Reason: reason})
}

// notFound reports whether the exchange does not know the order.
func notFound(err error) bool {
	var no *exchange.Error
	return errors.As(err, &no) && no.Code == exchange.CodeNotFound
}

// pause waits; false: ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// retry asks until there is an answer, a refusal that would be repeated, or ctx ends.
func retry(ctx context.Context, ask func() error) error {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := ask()
		if err == nil || refused(err) || !pause(ctx, wait) {
			return err
		}
	}
}

func refused(err error) bool {
	var no *exchange.Error
	return errors.As(err, &no) && no.Outcome() == exchange.Rejected && no.Code != exchange.CodeBanned &&
		no.Status != http.StatusTooManyRequests
}
