// Package recorded reads the recordings of bots and of bot record as one row of records: over the
// starts of many processes, from a time on, with every hole named. It also writes them as CSV and
// JSON lines, and runs other strategies over the recorded hours. It never changes a recording.
// Start at Read, then at Walk and ReadHours.
package recorded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// Range bounds what is read of a recording.
type Range struct {
	From, To market.Time // To is exclusive; 0: no bound
}

// Item is a record with what is needed to understand it.
type Item struct {
	*recording.Record
	Number   uint64
	At       market.Time
	Catalog  *market.Catalog // of the start that it belongs to
	Manifest *core.Manifest  // likewise

	reader *recording.Reader
}

// Hole is a part of a recording that is missing.
type Hole struct {
	First   uint64      `json:"first"` // numbers of records; 0: nothing was recorded, because no process did
	Last    uint64      `json:"last"`
	From    market.Time `json:"from_ns"` // of the records beside it
	To      market.Time `json:"to_ns"`
	Unknown bool        `json:"unknown"` // the records are there, but not the start that they need
}

// String is the line for a person.
func (h *Hole) String() string {
	switch {
	case h.Unknown:
		return fmt.Sprintf("events %d to %d cannot be read: the start before them was deleted", h.First, h.Last)
	case h.First == 0:
		return fmt.Sprintf("nothing was recorded from %s to %s (%s)", h.From, h.To, h.To.Sub(h.From))
	}
	return fmt.Sprintf("events %d to %d are lost, from %s to %s", h.First, h.Last, h.From, h.To)
}

// Dir is the folder of segments that a person means: the one given, or recording/ in it.
func Dir(path string) string {
	inside := filepath.Join(path, statedir.RecordingFolder)
	if info, err := os.Stat(inside); err == nil && info.IsDir() {
		return inside
	}
	return path
}

// Starts are the blocks of a recording with which a reader may begin: the first record of each is
// the start of a process. A folder without a recording, or without any start, wraps
// bolt.ErrNotFound.
func Starts(path string) (all []recording.Block, err error) {
	blocks, err := recording.Index(Dir(path))
	switch {
	case errors.Is(err, bolt.ErrNotFound) || err == nil && len(blocks) == 0:
		return nil, fmt.Errorf("%s: there is no recording; bot.record_mb was 0, or it was moved away: %w", path,
			bolt.ErrNotFound)
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

// ErrEnough is what a visitor returns to end the reading. It is no error of Read and Walk.
var ErrEnough = errors.New("enough")

// Read visits the records of a recording from the start numbered first on, each with the markets of
// its start. Records are valid until visit returns. lost gets the numbers of records that are
// missing, before the record that follows them. Errors of visit are returned as they are.
func Read(ctx context.Context, path string, first uint64, visit func(*Item) error,
	lost func(from, to uint64)) error {
	reader, err := recording.Read(Dir(path), &market.Catalog{}, nil, first)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer reader.Close()
	at := Item{reader: reader}
	for {
		number, rec, err := reader.Next()
		var missing *recording.LostError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &missing):
			lost(missing.From, missing.To)
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		case number%4096 == 0 && ctx.Err() != nil:
			return ctx.Err()
		}
		if at.Record, at.Number, at.At = rec, number, rec.Time(); rec.Kind == recording.KindStart {
			if err := at.bind(); err != nil {
				return fmt.Errorf("%s: record %d: %w", path, number, err)
			}
		}
		if err := visit(&at); errors.Is(err, ErrEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// bind makes the markets of a start those of the records that follow it.
func (r *Item) bind() (err error) {
	if r.Manifest, err = core.DecodeManifest(r.Record.Manifest); err != nil {
		return err
	}
	if r.Catalog, err = r.Manifest.Catalog(); err != nil {
		return fmt.Errorf("the markets of a start: %w", err)
	}
	r.reader.Bind(r.Catalog, r.Manifest.Names())
	return nil
}

// Walk visits the records of a range in their order, and returns the holes in it. Where the range
// begins after the first start, the start before it is visited first. Records are valid until visit
// returns. A folder without a recording wraps bolt.ErrNotFound.
func Walk(ctx context.Context, path string, of Range, visit func(*Item) error) ([]Hole, error) {
	starts, err := Starts(path)
	if err != nil {
		return nil, err
	}
	w := &walker{visit: visit, of: of}
	first := &starts[0]
	if x, err := recording.Describe(Dir(path)); err == nil && x.First < first.First && of.From < first.From {
		w.holes = append(w.holes, Hole{First: x.First, Last: first.First - 1, From: x.From, To: first.From,
			Unknown: true})
	}
	for i := range starts {
		if starts[i].From <= of.From {
			first = &starts[i]
		}
	}
	err = Read(ctx, path, first.First, w.record, func(from, to uint64) {
		w.lost = append(w.lost, Hole{First: from, Last: to})
	})
	return w.holes, err
}

// walker is a walk under way.
type walker struct {
	visit func(*Item) error
	of    Range
	at    market.Time // of the latest record; 0: none
	holes []Hole
	lost  []Hole // since the latest record: their end is not known yet
}

// record visits a record. Behind a start it seeks the beginning of the range.
func (w *walker) record(r *Item) error {
	if w.of.To != 0 && r.At >= w.of.To {
		return ErrEnough
	}
	w.close(r)
	w.at = r.At
	if err := w.visit(r); err != nil {
		return fmt.Errorf("record %d: %w", r.Number, err)
	}
	if r.Kind == recording.KindOpen && r.At < w.of.From {
		return r.reader.Seek(w.of.From)
	}
	return nil
}

// pause is the shortest time between the latest record of a process and the start of the next one
// that is a hole. A recorder that begins a new start without a stop has none.
const pause = market.Duration(2e9)

// close notes the holes that end at a record.
func (w *walker) close(r *Item) {
	for _, h := range w.lost {
		h.From, h.To = w.at, r.At
		w.holes = append(w.holes, h)
	}
	if len(w.lost) == 0 && r.Kind == recording.KindStart && w.at != 0 && r.At.Sub(w.at) > pause {
		w.holes = append(w.holes, Hole{From: w.at, To: r.At})
	}
	w.lost = w.lost[:0]
}
