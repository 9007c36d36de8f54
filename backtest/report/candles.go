package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/chart"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/page"
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
	whole   []bar
	single  []bar
	periods []period // of single; nil: all
	singles int      // about how many there are
}

// read reads the candles of the market. Those in the periods are kept as they are.
func (s *series) read() error {
	source, err := s.Open()
	if err != nil {
		return fmt.Errorf("candles of the report: %w", err)
	}
	defer source.Close()
	s.whole, s.single = make([]bar, 0, s.Count/int64(s.each)+1), make([]bar, 0, s.singles)
	for reader := (barReader{series: s, next: s.periods, length: market.Time(s.Interval.Fixed())}); ; {
		batch, err := source.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("candles of the report: %w", err)
		}
		reader.add(batch)
	}
}

// barReader is a series while it is being read.
type barReader struct {
	*series
	next   []period    // of single candles, to come
	length market.Time // of a candle; 0: it varies
	held   int         // candles in the last bar of whole; 0: it is complete
}

// add adds candles.
func (r *barReader) add(batch []market.Candle) {
	for i := range batch {
		c := &batch[i]
		end := c.Start + r.length
		if r.length == 0 {
			end = c.End()
		}
		if r.held == 0 {
			r.whole = append(r.whole, bar{c.Start, end, c.Open, c.High, c.Low, c.Close})
		} else {
			b := &r.whole[len(r.whole)-1]
			b.high, b.low, b.close, b.end = max(b.high, c.High), min(b.low, c.Low), c.Close, end
		}
		if r.held++; r.held == r.each {
			r.held = 0
		}
		for len(r.next) > 0 && c.Start > r.next[0].to {
			r.next = r.next[1:]
		}
		if len(r.next) > 0 && c.Start >= r.next[0].from {
			r.single = append(r.single, bar{c.Start, end, c.Open, c.High, c.Low, c.Close})
		}
	}
}

// plan chooses the markets, the level that covers each whole, and the periods of single candles.
func (r *Run) plan(list []kept, room int) (shown []*series) {
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

// chosen are the periods around the latest and the largest trips, until there are so many candles.
func (s *series) chosen(list []kept, room int) []period {
	length := market.Time(s.Interval.Fixed())
	if length == 0 {
		length = s.Interval.End(0)
	}
	own := of(s.Market, list)
	large := bySize(own)
	periods := []period{}
	for i := range own {
		for _, k := range [...]*kept{&own[len(own)-1-i], &own[large[i]]} {
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
func of(m int, list []kept) []kept {
	compare := func(k kept, m int) int { return cmp.Compare(k.Market, m) }
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
	Digits   uint8   `json:"digits"`
	Interval int64   `json:"interval"` // seconds of a candle
	Unit     int64   `json:"unit"`     // seconds of a step of time
	Levels   []level `json:"levels"`
}

type level struct {
	Each  int        `json:"each"`
	Parts [][2]int64 `json:"parts,omitempty"` // in units; absent: the whole run
}

// pack packs the series under the id.
func (s *series) pack(id string, n *Names) (page.Data, error) {
	h := levels{Market: n.Markets[s.Market], Quote: s.Quote, Digits: n.PriceDigits[s.Market], Interval: s.length(),
		Unit: 1}
	if fixed := int64(s.Interval.Fixed() / 1e9); fixed > 0 {
		h.Unit = fixed
	}
	var columns []page.Column
	if s.periods != nil {
		l := level{Each: 1}
		for _, p := range s.periods {
			l.Parts = append(l.Parts, [2]int64{int64(p.from) / 1e9 / h.Unit, int64(p.to) / 1e9 / h.Unit})
		}
		h.Levels, columns = append(h.Levels, l), packedBars(s.single, h.Unit)
	}
	h.Levels = append(h.Levels, level{Each: s.each})
	data, err := page.Pack(h, append(columns, packedBars(s.whole, h.Unit)...)...)
	return page.Data{ID: id, Packed: data}, err
}

// length is that of a candle in seconds; of a month the mean.
func (s *series) length() int64 {
	if fixed := int64(s.Interval.Fixed() / 1e9); fixed > 0 {
		return fixed
	}
	return 2_629_746
}

// packedBars are time, gap from the close before, body, and the parts above and below the body.
func packedBars(bars []bar, unit int64) []page.Column {
	each := func(value func(b *bar) market.Price) page.Column {
		return page.Column{Rows: len(bars), Fill: func(values []int64) {
			for i := range bars {
				values[i] = int64(value(&bars[i]))
			}
		}}
	}
	start := each(func(b *bar) market.Price { return market.Price(int64(b.start) / 1e9 / unit) })
	start.Steps = true
	gap := page.Column{Rows: len(bars), Fill: func(values []int64) {
		before := market.Price(0)
		for i := range bars {
			values[i], before = int64(bars[i].open-before), bars[i].close
		}
	}}
	return []page.Column{start, gap,
		each(func(b *bar) market.Price { return b.close - b.open }),
		each(func(b *bar) market.Price { return b.high - max(b.open, b.close) }),
		each(func(b *bar) market.Price { return min(b.open, b.close) - b.low })}
}

// drawn are bars as a picture has them, merged where there are too many.
func drawn(bars []bar, digits uint8) []chart.Candle {
	many := max(1, (len(bars)+pictured-1)/pictured)
	out := make([]chart.Candle, 0, len(bars)/many+1)
	scale := math.Pow10(-int(digits))
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
		n += len(s.single)
	}
	return n
}
