package orders

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Log has the fates of the orders of a state folder.
type Log struct {
	Folder     string
	Paper      bool            // the exchange was simulated by the bot itself
	Catalog    *market.Catalog // the units of the journal
	Strategies []string        // of all runs
	Runs       []Run
	Orders     []*Life // by number
	Gaps       []Hole  // what journal and recording lack, in the order in which they were met
	// Intervals are by market those of the candles of Rest.Touches, as of the last start.
	Intervals []market.Interval
	// From and To are the times of the first and the last entry of the journal.
	From, To market.Time

	nextRecord uint64
}

// Run is a start of the bot.
type Run struct {
	ID         uuid.UUID
	Version    string // of the program
	ConfigHash string
	At         market.Time
	Ended      market.Time // of its stop in good order; 0: it was killed, or the journal ends before
}

// Options say how a state folder is read.
type Options struct {
	// Interval is that of the candles of Rest.Touches; 0: by market the shortest of its strategies.
	Interval market.Interval
}

// Read reads a state folder, journal and recording once. It holds the state file only for the
// journal. A state file that a running bot holds, or
// that is missing or damaged, is a statedir.Error; a recording that a later program wrote is an
// error.
func Read(ctx context.Context, dir string, o Options) (*Log, error) {
	store, err := journal.ReadUntil(ctx, filepath.Join(dir, statedir.StateFile))
	if err != nil {
		return nil, statedir.Error{Err: err}
	}
	l := &Log{Folder: dir, Catalog: store.Catalog()}
	// the recording takes long, and a bot may start meanwhile
	if err := errors.Join(l.readJournal(store), store.Close()); err != nil {
		return nil, statedir.Error{Err: err}
	}
	return l, l.readRecording(ctx, o)
}

// readJournal reads runs, entries, and the states of the orders.
func (l *Log) readJournal(store *journal.Store) error {
	next, err := store.Blob(statedir.RecordingBlob)
	if err != nil {
		return err
	}
	l.nextRecord = statedir.NextRecord(next)
	mode, err := store.Blob(statedir.ModeBlob)
	if err != nil {
		return err
	}
	l.Paper = string(mode) == config.ModePaper
	runs, err := store.Runs()
	if err != nil {
		return err
	}
	for i := range runs {
		r := &runs[i]
		l.Runs = append(l.Runs, Run{ID: r.Run, Version: r.Version, ConfigHash: r.ConfigHash, At: r.At})
		for _, name := range r.Strategies {
			if !slices.Contains(l.Strategies, name) {
				l.Strategies = append(l.Strategies, name)
			}
		}
	}
	f := builder{log: l, orders: map[market.OrderID]*Life{}}
	if err := store.Entries(0, f.entry); err != nil {
		return err
	}
	return store.Orders(0, func(row *journal.OrderRow) error {
		if o := f.orders[row.ID]; o != nil {
			f.finish(o, row)
			l.Orders = append(l.Orders, o)
		}
		return nil
	})
}
