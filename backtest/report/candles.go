package report

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// The candles that a page holds.
const (
	maxWhole  = 160_000 // bars of the level that covers the whole run, of all markets
	maxSingle = 200_000 // candles, of all markets
	step      = 8       // a level merges so many bars of the one before
	maxShown  = 8       // markets with candles: those with the most trips
	around    = 60      // candles before and after a trip
	pictured  = 1200    // bars of a static picture
)

// Candles is one series of candles of the run.
type Candles struct {
	Market   int // a place in Names
	Quote    string
	Interval market.Interval
	Count    int64 // about how many there are
	// Open opens the candles, oldest first.
	Open func() (Source, error)
}

// Source yields candles in batches, oldest first, io.EOF at the end. A batch is valid until the
// next call.
type Source interface {
	Next() ([]market.Candle, error)
	Close() error
}

// bar is a run of consecutive candles merged into one.
type bar struct {
	start, end             market.Time
	open, high, low, close market.Price
}

// join merges the next bar into b.
func (b *bar) join(next *bar) {
	b.high, b.low = max(b.high, next.high), min(b.low, next.low)
	b.close, b.end = next.close, next.end
}

// period is a range of time, both ends included.
type period struct{ from, to market.Time }

// series is a market's candles as the page has them: all of them merged, and the single candles of
// some periods.
type series struct {
	*Candles
	each    int // candles in a bar of whole
	whole   *bars
	single  *bars
	periods []period // of single; nil: all
	singles int      // about how many there are
	latest  []*kept  // round trips of the picture from near
	near    period   // of that picture
	close   []bar    // the single candles of that picture
	picked  picked
	digits  int          // of the prices in the bars
	unit10  market.Price // of the bars, in the market's units: a power of ten where those are too many
}

// read reads the candles of the market; in fewer decimals, again, where a page does not hold their
// prices.
func (s *series) read(digits uint8) error {
	for s.digits, s.unit10 = int(digits), 1; ; {
		highest, err := s.readAll()
		if err != nil || highest <= mostHeld {
			return err
		}
		for ; highest > mostHeld; highest /= 10 {
			s.digits, s.unit10 = s.digits-1, 10*s.unit10
		}
		s.close, s.picked = nil, picked{}
	}
}

// readAll reads the candles once, and returns the highest price in the bars.
func (s *series) readAll() (highest market.Price, err error) {
	source, err := s.Open()
	if err != nil {
		return 0, fmt.Errorf("candles of the report: %w", err)
	}
	defer source.Close()
	s.whole, s.single = newBars(int(s.Count)/s.each+1, s.unit()), newBars(s.singles, s.unit())
	s.picked.of = (int(s.Count) + s.each - 1) / s.each
	reader := barReader{series: s, next: s.periods, length: market.Time(s.Interval.Fixed())}
	for {
		batch, err := source.Next()
		if err == io.EOF {
			reader.end()
			s.whole.end()
			s.single.end()
			s.pickAgain()
			return reader.highest, nil
		}
		if err != nil {
			return 0, fmt.Errorf("candles of the report: %w", err)
		}
		if s.unit10 > 1 {
			batch = s.shortened(batch)
		}
		reader.add(batch)
		reader.addSingle(batch)
	}
}

// shortened are candles in the unit of the bars.
func (s *series) shortened(batch []market.Candle) []market.Candle {
	short := slices.Clone(batch)
	for i := range short {
		c := &short[i]
		for _, p := range [...]*market.Price{&c.Open, &c.High, &c.Low, &c.Close} {
			*p = *p/s.unit10 + *p%s.unit10/((s.unit10+1)/2) // to the nearest
		}
	}
	return short
}

// pickAgain picks the bars of the pictures anew where there were more or fewer than was thought.
func (s *series) pickAgain() {
	if s.picked.of == s.whole.count {
		return
	}
	s.picked = picked{of: s.whole.count, sparse: s.picked.sparse[:0], some: s.picked.some[:0]}
	for i, b := range s.whole.all() {
		s.picked.add(i, b)
	}
}

// barReader is a series while it is being read.
type barReader struct {
	*series
	next   []period    // of single candles, to come
	length market.Time // of a candle; 0: it varies
	last   bar         // of whole, while it grows
	held   int         // candles in it

	highest market.Price
}

// add merges candles into the bars of whole.
func (r *barReader) add(batch []market.Candle) {
	for len(batch) > 0 {
		group := batch[:min(r.each-r.held, len(batch))]
		b := r.last
		if r.held == 0 {
			b = bar{start: group[0].Start, open: group[0].Open, high: group[0].High, low: group[0].Low}
		}
		for i := range group {
			b.high, b.low = max(b.high, group[i].High), min(b.low, group[i].Low)
		}
		last := &group[len(group)-1]
		b.close, b.end = last.Close, r.endOf(last)
		r.last, r.held, batch = b, r.held+len(group), batch[len(group):]
		if r.held == r.each {
			r.end()
		}
	}
}

// end ends the last bar of whole.
func (r *barReader) end() {
	if r.held == 0 {
		return
	}
	r.picked.add(r.whole.count, &r.last)
	r.whole.add(&r.last)
	r.highest = max(r.highest, r.last.high)
	if r.held = 0; r.periods == nil {
		r.keep(&r.last)
	}
}

func (r *barReader) endOf(c *market.Candle) market.Time {
	if r.length == 0 {
		return c.End()
	}
	return c.Start + r.length
}

// addSingle keeps the candles of the periods.
func (r *barReader) addSingle(batch []market.Candle) {
	for len(r.next) > 0 {
		batch = batch[until(batch, r.next[0].from):]
		n := until(batch, r.next[0].to+1)
		for i := range batch[:n] {
			c := &batch[i]
			one := bar{c.Start, r.endOf(c), c.Open, c.High, c.Low, c.Close}
			r.single.add(&one)
			r.keep(&one)
		}
		if n == len(batch) {
			return
		}
		batch, r.next = batch[n:], r.next[1:]
	}
}

// keep keeps a candle of the picture from near.
func (r *barReader) keep(one *bar) {
	if one.start < r.near.to && one.end > r.near.from {
		r.close = append(r.close, *one)
	}
}

// until counts the candles that start before a time.
func until(batch []market.Candle, at market.Time) int {
	n, _ := slices.BinarySearchFunc(batch, at,
		func(c market.Candle, at market.Time) int { return cmp.Compare(c.Start, at) })
	return n
}

// plan chooses the markets, the level that covers each whole, and the periods of single candles.
func (r *Run) plan(list []*kept, room int) (shown []*series) {
	trips := make([]int, len(r.Trips.Markets))
	for i := range list {
		trips[list[i].Market]++
	}
	for i := range r.Candles {
		shown = append(shown, &series{Candles: &r.Candles[i], each: 1})
	}
	slices.SortStableFunc(shown, func(a, b *series) int { return cmp.Compare(trips[b.Market], trips[a.Market]) })
	shown = shown[:min(len(shown), maxShown)]
	var all int64
	for _, s := range shown {
		all += s.Count
	}
	for _, s := range shown {
		s.look(of(s.Market, list))
	}
	room = min(room, maxSingle)
	if all <= int64(room) {
		return shown
	}
	for _, s := range shown {
		for s.each == 1 || s.Count/int64(s.each) > int64(maxWhole/len(shown)) {
			s.each *= step
		}
		s.periods = s.chosen(list, room/len(shown))
	}
	return shown
}

// chosen are periods around the latest and the largest trips. Together they have at most about room
// candles.
func (s *series) chosen(list []*kept, room int) []period {
	length := market.Time(s.Interval.Fixed())
	if length == 0 {
		length = s.Interval.End(0)
	}
	own := of(s.Market, list)
	sizes := newBySize(own)
	periods := []period{}
	for i := range own {
		for _, k := range [...]*kept{own[len(own)-1-i], own[sizes.next()]} {
			p := period{k.Entered - around*length, k.Exited + around*length}
			if cost := int((p.to - p.from) / length); cost <= room {
				periods, room = append(periods, p), room-cost
			}
		}
		if room < 2*around {
			break
		}
	}
	periods = joined(periods)
	for _, p := range periods {
		s.singles += int((p.to-p.from)/length) + 1
	}
	return periods
}

// of are the trips of a market, in a list that is sorted by market.
func of(m int, list []*kept) []*kept {
	compare := func(k *kept, m int) int { return cmp.Compare(k.Market, m) }
	first, _ := slices.BinarySearchFunc(list, m, compare)
	last, _ := slices.BinarySearchFunc(list, m+1, compare)
	return list[first:last]
}

// joined are the periods in order, overlapping ones as one.
func joined(periods []period) (out []period) {
	slices.SortFunc(periods, func(a, b period) int { return cmp.Compare(a.from, b.from) })
	for _, p := range periods {
		if n := len(out); n > 0 && p.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, p.to)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// levels describes a packed series to the script; see page.js.
type levels struct {
	Market   string  `json:"market"`
	Quote    string  `json:"quote"`
	Digits   int     `json:"digits"`
	Interval int64   `json:"interval"` // seconds of a candle
	Unit     int64   `json:"unit"`     // seconds of a step of time
	Levels   []level `json:"levels"`
}

type level struct {
	Each  int        `json:"each"`
	Parts [][2]int64 `json:"parts,omitempty"` // in units; absent: the whole run
}

// pack are the packed bars under the id.
func (s *series) pack(id string, n *Names) page.Data {
	h := levels{Market: n.Markets[s.Market], Quote: s.Quote, Digits: s.digits, Interval: s.length(),
		Unit: s.unit()}
	data := page.Data{ID: id}
	if s.periods != nil {
		l := level{Each: 1}
		for _, p := range s.periods {
			l.Parts = append(l.Parts, [2]int64{int64(p.from) / 1e9 / h.Unit, int64(p.to) / 1e9 / h.Unit})
		}
		h.Levels, data.Columns = append(h.Levels, l), s.single.columns()
	}
	h.Levels = append(h.Levels, level{Each: s.each})
	data.Head, data.Columns = h, append(data.Columns, s.whole.columns()...)
	return data
}

// length is that of a candle in seconds; of a month the mean.
func (s *series) length() int64 {
	if fixed := int64(s.Interval.Fixed() / 1e9); fixed > 0 {
		return fixed
	}
	return 2_629_746
}

// unit is that of the packed times, in seconds: a candle, where all are of one length.
// A week begins on a Monday and 1970 on a Thursday: a week's unit is a day.
func (s *series) unit() int64 {
	if s.Interval == market.Interval1W {
		return 86400
	}
	return max(int64(s.Interval.Fixed()/1e9), 1)
}

// The columns of packed bars: time, gap from the close before, body, and the parts above and below
// the body. The time from start to end is not in the page.
const (
	startColumn = iota
	gapColumn
	bodyColumn
	aboveColumn
	belowColumn
	shownColumns
	lengthColumn = shownColumns
	allColumns   = lengthColumn + 1
)

// bars are packed bars.
type bars struct {
	packed [allColumns]*page.Column
	held   [allColumns][256]int64 // values that are packed together
	unit   market.Time
	last   bar
	step   steps // from the start before
	length steps
	place  int64 // the last start in units
	count  int
}

// steps divides times by a unit. It keeps the latest quotient: most bars have the same time as the
// bar before, and a division is slow.
type steps struct {
	time  market.Time
	units int64
}

func (s *steps) of(time, unit market.Time) int64 {
	if time != s.time {
		s.time, s.units = time, int64(time/unit)
	}
	return s.units
}

// newBars begins bars with room for so many, whose times are in units of so many seconds.
func newBars(room int, unit int64) *bars {
	b := &bars{unit: market.Time(unit * 1e9)}
	for i := range b.packed {
		b.packed[i] = page.NewColumn(room, i == startColumn)
	}
	return b
}

func (b *bars) add(one *bar) {
	i := b.count % len(b.held[0])
	b.place += b.step.of(one.start-b.last.start, b.unit)
	b.held[startColumn][i] = b.place
	b.held[gapColumn][i] = int64(one.open - b.last.close)
	b.held[bodyColumn][i] = int64(one.close - one.open)
	b.held[aboveColumn][i] = int64(one.high - max(one.open, one.close))
	b.held[belowColumn][i] = int64(min(one.open, one.close) - one.low)
	b.held[lengthColumn][i] = b.length.of(one.end-one.start, b.unit)
	b.last = *one
	if b.count++; i == len(b.held[0])-1 {
		b.pack(i + 1)
	}
}

// end packs what is held.
func (b *bars) end() { b.pack(b.count % len(b.held[0])) }

func (b *bars) pack(n int) {
	for i := range b.packed {
		b.packed[i].Add(b.held[i][:n]...)
	}
}

func (b *bars) columns() []*page.Column { return b.packed[:shownColumns] }

// all yields the bars after end.
func (b *bars) all() iter.Seq2[int, *bar] {
	return func(yield func(int, *bar) bool) {
		var at [allColumns]page.Cursor
		for i, c := range b.packed {
			at[i] = c.Cursor()
		}
		var one bar
		for i := range b.count {
			one.start = market.Time(at[startColumn].Next()) * b.unit
			one.end = one.start + market.Time(at[lengthColumn].Next())*b.unit
			one.open = one.close + market.Price(at[gapColumn].Next())
			one.close = one.open + market.Price(at[bodyColumn].Next())
			one.high = max(one.open, one.close) + market.Price(at[aboveColumn].Next())
			one.low = min(one.open, one.close) - market.Price(at[belowColumn].Next())
			if !yield(i, &one) {
				return
			}
		}
	}
}

// picked are the bars of the static pictures, of a level with so many.
type picked struct {
	of     int
	sparse []bar  // as many as a picture has columns
	some   []last // a few for each column
}

// last is the end of a bar.
type last struct {
	at    market.Time
	close market.Price
}

// add adds the bar of a place.
func (p *picked) add(place int, b *bar) {
	if place%merging(p.of) == 0 {
		p.sparse = append(p.sparse, *b)
	} else {
		p.sparse[len(p.sparse)-1].join(b)
	}
	if place%max(1, p.of/4000) == 0 {
		p.some = append(p.some, last{b.end, b.close})
	}
}

// merging is how many bars a picture merges into one.
func merging(bars int) int { return max(1, (bars+pictured-1)/pictured) }

// drawn are bars as a picture has them, merged where there are too many.
func drawn(bars []bar, digits int) []chart.Candle {
	many := merging(len(bars))
	out := make([]chart.Candle, 0, len(bars)/many+1)
	scale := math.Pow10(-digits)
	for i := 0; i < len(bars); i += many {
		one := bars[i]
		for k := i + 1; k < min(i+many, len(bars)); k++ {
			one.join(&bars[k])
		}
		out = append(out, chart.Candle{From: seconds(one.start), To: seconds(one.end), Open: float64(one.open) * scale,
			High: float64(one.high) * scale, Low: float64(one.low) * scale, Close: float64(one.close) * scale})
	}
	return out
}

func seconds(t market.Time) float64 { return float64(t) / 1e9 }

// said is a sentence on what the page does not hold.
func said(shown []*series, all int) string {
	text := ""
	if len(shown) < all {
		text = fmt.Sprintf("%d of %d markets have candles here: those with the most round trips. ", len(shown), all)
	}
	for _, s := range shown {
		if s.periods == nil {
			continue
		}
		return text + fmt.Sprintf(
			"The whole run is here in bars of %d candles and coarser ones; single candles are here "+
				"around the latest and the largest round trips, %s of them. The others are in the candle store.",
			s.each,
			decimal(float64(singles(shown)), 0))
	}
	return text + "Each candle of the run is here."
}

func singles(shown []*series) (n int) {
	for _, s := range shown {
		n += s.single.count
	}
	return n
}
