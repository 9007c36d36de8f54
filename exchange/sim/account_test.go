package sim

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// tell writes an event down: the moment on the script's clock (minutes and seconds), then
//
//	order 1 EXEC: STATUS, filled of amount @ price, holds MONEY, reason
//	  fill AMOUNT @ PRICE, fee FEE (maker|taker)
//	order 1 rejected: place, CODE
//	price 95                            a watched price was reached
//	timer                               a timer rang inside the path
func (s *stage) tell(ev *market.Event) {
	clock := fmt.Sprintf("%02d:%02d ", ev.At/60e9, ev.At%60e9/1e9)
	switch ev.Kind {
	case market.KindTimer:
		fmt.Fprintf(&s.heard, "%s timer\n", clock)
		return
	case market.KindTrade:
		fmt.Fprintf(&s.heard, "%s price %s\n", clock, s.catalog.Market(ev.Market).FormatPrice(ev.Trade.Price))
		return
	}
	r, m := ev.Report, s.catalog.Market(ev.Market)
	if r.Exec == market.ExecRejected {
		fmt.Fprintf(&s.heard, "%s order %d rejected: %s, %d\n", clock, r.Order, r.Command, r.Code)
		return
	}
	exec, told := s.merged(r)
	if !told {
		return
	}
	fmt.Fprintf(&s.heard, "%s order %d %s: %s\n", clock, r.Order, exec, s.state(m, r))
	for _, f := range ev.Fills {
		who := "maker"
		if f.Taker {
			who = "taker"
		}
		fmt.Fprintf(&s.heard, "       fill %s @ %s, fee %s (%s)\n", m.FormatQty(f.Amount), m.FormatPrice(f.Price),
			m.FormatValue(f.Fee), who)
	}
}

// state describes an order as a report tells it.
func (s *stage) state(m *market.Market, r *market.Report) string {
	parts := []string{r.Status.String(), s.size(m, r)}
	if r.TriggerAmount != 0 && !r.Triggered {
		parts = append(parts, "trigger "+m.FormatPrice(r.TriggerAmount))
	}
	if r.OnHold != 0 {
		digits := m.QuoteDigits
		if o := s.venue.orders.Get(r.Order); o != nil && o.Side == market.Sell {
			digits = m.AmountDigits
		}
		parts = append(parts, "holds "+market.FormatFixed(int64(r.OnHold), digits))
	}
	if r.RestatementReason != 0 {
		parts = append(parts, r.RestatementReason.String())
	}
	return strings.Join(parts, ", ")
}

// size says how much of an order is filled.
func (s *stage) size(m *market.Market, r *market.Report) string {
	text := m.FormatQty(r.FilledAmount) + " of " + m.FormatQty(r.Amount)
	if r.AmountQuote != 0 {
		text = m.FormatQty(r.FilledAmount) + " for " + m.FormatMoney(r.AmountQuote-r.AmountQuoteRemaining) + " of " +
			m.FormatMoney(r.AmountQuote) + " EUR"
	}
	if r.Price != 0 {
		text += " @ " + m.FormatPrice(r.Price)
	}
	return text
}

// end writes down what the account has, and how many candles were ambiguous.
func (s *stage) end() {
	if len(s.open().accounts.list) > 1 {
		s.endAll()
		return
	}
	for _, asset := range s.catalog.Assets() {
		balance := s.open().Balance(asset.ID)
		if balance == (Balance{}) {
			continue
		}
		fmt.Fprintf(&s.heard, "%s %s", asset.Symbol, market.FormatFixed(int64(balance.Total), asset.Digits))
		if balance.Held != 0 {
			fmt.Fprintf(&s.heard, ", held %s", market.FormatFixed(int64(balance.Held), asset.Digits))
		}
		s.heard.WriteByte('\n')
	}
	if n := s.open().Ambiguous(); n > 0 {
		fmt.Fprintf(&s.heard, "ambiguous candles %d\n", n)
	}
	if c := s.open().Counts(); c != (QueueCounts{}) {
		fmt.Fprintf(&s.heard, "counts %+v\n", c)
	}
}

// merged is what a Path would have told at a report. A Book reports an order that is on its way
// before more happens to it; a Path has one report for both.
func (s *stage) merged(r *market.Report) (exec market.ExecutionType, told bool) {
	if s.onTheWay == nil {
		return r.Exec, true
	}
	first := s.onTheWay[r.Order]
	if o := s.venue.Order(r.Order); !o.Visible && !o.Done() {
		s.onTheWay[r.Order] = cmp.Or(first, r.Exec)
		return 0, false
	}
	delete(s.onTheWay, r.Order)
	switch r.Exec {
	case market.ExecRestated, market.ExecTriggered:
		return cmp.Or(first, r.Exec), true
	case market.ExecTrade:
		if first == market.ExecUpdated {
			return first, true
		}
	}
	return r.Exec, true
}
