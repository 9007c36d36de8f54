package dashboard

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

const (
	leastRange  = 60_000 // milliseconds of a picture
	columnsWide = 560    // candles of a wide picture

	pixelsOfCandle = 2 // at least

	widthWide    = 1120
	widthNarrow  = 400
	levelsShown  = 10 // of each side of a book
	fillsShown   = 200
	mostOfMarks  = 6 // texts of marks that have a name in the picture
	paneHeight   = 110
	marketHeight = 380
	volumeHeight = 70
	levelsNamed  = 8 // levels that have a name in the picture
)

// MarketView is the page of a market.
type MarketView struct {
	Parts              Parts
	FromMS, ToMS       int64
	Latest             bool // the picture ends now: the script asks for it again
	Market, Interval   string
	Markets, Intervals []string
	Zooms              []Link // to other times
	Wide, Narrow       Drawing
	Legend             string
}

// Drawing is a picture of a market for a width of a screen, with the place of its candles: the
// distance of their edges from its left edge, as parts of its width.
type Drawing struct {
	SVG         template.HTML
	Left, Right float64
}

// MarketOf makes the page of a market, as it was asked for. width is that of the only picture to be
// drawn; any other number: both are.
func MarketOf(m *operator.Market, q *operator.MarketQuery, width int, zone *time.Location) (*MarketView, error) {
	view := &MarketView{FromMS: m.FromMS, ToMS: m.ToMS, Latest: q.ToMS == 0, Market: m.Market, Interval: m.Interval,
		Zooms: zooms(m)}
	for _, s := range m.Series {
		view.Markets = append(view.Markets, s.Market)
		if s.Market == m.Market {
			view.Intervals = s.Intervals
		}
	}
	var err error
	if width != widthNarrow {
		if view.Wide, err = marketPicture(m, widthWide, zone); err != nil {
			return nil, err
		}
	}
	if width != widthWide {
		if view.Narrow, err = marketPicture(m, widthNarrow, zone); err != nil {
			return nil, err
		}
	}
	view.Legend = marketLegend(m, zone)
	view.Parts = marketTables(m, zone)
	return view, nil
}

// marketLegend is the text below a picture.
func marketLegend(m *operator.Market, zone *time.Location) string {
	text := fmt.Sprintf("%s to %s, %s.", moment(m.FromMS, zone), moment(m.ToMS, zone), zone)
	if m.Last != "" {
		text = "Last price of " + m.Market + ": " + profit.Brief(m.Last) + ". " + text
	}
	return strings.TrimSpace(text + " " + m.Note)
}

func marketTables(m *operator.Market, zone *time.Location) Parts {
	resting := orderTable("Resting orders", "No order rests in this market.")
	for i := range m.Orders {
		resting.Rows = append(resting.Rows, orderRow(&m.Orders[i], zone))
	}
	tables := Parts{resting}
	if len(m.Watched) > 0 {
		tables = append(tables, watchedTable(m))
	}
	if m.Book != nil {
		tables = append(tables, bookTable(m.Book, zone))
	}
	return append(tables, fillTable(m, zone))
}

// watchedTable lists the exits that do not rest at the exchange.
func watchedTable(m *operator.Market) Table {
	t := Table{Title: "Exits that the bot watches for; they do not rest at the exchange",
		Head: []string{"Of order", "Strategy", "Exit", "Sells at", "Amount"}}
	for i := range m.Watched {
		w := &m.Watched[i]
		t.Rows = append(t.Rows, row(orderCell(w.Entry), left(w.Strategy), left(watchedNames[w.Kind]),
			text(profit.Brief(w.Price)), text(w.Amount)))
	}
	return t
}

// watchedNames are the kinds of exits in words.
var watchedNames = map[string]string{"stop": "stop", "target": "target", "part": "partial target"}

// bookTable is the best part of a book.
func bookTable(b *operator.Book, zone *time.Location) Table {
	t := Table{Title: "Book of " + moment(b.AtMS, zone), Empty: "The book is empty.",
		Head: []string{"Bid amount", "Bid", "Ask", "Ask amount"}}
	for i := range min(levelsShown, max(len(b.Bids), len(b.Asks))) {
		bid, ask := operator.Level{Price: "–", Amount: "–"}, operator.Level{Price: "–", Amount: "–"}
		if i < len(b.Bids) {
			bid = b.Bids[i]
		}
		if i < len(b.Asks) {
			ask = b.Asks[i]
		}
		t.Rows = append(t.Rows, row(text(bid.Amount), text(bid.Price), text(ask.Price), text(ask.Amount)))
	}
	return t
}

// fillTable lists the fills of the picture, the latest first.
func fillTable(m *operator.Market, zone *time.Location) Table {
	t := Table{Title: "Fills in this time", Empty: "No order was filled in this time.",
		Head: []string{"Order", "Time", "Strategy", "Side", "Amount", "Price"}}
	for i := len(m.Fills) - 1; i >= 0 && len(t.Rows) < fillsShown; i-- {
		f := &m.Fills[i]
		t.Rows = append(t.Rows, row(orderCell(f.Order), text(moment(f.AtMS, zone)), left(f.Strategy), text(f.Side),
			text(f.Amount), text(profit.Brief(f.Price))))
	}
	return t
}

// zooms are the links around the time of a picture, and to the latest hour, day, week and month.
func zooms(m *operator.Market) (links []Link) {
	link := func(title string, time url.Values) {
		time.Set("market", m.Market)
		time.Set("interval", m.Interval)
		links = append(links, Link{title, "market?" + time.Encode()})
	}
	part := func(title string, from, to int64) {
		from = max(0, from)
		link(title, url.Values{"from": {fmt.Sprint(from)}, "to": {fmt.Sprint(max(to, from+leastRange))}})
	}
	long := m.ToMS - m.FromMS
	quarter, middle := max(long/4, leastRange/2), m.FromMS+long/2
	part("Zoom in", middle-quarter, middle+quarter)
	part("Zoom out", middle-long, middle+long)
	part("Earlier", m.FromMS-long/2, m.ToMS-long/2)
	part("Later", m.FromMS+long/2, m.ToMS+long/2)
	for _, span := range []struct {
		title string
		hours int64
	}{{"Hour", 1}, {"Day", 24}, {"Week", 7 * 24}, {"Month", 30 * 24}} {
		link(span.title, url.Values{"long": {fmt.Sprint(span.hours * 3_600_000)}})
	}
	if m.EndMS != 0 {
		part("All", m.FirstMS, m.EndMS)
	}
	return links
}

// marketPicture draws a market for a width of a screen in pixels.
func marketPicture(m *operator.Market, width int, zone *time.Location) (d Drawing, err error) {
	c, err := marketChart(m, width)
	c.Zone = zone
	if err != nil {
		return d, err
	}
	if len(c.Panels) == 0 {
		return Drawing{"There is nothing to draw in this time.", 0, 1}, nil
	}
	left, right, err := c.Plot()
	if err != nil {
		return d, err
	}
	element, err := c.Element()
	return Drawing{template.HTML(element), left / float64(width), right / float64(width)}, err
}

// marketChart is the picture of a market; it has no panel where there is nothing to draw.
func marketChart(m *operator.Market, width int) (c chart.Chart, err error) {
	c = chart.Chart{Label: "Candles, fills and orders of " + m.Market, Width: float64(width), Times: true,
		X: chart.Axis{Low: float64(m.FromMS) / 1000, High: float64(m.ToMS) / 1000}}
	p := marketPicturePrices{low: math.Inf(1), high: math.Inf(-1)}
	var layers []chart.Layer
	candles, err := p.candles(m)
	if err != nil {
		return c, err
	}
	if len(candles) > 0 {
		layers = append(layers, chart.Candles{Candles: joined(candles, width)})
	}
	lines, panes := plotLayers(m)
	layers = append(layers, lines...)
	marks, err := p.fills(m)
	if err != nil {
		return c, err
	}
	layers = append(append(layers, p.levels(m)...), marks...)
	if len(layers) == 0 {
		return c, nil
	}
	axis := chart.Axis{}
	if margin := (p.high - p.low) / 12; p.low < p.high {
		axis.Low, axis.High = p.low-margin, p.high+margin
	}
	c.Panels = []chart.Panel{{Height: marketHeight, Y: axis, Layers: layers}}
	bars, err := volumes(m, width)
	if len(bars) > 0 {
		base, _, _ := strings.Cut(m.Market, "-")
		c.Panels = append(c.Panels, chart.Panel{Height: volumeHeight, Y: chart.Axis{Unit: base},
			Layers: []chart.Layer{chart.Bars{Name: "volume", Role: chart.Quiet, Bars: bars}}})
	}
	c.Panels = append(c.Panels, panes...)
	return c, err
}

// volumes are the traded amounts of the candles; none where nothing was traded.
func volumes(m *operator.Market, width int) (bars []chart.Bar, err error) {
	sum, each := 0.0, max(1, (len(m.Candles)*pixelsOfCandle+width-1)/width)
	for part := range slices.Chunk(m.Candles, each) {
		one := chart.Bar{From: float64(part[0].StartMS) / 1000,
			To: float64(part[len(part)-1].StartMS+m.SpanMS) / 1000}
		for i := range part {
			volume, err := strconv.ParseFloat(part[i].Volume, 64)
			if err != nil {
				return nil, fmt.Errorf("candle of %d: %w", part[i].StartMS, err)
			}
			one.Value += volume
		}
		sum += one.Value
		bars = append(bars, one)
	}
	if sum == 0 {
		return nil, nil
	}
	return bars, nil
}

// marketPicturePrices are the prices that a picture reaches over.
type marketPicturePrices struct{ low, high float64 }

func (p *marketPicturePrices) add(low, high float64) {
	p.low, p.high = min(p.low, low), max(p.high, high)
}

func (p *marketPicturePrices) candles(m *operator.Market) ([]chart.Candle, error) {
	list := make([]chart.Candle, 0, len(m.Candles))
	for i := range m.Candles {
		one := &m.Candles[i]
		var prices [4]float64
		for k, t := range [...]string{one.Open, one.High, one.Low, one.Close} {
			var err error
			if prices[k], err = strconv.ParseFloat(t, 64); err != nil {
				return nil, fmt.Errorf("candle of %d: %w", one.StartMS, err)
			}
		}
		from := float64(one.StartMS) / 1000
		list = append(list, chart.Candle{From: from, To: from + float64(m.SpanMS)/1000, Open: prices[0],
			High: prices[1], Low: prices[2], Close: prices[3]})
		p.add(prices[2], prices[1])
	}
	return list, nil
}

// joined joins candles where a picture has less than pixelsOfCandle for each.
func joined(candles []chart.Candle, width int) []chart.Candle {
	each := (len(candles)*pixelsOfCandle + width - 1) / width
	if each < 2 {
		return candles
	}
	list := make([]chart.Candle, 0, len(candles)/each+1)
	for part := range slices.Chunk(candles, each) {
		one := part[0]
		for _, c := range part[1:] {
			one.To, one.High, one.Low, one.Close = c.To, max(one.High, c.High), min(one.Low, c.Low), c.Close
		}
		list = append(list, one)
	}
	return list
}

// fills draws fills as marks.
func (p *marketPicturePrices) fills(m *operator.Market) (layers []chart.Layer, err error) {
	var buys, sells []chart.Point
	for i := range m.Fills {
		f := &m.Fills[i]
		price, err := strconv.ParseFloat(f.Price, 64)
		if err != nil {
			return nil, fmt.Errorf("fill of order %d: %w", f.Order, err)
		}
		p.add(price, price)
		at := chart.Point{X: float64(f.AtMS) / 1000, Y: price}
		if f.Side == "buy" {
			buys = append(buys, at)
		} else {
			sells = append(sells, at)
		}
	}
	if len(buys) > 0 {
		layers = append(layers, chart.Marks{Name: "bought", Shape: chart.Rising, Size: 12, Points: buys})
	}
	if len(sells) > 0 {
		layers = append(layers, chart.Marks{Name: "sold", Role: chart.Third, Shape: chart.Falling, Size: 12,
			Points: sells})
	}
	return layers, nil
}

// level is a price that is drawn as a line from a time on.
type level struct {
	name   string
	price  string
	role   chart.Role
	dashed bool
	since  int64
}

// levels draws the last price, open orders from their creation on, and the exits that the bot
// watches for, from their entry's first fill on. Triggers and watched exits are dashed. The picture
// grows for those that are near: far ones would flatten the candles.
func (p *marketPicturePrices) levels(m *operator.Market) (layers []chart.Layer) {
	near, named := *p, map[string]bool{}
	for _, l := range levelsOf(m) {
		at, err := strconv.ParseFloat(l.price, 64)
		if err != nil || l.since >= m.ToMS {
			continue
		}
		if reach := (near.high - near.low) / 2; at >= near.low-reach && at <= near.high+reach {
			p.add(at, at)
		}
		line := chart.Line{Role: l.role, Width: 1, Dashed: l.dashed, Points: []chart.Point{
			{X: float64(max(l.since, m.FromMS)) / 1000, Y: at}, {X: float64(m.ToMS) / 1000, Y: at}}}
		if name := l.name + " " + page.Number(l.price); !named[name] && len(named) < levelsNamed {
			named[name], line.Name = true, name
		}
		layers = append(layers, line)
	}
	return layers
}

// levelsOf lists the levels of a market.
func levelsOf(m *operator.Market) (list []level) {
	if m.Last != "" && len(m.Candles) > 0 {
		list = append(list, level{"last price", m.Last, chart.Quiet, false, m.FromMS})
	}
	for i := range m.Orders {
		o := &m.Orders[i]
		role := chart.Down
		if o.Side == "buy" {
			role = chart.Up
		}
		if o.Trigger != "" {
			list = append(list, level{"exit, " + o.Side, o.Trigger, role, true, o.CreatedMS})
		} else {
			list = append(list, level{"resting " + o.Side, o.Price, role, false, o.CreatedMS})
		}
	}
	for i := range m.Watched {
		w := &m.Watched[i]
		list = append(list, level{"watched " + watchedNames[w.Kind], w.Price, chart.Second, true, boughtMS(m, w.Entry)})
	}
	return list
}

// boughtMS is when an order was first filled, 0 where that was before the picture.
func boughtMS(m *operator.Market, order int64) int64 {
	for i := range m.Fills {
		if m.Fills[i].Order == order {
			return m.Fills[i].AtMS
		}
	}
	return 0
}

// plotLayers are the lines of strategies on the price, and the panes below it.
func plotLayers(m *operator.Market) (lines []chart.Layer, panes []chart.Panel) {
	place := map[string]int{}
	for i := range m.Plots {
		p := &m.Plots[i]
		if len(p.Points) == 0 {
			continue
		}
		points := make([]chart.Point, 0, len(p.Points))
		for _, one := range p.Points {
			points = append(points, chart.Point{X: float64(one.AtMS) / 1000, Y: one.Value})
		}
		role, dashed := chart.Series(i)
		name := p.Name + " of " + p.Strategy
		if p.Mark {
			if i >= mostOfMarks {
				name = ""
			}
			lines = append(lines, chart.Marks{Name: name, Role: role, Shape: chart.Diamond, Points: points})
			continue
		}
		line := chart.Line{Name: name, Role: role, Dashed: dashed, Points: points}
		if p.Pane == "" {
			lines = append(lines, line)
			continue
		}
		at, known := place[p.Pane]
		if !known {
			at = len(panes)
			place[p.Pane], panes = at, append(panes, chart.Panel{Height: paneHeight})
		}
		panes[at].Layers = append(panes[at].Layers, line)
	}
	return lines, panes
}
