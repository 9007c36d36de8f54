package journal

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// recordEncoder writes the records of the journal and of the tables.
type recordEncoder struct{ codec.Encoder }

// recordDecoder reads the records that recordEncoder wrote.
type recordDecoder struct {
	codec.Decoder
	of byte // the version of the record at hand
}

// record appends the kind, the version and the content of a journal entry. It calls methods of
// concrete types, which keeps the caller's records off the heap.
func (e *recordEncoder) record(record Payload) {
	switch r := record.(type) {
	case *Start:
		e.kind(EntryStart).start(r)
	case *Intent:
		e.kind(EntryIntent).intent(r)
	case *SentCommand:
		e.kind(EntrySent).Int(int64(r.Order))
		e.Byte(byte(r.Command))
	case *AnswerEntry:
		e.kind(EntryOutcome).outcome(r)
	case *ReportEntry:
		e.kind(EntryReport).report(&r.Report)
		e.fills(r.Fills)
	case *Fills:
		e.kind(EntryFill).fills(r.Fills)
	case *Transfer:
		e.kind(EntryTransfer).transfer(r)
	case *Timer:
		e.kind(EntryTimer).Text(r.Strategy)
	case *Cursor:
		e.kind(EntryCursor).Text(r.Name)
		e.Bytes(r.Value)
	case *Refusal:
		e.kind(EntryRefusal).refusal(r)
	case *Difference:
		e.kind(EntryDifference).texts(r.What, r.Ours, r.Theirs, r.Conclusion)
		e.Int(int64(r.Order))
	case *Halt:
		e.kind(EntryHalt).texts(r.Scope, r.Reason, r.By)
	case *Resume:
		e.kind(EntryResume).texts(r.Scope, r.By)
	case *Stop:
		e.kind(EntryStop).UUID(r.Run)
		e.Text(r.Reason)
		e.Int(int64(r.Open))
	case *Seal:
		e.kind(EntrySeal).texts(r.Scope, r.By)
		e.Bytes(r.Document)
	case *Verdict:
		e.kind(EntryVerdict).verdict(r)
	case *Promotion:
		e.kind(EntryPromotion).promotion(r)
	case *Reload:
		e.kind(EntryReload).reload(r)
	case *Act:
		e.kind(EntryAct).act(r)
	case *Adoption:
		e.kind(EntryAdopt).adoption(r)
	case *Signal:
		e.kind(EntrySignal).signal(r)
	}
}

// kind begins a record.
func (e *recordEncoder) kind(k EntryKind) *recordEncoder {
	e.Byte(byte(k))
	e.Byte(recordVersion)
	return e
}

// record reads a journal entry.
func (d *recordDecoder) record() Payload {
	kind := EntryKind(d.Byte())
	d.version()
	if d.Err() != nil {
		return nil
	}
	switch kind {
	case EntryStart:
		return d.start()
	case EntryIntent:
		return d.intent()
	case EntrySent:
		return &SentCommand{Order: market.OrderID(d.Int()), Command: codec.Enum(&d.Decoder, market.CommandPlace)}
	case EntryOutcome:
		return d.outcome()
	case EntryReport:
		r := &ReportEntry{}
		d.report(&r.Report)
		r.Fills = d.fills()
		return r
	case EntryFill:
		return &Fills{d.fills()}
	case EntryTransfer:
		return d.transfer()
	case EntryTimer:
		return &Timer{d.Text()}
	case EntryCursor:
		return &Cursor{d.Text(), d.Bytes()}
	case EntryRefusal:
		return d.refusal()
	case EntryDifference:
		return &Difference{state.Discrepancy{What: d.Text(), Ours: d.Text(), Theirs: d.Text(), Conclusion: d.Text(),
			Order: market.OrderID(d.Int())}}
	case EntryHalt:
		return &Halt{d.Text(), d.Text(), d.Text()}
	case EntryResume:
		return &Resume{d.Text(), d.Text()}
	case EntryStop:
		return &Stop{d.UUID(), d.Text(), int(d.Int())}
	case EntrySeal:
		return &Seal{d.Text(), d.Text(), d.Bytes()}
	case EntryVerdict:
		return d.verdict()
	case EntryPromotion:
		return d.promotion()
	case EntryReload:
		return d.reload()
	case EntryAct:
		return d.act()
	case EntryAdopt:
		return d.adoption()
	case EntrySignal:
		return d.signal()
	}
	d.Fail("entry of kind %d", kind)
	return nil
}

func (e *recordEncoder) texts(texts ...string) {
	for _, text := range texts {
		e.Text(text)
	}
}

func (e *recordEncoder) start(r *Start) {
	e.UUID(r.Run)
	e.texts(r.Version, r.ConfigHash, r.Currency)
	e.list(r.Strategies)
}

// list writes texts with their number.
func (e *recordEncoder) list(texts []string) {
	e.Uint(uint64(len(texts)))
	e.texts(texts...)
}

func (d *recordDecoder) list() (texts []string) {
	for n := d.Count(); n > 0 && d.Err() == nil; n-- {
		texts = append(texts, d.Text())
	}
	return texts
}

func (d *recordDecoder) start() *Start {
	return &Start{Run: d.UUID(), Version: d.Text(), ConfigHash: d.Text(), Currency: d.Text(), Strategies: d.list()}
}

func (e *recordEncoder) intent(r *Intent) {
	e.command(&r.Command)
	e.texts(r.Method, r.Path)
	e.Bytes(r.Body)
	e.Int(r.Timestamp)
	e.Int(r.WindowMS)
	e.cause(&r.Cause)
	e.Uint(uint64(len(r.Risk)))
	for i := range r.Risk {
		f := &r.Risk[i]
		e.texts(f.Name, f.Before, f.After, f.Limit)
	}
	e.terms(&r.Asked)
}

// terms writes terms in units of the market written last.
func (e *recordEncoder) terms(t *state.Terms) {
	for _, n := range [...]int64{int64(t.Price), int64(t.TriggerAmount), int64(t.Amount), int64(t.AmountQuote),
		int64(t.Stop), int64(t.Target)} {
		e.Int(n)
	}
}

func (d *recordDecoder) terms() state.Terms {
	return state.Terms{Price: d.Price(), TriggerAmount: d.Price(), Amount: market.Qty(d.Int()),
		AmountQuote: market.Money(d.Int()), Stop: d.Price(), Target: d.Price()}
}

func (d *recordDecoder) intent() *Intent {
	r := &Intent{}
	r.Strategy = d.command(&r.Command)
	r.Method, r.Path, r.Body = d.Text(), d.Text(), d.Bytes()
	r.Timestamp, r.WindowMS = d.Int(), d.Int()
	d.cause(&r.Cause)
	for n := d.Count(); n > 0 && d.Err() == nil; n-- {
		r.Risk = append(r.Risk, state.Figure{Name: d.Text(), Before: d.Text(), After: d.Text(), Limit: d.Text()})
	}
	r.Asked = d.terms()
	return r
}

func (e *recordEncoder) cause(c *Cause) {
	e.Byte(byte(c.Kind))
	e.Market(c.Market)
	e.Int(int64(c.At))
	e.Uint(c.Recorded)
	putNumbers(e, c.Signals)
}

func (d *recordDecoder) cause(c *Cause) {
	c.Kind = codec.Enum(&d.Decoder, market.KindTimer)
	c.Market = d.OtherMarket() // the units stay those of the order's market
	c.At = market.Time(d.Int())
	c.Recorded = d.Uint()
	if d.of > 1 {
		c.Signals = getNumbers[int64](d)
	}
}

func (e *recordEncoder) outcome(r *AnswerEntry) {
	e.Int(int64(r.Order))
	e.Byte(byte(r.Command))
	e.Byte(byte(r.Answer))
	e.Int(int64(r.Status))
	e.Int(int64(r.Code))
	e.Text(r.Message)
	e.UUID(r.ExchangeID)
}

func (d *recordDecoder) outcome() *AnswerEntry {
	return &AnswerEntry{Order: market.OrderID(d.Int()), Command: codec.Enum(&d.Decoder, market.CommandPlace),
		Answer: codec.Enum(&d.Decoder, AnswerUnknown), Status: int(d.Int()), Code: int(d.Int()), Message: d.Text(),
		ExchangeID: d.UUID()}
}

func (e *recordEncoder) fills(fills []market.Fill) {
	e.Uint(uint64(len(fills)))
	for i := range fills {
		e.fill(&fills[i])
	}
}

func (d *recordDecoder) fills() (fills []market.Fill) {
	for n := d.Count(); n > 0 && d.Err() == nil; n-- {
		var f market.Fill
		d.fill(&f)
		fills = append(fills, f)
	}
	return fills
}

func (e *recordEncoder) transfer(r *Transfer) {
	e.Market(r.Market)
	e.Asset(r.Asset)
	e.Int(int64(r.Money))
	e.Text(r.Strategy)
	e.Int(int64(r.Price))
}

func (d *recordDecoder) transfer() *Transfer {
	return &Transfer{Market: d.Market(), Asset: d.Asset(), Money: market.Money(d.Int()), Strategy: d.Text(),
		Price: d.Price()}
}

func (e *recordEncoder) refusal(r *Refusal) {
	e.Text(r.Strategy)
	e.command(&r.Command)
	e.texts(r.Reason, r.Detail)
	e.terms(&r.Rounded)
	e.texts(r.Have, r.Limit)
	e.cause(&r.Cause)
	e.Int(r.Count)
	e.Int(int64(r.First))
}

func (d *recordDecoder) refusal() *Refusal {
	r := &Refusal{Strategy: d.Text()}
	d.command(&r.Command)
	r.Reason, r.Detail = d.Text(), d.Text()
	r.Rounded = d.terms()
	r.Have, r.Limit = d.Text(), d.Text()
	d.cause(&r.Cause)
	r.Count, r.First = d.Int(), market.Time(d.Int())
	return r
}

func (e *recordEncoder) verdict(r *Verdict) {
	e.Text(r.Scope)
	e.Uint(r.Seal)
	e.Int(int64(r.Day))
	e.Flags(r.Broken)
	e.Bytes(r.Document)
}

func (d *recordDecoder) verdict() *Verdict {
	r := &Verdict{Scope: d.Text(), Seal: d.Uint(), Day: market.Time(d.Int())}
	d.Flags(&r.Broken)
	r.Document = d.Bytes()
	return r
}

func (e *recordEncoder) promotion(r *Promotion) {
	e.Flags(r.Accepted)
	e.texts(r.By, r.Version, r.ConfigHash)
	e.Int(r.Compared)
	e.Int(r.Equal)
	e.Text(r.Difference)
}

func (d *recordDecoder) promotion() *Promotion {
	r := &Promotion{}
	d.Flags(&r.Accepted)
	r.By, r.Version, r.ConfigHash = d.Text(), d.Text(), d.Text()
	r.Compared, r.Equal, r.Difference = d.Int(), d.Int(), d.Text()
	return r
}

func (e *recordEncoder) reload(r *Reload) {
	e.texts(r.By, r.ConfigHash, r.Was)
	e.Int(int64(r.Until))
	e.list(r.Strategies)
	e.list(r.Changes)
}

func (d *recordDecoder) reload() *Reload {
	return &Reload{By: d.Text(), ConfigHash: d.Text(), Was: d.Text(), Until: market.Time(d.Int()),
		Strategies: d.list(), Changes: d.list()}
}

func (e *recordEncoder) act(r *Act) {
	e.texts(r.Verb, r.Strategy, r.Reason, r.By, r.From)
	e.Int(int64(r.Order))
	e.Flags(r.Foreign)
}

func (d *recordDecoder) act() *Act {
	r := &Act{Verb: d.Text(), Strategy: d.Text(), Reason: d.Text(), By: d.Text(), From: d.Text(),
		Order: market.OrderID(d.Int())}
	d.Flags(&r.Foreign)
	return r
}

// ordersOf appends the own orders in a record, each once. The orders of this record begin at from.
func ordersOf(dst []market.OrderID, from int, record Payload) []market.OrderID {
	switch r := record.(type) {
	case *Intent:
		return addOrder(dst, from, r.Command.Order.ID)
	case *SentCommand:
		return addOrder(dst, from, r.Order)
	case *AnswerEntry:
		return addOrder(dst, from, r.Order)
	case *ReportEntry:
		return addOrder(dst, from, r.Order)
	case *Fills:
		for i := range r.Fills {
			dst = addOrder(dst, from, r.Fills[i].Order)
		}
	case *Refusal:
		return addOrder(dst, from, r.Command.Order.ID)
	case *Difference:
		return addOrder(dst, from, r.Order)
	case *Act:
		return addOrder(dst, from, r.Order)
	case *Adoption:
		for _, id := range r.Orders {
			dst = addOrder(dst, from, id)
		}
	case *Signal:
		for _, id := range r.Orders {
			dst = addOrder(dst, from, id)
		}
	}
	return dst
}

func addOrder(dst []market.OrderID, from int, id market.OrderID) []market.OrderID {
	if id == 0 || slices.Contains(dst[from:], id) {
		return dst
	}
	return append(dst, id)
}
