package dashboard

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/chart"
	"github.com/tidemark-trading/tidemark/page"
)

// Candle is a candle for a picture. Prices are rounded to floats: they are drawn, never counted.
type Candle struct {
	StartMS                int64
	Open, High, Low, Close float64
}

// FillMark is a fill for a picture.
type FillMark struct {
	AtMS  int64
	Price float64
	Buy   bool
}

// Plot is a series that a strategy plots.
type Plot struct {
	Name   string
	Points []chart.Point // X: Unix seconds
}

// Market is what is known of a market. Candles, fills and plots are sorted by time.
type Market struct {
	Name       string
	IntervalMS int64
	Candles    []Candle
	Fills      []FillMark
	Orders     []operator.Order // open ones; those with a trigger are drawn as exits
	Plots      []Plot
}

// Range is the time of a picture, in milliseconds; To is exclusive.
type Range struct{ FromMS, ToMS int64 }

const (
	leastRange   = 60_000
	columnsWide  = 560 // candles of a wide picture, two pixels each
	columnsSmall = 190
)

// Clip is the candles of a range, merged so that no more than columns of them are left.
func (m *Market) Clip(r Range, columns int) []Candle {
	byStart := func(c Candle, at int64) int { return cmp.Compare(c.StartMS, at) }
	from, _ := slices.BinarySearchFunc(m.Candles, r.FromMS, byStart)
	to, _ := slices.BinarySearchFunc(m.Candles, r.ToMS, byStart)
	if to <= from {
		return nil
	}
	part := m.Candles[from:to]
	if len(part) <= columns {
		return part
	}
	merged := make([]Candle, 0, columns+1)
	width := (r.ToMS-r.FromMS)/int64(columns) + 1
	bucket := int64(math.MinInt64)
	for i := range part {
		c := &part[i]
		if place := (c.StartMS - r.FromMS) / width; place != bucket {
			bucket = place
			merged = append(merged, *c)
			continue
		}
		last := &merged[len(merged)-1]
		last.High, last.Low, last.Close = max(last.High, c.High), min(last.Low, c.Low), c.Close
	}
	return merged
}

// Chart is the picture of a range for a width of a screen in pixels.
func (m *Market) Chart(r Range, width int) chart.Chart {
	columns := columnsWide
	if width < 700 {
		columns = columnsSmall
	}
	layers := []chart.Layer{}
	low, high := math.Inf(1), math.Inf(-1)
	if candles := m.Clip(r, columns); len(candles) > 0 {
		drawn := m.drawn(candles, r, columns)
		for i := range drawn {
			low, high = min(low, drawn[i].Low), max(high, drawn[i].High)
		}
		layers = append(layers, chart.Candles{Candles: drawn})
	}
	roles := [...]chart.Role{chart.Main, chart.Second, chart.Third, chart.Quiet}
	for i, p := range m.Plots {
		if points := within(p.Points, r); len(points) > 0 {
			layers = append(layers, chart.Line{Name: p.Name, Role: roles[i%len(roles)], Points: points})
		}
	}
	layers = append(layers, m.resting(r)...)
	layers = append(layers, m.marks(r)...)
	axis := chart.Axis{}
	if margin := (high - low) / 12; low < high { // prices decide; far orders do not flatten the candles
		axis.Low, axis.High = low-margin, high+margin
	}
	return chart.Chart{Label: "Candles, fills and orders of " + m.Name, Width: float64(width), Times: true,
		X:      chart.Axis{Low: float64(r.FromMS) / 1000, High: float64(r.ToMS) / 1000},
		Panels: []chart.Panel{{Height: 380, Y: axis, Layers: layers}}}
}

// drawn gives candles their width.
func (m *Market) drawn(candles []Candle, r Range, columns int) []chart.Candle {
	width := m.IntervalMS
	if (r.ToMS-r.FromMS)/m.IntervalMS > int64(columns) {
		width = (r.ToMS - r.FromMS) / int64(columns)
	}
	list := make([]chart.Candle, len(candles))
	for i, c := range candles {
		from := float64(c.StartMS) / 1000
		list[i] = chart.Candle{From: from, To: from + float64(width)/1000, Open: c.Open, High: c.High, Low: c.Low,
			Close: c.Close}
	}
	return list
}

func within(points []chart.Point, r Range) []chart.Point {
	from, _ := slices.BinarySearchFunc(points, float64(r.FromMS)/1000, byX)
	to, _ := slices.BinarySearchFunc(points, float64(r.ToMS)/1000, byX)
	return points[from:max(from, to)]
}

func byX(p chart.Point, x float64) int {
	if p.X < x {
		return -1
	}
	return 1
}

// resting draws open orders as lines from their creation on: prices, and triggers of exits dashed.
func (m *Market) resting(r Range) (layers []chart.Layer) {
	named := map[string]bool{}
	add := func(name, price string, role chart.Role, dashed bool, since int64) {
		at, err := strconv.ParseFloat(price, 64)
		if err != nil || since >= r.ToMS {
			return
		}
		line := chart.Line{Role: role, Width: 1, Dashed: dashed, Points: []chart.Point{
			{X: float64(max(since, r.FromMS)) / 1000, Y: at}, {X: float64(r.ToMS) / 1000, Y: at}}}
		if !named[name] {
			named[name], line.Name = true, name
		}
		layers = append(layers, line)
	}
	for i := range m.Orders {
		o := &m.Orders[i]
		role := chart.Down
		if o.Side == "buy" {
			role = chart.Up
		}
		if o.Trigger != "" {
			add("exit, "+o.Side, o.Trigger, role, true, o.CreatedMS)
		} else {
			add("resting "+o.Side, o.Price, role, false, o.CreatedMS)
		}
	}
	return layers
}

// marks draws the fills of a range.
func (m *Market) marks(r Range) (layers []chart.Layer) {
	byTime := func(f FillMark, at int64) int { return cmp.Compare(f.AtMS, at) }
	from, _ := slices.BinarySearchFunc(m.Fills, r.FromMS, byTime)
	var buys, sells []chart.Point
	for _, f := range m.Fills[from:] {
		if f.AtMS >= r.ToMS {
			break
		}
		at := chart.Point{X: float64(f.AtMS) / 1000, Y: f.Price}
		if f.Buy {
			buys = append(buys, at)
		} else {
			sells = append(sells, at)
		}
	}
	if len(buys) > 0 {
		layers = append(layers, chart.Marks{Name: "bought", Shape: chart.Rising, Size: 9, Points: buys})
	}
	if len(sells) > 0 {
		layers = append(layers, chart.Marks{Name: "sold", Role: chart.Third, Shape: chart.Falling, Size: 9,
			Points: sells})
	}
	return layers
}

// MarketView is the page of a market.
type MarketView struct {
	Sections
	Range
	Market, Interval string
	Markets          []string
	Zooms            []Link // Path: the query of a range
	Picture          page.Picture
	Legend           string
}

// MarketOf makes the page of a market for a range.
func MarketOf(m *Market, interval string, markets []string, r Range, zone *time.Location) (*MarketView, error) {
	view := &MarketView{Range: r, Market: m.Name, Interval: interval, Markets: markets, Zooms: zooms(m, interval, r)}
	if r.ToMS-r.FromMS < leastRange {
		return nil, fmt.Errorf("a range of %d ms: want at least %d", r.ToMS-r.FromMS, leastRange)
	}
	view.Legend = "Drag over the picture to zoom. Times of the picture are UTC."
	var err error
	if view.Picture, err = m.picture(r); err != nil {
		return nil, err
	}
	resting := orderTable("Resting orders", "No order rests in this market.")
	for i := range m.Orders {
		resting.Rows = append(resting.Rows, orderRow(&m.Orders[i], zone))
	}
	view.Tables = []Table{resting}
	return view, nil
}

// picture draws a range for both screens.
func (m *Market) picture(r Range) (p page.Picture, err error) {
	if len(m.Clip(r, columnsWide)) == 0 && len(m.marks(r)) == 0 {
		return page.Picture{Wide: "No candle in this range.", Narrow: "No candle in this range."}, nil
	}
	if p.Wide, err = m.svg(r, 1120); err == nil {
		p.Narrow, err = m.svg(r, 400)
	}
	return p, err
}

// zooms are the links around a range.
func zooms(m *Market, interval string, r Range) (links []Link) {
	long := r.ToMS - r.FromMS
	link := func(title string, from, to int64) {
		q := url.Values{"market": {m.Name}, "interval": {interval}, "from": {fmt.Sprint(from)}, "to": {fmt.Sprint(to)}}
		links = append(links, Link{title, q.Encode()})
	}
	quarter := max(long/4, leastRange/2)
	middle := r.FromMS + long/2
	link("Zoom in", middle-quarter, middle+quarter)
	link("Zoom out", middle-long, middle+long)
	link("Earlier", r.FromMS-long/2, r.ToMS-long/2)
	link("Later", r.FromMS+long/2, r.ToMS+long/2)
	if len(m.Candles) > 0 {
		end := m.Candles[len(m.Candles)-1].StartMS + m.IntervalMS
		for _, span := range []struct {
			title string
			hours int64
		}{{"Day", 24}, {"Week", 7 * 24}, {"Month", 30 * 24}} {
			link(span.title, end-span.hours*3_600_000, end)
		}
		link("All", m.Candles[0].StartMS, end)
	}
	return links
}

// svg is the picture of a range as an element of a page.
func (m *Market) svg(r Range, width int) (template.HTML, error) {
	c := m.Chart(r, width)
	element, err := c.Element()
	return template.HTML(element), err
}
