package door

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/state/signals"
)

// lookTime is the time between two looks at a file.
const lookTime = 100 * time.Millisecond

// File hears the rows that are appended to a file. It may be rotated, cut and written again: each
// row counts once. Rows that stood there before the first start are history; the latest states and
// values of them hold.
type File struct {
	Lines
	Path  string
	Place string // file that keeps how far it was read

	on   *os.File
	last fs.FileInfo // of the last look
	at   place
}

// Run reads until ctx ends.
func (f *File) Run(ctx context.Context) error {
	defer f.shut()
	known, err := f.at.load(f.Place)
	if err != nil {
		return err
	}
	for missing := false; ; {
		err := f.look(ctx, known)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			known, missing = true, false
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("signals of %s: %w", f.Source, err)
		case !missing:
			if err := f.at.save(f.Place, nil); err != nil {
				return err
			}
			known, missing = true, true
			f.Log.Warn().Str("source", f.Source).Str("file", f.Path).
				Msg("the file of signals is not there; its rows count when it comes")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookTime):
		}
	}
}

// shut closes the file.
func (f *File) shut() {
	if f.on != nil {
		_ = f.on.Close()
		f.on = nil
	}
}

// look reads what is new. known is false at the first start: then all rows are history.
func (f *File) look(ctx context.Context, known bool) error {
	named, missing := os.Stat(f.Path)
	if f.on != nil && f.last != nil && (missing != nil || !os.SameFile(named, f.last)) {
		if err := f.drain(ctx, f.row); err != nil { // the end of the file that had the name
			return err
		}
		f.shut()
		f.at.again()
		f.headed = false
	}
	if missing != nil {
		return missing
	}
	if f.on == nil {
		var err error
		if f.on, err = os.Open(f.Path); err != nil {
			return err
		}
		f.last = nil
	}
	now, err := f.on.Stat()
	if err != nil || f.last != nil && now.Size() == f.last.Size() && now.ModTime().Equal(f.last.ModTime()) {
		return err
	}
	f.last = now
	if is, err := f.at.fits(f.on); err != nil {
		return err
	} else if !is {
		f.at.again()
		f.headed = false
	}
	if !f.headed && f.at.Offset > 0 {
		if err := f.rereadHeader(); err != nil {
			return err
		}
	}
	if !known {
		return f.history(ctx)
	}
	err = f.drain(ctx, f.row)
	return errors.Join(err, f.at.save(f.Place, f.on))
}

// rereadHeader reads the header of a file whose place is behind it.
func (f *File) rereadHeader() error {
	line, err := newLineReader(io.NewSectionReader(f.on, 0, f.at.Offset)).next()
	if err == nil && line[0] != '{' {
		f.read(line)
	}
	return err
}

// drain takes the whole lines behind the place.
func (f *File) drain(ctx context.Context, take func(context.Context, []byte) error) error {
	start := f.at.Offset
	lines := newLineReader(io.NewSectionReader(f.on, start, math.MaxInt64-start))
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, errLong):
			f.Log.Error().Str("source", f.Source).Str("file", f.Path).Err(err).Msg("signals")
		case errors.Is(err, io.EOF):
			f.at.end()
			return nil
		case err != nil:
			return err
		default:
			if err := take(ctx, line); err != nil {
				return err
			}
		}
		f.at.Offset = start + lines.read
	}
}

// row gives the bot the signals of a line that have not been heard.
func (f *File) row(ctx context.Context, line []byte) error {
	for _, a := range f.rows(line) {
		if f.at.Again && a.Wrong == "" && (a.Sent < f.at.Newest || f.at.has(&a)) {
			continue
		}
		if err := f.hear(ctx, &a); err != nil {
			return err
		}
		f.at.mark(&a)
	}
	return nil
}

// rows are the signals of a line. Their ids are of the line's text: two equal rows are one.
func (f *File) rows(line []byte) []signals.Arrival {
	all := f.read(line)
	for i := range all {
		a := &all[i]
		if a.Sent == 0 && a.Wrong == "" {
			a.Wrong = "a row of a file needs a time: name a column time"
		}
		if a.ID == "" {
			sum := sha256.Sum256(line)
			if a.ID = hex.EncodeToString(sum[:16]); len(all) > 1 {
				a.ID += " " + a.Market
			}
		}
	}
	return all
}

// history reads a file at the first start, and gives the bot the latest state or value of each
// market in it. An action of the past is none.
func (f *File) history(ctx context.Context) error {
	latest, rows := map[string]signals.Arrival{}, 0
	err := f.drain(ctx, func(_ context.Context, line []byte) error {
		for _, a := range f.rows(line) {
			if rows++; a.Wrong != "" {
				continue
			}
			if f.at.mark(&a); a.Signal.Action == 0 && a.Sent >= latest[a.Market].Sent {
				latest[a.Market] = a
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.Log.Info().Str("source", f.Source).Str("file", f.Path).Int("rows", rows).
		Msg("the rows in the file are history; new ones are signals")
	for _, a := range slices.SortedFunc(maps.Values(latest), func(a, b signals.Arrival) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.Market, b.Market))
	}) {
		if err := f.hear(ctx, &a); err != nil {
			return err
		}
	}
	return f.at.save(f.Place, f.on)
}
