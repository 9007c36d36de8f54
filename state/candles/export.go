package candles

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/tidemark-trading/tidemark/market"
)

const csvHeader = "timestamp_ms,open,high,low,close,volume\n"

// ExportCSV writes the candles that start in [from, to), zero being no bound, under the header
// timestamp_ms,open,high,low,close,volume: Unix milliseconds, plain decimals without trailing
// zeros, lines ending in LF. An import of the result into an empty store gives the same candles and
// DataHash. It returns the number of rows.
func (s *Store) ExportCSV(w io.Writer, name string, interval market.Interval, from, to market.Time) (rows int64,
	err error) {
	reader, m, err := s.ReadAll(name, interval, from, to)
	if err != nil {
		return 0, err
	}
	defer reader.Close()
	return WriteCSV(w, m, reader.Next)
}

// ReadAll reads the candles that start in [from, to), zero being no bound, in the decimals of the
// store: the returned market has these. Close the reader.
func (s *Store) ReadAll(name string, interval market.Interval, from, to market.Time) (*Reader, *market.Market, error) {
	if _, err := s.Span(name, interval); err != nil {
		return nil, nil, err
	}
	m := &market.Market{Name: name}
	var err error
	if m.PriceDigits, m.VolumeDigits, err = s.Digits(name); err != nil {
		return nil, nil, err
	}
	reader, err := s.Read(ReadOptions{Market: m, Interval: interval, From: from, To: to})
	return reader, m, err
}

// WriteCSV writes the batches of next, up to io.EOF, as ExportCSV does; m has their decimals.
func WriteCSV(w io.Writer, m *market.Market, next func() ([]market.Candle, error)) (rows int64, err error) {
	out := bufio.NewWriterSize(w, 1<<16)
	if _, err := out.WriteString(csvHeader); err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	rows, err = exportRows(out, next, m)
	if err != nil {
		return rows, fmt.Errorf("export: %w", err)
	}
	return rows, out.Flush()
}

func exportRows(out *bufio.Writer, next func() ([]market.Candle, error), m *market.Market) (rows int64, err error) {
	for {
		candles, err := next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		for i := range candles {
			line := append(appendCSVRow(out.AvailableBuffer(), &candles[i], m.PriceDigits, m.VolumeDigits), '\n')
			if _, err := out.Write(line); err != nil {
				return rows, err
			}
			rows++
		}
	}
}

func appendCSVRow(dst []byte, c *market.Candle, priceDigits, volumeDigits uint8) []byte {
	dst = strconv.AppendInt(dst, c.Start.Millis(), 10)
	for _, price := range [...]market.Price{c.Open, c.High, c.Low, c.Close} {
		dst = append(dst, ',')
		dst = market.AppendFixed(dst, int64(price), priceDigits)
	}
	dst = append(dst, ',')
	return market.AppendFixed(dst, int64(c.Volume), volumeDigits)
}
