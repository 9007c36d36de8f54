package bolt

import (
	"context"
	"errors"
	"hash/crc32"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

const (
	lockWait = time.Second // wait of an open for another process
	growStep = 1 << 20     // bytes that a file grows by beyond what a commit needs

	// levels is the allowed nesting of buckets: that of the deepest file, the candle store. So each
	// package can recognize the file of another.
	levels = 2
)

// Each file of the bot has a bucket of this name, and its format under this key of the bucket.
var (
	BucketMeta = []byte("meta")
	KeyFormat  = []byte("format")
)

// Castagnoli is the table of the checksums in the files.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// File is an open file: a bbolt database whose structure was checked when it was opened.
type File struct {
	*bbolt.DB
	path string
	info os.FileInfo

	mutex sync.Mutex // guards tree
	tree  *tree      // of a lazy opening: what is checked and what is not
}

// Options say how a file is opened.
type Options struct {
	ReadOnly bool
	Mode     os.FileMode // of a new file
	// Maps is the address space that a writer takes at once, in parts of 256 MB. A writer with
	// too little waits for all readers and copies its unwritten pages.
	Maps           int
	Freelist       bbolt.FreelistType // how bbolt keeps free pages in memory
	NoFreelistSync bool               // free pages stay out of the file: shorter commits, longer opening
	// Lazy leaves most leaves of nested buckets for CheckKeys, so that an opening for reading costs
	// little however many there are. A writer checks everything.
	Lazy bool
}

// Open opens a file and checks its structure first, until ctx ends. It waits a second for another
// process. bbolt creates the content of a missing or empty file that is opened for writing.
//
// A *Damage in the error means that the file must not be used. Errors of bbolt and of ctx are
// returned unchanged; Explain puts them into words.
func Open(ctx context.Context, path string, o Options) (f *File, err error) {
	defer CatchCorrupt(path, &err, debug.SetPanicOnFault(true))
	options := bbolt.Options{Timeout: lockWait, FreelistType: o.Freelist, NoFreelistSync: o.NoFreelistSync}
	if info, err := os.Stat(path); o.ReadOnly || err == nil && info.Size() > 0 {
		f, err := openChecked(ctx, path, o.Mode, options, o.Lazy && o.ReadOnly)
		if err != nil || o.ReadOnly {
			return f, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	options.InitialMmapSize = o.Maps * writerMap
	if f, err = open(path, o.Mode, options); err == nil {
		f.AllocSize = growStep
	}
	return f, err
}

// openChecked opens a file for reading, where bbolt reads only the two heads, and checks it.
func openChecked(ctx context.Context, path string, mode os.FileMode, options bbolt.Options, lazy bool) (*File, error) {
	var raw *os.File
	options.ReadOnly = true
	options.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		raw, err = os.OpenFile(name, flag, mode)
		return raw, err
	}
	f, err := open(path, mode, options)
	if err != nil {
		return nil, err
	}
	if lazy {
		f.tree, err = checkLazily(ctx, raw, levels)
	} else {
		err = checkFile(ctx, raw, levels)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// open calls bbolt.Open and notes the identity of the opened file.
func open(path string, mode os.FileMode, options bbolt.Options) (*File, error) {
	f, openFile := &File{path: path}, options.OpenFile
	if openFile == nil {
		openFile = os.OpenFile
	}
	options.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		file, err := openFile(name, flag, mode)
		if err == nil {
			f.info, err = file.Stat()
		}
		return file, err
	}
	var err error
	if f.DB, err = bbolt.Open(path, mode, &options); err != nil {
		return nil, err
	}
	return f, nil
}

func checkFile(ctx context.Context, file *os.File, levels int) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return check(ctx, file, info.Size(), levels)
}

// Path returns the path given to Open.
func (f *File) Path() string { return f.path }

// View runs a read transaction. A page that bbolt cannot read becomes an error that wraps
// ErrCorrupt.
func (f *File) View(read func(tx *bbolt.Tx) error) (err error) {
	defer CatchCorrupt(f.path, &err, debug.SetPanicOnFault(true))
	return f.DB.View(read)
}

// Update runs a write transaction. If it returns no error, the transaction is on disk. A page that
// bbolt cannot read becomes an error that wraps ErrCorrupt.
func (f *File) Update(write func(tx *bbolt.Tx) error) (err error) {
	defer CatchCorrupt(f.path, &err, debug.SetPanicOnFault(true))
	return f.DB.Update(write)
}

// Is reports whether info, from os.Stat, is that of the open file.
func (f *File) Is(info os.FileInfo) bool { return os.SameFile(f.info, info) }
