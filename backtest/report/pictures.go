package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// A Sample is the account at a close.
type Sample struct {
	At           market.Time
	Equity, Cash float64
}

// rising reports whether the equity has logarithms.
func (r *Run) rising() bool {
	return !slices.ContainsFunc(r.Equity, func(s Sample) bool { return s.Equity <= 0 })
}

// equityPicture draws equity beside the benchmark, and the drawdown. On an axis with Log equal
// factors are equally far apart.
func (r *Run) equityPicture(shown []*series, log bool) (page.Picture, error) {
	equity := make([]chart.Point, 0, len(r.Equity))
	for _, s := range r.Equity {
		equity = append(equity, chart.Point{X: seconds(s.At), Y: s.Equity})
	}
	var upper []chart.Layer
	if hold := r.hold(shown); len(hold) > 0 {
		if log { // what is worth nothing has no place
			hold = slices.DeleteFunc(hold, func(p chart.Point) bool { return p.Y <= 0 })
		}
		upper = append(upper, chart.Line{Name: "buy and hold", Role: chart.Quiet, Width: 1, Points: hold})
	}
	upper = append(upper, chart.Line{Name: "equity", Points: equity})
	return page.Draw(chart.Chart{Label: "equity and drawdown over time", Times: true, Panels: []chart.Panel{
		{Height: 250, Y: chart.Axis{Unit: r.Currency, Log: log}, Layers: upper},
		{Height: 130, Y: chart.Axis{Unit: "% below the peak"}, Layers: []chart.Layer{
			chart.Area{Role: chart.Down, Points: drawdowns(equity)}}},
	}})
}

// hold is the equity of buy and hold.
func (r *Run) hold(shown []*series) (points []chart.Point) {
	for _, s := range r.Hold {
		points = append(points, chart.Point{X: seconds(s.At), Y: s.Equity})
	}
	for _, s := range shown {
		if s.Market != r.HoldMarket || r.HoldScale == 0 {
			continue
		}
		scale := r.HoldScale * math.Pow10(-s.digits)
		for i := range s.picked.some {
			if b := &s.picked.some[i]; b.at > r.HoldFrom {
				points = append(points, chart.Point{X: seconds(b.at), Y: scale * float64(b.close)})
			}
		}
	}
	return points
}

// A Fall is a drawdown. To is 0 where it has not recovered. Depth is a part of the peak, below 0.
type Fall struct {
	From, Bottom, To market.Time
	Depth            float64
}

// fallsPicture draws the distance from the peak, with the deepest drawdowns.
func (r *Run) fallsPicture() (page.Picture, error) {
	if len(r.Deep) == 0 || len(r.Equity) == 0 {
		return page.Picture{}, nil
	}
	equity := make([]chart.Point, 0, len(r.Equity))
	for _, s := range r.Equity {
		equity = append(equity, chart.Point{X: seconds(s.At), Y: s.Equity})
	}
	all := drawdowns(equity)
	layers := []chart.Layer{chart.Area{Name: "all", Role: chart.Quiet, Points: all}}
	for i, f := range r.Deep {
		bottom := chart.Point{X: seconds(f.Bottom), Y: 100 * f.Depth}
		part := []chart.Point{{X: seconds(f.From)}}
		to := seconds(r.To)
		if f.To != 0 {
			to = seconds(f.To)
		}
		for _, p := range all {
			if p.X > seconds(f.From) && p.X < to {
				part = append(part, p)
			}
		}
		if f.To != 0 {
			part = append(part, chart.Point{X: to})
		}
		name := fmt.Sprintf("%d: %s of %s", i+1, percent(f.Depth, 1), date(f.Bottom))
		layers = append(layers, chart.Line{Role: chart.Down, Points: part},
			chart.Marks{Name: name, Role: chart.Down, Size: 6, Points: []chart.Point{bottom}})
	}
	return page.Draw(chart.Chart{Label: "distance from the peak, with the deepest drawdowns", Times: true,
		Panels: []chart.Panel{{Height: 150, Y: chart.Axis{Unit: "% below the peak"}, Layers: layers}}})
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

// exposurePicture draws the share of equity that is not cash.
func (r *Run) exposurePicture() (page.Picture, error) {
	share := make([]chart.Point, 0, len(r.Equity))
	for _, s := range r.Equity {
		y := math.NaN()
		if s.Equity > 0 {
			y = 100 * (s.Equity - s.Cash) / s.Equity
		}
		share = append(share, chart.Point{X: seconds(s.At), Y: y})
	}
	return page.Draw(chart.Chart{Label: "exposure over time", Times: true, Panels: []chart.Panel{{Height: 130,
		Y: chart.Axis{Unit: "% of equity"}, Layers: []chart.Layer{chart.Area{Role: chart.Main, Points: share}}}}})
}

// rollingPicture draws Sharpe ratio and volatility over a window of days.
func (r *Run) rollingPicture(n int) (page.Picture, error) {
	sharpe, volatility := rolling(r.Days, n)
	if !seen(sharpe) {
		return page.Picture{}, nil
	}
	return page.Draw(chart.Chart{Label: "rolling Sharpe ratio and volatility", Times: true, Panels: []chart.Panel{
		{Height: 130, Y: chart.Axis{Unit: "Sharpe"}, Layers: []chart.Layer{chart.Line{Points: sharpe}}},
		{Height: 110, Y: chart.Axis{Unit: "volatility, % a year"}, Layers: []chart.Layer{
			chart.Line{Role: chart.Second, Points: volatility}}},
	}})
}

// seen reports whether a point can be drawn.
func seen(points []chart.Point) bool {
	for _, p := range points {
		if !math.IsNaN(p.Y) {
			return true
		}
	}
	return false
}

func (r *Run) distributionPicture() (p page.Picture, still int, err error) {
	bars, still := distribution(r.Days)
	if len(bars) == 0 {
		return p, still, nil
	}
	p, err = page.Draw(chart.Chart{Label: "distribution of daily returns", X: chart.Axis{Unit: "daily return, %"},
		Panels: []chart.Panel{{Height: 150, Y: chart.Axis{Unit: "days"}, Layers: []chart.Layer{
			chart.Bars{Role: chart.Main, Bars: bars}}}}})
	return p, still, err
}

// marketPicture is the picture of one market.
type marketPicture struct {
	Name, Note   string
	Whole, Close page.Picture
	Zoomed       bool // the chart of the script has this market too
	Plots, Stops bool // the whole picture has plots, the close one stops
}

const (
	seenTrips = 150  // round trips whose marks do not hide the candles
	dots      = 1000 // about the most round trips that are drawn as dots
	closeUp   = 12   // round trips of a picture from near
	closeBars = 900  // candles of it at most
)

// marketPictures draws the price of each market with candles or plots, whole and from near.
func (r *Run) marketPictures(shown []*series, list []*kept) (out []marketPicture, err error) {
	done := make([]bool, len(r.Trips.Markets))
	for _, s := range shown {
		done[s.Market] = true
		if s.whole.count == 0 {
			continue
		}
		one := marketPicture{Name: r.Trips.Markets[s.Market], Zoomed: true, Plots: r.plotted(s.Market)}
		own := of(s.Market, list)
		price := []chart.Layer{chart.Candles{Candles: drawn(s.picked.sparse, s.digits)}}
		if one.Whole, err = r.pricePicture(s.Market, price, own, seenTrips); err != nil {
			return nil, err
		}
		if len(own) > seenTrips {
			one.Note = "Dots are entries and exits: there are many."
		}
		if each := len(own) / dots; each > 1 {
			one.Note += fmt.Sprintf(" One in %d is drawn.", each)
		}
		if one.Close, one.Stops, err = r.closePicture(s); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	for _, l := range r.Lines {
		if done[l.Market] {
			continue
		}
		done[l.Market] = true
		one := marketPicture{Name: r.Trips.Markets[l.Market], Plots: true}
		if one.Whole, err = r.pricePicture(l.Market, nil, nil, 0); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// pricePicture draws layers of the price of a market with trips, marks and plots.
func (r *Run) pricePicture(m int, price []chart.Layer, own []*kept, large int) (page.Picture, error) {
	c := chart.Chart{Label: "price of " + r.Trips.Markets[m], Times: true}
	price = append(price, r.lineLayers(m, "")...)
	price = append(price, tripLayers(own, len(own) <= large)...)
	if price = append(price, r.markLayers(m)...); len(price) > 0 {
		c.Panels = append(c.Panels, chart.Panel{Height: 300, Y: chart.Axis{Unit: r.Currency}, Layers: price})
	}
	for _, pane := range r.panes(m) {
		c.Panels = append(c.Panels, chart.Panel{Height: 120, Y: chart.Axis{Unit: pane}, Layers: r.lineLayers(m, pane)})
	}
	if len(c.Panels) == 0 {
		return page.Picture{}, nil
	}
	return page.Draw(c)
}

// tripLayers are entries and exits.
func tripLayers(own []*kept, large bool) (layers []chart.Layer) {
	var entries, gains, losses []chart.Point
	for i := 0; i < len(own); i += max(1, len(own)/dots) {
		k := own[i]
		entries = append(entries, chart.Point{X: seconds(k.Entered), Y: k.Entry})
		exit := chart.Point{X: seconds(k.Exited), Y: k.Exit}
		if k.Profit > 0 {
			gains = append(gains, exit)
		} else {
			losses = append(losses, exit)
		}
	}
	for _, one := range []struct {
		name   string
		role   chart.Role
		shape  chart.Shape
		points []chart.Point
	}{{"entry", chart.Main, chart.Rising, entries}, {"exit, gain", chart.Up, chart.Falling, gains},
		{"exit, loss", chart.Down, chart.Falling, losses}} {
		if len(one.points) == 0 {
			continue
		}
		marks := chart.Marks{Name: one.name, Role: one.role, Shape: one.shape, Size: 9, Points: one.points}
		if !large {
			marks.Shape, marks.Size = chart.Dot, 3
		}
		layers = append(layers, marks)
	}
	return layers
}

// look chooses the latest of the market's round trips for the picture from near, and its period.
func (s *series) look(own []*kept) {
	length := market.Time(s.length() * 1e9)
	own = own[max(len(own)-closeUp, 0):]
	for len(own) > 1 && (own[len(own)-1].Exited-own[0].Entered)/length > closeBars {
		own = own[1:]
	}
	if len(own) == 0 {
		return
	}
	from, to := own[0].Entered, own[len(own)-1].Exited
	for i := range own {
		from = min(from, own[i].Entered)
	}
	room := max((to-from)/12, 6*length)
	s.latest, s.near = own, period{from - room, to + room}
}

// plotted reports whether strategies plotted in the market.
func (r *Run) plotted(market int) bool {
	return slices.ContainsFunc(r.Lines, func(l Line) bool { return l.Market == market }) ||
		slices.ContainsFunc(r.Marks, func(m Mark) bool { return m.Market == market })
}

// closePicture draws the latest trips from near, with the way from entry to exit and the stops.
func (r *Run) closePicture(s *series) (p page.Picture, stops bool, err error) {
	bars, own, from, to := s.close, s.latest, s.near.from, s.near.to
	if len(own) == 0 || len(bars) == 0 {
		return page.Picture{}, false, nil
	}
	layers := []chart.Layer{chart.Candles{Candles: drawn(bars, s.digits)}}
	var ways []chart.Point
	for i := range own {
		k := own[i]
		ways = append(ways, chart.Point{X: seconds(k.Entered), Y: k.Entry},
			chart.Point{X: seconds(k.Exited), Y: k.Exit},
			chart.Point{X: seconds(k.Exited), Y: math.NaN()})
	}
	for i := 0; i < len(ways); i += 3 {
		layers = append(layers, chart.Line{Role: chart.Ink, Width: 1, Dashed: true, Points: ways[i : i+2]})
	}
	for i := range r.Stops {
		if p := &r.Stops[i]; p.Market == s.Market && p.To >= from && p.From <= to {
			stops = true
			layers = append(layers, chart.Line{Role: chart.Down, Width: 1.4, Points: []chart.Point{
				{X: seconds(max(p.From, from)), Y: p.Price}, {X: seconds(min(p.To, to)), Y: p.Price}}})
		}
	}
	c := chart.Chart{Label: "the latest round trips from near", Times: true,
		X: chart.Axis{Low: seconds(bars[0].start), High: seconds(bars[len(bars)-1].end)},
		Panels: []chart.Panel{{Height: 260, Y: chart.Axis{Unit: r.Currency},
			Layers: append(layers, tripLayers(own, true)...)}}}
	p, err = page.Draw(c)
	return p, stops, err
}
