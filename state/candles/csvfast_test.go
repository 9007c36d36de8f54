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

// requireQuick reads the row at the start of text as quickRow and as fastRow do, and reports
// whether quickRow took it. What it takes, both read alike.
func requireQuick(t testing.TB, text []byte) bool {
	layout := csvLayout{separator: ',', defaultOrder: true}
	var quick, fast csvRow
	size := layout.quickRow(text, &quick)
	if size == 0 {
		return false
	}
	require.Equal(t, bytes.IndexByte(text, '\n')+1, size, "%q", text)
	require.True(t, layout.fastRow(bytes.TrimSuffix(text[:size-1], []byte("\r")), &fast), "%q", text)
	require.Equal(t, fast, quick, "%q", text)
	return true
}

func TestQuickRowsAreFastRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	behind := strings.Repeat("164099526,", 8)
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
		text := slices.Concat(line, []byte([]string{"\n", "\r\n"}[r.IntN(2)]), []byte(behind))
		if took := requireQuick(t, text); plain {
			layout := csvLayout{separator: ',', defaultOrder: true}
			require.Equal(t, layout.fastRow(line, &csvRow{}), took, "%s", line)
		}
		text[r.IntN(len(text))] = byte(r.IntN(256)) // a row that something damaged
		requireQuick(t, text)
	}
}

// FuzzQuickRow: what quickRow takes, fastRow reads alike.
func FuzzQuickRow(f *testing.F) {
	behind := strings.Repeat("\n16409,9.", 9)
	f.Add([]byte("1640995200000,20000.76,20001.84,19988.46,20001.66,9.4754" + behind))
	f.Add([]byte("1640995200,1,2.5,0.000001,1.,9\r" + behind))
	f.Add([]byte("16409952,1,2.5,0.000001,1.5,9\r" + behind))
	f.Fuzz(func(t *testing.T, text []byte) { requireQuick(t, text) })
}

// BenchmarkRow reads rows of the neutral bench set, eight bytes at a step beside digit by digit.
func BenchmarkRow(b *testing.B) {
	text := []byte(benchCSV(20_000))
	var lines [][]byte
	for rest := text; len(rest) > quickLine; {
		lines = append(lines, rest[:quickLine])
		rest = rest[bytes.IndexByte(rest, '\n')+1:]
	}
	layout := csvLayout{separator: ',', defaultOrder: true}
	var row csvRow
	for _, way := range []struct {
		name string
		read func(line []byte, row *csvRow) bool
	}{{"quick", func(line []byte, row *csvRow) bool { return layout.quickRow(line, row) > 0 }},
		{"fast", func(line []byte, row *csvRow) bool {
			return layout.fastRow(line[:bytes.IndexByte(line, '\n')], row)
		}}} {
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
