package journal

import (
	"crypto/sha256"
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// EntryKind says what an Entry of the journal records.
type EntryKind uint8

// The kinds, in the order in which they come up in the life of a bot and of an order.
const (
	EntryStart      EntryKind = iota + 1 // a run began: Start
	EntryIntent                          // a command will be sent: Intent
	EntrySent                            // its first byte is about to leave: SentCommand
	EntryOutcome                         // it was answered, or will not be: Outcome
	EntryReport                          // the exchange told of an order: Report
	EntryFill                            // the exchange told of fills alone: Fills
	EntryTransfer                        // a balance changed from outside: Transfer
	EntryTimer                           // a time that a strategy asked for came: Timer
	EntryCursor                          // a feed was read up to here: Cursor
	EntryRefusal                         // the gate refused: Refusal
	EntryDifference                      // the exchange's books and ours disagreed: Difference
	EntryHalt                            // trading was halted: Halt
	EntryResume                          // and allowed again: Resume
	EntryStop                            // a run ended in good order: Stop
	entryKinds
)

var entryNames = [entryKinds]string{"", "start", "intent", "sent", "outcome", "report", "fill", "transfer", "timer",
	"cursor", "refusal", "difference", "halt", "resume", "stop"}

// String returns the kind's name.
func (k EntryKind) String() string {
	if k < entryKinds {
		return entryNames[k]
	}
	return fmt.Sprintf("entry(%d)", k)
}

// Entry is one line of the journal. Its hash covers the hash of the entry before, its number, time,
// kind and bytes.
type Entry struct {
	Number uint64 // from 1, without gaps
	At     market.Time
	Kind   EntryKind
	Hash   [sha256.Size]byte
	Record Record // what it says: a pointer to the type that its kind names
}

// Record is the content of a journal entry: *Start, *Intent, *SentCommand, *Outcome, *Report,
// *Fills, *Transfer, *Timer, *Cursor, *Refusal, *Difference, *Halt, *Resume or *Stop.
type Record interface {
	entryKind() EntryKind
}

// Start is the beginning of a run. It is the first entry of a run, before any order of it.
type Start struct {
	Run        uuid.UUID
	Version    string // of the code
	ConfigHash string
	Currency   string   // that equity is counted in
	Strategies []string // by StrategyID, from 1
}

// Intent is a command that will be sent: everything that goes out but the signature. It is durable
// before the first byte leaves.
type Intent struct {
	Command   market.Command
	Strategy  string // by name; of the command's order. Filled on reading, ignored on writing
	Method    string
	Path      string // with its query
	Body      []byte // nil: none
	Timestamp int64  // that is signed, Unix ms on the exchange's clock
	WindowMS  int64  // how long the exchange accepts it
	Cause     Cause
	Risk      []state.Figure // what the gate looked at, before and after
	// the order's as the strategy asked for them, before rounding; zero for cancels, and in entries
	// of version 1
	Asked state.Terms
}

// Cause is the event in whose callback something was decided.
type Cause struct {
	Kind     market.EventKind
	Market   market.ID // 0: none, or several
	At       market.Time
	Recorded uint64 // number of the event in the recording; 0: not recorded
}

// SentCommand says that a command is on its way: from here on an answer that does not come is an
// unknown one.
type SentCommand struct {
	Order   market.OrderID
	Command market.CommandKind
}

// Answer is how a send ended.
type Answer uint8

// The answers.
const (
	AnswerAccepted Answer = iota + 1
	AnswerRejected        // certainly not carried out
	AnswerUnknown         // perhaps carried out: the exchange has to be asked
	answers
)

var answerNames = [answers]string{"", "accepted", "rejected", "unknown"}

// String returns the answer's name.
func (a Answer) String() string {
	if a < answers {
		return answerNames[a]
	}
	return fmt.Sprintf("answer(%d)", a)
}

// Outcome is how a send ended.
type Outcome struct {
	Order      market.OrderID
	Command    market.CommandKind
	Answer     Answer
	Status     int // of HTTP; 0: none came
	Code       int // the exchange's error code; 0: none
	Message    string
	ExchangeID uuid.UUID // accepted: the order's
}

// Report is what the exchange told of an order, with the fills that came along.
type Report struct {
	market.Report
	Fills []market.Fill
}

// Fills are fills that came without a report, or fees that were settled.
type Fills struct {
	Fills []market.Fill
}

// Transfer is a balance that changed from outside (market.KindTransfer).
type Transfer struct {
	Asset    market.AssetID
	Money    market.Money
	Strategy string // whose allocation; empty: the pool
	Market   market.ID
	Price    market.Price // what the amount cost, in the units of Market; 0: not known
}

// Timer is a time that a strategy asked for and that has come.
type Timer struct {
	Strategy string // empty: whichever asked
}

// Cursor says how far a feed was read; the value is the feed's own.
type Cursor struct {
	Name  string
	Value []byte
}

// Refusal is an order or a change that the gate refused, the last of Count that were refused alike.
type Refusal struct {
	Strategy string
	Command  market.Command // as it was asked; its order may have no id
	Rounded  state.Terms    // as the gate would have let it go
	// the refusal's word, like "max_position", or "exchange 216" with the code that the exchange
	// would answer
	Reason string
	Detail string // the refusal in words
	Have   string // the value that the reason is about, as a decimal; empty: it has none
	Limit  string // and its limit
	Cause  Cause
	Count  int64       // 0 in entries of version 1, which stand for one
	First  market.Time // when the first of Count was asked
}

// Difference is a discrepancy between the exchange's books and ours.
type Difference struct {
	state.Discrepancy
}

// Halt stops the opening of positions until somebody resumes. Scope is "account", "strategy NAME"
// or "market NAME".
type Halt struct {
	Scope  string
	Reason string // what a person has to know: which limit, which difference, which panic
	By     string // "gate", "reconcile", "operator", …
}

// Resume ends a halt of the same scope.
type Resume struct {
	Scope string
	By    string
}

// Stop is the end of a run in good order.
type Stop struct {
	Run    uuid.UUID
	Reason string
	Open   int // orders left open
}

func (*Start) entryKind() EntryKind       { return EntryStart }
func (*Intent) entryKind() EntryKind      { return EntryIntent }
func (*SentCommand) entryKind() EntryKind { return EntrySent }
func (*Outcome) entryKind() EntryKind     { return EntryOutcome }
func (*Report) entryKind() EntryKind      { return EntryReport }
func (*Fills) entryKind() EntryKind       { return EntryFill }
func (*Transfer) entryKind() EntryKind    { return EntryTransfer }
func (*Timer) entryKind() EntryKind       { return EntryTimer }
func (*Cursor) entryKind() EntryKind      { return EntryCursor }
func (*Refusal) entryKind() EntryKind     { return EntryRefusal }
func (*Difference) entryKind() EntryKind  { return EntryDifference }
func (*Halt) entryKind() EntryKind        { return EntryHalt }
func (*Resume) entryKind() EntryKind      { return EntryResume }
func (*Stop) entryKind() EntryKind        { return EntryStop }
