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
	if _, err := s.Span(name, interval); err != nil {
		return 0, err
	}
	m := &market.Market{Name: name}
	if m.PriceDigits, m.VolumeDigits, err = s.Digits(name); err != nil {
		return 0, err
	}
	reader, err := s.Read(ReadOptions{Market: m, Interval: interval, From: from, To: to})
	if err != nil {
		return 0, err
	}
	defer reader.Close()
	out := bufio.NewWriterSize(w, 1<<16)
	if _, err := out.WriteString(csvHeader); err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	rows, err = exportRows(out, reader, m)
	if err != nil {
		return rows, fmt.Errorf("export: %w", err)
	}
	return rows, out.Flush()
}

func exportRows(out *bufio.Writer, reader *Reader, m *market.Market) (rows int64, err error) {
	for {
		candles, err := reader.Next()
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
