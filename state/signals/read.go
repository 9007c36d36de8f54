package signals

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// The most that a file may have.
const (
	maxBytes = 40 << 20
	maxRows  = 1_000_000
)

// The words of Options.Stamped.
const (
	StampedOpen  = "open"  // the times are starts of candles: a row is known at the end of its candle
	StampedClose = "close" // the times are moments at which a row was known
)

// Options are the settings of a source.
type Options struct {
	Delay   market.Duration // from the time of a row to its being known, where it has no known_at
	Zone    *time.Location  // of times that name none; nil: UTC
	Stamped string          // StampedOpen, StampedClose, or empty
	MaxAge  market.Duration // a signal holds for so long; 0: until the next one
	// Every is the distance of the rows, and the length of the candles that StampedOpen speaks of;
	// 0: that of Interval.
	Every    market.Duration
	Interval market.Interval   // the shortest one of the strategies that hear the source; 0: none does
	Value    string            // column of the value; empty: found by its name
	Markets  map[string]string // markets by the names that the file gives them
	Known    []string          // markets of the run, for errors
	// Parquet makes a CSV of Parquet; nil: such a file is refused.
	Parquet func(raw []byte) ([]byte, error)
}

// Row is a row of a file: its Market is 0, and On is the name.
type Row struct {
	market.Signal
	On   string // empty: all markets
	Line int64
}

// File is a file of signals.
type File struct {
	Rows    []Row // in the order in which they are known
	Hash    string
	Lines   int64 // with data
	Empty   int64 // lines and cells that say nothing
	Doubles int64 // rows that repeat another
	Shorts  int64 // that became flat
	Silent  int64 // times that nothing came for longer than Every
	// Stamp says from when on rows are known that have no known_at of their own, in words.
	Stamp string
}

// Read reads a file of signals of a source. Its errors name line, column and cure.
func Read(name, source string, o Options) (*File, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxBytes {
		return nil, fmt.Errorf("%s has %d MB; a file of signals has at most %d MB", name, len(raw)>>20, maxBytes>>20)
	}
	text := raw
	if o.Parquet != nil && bytes.HasPrefix(raw, []byte("PAR1")) {
		if text, err = o.Parquet(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		name += " as CSV"
	}
	r := reader{options: o, source: source, file: &File{}, seen: map[seenKey]int{}}
	if err := r.read(text); err != nil {
		text := strings.ReplaceAll(err.Error(), " | bot candles import … -", "")
		return nil, fmt.Errorf("%s: %s", name, text)
	}
	sum := sha256.Sum256(raw)
	r.file.Hash = hex.EncodeToString(sum[:])
	return r.file, nil
}

// reader reads one file.
type reader struct {
	options Options
	source  string
	table   *candles.Table
	columns columns
	file    *File
	seen    map[seenKey]int // places in rows
	live    bool            // a live bot reads: the market stays as it is written, and a time may be missing
	assumed []bool          // by row: its Known is its time
	days    []bool          // by row: its time is a day
}

// seenKey is what two rows may not both say.
type seenKey struct {
	on          string
	time, known market.Time
}

func (r *reader) read(raw []byte) (err error) {
	if r.table, err = candles.OpenTable(bytes.NewReader(raw)); err != nil {
		return err
	}
	r.table.Zone = r.options.Zone
	if err := r.columns.find(r.table, &r.options, false); err != nil {
		return err
	}
	for {
		fields, line, err := r.table.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if err := r.row(fields); err != nil {
			return fmt.Errorf("line %d%w", line, err)
		}
		if r.stampLine(line); len(r.file.Rows) > maxRows {
			return fmt.Errorf("more than %d rows; split it into several sources", maxRows)
		}
	}
	if len(r.file.Rows) == 0 {
		return errors.New("it has no signal")
	}
	if err := r.know(); err != nil {
		return err
	}
	slices.SortStableFunc(r.file.Rows, func(a, b Row) int {
		return int(min(1, max(-1, a.Known-b.Known)))*2 + int(min(1, max(-1, a.Time-b.Time)))
	})
	r.silences()
	return nil
}

// stampLine gives the rows of a line its number.
func (r *reader) stampLine(line int64) {
	for i := len(r.file.Rows) - 1; i >= 0 && r.file.Rows[i].Line == 0; i-- {
		r.file.Rows[i].Line = line
	}
}

// row reads a line. Its errors begin with their column, or with a colon.
func (r *reader) row(fields [][]byte) error {
	c, f := &r.columns, r.file
	if f.Lines++; len(fields) != len(r.table.Header) {
		return fmt.Errorf(": %d columns, the header has %d", len(fields), len(r.table.Header))
	}
	row := Row{Signal: market.Signal{Source: r.source, Number: f.Lines}}
	var at, end market.Time
	var err error
	if c.time >= 0 {
		if at, end, err = r.table.Time(c.time, fields[c.time]); err != nil {
			return r.at(c.time, err)
		}
	}
	row.Time, row.Known = at, end.Add(r.options.Delay)
	assumed := true
	if c.known >= 0 && !candles.IsNull(fields[c.known]) {
		if _, row.Known, err = r.table.Time(c.known, fields[c.known]); err != nil {
			return r.at(c.known, err)
		}
		assumed = false
	}
	if c.market >= 0 && !candles.IsNull(fields[c.market]) {
		if row.On = string(fields[c.market]); !r.live {
			row.On, err = r.options.market(row.On)
		} else if len(row.On) > maxWord {
			err = fmt.Errorf("%q is no market", clip(row.On))
		}
		if err != nil {
			return r.at(c.market, err)
		}
	}
	if len(c.wide) > 0 {
		for _, w := range c.wide {
			one := row
			one.On = w.on
			if one.HasValue, err = number(fields[w.column], r.table.Separator, &one.Value); err != nil {
				return r.at(w.column, err)
			}
			if err := r.add(one, one.HasValue, assumed, end != at); err != nil {
				return err
			}
		}
		return nil
	}
	says, err := r.content(fields, &row)
	if err != nil {
		return err
	}
	return r.add(row, says, assumed, end != at)
}

// at says in which column an error lies.
func (r *reader) at(column int, err error) error {
	return fmt.Errorf(", column %q: %w", r.table.Name(column), err)
}

// add adds a row that says something, unless an equal one is there.
func (r *reader) add(row Row, says, assumed, day bool) error {
	if !says {
		r.file.Empty++
		return nil
	}
	key := seenKey{on: row.On, time: row.Time, known: row.Known}
	if assumed {
		key.known = 0
	}
	if at, is := r.seen[key]; is {
		same := r.file.Rows[at]
		same.Number, same.Line = row.Number, 0
		if same != row {
			return fmt.Errorf(": %s is about %s again, with other values than line %d; a column known_at says which "+
				"of them came later", onText(row.On), row.Time, r.file.Rows[at].Line)
		}
		r.file.Doubles++
		return nil
	}
	r.seen[key] = len(r.file.Rows)
	r.file.Rows = append(r.file.Rows, row)
	r.assumed, r.days = append(r.assumed, assumed), append(r.days, day)
	return nil
}

func onText(on string) string {
	if on == "" {
		return "it"
	}
	return on
}

// silences counts how often nothing came for longer than Every.
func (r *reader) silences() {
	rows := r.file.Rows
	for i := 1; i < len(rows) && r.options.Every > 0; i++ {
		if rows[i].Known.Sub(rows[i-1].Known) > r.options.Every+r.options.Every/10 {
			r.file.Silent++
		}
	}
}
