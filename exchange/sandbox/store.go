package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

const (
	stateFormat  = "tidemark exchange"
	stateVersion = 1
	saveEvery    = market.Duration(time.Minute)
)

// The buckets of a state file. A key is a row of big-endian numbers, a value is JSON.
var (
	bucketAbout        = []byte("about")        // "about" → about, "life" → storedLife
	bucketAccounts     = []byte("accounts")     // Account → storedAccount
	bucketMarkets      = []byte("markets")      // market → storedMarket
	bucketOrders       = []byte("orders")       // market, place → storedRecord
	bucketFills        = []byte("fills")        // market, place of the order, number → fill
	bucketTrades       = []byte("trades")       // Account, market, number → trade
	bucketTransactions = []byte("transactions") // Account, number → transaction
	bucketTransfers    = []byte("transfers")    // Number → transfer
	bucketTape         = []byte("tape")         // market, number → storedPrint
	bucketBars         = []byte("bars")         // market, interval, number → bar
	bucketMeters       = []byte("meters")       // activeKey or IP address → api.Usage

	keyAbout = []byte("about")
	keyLife  = []byte("life")

	buckets = [][]byte{bucketAbout, bucketAccounts, bucketMarkets, bucketOrders, bucketFills, bucketTrades,
		bucketTransactions, bucketTransfers, bucketTape, bucketBars, bucketMeters}
)

// errCorrupt is wrapped by errors about stored bytes that this program cannot have written.
var errCorrupt = errors.New("corrupt")

// errClosed is why nothing is answered any more after Close.
var errClosed = errors.New("the exchange is closed")

// store keeps an exchange in a file: it writes all marked changes in one transaction, before the
// answer goes out. A nil store keeps nothing. After a failed write the store writes no more: memory
// is then ahead of the file, and no client may see it.
type store struct {
	ex         *Exchange
	db         *bbolt.DB
	path       string
	file       *bolt.File
	err        error        // why nothing is written any more
	loaded     *loadedState // content of the file at its opening; nil: it was empty
	marketRows []marketRow
	saved      market.Time // that the file has reached
	rowCounts
	batches
}

// openStore opens the state file of the config, if it names one, and compares the config with it.
func (ex *Exchange) openStore() error {
	if ex.config.State == "" {
		return nil
	}
	if err := ex.openFile(); err != nil {
		return fmt.Errorf("state %s: %w", ex.config.State, err)
	}
	past := ex.store.loaded
	if past == nil {
		return nil
	}
	ex.config.Accounts = past.arrange(ex.config.Accounts)
	if ex.clock.Now() < past.Reached {
		return ex.clock.Set(past.Reached)
	}
	return nil
}

// openFile opens the file and reads its first record.
func (ex *Exchange) openFile() (err error) {
	defer catchCorrupt(&err, debug.SetPanicOnFault(true))
	path := ex.config.State
	if err := bolt.Create(path); err != nil {
		return err
	}
	if err := notFolder(path); err != nil {
		return err
	}
	file, err := bolt.Open(context.Background(), path,
		bolt.Options{Mode: 0o600, Maps: 1, Freelist: bbolt.FreelistMapType})
	if err != nil {
		return openError(err)
	}
	s := &store{ex: ex, db: file.DB, path: path, file: file, rowCounts: rowCounts{records: map[*record]struct{}{}},
		batches: batches{landed: sync.Cond{L: &ex.mu}}}
	ex.store = s
	if s.loaded, err = s.readState(); err != nil || s.loaded == nil {
		return err
	}
	s.loaded.order(&ex.config)
	return s.loaded.agree(&ex.config)
}

// notFolder refuses a folder as the state file.
func notFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("this is a folder; name a file in it, like %s", filepath.Join(path, "exchange.db"))
	}
	return nil
}

func openError(err error) error {
	switch {
	case bolt.CutOff(err):
		return fmt.Errorf("%w: cut off: %w", errCorrupt, err)
	case errors.As(err, new(*bolt.Damage)):
		return fmt.Errorf("%w: %w; put a copy in its place, or name another file", errCorrupt, err)
	case bolt.Locked(err):
		return errors.New("it is in use by another exchange; stop that one, or name another file")
	case bolt.Foreign(err):
		return fmt.Errorf("%w, or not the state of an exchange: %w", errCorrupt, err)
	case errors.Is(err, bolt.ErrCorrupt): // of a panic
		return fmt.Errorf("%w: %v", errCorrupt, err)
	}
	return err
}

// catchCorrupt, deferred, turns a panic into an error: an unreadable page, or a record that names
// something missing. It restores the process's handling of such faults.
func catchCorrupt(err *error, faults bool) {
	debug.SetPanicOnFault(faults)
	if caught := recover(); caught != nil {
		*err = fmt.Errorf("%w: %v", errCorrupt, caught)
	}
}

// openState prepares the file's marks, and restores the exchange that the file holds, if any. All
// accounts are written anew.
func (ex *Exchange) openState() error {
	s := ex.store
	if s == nil {
		return nil
	}
	s.marketRows = make([]marketRow, len(ex.listings))
	for _, l := range ex.listings[1:] {
		s.marketRows[l.ID] = marketRow{configured: rulesOf(l.Market), marked: true}
	}
	ex.door.KeepUsage()
	for _, a := range ex.accounts {
		s.markAccount(a)
	}
	if s.loaded == nil {
		return nil
	}
	if err := s.orderHistory(); err != nil {
		return fmt.Errorf("state %s: %w", s.path, err)
	}
	return nil
}

// close lets go of the file, whatever is not written.
func (s *store) close() error {
	if s == nil {
		return nil
	}
	return s.db.Close()
}

// stopped is the refusal of an exchange that cannot write its file, or nil.
func (ex *Exchange) stopped() *exchange.Error {
	if ex.store != nil && ex.store.err != nil {
		return exchange.ErrCode(exchange.CodeEngineUnavailable)
	}
	return nil
}

// save writes the changes that must be in the file before an answer shows them; others at most once
// a minute of the exchange's time. always forces the write. It returns once everything that the
// caller can have seen is in the file. The caller holds the lock; save releases it while the disk
// works. An error is that of the store: the exchange takes nothing more.
//
// Events of the clock need no write before an answer shows them: from the same state they happen
// again in the same way.
func (ex *Exchange) save(always bool) error {
	ex.showTakers()
	s := ex.store
	switch {
	case s == nil:
		return nil
	case s.err != nil:
		return s.err
	case s.open == nil && (always || s.urgent || ex.reached.Sub(s.saved) >= saveEvery):
		s.open = &batch{}
	}
	if seen := cmp.Or(s.open, s.flight); seen != nil {
		return s.settle(seen)
	}
	return nil
}

// stop ends the writing because of an error; nil is none.
func (s *store) stop(err error) {
	if s != nil && s.err == nil && err != nil {
		s.err = fmt.Errorf("state %s is no longer kept, and nothing more is answered; remove the cause and start the "+
			"exchange again: %w", s.path, err)
	}
}

// Close writes the remaining changes and closes the state file. An exchange with a state file
// answers nothing afterwards; an exchange without needs no Close. It returns the first error of a
// write, also if an earlier call has returned it.
func (ex *Exchange) Close() error {
	ex.streams.hub.Close()
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.store == nil || errors.Is(ex.store.err, errClosed) {
		return nil
	}
	err := ex.save(true)
	for err == nil && (ex.store.open != nil || ex.store.flight != nil) { // of requests that came meanwhile
		err = ex.save(false)
	}
	for ex.store.flight != nil {
		ex.store.landed.Wait()
	}
	if errors.Is(ex.store.err, errClosed) {
		return nil // by another Close meanwhile
	}
	err = errors.Join(err, ex.store.db.Close())
	ex.store.err = errClosed
	return err
}
