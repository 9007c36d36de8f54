package report

import (
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// A Line is what a strategy plotted under one name in one market.
type Line struct {
	Market     int // a place in Names
	Pane, Name string
	Points     []Value
}

// A Value is a value at a time; NaN breaks the line.
type Value struct {
	At market.Time
	Y  float64
}

// A Mark is a text at a price.
type Mark struct {
	Market int
	At     market.Time
	Price  float64
	Text   string
}

// A Stop is the price at which a position was to be sold, as long as it stood.
type Stop struct {
	Market   int
	From, To market.Time
	Price    float64
}

// panes are the panes of a market in the order of their first lines, without that of the price.
func (r *Run) panes(m int) (names []string) {
	for i := range r.Lines {
		if l := &r.Lines[i]; l.Market == m && l.Pane != "" && !slices.Contains(names, l.Pane) {
			names = append(names, l.Pane)
		}
	}
	return names
}

// lineLayers are the lines of a pane; "" is the price.
func (r *Run) lineLayers(m int, pane string) (layers []chart.Layer) {
	n := 0
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Market != m || l.Pane != pane {
			continue
		}
		points := make([]chart.Point, 0, len(l.Points))
		for _, v := range l.Points {
			points = append(points, chart.Point{X: seconds(v.At), Y: v.Y})
		}
		role, dashed := chart.Series(n)
		layers = append(layers, chart.Line{Name: l.Name, Role: role, Dashed: dashed, Width: 1.2, Points: points})
		n++
	}
	return layers
}

// namedMarks is the number of different texts of marks up to which each has a shape of its own.
const namedMarks = 3

// markLayers are the marks of a market.
func (r *Run) markLayers(m int) (layers []chart.Layer) {
	var texts []string
	points := make(map[string][]chart.Point)
	for i := range r.Marks {
		one := &r.Marks[i]
		if one.Market != m || one.Price == 0 {
			continue
		}
		if !slices.Contains(texts, one.Text) {
			texts = append(texts, one.Text)
		}
		points[one.Text] = append(points[one.Text], chart.Point{X: seconds(one.At), Y: one.Price})
	}
	if len(texts) > namedMarks {
		var all []chart.Point
		for _, text := range texts {
			all = append(all, points[text]...)
		}
		return []chart.Layer{chart.Marks{Name: "marks", Role: chart.Ink, Shape: chart.Diamond, Points: all}}
	}
	for i, text := range texts {
		shape := [...]chart.Shape{chart.Diamond, chart.Dot, chart.Cross}[i]
		layers = append(layers, chart.Marks{Name: text, Role: chart.Ink, Shape: shape, Points: points[text]})
	}
	return layers
}

// noValue is a break of a packed line; see page.js.
const noValue = 1 << 53

// lineHead describes a packed line to the script.
type lineHead struct {
	Market string `json:"market"`
	Pane   string `json:"pane"`
	Name   string `json:"name"`
	Role   string `json:"role"`
	Dashed bool   `json:"dashed"`
	Digits int    `json:"digits"`
}

// packLines packs the lines.
func (r *Run) packLines() page.Data {
	var h struct {
		Lines []lineHead `json:"lines"`
	}
	var columns []*page.Column
	places := make(map[[2]string]int)
	for i := range r.Lines {
		l := &r.Lines[i]
		most := 0.0
		for _, v := range l.Points {
			if !math.IsNaN(v.Y) {
				most = max(most, math.Abs(v.Y))
			}
		}
		key := [2]string{r.Trips.Markets[l.Market], l.Pane}
		n, digits := places[key], significant(most)
		places[key]++
		role, dashed := chart.Series(n)
		h.Lines = append(h.Lines, lineHead{key[0], l.Pane, l.Name, role.Class(), dashed, digits})
		times, values := make([]int64, len(l.Points)), make([]int64, len(l.Points))
		for k, v := range l.Points {
			times[k], values[k] = int64(v.At)/1e9, noValue
			if !math.IsNaN(v.Y) {
				values[k] = scaled(v.Y, digits)
			}
		}
		columns = append(columns, page.Values(times, true), page.Values(values, false))
	}
	return page.Data{ID: "lines", Head: h, Columns: columns}
}

// significant is the number of decimals with which the largest number has seven digits.
func significant(most float64) int {
	if most == 0 {
		return 0
	}
	return int(min(max(6-math.Floor(math.Log10(most)), 0), 12))
}

// priceDigits are the decimals of prices, by market, with which a page holds the highest of them.
func (r *Run) priceDigits(each func(highest func(market int, price float64))) []int {
	most := make([]float64, len(r.Trips.Markets))
	each(func(market int, price float64) { most[market] = max(most[market], price) })
	digits := make([]int, len(most))
	for m := range digits {
		digits[m] = fitting(most[m], int(r.Trips.PriceDigits[m]))
	}
	return digits
}

// packMarks packs the marks.
func (r *Run) packMarks() page.Data {
	var texts []string
	places := make(map[string]int64)
	columns := make([][]int64, 4)
	digits := r.priceDigits(func(highest func(market int, price float64)) {
		for i := range r.Marks {
			highest(r.Marks[i].Market, r.Marks[i].Price)
		}
	})
	for i := range r.Marks {
		m := &r.Marks[i]
		place, found := places[m.Text]
		if !found {
			place = int64(len(texts))
			places[m.Text], texts = place, append(texts, m.Text)
		}
		for k, n := range [...]int64{int64(m.Market), int64(m.At) / 1e9, scaled(m.Price, digits[m.Market]),
			place} {
			columns[k] = append(columns[k], n)
		}
	}
	h := table{Columns: []head{
		{Key: "market", Kind: "name", Names: r.Trips.Markets}, {Key: "at", Kind: "time"},
		{Key: "price", Kind: "number", Digits: digits, By: "market"},
		{Key: "text", Kind: "name", Names: texts}}}
	return page.Data{ID: "marks", Head: h, Columns: asSteps(columns)}
}

// packStops packs the stops.
func (r *Run) packStops() page.Data {
	columns := make([][]int64, 4)
	digits := r.priceDigits(func(highest func(market int, price float64)) {
		for i := range r.Stops {
			highest(r.Stops[i].Market, r.Stops[i].Price)
		}
	})
	for i := range r.Stops {
		s := &r.Stops[i]
		for k, n := range [...]int64{int64(s.Market), int64(s.From) / 1e9, int64(s.To-s.From) / 1e9,
			scaled(s.Price, digits[s.Market])} {
			columns[k] = append(columns[k], n)
		}
	}
	h := table{Columns: []head{
		{Key: "market", Kind: "name", Names: r.Trips.Markets}, {Key: "from", Kind: "time"}, {Key: "held", Kind: "span"},
		{Key: "price", Kind: "number", Digits: digits, By: "market"}}}
	return page.Data{ID: "stops", Head: h, Columns: asSteps(columns)}
}

// packCurve packs the equity.
func (r *Run) packCurve() page.Data {
	most := 0.0
	for _, s := range r.Equity {
		most = max(most, math.Abs(s.Equity))
	}
	digits := significant(most)
	columns := make([][]int64, 2)
	for _, s := range r.Equity {
		columns[0] = append(columns[0], int64(s.At)/1e9)
		columns[1] = append(columns[1], scaled(s.Equity, digits))
	}
	h := table{Columns: []head{{Key: "at", Kind: "time"},
		{Key: "equity", Title: "equity, " + r.Currency, Kind: "number", Digits: digits}}}
	return page.Data{ID: "curve", Head: h, Columns: asSteps(columns)}
}

// asSteps are columns as differences.
func asSteps(columns [][]int64) []*page.Column {
	list := make([]*page.Column, len(columns))
	for i := range columns {
		list[i] = page.Values(columns[i], true)
	}
	return list
}
