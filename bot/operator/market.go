package operator

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// The bounds of an answer about a market.
const (
	MaxColumns = 2_000  // candles of an answer: more are merged
	maxFills   = 10_000 // fills of an answer, the latest
	fillLooks  = 50_000 // fills that are looked at, also of other markets
	showFirst  = 300    // candles where no time was asked for
)

// MarketQuery says which picture of a market is asked for.
type MarketQuery struct {
	Market   string `json:"market,omitempty"`   // empty: the first one
	Interval string `json:"interval,omitempty"` // of candles; empty: the shortest that the strategies get
	FromMS   int64  `json:"from_ms,omitempty"`  // with ToMS; 0: the latest candles
	ToMS     int64  `json:"to_ms,omitempty"`
	LongMS   int64  `json:"long_ms,omitempty"` // so much time up to now, where FromMS and ToMS are 0
	Columns  int    `json:"columns,omitempty"` // most candles; 0: MaxColumns
}

// Market is a bot's data of a market in a time, as a program reads it.
type Market struct {
	profit.Answer
	Market   string         `json:"market"`
	Interval string         `json:"interval,omitempty"` // of candles; empty: no strategy gets candles of the market
	Series   []MarketSeries `json:"series"`             // what can be asked for
	FromMS   int64          `json:"from_ms"`
	ToMS     int64          `json:"to_ms"`
	// FirstMS and EndMS are the reach of the candles that are there.
	FirstMS int64 `json:"first_ms,omitempty"`
	EndMS   int64 `json:"end_ms,omitempty"`
	// SpanMS is how much time a candle of Candles covers: several of the interval are merged where
	// there are more than columns.
	SpanMS  int64        `json:"span_ms,omitempty"`
	Candles []Candle     `json:"candles"`
	Fills   []MarketFill `json:"fills"`  // own ones in the time
	Orders  []OrderRow   `json:"orders"` // own open ones, now
	Watched []Watched    `json:"watched,omitempty"`
	Plots   []Plot       `json:"plots,omitempty"`
	Book    *Book        `json:"book,omitempty"` // the latest, where a strategy needs books
	Last    string       `json:"last,omitempty"` // the latest price
	Note    string       `json:"note,omitempty"` // on what is not there
}

// MarketSeries is a market with the intervals of its candles.
type MarketSeries struct {
	Market    string   `json:"market"`
	Intervals []string `json:"intervals"` // the shortest first
}

// Candle is a candle, or several merged into one.
type Candle struct {
	StartMS int64  `json:"start_ms"`
	Open    string `json:"open"`
	High    string `json:"high"`
	Low     string `json:"low"`
	Close   string `json:"close"`
	Volume  string `json:"volume"` // of the base
}

// MarketFill is an own fill.
type MarketFill struct {
	AtMS     int64  `json:"at_ms"`
	Order    int64  `json:"order"`
	Strategy string `json:"strategy"`
	Side     string `json:"side"`
	Amount   string `json:"amount"`
	Price    string `json:"price"`
}

// Watched is an exit that does not rest at the exchange: the running bot watches for its price.
type Watched struct {
	Strategy string `json:"strategy"`
	Entry    int64  `json:"entry"`  // number of the order whose position it sells
	Kind     string `json:"kind"`   // stop, target or part: a partial target
	Amount   string `json:"amount"` // at most
	Price    string `json:"price"`
}

// Plot is a line that a strategy plots, or marks of one text.
type Plot struct {
	Strategy string      `json:"strategy"`
	Name     string      `json:"name"`
	Pane     string      `json:"pane,omitempty"` // below the price; empty: on it
	Mark     bool        `json:"mark,omitempty"`
	Points   []PlotPoint `json:"points"`
}

// PlotPoint is a value of a plot.
type PlotPoint struct {
	AtMS  int64   `json:"at_ms"`
	Value float64 `json:"value"` // of the price, or of a pane; of a mark, the price then
}

// Book is an order book, the best level first.
type Book struct {
	AtMS int64   `json:"at_ms"` // when it came
	Bids []Level `json:"bids"`
	Asks []Level `json:"asks"`
}

// Level is a price of a book.
type Level struct {
	Price  string `json:"price"`
	Amount string `json:"amount"`
}

// Check checks a query. Its error is a config.UsageError.
func (q *MarketQuery) Check() error {
	switch {
	case (q.FromMS != 0 || q.ToMS != 0) && q.ToMS <= q.FromMS:
		return config.Usagef("a time from %d to %d ms: want one that ends after it begins", q.FromMS, q.ToMS)
	case q.LongMS < 0 || q.LongMS > 0 && q.ToMS != 0:
		return config.Usagef("the last %d ms: want a time above 0, and no from and to beside it", q.LongMS)
	case q.FromMS < 0 || max(q.ToMS, q.LongMS) > math.MaxInt64/2_000_000:
		return config.Usagef("a time from %d to %d ms: want Unix milliseconds", q.FromMS, q.ToMS)
	case q.Columns < 0 || q.Columns > MaxColumns:
		return config.Usagef("%d columns: want 1 to %d", q.Columns, MaxColumns)
	}
	return nil
}

// AskMarket asks for the picture of a market. A bot that does not run has no plots and no book.
func AskMarket(q *MarketQuery) Question[Market] {
	return Question[Market]{path: PathMarket, ask: Request{Market: q}, wrong: q.Check(),
		read: func(store *journal.Store) (*Market, error) { return stoppedMarket(store, q) }}
}

// stoppedMarket is the data of a market in the files of a stopped bot: candles of the recording,
// own fills and orders.
func stoppedMarket(store *journal.Store, q *MarketQuery) (*Market, error) {
	last, err := lastEntryMS(store)
	if err != nil {
		return nil, err
	}
	v := &Market{Note: "The bot does not run: candles are those of the end of its recording. It has no plots, no " +
		"book, and watches for no exit."}
	for _, m := range store.Catalog().Markets() {
		v.Series = append(v.Series, MarketSeries{Market: m.Name, Intervals: []string{}})
	}
	if err := v.Choose(&MarketQuery{Market: q.Market}); err != nil || v.Market == "" {
		return v, err
	}
	m := store.Catalog().MarketNamed(v.Market)
	since, until := market.Time(q.FromMS)*1e6, market.Time(0)
	if q.ToMS != 0 {
		until = market.Time(q.ToMS)*1e6 + longestWait
	}
	recorded, err := ReadRecorded(store, m, since, until)
	if err != nil {
		return nil, err
	}
	for _, interval := range slices.Sorted(maps.Keys(recorded)) {
		s := &v.Series[slices.IndexFunc(v.Series, func(s MarketSeries) bool { return s.Market == v.Market })]
		s.Intervals = append(s.Intervals, interval.String())
	}
	if err := v.Choose(&MarketQuery{Market: v.Market, Interval: q.Interval}); err != nil {
		return v, err
	}
	v.addRecorded(q, m, recorded, last)
	return v, v.AddOwn(store)
}

// longestWait is how long after the start of a candle its record stands, at most; longer candles
// have fewer at the end of a picture.
const longestWait = market.Time(24 * time.Hour)

// addRecorded sets the time and the candles of a stopped bot's picture.
func (v *Market) addRecorded(q *MarketQuery, m *market.Market, recorded Recorded, lastMS int64) {
	for interval, all := range recorded {
		if interval.String() != v.Interval || len(all) == 0 {
			continue
		}
		v.Span(q, interval.End(0).Millis(), max(lastMS, all[len(all)-1].End().Millis()))
		v.Trim(q, all)
		v.AddCandles(m, all, q.Columns)
		return
	}
	v.Span(q, 0, lastMS+1)
}

// Choose sets market and interval as they were asked for. Series must be set.
func (v *Market) Choose(q *MarketQuery) error {
	v.Candles, v.Fills, v.Orders = []Candle{}, []MarketFill{}, []OrderRow{}
	if len(v.Series) == 0 && q.Market == "" {
		return nil
	}
	at := slices.IndexFunc(v.Series, func(s MarketSeries) bool { return s.Market == q.Market })
	if q.Market == "" {
		at = max(0, slices.IndexFunc(v.Series, func(s MarketSeries) bool { return len(s.Intervals) > 0 }))
	}
	if at < 0 {
		return config.Usagef("the bot has no market %q", config.Clip(q.Market))
	}
	s := &v.Series[at]
	v.Market = s.Market
	if q.Interval != "" && len(s.Intervals) > 0 && !slices.Contains(s.Intervals, q.Interval) {
		return config.Usagef("no strategy gets candles of %s and %q", s.Market, config.Clip(q.Interval))
	}
	if len(s.Intervals) > 0 {
		v.Interval = cmp.Or(q.Interval, s.Intervals[0])
	}
	return nil
}

// Span sets the time that was asked for, else the latest LongMS before end, else the latest candles
// of an interval of so many milliseconds (0: there are none).
func (v *Market) Span(q *MarketQuery, intervalMS, end int64) {
	if v.FromMS, v.ToMS = q.FromMS, q.ToMS; q.ToMS != 0 {
		return
	}
	if intervalMS == 0 {
		intervalMS = 60_000
	}
	long := cmp.Or(q.LongMS, showFirst*intervalMS)
	v.FromMS, v.ToMS = max(0, end-long), max(1, end)
}

// Trim lets a picture of no time that was asked for begin with the first candle.
func (v *Market) Trim(q *MarketQuery, all []market.Candle) {
	if q.ToMS == 0 && q.LongMS == 0 && len(all) > 0 {
		v.FromMS = max(v.FromMS, min(all[0].Start.Millis(), v.ToMS-1))
	}
}

// AddOwn sets own fills and open orders from a state file.
func (v *Market) AddOwn(store *journal.Store) error {
	m := store.Catalog().MarketNamed(v.Market)
	if m == nil {
		return nil
	}
	looks := 0
	err := store.FillsBack(func(f *journal.FillRow) bool {
		at := f.Time.Millis()
		looks++
		if f.Market == m.ID && at < v.ToMS && at >= v.FromMS {
			v.Fills = append(v.Fills, MarketFill{at, int64(f.Order), f.StrategyName, f.Side.String(),
				m.FormatQty(f.Amount), m.FormatPrice(f.Price)})
		}
		return at >= v.FromMS && len(v.Fills) < maxFills && looks < fillLooks
	})
	if err != nil {
		return err
	}
	slices.Reverse(v.Fills)
	rows, err := store.OpenOrders()
	for i := range rows {
		if rows[i].Market == m.ID {
			v.Orders = append(v.Orders, OrderOf(store.Catalog(), &rows[i]))
		}
	}
	return err
}

// AddCandles sets candles of one market and interval in the time of v, merged so that no more than
// columns of them are left. all is sorted by start.
func (v *Market) AddCandles(m *market.Market, all []market.Candle, columns int) {
	if len(all) == 0 {
		return
	}
	first, last := &all[0], &all[len(all)-1]
	v.FirstMS, v.EndMS = first.Start.Millis(), last.End().Millis()
	v.SpanMS = first.End().Millis() - v.FirstMS
	byStart := func(c market.Candle, ms int64) int { return cmp.Compare(c.Start.Millis(), ms) }
	from, _ := slices.BinarySearchFunc(all, v.FromMS, byStart)
	to, _ := slices.BinarySearchFunc(all, v.ToMS, byStart)
	if to <= from {
		return
	}
	for _, c := range v.merged(all[from:to], columns) {
		v.Candles = append(v.Candles, Candle{c.Start.Millis(), m.FormatPrice(c.Open), m.FormatPrice(c.High),
			m.FormatPrice(c.Low), m.FormatPrice(c.Close), m.FormatVolume(c.Volume)})
	}
}

// merged merges candles of one column of the picture into one each.
func (v *Market) merged(part []market.Candle, columns int) []market.Candle {
	if columns == 0 {
		columns = MaxColumns
	}
	if len(part) <= columns {
		return part
	}
	merged := make([]market.Candle, 0, columns+1)
	width := (v.ToMS-v.FromMS)/int64(columns) + 1
	v.SpanMS = max(v.SpanMS, width)
	bucket := int64(math.MinInt64)
	for i := range part {
		c := &part[i]
		if place := (c.Start.Millis() - v.FromMS) / width; place != bucket {
			bucket = place
			merged = append(merged, *c)
			continue
		}
		last := &merged[len(merged)-1]
		last.High, last.Low, last.Close = max(last.High, c.High), min(last.Low, c.Low), c.Close
		last.Volume += c.Volume
	}
	return merged
}
