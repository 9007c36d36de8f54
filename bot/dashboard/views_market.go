package dashboard

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/bot/books"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/chart"
	"github.com/tidemark-trading/tidemark/page"
)

const (
	leastRange   = 60_000 // milliseconds of a picture
	columnsWide  = 560    // candles of a wide picture, two pixels each
	widthWide    = 1120
	widthNarrow  = 400
	levelsShown  = 10 // of each side of a book
	fillsShown   = 200
	mostOfMarks  = 6 // texts of marks that have a name in the picture
	paneHeight   = 110
	marketHeight = 380
)

// MarketView is the page of a market.
type MarketView struct {
	Sections
	FromMS, ToMS       int64
	Market, Interval   string
	Markets, Intervals []string
	Zooms              []Link // to other times
	Picture            page.Picture
	Legend             string
}

// MarketOf makes the page of a market.
func MarketOf(m *operator.Market, zone *time.Location) (*MarketView, error) {
	view := &MarketView{FromMS: m.FromMS, ToMS: m.ToMS, Market: m.Market, Interval: m.Interval, Zooms: zooms(m)}
	for _, s := range m.Series {
		view.Markets = append(view.Markets, s.Market)
		if s.Market == m.Market {
			view.Intervals = s.Intervals
		}
	}
	var err error
	if view.Picture.Wide, err = marketPicture(m, widthWide); err != nil {
		return nil, err
	}
	if view.Picture.Narrow, err = marketPicture(m, widthNarrow); err != nil {
		return nil, err
	}
	view.Legend = fmt.Sprintf("%s to %s UTC. Drag over the picture to zoom. Its times are UTC.",
		moment(m.FromMS, time.UTC), moment(m.ToMS, time.UTC))
	if m.Note != "" {
		view.Legend += " " + m.Note
	}
	resting := orderTable("Resting orders", "No order rests in this market.")
	for i := range m.Orders {
		resting.Rows = append(resting.Rows, orderRow(&m.Orders[i], zone))
	}
	view.Tables = []Table{resting}
	if m.Book != nil {
		view.Tables = append(view.Tables, bookTable(m.Book, zone))
	}
	view.Tables = append(view.Tables, fillTable(m, zone))
	return view, nil
}

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
		t.Rows = append(t.Rows, row(Cell{Text: fmt.Sprint(f.Order), Path: fmt.Sprintf("order?order=%d", f.Order),
			Class: "left"}, text(moment(f.AtMS, zone)), left(f.Strategy), text(f.Side), text(f.Amount),
			text(books.Brief(f.Price))))
	}
	return t
}

// zooms are the links around the time of a picture.
func zooms(m *operator.Market) (links []Link) {
	long := m.ToMS - m.FromMS
	link := func(title string, from, to int64) {
		from = max(0, from)
		links = append(links, Link{title, "market?" + url.Values{"market": {m.Market}, "interval": {m.Interval},
			"from": {fmt.Sprint(from)}, "to": {fmt.Sprint(max(to, from+leastRange))}}.Encode()})
	}
	quarter, middle := max(long/4, leastRange/2), m.FromMS+long/2
	link("Zoom in", middle-quarter, middle+quarter)
	link("Zoom out", middle-long, middle+long)
	link("Earlier", m.FromMS-long/2, m.ToMS-long/2)
	link("Later", m.FromMS+long/2, m.ToMS+long/2)
	end := cmp.Or(m.EndMS, m.ToMS)
	for _, span := range []struct {
		title string
		hours int64
	}{{"Hour", 1}, {"Day", 24}, {"Week", 7 * 24}, {"Month", 30 * 24}} {
		link(span.title, end-span.hours*3_600_000, end)
	}
	if m.EndMS != 0 {
		link("All", m.FirstMS, end)
	}
	return links
}

// marketPicture draws a market for a width of a screen in pixels.
func marketPicture(m *operator.Market, width int) (template.HTML, error) {
	c, err := marketChart(m, width)
	if err != nil {
		return "", err
	}
	if len(c.Panels) == 0 {
		return "There is nothing to draw in this time.", nil
	}
	element, err := c.Element()
	return template.HTML(element), err
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
		layers = append(layers, chart.Candles{Candles: candles})
	}
	lines, panes := plotLayers(m)
	layers = append(layers, lines...)
	layers = append(layers, restingLayers(m)...)
	marks, err := p.fills(m)
	if err != nil {
		return c, err
	}
	if layers = append(layers, marks...); len(layers) == 0 {
		return c, nil
	}
	axis := chart.Axis{}
	if margin := (p.high - p.low) / 12; p.low < p.high { // prices decide; far orders do not flatten the candles
		axis.Low, axis.High = p.low-margin, p.high+margin
	}
	c.Panels = append([]chart.Panel{{Height: marketHeight, Y: axis, Layers: layers}}, panes...)
	return c, nil
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
		layers = append(layers, chart.Marks{Name: "bought", Shape: chart.Rising, Size: 9, Points: buys})
	}
	if len(sells) > 0 {
		layers = append(layers, chart.Marks{Name: "sold", Role: chart.Third, Shape: chart.Falling, Size: 9,
			Points: sells})
	}
	return layers, nil
}

// restingLayers draws open orders as lines from their creation on: prices, and triggers of exits
// dashed.
func restingLayers(m *operator.Market) (layers []chart.Layer) {
	named := map[string]bool{}
	add := func(name, price string, role chart.Role, dashed bool, since int64) {
		at, err := strconv.ParseFloat(price, 64)
		if err != nil || since >= m.ToMS {
			return
		}
		line := chart.Line{Role: role, Width: 1, Dashed: dashed, Points: []chart.Point{
			{X: float64(max(since, m.FromMS)) / 1000, Y: at}, {X: float64(m.ToMS) / 1000, Y: at}}}
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

// plotLayers are the lines of strategies on the price, and the panes below it.
func plotLayers(m *operator.Market) (lines []chart.Layer, panes []chart.Panel) {
	roles := [...]chart.Role{chart.Main, chart.Second, chart.Third, chart.Quiet}
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
		role, name := roles[i%len(roles)], p.Name+" of "+p.Strategy
		if p.Mark {
			if i >= mostOfMarks {
				name = ""
			}
			lines = append(lines, chart.Marks{Name: name, Role: role, Shape: chart.Diamond, Points: points})
			continue
		}
		line := chart.Line{Name: name, Role: role, Points: points}
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
