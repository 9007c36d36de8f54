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
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// The buckets of the state file. Numbers in keys are big-endian, so that keys sort like the
// numbers.
var (
	bucketJournal     = []byte("journal")     // number → hash, time, kind, version, record: see segment
	bucketSegments    = []byte("segments")    // number of the last entry → segment
	bucketCheckpoints = []byte("checkpoints") // number, a multiple of checkpointEvery → hash
	bucketOrders      = []byte("orders")      // order id, part, …: the parts of an order, see partRow
	bucketOpen        = []byte("open")        // order id → nothing
	bucketClientIDs   = []byte("clientIDs")   // lists of client order id → order id: see clientIDs
	bucketExchangeIDs = []byte("exchangeIDs") // exchange id, market name → order id
	bucketFills       = []byte("fills")       // time, order id, fill id → Fill
	bucketPositions   = []byte("positions")   // strategy, 0, market → Position
	bucketBlobs       = []byte("blobs")       // name → bytes
	bucketCursors     = []byte("cursors")     // feed → bytes
	bucketHalts       = []byte("halts")       // scope → time and Halt
	bucketEquity      = []byte("equity")      // tier, strategy, 0, time → EquitySamples: see tier
	bucketRuns        = []byte("runs")        // number of its first entry → time and Start
	bucketUnits       = []byte("units")       // "asset SYMBOL" or "market NAME" → decimals
	bucketKept        = []byte("kept")        // number → time and a record of a KeptRow: Prune keeps them
	bucketBookings    = []byte("bookings")    // number of the last one → a pack of Bookings: Prune keeps them
)

var buckets = [][]byte{bolt.BucketMeta, bucketJournal, bucketCheckpoints, bucketOrders, bucketOpen, bucketClientIDs,
	bucketExchangeIDs, bucketFills, bucketPositions, bucketBlobs, bucketCursors, bucketHalts, bucketEquity, bucketRuns,
	bucketUnits, bucketSegments, bucketKept, bucketBookings}

// checkpointEvery is the most journal entries that a start has to check.
const checkpointEvery = 1024

// mapAhead is the address space that a state file takes when it is opened, in those of a candle
// store. A writer that needs more waits for all readers, a backup among them.
const mapAhead = 4

// growStep is the room in bytes that a state file takes in advance when it grows.
const growStep = 256 << 10

// Store is the state file of a live bot: the journal and its tables. One process opens it and one
// goroutine commits; meanwhile any goroutine of that process may read and sees the last commit.
//
// A commit that returned without an error is on disk and survives a crash of the machine.
//
// Market and strategy numbers in its results are those of the catalog and the strategies given to
// Bind. Bind adds markets that only the file knows to the catalog. A removed strategy has number 0
// beside its name.
type Store struct {
	db         *bolt.File
	packer     packer
	path       string
	names      *codec.Names
	reading    context.Context // ends long walks
	commits    int             // of this process
	trimmed    Trimmed
	block      *block // that trims have begun to remove
	unresolved error  // set: a failed commit may be on disk, and the store commits nothing more
}

// Open is OpenUntil with a context that never ends.
func Open(path string) (*Store, error) { return OpenUntil(context.Background(), path) }

// OpenUntil opens the state file at path for writing. A missing file is made whole or not at all,
// readable by its owner only, so an empty file is damage. It waits a second for another process,
// then wraps ErrLocked. It checks the structure of the whole file before bbolt follows a page,
// until ctx ends, and the journal from its last checkpoint on; damage wraps ErrCorrupt. A file
// of an older program is refused; a newer format wraps ErrNewer. Call Bind next.
func OpenUntil(ctx context.Context, path string) (*Store, error) {
	return openFile(ctx, path, false)
}

// Read is ReadUntil with a context that never ends.
func Read(path string) (*Store, error) { return ReadUntil(context.Background(), path) }

// ReadUntil opens the state file at path for reading, while no running bot holds it. A missing file
// wraps ErrNotFound. The structure of the file is checked as by OpenUntil, the journal is not:
// Check does that. ctx ends the opening and every long walk through the store. It needs no Bind:
// Catalog returns the markets of the file.
func ReadUntil(ctx context.Context, path string) (*Store, error) {
	return openFile(ctx, path, true)
}

func openFile(ctx context.Context, path string, readOnly bool) (*Store, error) {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a file in it", path)
	case err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return nil, fmt.Errorf("%s: %w: it is empty, as no bot leaves it: what was in it is lost",
			path, bolt.ErrCorrupt)
	case readOnly && errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w; a bot makes it at its first start", path, bolt.ErrNotFound)
	}
	if !readOnly {
		if err := bolt.Create(path); err != nil {
			return nil, fmt.Errorf("make state file: %w", err)
		}
	}
	db, err := bolt.Open(ctx, path, bolt.Options{ReadOnly: readOnly, Mode: 0o600, Maps: mapAhead,
		Freelist: bbolt.FreelistMapType, NoFreelistSync: true})
	if err != nil {
		return nil, bolt.Explain(path, "state file", ": a running bot holds it (ask that one with bot status), "+
			"or another bot state command; stop it, or name another file", err)
	}
	db.AllocSize = growStep
	squeezer, err := newSqueezer()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{db: db, packer: packer{squeezer: squeezer}, path: path, reading: context.Background()}
	if readOnly {
		s.reading = ctx
	}
	if err := cmp.Or(s.checkReplaced(), s.prepare(readOnly)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// checkReplaced checks that the path still leads to the opened file: another process may have
// replaced it by a compact one while this process waited for the lock.
func (s *Store) checkReplaced() error {
	now, err := os.Stat(s.path)
	if err == nil && !s.db.Is(now) {
		err = fmt.Errorf("%s was replaced while it was opened: it is %w; try again", s.path, bolt.ErrLocked)
	}
	return err
}

// prepare creates the content of an empty file, and reads the markets.
func (s *Store) prepare(readOnly bool) error {
	if !readOnly {
		if err := s.create(); err != nil {
			return err
		}
		if err := bolt.SyncFolders(s.path); err != nil {
			return fmt.Errorf("sync the folder of %s: %w", s.path, err)
		}
	}
	catalog := &market.Catalog{}
	err := s.db.View(func(tx *bbolt.Tx) error {
		pages := bolt.NewReleaser(tx)
		defer pages.All()
		if err := checkBuckets(tx, s.path); err != nil {
			return err
		}
		if err := extend(catalog, tx); err != nil || readOnly {
			return s.wrap(err)
		}
		return s.wrap(s.checkTail(tx))
	})
	s.names = codec.NewNames(catalog, nil)
	return err
}

// Close releases the file. It waits for readers.
func (s *Store) Close() error { return s.db.Close() }

// Path returns the path the store was opened with.
func (s *Store) Path() string { return s.path }

// Catalog returns the markets and assets of the records: those of Bind, else those in the file.
func (s *Store) Catalog() *market.Catalog { return s.names.Catalog() }

// Bind ties the store to the markets and strategies (StrategyID 1…) of this process. Call it once,
// before the first commit and before any use of the units of catalog: if the file has a market's
// prices with more decimals, the market takes these decimals; markets and assets that only the file
// knows are added, as halted. An asset with other decimals than in the file is an error.
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
