// Package journal is the state file of a bot, bot.db: the journal (a hash chain of everything that
// was decided, sent and answered) and the tables that a start reads. One turn of the live loop is
// one Batch, and one Batch is one synced transaction. It never decides anything. Start at
// Store.Commit; Entry lists what the journal records.
package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// The buckets of the state file. Numbers in keys are big-endian, so that keys sort like the
// numbers.
var (
	bucketJournal     = []byte("journal")     // number → hash, time, kind, version, record
	bucketCheckpoints = []byte("checkpoints") // number, a multiple of checkpointEvery → hash
	// order id, part, … : what belongs to an order stands together, see partRow
	bucketOrders      = []byte("orders")
	bucketOpen        = []byte("open")        // order id → nothing
	bucketClientIDs   = []byte("clientIDs")   // client order id → order id, but for the latest orders: see clientIDs
	bucketExchangeIDs = []byte("exchangeIDs") // exchange id, market name → order id
	bucketFills       = []byte("fills")       // time, order id, fill id → Fill
	bucketPositions   = []byte("positions")   // strategy, 0, market → Position
	bucketBlobs       = []byte("blobs")       // name → bytes
	bucketCursors     = []byte("cursors")     // feed → bytes
	bucketHalts       = []byte("halts")       // scope → time and Halt
	bucketEquity      = []byte("equity")      // tier, strategy, 0, time → EquitySample
	bucketRuns        = []byte("runs")        // number of its first entry → time and Start
	bucketUnits       = []byte("units")       // "asset SYMBOL" or "market NAME" → decimals
)

var buckets = [][]byte{boltfile.BucketMeta, bucketJournal, bucketCheckpoints, bucketOrders, bucketOpen, bucketClientIDs,
	bucketExchangeIDs,
	bucketFills, bucketPositions, bucketBlobs, bucketCursors, bucketHalts, bucketEquity, bucketRuns, bucketUnits}

// checkpointEvery is how many entries of the journal a start has to check at most.
const checkpointEvery = 1024

// mapAhead is how many times the address space of a candle store a state file takes at its opening:
// a writer that has to take more waits for all readers, a backup among them.
const mapAhead = 4

// Store is the state file of a live bot: the journal, and the tables that follow from it. One
// process holds it, one goroutine commits; any goroutine of that process may read meanwhile and
// sees what the last commit left.
//
// A commit that returned without error is on disk and survives a crash of the machine.
//
// Market and strategy numbers in what it returns are those of the catalog and the strategies given
// to Bind; what only the file knows is added to the catalog there, and a strategy that is no more
// has number 0 beside its name.
type Store struct {
	db         *boltfile.File
	path       string
	names      *codec.Names
	reading    context.Context // ends long walks
	commits    int             // of this process
	unresolved error           // of a commit that failed after it may have been written: nothing is committed any more
}

// Open is OpenUntil without an end.
func Open(path string) (*Store, error) { return OpenUntil(context.Background(), path) }

// OpenUntil opens the state file at path for writing and makes it, readable by its owner only, when
// missing: whole or not at all, so that a file without a byte is damage. It waits a second for
// another process, then wraps ErrLocked. Before the database layer follows a page the structure of
// the whole file is checked, until ctx ends. A file of an older format is brought to the present
// one, a copy of it staying beside it; one of a newer format wraps ErrNewer. The journal is checked
// from its last checkpoint on; damage wraps ErrCorrupt. Call Bind next.
func OpenUntil(ctx context.Context, path string) (*Store, error) {
	return openFile(ctx, path, false, current)
}

// Read is ReadUntil without an end.
func Read(path string) (*Store, error) { return ReadUntil(context.Background(), path) }

// ReadUntil opens the state file at path for reading, which needs it not to be held by a running
// bot. A missing file wraps ErrNotFound; the structure of the file is checked as by OpenUntil, the
// journal is not (Check does). ctx ends the opening and every long walk through the store. It needs
// no Bind: Catalog tells the markets.
func ReadUntil(ctx context.Context, path string) (*Store, error) {
	return openFile(ctx, path, true, current)
}

func openFile(ctx context.Context, path string, readOnly bool, wanted schema) (*Store, error) {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a file in it", path)
	case err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return nil, fmt.Errorf("%s: %w: it is empty, as no bot leaves it: what was in it is lost",
			path, boltfile.ErrCorrupt)
	case readOnly && errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w; a bot makes it at its first start", path, boltfile.ErrNotFound)
	}
	if !readOnly {
		if err := boltfile.Create(path); err != nil {
			return nil, fmt.Errorf("make state file: %w", err)
		}
	}
	db, err := boltfile.Open(ctx, path, boltfile.Options{ReadOnly: readOnly, Mode: 0o600, Maps: mapAhead,
		Freelist: bbolt.FreelistMapType, NoFreelistSync: true})
	if err != nil {
		return nil, boltfile.Explain(path, "state file", ": a running bot holds it (ask that one with bot status), "+
			"or another bot state command; stop it, or name another file", err)
	}
	s := &Store{db: db, path: path, reading: context.Background()}
	if readOnly {
		s.reading = ctx
	}
	if err := cmp.Or(s.checkReplaced(), s.prepare(readOnly, wanted)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// checkReplaced wants the file that was opened to be the one of that name: while waiting for the lock,
// its holder may have put a compact one in its place.
func (s *Store) checkReplaced() error {
	now, err := os.Stat(s.path)
	if err == nil && !s.db.Is(now) {
		err = fmt.Errorf("%s was replaced while it was opened: it is %w; try again", s.path, boltfile.ErrLocked)
	}
	return err
}

// prepare makes or migrates the file, and learns the markets it knows.
func (s *Store) prepare(readOnly bool, wanted schema) error {
	if !readOnly {
		if err := wanted.apply(s); err != nil {
			return err
		}
		if err := boltfile.SyncFolders(s.path); err != nil {
			return fmt.Errorf("sync the folder of %s: %w", s.path, err)
		}
	}
	catalog := &market.Catalog{}
	err := s.db.View(func(tx *bbolt.Tx) error {
		pages := boltfile.NewReleaser(tx)
		defer pages.All()
		if err := wanted.check(tx, s.path); err != nil {
			return err
		}
		if err := extend(catalog, tx); err != nil || readOnly {
			return s.wrap(err)
		}
		return s.wrap(checkTail(tx))
	})
	s.names = codec.NewNames(catalog, nil)
	return err
}

// Close releases the file. It waits for readers.
func (s *Store) Close() error { return s.db.Close() }

// Path returns the path the store was opened with.
func (s *Store) Path() string { return s.path }

// Catalog returns the markets and assets that records are told in: those of Bind, else those that
// the file knows.
func (s *Store) Catalog() *market.Catalog { return s.names.Catalog() }

// Bind ties the store to the markets and strategies (StrategyID 1…) of this process. Call it once,
// before the first commit and before anybody relies on the units of catalog: where the file keeps a
// market's prices with more decimals, the market takes them over; markets and assets that only the
// file knows are added, as halted. An asset with other decimals than before is an error.
func (s *Store) Bind(catalog *market.Catalog, strategies []string) error {
	err := s.db.Update(func(tx *bbolt.Tx) error {
		if err := extend(catalog, tx); err != nil {
			return err
		}
		return writeUnits(tx, catalog)
	})
	if err == nil {
		s.names = codec.NewNames(catalog, strategies)
	}
	return err
}
