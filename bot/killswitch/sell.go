package killswitch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// maxSales is the most sales of one position that sell less than they were to: the exchange may end
// a sale before it is filled.
const maxSales = 5

// dustShare is the share of what was bought that counts as dust where it is too small to be sold.
const dustShare = 10

// Want is an amount to be sold.
type Want struct {
	Strategy string // the holder; empty: a person typed the amount
	Market   market.ID
	Amount   market.Qty
	Operator int64
	OpenedMS int64 // when the holder began to hold it; 0: unknown
}

// Sell sells at market. A sale leaves once; its end is queried, and another follows only for what
// is certainly left. Amounts that may not be sold, because of the market's minimum or status or
// because the account has less, are listed in the report. The error comes from the log.
func (s *Switch) Sell(ctx context.Context, wants []Want) error {
	for i := range wants {
		if err := s.sell(ctx, &wants[i]); err != nil {
			return err
		}
	}
	return nil
}

// sell sells one position in one or more sales.
func (s *Switch) sell(ctx context.Context, w *Want) error {
	m, left := s.Catalog.Market(w.Market), w.Amount
	for short := 0; short < maxSales; {
		o, small, why := s.order(ctx, w, left)
		if why != "" {
			dust, err := s.dust(ctx, w, left, small)
			if err != nil {
				return err
			}
			s.unsold(w, left, why)
			s.report.Done = s.report.Done && dust
			return nil
		}
		filled, certain, err := s.sellOnce(ctx, w, o)
		if err != nil {
			return err
		}
		if !certain {
			s.unsold(w, left, fmt.Sprintf("it is not known what became of sale %s; it is asked for by the next start, "+
				"and by the next bot cancel-all --direct", o.ClientOrderID))
			s.report.Done = false
			return nil
		}
		if left -= filled; left <= 0 {
			return nil
		}
		if filled < o.Amount {
			short++
		}
		s.Say("%s of %s %s are left to sell", m.FormatQty(left), m.FormatQty(w.Amount), m.Name)
	}
	s.unsold(w, left, fmt.Sprintf("not all could be sold in %d sales", maxSales))
	s.report.Done = false
	return nil
}

// unsold reports an amount that stays unsold, and why.
func (s *Switch) unsold(w *Want, left market.Qty, why string) {
	m := s.Catalog.Market(w.Market)
	s.report.Unsold = append(s.report.Unsold, fmt.Sprintf("%s%s %s: %s", owner(w.Strategy), m.FormatQty(left), m.Name,
		why))
}

// dust reports whether the unsold rest of a want is dust: it is too small to be sold, and a small
// part of the want or of all purchases since the position was opened.
func (s *Switch) dust(ctx context.Context, w *Want, left market.Qty, small bool) (bool, error) {
	switch {
	case !small:
		return false, nil
	case left <= w.Amount/dustShare:
		return true, nil
	case w.OpenedMS == 0:
		return false, nil
	}
	opened, err := market.TimeOfMillis(w.OpenedMS)
	if err != nil {
		return false, err
	}
	bought, m := market.Qty(0), s.Catalog.Market(w.Market)
	err = s.trades(ctx, m, opened.Add(-market.Duration(time.Minute)), func(t *exchange.Trade) {
		if t.Side == market.Buy {
			bought += t.Amount
		}
	})
	if err != nil {
		return false, fmt.Errorf("purchases in %s: %w", m.Name, err)
	}
	return left <= bought/dustShare, nil
}

// owner begins a line with a strategy's name; empty for none.
func owner(strategy string) string {
	if strategy == "" {
		return ""
	}
	return strategy + ": "
}

// order makes the next sale by the market's rules. why: no sale is possible; dust: the rest is too
// small.
func (s *Switch) order(ctx context.Context, w *Want, left market.Qty) (o *market.Order, dust bool, why string) {
	m := s.Catalog.Market(w.Market)
	var held []exchange.Holding
	var prices []market.Ticker
	err := retry(ctx, func() (err error) {
		if held, err = s.Exchange.Holdings(ctx); err == nil {
			prices, err = s.Exchange.TickerPrices(ctx, prices[:0])
		}
		return err
	})
	if err != nil {
		return nil, false, "the account could not be asked: " + err.Error()
	}
	facts := exchange.Facts{}
	for _, t := range prices {
		if t.Market == m.ID {
			facts.Reference = t.Last
		}
	}
	for _, h := range held {
		if h.Asset == m.Base {
			facts.Available = h.Available
		}
	}
	amount := exchange.PortionAtMarket(m, min(left, market.Qty(facts.Available)), facts.Reference)
	if unit := market.Qty(market.Pow10(m.AmountDigits - m.QuantityDecimals)); unit > 1 {
		amount -= amount % unit
	}
	if amount <= 0 {
		return nil, left <= market.Qty(facts.Available), "the account has " + m.FormatQty(market.Qty(facts.Available)) +
			" available; another order may hold the rest"
	}
	o = &market.Order{Market: m.ID, Side: market.Sell, Type: market.TypeMarket, OperatorID: w.Operator,
		OrderState: market.OrderState{Amount: amount, AmountRemaining: amount, TimeInForce: market.GTC,
			SelfTradePrevention: market.DecrementAndCancel}, ClientOrderID: uuid.New()}
	if _, refused := exchange.CheckPlace(m, o, &facts); refused != nil {
		return nil, amount == left && tooSmall(refused), refused.Error() + sizeText(m, amount, facts.Reference)
	}
	return o, false, ""
}

func tooSmall(refused *exchange.Error) bool {
	return refused.Code == exchange.CodeMinBase || refused.Code == exchange.CodeMinQuote
}

// sizeText is the value of an amount, beside a refusal.
func sizeText(m *market.Market, amount market.Qty, price market.Price) string {
	worth, err := m.Notional(price, amount)
	if err != nil || price == 0 {
		return ""
	}
	_, quote, _ := strings.Cut(m.Name, "-")
	return fmt.Sprintf(" (worth %s %s)", m.FormatMoney(worth), quote)
}

// KeepExits keeps the bot's sells in markets in which nothing of what is wanted could be sold now:
// an exit goes only where a sale replaces it. Without prices it knows less, and keeps fewer.
func (s *Switch) KeepExits(ctx context.Context, wants []Want) {
	prices, err := s.Exchange.TickerPrices(ctx, nil)
	if err != nil {
		s.Say("the prices could not be asked for: %v", err)
	}
	s.kept = map[market.ID]bool{}
	could := map[market.ID]bool{}
	for i := range wants {
		w := &wants[i]
		m := s.Catalog.Market(w.Market)
		facts := exchange.Facts{Available: market.Money(w.Amount)}
		for _, t := range prices {
			if t.Market == m.ID {
				facts.Reference = t.Last
			}
		}
		amount := exchange.PortionAtMarket(m, w.Amount, facts.Reference)
		o := market.Order{Market: m.ID, Side: market.Sell, Type: market.TypeMarket, OrderState: market.OrderState{
			Amount: amount, AmountRemaining: amount, TimeInForce: market.GTC}}
		if _, refused := exchange.CheckPlace(m, &o, &facts); refused == nil {
			could[m.ID] = true
		}
	}
	for i := range wants {
		s.kept[wants[i].Market] = !could[wants[i].Market]
	}
}

// sellOnce logs a sale, sends it, and waits until its end is certain.
func (s *Switch) sellOnce(ctx context.Context, w *Want, o *market.Order) (filled market.Qty, certain bool, err error) {
	m := s.Catalog.Market(o.Market)
	intent, err := s.Exchange.Prepare(&market.Command{Kind: market.CommandPlace, Order: *o})
	if err != nil {
		return 0, false, err
	}
	line := Line{Kind: KindSell, AtMS: s.Exchange.Now().Millis(), Client: o.ClientOrderID, Market: m.Name,
		Strategy: w.Strategy, Operator: o.OperatorID,
		Amount: m.FormatQty(o.Amount), Method: intent.Method, Path: intent.Path, Body: string(intent.Body),
		SignedMS: intent.Timestamp, WindowMS: intent.Window}
	if err := s.note(&line); err != nil {
		return 0, false, err
	}
	_, sent := s.Exchange.Send(ctx, &intent)
	s.at("sell sent")
	if err := s.outcome(o, sent); err != nil {
		return 0, false, err
	}
	if exchange.OutcomeOf(sent) == exchange.Rejected {
		s.Say("the exchange refused to sell %s %s: %v", m.FormatQty(o.Amount), m.Name, sent)
		return 0, true, s.note(&Line{Kind: KindEnd, AtMS: s.Exchange.Now().Millis(), Client: o.ClientOrderID,
			Market: m.Name, Strategy: w.Strategy, Answer: "rejected", Amount: "0"})
	}
	return s.resolve(ctx, &line)
}

// resolve waits until the end of a sale, or its absence, is certain, and logs it.
func (s *Switch) resolve(ctx context.Context, sale *Line) (filled market.Qty, certain bool, err error) {
	m := s.Catalog.MarketNamed(sale.Market)
	if m == nil {
		return 0, false, nil
	}
	record, absent := s.outcomeOf(ctx, m, sale)
	if record == nil && !absent {
		return 0, false, nil
	}
	l := Line{Kind: KindEnd, AtMS: s.Exchange.Now().Millis(), Client: sale.Client, Market: m.Name,
		Strategy: sale.Strategy, Answer: "absent", Amount: "0"}
	if record != nil {
		o := &record.Order
		filled, l.Order, l.Answer = o.FilledAmount, o.ExchangeID, o.Status.String()
		l.Amount, l.Value = m.FormatQty(o.FilledAmount), m.FormatValue(o.FilledAmountQuote)
		s.report.Sold = append(s.report.Sold, Sale{Client: sale.Client, Strategy: sale.Strategy, Market: m.Name,
			Amount: l.Amount, Value: l.Value})
		s.Say("sold: %s%s %s for %s", owner(sale.Strategy), l.Amount, m.Name, l.Value)
	}
	return filled, true, s.note(&l)
}

// outcomeOf queries a sale until it has ended, or certainly does not exist: two queries apart, both
// after the end of its window, do not find it, and neither the open orders nor the trades have it.
func (s *Switch) outcomeOf(ctx context.Context, m *market.Market, sale *Line) (record *exchange.WireOrder,
	absent bool) {
	until := time.Duration(sale.SignedMS+sale.WindowMS)*time.Millisecond + margin
	var first market.Time // of the answers that do not find it
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		asked := s.Exchange.Now()
		found, err := s.Exchange.Order(ctx, m.ID, sale.Client, uuid.Nil)
		switch {
		case err == nil && found.Order.Done():
			return &found, false
		case !notFound(err), asked.Millis() <= until.Milliseconds():
		case first == 0:
			first = asked
		case asked.Sub(first) >= margin:
			if s.unlisted(ctx, m, sale) {
				return nil, true
			}
			first = 0
		}
		if !pause(ctx, wait) {
			return nil, false
		}
	}
}

// unlisted reports whether neither open orders nor trades show a sale.
func (s *Switch) unlisted(ctx context.Context, m *market.Market, sale *Line) bool {
	open, err := s.Exchange.OpenOrders(ctx)
	if err != nil {
		return false
	}
	for i := range open {
		if open[i].Order.ClientOrderID == sale.Client {
			return false
		}
	}
	from, err := market.TimeOfMillis(sale.SignedMS)
	if err != nil {
		return false
	}
	there := false
	err = s.trades(ctx, m, from.Add(-margin),
		func(t *exchange.Trade) { there = there || t.ClientOrderID == sale.Client })
	return err == nil && !there
}

// trades pages through the account's trades in a market and visits each once.
func (s *Switch) trades(ctx context.Context, m *market.Market, from market.Time, visit func(*exchange.Trade)) error {
	seen := map[uuid.UUID]bool{}
	for more := true; more; {
		var trades []exchange.Trade
		err := retry(ctx, func() (err error) {
			trades, more, err = s.Exchange.Trades(ctx, m.ID, max(from, 1))
			return err
		})
		if err != nil {
			return err
		}
		for i := range trades {
			from = max(from, trades[i].Time)
			if !seen[trades[i].ID] {
				seen[trades[i].ID] = true
				visit(&trades[i])
			}
		}
	}
	return nil
}
