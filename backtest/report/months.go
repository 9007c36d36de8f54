package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
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

// monthsPicture draws the return of each month.
func (v *view) monthsPicture() (page.Picture, error) {
	var bars []chart.Bar
	var worst []Month
	for _, m := range v.Months {
		if math.IsNaN(m.Return) || math.IsInf(m.Return, 0) {
			continue
		}
		from := time.Date(m.Year, time.Month(m.Month), 1, 0, 0, 0, 0, time.UTC)
		bars = append(bars, chart.Bar{From: float64(from.Unix()), To: float64(from.AddDate(0, 1, 0).Unix()),
			Value: 100 * m.Return})
		worst = append(worst, m)
	}
	if len(bars) < 2 {
		return page.Picture{}, nil
	}
	slices.SortStableFunc(worst, func(a, b Month) int { return cmp.Compare(a.Return, b.Return) })
	name := func(m Month) string { return fmt.Sprintf("%s (%d-%02d)", percent(m.Return, 1), m.Year, m.Month) }
	var names []string
	for _, m := range worst[:min(3, len(worst))] {
		names = append(names, name(m))
	}
	v.MonthsNote = "The worst: " + strings.Join(names, ", ") + "; the best: " + name(worst[len(worst)-1]) + "."
	return page.Draw(chart.Chart{Label: "return of each month", Times: true, Panels: []chart.Panel{{Height: 130,
		Y: chart.Axis{Unit: "% of the month"}, Layers: []chart.Layer{chart.Bars{Bars: bars}}}}})
}
