// Package statedir owns the state folder of a bot: the names of its files, the blobs of a state
// file beside its tables, the account that the folder belongs to, and the disk below. It never
// trades and never asks an exchange. Start at StateFile, then at Parts.
package statedir

import (
	"errors"
	"os"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// The files of a state folder, beside those of package bot/killswitch.
const (
	StateFile       = "bot.db"
	SocketFile      = "bot.sock"
	PaperFile       = "paper.db"  // the simulated exchange of paper mode
	RecordingFolder = "recording" // of market events
	ReserveFile     = "reserve"   // space that is freed for the last writes when the disk is full
	PlaceExt        = ".place"    // suffix of a source of signals: how far its file was read
	RescuedExt      = ".rescued"  // suffix of a rescued file: the original was removed while the bot ran
)

// The blobs of a state file: small records beside journal and tables.
const (
	ModeBlob         = "mode"      // of bot run: live or paper
	ExchangeBlob     = "exchange"  // scheme and host of the file's exchange
	KeyBlob          = "key"       // digest of the key that the file was last used with
	WeightBudgetBlob = "weights"   // state of the weight budget
	RecordingBlob    = "recording" // number of the next record of the recording: see NextRecord
	AgreedBlob       = "agreed"    // balance checkpoints by asset: the account's balances less the books
	BreachesBlob     = "breaches"  // answers of the exchange that broke a rule within the last day
	ChangedBlob      = "changed"   // orders that someone else has changed, in words
	NewerBlob        = "newer"     // of orders that are newer than the copy of a restored file
	SealBlob         = "seal"      // the day that is held against the seal, so far
	UniverseBlob     = "universe"  // by strategy, the latest ranking of its universe
	BackupBlob       = "backup"    // when the running bot last wrote a backup, in Unix ms
	RiskBlob         = "risk"      // the limits with their use, as of the last minute or the stop
	RulesBlob        = "rules"     // by market, what decides whether something is dust there: see Rules
	KindsBlob        = "kinds"     // by strategy of the last run, its kind
	GroupsBlob       = "groups"    // cancel-on-disconnect groups whose timers may run: [1,2]
	// what each strategy of the last run was given, by name, in units of the currency; 0: it shares
	// the pool
	AllocationBlob = "allocations"
	// DirectBlob counts the booked lines of the kill switch's log. It is written in the transaction
	// that books them.
	DirectBlob = "direct"
	PartPrefix = "engine/" // prefix of the names of the engine's parts
	// SignalsBlob counts what was heard of each source of signals, SignalPrefix begins the names of
	// the blobs of SeenSignal.
	SignalsBlob  = "signals"
	SignalPrefix = "signal/"
)

// SameFile reports whether two paths lead to one existing file.
func SameFile(one, other string) bool {
	a, err := os.Stat(one)
	b, err2 := os.Stat(other)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// Error is an error about the state file. If the file is damaged, its text carries a hint.
type Error struct{ Err error }

// Unwrap returns the error itself.
func (e Error) Unwrap() error { return e.Err }

// Error returns the text with the hint.
func (e Error) Error() string {
	if errors.Is(e.Err, bolt.ErrCorrupt) {
		return e.Err.Error() + "; put a backup in its place, or move it away: a bot without it asks the exchange " +
			"what is open, and takes that for foreign"
	}
	return e.Err.Error()
}

// Wrap makes an error about damage an Error: also damage that shows only after the state file is
// open. Any other error stays as it is.
func Wrap(err error) error {
	if errors.Is(err, bolt.ErrCorrupt) && !errors.As(err, new(Error)) {
		return Error{Err: err}
	}
	return err
}
