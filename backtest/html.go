package backtest

import (
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"math"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/chart"
	"github.com/tidemark-trading/tidemark/market"
)

// The parts of report.html, written by hand.
var (
	//go:embed page/page.html
	pageTemplate string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string
)

// page is the data of the template beside the Result.
type page struct {
	*Result
	Style    template.CSS
	Picture  template.HTML
	Script   template.JS // empty: ScriptURL
	URL      string
	Options  template.JS
	Numbers  template.JS
	Code     template.JS
	Years    []year
	Latest   []listedTrip
	BarOf    int    // candles in a bar of the chart
	Interval string // of those candles
	OneIn    int    // one in so many round trips is drawn
	Plots    []plotPicture
	Panes    []string // of the charted market
}

// year is a row of the months' table.
type year struct {
	Year   int
	Months [12]Figure
	Tints  [12]template.CSS
	Total  Figure
}

// listedTrip is a row of the table of the latest round trips.
type listedTrip struct {
	Market, Entered, Entry, Exited, Exit, Amount, Fees, PnL, Reason string
	Won                                                             bool
}

// page writes report.html.
func (r *recorder) page(t *table, res *Result) error {
	assets, err := ParseAssets(r.cfg.Assets)
	if err != nil {
		return err
	}
	script, err := assets.script()
	if err != nil {
		return err
	}
	bars, each := r.bars.all()
	drawing, err := picture(equityPoints(res), r.holdPoints(bars), res.Currency)
	if err != nil {
		return err
	}
	options, err := chartOptions(res, r.plots)
	if err != nil {
		return err
	}
	plotted, err := r.plotPictures(bars)
	if err != nil {
		return err
	}
	whole, err := template.New("report").Parse(pageTemplate)
	if err != nil {
		return err
	}
	return whole.Execute(t, page{
		Result: res, Style: template.CSS(chart.Style() + pageStyle), Picture: template.HTML(drawing),
		Script: template.JS(script), URL: assets.URL,
		Options: template.JS(options), Numbers: template.JS(r.pageData(res, bars)), Code: template.JS(pageScript),
		Years: years(res.Months), Latest: r.latest(), BarOf: each, Interval: r.cfg.ChartInterval.String(),
		OneIn: max(r.drawn.each, 1), Plots: plotted, Panes: r.plots.panes(r.cfg.Chart),
	})
}

func equityPoints(res *Result) []chart.Point {
	points := make([]chart.Point, 0, len(res.curve)+1)
	points = append(points, chart.Point{X: float64(res.From) / 1e9, Y: res.Performance.Start.Float()})
	for _, s := range res.curve {
		points = append(points, chart.Point{X: float64(s.at) / 1e9,
			Y: Amount{s.equity, res.Performance.Start.Digits}.Float()})
	}
	return points
}

// holdPoints is the equity of buy and hold at the end of every bar.
func (r *recorder) holdPoints(bars []bar) []chart.Point {
	points := make([]chart.Point, 0, len(bars))
	for _, b := range bars {
		points = append(points, chart.Point{X: float64(b.end) / 1e9, Y: r.holdScale() * float64(b.close)})
	}
	return points
}

// holdScale is the worth of a held unit of the charted market's price, for drawing.
func (r *recorder) holdScale() float64 {
	return r.amount(r.cfg.Start).Float() /
		(float64(r.prices.open) * (1 + float64(r.cfg.Fees.Taker)/float64(market.Pow10(market.RateDigits))))
}

// pageData returns the numbers of the charts as a JavaScript object of arrays: times in Unix
// seconds, prices as decimals.
func (r *recorder) pageData(res *Result, bars []bar) []byte {
	out := append(make([]byte, 0, 64*(len(bars)+len(res.curve)+len(r.drawn.held))), `{"hold":`...)
	out = append(appendShort(out, r.chartHold()), `,"start":`...)
	out = append(appendShort(out, res.Performance.Start.Float()), `,"from":`...)
	out = append(strconv.AppendInt(out, int64(res.From)/1e9, 10), `,"bars":[`...)
	var digits uint8
	if r.cfg.Chart != 0 {
		digits = r.cfg.Catalog.Market(r.cfg.Chart).PriceDigits
	}
	for i, b := range bars {
		out = appendBar(comma(out, i), b, digits)
	}
	out = append(out, `],"equity":[`...)
	for i, s := range res.curve {
		out = append(strconv.AppendInt(append(comma(out, i), '['), int64(s.at)/1e9, 10), ',')
		out = append(appendShort(out, Amount{s.equity, res.Performance.Start.Digits}.Float()), ']')
	}
	out = append(out, `],"trips":[`...)
	for i := range r.drawn.held {
		out = appendMarker(comma(out, i), &r.drawn.held[i])
	}
	out = append(out, `],"months":[`...)
	for i, m := range res.Months {
		out = appendShort(comma(out, i), math.Round(float64(m.Return)*1e4)/1e2)
	}
	out = append(out, ']')
	if !r.plots.empty() {
		out = r.plots.appendData(out, r.cfg.ChartInterval)
	}
	return append(out, '}')
}

// chartHold is the factor from a bar's close to the equity of holding; 0 without a charted market.
func (r *recorder) chartHold() float64 {
	if !r.prices.seen {
		return 0
	}
	return r.holdScale() * float64(market.Pow10(r.cfg.Catalog.Market(r.cfg.Chart).PriceDigits))
}

func comma(out []byte, i int) []byte {
	if i == 0 {
		return out
	}
	return append(out, ',')
}

// appendBar appends [start, open, close, low, high, end], the order of prices that ECharts wants.
func appendBar(out []byte, b bar, digits uint8) []byte {
	out = append(out, '[')
	out = append(strconv.AppendInt(out, int64(b.start)/1e9, 10), ',')
	for _, price := range [...]market.Price{b.open, b.close, b.low, b.high} {
		out = append(market.AppendFixed(out, int64(price), digits), ',')
	}
	return append(strconv.AppendInt(out, int64(b.end)/1e9, 10), ']')
}

// appendMarker appends [entry time, entry price, exit time, exit price, pnl, 1 where it belongs to
// the charted market].
func appendMarker(out []byte, m *marker) []byte {
	out = append(strconv.AppendInt(append(out, '['), int64(m.entered)/1e9, 10), ',')
	out = append(appendShort(out, m.entryPrice), ',')
	out = append(strconv.AppendInt(out, int64(m.exited)/1e9, 10), ',')
	out = append(appendShort(out, m.exitPrice), ',')
	out = append(appendShort(out, m.pnl), ',')
	if m.charted {
		return append(out, "1]"...)
	}
	return append(out, "0]"...)
}

// appendShort appends a number with seven significant digits; NaN and infinity become null.
func appendShort(out []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(out, "null"...)
	}
	return strconv.AppendFloat(out, x, 'g', 7, 64)
}

// years arranges the months in rows, with the return of the whole year.
func years(months []Month) []year {
	var rows []year
	growth := 1.0
	for _, m := range months {
		if len(rows) == 0 || rows[len(rows)-1].Year != m.Year {
			rows, growth = append(rows, newYear(m.Year)), 1
		}
		y := &rows[len(rows)-1]
		growth *= 1 + float64(m.Return)
		y.Months[m.Month-1], y.Tints[m.Month-1], y.Total = m.Return, tint(m.Return), Figure(growth-1)
	}
	return rows
}

func newYear(n int) year {
	y := year{Year: n}
	for i := range y.Months {
		y.Months[i] = undefined()
	}
	return y
}

// tint is the background of a month: stronger for a larger return, full at 20 %.
func tint(f Figure) template.CSS {
	colour := "var(--up)"
	if f < 0 {
		colour = "var(--down)"
	}
	strength := min(math.Abs(float64(f))/0.2, 1) * 45
	if !f.Defined() {
		strength = 0
	}
	return template.CSS(fmt.Sprintf("background:color-mix(in srgb, %s %.0f%%, transparent)", colour, strength))
}

// latest formats the newest round trips.
func (r *recorder) latest() []listedTrip {
	var rows []listedTrip
	for _, s := range r.drawn.latest() {
		m, t := s.market, &s.trip
		rows = append(rows, listedTrip{
			Market: m.Name, Reason: t.tag(), Amount: m.FormatQty(t.amount),
			Entered: t.entered.Std().Format(time.DateTime), Exited: t.exited.Std().Format(time.DateTime),
			Entry: string(appendAverage(nil, m, t.cost, t.amount)),
			Exit:  string(appendAverage(nil, m, t.proceeds, t.amount)),
			Fees:  m.FormatValue(t.fees), PnL: m.FormatValue(s.pnl), Won: s.pnl.Sign() > 0,
		})
	}
	return rows
}
