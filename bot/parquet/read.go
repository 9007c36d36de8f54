package parquet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// The most that CSV makes: a small file may hold very much, or say that it does.
const (
	mostText = 256 << 20 // bytes
	mostRows = 1 << 20
)

// CSV is a table of Parquet as CSV with a header, for readers of CSV. Null is an empty field, a
// time has its zone where the column has one, and the index of pandas has no name. Lists and tables
// in columns are refused.
func CSV(raw []byte) (text []byte, err error) {
	defer func() {
		if broken := recover(); broken != nil { // the library, at a damaged file
			err = fmt.Errorf("it is damaged Parquet: %v", broken)
		}
	}()
	file, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("it is no whole Parquet file: %w", err)
	}
	if n := file.NumRows(); n > mostRows {
		return nil, fmt.Errorf("it has %d rows; at most %d are read", n, mostRows)
	}
	size := int64(0)
	for _, group := range file.Metadata().RowGroups {
		size += group.TotalByteSize
	}
	if size > mostText {
		return nil, fmt.Errorf("it has %d MB unpacked; at most %d are read", size>>20, mostText>>20)
	}
	var names []string
	var texts []func(parquet.Value) string
	for _, column := range file.Root().Columns() {
		of, err := textOf(column)
		if err != nil {
			return nil, fmt.Errorf("column %q %w", column.Name(), err)
		}
		name := column.Name()
		if strings.HasPrefix(name, "__index_level_") {
			name = ""
		}
		names, texts = append(names, name), append(texts, of)
	}
	if len(names) == 0 {
		return nil, errors.New("it has no column")
	}
	var out bytes.Buffer
	lines := csv.NewWriter(&out)
	if err := lines.Write(names); err != nil {
		return nil, err
	}
	for _, group := range file.RowGroups() {
		if err := writeRows(group, lines, &out, texts); err != nil {
			return nil, err
		}
	}
	lines.Flush()
	return out.Bytes(), lines.Error()
}

// writeRows writes the rows of a group.
func writeRows(group parquet.RowGroup, to *csv.Writer, out *bytes.Buffer,
	texts []func(parquet.Value) string) (err error) {
	rows := group.Rows()
	defer func() { err = errors.Join(err, rows.Close()) }()
	batch, fields := make([]parquet.Row, 256), make([]string, len(texts))
	for {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			clear(fields)
			for _, value := range row {
				if !value.IsNull() {
					fields[value.Column()] = texts[value.Column()](value)
				}
			}
			if err := to.Write(fields); err != nil {
				return err
			}
		}
		if out.Len() > mostText {
			return fmt.Errorf("it has more than %d MB as CSV", mostText>>20)
		}
		if n == 0 && err == nil {
			return io.ErrNoProgress
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read Parquet: %w", err)
		}
	}
}

// textOf is how values of a column are written. Its error follows the column's name.
func textOf(column *parquet.Column) (func(parquet.Value) string, error) {
	if !column.Leaf() || column.Repeated() {
		return nil, errors.New("has lists or tables; write one value in a row")
	}
	kind := column.Type().Kind()
	if write := timeOf(column.Type()); write != nil {
		return write, nil
	}
	if _, exact := logicalOf(column.Type()).(*format.DecimalType); exact {
		return nil, errors.New("has decimals of Parquet; write doubles or texts")
	}
	switch kind {
	case parquet.Boolean:
		return func(v parquet.Value) string { return strconv.FormatBool(v.Boolean()) }, nil
	case parquet.Int32:
		return func(v parquet.Value) string { return strconv.FormatInt(int64(v.Int32()), 10) }, nil
	case parquet.Int64:
		return func(v parquet.Value) string { return strconv.FormatInt(v.Int64(), 10) }, nil
	case parquet.Float:
		return func(v parquet.Value) string { return strconv.FormatFloat(float64(v.Float()), 'g', -1, 32) }, nil
	case parquet.Double:
		return func(v parquet.Value) string { return strconv.FormatFloat(v.Double(), 'g', -1, 64) }, nil
	case parquet.ByteArray:
		oneLine := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
		return func(v parquet.Value) string { return oneLine.Replace(string(v.ByteArray())) }, nil
	}
	return nil, fmt.Errorf("has values of type %s, which are no numbers, times or texts", column.Type())
}

// logicalOf is the logical type of a column; nil: it has none.
func logicalOf(of parquet.Type) format.LogicalTypeValue {
	if l := of.LogicalType(); l != nil {
		return l.Value
	}
	return nil
}

// timeOf writes the values of a column of times or days; nil: it is none.
func timeOf(of parquet.Type) func(parquet.Value) string {
	zone, parts := "", int64(0) // parts of a second
	old := of.ConvertedType()
	switch l := logicalOf(of).(type) {
	case *format.DateType:
		return dayText
	case *format.TimestampType:
		if l.IsAdjustedToUTC {
			zone = "Z"
		}
		switch l.Unit.Value.(type) {
		case *format.MilliSeconds:
			parts = 1e3
		case *format.MicroSeconds:
			parts = 1e6
		default:
			parts = 1e9
		}
	default:
		switch {
		case old != nil && *old == deprecated.Date:
			return dayText
		case old != nil && *old == deprecated.TimestampMillis:
			zone, parts = "Z", 1e3
		case old != nil && *old == deprecated.TimestampMicros:
			zone, parts = "Z", 1e6
		default:
			return nil
		}
	}
	return func(v parquet.Value) string {
		n := v.Int64()
		seconds := n / parts
		if n%parts < 0 {
			seconds--
		}
		at := time.Unix(seconds, (n-seconds*parts)*(1e9/parts)).UTC()
		return at.Format("2006-01-02T15:04:05.999999999") + zone
	}
}

func dayText(v parquet.Value) string {
	return time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly)
}
