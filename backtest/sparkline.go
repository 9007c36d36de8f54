package backtest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/market"
)

const chartHeight = 8

// brailleDots are the bits of a braille letter by column and by row from the bottom.
var brailleDots = [2][4]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}

// braille draws values, spread evenly over the width, as a line of dots: two in a column across,
// four up.
func braille(values []float64, width, height int) []string {
	cells := make([][]rune, height)
	for i := range cells {
		cells[i] = slices.Repeat([]rune{0x2800}, width)
	}
	low, high := slices.Min(values), slices.Max(values)
	before := -1
	for x := range 2 * width {
		y := 0
		if high > low {
			y = int((values[x*(len(values)-1)/(2*width-1)] - low) / (high - low) * float64(4*height-1))
		}
		from := y
		if before >= 0 {
			from = before
		}
		for dot := min(from, y); dot <= max(from, y); dot++ {
			cells[height-1-dot/4][x/2] |= brailleDots[x%2][dot%4]
		}
		before = y
	}
	lines := make([]string, height)
	for i, row := range cells {
		lines[i] = string(row)
	}
	return lines
}

// chart draws equity over time with its highest and lowest value at the side.
func (s *summary) chart(res *Result) {
	if len(res.curve) < 2 {
		return
	}
	low, high := extent(res)
	side := max(utf8.RuneCountInString(high), utf8.RuneCountInString(low))
	width := s.width - side - 1
	s.line("")
	for i, row := range braille(evenly(res, 2*width), width, chartHeight) {
		label := ""
		switch i {
		case 0:
			label = high
		case chartHeight - 1:
			label = low
		}
		s.line("%s %s", left(label, side), s.paint(signColour(res.Performance.Return), row))
	}
	from, to := res.From.Date(), res.To.Date()
	gap := strings.Repeat(" ", max(1, width-len(from)-len(to)))
	s.line("%s", s.paint(dim, left(from+gap+to, s.width)))
}

// extent returns the lowest and the highest equity as text.
func extent(res *Result) (low, high string) {
	digits := res.Performance.Start.Digits
	lowest, highest := res.curve[0].equity, res.curve[0].equity
	for _, s := range res.curve {
		lowest, highest = min(lowest, s.equity), max(highest, s.equity)
	}
	return Amount{lowest, digits}.Short(), Amount{highest, digits}.Short()
}

// evenly returns equity at n times that lie equally far apart; between two closes it is the earlier
// one.
func evenly(res *Result, n int) []float64 {
	values := make([]float64, 0, n)
	first, last := res.curve[0].at, res.curve[len(res.curve)-1].at
	at := 0
	for i := range n {
		want := first + (last-first)/market.Time(n)*market.Time(i+1)
		for at+1 < len(res.curve) && res.curve[at+1].at <= want {
			at++
		}
		values = append(values, float64(res.curve[at].equity))
	}
	return values
}
