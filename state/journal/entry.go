package journal

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// EntryKind says what an Entry of the journal records.
type EntryKind uint8

// The kinds, in the order in which they occur in the life of a bot and of an order.
const (
	EntryStart      EntryKind = iota + 1 // a run began: Start
	EntryIntent                          // a command will be sent: Intent
	EntrySent                            // the first byte of a command is about to be sent: SentCommand
	EntryOutcome                         // a command was answered, or will never be: Outcome
	EntryReport                          // the exchange reported the state of an order: Report
	EntryFill                            // the exchange reported fills alone: Fills
	EntryTransfer                        // a balance changed from outside: Transfer
	EntryTimer                           // a timer of a strategy fired: Timer
	EntryCursor                          // a feed was read up to here: Cursor
	EntryRefusal                         // the gate refused an order: Refusal
	EntryDifference                      // the exchange and the bot disagreed: Difference
	EntryHalt                            // trading was halted: Halt
	EntryResume                          // a halt was ended: Resume
	EntryStop                            // a run ended in order: Stop
	EntrySeal                            // a strategy's promise was sealed: Seal
	EntryVerdict                         // a day was held against a seal: Verdict
	EntryPromotion                       // a canary was accepted or refused: Promotion
	EntryReload                          // a running bot took other settings: Reload
	EntryAct                             // the operator asked for an action: Act
	EntryAdopt                           // a strategy of a stopped bot handed over to another: Adoption
	EntrySignal                          // a signal from outside came: Signal
	entryKinds
)

var entryNames = [entryKinds]string{"", "start", "intent", "sent", "outcome", "report", "fill", "transfer", "timer",
	"cursor", "refusal", "difference", "halt", "resume", "stop", "seal", "verdict", "promotion", "reload", "act",
	"adopt", "signal"}

// String returns the kind's name.
func (k EntryKind) String() string {
	if k < entryKinds {
		return entryNames[k]
	}
	return fmt.Sprintf("entry(%d)", k)
}

// EntryKinds are the names of all kinds, in their order.
func EntryKinds() []string { return append([]string{}, entryNames[1:]...) }

// EntryKindOf is the kind with a name; 0: there is none.
func EntryKindOf(name string) EntryKind { return EntryKind(max(0, slices.Index(entryNames[:], name))) }

// Entry is one entry of the journal. Its hash covers the hash of the previous entry, its number,
// time, kind and bytes.
type Entry struct {
	Number uint64 // from 1, without gaps
	At     market.Time
	Kind   EntryKind
	Hash   [sha256.Size]byte
	Record Payload // a pointer to the type that Kind names
}

// Payload is the content of a journal entry: *Start, *Intent, *SentCommand, *Outcome, *Report,
// *Fills, *Transfer, *Timer, *Cursor, *Refusal, *Difference, *Halt, *Resume, *Stop, *Seal,
// *Verdict, *Promotion, *Reload, *Act, *Adoption or *Signal.
type Payload interface {
	entryKind() EntryKind
}

// Start is the beginning of a run: the first entry of the run.
type Start struct {
	Run        uuid.UUID
	Version    string // of the program
	ConfigHash string
	Currency   string   // of equity
	Strategies []string // by StrategyID, from 1
}

// Intent is a command that will be sent: the whole request except the signature. It is durable
// before the first byte is sent.
type Intent struct {
	Command   market.Command
	Strategy  string // name; set on reading, ignored on writing
	Method    string
	Path      string // with the query
	Body      []byte // nil: none
	Timestamp int64  // signed, in Unix ms of the exchange's clock
	WindowMS  int64  // how long the exchange accepts the request
	Cause     Cause
	Risk      []state.Figure // the checks of the gate, before and after
	Asked     state.Terms    // before rounding; zero for cancels
}

// Cause is the event in whose callback a strategy decided.
type Cause struct {
	Kind     market.EventKind
	Market   market.ID // 0: none, or several
	At       market.Time
	Recorded uint64 // number of the event in the recording; 0: not recorded
	// Signals are the latest signals that the strategy could read about the market of its order, by
	// the numbers of their entries.
	Signals []int64
}

// SentCommand says that a command is being sent: from here on a missing answer means an unknown
// outcome.
type SentCommand struct {
	Order   market.OrderID
	Command market.CommandKind
}

// Answer is the result of a send.
type Answer uint8

// The answers.
const (
	AnswerAccepted Answer = iota + 1
	AnswerRejected        // not carried out
	AnswerUnknown         // perhaps carried out: query the exchange
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

// AnswerEntry is the result of a send.
type AnswerEntry struct {
	Order      market.OrderID
	Command    market.CommandKind
	Answer     Answer
	Status     int // of HTTP; 0: no answer
	Code       int // the exchange's error code; 0: none
	Message    string
	ExchangeID uuid.UUID // of an accepted order
}

// ReportEntry is an execution report of the exchange, with its fills.
type ReportEntry struct {
	market.Report
	Fills []market.Fill
}

// Fills are fills without a report, or settled fees.
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

// Timer is a timer of a strategy that fired.
type Timer struct {
	Strategy string // empty: not known
}

// Cursor is the position of a feed; the value is the feed's own.
type Cursor struct {
	Name  string
	Value []byte
}

// Refusal is a refused order or change: the last one of Count equal refusals.
type Refusal struct {
	Strategy string
	Command  market.Command // as the strategy asked; the order may have no id
	Rounded  state.Terms    // after the rounding by the gate
	Reason   string         // such as "max_position", or "exchange 216" with the exchange's error code
	Detail   string         // the refusal in words
	Have     string         // the value that was checked, as a decimal; empty: none
	Limit    string         // of that value
	Cause    Cause
	Count    int64
	First    market.Time // of the first of Count
}

// Difference is a discrepancy between the exchange and the bot.
type Difference struct {
	state.Discrepancy
}

// Halt stops the opening of positions until it is resumed. Scope is "account", "strategy NAME" or
// "market NAME".
type Halt struct {
	Scope  string
	Reason string // for people: the limit, difference or panic
	By     string // "gate", "reconcile", "operator", …
}

// Resume ends a halt of the same scope.
type Resume struct {
	Scope string
	By    string
}

// Stop is the end of a run in order.
type Stop struct {
	Run    uuid.UUID
	Reason string
	Open   int // orders left open
}

// Seal is a promise: what the account or a strategy is expected to do from here on.
type Seal struct {
	Scope    string // "account" or "strategy NAME"
	By       string // the user who sealed it
	Document []byte // JSON: the program, the parameters, the tries and the expected bands
}

// Verdict is a UTC day of a sealed scope and the judgement at its end.
type Verdict struct {
	Scope    string
	Seal     uint64      // number of the entry of the Seal
	Day      market.Time // its start
	Broken   bool        // the promise is broken; it stays so until the next Seal
	Document []byte      // JSON: the day's observations and the evidence since the Seal
}

// Promotion is the end of a canary: another program or config that decided in shadow.
type Promotion struct {
	Accepted   bool
	By         string // the user, or the rule, such as "1000 equal commands"
	Version    string // of the canary's program
	ConfigHash string // of the canary
	Compared   int64  // commands that both programs decided, or one of them
	Equal      int64
	Difference string // the first difference, in words; empty: none
}

// Reload is a change of limits, parameters, alerts or log level of a running bot. The recording has
// what is needed to carry it out again.
type Reload struct {
	By         string
	ConfigHash string      // of the settings that hold from here on, as in Start
	Was        string      // the one before
	Until      market.Time // the new strategies were warmed up with the candles closed by then; 0: none is new
	Strategies []string    // with other parameters
	Changes    []string    // a line for each setting that changed, without secrets
}

// Act is an action that the operator asked for. What it led to follows in entries of their own.
type Act struct {
	Verb     string // halt, resume, cancel, cancel-all, flatten, resolve
	Strategy string // empty: all, or the action concerns no strategy
	Order    market.OrderID
	Foreign  bool   // cancel-all: orders of others too
	Reason   string // as the operator wrote it; empty: none
	By       string // such as "user ann"; empty: not said
	From     string // such as "terminal", "dashboard 127.0.0.1"; empty: not said
}

func (*Start) entryKind() EntryKind       { return EntryStart }
func (*Intent) entryKind() EntryKind      { return EntryIntent }
func (*SentCommand) entryKind() EntryKind { return EntrySent }
func (*AnswerEntry) entryKind() EntryKind { return EntryOutcome }
func (*ReportEntry) entryKind() EntryKind { return EntryReport }
func (*Fills) entryKind() EntryKind       { return EntryFill }
func (*Transfer) entryKind() EntryKind    { return EntryTransfer }
func (*Timer) entryKind() EntryKind       { return EntryTimer }
func (*Cursor) entryKind() EntryKind      { return EntryCursor }
func (*Refusal) entryKind() EntryKind     { return EntryRefusal }
func (*Difference) entryKind() EntryKind  { return EntryDifference }
func (*Halt) entryKind() EntryKind        { return EntryHalt }
func (*Resume) entryKind() EntryKind      { return EntryResume }
func (*Stop) entryKind() EntryKind        { return EntryStop }
func (*Seal) entryKind() EntryKind        { return EntrySeal }
func (*Verdict) entryKind() EntryKind     { return EntryVerdict }
func (*Promotion) entryKind() EntryKind   { return EntryPromotion }
func (*Reload) entryKind() EntryKind      { return EntryReload }
func (*Act) entryKind() EntryKind         { return EntryAct }
func (*Adoption) entryKind() EntryKind    { return EntryAdopt }
