package report

import (
	"fmt"
	"math"
	"strings"
)

// year is a row of the table of months.
type year struct {
	Year   int
	Months [12]shade
	Total  shade
}

// shade is a return as text with the class of its background; both empty: no such month.
type shade struct{ Text, Class string }

// years arranges the months in rows, with the return of each whole year.
func years(months []Month) (rows []year) {
	growth := 1.0
	for _, m := range months {
		if len(rows) == 0 || rows[len(rows)-1].Year != m.Year {
			rows, growth = append(rows, year{Year: m.Year}), 1
		}
		y := &rows[len(rows)-1]
		growth *= 1 + m.Return
		y.Months[m.Month-1], y.Total = shadeOf(m.Return), shadeOf(growth-1)
	}
	return rows
}

// shadeOf writes a return in per cent, short enough for a table of months. The background is
// stronger for a larger return, in ten steps up to 20 %.
func shadeOf(x float64) shade {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return shade{Text: "–"}
	}
	digits := int(1)
	if math.Abs(x) >= 0.1 {
		digits = 0
	}
	text := strings.TrimSuffix(percent(x, digits), " %")
	if math.Abs(x) >= 1e7 {
		text = fmt.Sprintf("%.0e", 100*x)
	}
	strength := int(math.Ceil(min(math.Abs(x)/0.2, 1) * 10))
	class := "g"
	if x < 0 {
		class = "l"
	}
	if strength == 0 {
		return shade{Text: text}
	}
	return shade{text, fmt.Sprintf("%s%d", class, strength)}
}
