package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// Source says which recording is read, and from where.
type Source struct {
	Dir   string      // a folder of segments, or a state folder with one
	From  uint64      // number of the first record
	Since market.Time // records between the first start and this time are left out
	// Blocks returns blocks that come one by one, instead of Dir: recording.ReadBlocks.
	Blocks func() ([]byte, error)
	// Catalog and Strategies are the units of all records; nil: each start has its own.
	Catalog    *market.Catalog
	Strategies []string
	Next       uint64 // number of the record after the last one, as a journal has it; 0: not known
}

// Item is a record, with what is needed to understand it, or what is missing before the next one.
type Item struct {
	*recording.Record // nil: Gap is set
	Number            uint64
	At                market.Time
	Catalog           *market.Catalog // of the start that it belongs to, or that of the Source
	Manifest          *core.Manifest  // of the latest start, snapshot or reload that has one; nil: none
	History           []market.Candle // of the warm-up that stands directly before it; the caller may keep it
	Gap               *Gap
}

// Gap is a hole of a recording between two records.
type Gap struct {
	From, To market.Time // of the records beside it; 0: there is none
	Lost     []Lost
	Down     bool // a process starts after it: nothing was recorded, because no process did
}

// Lost are records that are missing, or that cannot be read.
type Lost struct {
	From, To uint64 // numbers
	Err      error  // of records that cannot be read; nil: they are missing
}

// Data is the event of market data in an item; nil: it holds something else.
func (i *Item) Data() *market.Event {
	if i.Record == nil || i.Kind != recording.KindInput {
		return nil
	}
	in := &i.Input
	if in.Kind != market.InputEvent || in.Event == nil || !recording.MarketData(in.Event.Kind) {
		return nil
	}
	return in.Event
}

// Dir is the folder of segments that a person means: the one given, or recording/ in it.
func Dir(path string) string {
	inside := filepath.Join(path, statedir.RecordingFolder)
	if info, err := os.Stat(inside); err == nil && info.IsDir() {
		return inside
	}
	return path
}

// missing is the error of a folder without a recording.
func missing(path string) error {
	return fmt.Errorf("%s: there is no recording; bot.record_mb was 0, or it was moved away: %w", path,
		bolt.ErrNotFound)
}

// Starts are the blocks of a recording with which a reader may begin: the first record of each is
// the start of a process. A folder without a recording, or without any start, wraps
// bolt.ErrNotFound.
func Starts(path string) (all []recording.Block, err error) {
	blocks, err := recording.Index(Dir(path))
	switch {
	case errors.Is(err, bolt.ErrNotFound) || err == nil && len(blocks) == 0:
		return nil, missing(path)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range blocks {
		if blocks[i].Start {
			all = append(all, blocks[i])
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no start of a process is left in the recording, so its markets are not known: %w",
			path, bolt.ErrNotFound)
	}
	return all, nil
}

// Items yields the records of a recording in their order. A Gap comes before the record behind it,
// or at the end. An item and its pointers are valid until the next one. An error is the last: a
// folder without a recording wraps bolt.ErrNotFound, records of a later program bolt.ErrNewer.
func Items(ctx context.Context, s Source) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		r, err := s.open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.raw.Close()
		for n, more := 0, true; more; n++ {
			if n%4096 == 0 && ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if more, err = r.next(yield); err != nil {
				yield(nil, s.in(err))
				return
			}
		}
	}
}

// items reads a recording.
type items struct {
	source Source
	raw    *recording.Reader
	item   Item // the latest record
	gap    Gap  // since that
}

func (s *Source) open() (*items, error) {
	r := &items{source: *s}
	r.item.Catalog = s.Catalog
	if s.Catalog == nil {
		r.item.Catalog = &market.Catalog{}
	}
	var err error
	if s.Blocks != nil {
		r.raw, err = recording.ReadBlocks(s.Blocks)
	} else {
		r.raw, err = recording.Read(Dir(s.Dir), r.item.Catalog, s.Strategies, s.From)
	}
	switch {
	case errors.Is(err, bolt.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		return nil, missing(s.Dir)
	case err != nil:
		return nil, s.in(err)
	}
	return r, nil
}

// in names the folder in an error.
func (s *Source) in(err error) error {
	if s.Blocks != nil {
		return err
	}
	return fmt.Errorf("%s: %w", s.Dir, err)
}

// next yields the next record and what is missing before it, or only notes what is missing. more is
// false at the end.
func (r *items) next(yield func(*Item, error) bool) (more bool, err error) {
	number, rec, err := r.raw.Next()
	switch {
	case errors.Is(err, io.EOF):
		if last := r.item.Number; last+1 < r.source.Next {
			r.gap.Lost = append(r.gap.Lost, Lost{From: last + 1, To: r.source.Next - 1})
		}
		r.yieldGap(0, yield)
		return false, nil
	case err != nil:
		return true, r.lose(err)
	}
	at, start := rec.Time(), rec.Kind == recording.KindStart
	if r.gap.Down = start && r.item.Record != nil; !r.yieldGap(at, yield) {
		return false, nil
	}
	r.item.Record, r.item.Number, r.item.At = rec, number, at
	if start || len(rec.Manifest) > 0 {
		if err := r.bind(); err != nil {
			return false, fmt.Errorf("record %d: %w", number, err)
		}
	}
	if rec.Kind == recording.KindHistory {
		r.item.History = append(r.item.History, rec.Candles...)
		return yield(&r.item, nil), nil
	}
	more = yield(&r.item, nil)
	r.item.History = nil
	if more && rec.Kind == recording.KindOpen && at < r.source.Since {
		err = r.raw.Seek(r.source.Since)
	}
	return more, err
}

// lose adds the lost records that an error names to the gap. Reading goes on behind them. It
// returns an error that ends the reading.
func (r *items) lose(err error) error {
	var lost *recording.LostError
	if errors.As(err, &lost) {
		r.gap.Lost = append(r.gap.Lost, Lost{From: lost.From, To: lost.To})
		return nil
	}
	if !errors.Is(err, bolt.ErrCorrupt) || errors.Is(err, bolt.ErrNewer) {
		return err
	}
	if lost = r.raw.SkipBlock(); lost == nil {
		return err
	}
	r.gap.Lost = append(r.gap.Lost, Lost{From: lost.From, To: lost.To, Err: err})
	return nil
}

// yieldGap yields what is missing before a record, or at the end; more is false where no more is
// wanted.
func (r *items) yieldGap(to market.Time, yield func(*Item, error) bool) (more bool) {
	more = true
	if len(r.gap.Lost) > 0 || r.gap.Down {
		gap := r.gap
		gap.From, gap.To = r.item.At, to
		r.gap = Gap{}
		more = yield(&Item{Number: r.item.Number, Gap: &gap}, nil)
	}
	return more
}

// bind reads the manifest of a record. Without units of the Source, the records that follow are in
// those of its markets.
func (r *items) bind() (err error) {
	m, err := core.DecodeManifest(r.item.Record.Manifest)
	if err != nil {
		return err
	}
	r.item.Manifest = m
	if r.source.Catalog != nil || r.item.Kind == recording.KindReload {
		return nil
	}
	if r.item.Catalog, err = m.Catalog(); err != nil {
		return fmt.Errorf("the markets of a start: %w", err)
	}
	r.raw.Bind(r.item.Catalog, m.Names())
	return nil
}
