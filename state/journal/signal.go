package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Signal is a signal from outside that a bot got: one that counts, or the last of Count refused
// ones of a kind.
type Signal struct {
	Source, ID      string
	Hash            [sha256.Size]byte // of source, market and body
	Body            []byte            // as it came
	Sent, Came      market.Time       // by the sender, 0: it did not say; and by the bot
	Address, Proof  string            // of the sender
	Market          string            // empty: all; of a refused one as the sender wrote it
	Verdict, Reason string            // why it was refused, in a word and in words; empty: it counts
	Heard, Deaf     []string          // strategies that got it, and that want it and are halted
	Short           bool              // it asked for a short, which is flat
	Lost            bool              // the one before it never came: the sender names another position
	Past            bool              // it is about an earlier time than the latest one, which holds on
	Orders          []market.OrderID  // that followed at once
	Count           int64             // of a refused one
	First           market.Time       // of the first of Count
}

// PastText is said of a Signal that is Past.
const PastText = "its time is before that of the latest signal, which holds on: rules and follow leave it out"

func (*Signal) entryKind() EntryKind { return EntrySignal }

func (e *recordEncoder) signal(r *Signal) {
	e.texts(r.Source, r.ID, r.Address, r.Proof, r.Market, r.Verdict, r.Reason)
	e.Buf = append(e.Buf, r.Hash[:]...)
	e.Bytes(r.Body)
	e.Int(int64(r.Sent))
	e.Int(int64(r.Came))
	e.list(r.Heard)
	e.list(r.Deaf)
	e.Flags(r.Short, r.Lost, r.Past)
	putNumbers(e, r.Orders)
	e.Int(r.Count)
	e.Int(int64(r.First))
}

func (d *recordDecoder) signal() *Signal {
	r := &Signal{Source: d.Text(), ID: d.Text(), Address: d.Text(), Proof: d.Text(), Market: d.Text(),
		Verdict: d.Text(), Reason: d.Text()}
	for i := range r.Hash {
		r.Hash[i] = d.Byte()
	}
	r.Body = d.Bytes()
	r.Sent, r.Came = market.Time(d.Int()), market.Time(d.Int())
	r.Heard, r.Deaf = d.list(), d.list()
	d.Flags(&r.Short, &r.Lost, &r.Past)
	r.Orders = getNumbers[market.OrderID](d)
	r.Count, r.First = d.Int(), market.Time(d.Int())
	return r
}

func (d *describer) signal(r *Signal) {
	d.text("source", r.Source)
	d.text("id", r.ID)
	d.text("hash", hex.EncodeToString(r.Hash[:]))
	d.text("body", string(r.Body))
	d.time("sent", r.Sent)
	d.time("came", r.Came)
	d.text("address", r.Address)
	d.text("proof", r.Proof)
	d.text("market", r.Market)
	d.text("verdict", r.Verdict)
	d.text("reason", r.Reason)
	d.text("heard", strings.Join(r.Heard, " "))
	d.text("halted", strings.Join(r.Deaf, " "))
	d.flag("short", r.Short)
	d.flag("lost", r.Lost)
	d.flag("past", r.Past)
	d.orders(r.Orders)
	d.integer("times", r.Count)
	d.time("first", r.First)
}
