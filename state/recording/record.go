package recording

import (
	"github.com/tidemark-trading/tidemark/market"
)

// Kind says what a Record is. Segments have the numbers: they never change.
type Kind uint8

// The kinds. Bytes from 10 to 15 are kept for the events of a stream: an order of the account, a
// fill, a change of a book. A program that does not know them refuses the recording in words.
const (
	KindInput    Kind = iota + 1 // something entered the engine
	KindStart                    // a process began: its manifest, and the saved parts that it found
	KindHistory                  // candles of its warm-up, in the order of their close
	KindOpen                     // the engine began, with the parts and the history before
	KindWaiting                  // the commands since KindOpen wait for KindBegun
	KindBegun                    // trading begins: they are asked for now
	KindWithheld                 // a command that never became an intent
	KindTurn                     // a commit follows, with these entries of the journal
	KindSnapshot                 // the saved parts of a new UTC day
	// KindReload: strategies with other parameters, or other limits, take over. They were made of
	// the manifest, and warmed up beside the engine from its parts as of Until, with the first Size
	// candles; they see the others now.
	KindReload
	kinds
)

var kindNames = [kinds]string{"", "input", "start", "history", "open", "waiting", "begun", "withheld", "turn",
	"snapshot", "reload"}

// String returns the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "record"
}

// Record is one record of a recording. A field that its kind does not name is zero.
type Record struct {
	Kind     Kind
	At       market.Time        // of all but a KindInput, which has its own
	Input    market.Input       // KindInput
	Manifest []byte             // KindStart: what the process was made of, as its writer writes it; KindReload
	Parts    map[string][]byte  // KindStart, KindSnapshot, KindReload: of engine.Save, by name
	Candles  []market.Candle    // KindHistory, KindReload
	Until    market.Time        // KindReload
	Size     int                // KindReload: of Candles, those of the warm-up
	From, To uint64             // KindTurn: the journal's entries after From, up to To
	Order    market.OrderID     // KindWithheld
	Command  market.CommandKind // KindWithheld
}

// Time is when a record's content happened.
func (r *Record) Time() market.Time {
	switch {
	case r.Kind != KindInput:
		return r.At
	case r.Input.Event != nil:
		return r.Input.Event.At
	}
	return r.Input.At
}

// begins reports whether a reader may begin at a record: it needs nothing that stands before.
func (r *Record) begins() bool { return r.Kind == KindStart }

// MarketData reports whether an event is of a feed. Its first byte in a segment is its kind.
func MarketData(kind market.EventKind) bool {
	switch kind {
	case market.KindMarketStatus, market.KindCandles, market.KindTrade, market.KindTicker, market.KindBook:
		return true
	}
	return false
}
