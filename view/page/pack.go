package page

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// largest is the largest number that the script holds exactly.
const largest = 1 << 53

// A Column is a column of integers within ±2^53: the script computes with float64. It holds them
// packed, in a byte or two each.
type Column struct {
	raw    []byte
	rows   int
	before int64
	steps  int64 // 1: values are packed as differences
	err    error
}

// NewColumn begins a column with room for about so many values. With steps the values are near the
// one before each, and are packed as differences.
func NewColumn(rows int, steps bool) *Column {
	c := &Column{raw: make([]byte, 0, 2*rows+binary.MaxVarintLen64*atOnce)}
	if steps {
		c.steps = 1
	}
	return c
}

// atOnce is how many values have room for the longest that they may be.
const atOnce = 256

// Add adds the next values.
func (c *Column) Add(values ...int64) {
	for some := range slices.Chunk(values, atOnce) {
		c.add(some)
	}
}

func (c *Column) add(values []int64) {
	c.raw = slices.Grow(c.raw, binary.MaxVarintLen64*len(values))
	room, at := c.raw[:cap(c.raw)], len(c.raw)
	before, steps := c.before, c.steps
	for i, n := range values {
		if n > largest || n < -largest {
			c.refuse(c.rows+i, n)
		}
		d := n - before
		before = n * steps
		if z := uint64(d)<<1 ^ uint64(d>>63); z < 1<<14 { // zigzag: most need a byte or two
			second := z >> 7
			more := (second + 127) >> 7 // 1: there is a second byte
			room[at], room[at+1] = byte(z&127|more<<7), byte(second)
			at += int(1 + more)
		} else {
			at += binary.PutUvarint(room[at:], z)
		}
	}
	c.raw, c.before, c.rows = room[:at], before, c.rows+len(values)
}

//go:noinline
func (c *Column) refuse(place int, n int64) {
	if c.err == nil {
		c.err = fmt.Errorf("value %d is %d: a page holds integers up to 2^53", place, n)
	}
}

// A Cursor yields the values of a column.
type Cursor struct {
	rest          []byte
	before, steps int64
}

// Cursor stands before the first value.
func (c *Column) Cursor() Cursor { return Cursor{rest: c.raw, steps: c.steps} }

// Next returns the next value; there must be one.
func (c *Cursor) Next() int64 {
	n, size := binary.Varint(c.rest)
	c.rest, n = c.rest[size:], n+c.before
	c.before = n * c.steps
	return n
}

// Values is a column of these values.
func Values(values []int64, steps bool) *Column {
	c := NewColumn(len(values), steps)
	c.Add(values...)
	return c
}

// Pack packs columns with a head that says what they are. The head becomes JSON.
//
// The format, before it is compressed (deflate): the length of the head and the number of columns
// as varints, the head, and of each column the number of its values, 1 for Steps and 0 without as
// varints, and the values as zigzag varints.
func Pack(head any, columns ...*Column) (packed []byte, err error) {
	w, err := newDeflater()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = pack(w, &out, head, columns)
	return out.Bytes(), err
}

// newDeflater returns a writer that compresses. Differences seldom repeat: codes by frequency are
// all that compression gains here, and a tenth of the work.
func newDeflater() (*flate.Writer, error) {
	w, err := flate.NewWriter(nil, flate.HuffmanOnly)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return w, nil
}

// pack is Pack into a writer, through w.
func pack(w *flate.Writer, to io.Writer, head any, columns []*Column) error {
	w.Reset(to)
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	begin := binary.AppendUvarint(nil, uint64(len(text)))
	begin = append(binary.AppendUvarint(begin, uint64(len(columns))), text...)
	for i, c := range columns {
		if c.err != nil {
			return fmt.Errorf("pack: column %d: %w", i, c.err)
		}
		begin = append(binary.AppendUvarint(begin, uint64(c.rows)), byte(c.steps))
		for _, part := range [...][]byte{begin, c.raw} {
			if _, err := w.Write(part); err != nil {
				return fmt.Errorf("pack: %w", err)
			}
		}
		if err := w.Flush(); err != nil { // each column has codes of its own
			return fmt.Errorf("pack: %w", err)
		}
		begin = begin[:0]
	}
	if _, err = w.Write(begin); err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

// Find returns the packed numbers of a page by their id.
func Find(page []byte, id string) ([]byte, error) {
	_, found, has := bytes.Cut(page, fmt.Appendf(nil, "<script type=\"text/plain\" id=%q>", id))
	text, _, ended := bytes.Cut(found, []byte("</script>"))
	if !has || !ended {
		return nil, fmt.Errorf("the page has no numbers %q", id)
	}
	return base64.StdEncoding.AppendDecode(nil, text)
}

// Unpack is the inverse of Pack. The head goes where json.Unmarshal would put it.
func Unpack(packed []byte, head any) ([][]int64, error) {
	r := bytes.NewBuffer(nil)
	if _, err := r.ReadFrom(flate.NewReader(bytes.NewReader(packed))); err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	length, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	count, err := binary.ReadUvarint(r)
	if err != nil || length > uint64(r.Len()) {
		return nil, fmt.Errorf("unpack: the head is cut off")
	}
	if err := json.Unmarshal(r.Next(int(length)), head); err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	var columns [][]int64
	for range count {
		column, err := readColumn(r)
		if err != nil {
			return nil, fmt.Errorf("unpack: column %d: %w", len(columns), err)
		}
		columns = append(columns, column)
	}
	return columns, nil
}

func readColumn(r *bytes.Buffer) ([]int64, error) {
	rows, err := binary.ReadUvarint(r)
	if err != nil || rows >= uint64(r.Len()) {
		return nil, io.ErrUnexpectedEOF
	}
	steps, _ := r.ReadByte() // there is more than rows
	values, before := make([]int64, rows), int64(0)
	for i := range values {
		n, err := binary.ReadVarint(r)
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		values[i] = before + n
		before = values[i] * int64(steps&1)
	}
	return values, nil
}
