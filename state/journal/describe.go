package journal

import (
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Describe returns the content of a journal entry.
func (s *Store) Describe(e *Entry) Fields {
	d := describer{Names: s.names, market: &market.Market{}}
	switch r := e.Record.(type) {
	case *Start:
		d.id("run", r.Run)
		d.text("version", r.Version)
		d.text("config", r.ConfigHash)
		d.text("currency", r.Currency)
		d.text("strategies", strings.Join(r.Strategies, " "))
	case *Intent:
		d.intent(r)
	case *SentCommand:
		d.about(r.Order, r.Command)
	case *AnswerEntry:
		d.outcome(r)
	case *ReportEntry:
		d.report(&r.Report)
		d.fills(r.Fills)
	case *Fills:
		d.fills(r.Fills)
	case *Transfer:
		d.inMarket(r.Market)
		d.symbol("asset", r.Asset)
		d.money("amount", r.Money, r.Asset)
		d.text("strategy", r.Strategy)
		d.price("price", r.Price)
	default:
		d.rest(e.Record)
	}
	return d.fields
}

func (d *describer) rest(record Payload) {
	switch r := record.(type) {
	case *Timer:
		d.text("strategy", r.Strategy)
	case *Cursor:
		d.text("feed", r.Name)
		d.text("value", printable(r.Value))
	case *Signal:
		d.signal(r)
	case *Refusal:
		d.text("strategy", r.Strategy)
		d.text("reason", r.Reason)
		d.refusal(r)
	case *Difference:
		d.text("what", r.What)
		d.text("ours", r.Ours)
		d.text("theirs", r.Theirs)
		d.text("conclusion", r.Conclusion)
		d.integer("order", int64(r.Order))
	case *Halt:
		d.text("scope", r.Scope)
		d.text("reason", r.Reason)
		d.text("by", r.By)
	case *Resume:
		d.text("scope", r.Scope)
		d.text("by", r.By)
	case *Stop:
		d.id("run", r.Run)
		d.text("reason", r.Reason)
		d.integer("open", int64(r.Open))
	default:
		d.kept(record)
	}
}

// kept describes the records that have a row of the table of kept entries.
func (d *describer) kept(record Payload) {
	switch r := record.(type) {
	case *Seal:
		d.text("scope", r.Scope)
		d.text("by", r.By)
		d.text("document", string(r.Document))
	case *Verdict:
		d.text("scope", r.Scope)
		d.integer("seal", int64(r.Seal))
		d.time("day", r.Day)
		d.flag("broken", r.Broken)
		d.text("document", string(r.Document))
	case *Promotion:
		d.flag("accepted", r.Accepted)
		d.text("by", r.By)
		d.text("version", r.Version)
		d.text("config", r.ConfigHash)
		d.integer("compared", r.Compared)
		d.integer("equal", r.Equal)
		d.text("difference", r.Difference)
	case *Reload:
		d.text("by", r.By)
		d.text("config", r.ConfigHash)
		d.text("was", r.Was)
		d.time("warmedUpTo", r.Until)
		d.text("strategies", strings.Join(r.Strategies, ", "))
		d.text("changed", strings.Join(r.Changes, "; "))
	case *Act:
		d.text("action", r.Verb)
		d.text("strategy", r.Strategy)
		d.integer("order", int64(r.Order))
		d.flag("foreign", r.Foreign)
		d.text("reason", r.Reason)
		d.text("by", r.By)
		d.text("from", r.From)
	case *Adoption:
		d.adoption(r)
	}
}

func (d *describer) refusal(r *Refusal) {
	d.text("detail", r.Detail)
	d.text("value", r.Have)
	d.text("limit", r.Limit)
	d.command(&r.Command, "")
	d.numbers("rounded ", r.Rounded.Beside(&r.Command.Order))
	d.cause(&r.Cause)
	d.integer("times", r.Count)
	d.time("first", r.First)
}

// numbers adds the terms that the gate rounds.
func (d *describer) numbers(how string, t state.Terms) {
	d.price(how+"price", t.Price)
	d.price(how+"triggerAmount", t.TriggerAmount)
	d.qty(how+"amount", t.Amount)
	d.quote(how+"amountQuote", t.AmountQuote)
	d.price(how+"stop", t.Stop)
	d.price(how+"target", t.Target)
}

// printable returns bytes as text if they are printable ASCII, else in hexadecimal.
func printable(value []byte) string {
	for _, b := range value {
		if b < ' ' || b > '~' {
			return fmt.Sprintf("%x", value)
		}
	}
	return string(value)
}

func (d *describer) about(id market.OrderID, c market.CommandKind) {
	d.integer("order", int64(id))
	if c != 0 {
		d.text("command", c.String())
	}
}

func (d *describer) intent(r *Intent) {
	d.command(&r.Command, r.Strategy)
	d.numbers("asked ", r.Asked.Beside(&r.Command.Order))
	d.text("request", r.Method+" "+r.Path)
	d.text("body", string(r.Body))
	d.integer("timestamp_ms", r.Timestamp)
	d.integer("window_ms", r.WindowMS)
	for _, f := range r.Risk {
		change := f.Before + " to " + f.After
		if f.Limit != "" {
			change += ", limit " + f.Limit
		}
		d.text("risk "+f.Name, change)
	}
	d.cause(&r.Cause)
}

func (d *describer) command(c *market.Command, strategy string) {
	if c.Kind != 0 {
		d.text("command", c.Kind.String())
	}
	d.time("decided", c.At)
	d.order(&c.Order, strategy)
}

func (d *describer) cause(c *Cause) {
	d.text("signals", strings.Trim(fmt.Sprint(c.Signals), "[]"))
	if c.Kind == 0 {
		return
	}
	text := c.Kind.String()
	if c.Market != 0 {
		text += " " + d.Catalog().Market(c.Market).Name
	}
	d.text("cause", text+" at "+c.At.String())
	d.integer("recorded", int64(c.Recorded))
}

func (d *describer) outcome(r *AnswerEntry) {
	d.about(r.Order, r.Command)
	d.text("answer", r.Answer.String())
	d.integer("status", int64(r.Status))
	d.integer("errorCode", int64(r.Code))
	d.text("error", r.Message)
	d.id("orderId", r.ExchangeID)
}

func (d *describer) order(o *market.Order, strategy string) {
	d.integer("order", int64(o.ID))
	d.id("clientOrderId", o.ClientOrderID)
	d.id("orderId", o.ExchangeID)
	d.inMarket(o.Market)
	d.text("strategy", strategy)
	d.integer("operatorId", o.OperatorID)
	d.integer("codGroupId", int64(o.CodGroupID))
	d.onHold = o.OnHoldCurrency
	describeFields(d, orderWords, o)
	d.flag("postOnly", o.PostOnly)
	d.flag("triggered", o.Triggered)
	describeFields(d, stateFields, &o.OrderState)
	describeFields(d, orderEnd, o)
}

// report describes a report like an order: it is the state of one.
func (d *describer) report(r *market.Report) {
	if r.Exec != 0 {
		d.text("executionType", r.Exec.String())
	}
	o := market.Order{ID: r.Order, Market: r.Market, ExchangeID: r.ExchangeID, OrderState: r.OrderState}
	o.OnHold = 0 // a report does not say in which currency
	d.order(&o, "")
	if r.Command != 0 {
		d.text("command", r.Command.String())
	}
	d.integer("errorCode", int64(r.Code))
}

func (d *describer) fills(fills []market.Fill) {
	for i := range fills {
		one := describer{Names: d.Names}
		one.fill(&fills[i], d.StrategyName(fills[i].Strategy))
		d.text("fill "+fills[i].ID.String(), one.fields[1:].String())
	}
}

// fill begins with its id.
func (d *describer) fill(f *market.Fill, strategy string) {
	d.fields = append(d.fields, Field{"fillId", f.ID.String()})
	d.integer("order", int64(f.Order))
	d.inMarket(f.Market)
	d.text("strategy", strategy)
	if f.Side != 0 {
		d.text("side", f.Side.String())
	}
	d.price("price", f.Price)
	d.qty("amount", f.Amount)
	d.value("fee", f.Fee)
	d.symbol("feeCurrency", f.FeeCurrency)
	d.flag("taker", f.Taker)
	d.flag("settled", f.Settled)
	d.time("time", f.Time)
}

// describeOrder returns the fields of an order.
func (s *Store) describeOrder(o *OrderRow) Fields {
	d := describer{Names: s.names}
	d.text("state", o.State.String())
	d.order(&o.Order, o.StrategyName)
	if o.InFlight != 0 {
		d.text("inFlight", o.InFlight.String())
	}
	d.flag("cancelWanted", o.CancelWanted)
	d.integer("errorCode", int64(o.Code))
	return d.fields
}

// DescribeFill returns the fields of a fill.
func (s *Store) DescribeFill(f *FillRow) Fields {
	d := describer{Names: s.names}
	d.fill(&f.Fill, f.StrategyName)
	return d.fields
}

// describeBooking returns the fields of a booking, without its worth.
func (s *Store) describeBooking(b *Booking) Fields {
	d := describer{Names: s.names}
	d.text("number", fmt.Sprint(b.Number))
	d.text("entry", fmt.Sprint(b.Entry))
	d.text("kind", b.Kind.String())
	if b.Kind == BookedAdoption {
		d.describeAdopted(b)
		return d.fields
	}
	if b.Kind == BookedTransfer {
		moved := Transfer{Asset: b.Asset, Money: b.Money, Strategy: b.StrategyName, Market: b.Market, Price: b.Price}
		d.time("at", b.At)
		return append(d.fields, s.Describe(&Entry{Record: &moved})...)
	}
	d.fill(&b.Fill, b.StrategyName)
	d.text("tag", b.Tag)
	return d.fields
}

// describePosition returns the fields of a position.
func (s *Store) describePosition(p *PositionRow) Fields {
	d := describer{Names: s.names}
	d.text("strategy", p.StrategyName)
	d.inMarket(p.Market)
	d.qty("amount", p.Amount)
	d.value("cost", p.Cost)
	d.value("realised", p.Realised)
	d.value("fees", p.Fees)
	d.time("opened", p.Opened)
	return d.fields
}

// describeSample returns the fields of an equity sample; digits are the decimals of the account's
// currency.
func (s *Store) describeSample(e *EquitySample, digits uint8) Fields {
	d := describer{Names: s.names}
	d.time("at", e.At)
	d.text("strategy", e.Strategy)
	for _, f := range [...]struct {
		name  string
		money market.Money
	}{{"equity", e.Equity}, {"low", e.Low}, {"high", e.High}, {"exposure", e.Exposure}} {
		d.text(f.name, market.FormatFixed(int64(f.money), digits))
	}
	return d.fields
}

func (s *Store) describeRun(r *RunRow) Fields {
	e := Entry{Record: &r.Start}
	return append(Fields{{"at", r.At.String()}, {"first", fmt.Sprint(r.First)}}, s.Describe(&e)...)
}

func (s *Store) describeHalt(h *HaltRow) Fields {
	return append(Fields{{"at", h.At.String()}}, s.Describe(&Entry{Record: &h.Halt})...)
}

func (s *Store) describeKept(r *KeptRow) Fields {
	return append(Fields{{"number", fmt.Sprint(r.Number)}, {"at", r.At.String()},
		{"kind", r.Record.entryKind().String()}}, s.Describe(&Entry{Record: r.Record})...)
}

// describeEntry returns the fields of an entry, its place in the journal first.
func (s *Store) describeEntry(e *Entry) Fields {
	return append(Fields{{"number", fmt.Sprint(e.Number)}, {"at", e.At.String()}, {"kind", e.Kind.String()}},
		s.Describe(e)...)
}
