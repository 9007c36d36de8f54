package report

import (
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view/page"
)

//go:embed report.html
var body string

// Run is the content of the page of a run. Texts are written as they are.
type Run struct {
	Title, Currency string
	From, To        market.Time
	Synthetic       bool
	Warnings        []string
	Tries           []string // what the run is worth after all tries, a line each
	Strategies      []Strategy
	Cards           []Card
	Assumptions     []string // the most important first
	Figures         []Figure
	Months          []Month
	Refusals        Grid
	Queue           Grid // counts of orders in recorded books; no rows: limit_fill is not "queue"
	Data, Rules     Grid
	Universe        []string // a line each
	Delisted        Grid
	Definitions     []Pair
	Identity        []Pair
	Files           []string
	BuyAndHold
	Curves
	Envelopes
}

// Envelopes are the results of the run under other assumptions.
type Envelopes struct {
	Envelope     Grid // by path of the candles
	EnvelopeNote string
	Late         Grid // by delay of the signals; empty: there are none
}

// BuyAndHold is what a run is compared with.
type BuyAndHold struct {
	Hold       []Sample // equity of buy and hold, where it is not one market's
	HoldMarket int      // otherwise the place of its market, when it was bought,
	HoldFrom   market.Time
	HoldScale  float64 // and its equity by the market's price; 0: no such market
	HoldNote   string  // how buy and hold was computed
}

// Curves are what the pictures of a run show.
type Curves struct {
	Equity []Sample // the first is the start
	Days   []Day
	Falls  Grid
	Deep   []Fall // those of Falls, the deepest first
	Trips  *Trips
	Stops  []Stop
	Lines  []Line
	Marks  []Mark
	// Candles are the series that the page may show.
	Candles []Candles
}

// A Strategy is a strategy with its parameters as text.
type Strategy struct {
	Name, Kind, Params string
	Began              string // when its markets began, as a sentence; empty: nothing to say
}

// Card, Pair and Grid are parts of every page.
type (
	Card = page.Card
	Pair = page.Pair
	Grid = page.Grid
)

// A Figure is a row of the table of figures. Below says that it is about the one above.
type Figure struct {
	Name, Value, Hold string
	Below             bool
}

// A Month is the return of a calendar month; Month is 1 to 12.
type Month struct {
	Year, Month int
	Return      float64
}

// view is the data of the template.
type view struct {
	*Run
	drawings
	Contents                                []Pair // the ids and titles of the sections
	Window                                  int
	Markets                                 []marketPicture
	MarketsNote                             string
	Years                                   []year
	Still                                   int // days without a change
	TripTitles                              []string
	TripRows                                template.HTML
	TripsSeen, TripsKept, TripsShown, Parts int
	Breakdowns                              []breakdown
	CandleIDs                               string
	HasStops, HasMarks, HasLines            bool
}

// drawings are the pictures of a view; those that cannot be drawn are empty.
type drawings struct {
	EquityPicture, LogPicture       page.Picture
	MonthsPicture, FallsPicture     page.Picture
	Exposure, Rolling, Distribution page.Picture
	MonthsNote                      string // the worst months, and the best
}

// Write writes the page.
func (r *Run) Write(w io.Writer) error {
	list := r.Trips.list()
	trips, err := r.Trips.pack(list)
	if err != nil {
		return err
	}
	shown, err := r.series(list, len(trips.Packed))
	if err != nil {
		return err
	}
	v := view{Run: r, Years: years(r.Months), TripsSeen: r.Trips.seen, TripsKept: len(list),
		TripsShown: min(len(list), withoutCode), Parts: r.Trips.parts,
		Breakdowns: r.Trips.breakdowns(), MarketsNote: said(shown, len(r.Candles))}
	v.TripTitles, v.TripRows = r.Trips.rows(list)
	if err := v.draw(shown, list); err != nil {
		return err
	}
	v.Contents = v.contents()
	d := page.Document{Title: r.Title + " – backtest", Data: []page.Data{trips}}
	d.Data = v.pack(d.Data, shown)
	if d.Body, err = v.html(); err != nil {
		return err
	}
	return d.Write(w)
}

// The size of a page: what it may have in all, without the trips and about as many bytes as a
// packed bar has.
const (
	maxSize  = 4_900_000
	rest     = 600_000 // pictures, tables, script
	perBar   = 10      // as text
	fromText = 4       // four letters of text
	perBytes = 3       // for three bytes
)

// series reads the candles of the page. The more room the trips take, the fewer single candles
// there are.
func (r *Run) series(list []*kept, tripBytes int) ([]*series, error) {
	room := (maxSize-rest-tripBytes*fromText/perBytes)/perBar - maxWhole
	shown := r.plan(list, max(room, 0))
	for _, s := range shown {
		if err := s.read(r.Trips.PriceDigits[s.Market]); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

// draw draws the pictures.
func (v *view) draw(shown []*series, list []*kept) (err error) {
	if v.EquityPicture, err = v.equityPicture(shown, false); err != nil {
		return err
	}
	if v.rising() {
		if v.LogPicture, err = v.equityPicture(shown, true); err != nil {
			return err
		}
	}
	if v.MonthsPicture, err = v.monthsPicture(); err != nil {
		return err
	}
	if v.FallsPicture, err = v.fallsPicture(); err != nil {
		return err
	}
	if v.Exposure, err = v.exposurePicture(); err != nil {
		return err
	}
	if v.Window = windowOf(len(v.Days)); v.Window > 0 {
		if v.Rolling, err = v.rollingPicture(v.Window); err != nil {
			return err
		}
	}
	if v.Distribution, v.Still, err = v.distributionPicture(); err != nil {
		return err
	}
	v.Markets, err = v.marketPictures(shown, list)
	return err
}

// pack packs what the chart draws.
func (v *view) pack(data []page.Data, shown []*series) []page.Data {
	var ids []string
	for _, s := range shown {
		if s.whole.count == 0 {
			continue
		}
		one := s.pack(fmt.Sprintf("candles-%d", len(ids)), &v.Trips.Names)
		ids, data = append(ids, one.ID), append(data, one)
	}
	v.CandleIDs = strings.Join(ids, " ")
	if len(ids) == 0 {
		return data
	}
	data = append(data, v.packCurve())
	if v.HasStops = len(v.Stops) > 0; v.HasStops {
		data = append(data, v.packStops())
	}
	if v.HasMarks = len(v.Marks) > 0; v.HasMarks {
		data = append(data, v.packMarks())
	}
	if v.HasLines = len(v.Lines) > 0; v.HasLines {
		data = append(data, v.packLines())
	}
	return data
}

// contents are the sections of the page that a reader looks for.
func (v *view) contents() (list []Pair) {
	add := func(has bool, id, title string) {
		if has {
			list = append(list, Pair{Name: id, Text: title})
		}
	}
	add(true, "equity", "Equity")
	add(true, "figures", "Figures")
	add(len(v.Years) > 0, "months", "Months")
	add(len(v.Falls.Rows) > 0, "drawdowns", "Drawdowns")
	add(v.Rolling.Wide != "", "rolling", "Rolling")
	add(v.Distribution.Wide != "", "days", "Days")
	add(true, "exposure", "Exposure")
	add(true, "assumptions", "Assumptions")
	add(v.CandleIDs != "", "price", "Price")
	add(true, "round-trips", "Round trips")
	add(true, "data", "Data")
	return list
}

// html is the body of the page.
func (v *view) html() (template.HTML, error) {
	t, err := page.Template(body, template.FuncMap{"date": date, "whole": whole})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.Grow(rest)
	err = t.Execute(&out, v)
	return template.HTML(out.String()), err
}
