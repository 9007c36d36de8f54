package state

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// record appends the kind, the version and the content of a journal entry. The calls are those of concrete types, which keeps the
// records of the caller off the heap.
func (e *encoder) record(record Record) {
	switch r := record.(type) {
	case *Start:
		e.kind(EntryStart).start(r)
	case *Intent:
		e.kind(EntryIntent).intent(r)
	case *SentCommand:
		e.kind(EntrySent).int(int64(r.Order))
		e.byte(byte(r.Command))
	case *Outcome:
		e.kind(EntryOutcome).outcome(r)
	case *Report:
		e.kind(EntryReport).report(&r.Report)
		e.fills(r.Fills)
	case *Fills:
		e.kind(EntryFill).fills(r.Fills)
	case *Transfer:
		e.kind(EntryTransfer).transfer(r)
	case *Timer:
		e.kind(EntryTimer).text(r.Strategy)
	case *Cursor:
		e.kind(EntryCursor).text(r.Name)
		e.bytes(r.Value)
	case *Refusal:
		e.kind(EntryRefusal).refusal(r)
	case *Difference:
		e.kind(EntryDifference).texts(r.What, r.Ours, r.Theirs, r.Conclusion)
		e.int(int64(r.Order))
	case *Halt:
		e.kind(EntryHalt).texts(r.Scope, r.Reason, r.By)
	case *Resume:
		e.kind(EntryResume).texts(r.Scope, r.By)
	case *Stop:
		e.kind(EntryStop).uuid(r.Run)
		e.text(r.Reason)
		e.int(int64(r.Open))
	}
}

// kind begins a record.
func (e *encoder) kind(k EntryKind) *encoder {
	e.byte(byte(k))
	e.byte(recordVersion)
	return e
}

// record reads what the encoder's wrote.
func (d *decoder) record() Record {
	kind := EntryKind(d.byte())
	version := d.version()
	if d.err != nil {
		return nil
	}
	switch kind {
	case EntryStart:
		return d.start()
	case EntryIntent:
		return d.intent(version)
	case EntrySent:
		return &SentCommand{Order: market.OrderID(d.int()), Command: enum(d, market.CommandPlace)}
	case EntryOutcome:
		return d.outcome()
	case EntryReport:
		r := &Report{}
		d.report(&r.Report, version)
		r.Fills = d.fills()
		return r
	case EntryFill:
		return &Fills{d.fills()}
	case EntryTransfer:
		return d.transfer()
	case EntryTimer:
		return &Timer{d.text()}
	case EntryCursor:
		return &Cursor{d.text(), d.bytes()}
	case EntryRefusal:
		return d.refusal(version)
	case EntryDifference:
		return &Difference{d.text(), d.text(), d.text(), d.text(), market.OrderID(d.int())}
	case EntryHalt:
		return &Halt{d.text(), d.text(), d.text()}
	case EntryResume:
		return &Resume{d.text(), d.text()}
	case EntryStop:
		return &Stop{d.uuid(), d.text(), int(d.int())}
	}
	d.fail("entry of kind %d", kind)
	return nil
}

func (e *encoder) texts(texts ...string) {
	for _, text := range texts {
		e.text(text)
	}
}

func (e *encoder) start(r *Start) {
	e.uuid(r.Run)
	e.texts(r.Version, r.ConfigHash, r.Currency)
	e.uint(uint64(len(r.Strategies)))
	e.texts(r.Strategies...)
}

func (d *decoder) start() *Start {
	r := &Start{Run: d.uuid(), Version: d.text(), ConfigHash: d.text(), Currency: d.text()}
	for range d.count() {
		r.Strategies = append(r.Strategies, d.text())
	}
	return r
}

func (e *encoder) intent(r *Intent) {
	e.command(&r.Command)
	e.texts(r.Method, r.Path)
	e.bytes(r.Body)
	e.int(r.Timestamp)
	e.int(r.WindowMS)
	e.cause(&r.Cause)
	e.uint(uint64(len(r.Risk)))
	for i := range r.Risk {
		f := &r.Risk[i]
		e.texts(f.Name, f.Before, f.After, f.Limit)
	}
	e.terms(&r.Asked)
}

// terms are in the units of the market written last.
func (e *encoder) terms(t *Terms) {
	for _, n := range [...]int64{int64(t.Price), int64(t.TriggerAmount), int64(t.Amount), int64(t.AmountQuote), int64(t.Stop), int64(t.Target)} {
		e.int(n)
	}
}

func (d *decoder) terms() Terms {
	return Terms{d.price(), d.price(), market.Qty(d.int()), market.Money(d.int()), d.price(), d.price()}
}

func (d *decoder) intent(version byte) *Intent {
	r := &Intent{}
	r.Strategy = d.command(&r.Command, version)
	r.Method, r.Path, r.Body = d.text(), d.text(), d.bytes()
	r.Timestamp, r.WindowMS = d.int(), d.int()
	d.cause(&r.Cause)
	for range d.count() {
		r.Risk = append(r.Risk, Figure{d.text(), d.text(), d.text(), d.text()})
	}
	if version > 1 {
		r.Asked = d.terms()
	}
	return r
}

func (e *encoder) cause(c *Cause) {
	e.byte(byte(c.Kind))
	e.market(c.Market)
	e.int(int64(c.At))
	e.uint(c.Recorded)
}

func (d *decoder) cause(c *Cause) {
	c.Kind = enum(d, market.KindTimer)
	c.Market = d.market()
	c.At = market.Time(d.int())
	c.Recorded = d.uint()
}

func (e *encoder) outcome(r *Outcome) {
	e.int(int64(r.Order))
	e.byte(byte(r.Command))
	e.byte(byte(r.Answer))
	e.int(int64(r.Status))
	e.int(int64(r.Code))
	e.text(r.Message)
	e.uuid(r.ExchangeID)
}

func (d *decoder) outcome() *Outcome {
	return &Outcome{Order: market.OrderID(d.int()), Command: enum(d, market.CommandPlace), Answer: enum(d, AnswerUnknown),
		Status: int(d.int()), Code: int(d.int()), Message: d.text(), ExchangeID: d.uuid()}
}

func (e *encoder) fills(fills []market.Fill) {
	e.uint(uint64(len(fills)))
	for i := range fills {
		e.fill(&fills[i])
	}
}

func (d *decoder) fills() (fills []market.Fill) {
	for range d.count() {
		var f market.Fill
		d.fill(&f)
		fills = append(fills, f)
	}
	return fills
}

func (e *encoder) transfer(r *Transfer) {
	e.market(r.Market)
	e.asset(r.Asset)
	e.int(int64(r.Money))
	e.text(r.Strategy)
	e.int(int64(r.Price))
}

func (d *decoder) transfer() *Transfer {
	return &Transfer{Market: d.market(), Asset: d.asset(), Money: market.Money(d.int()), Strategy: d.text(), Price: d.price()}
}

func (e *encoder) refusal(r *Refusal) {
	e.text(r.Strategy)
	e.command(&r.Command)
	e.texts(r.Reason, r.Detail)
	e.terms(&r.Rounded)
	e.texts(r.Have, r.Limit)
	e.cause(&r.Cause)
	e.int(r.Count)
	e.int(int64(r.First))
}

func (d *decoder) refusal(version byte) *Refusal {
	r := &Refusal{Strategy: d.text()}
	d.command(&r.Command, version)
	r.Reason, r.Detail = d.text(), d.text()
	if version > 1 {
		r.Rounded = d.terms()
		r.Have, r.Limit = d.text(), d.text()
	}
	d.cause(&r.Cause)
	if version > 1 {
		r.Count, r.First = d.int(), market.Time(d.int())
	}
	return r
}

// ordersOf appends the own orders that a record is about, each once: from is where those of this record begin.
func ordersOf(dst []market.OrderID, from int, record Record) []market.OrderID {
	switch r := record.(type) {
	case *Intent:
		return addOrder(dst, from, r.Command.Order.ID)
	case *SentCommand:
		return addOrder(dst, from, r.Order)
	case *Outcome:
		return addOrder(dst, from, r.Order)
	case *Report:
		return addOrder(dst, from, r.Order)
	case *Fills:
		for i := range r.Fills {
			dst = addOrder(dst, from, r.Fills[i].Order)
		}
	case *Refusal:
		return addOrder(dst, from, r.Command.Order.ID)
	case *Difference:
		return addOrder(dst, from, r.Order)
	}
	return dst
}

func addOrder(dst []market.OrderID, from int, id market.OrderID) []market.OrderID {
	if id == 0 || slices.Contains(dst[from:], id) {
		return dst
	}
	return append(dst, id)
}
