package page

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// largest is the largest number that the script holds exactly.
const largest = 1 << 53

// A Column is a column of integers within ±2^53: the script computes with float64.
type Column struct {
	Rows  int
	Fill  func(values []int64) // sets all Rows values; the slice is valid until it returns
	Steps bool                 // values are near the one before: packed as differences
}

// Values is a column of these values.
func Values(values []int64, steps bool) Column {
	return Column{Rows: len(values), Fill: func(to []int64) { copy(to, values) }, Steps: steps}
}

// Pack packs columns with a head that says what they are. The head becomes JSON.
//
// The format, before it is compressed (deflate): the length of the head and the number of columns
// as varints, the head, and of each column the number of its values, 1 for Steps and 0 without as
// varints, and the values as zigzag varints.
func Pack(head any, columns ...Column) ([]byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	var out bytes.Buffer
	// Differences seldom repeat: codes by frequency are all that compression gains here, and a
	// tenth of the work.
	w, err := flate.NewWriter(&out, flate.HuffmanOnly)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	raw := binary.AppendUvarint(nil, uint64(len(text)))
	raw = append(binary.AppendUvarint(raw, uint64(len(columns))), text...)
	rows := 0
	for i := range columns {
		rows = max(rows, columns[i].Rows)
	}
	values := make([]int64, rows)
	for i := range columns {
		if raw, err = columns[i].append(raw, values); err != nil {
			return nil, fmt.Errorf("pack: column %d: %w", i, err)
		}
		if _, err = w.Write(raw); err == nil {
			err = w.Flush() // each column has codes of its own
		}
		if err != nil {
			return nil, fmt.Errorf("pack: %w", err)
		}
		raw = raw[:0]
	}
	if _, err = w.Write(raw); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return out.Bytes(), nil
}

// append appends the column to the raw bytes.
func (c *Column) append(raw []byte, values []int64) ([]byte, error) {
	values = values[:c.Rows]
	c.Fill(values)
	raw = binary.AppendUvarint(raw, uint64(c.Rows))
	raw = append(raw, byte(c.step()))
	before := int64(0)
	for i, n := range values {
		if n > largest || n < -largest {
			return nil, fmt.Errorf("value %d is %d: a page holds integers up to 2^53", i, n)
		}
		raw = binary.AppendVarint(raw, n-before)
		before = n * c.step()
	}
	return raw, nil
}

func (c *Column) step() int64 {
	if c.Steps {
		return 1
	}
	return 0
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
