package backtest

import (
	"encoding/json"
	"html/template"
	"slices"
	"strconv"

	"github.com/tidemark-trading/tidemark/chart"
	"github.com/tidemark-trading/tidemark/market"
)

// picture draws equity, buy and hold, and the drawdown as an SVG element for a page with
// chart.Style.
func picture(equity, hold []chart.Point, currency string) ([]byte, error) {
	var upper []chart.Layer
	if len(hold) > 0 {
		upper = append(upper, chart.Line{Name: "buy and hold", Role: chart.Quiet, Width: 1, Points: hold})
	}
	upper = append(upper, chart.Line{Name: "equity", Points: equity})
	lower := []chart.Layer{chart.Area{Role: chart.Down, Points: drawdowns(equity)}}
	c := chart.Chart{Label: "equity and drawdown over time", Times: true, Panels: []chart.Panel{
		{Height: 260, Y: chart.Axis{Unit: currency}, Layers: upper},
		{Height: 130, Y: chart.Axis{Unit: "% below the peak"}, Layers: lower},
	}}
	return c.Element()
}

// drawdowns turns equity into per cent below the highest value before.
func drawdowns(equity []chart.Point) []chart.Point {
	falls := make([]chart.Point, 0, len(equity))
	peak := 0.0
	for _, e := range equity {
		peak = max(peak, e.Y)
		depth := 0.0
		if peak > 0 {
			depth = 100 * (e.Y/peak - 1)
		}
		falls = append(falls, chart.Point{X: e.X, Y: depth})
	}
	return falls
}

// plotPicture is what was plotted in one market.
type plotPicture struct {
	Market  string
	Picture template.HTML
}

// plotPictures draws a picture for each market with plots.
func (r *recorder) plotPictures(bars []bar) (pictures []plotPicture, err error) {
	if r.plots.empty() {
		return nil, nil
	}
	for _, id := range r.plots.markets() {
		name := r.cfg.Catalog.Market(id).Name
		c := chart.Chart{Label: "plots over the price of " + name, Times: true}
		price := append(r.priceLayers(id, bars), r.plots.layers(id, "")...)
		price = append(price, r.tripLayers(id)...)
		if price = append(price, r.plots.markLayers(id)...); len(price) > 0 {
			c.Panels = append(c.Panels, chart.Panel{Height: 300, Y: chart.Axis{Unit: r.cfg.Currency.Symbol},
				Layers: price})
		}
		for _, pane := range r.plots.panes(id) {
			if layers := r.plots.layers(id, pane); len(layers) > 0 {
				c.Panels = append(c.Panels, chart.Panel{Height: 130, Y: chart.Axis{Unit: pane}, Layers: layers})
			}
		}
		if len(c.Panels) == 0 {
			continue
		}
		drawing, err := c.Element()
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, plotPicture{name, template.HTML(drawing)})
	}
	return pictures, nil
}

// priceLayers are the candles of the charted market; of another one the price at each plot.
func (r *recorder) priceLayers(id market.ID, bars []bar) []chart.Layer {
	if id != r.cfg.Chart {
		if l := r.plots.prices[id]; l != nil {
			return []chart.Layer{chart.Line{Name: "price", Role: chart.Ink, Width: 1, Points: r.plots.drawn(l)}}
		}
		return nil
	}
	m, candles := r.cfg.Catalog.Market(id), make([]chart.Candle, 0, len(bars))
	for _, b := range bars {
		candles = append(candles, chart.Candle{From: seconds(b.start), To: seconds(b.end), Open: m.Float(b.open),
			High: m.Float(b.high), Low: m.Float(b.low), Close: m.Float(b.close)})
	}
	if len(candles) == 0 {
		return nil
	}
	return []chart.Layer{chart.Candles{Candles: candles}}
}

// seenTrips is the number of round trips whose marks do not hide the lines of a picture.
const seenTrips = 120

// tripLayers are the entries and exits of the charted market, unless they are too many to be seen.
func (r *recorder) tripLayers(id market.ID) []chart.Layer {
	var entries, exits []chart.Point
	for i := range r.drawn.held {
		if m := &r.drawn.held[i]; m.charted && id == r.cfg.Chart {
			entries = append(entries, chart.Point{X: seconds(m.entered), Y: m.entryPrice})
			exits = append(exits, chart.Point{X: seconds(m.exited), Y: m.exitPrice})
		}
	}
	if len(entries) == 0 || len(entries) > seenTrips {
		return nil
	}
	return []chart.Layer{chart.Marks{Name: "entry", Role: chart.Up, Shape: chart.Rising, Points: entries},
		chart.Marks{Name: "exit", Role: chart.Down, Shape: chart.Falling, Points: exits}}
}

func seconds(t market.Time) float64 { return float64(t) / 1e9 }

// lineRoles are the colours of plotted lines, the most different ones first. Further lines begin
// anew, dashed.
func lineRoles() []chart.Role {
	return []chart.Role{chart.Main, chart.Third, chart.Second, chart.Quiet}
}

// layers are the lines of a pane.
func (p *plots) layers(id market.ID, pane string) (layers []chart.Layer) {
	roles := lineRoles()
	for i, l := range p.on(id, pane) {
		if points := p.drawn(l); len(points) > 0 {
			layers = append(layers, chart.Line{Name: p.label(&l.key), Role: roles[i%len(roles)],
				Dashed: i/len(roles)%2 == 1, Width: 1.2, Points: points})
		}
	}
	return layers
}

// drawn are the points of a line in decimals.
func (p *plots) drawn(l *line) []chart.Point {
	points, scale := make([]chart.Point, 0, len(l.points())), p.scale(&l.key)
	for _, one := range l.points() {
		points = append(points, chart.Point{X: seconds(one.at), Y: one.value / scale})
	}
	return points
}

// namedMarks is the number of different texts of marks up to which each has a shape of its own.
const namedMarks = 3

// markLayers are the marks of a market.
func (p *plots) markLayers(id market.ID) (layers []chart.Layer) {
	m := p.catalog.Market(id)
	var texts []string
	points := make(map[string][]chart.Point)
	for i := range p.marks {
		one := &p.marks[i]
		if one.market != id || one.price == 0 {
			continue
		}
		if !slices.Contains(texts, one.name) {
			texts = append(texts, one.name)
		}
		points[one.name] = append(points[one.name], chart.Point{X: seconds(one.at), Y: m.Float(one.price)})
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

// appendData appends the plots of the charted market to the numbers of the page. A value that
// belongs to a candle stands at the candle's start, as the candle does.
func (p *plots) appendData(out []byte, interval market.Interval) []byte {
	at := func(t market.Time) int64 { return int64(interval.Floor(t-1)) / 1e9 }
	lines := func(out []byte, pane string) []byte {
		out = append(out, '[')
		for i, l := range p.on(p.chart, pane) {
			out = append(comma(out, i), '[')
			scale := p.scale(&l.key)
			for j, one := range l.points() {
				out = append(strconv.AppendInt(append(comma(out, j), '['), at(one.at), 10), ',')
				out = append(appendShort(out, one.value/scale), ']')
			}
			out = append(out, ']')
		}
		return append(out, ']')
	}
	out = append(lines(append(out, `,"lines":`...), ""), `,"panes":[`...)
	for i, pane := range p.panes(p.chart) {
		out = lines(comma(out, i), pane)
	}
	out = append(out, `],"marks":[`...)
	first := 0
	for i := range p.marks {
		m := &p.marks[i]
		if m.market != p.chart {
			continue
		}
		text, _ := json.Marshal(m.name) // a text always has a JSON
		out = append(strconv.AppendInt(append(comma(out, first), '['), at(m.at), 10), ',')
		out = append(appendShort(out, p.catalog.Market(m.market).Float(m.price)), ',')
		out = append(append(out, text...), ']')
		first++
	}
	return append(out, ']')
}
