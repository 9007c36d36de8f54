package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// Rows of all tables but the indexes end with a CRC-32C of their key and value.

// sealRow appends the checksum of a row whose value begins at from.
func sealRow(dst, key []byte, from int) []byte {
	sum := crc32.Update(crc32.Checksum(key, bolt.Castagnoli), bolt.Castagnoli, dst[from:])
	return binary.LittleEndian.AppendUint32(dst, sum)
}

// openRow checks the checksum and returns the value without it.
func openRow(key, value []byte) ([]byte, error) {
	at := len(value) - 4
	if at < 0 {
		return nil, fmt.Errorf("%w: %d bytes", bolt.ErrCorrupt, len(value))
	}
	if crc32.Update(crc32.Checksum(key, bolt.Castagnoli), bolt.Castagnoli,
		value[:at]) != binary.LittleEndian.Uint32(value[at:]) {
		return nil, fmt.Errorf("%w: checksum", bolt.ErrCorrupt)
	}
	return value[:at], nil
}

// row begins to read a row.
func (d *recordDecoder) row(n *codec.Names, key, value []byte) {
	body, err := openRow(key, value)
	if d.Open(n, body); err != nil {
		d.Refuse(err)
	}
}

// OrderRow is an own order in the state file.
type OrderRow struct {
	market.Order
	StrategyName string // also of a removed strategy, whose number is 0
	State        state.State
	InFlight     market.CommandKind // the write that the exchange has not answered; 0: none
	CancelWanted bool               // asked for while another write was in flight
	Reported     bool               // by the exchange, at least once
	Code         int                // the exchange's error code, for Rejected
}

// Ended returns the order as state.Account.Reopen takes it. fills are all fills of the order that
// were ever booked.
func (r *OrderRow) Ended(fills []FillRow) *state.Order {
	booked := make([]market.Fill, len(fills))
	for i := range fills {
		booked[i] = fills[i].Fill
	}
	return state.EndedOrder(state.Order{Order: r.Order, State: r.State, Reported: r.Reported, Code: r.Code}, booked)
}

// FillRow is a fill of an own order in the state file.
type FillRow struct {
	market.Fill
	StrategyName string
}

// PositionRow is the position of a strategy in a market.
type PositionRow struct {
	market.Position
	StrategyName string
	Strategy     market.StrategyID // 0: the engine does not have it
	Market       market.ID
}

// HaltRow is a halt in force.
type HaltRow struct {
	Halt
	At market.Time
}

// RunRow is a start of the bot.
type RunRow struct {
	Start
	At    market.Time
	First uint64 // number of its first journal entry
}

// KeptRow is a journal entry that Prune keeps.
type KeptRow struct {
	Number uint64 // of its journal entry
	At     market.Time
	Record Payload // *Seal, *Verdict, *Promotion, *Reload, *Act or *Adoption
}

func (e *recordEncoder) orderRow(o *state.Order) {
	e.Byte(recordVersion)
	e.order(&o.Order)
	e.Byte(byte(o.State))
	e.Byte(byte(o.InFlight))
	e.Flags(o.CancelWanted, o.Reported)
	e.Int(int64(o.Code))
}

func (d *recordDecoder) orderRow(o *OrderRow) {
	d.version()
	o.StrategyName = d.order(&o.Order)
	o.State = codec.Enum(&d.Decoder, state.States-1)
	o.InFlight = codec.Enum(&d.Decoder, market.CommandPlace)
	d.Flags(&o.CancelWanted, &o.Reported)
	o.Code = int(d.Int())
}

func readOrder(n *codec.Names, key, value []byte) (o OrderRow, err error) {
	var d recordDecoder
	d.row(n, key, value)
	d.orderRow(&o)
	if err = d.End(); err == nil && !bytes.Equal(key, part(orderKey(o.ID), partRow, nil)) {
		err = fmt.Errorf("%w: its bytes are those of order %d", bolt.ErrCorrupt, o.ID)
	}
	if err != nil {
		return o, fmt.Errorf("order %s: %w", bolt.FormatKey(key[:min(8, len(key))]), err)
	}
	return o, nil
}

func readFill(n *codec.Names, key, value []byte) (f FillRow, err error) {
	var d recordDecoder
	d.row(n, key, value)
	d.version()
	f.StrategyName = d.fill(&f.Fill)
	if err = d.End(); err == nil && !bytes.Equal(key, appendFillKey(nil, &f.Fill)) {
		err = fmt.Errorf("%w: its bytes are those of fill %s of order %d", bolt.ErrCorrupt, f.ID, f.Order)
	}
	if err != nil {
		return f, fmt.Errorf("fill %s: %w", bolt.FormatKey(key), err)
	}
	return f, nil
}

func readPosition(n *codec.Names, key, value []byte) (p PositionRow, err error) {
	var d recordDecoder
	d.row(n, key, value)
	d.version()
	p.StrategyName, p.Strategy = d.Strategy()
	p.Market = d.Market()
	d.position(&p.Position)
	if err = d.End(); err == nil &&
		(p.Market == 0 || !bytes.Equal(key, positionKey(p.StrategyName, n.Catalog().Market(p.Market).Name))) {
		err = fmt.Errorf("%w: it belongs to another strategy or market", bolt.ErrCorrupt)
	}
	if err != nil {
		return p, fmt.Errorf("position %q: %w", key, err)
	}
	return p, nil
}

// stamped reads a record that follows a time.
func stamped(n *codec.Names, key, value []byte) (market.Time, Payload, error) {
	var d recordDecoder
	d.row(n, key, value)
	stamp := d.Take(8)
	record := d.record()
	if err := d.End(); err != nil {
		return 0, nil, err
	}
	return timeOfKey(stamp), record, nil
}

func readHalt(n *codec.Names, key, value []byte) (h HaltRow, err error) {
	at, record, err := stamped(n, key, value)
	halt, ok := record.(*Halt)
	if err == nil && (!ok || halt.Scope != string(key)) {
		err = fmt.Errorf("%w: it is not a halt of that scope", bolt.ErrCorrupt)
	}
	if err != nil {
		return h, fmt.Errorf("halt %q: %w", key, err)
	}
	return HaltRow{*halt, at}, nil
}

func readRun(n *codec.Names, key, value []byte) (r RunRow, err error) {
	at, record, err := stamped(n, key, value)
	start, ok := record.(*Start)
	if err == nil && (!ok || len(key) != 8) {
		err = fmt.Errorf("%w: it is not a run", bolt.ErrCorrupt)
	}
	if err != nil {
		return r, fmt.Errorf("run %s: %w", bolt.FormatKey(key), err)
	}
	return RunRow{*start, at, binary.BigEndian.Uint64(key)}, nil
}

func readKept(n *codec.Names, key, value []byte) (r KeptRow, err error) {
	at, record, err := stamped(n, key, value)
	if err == nil && (len(key) != 8 || record.entryKind() < EntrySeal) {
		err = fmt.Errorf("%w: it is no seal, verdict or promotion", bolt.ErrCorrupt)
	}
	if err != nil {
		return r, fmt.Errorf("kept %s: %w", bolt.FormatKey(key), err)
	}
	return KeptRow{binary.BigEndian.Uint64(key), at, record}, nil
}

func appendKey(dst []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(dst, n) }

func key64(n uint64) []byte { return appendKey(nil, n) }

func orderKey(id market.OrderID) []byte { return key64(uint64(id)) }

// The parts of an order in the bucket of orders. A key is the order's id, the part, and the rest.
const (
	partRow   = iota // no rest → OrderRow
	partStory        // number of the first of some journal entries about it → the others: see storyRow
	partFill         // fill id → time of the fill
)

// part returns the key of a part of an order, whose id is given as a key.
func part(order []byte, part byte, rest []byte) []byte {
	return append(append(append(make([]byte, 0, 9+len(rest)), order...), part), rest...)
}

func isRow(key []byte) bool { return len(key) == 9 && key[8] == partRow }

func orderOfKey(key []byte) market.OrderID { return market.OrderID(binary.BigEndian.Uint64(key)) }

// appendTime appends a time as a part of a key: keys sort like times, even before 1970.
func appendTime(dst []byte, t market.Time) []byte { return appendKey(dst, uint64(t)^1<<63) }

func timeOfKey(key []byte) market.Time { return market.Time(binary.BigEndian.Uint64(key) ^ 1<<63) }

func exchangeKey(id uuid.UUID, name string) []byte { return append(id[:], name...) }

func appendFillKey(dst []byte, f *market.Fill) []byte {
	return append(appendKey(appendTime(dst, f.Time), uint64(f.Order)), f.ID[:]...)
}

func positionKey(strategy, name string) []byte {
	return append(append([]byte(strategy), 0), name...)
}
