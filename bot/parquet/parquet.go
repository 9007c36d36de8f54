package parquet

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"

	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/market"
)

// groupRows is the number of rows that are packed together, and that memory holds.
const groupRows = 1 << 16

// candleRow is a candle as Parquet has it.
type candleRow struct {
	Time   int64   `parquet:"time,timestamp(millisecond),delta"`
	Open   float64 `parquet:"open"`
	High   float64 `parquet:"high"`
	Low    float64 `parquet:"low"`
	Close  float64 `parquet:"close"`
	Volume float64 `parquet:"volume"`
}

// Candles writes the batches of next, up to io.EOF, in columns time, open, high, low, close and
// volume. m gives the decimals. It returns the number of rows.
func Candles(w io.Writer, m *market.Market, next func() ([]market.Candle, error)) (rows int64, err error) {
	out := parquet.NewGenericWriter[candleRow](w, parquet.Compression(&snappy.Codec{}),
		parquet.MaxRowsPerRowGroup(groupRows))
	price, volume := float64(market.Pow10(m.PriceDigits)), float64(market.Pow10(m.VolumeDigits))
	var buffer []candleRow
	for {
		batch, err := next()
		if errors.Is(err, io.EOF) {
			return rows, out.Close()
		}
		if err != nil {
			return rows, err
		}
		buffer = buffer[:0]
		for i := range batch {
			c := &batch[i]
			buffer = append(buffer, candleRow{c.Start.Millis(), float64(c.Open) / price, float64(c.High) / price,
				float64(c.Low) / price, float64(c.Close) / price, float64(c.Volume) / volume})
		}
		if _, err := out.Write(buffer); err != nil {
			return rows, fmt.Errorf("write Parquet: %w", err)
		}
		rows += int64(len(batch))
	}
}

// kind is the type of a column.
type kind int

// The kinds. A column gets the first that fits all of its values.
const (
	empty kind = iota // no value is known
	truth
	whole
	decimal
	text
)

// and is the kind of a column with values of both kinds.
func (k kind) and(other kind) kind {
	if k != empty && other != empty && (k == truth) != (other == truth) {
		return text
	}
	return max(k, other)
}

// fieldOf is a column as a field of a struct. Empty values are null.
func fieldOf(at int, name string, k kind) reflect.StructField {
	types := [...]reflect.Type{reflect.TypeFor[*int64](), reflect.TypeFor[*bool](), reflect.TypeFor[*int64](),
		reflect.TypeFor[*float64](), reflect.TypeFor[*string]()}
	tag := name
	if k <= whole && k != truth && strings.HasSuffix(name, "_ms") {
		tag = strings.TrimSuffix(name, "_ms") + ",timestamp(millisecond)"
	}
	return reflect.StructField{Name: fmt.Sprintf("F%d", at), Type: types[k],
		Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", tag))}
}

// Table writes a CSV table with a header. A column of true and false is boolean. One of whole
// numbers is int64, and a timestamp without the ending of its name if that is _ms; a column of
// decimals is double, any other is text. It reads the table twice.
func Table(w io.Writer, open func() (io.ReadCloser, error)) error {
	names, kinds, err := survey(open)
	if err != nil {
		return err
	}
	var fields []reflect.StructField
	for at, name := range names {
		fields = append(fields, fieldOf(at, name, kinds[at]))
	}
	schema := parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
	out := parquet.NewWriter(w, schema, parquet.Compression(&snappy.Codec{}), parquet.MaxRowsPerRowGroup(groupRows))
	row := make(parquet.Row, len(names))
	err = eachRow(open, func(line int, values []string) error {
		if line == 1 {
			return nil
		}
		for at, value := range values {
			row[at] = valueOf(value, kinds[at]).Level(0, min(len(value), 1), at)
		}
		_, err := out.WriteRows([]parquet.Row{row})
		return err
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// valueOf is a value of a column; an empty one is null. survey has read it.
func valueOf(value string, k kind) parquet.Value {
	if value == "" {
		return parquet.NullValue()
	}
	switch k {
	case truth:
		return parquet.BooleanValue(value == "true")
	case whole:
		n, _ := strconv.ParseInt(value, 10, 64)
		return parquet.Int64Value(n)
	case decimal:
		f, _ := strconv.ParseFloat(value, 64)
		return parquet.DoubleValue(f)
	}
	return parquet.ByteArrayValue([]byte(value))
}

// survey reads the names of the columns and finds their types.
func survey(open func() (io.ReadCloser, error)) (names []string, kinds []kind, err error) {
	err = eachRow(open, func(line int, values []string) error {
		if line == 1 {
			names, kinds = slices.Clone(values), make([]kind, len(values))
			return nil
		}
		for at, value := range values {
			kinds[at] = kinds[at].and(kindOf(value))
		}
		return nil
	})
	if err == nil && len(names) == 0 {
		err = errors.New("the table has no header")
	}
	return names, kinds, err
}

func kindOf(value string) kind {
	switch value {
	case "":
		return empty
	case "true", "false":
		return truth
	}
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return whole
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil && strings.Trim(value, "0123456789.-+eE") == "" {
		return decimal
	}
	return text
}

// eachRow calls see with the rows of a CSV, the header as line 1.
func eachRow(open func() (io.ReadCloser, error), see func(line int, values []string) error) (err error) {
	in, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	rows := csv.NewReader(in)
	rows.ReuseRecord = true
	for line := 1; ; line++ {
		values, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = see(line, values)
		}
		if err != nil {
			return err
		}
	}
}

// Folder writes each CSV table of a folder of results as Parquet beside it, trades.csv as
// trades.parquet, and returns the names. Without on it removes such files: they would be those of
// an earlier run.
func Folder(dir string, on bool) (names []string, err error) {
	tables, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		to := strings.TrimSuffix(table, ".csv") + ".parquet"
		if !on {
			if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			continue
		}
		err := console.WriteTo(nil, to, func(w io.Writer) error {
			return Table(w, func() (io.ReadCloser, error) { return os.Open(table) })
		})
		if err != nil {
			return nil, fmt.Errorf("%s as Parquet: %w", table, err)
		}
		names = append(names, filepath.Base(to))
	}
	return names, nil
}
