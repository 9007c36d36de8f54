package replay

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// Command is a command as it is compared: its fields in decimals and names, so that two programs
// with other units can be compared.
type Command struct {
	Entry    uint64             `json:"entry,omitempty"` // of the journal; 0: of the replay
	Kind     market.CommandKind `json:"kind"`
	Order    market.OrderID     `json:"order"` // 0: the journal has its request alone
	Strategy string             `json:"strategy"`
	Terms    []Term             `json:"terms"`
	Record   uint64             `json:"record"` // number of its input; 0: not known
	Cause    string             `json:"cause"`
}

// Term is a field of a command as text.
type Term struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// String is the command in one line.
func (c *Command) String() string {
	var parts []string
	for _, one := range c.Terms {
		if one.Text != "" && one.Text != "0" && one.Text != "false" {
			parts = append(parts, one.Name+" "+one.Text)
		}
	}
	return fmt.Sprintf("%s order %d: %s", c.Kind, c.Order, strings.Join(parts, ", "))
}

// CommandOf is the command of an intent in the journal, in the units of the catalog.
func CommandOf(entry uint64, intent *journal.Intent, catalog *market.Catalog) Command {
	c, cause := &intent.Command, &intent.Cause
	made := Command{Entry: entry, Kind: c.Kind, Order: c.Order.ID, Strategy: intent.Strategy, Record: cause.Recorded}
	if cause.Kind != 0 {
		made.Cause = cause.Kind.String() + " of " + cause.At.String()
		if cause.Market != 0 {
			made.Cause = cause.Kind.String() + " " + catalog.Market(cause.Market).Name + " of " + cause.At.String()
		}
	}
	if c.Order.ID != 0 {
		made.Terms = termsOf(c.Kind, c.Changed, &c.Order, catalog.Market(c.Order.Market), intent.Strategy)
	}
	return made
}

// Difference is the first command that differs.
type Difference struct {
	Record uint64   `json:"event"` // number of the input
	Event  string   `json:"what"`  // what entered the engine
	Entry  uint64   `json:"entry"` // of the journal; 0: it has none
	Then   string   `json:"then"`  // what was asked; empty: nothing
	Now    string   `json:"now"`
	Fields []string `json:"fields"` // those that differ
	Hint   string   `json:"hint"`   // what may have caused it

	by string // the strategy of the command; empty: none
}

// askOf adds the commands of an input.
func (p *player) askOf(number uint64, in *market.Input, commands []market.Command) {
	p.ask(number, causeOf(in, p.core.Account.Catalog()), commands)
	if in.Kind == market.InputAdopt {
		p.moveAdopted()
	}
}

// ask adds commands to those of the turn, or to those that wait for the beginning of trading.
func (p *player) ask(number uint64, cause string, commands []market.Command) {
	for i := range commands {
		c := &commands[i]
		o := &c.Order
		if known := p.core.Account.Known(o.ID); known != nil && c.Kind != market.CommandUpdate {
			o = &known.Order
		}
		a := Command{Record: number, Cause: cause, Kind: c.Kind, Order: c.Order.ID,
			Strategy: p.manifest.NameOf(o.Strategy)}
		a.Terms = termsOf(c.Kind, c.Changed, o, p.core.Account.Catalog().Market(c.Order.Market), a.Strategy)
		if p.holding {
			p.held = append(p.held, a)
		} else {
			p.asked = append(p.asked, a)
		}
	}
}

// moveAdopted takes an adopted order out of those that wait: it is in the journal at once.
func (p *player) moveAdopted() {
	if n := len(p.held); p.holding && n > 0 {
		p.asked, p.held = append(p.asked, p.held[n-1]), p.held[:n-1]
	}
}

// causeOf describes an input for a person.
func causeOf(in *market.Input, catalog *market.Catalog) string {
	what, at, of := in.Kind.String(), in.At, []market.ID{in.Market}
	if ev := in.Event; ev != nil {
		what, at, of[0] = ev.Kind.String(), ev.At, ev.Market
		for i := range ev.Candles {
			of = append(of, ev.Candles[i].Market)
		}
	}
	var names []string
	for _, m := range of {
		if m != 0 && !slices.Contains(names, catalog.Market(m).Name) {
			names = append(names, catalog.Market(m).Name)
		}
	}
	if len(names) > 0 {
		what += " " + strings.Join(names, ", ")
	}
	return what + " of " + at.String()
}

// termsOf is a command as text. Of an update only the changed fields count: the journal has the
// whole order.
func termsOf(kind market.CommandKind, changed market.Change, o *market.Order, m *market.Market, by string) []Term {
	t := []Term{{"market", m.Name}}
	all := kind == market.CommandPlace
	add := func(of market.Change, name, text string) {
		if all || changed.Has(of) && of != 0 {
			t = append(t, Term{name, text})
		}
	}
	switch kind {
	case market.CommandCancel:
		return t
	case market.CommandPlace:
		t = append(t, Term{"strategy", by}, Term{"side", o.Side.String()}, Term{"type", o.Type.String()},
			Term{"client order id", o.ClientOrderID.String()}, Term{"tag", o.Tag},
			Term{"operator id", fmt.Sprint(o.OperatorID)}, Term{"cancel-on-disconnect group", fmt.Sprint(o.CodGroupID)},
			Term{"trigger reference", fmt.Sprint(o.TriggerReference)}, Term{"stop", m.FormatPrice(o.Bracket.Stop)},
			Term{"target", m.FormatPrice(o.Bracket.Target)})
	case market.CommandUpdate:
		t = append(t, Term{"changed fields", fmt.Sprintf("%b", changed)})
	}
	add(market.ChangePrice, "price", m.FormatPrice(o.Price))
	add(market.ChangeTriggerAmount, "trigger", m.FormatPrice(o.TriggerAmount))
	add(market.ChangeAmount, "amount", m.FormatQty(o.Amount))
	add(market.ChangeAmountQuote, "amount in quote", m.FormatMoney(o.AmountQuote))
	add(market.ChangeTimeInForce, "time in force", fmt.Sprint(o.TimeInForce))
	add(market.ChangePostOnly, "post only", fmt.Sprint(o.PostOnly))
	add(market.ChangeSelfTradePrevention, "self-trade prevention", fmt.Sprint(o.SelfTradePrevention))
	return t
}

// withhold takes out the latest command of an order, which never became an intent.
func (p *player) withhold(order market.OrderID, kind market.CommandKind) {
	for i := range slices.Backward(p.asked) {
		if p.asked[i].Order == order && p.asked[i].Kind == kind {
			p.asked = slices.Delete(p.asked, i, i+1)
			return
		}
	}
}

// turn compares the commands of a turn with those of the journal, in their order.
func (p *player) turn(_ uint64, rec *recording.Record) error {
	if err := p.catchUp(rec.From); err != nil {
		return err
	}
	then, done, err := p.written.turn(p.manifest.Run, rec.From, rec.To)
	if err != nil {
		return err
	}
	if !done {
		p.report.Unwritten += len(p.asked)
		p.stop()
		return nil
	}
	p.report.Unchecked += then.missed
	if !then.whole {
		p.report.Unchecked += len(then.commands)
		p.thinned, p.thinnedTo, p.asked, p.warmups = p.thinned+len(p.asked), rec.To, nil, nil
		return nil
	}
	if d := p.checkWarmup(then.warmups); d != nil {
		p.report.First = d
		return nil
	}
	p.compareAll(then.commands)
	return nil
}

// compareAll compares the commands of a turn.
func (p *player) compareAll(then []Command) {
	for i := range then {
		if d := p.compare(&then[i], then[i+1:]); d != nil {
			p.differ(d, len(then)-i)
			return
		}
		p.report.Equal++
		p.asked = p.asked[1:]
	}
	if len(p.asked) > 0 {
		a := &p.asked[0]
		p.differ(&Difference{Record: a.Record, Event: a.Cause, Now: a.String(), by: a.Strategy}, 0)
	}
}

// compare compares a command of the journal with the next one of the replay. Others follow it in
// the turn.
func (p *player) compare(then *Command, others []Command) *Difference {
	if len(p.asked) == 0 {
		return then.missing(p.last)
	}
	now := &p.asked[0]
	d := &Difference{Record: now.Record, Event: now.Cause, Entry: then.Entry, Then: then.String(), Now: now.String(),
		by: now.Strategy}
	switch {
	case !now.isAbout(then.Kind, then.Order):
		if then.in(p.asked) && now.in(others) {
			d.Fields = []string{"the order of the commands within the turn"}
		}
		return d
	case then.Order == 0 || slices.Equal(then.Terms, now.Terms): // of 0 the journal has the request alone
		return nil
	}
	for i := range min(len(then.Terms), len(now.Terms)) {
		if one, other := then.Terms[i], now.Terms[i]; one != other {
			d.Fields = append(d.Fields, fmt.Sprintf("%s: then %s, now %s", one.Name, one.Text, other.Text))
		}
	}
	return d
}

// isAbout reports whether two commands are of one kind and about one order.
func (c *Command) isAbout(kind market.CommandKind, order market.OrderID) bool {
	return c.Kind == kind && (c.Order == order || c.Order == 0 || order == 0)
}

// in reports whether a command stands in a list.
func (c *Command) in(list []Command) bool {
	return slices.ContainsFunc(list, func(o Command) bool { return o.isAbout(c.Kind, c.Order) })
}

// missing is the difference of a command that the replay does not ask for.
func (c *Command) missing(last uint64) *Difference {
	return &Difference{Record: cmp.Or(c.Record, last), Event: cmp.Or(c.Cause, "an event of its turn"), Entry: c.Entry,
		Then: c.String(), by: c.Strategy}
}

// explain adds to a difference what a second replay shows.
func (d *Difference) explain(again *Difference) {
	if again == nil || again.Record != d.Record || again.Now != d.Now {
		d.Hint = "a second replay decides otherwise again: a strategy reads a clock, chance, the order of a map or a " +
			"file"
		return
	}
	d.Hint = "a second replay decides the same: this program decides otherwise than the one that ran, or a strategy " +
		"reads a file or a clock"
}

// compareState compares the engine's saved parts with those that the bot had at this point. What
// strategies save is theirs, and not compared.
func (p *player) compareState(number uint64, rec *recording.Record) error {
	now, err := p.core.Saved()
	if err != nil {
		return fmt.Errorf("record %d: save the state: %w", number, err)
	}
	for _, name := range slices.Sorted(maps.Keys(rec.Parts)) {
		if then := rec.Parts[name]; !strings.HasPrefix(name, engine.PartStrategy) && !bytes.Equal(then, now[name]) {
			p.differ(&Difference{Record: number, Event: "the saved state of " + rec.At.String(), Then: string(then),
				Now: string(now[name]), Fields: []string{"part " + name}}, 0)
			return nil
		}
	}
	p.report.Snapshots++
	return nil
}
