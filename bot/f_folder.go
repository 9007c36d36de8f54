package bot

import "os"

// The files of a state folder, beside those of package direct.
const (
	stateFile       = "bot.db"
	socketFile      = "bot.sock"
	paperFile       = "paper.db"  // the simulated exchange of paper mode
	recordingFolder = "recording" // of market events
	reserveFile     = "reserve"   // room that is given up when the disk is full, for what is still to be written
	rescuedExt      = ".rescued"  // behind the name of a file that was taken away while the bot ran
)

// The blobs of a state file: what a bot keeps there beside journal and tables.
const (
	modeBlob      = "mode"       // of bot run: live or paper
	exchangeBlob  = "exchange"   // scheme and host of the exchange whose orders and money the file tells of
	keyBlob       = "key"        // digest of the key that the file was last used with
	ledgerBlob    = "weights"    // what the weight ledger knows
	recordingBlob = "recording"  // number of the next event of the recording, as of the last minute
	agreedBlob    = "agreed"     // how the account's balances stood beside the books, by asset
	breachesBlob  = "breaches"   // the rules that answers of the exchange did not keep within the last day
	allotmentBlob = "allotments" // what each strategy of the last run was given, by name, in units of the currency; 0: it shares the pool
	directBlob    = "direct"     // how much of the kill switch's log is in the books: written in the transaction that books
	partPrefix    = "engine/"    // begins the names of the engine's parts
)

func sameFile(one, other string) bool {
	a, err := os.Stat(one)
	b, err2 := os.Stat(other)
	return err == nil && err2 == nil && os.SameFile(a, b)
}
