package strategytest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// engine is a Bench as strategy.Engine and strategy.AccountView, for its Desk.
type engine Bench

// errRecalling is the answer to asks while Restart replays history.
var errRecalling = errors.New("refused: warm_up")

func (e *engine) Now() market.Time { return e.At }

func (e *engine) Catalog() *market.Catalog { return &e.catalog }

func (e *engine) Book() strategy.AccountView { return e }

// Admit lets a test use the desk anywhere.
func (e *engine) Admit(market.StrategyID, string) bool { return true }

// Plotter is the bench itself.
func (e *engine) Plotter() strategy.Plotter { return e }

// Plot writes a line for Plotted.
func (e *engine) Plot(_ market.StrategyID, p strategy.Plotted) {
	line := "mark " + p.Name
	if !p.Mark {
		value, pane := p.Value/float64(market.Pow10(e.catalog.Market(p.Market).PriceDigits)), ""
		if p.Pane != "" {
			value, pane = p.Value, " in "+p.Pane
		}
		line = fmt.Sprintf("%s %.6g%s", p.Name, value, pane)
	}
	if len(e.catalog.Markets()) > 1 {
		line += " on " + e.catalog.Market(p.Market).Name
	}
	e.plotted = append(e.plotted, line)
}

// Members are the test's, or all markets.
func (e *engine) Members(market.StrategyID) []market.ID {
	if e.Universe != nil {
		return e.Universe
	}
	var all []market.ID
	for _, m := range e.catalog.Markets() {
		all = append(all, m.ID)
	}
	return all
}

// Costs are none: a market buy pays the latest price.
func (e *engine) Costs(m market.ID) strategy.Costs { return strategy.Costs{Buy: e.last[m]} }

// Exits are those of the open order; an entry that has ended has none here.
func (e *engine) Exits(_ market.StrategyID, id market.OrderID) (levels market.Bracket, found bool) {
	o := e.Order(id)
	if o == nil {
		return market.Bracket{}, false
	}
	return o.Bracket, true
}

// Equity is the cash and all positions at the latest prices.
func (e *engine) Equity(quote market.AssetID) (market.Money, error) {
	equity := e.cash[quote]
	for _, m := range e.catalog.Markets() {
		if m.Quote != quote {
			continue
		}
		value, err := m.Notional(e.last[m.ID], e.positions[m.ID].Amount)
		if err != nil {
			return 0, err
		}
		equity += value
	}
	return equity, nil
}

// EquityOf is Equity: there is one strategy.
func (e *engine) EquityOf(_ market.StrategyID, quote market.AssetID) (market.Money, error) {
	return e.Equity(quote)
}

// Signal is the latest that the test let the strategy hear: about the latest time, and known last.
func (e *engine) Signal(source string, m market.ID) (last market.Signal, heard bool) {
	for i := range e.heard {
		s := &e.heard[i]
		if s.Source == source && (s.Market == 0 || s.Market == m) &&
			(!heard || cmp.Or(cmp.Compare(s.Time, last.Time), cmp.Compare(s.Known, last.Known)) >= 0) {
			last, heard = *s, true
		}
	}
	return last, heard && last.Holds(e.At)
}

func (e *engine) SetTimer(_ market.StrategyID, at market.Time, name int64) {
	if e.recalling {
		return
	}
	e.Timers = append(e.Timers, Timer{at, name})
}

func (e *engine) Ask(_ market.StrategyID, c *market.Command, f *strategy.Follow) (market.OrderID, error) {
	if e.recalling {
		return 0, errRecalling
	}
	if c.Kind == market.CommandPlace { // as the gate does
		m, o := e.catalog.Market(c.Order.Market), &c.Order
		o.Price, o.Amount = m.RoundPrice(o.Side, o.Price), m.RoundAmount(o.Amount)
	}
	in := c.Order.Market
	if o := e.Order(c.Order.ID); o != nil {
		in = o.Market // an update names only its order
	}
	line := e.describe(c)
	if in != 0 {
		line += e.following(in, f)
	}
	if e.Refuse != nil {
		if err := e.Refuse(c); err != nil {
			e.asked = append(e.asked, line+" refused")
			return 0, err
		}
	}
	e.asked = append(e.asked, line)
	switch c.Kind {
	case market.CommandPlace:
		return e.place(c.Order), nil
	case market.CommandUpdate:
		e.update(c)
	case market.CommandCancel:
		if !e.Pending {
			(*Bench)(e).Drop(c.Order.ID)
		}
	}
	return c.Order.ID, nil
}

// Replace records the ask. Bench.Pending keeps the old order open; the new one is open at once.
func (e *engine) Replace(_ market.StrategyID, old market.OrderID, c *market.Command,
	f *strategy.Follow) (market.OrderID, error) {
	id, err := e.Ask(0, c, f)
	if e.recalling {
		return id, err
	}
	e.asked[len(e.asked)-1] += fmt.Sprintf(" replacing %d", old)
	if err == nil && !e.Pending {
		(*Bench)(e).Drop(old)
	}
	return id, err
}

// InWarmUp is true in a restart, while the bench replays candles.
func (e *engine) InWarmUp(market.StrategyID, market.ID) bool { return e.recalling }

// RefuseAsk answers with the error.
func (e *engine) RefuseAsk(_ market.StrategyID, _ *market.Command, why error) error {
	if e.recalling {
		return errRecalling
	}
	return why
}

// Protect records the ask; the test plays the exits with Fill.
func (e *engine) Protect(_ market.StrategyID, m market.ID, levels market.Bracket,
	f *strategy.Follow) (market.OrderID, error) {
	if e.recalling {
		return 0, errRecalling
	}
	if e.positions[m].Amount <= 0 {
		return 0, strategy.ErrNoPosition
	}
	e.next++
	e.asked = append(e.asked, fmt.Sprintf("protect %s stop %s target %s%s", e.catalog.Market(m).Name,
		e.catalog.Market(m).FormatPrice(levels.Stop), e.catalog.Market(m).FormatPrice(levels.Target),
		e.following(m, f)))
	return e.next, nil
}

// following describes what a bracket follows.
func (e *engine) following(m market.ID, f *strategy.Follow) string {
	if f == nil {
		return ""
	}
	return ", " + f.Words(e.catalog.Market(m))
}

// Close records the ask unless a Close is under way, drops the other orders of a Close of all, and
// opens the sale, which the test plays with Fill.
func (e *engine) Close(_ market.StrategyID, m market.ID, amount market.Qty, tag string) error {
	if e.recalling {
		return errRecalling
	}
	open := e.Open(nil, 0, m)
	if slices.ContainsFunc(open, func(o *market.Order) bool {
		return slices.Contains(e.leaving, o.ID)
	}) {
		return nil // it is under way
	}
	line, named := "close all", e.catalog.Market(m)
	if amount != 0 {
		line = "close " + named.FormatQty(amount)
	}
	if len(e.catalog.Markets()) > 1 {
		line += " on " + named.Name
	}
	if tag != "" {
		line += " (" + tag + ")"
	}
	e.asked = append(e.asked, line)
	held := e.positions[m].Amount
	for _, o := range open {
		if !e.Pending && (amount == 0 || amount >= held) {
			(*Bench)(e).Drop(o.ID)
		}
	}
	if amount == 0 || amount > held {
		amount = held
	}
	if amount > 0 {
		e.leaving = append(e.leaving, e.place(market.Order{Market: m, Side: market.Sell, Type: market.TypeMarket,
			Tag: cmp.Or(tag, "close"), OrderState: market.OrderState{Amount: amount}}))
	}
	return nil
}

func (e *engine) place(o market.Order) market.OrderID {
	e.next++
	o.ID, o.Status = e.next, market.StatusNew
	o.AmountRemaining, o.AmountQuoteRemaining = o.Amount, o.AmountQuote
	e.orders = append(e.orders, &o)
	return o.ID
}

// update ignores an order that has ended: the entry of a bracket has filled when its exits move.
func (e *engine) update(c *market.Command) {
	o := e.Order(c.Order.ID)
	if o == nil {
		return
	}
	if c.Changed.Has(market.ChangePrice) {
		o.Price = c.Order.Price
	}
	if c.Changed.Has(market.ChangeAmount) {
		o.AmountRemaining += c.Order.Amount - o.Amount
		o.Amount = c.Order.Amount
	}
	if c.Changed.Has(market.ChangeAmountQuote) {
		o.AmountQuoteRemaining += c.Order.AmountQuote - o.AmountQuote
		o.AmountQuote = c.Order.AmountQuote
	}
	if c.Changed.Has(market.ChangeTriggerAmount) {
		o.TriggerAmount = c.Order.TriggerAmount
	}
	if c.Changed.Has(market.ChangeTimeInForce) {
		o.TimeInForce = c.Order.TimeInForce
	}
	if c.Changed.Has(market.ChangePostOnly) {
		o.PostOnly = c.Order.PostOnly
	}
	if c.Changed.Has(market.ChangeSelfTradePrevention) {
		o.SelfTradePrevention = c.Order.SelfTradePrevention
	}
	if c.Changed.Has(market.ChangeExits) {
		o.Bracket = c.Order.Bracket
	}
}

func (e *engine) Holding(_ market.StrategyID, m market.ID) *market.Position { return &e.positions[m] }

func (e *engine) Last(m market.ID) market.Price { return e.last[m] }

// Balance counts the holds of open limit buys.
func (e *engine) Balance(_ market.StrategyID, a market.AssetID) (available, inOrder market.Money) {
	for _, o := range e.orders {
		m := e.catalog.Market(o.Market)
		if o.Side != market.Buy || m.Quote != a {
			continue
		}
		value, err := m.Value(o.Price, o.AmountRemaining)
		must(err)
		held, err := value.CeilMoney(m.MoneyDrop())
		must(err)
		inOrder += held
	}
	return e.cash[a] - inOrder, inOrder
}

func (e *engine) Order(id market.OrderID) *market.Order {
	for _, o := range e.orders {
		if o.ID == id {
			return o
		}
	}
	return nil
}

func (e *engine) Open(dst []*market.Order, _ market.StrategyID, m market.ID) []*market.Order {
	for _, o := range e.orders {
		if m == 0 || o.Market == m {
			dst = append(dst, o)
		}
	}
	return dst
}

// Idle reports whether no order is open in a market.
func (e *engine) Idle(_ market.StrategyID, m market.ID) bool {
	return !slices.ContainsFunc(e.orders, func(o *market.Order) bool { return o.Market == m })
}

// describe writes an ask as a line in the market's own decimals.
func (e *engine) describe(c *market.Command) string {
	switch o := &c.Order; c.Kind {
	case market.CommandCancel:
		return fmt.Sprintf("cancel %d", o.ID)
	case market.CommandUpdate:
		return fmt.Sprintf("update %d%s", o.ID, e.changes(c))
	default:
		return e.describePlace(o)
	}
}

func (e *engine) describePlace(o *market.Order) string {
	m := e.catalog.Market(o.Market)
	var line strings.Builder
	fmt.Fprintf(&line, "%s ", o.Side)
	if o.ByQuote() {
		fmt.Fprintf(&line, "for %s", m.FormatMoney(o.AmountQuote))
	} else {
		line.WriteString(m.FormatQty(o.Amount))
	}
	if o.Price != 0 {
		fmt.Fprintf(&line, " at %s", m.FormatPrice(o.Price))
	}
	if o.Type.HasTrigger() {
		fmt.Fprintf(&line, " %s %s on %s", o.Type, m.FormatPrice(o.TriggerAmount), o.TriggerReference)
	}
	if o.Bracket.Any() {
		fmt.Fprintf(&line, " stop %s target %s", m.FormatPrice(o.Bracket.Stop), m.FormatPrice(o.Bracket.Target))
	}
	line.WriteString(conditions(o))
	if len(e.catalog.Markets()) > 1 {
		line.WriteString(" on " + m.Name)
	}
	if o.Tag != "" {
		line.WriteString(" (" + o.Tag + ")")
	}
	return line.String()
}

// conditions names the conditions that are not the default.
func conditions(o *market.Order) (text string) {
	if o.Bracket.Keep == market.KeepTarget {
		text += " keeping the target"
	}
	if o.TimeInForce != market.GTC {
		text += " " + o.TimeInForce.String()
	}
	if o.SelfTradePrevention != market.DecrementAndCancel {
		text += " " + o.SelfTradePrevention.String()
	}
	if o.PostOnly {
		text += " post-only"
	}
	return text
}

// changes describes an update; an order that has ended counts as one of the first market.
func (e *engine) changes(c *market.Command) string {
	m, o := e.catalog.Market(1), &c.Order
	if open := e.Order(o.ID); open != nil {
		m = e.catalog.Market(open.Market)
	}
	var line strings.Builder
	if c.Changed.Has(market.ChangePrice) {
		line.WriteString(" price " + m.FormatPrice(o.Price))
	}
	if c.Changed.Has(market.ChangeAmount) {
		line.WriteString(" amount " + m.FormatQty(o.Amount))
	}
	if c.Changed.Has(market.ChangeAmountQuote) {
		line.WriteString(" for " + m.FormatMoney(o.AmountQuote))
	}
	if c.Changed.Has(market.ChangeTriggerAmount) {
		line.WriteString(" trigger " + m.FormatPrice(o.TriggerAmount))
	}
	if c.Changed.Has(market.ChangeTimeInForce) {
		line.WriteString(" " + o.TimeInForce.String())
	}
	if c.Changed.Has(market.ChangePostOnly) {
		fmt.Fprintf(&line, " post-only %t", o.PostOnly)
	}
	if c.Changed.Has(market.ChangeSelfTradePrevention) {
		line.WriteString(" " + o.SelfTradePrevention.String())
	}
	if c.Changed.Has(market.ChangeExits) {
		line.WriteString(" stop " + m.FormatPrice(o.Bracket.Stop) + " target " + m.FormatPrice(o.Bracket.Target))
	}
	return line.String()
}
