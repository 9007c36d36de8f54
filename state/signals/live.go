package signals

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// The most that a signal of a live bot may have.
const (
	MaxBody  = 4 << 10 // bytes
	maxDepth = 3       // tables in tables
	maxWord  = 200     // bytes of an id or a market
)

// Sender reads what the sender of one source writes, as Read reads a file: the same row gives the
// same signal. It belongs to one goroutine.
type Sender struct {
	source  string
	options Options
	table   *candles.Table // of Line; nil: there was no header
	columns columns
}

// NewSender returns a reader of what one source gets. The delay of the options is for files alone.
func NewSender(source string, o Options) *Sender {
	o.Delay = 0
	return &Sender{source: source, options: o}
}

// JSON reads an object whose names are those of columns. It has one signal.
func (s *Sender) JSON(body []byte) Arrival {
	a := Arrival{Source: s.source, Body: bytes.Clone(body)}
	names, values, err := flatten(body)
	if err == nil {
		table := candles.TableOf(names)
		var c columns
		if err = c.find(table, &s.options, true); err == nil {
			err = c.onlyKnown(table)
		}
		if err == nil {
			var rows []Arrival
			if rows, err = s.row(table, &c, values, a); err == nil && len(rows) != 1 {
				err = fmt.Errorf("it has %d signals; send one at a time, its market as \"market\"", len(rows))
			} else if err == nil {
				return rows[0]
			}
		}
	}
	a.Wrong = strings.TrimPrefix(err.Error(), "line 1: ")
	a.sum()
	return a
}

// Header reads the first line of a CSV, with the names of its columns.
func (s *Sender) Header(line []byte) (err error) {
	if s.table, err = candles.OpenTable(bytes.NewReader(append(bytes.TrimRight(line, "\r\n"), '\n'))); err == nil {
		err = s.columns.find(s.table, &s.options, true)
	}
	if err != nil {
		s.table = nil
	}
	return err
}

// Line reads a line of a CSV below Header: a signal, or one for each market that has a column.
func (s *Sender) Line(line []byte) []Arrival {
	line = bytes.TrimRight(line, "\r\n")
	a := Arrival{Source: s.source, Body: bytes.Clone(line)}
	err := errors.New("there is no header with the names of the columns")
	if s.table != nil {
		var rows []Arrival
		if rows, err = s.row(s.table, &s.columns, s.table.Split(line), a); err == nil {
			return rows
		}
	}
	a.Wrong = err.Error()
	a.sum()
	return []Arrival{a}
}

// row reads the fields of a row into copies of an arrival.
func (s *Sender) row(t *candles.Table, c *columns, fields [][]byte, of Arrival) (all []Arrival, err error) {
	if len(of.Body) > MaxBody {
		return nil, fmt.Errorf("%d bytes; a signal has %d at most", len(of.Body), MaxBody)
	}
	t.Zone = s.options.Zone
	r := reader{options: s.options, source: s.source, table: t, columns: *c, file: &File{}, seen: map[seenKey]int{},
		live: true}
	err = r.row(fields)
	if err == nil && len(r.file.Rows) == 0 {
		err = errors.New("it says nothing: no action, position, value or target")
	}
	if err == nil {
		err = r.beside(fields, &of)
	}
	if err != nil {
		return nil, errors.New(strings.TrimLeft(err.Error(), ",: ")) // no line goes before
	}
	of.Short = r.file.Shorts > 0
	length := s.options.candle(nil)
	if s.options.Stamped == StampedOpen && length == 0 {
		return nil, noLength()
	}
	for i := range r.file.Rows {
		row, a := &r.file.Rows[i], of
		if a.Signal, a.Market = row.Signal, row.On; c.time >= 0 || !r.assumed[i] {
			if a.Sent = row.Known; r.assumed[i] && !r.days[i] && s.options.Stamped == StampedOpen {
				a.Sent = a.Sent.Add(length)
			}
		}
		if a.Signal.Known, a.Signal.Number = 0, 0; len(r.file.Rows) > 1 && a.ID != "" {
			a.ID += " " + a.Market
		}
		a.sum()
		all = append(all, a)
	}
	return all, nil
}

// beside reads what a live bot checks, and a file does not need.
func (r *reader) beside(fields [][]byte, a *Arrival) (err error) {
	c := &r.columns
	if c.id >= 0 && !candles.IsNull(fields[c.id]) {
		a.ID = string(fields[c.id])
	}
	if len(a.ID) > maxWord {
		return r.at(c.id, fmt.Errorf("%d bytes; an id has %d at most", len(a.ID), maxWord))
	}
	if c.was >= 0 {
		var was Row
		shorts := r.file.Shorts
		if err := r.stance(string(fields[c.was]), &was); err != nil {
			return r.at(c.was, err)
		}
		r.file.Shorts, a.Was = shorts, was.Stance
	}
	if c.price >= 0 {
		if _, err := number(fields[c.price], r.table.Separator, &a.Price); err != nil {
			return r.at(c.price, err)
		}
	}
	return nil
}

// flatten is the names and values of an object. A value in an inner object has the names of both,
// with a dot between them.
func flatten(body []byte) (names []string, values [][]byte, err error) {
	if len(body) > MaxBody {
		return nil, nil, fmt.Errorf("%d bytes; a signal has %d at most", len(body), MaxBody)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, nil, errors.New(`it is no JSON object, like {"market": "BTC-EUR", "action": "buy"}`)
	}
	f := flattener{decoder: d}
	if err := f.object("", 1); err != nil {
		return nil, nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("something stands behind the JSON object")
	}
	return f.names, f.values, nil
}

type flattener struct {
	decoder *json.Decoder
	names   []string
	values  [][]byte
}

// object reads up to the end of an object.
func (f *flattener) object(prefix string, depth int) error {
	for {
		token, err := f.decoder.Token()
		if err != nil {
			return noJSON(err)
		}
		key, is := token.(string)
		if !is {
			return nil // the end
		}
		name := prefix + key
		if slices.Contains(f.names, name) {
			return fmt.Errorf("%q stands there twice", clip(name))
		}
		if token, err = f.decoder.Token(); err != nil {
			return noJSON(err)
		}
		var text string
		switch v := token.(type) {
		case json.Delim:
			if v != '{' || depth == maxDepth {
				return fmt.Errorf("%q is a list, or a table in %d tables; want a text or a number", clip(name),
					maxDepth)
			}
			if err := f.object(name+".", depth+1); err != nil {
				return err
			}
			continue
		case string:
			text = v
		case nil:
		default:
			text = fmt.Sprint(v) // a number as it is written, or a truth value
		}
		f.names, f.values = append(f.names, name), append(f.values, bytes.TrimSpace([]byte(text)))
	}
}

func noJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too early")
	}
	return fmt.Errorf("it is no JSON: %s", clip(err.Error()))
}

// On is the market of a catalog that a sender means; nil: all. Its errors name the nearest one.
func (o *Options) On(sent string, catalog *market.Catalog) (*market.Market, error) {
	if sent == "" {
		return nil, nil
	}
	name, err := o.market(sent)
	if err != nil {
		return nil, err
	}
	m := catalog.MarketNamed(name)
	if m == nil {
		return nil, fmt.Errorf("%q is no market that is traded here; the nearest is %s", clip(sent), o.nearest(name))
	}
	return m, nil
}
