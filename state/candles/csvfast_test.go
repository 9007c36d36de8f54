package candles

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireQuick reads a line as quickRow and as fastRow do, with some bytes behind it, and reports
// whether quickRow took it. What it takes, both read alike.
func requireQuick(t testing.TB, line, behind []byte) bool {
	layout := csvLayout{separator: ',', defaultOrder: true}
	buffer := slices.Concat(line, behind)
	var quick, fast csvRow
	took := layout.quickRow(buffer[:len(line)], &quick)
	if took {
		require.True(t, layout.fastRow(line, &fast), "%q", line)
		require.Equal(t, fast, quick, "%q", line)
	}
	return took
}

func TestQuickRowsAreFastRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	behind := []byte("\n" + strings.Repeat("164099526,", 8))
	number := func(most int) string {
		digits := func(n int) string {
			text := make([]byte, n)
			for i := range text {
				text[i] = byte('0' + r.IntN(10))
			}
			return string(text)
		}
		if r.IntN(4) == 0 {
			return digits(1 + r.IntN(8))
		}
		return digits(1+r.IntN(most)) + "." + digits(1+r.IntN(most))
	}
	for range 200_000 {
		fields := []string{fmt.Sprint(1 + r.Int64N(9_999_999_999_999)*r.Int64N(1000))}
		for range 5 {
			fields = append(fields, number(1+r.IntN(8)))
		}
		line := []byte(strings.Join(fields, ","))
		plain := len(line) < 64 && len(fields[0]) >= 8 && len(fields[0]) <= 16
		if took := requireQuick(t, line, behind); plain {
			layout := csvLayout{separator: ',', defaultOrder: true}
			require.Equal(t, layout.fastRow(line, &csvRow{}), took, "%s", line)
		}
		line[r.IntN(len(line))] = byte(r.IntN(256)) // a row that something damaged
		requireQuick(t, line, behind)
	}
}

// FuzzQuickRow: what quickRow takes, fastRow reads alike.
func FuzzQuickRow(f *testing.F) {
	f.Add([]byte("1640995200000,20000.76,20001.84,19988.46,20001.66,9.4754"), bytes.Repeat([]byte("\n16409,9"), 9))
	f.Add([]byte("1640995200,1,2.5,0.000001,1.,9"), bytes.Repeat([]byte("123456789"), 8))
	f.Add(bytes.Repeat([]byte("1"), 127), []byte("........"))
	f.Fuzz(func(t *testing.T, line, behind []byte) { requireQuick(t, line, behind) })
}

// BenchmarkRow reads rows of the neutral bench set, eight bytes at a step beside digit by digit.
func BenchmarkRow(b *testing.B) {
	text := []byte(benchCSV(20_000))
	var lines [][]byte
	for rest := text; len(rest) > quickLine; {
		end := bytes.IndexByte(rest, '\n')
		lines, rest = append(lines, rest[:end]), rest[end+1:]
	}
	layout := csvLayout{separator: ',', defaultOrder: true}
	var row csvRow
	for _, way := range []struct {
		name string
		read func(line []byte, row *csvRow) bool
	}{{"quick", layout.quickRow}, {"fast", layout.fastRow}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				for _, line := range lines {
					if !way.read(line, &row) {
						b.Fatal("a row was not read")
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(lines)), "ns/row")
		})
	}
}
