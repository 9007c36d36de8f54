// Package folder is the state folder of a bot as everyone finds it: the names of its files, what a
// state file keeps beside its tables, whose money it tells of, and the disk below. It never trades
// and never asks an exchange. Start at StateFile, then at Parts.
package folder

import "os"

// The files of a state folder, beside those of package direct.
const (
	StateFile       = "bot.db"
	SocketFile      = "bot.sock"
	PaperFile       = "paper.db"  // the simulated exchange of paper mode
	RecordingFolder = "recording" // of market events
	ReserveFile     = "reserve"   // room that is given up when the disk is full, for what is still to be written
	RescuedExt      = ".rescued"  // behind the name of a file that was taken away while the bot ran
)

// The blobs of a state file: what a bot keeps there beside journal and tables.
const (
	ModeBlob      = "mode"      // of bot run: live or paper
	ExchangeBlob  = "exchange"  // scheme and host of the exchange whose orders and money the file tells of
	KeyBlob       = "key"       // digest of the key that the file was last used with
	LedgerBlob    = "weights"   // what the weight ledger knows
	RecordingBlob = "recording" // number of the next event of the recording, as of the last minute
	AgreedBlob    = "agreed"    // how the account's balances stood beside the books, by asset
	BreachesBlob  = "breaches"  // the rules that answers of the exchange did not keep within the last day
	// what each strategy of the last run was given, by name, in units of the currency; 0: it shares
	// the pool
	AllocationBlob = "allocations"
	// the name of AllocationBlob before, read where the new one is missing
	AllotmentBlob = "allotments"
	// how much of the kill switch's log is in the books: written in the transaction that books
	DirectBlob = "direct"
	PartPrefix = "engine/" // begins the names of the engine's parts
)

// SameFile reports whether two paths lead to one file that is there.
func SameFile(one, other string) bool {
	a, err := os.Stat(one)
	b, err2 := os.Stat(other)
	return err == nil && err2 == nil && os.SameFile(a, b)
}
