package report

import (
	"cmp"
	"html/template"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view/page"
)

// The most that a report keeps of its round trips.
const (
	maxTrips    = 200_000 // in the table of the page: the latest; whole blocks
	block       = 1000    // trips that are kept in a row: a longer row would be copied as it grows
	maxReasons  = 40      // further ones are counted together
	withoutCode = 500     // rows of the table without its script: the largest
)

// A Trip is one round trip. Prices are averages without fees; money is of the account's currency.
type Trip struct {
	Market, Strategy int // places in Names
	Reason           string
	Entered, Exited  market.Time
	Entry, Exit      float64
	Amount           float64
	Fees, Profit     float64
	Return           float64 // profit as a part of what was paid
	Worst, Best      float64 // the furthest price below and above the entry while it was held, as a part of it
	Part             int     // of a position that was sold in several trips: its number, from 1; 0: sold at once
}

// held is how long the trip lasted, in seconds.
func (t *Trip) held() int64 { return int64(t.Exited-t.Entered) / 1e9 }

// kept is a trip with its reason's place.
type kept struct {
	Trip
	reason int
}

// Names are the names that the places in a Trip stand for. Digits are the decimals of prices,
// amounts and money by market.
type Names struct {
	Markets, Strategies         []string
	PriceDigits, AmountDigits   []uint8
	MoneyDigits                 uint8
	reasons                     []string
	places                      map[string]int
	priceScale, amountScale     []int
	moneyScale, feeScale        int
	highestPrice, highestAmount []float64
	highestProfit, highestFee   float64
}

// Trips collects the round trips of a run: the latest ones, and sums over all.
type Trips struct {
	Names
	ring  [][]kept // blocks
	seen  int
	parts int // trips that sold a part of a position
	sums  [kinds][]Sum
}

// NewTrips begins the collection.
func NewTrips(n Names) *Trips {
	t := &Trips{Names: n}
	t.places = make(map[string]int)
	t.highestPrice, t.highestAmount = make([]float64, len(n.Markets)), make([]float64, len(n.Markets))
	t.sums[byMarket], t.sums[byStrategy] = named(n.Markets), named(n.Strategies)
	t.sums[byWeekday], t.sums[byHour] = named(weekdays()), named(hours())
	t.sums[byDuration] = named(durations())
	return t
}

// Add adds the next trip.
func (t *Trips) Add(trip Trip) {
	one := kept{trip, t.reason(trip.Reason)}
	place := t.seen % maxTrips
	if place/block == len(t.ring) {
		t.ring = append(t.ring, make([]kept, block))
	}
	t.ring[place/block][place%block] = one
	t.seen++
	if trip.Part > 0 {
		t.parts++
	}
	t.count(&one)
	m := trip.Market
	t.highestPrice[m] = max(t.highestPrice[m], trip.Entry, trip.Exit)
	t.highestAmount[m] = max(t.highestAmount[m], trip.Amount)
	t.highestProfit = max(t.highestProfit, math.Abs(trip.Profit))
	t.highestFee = max(t.highestFee, trip.Fees)
}

// reason is the place of a reason, begun where it is new.
func (t *Trips) reason(name string) int {
	if i, found := t.places[name]; found {
		return i
	}
	if len(t.reasons) == maxReasons {
		name = "(other reasons)"
		if i, found := t.places[name]; found {
			return i
		}
	}
	t.places[name] = len(t.reasons)
	t.reasons = append(t.reasons, name)
	t.sums[byReason] = append(t.sums[byReason], Sum{Name: name})
	return len(t.reasons) - 1
}

// list returns the kept trips by market, and within a market by their exits: neighbours are alike
// there, which packs well.
func (t *Trips) list() []*kept {
	list := make([]*kept, min(t.seen, maxTrips))
	for i := range list {
		list[i] = &t.ring[i/block][i%block]
	}
	order := func(a, b *kept) int {
		return cmp.Or(cmp.Compare(a.Market, b.Market), cmp.Compare(a.Exited, b.Exited),
			cmp.Compare(a.Entered, b.Entered))
	}
	if !slices.IsSortedFunc(list, order) { // one market is sorted
		slices.SortStableFunc(list, order)
	}
	return list
}

// largest are the trips with the largest profits and losses, the latest first.
func largest(list []*kept) []*kept {
	out, sizes := make([]*kept, 0, withoutCode), newBySize(list)
	for range min(len(list), withoutCode) {
		out = append(out, list[sizes.next()])
	}
	slices.SortStableFunc(out, func(a, b *kept) int { return cmp.Compare(b.Exited, a.Exited) })
	return out
}

// readable is the number of decimals, at least two of those that there are, with which a number as
// large as this has up to seven digits.
func readable(largest float64, digits uint8) int {
	for digits > 2 && largest*math.Pow10(int(digits)) >= 1e7 {
		digits--
	}
	return fitting(largest, int(digits))
}

// fitting is the number of decimals, of those that there are, with which a page holds a number as
// large as this. Below zero, its last digits before the point are left out too.
func fitting(largest float64, digits int) int {
	for largest*math.Pow10(digits) > mostHeld {
		digits--
	}
	return digits
}

// mostHeld is the largest number that a page holds.
const mostHeld = 1 << 53

// scales chooses the decimals of the columns.
func (t *Trips) scales() {
	t.priceScale, t.amountScale = make([]int, len(t.Markets)), make([]int, len(t.Markets))
	for m := range t.Markets {
		// an average price has more decimals than the market's prices
		t.priceScale[m] = readable(t.highestPrice[m], t.PriceDigits[m]+2)
		t.amountScale[m] = readable(t.highestAmount[m], t.AmountDigits[m])
	}
	t.moneyScale = readable(t.highestProfit, t.MoneyDigits)
	t.feeScale = readable(t.highestFee, t.MoneyDigits)
}

// percentDigits are the decimals of percentages.
const percentDigits = 2

// head describes a packed column to the script; see page.js.
type head struct {
	Key    string   `json:"key"`
	Title  string   `json:"title,omitempty"` // empty: not shown
	Kind   string   `json:"kind"`
	Digits any      `json:"digits,omitempty"` // a number, or numbers by the value of the column By
	By     string   `json:"by,omitempty"`
	Names  []string `json:"names,omitempty"`
	Sign   bool     `json:"sign,omitempty"`
}

// table is the head of a packed table.
type table struct {
	Columns []head `json:"columns"`
	Sort    string `json:"sort"`
	Gain    string `json:"gain"`  // the column that says what was won
	Place   bool   `json:"place"` // a row has a place in the chart
}

// column is a column of the table of trips.
type column struct {
	head
	steps bool
	value func(*kept) int64
	text  func(*kept) string
}

// scaled is a number in units of its last decimal; at most what a page holds.
func scaled(x float64, digits int) int64 {
	return int64(min(max(math.Round(x*math.Pow10(digits)), -mostHeld), mostHeld))
}

// columns are the columns of the table, in their order.
func (t *Trips) columns() []column {
	t.scales()
	price := func(key, title string, of func(*kept) float64) column {
		return column{head{Key: key, Title: title, Kind: "number", Digits: t.priceScale, By: "market"}, true,
			func(k *kept) int64 { return scaled(of(k), t.priceScale[k.Market]) },
			func(k *kept) string { return decimal(of(k), t.priceScale[k.Market]) }}
	}
	percent := func(key, title string, sign bool, of func(*kept) float64) column {
		return column{head{Key: key, Title: title, Kind: "number", Digits: percentDigits, Sign: sign}, false,
			func(k *kept) int64 { return scaled(100*bounded(of(k)), percentDigits) },
			func(k *kept) string { return decimal(100*bounded(of(k)), percentDigits) }}
	}
	money := func(key, title string, digits int, sign bool, of func(*kept) float64) column {
		return column{head{Key: key, Title: title, Kind: "number", Digits: digits, Sign: sign}, false,
			func(k *kept) int64 { return scaled(of(k), digits) }, func(k *kept) string {
				return decimal(of(k),
					digits)
			}}
	}
	list := []column{
		{head{Key: "market", Title: "market", Kind: "name", Names: t.Markets}, true,
			func(k *kept) int64 { return int64(k.Market) }, func(k *kept) string { return t.Markets[k.Market] }},
		{head{Key: "strategy", Title: "strategy", Kind: "name", Names: t.Strategies}, true,
			func(k *kept) int64 { return int64(k.Strategy) }, func(k *kept) string { return t.Strategies[k.Strategy] }},
		{head{Key: "entered", Title: "entered, UTC", Kind: "time"}, true,
			func(k *kept) int64 { return int64(k.Entered) / 1e9 }, func(k *kept) string { return moment(k.Entered) }},
		price("entry", "price", func(k *kept) float64 { return k.Entry }),
		{head{Key: "held", Title: "held", Kind: "span"}, false,
			func(k *kept) int64 { return k.held() }, func(k *kept) string { return span(k.held()) }},
		price("exit", "exit price", func(k *kept) float64 { return k.Exit }),
		{head{Key: "amount", Title: "amount", Kind: "number", Digits: t.amountScale, By: "market"}, false,
			func(k *kept) int64 { return scaled(k.Amount, t.amountScale[k.Market]) },
			func(k *kept) string { return decimal(k.Amount, t.amountScale[k.Market]) }},
		money("fees", "fees", t.feeScale, false, func(k *kept) float64 { return k.Fees }),
		money("profit", "profit", t.moneyScale, true, func(k *kept) float64 { return k.Profit }),
		percent("return", "return, %", true, func(k *kept) float64 { return k.Return }),
		percent("worst", "MAE, %", false, func(k *kept) float64 { return k.Worst }),
		percent("best", "MFE, %", false, func(k *kept) float64 { return k.Best }),
		{head{Key: "reason", Title: "reason", Kind: "name", Names: t.reasons}, true,
			func(k *kept) int64 { return int64(k.reason) }, func(k *kept) string { return t.reasons[k.reason] }},
		{head{Key: "part", Title: "part", Kind: "count"}, true,
			func(k *kept) int64 { return int64(k.Part) }, func(k *kept) string { return count(k.Part) }},
	}
	if len(t.Strategies) < 2 {
		list[1].Title = ""
	}
	if t.parts == 0 {
		list[len(list)-1].Title = ""
	}
	return list
}

// bounded keeps a return within what a page holds.
func bounded(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, -1e9), 1e9)
}

// pack packs the trips.
func (t *Trips) pack(list []*kept) (page.Data, error) {
	h := table{Sort: "entered", Gain: "profit", Place: true}
	var packed []*page.Column
	values := make([]int64, len(list))
	for _, c := range t.columns() {
		h.Columns = append(h.Columns, c.head)
		for i, k := range list {
			values[i] = c.value(k)
		}
		packed = append(packed, page.Values(values, c.steps))
	}
	data, err := page.Pack(h, packed...)
	return page.Data{ID: "trips", Packed: data}, err
}

// rows are the largest trips as text.
func (t *Trips) rows(list []*kept) (titles []string, rows template.HTML) {
	var out []byte
	columns := t.columns()
	columns = slices.DeleteFunc(columns, func(c column) bool { return c.Title == "" })
	begins := make([]string, len(columns))
	for i, c := range columns {
		titles = append(titles, c.Title)
		begins[i] = `<td data-l="` + template.HTMLEscapeString(c.Title) + `"`
	}
	for _, k := range largest(list) {
		out = append(out, "<tr>"...)
		for i := range columns {
			c := &columns[i]
			out = append(out, begins[i]...)
			if c.Sign {
				out = append(append(append(out, ` class="`...), sign(float64(c.value(k)))...), '"')
			}
			out = append(append(append(out, '>'), template.HTMLEscapeString(c.text(k))...), "</td>"...)
		}
		out = append(out, "</tr>\n"...)
	}
	return titles, template.HTML(out)
}
