package journal

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// Batch holds the changes of one turn of the live loop: journal entries, in the order in which they
// are added, and rows of the tables. Each is encoded at once into the batch's buffer, so the caller
// may reuse its values. Commit writes all of them in one transaction and empties the batch. Of
// several rows with the same key the last one counts. A batch belongs to one goroutine.
//
// A value that cannot be written, such as a market that is not in the catalog, is a mistake of the
// caller: Commit returns it as an error.
type Batch struct {
	enc     recordEncoder
	ops     []op
	orders  []market.OrderID // of the journal entries
	samples []EquitySample
	moved   []Booking   // of transfers and adoptions
	before  market.Time // of Trim; 0: none
}

// op is one write. Its bytes are in the encoder's buffer.
type op struct {
	do         opKind
	open       bool // opOrder
	key, value span
	index      span // opOrder: client id, exchange id, market name; opFill: order id, part, fill id
	from, to   int  // opEntry: its part of orders; opEquity, opTransfer: its place
}

type opKind uint8

const (
	opEntry opKind = iota + 1
	opOrder
	opFill
	opPosition
	opBlob
	opRemoveBlob
	opCursor
	opHalt
	opResume
	opRun
	opKept
	opEquity
	opTransfer
)

// span is a part of the buffer.
type span struct{ from, to int }

func (b *Batch) slice(s span) []byte { return b.enc.Buf[s.from:s.to:s.to] }

// NewBatch returns an empty batch in the units of the store's catalog. Call Bind first.
func (s *Store) NewBatch() *Batch {
	return &Batch{enc: recordEncoder{Encoder: codec.Encoder{Names: s.names}}}
}

// Len returns the number of entries and rows in the batch.
func (b *Batch) Len() int { return len(b.ops) }

// Entries returns the number of journal entries in the batch.
func (b *Batch) Entries() (count int) {
	for i := range b.ops {
		if b.ops[i].do == opEntry {
			count++
		}
	}
	return count
}

// Reset empties the batch.
func (b *Batch) Reset() {
	b.ops, b.orders, b.samples, b.moved = b.ops[:0], b.orders[:0], b.samples[:0], b.moved[:0]
	b.enc.Cut(0)
	b.before = 0
}

// mark returns where a part of the buffer begins; since ends that part.
func (b *Batch) mark() int           { return len(b.enc.Buf) }
func (b *Batch) since(from int) span { return span{from, len(b.enc.Buf)} }
func (b *Batch) literal(s string) span {
	from := b.mark()
	b.enc.Buf = append(b.enc.Buf, s...)
	return b.since(from)
}

// Journal adds an entry to the journal only. Event, Transfer, Cursor, Halt, Resume, Start, Seal,
// Verdict, Promotion, Reload, Act and Adoption change a table too: use them for their records. The
// record may be reused at once.
func (b *Batch) Journal(at market.Time, record Payload) {
	from := b.mark()
	b.enc.Buf = append(b.enc.Buf, make([]byte, entryFront)...)
	b.enc.Buf = appendTime(b.enc.Buf, at)
	b.enc.record(record)
	first := len(b.orders)
	b.orders = ordersOf(b.orders, first, record)
	b.ops = append(b.ops, op{do: opEntry, value: b.since(from), from: first, to: len(b.orders)})
}

// Event journals an event of the engine: a report, fills (which also go to the tables of fills and
// of bookings), a transfer or a timer. Market data adds nothing: the recording keeps it.
func (b *Batch) Event(ev *market.Event) {
	switch ev.Kind {
	case market.KindReport:
		b.Journal(ev.At, &ReportEntry{*ev.Report, ev.Fills})
	case market.KindFill:
		b.Journal(ev.At, &Fills{ev.Fills})
	case market.KindTransfer:
		b.Transfer(ev, Worth{})
	case market.KindTimer:
		b.Journal(ev.At, &Timer{})
	}
	for i := range ev.Fills {
		b.Fill(&ev.Fills[i])
	}
}

// Transfer journals an event of KindTransfer and books it with what it is worth.
func (b *Batch) Transfer(ev *market.Event, worth Worth) {
	name := b.enc.StrategyName(ev.Owner)
	b.Journal(ev.At, &Transfer{Asset: ev.Asset, Money: ev.Money, Strategy: name, Market: ev.Market, Price: ev.Price})
	b.ops = append(b.ops, op{do: opTransfer, from: len(b.moved)})
	b.moved = append(b.moved, Booking{Kind: BookedTransfer, StrategyName: name, At: ev.At, Asset: ev.Asset,
		Money: ev.Money, Market: ev.Market, Price: ev.Price, Worth: worth})
}

// Start begins a run: a journal entry and a row of runs.
func (b *Batch) Start(at market.Time, r *Start) {
	b.Journal(at, r)
	// the commit knows the key, and adds the checksum
	b.ops = append(b.ops, op{do: opRun, value: b.stamped(at, r)})
}

// Seal journals a seal and keeps it for good.
func (b *Batch) Seal(at market.Time, r *Seal) { b.keep(at, r) }

// Verdict journals a verdict and keeps it for good.
func (b *Batch) Verdict(at market.Time, r *Verdict) { b.keep(at, r) }

// Act journals an action of the operator and keeps it for good.
func (b *Batch) Act(at market.Time, r *Act) { b.keep(at, r) }

// Promotion journals a promotion and keeps it for good.
func (b *Batch) Promotion(at market.Time, r *Promotion) { b.keep(at, r) }

// Reload journals a reload and keeps it for good.
func (b *Batch) Reload(at market.Time, r *Reload) { b.keep(at, r) }

// Adoption journals a handover, keeps it for good, and books what it moves. The rows of positions
// and orders are the caller's.
func (b *Batch) Adoption(at market.Time, r *Adoption) {
	b.keep(at, r)
	for _, moved := range r.bookings() {
		b.ops = append(b.ops, op{do: opTransfer, from: len(b.moved)})
		b.moved = append(b.moved, moved)
	}
}

func (b *Batch) keep(at market.Time, record Payload) {
	b.Journal(at, record)
	b.ops = append(b.ops, op{do: opKept, value: b.stamped(at, record)}) // as opRun
}

// Halt journals a halt and adds it to the table of halts, until Resume.
func (b *Batch) Halt(at market.Time, r *Halt) {
	b.Journal(at, r)
	key := b.literal(r.Scope)
	b.row(op{do: opHalt, key: key}, b.stamped(at, r).from)
}

// Resume journals the end of a halt and deletes it from the table.
func (b *Batch) Resume(at market.Time, r *Resume) {
	b.Journal(at, r)
	b.ops = append(b.ops, op{do: opResume, key: b.literal(r.Scope)})
}

func (b *Batch) stamped(at market.Time, record Payload) span {
	from := b.mark()
	b.enc.Buf = appendTime(b.enc.Buf, at)
	b.enc.record(record)
	return b.since(from)
}

// Cursor journals the position of a feed and stores it.
func (b *Batch) Cursor(at market.Time, name string, value []byte) {
	b.Journal(at, &Cursor{name, value})
	b.put(opCursor, name, value)
}

// Blob stores bytes under a name, such as a snapshot of the engine, the gate or a strategy. It does
// not journal them.
func (b *Batch) Blob(name string, value []byte) { b.put(opBlob, name, value) }

// RemoveBlob removes the bytes under a name, where there are any.
func (b *Batch) RemoveBlob(name string) {
	b.ops = append(b.ops, op{do: opRemoveBlob, key: b.literal(name)})
}

func (b *Batch) put(do opKind, name string, value []byte) {
	key := b.literal(name)
	from := b.mark()
	b.enc.Buf = append(b.enc.Buf, value...)
	b.row(op{do: do, key: key}, from)
}

// row adds a row whose value begins at from, and its checksum.
func (b *Batch) row(o op, from int) {
	b.enc.Buf = sealRow(b.enc.Buf, b.slice(o.key), from)
	o.value = b.since(from)
	b.ops = append(b.ops, o)
}

// Order stores the present state of an own order. The commit fails if the file has an order of the
// same id with another client order id.
func (b *Batch) Order(o *state.Order) {
	if o.ID <= 0 || o.Market == 0 {
		b.enc.Fail("order %d of market %d is not an own order", o.ID, o.Market)
		return
	}
	from := b.mark()
	b.enc.Buf = append(appendKey(b.enc.Buf, uint64(o.ID)), partRow)
	next := op{do: opOrder, key: b.since(from), open: !o.State.Terminal()}
	from = b.mark()
	b.enc.UUID(o.ClientOrderID)
	b.enc.UUID(o.ExchangeID)
	b.enc.Buf = append(b.enc.Buf, b.enc.marketName(o.Market)...)
	next.index = b.since(from)
	from = b.mark()
	b.enc.orderRow(o)
	b.row(next, from)
}

// Fill stores a fill of an own order; other fills are ignored. A fill that is stored already
// changes only when its fee is settled now.
func (b *Batch) Fill(f *market.Fill) {
	if f.Order == 0 {
		return
	}
	from := b.mark()
	b.enc.Buf = appendFillKey(b.enc.Buf, f)
	next := op{do: opFill, key: b.since(from)}
	from = b.mark()
	b.enc.Buf = append(append(appendKey(b.enc.Buf, uint64(f.Order)), partFill), f.ID[:]...)
	next.index = b.since(from)
	from = b.mark()
	b.enc.Byte(recordVersion)
	b.enc.fill(f)
	b.row(next, from)
}

// Position stores the position of a strategy in a market. Strategy 0 is the pool of removed
// strategies.
func (b *Batch) Position(strategy market.StrategyID, id market.ID, p *market.Position) {
	from := b.mark()
	b.enc.Buf = append(append(append(b.enc.Buf, b.enc.StrategyName(strategy)...), 0), b.enc.marketName(id)...)
	key := b.since(from)
	from = b.mark()
	b.enc.Byte(recordVersion)
	b.enc.Strategy(strategy)
	b.enc.Market(id)
	b.enc.position(p)
	b.row(op{do: opPosition, key: key}, from)
}

// Equity adds a sample to the equity curves, which are thinned with age: see EquitySample.
func (b *Batch) Equity(sample EquitySample) {
	b.ops = append(b.ops, op{do: opEquity, from: len(b.samples)})
	b.samples = append(b.samples, sample)
}

// marketName returns the name of a market. A market that is not in the catalog is a mistake of the
// caller.
func (e *recordEncoder) marketName(id market.ID) string {
	if id == 0 || int(id) > len(e.Catalog().Markets()) {
		e.Fail("market %d is not of this catalog", id)
		return ""
	}
	return e.Catalog().Market(id).Name
}

// splitIndex splits the index of an order's op.
func splitIndex(index []byte) (client, exchange uuid.UUID, name []byte) {
	copy(client[:], index)
	copy(exchange[:], index[16:])
	return client, exchange, index[32:]
}

// fault returns the first mistake of the caller.
func (b *Batch) fault() error {
	if err := b.enc.Err(); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	return nil
}
