package runner

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// trail is everything that was traded, as a live bot and a backtest tell it alike: for each
// strategy and market every command with what it asks for, every fill and every order at its end,
// in their order, with all fields but unlike's. At the end it tells positions and balances.
type trail struct {
	catalog *market.Catalog
	names   []string    // of strategies, by StrategyID − 1
	until   market.Time // what is asked for from then on does not count: the other side has ended
	lines   map[string][]string
	orders  map[market.OrderID]int // which of its strategy's in its market it is
	placed  map[string]int
	counts  map[string]int // of what there was, for tests that would show nothing
}

// unlike are the fields of an order, a fill and a position that a live bot and a backtest do not
// share. docs/rerun.md says where results may differ.
var unlike = map[string]string{
	"ID":            "each exchange and each run gives its own",
	"ExchangeID":    "each exchange gives its own",
	"ClientOrderID": "each run gives its own; a backtest gives it to its files alone",
	"Order":         "as ID: the line says which order of its strategy it is",
	"Created":       "live a decision arrives seconds after the close",
	"Updated":       "as Created",
	"Time":          "a path has times of its own",
	"Opened":        "as Time",
	"Visible":       "a report does not tell it, and no code acts on it",
	"OnHold": "at the end a backtest holds funds for changes that it decided on at the last close; before, an " +
		"order that has ended holds nothing",
	"Market":   "stands before the line",
	"Strategy": "stands before the line",
}

func newTrail(until market.Time) *trail {
	return &trail{until: until, lines: map[string][]string{}, orders: map[market.OrderID]int{},
		placed: map[string]int{}, counts: map[string]int{}}
}

// of begins, or goes on after a restart, with the names of a run.
func (l *trail) of(catalog *market.Catalog, names []string) *trail {
	l.catalog, l.names = catalog, names
	return l
}

// note adds a line to the story of an order, and where it is a command, to that of its strategy in
// its market too. What becomes of two orders is told in the order in which the exchange's answers
// arrive, which for questions asked at once is any.
func (l *trail) note(o *market.Order, what, format string, args ...any) {
	where := l.names[o.Strategy-1] + " " + l.catalog.Market(o.Market).Name
	if what == "place" {
		l.placed[where]++
		l.orders[o.ID] = l.placed[where]
	}
	number, known := l.orders[o.ID]
	if !known {
		return // it was placed too late to count
	}
	l.counts[what]++
	line := fmt.Sprintf("%s %d ", what, number) + fmt.Sprintf(format, args...)
	if _, ordered := commands[what]; ordered {
		l.lines[where] = append(l.lines[where], line)
	}
	story := fmt.Sprintf("%s order %d", where, number)
	l.lines[story] = append(l.lines[story], line)
}

// commands are what a strategy, or a bracket of its, asks for.
var commands = map[string]bool{"place": true, "update": true, "cancel": true}

// Approved notes a command: of an update what it changes.
func (l *trail) Approved(_ state.Terms, c *market.Command, _ []state.Figure) {
	if c.At >= l.until {
		return
	}
	o := c.Order
	if c.Kind == market.CommandUpdate {
		o = changed(c)
	}
	if c.Kind == market.CommandCancel {
		l.note(&c.Order, "cancel", "")
		return
	}
	l.note(&c.Order, c.Kind.String(), "%s", l.text(&o, c.Order.Market))
}

// changed is the part of an update's order that it changes.
func changed(c *market.Command) (o market.Order) {
	from := &c.Order
	for _, f := range [...]struct {
		change market.Change
		take   func()
	}{
		{market.ChangeAmount, func() { o.Amount = from.Amount }}, {market.ChangeAmountQuote,
			func() { o.AmountQuote = from.AmountQuote }},
		{market.ChangeAmountRemaining, func() { o.AmountRemaining = from.AmountRemaining }}, {market.ChangePrice,
			func() { o.Price = from.Price }},
		{market.ChangeTriggerAmount, func() { o.TriggerAmount = from.TriggerAmount }}, {market.ChangeTimeInForce,
			func() { o.TimeInForce = from.TimeInForce }},
		{market.ChangePostOnly, func() { o.PostOnly = from.PostOnly }}, {market.ChangeSelfTradePrevention,
			func() { o.SelfTradePrevention = from.SelfTradePrevention }},
	} {
		if c.Changed.Has(f.change) {
			f.take()
		}
	}
	return o
}

// Filled notes a fill.
func (l *trail) Filled(o *state.Order, f *market.Fill) {
	l.note(&o.Order, "fill", "%s", l.text(f, f.Market))
	if f.Taker {
		l.counts["taken"]++
	}
}

// Closed notes an order that has ended.
func (l *trail) Closed(o *state.Order) {
	l.note(&o.Order, o.State.String(), "code %d %s", o.Code, l.text(&o.Order, o.Market))
}

// text is every field of what points to an order, a fill or a position of a market that is not zero
// and not unlike, in units that people read.
func (l *trail) text(what any, id market.ID) (text string) {
	m, v := l.catalog.Market(id), reflect.ValueOf(what).Elem()
	for _, field := range reflect.VisibleFields(v.Type()) {
		has := v.FieldByIndex(field.Index)
		if _, without := unlike[field.Name]; without || field.Anonymous || has.IsZero() {
			continue
		}
		text += field.Name + " " + l.value(m, has.Interface()) + " "
	}
	return text
}

func (l *trail) value(m *market.Market, value any) string {
	switch x := value.(type) {
	case market.Price:
		return m.FormatPrice(x)
	case market.Qty:
		return m.FormatQty(x)
	case market.Money:
		return fmt.Sprint(int64(x)) // of the asset that is held
	case market.Value:
		return m.FormatValue(x)
	case market.AssetID:
		return l.catalog.Asset(x).Symbol
	case market.Bracket:
		return fmt.Sprintf("stop %s target %s keep %d", m.FormatPrice(x.Stop), m.FormatPrice(x.Target), x.Keep)
	}
	return fmt.Sprint(value)
}

// Ended notes what is open, held and owned.
func (l *trail) Ended(a *state.Account) {
	for _, o := range a.Open(nil, 0, 0) {
		l.note(o, "open", "%s", l.text(o, o.Market))
	}
	for i, name := range l.names {
		for _, m := range l.catalog.Markets() {
			p := a.Position(market.StrategyID(i+1), m.ID)
			l.lines[name+" "+m.Name] = append(l.lines[name+" "+m.Name], "position "+l.text(&p, m.ID))
		}
		for _, asset := range l.catalog.Assets() {
			available, held := a.Balance(market.StrategyID(i+1), asset.ID)
			l.lines[name] = append(l.lines[name], fmt.Sprintf("%d %s", available+held, asset.Symbol))
		}
		slices.Sort(l.lines[name])
	}
}

// ear is one process's way to the trail. A bot that was killed goes on in the test's memory until
// it finds that it cannot commit: nothing of that was ever so.
type ear struct {
	*trail
	deaf atomic.Bool
}

func (e *ear) Approved(asked state.Terms, c *market.Command, figures []state.Figure) {
	if !e.deaf.Load() {
		e.trail.Approved(asked, c, figures)
	}
}

func (e *ear) Filled(o *state.Order, f *market.Fill) {
	if !e.deaf.Load() {
		e.trail.Filled(o, f)
	}
}

func (e *ear) Closed(o *state.Order) {
	if !e.deaf.Load() {
		e.trail.Closed(o)
	}
}
