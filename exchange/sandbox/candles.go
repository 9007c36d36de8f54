package sandbox

import (
	"sort"
	"strconv"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// bar is a candle of the exchange, in memory and in the state file: with exact sums, and with the
// times of its first and last trade.
type bar struct {
	Start, End             market.Time
	Open, High, Low, Close market.Price
	First, Last            market.Time
	Base                   market.Value // traded, in units of 10^-AmountDigits
	Quote                  market.Value // its value, in units of 10^-ValueDigits
}

// add adds a trade to the bar, whose Start and End are set. A bar with a Base of 0 has no trade
// yet.
func (b *bar) add(t *publicTrade, worth market.Value) {
	b.join(&bar{Open: t.price, High: t.price, Low: t.price, Close: t.price, First: t.at, Last: t.at,
		Base: market.ValueOf(int64(t.amount)), Quote: worth})
}

// join adds a later bar to the bar.
func (b *bar) join(later *bar) {
	if b.Base.Sign() == 0 {
		b.Open, b.High, b.Low, b.First = later.Open, later.High, later.Low, later.First
	}
	b.High, b.Low = max(b.High, later.High), min(b.Low, later.Low)
	b.Close, b.Last = later.Close, later.Last
	b.Base = sum(b.Base, later.Base)
	b.Quote = sum(b.Quote, later.Quote)
}

// sum adds amounts traded. It stays at the first where that leaves 128 bits: more than any exchange
// has ever traded.
func sum(a, b market.Value) market.Value {
	both, err := a.Add(b)
	if err != nil {
		return a
	}
	return both
}

// candles are the bars of a market in all intervals, the oldest first, made of its trades; an
// interval without trades has none. The minute in which the last trade fell is apart: it joins the
// longer bars when the next one begins.
type candles struct {
	keep   int // of each interval
	minute bar
	bars   [market.Interval1M + 1][]bar // by interval, some more than keep of each; the last keep count
	rows   [market.Interval1M + 1]rowCounter
}

// add adds a trade that is worth so much; trades come in order of time.
func (c *candles) add(t *publicTrade, worth market.Value) {
	if t.at >= c.minute.End {
		c.roll()
		start := market.Interval1m.Floor(t.at)
		c.minute = bar{Start: start, End: market.Interval1m.End(start)}
	}
	c.minute.add(t, worth)
}

// roll joins the minute to the bars of every interval.
func (c *candles) roll() {
	if c.minute.Base.Sign() == 0 {
		return
	}
	for interval := market.Interval1m; interval <= market.Interval1M; interval++ {
		bars := c.bars[interval]
		if n := len(bars); n > 0 && c.minute.Start < bars[n-1].End {
			bars[n-1].join(&c.minute)
			continue
		}
		longer := c.minute.of(interval)
		c.bars[interval] = appendKept(bars, &longer, c.keep)
		c.rows[interval].total++
	}
}

// of is the bar as one of a longer interval.
func (b *bar) of(interval market.Interval) bar {
	longer := *b
	longer.Start = interval.Floor(b.Start)
	longer.End = interval.End(longer.Start)
	return longer
}

// latest returns the bar in which the last trade fell, the trade included, and whether there is
// one; stored says that it is also the last of bars, there without the minute that is apart.
func (c *candles) latest(interval market.Interval) (latest bar, stored, any bool) {
	if c.minute.Base.Sign() == 0 {
		return bar{}, false, false
	}
	bars := c.bars[interval]
	if n := len(bars); n > 0 && c.minute.Start < bars[n-1].End {
		latest = bars[n-1]
		latest.join(&c.minute)
		return latest, true, true
	}
	return c.minute.of(interval), false, true
}

// appendIn appends the newest limit bars that start in [from, to), the newest first.
func (c *candles) appendIn(dst []bar, interval market.Interval, from, to market.Time, limit int) []bar {
	latest, stored, any := c.latest(interval)
	if !any {
		return dst
	}
	bars := c.bars[interval]
	if stored {
		bars = bars[:len(bars)-1]
	}
	bars = bars[max(0, len(bars)-c.keep+1):]
	if limit > 0 && latest.Start >= from && latest.Start < to {
		dst = append(dst, latest)
		limit--
	}
	at := sort.Search(len(bars), func(i int) bool { return bars[i].Start >= to }) - 1
	for ; at >= 0 && limit > 0 && bars[at].Start >= from; at-- {
		dst = append(dst, bars[at])
		limit--
	}
	return dst
}

// since adds up the trades from a time on, the oldest of them on a minute's start, and reports
// whether there are any.
func (c *candles) since(from market.Time) (total bar, any bool) {
	bars := c.bars[market.Interval1m]
	bars = bars[max(0, len(bars)-c.keep):]
	for i := sort.Search(len(bars), func(i int) bool { return bars[i].Start >= from }); i < len(bars); i++ {
		total.join(&bars[i])
	}
	if c.minute.Start >= from && c.minute.Base.Sign() != 0 {
		total.join(&c.minute)
	}
	return total, total.Base.Sign() != 0
}

// getCandles answers GET /{market}/candles, newest First: those that start in [start, end).
func (ex *Exchange) getCandles(c *api.Call) *exchange.Error {
	l := ex.named(c)
	interval, _ := market.ParseInterval(c.Text("interval")) // the table has the words
	const most = 1440
	from, to := market.Time(0), never
	if c.Has("start") {
		from = moment(c.Integer("start", 0))
	}
	if c.Has("end") {
		to = moment(c.Integer("end", 0))
	}
	ex.bars = l.candles.appendIn(ex.bars[:0], interval, from, to, int(c.Integer("limit", most)))
	return list(c, func(w *wire.Writer) {
		for i := range ex.bars {
			writeBar(w, l.Market, &ex.bars[i])
		}
	})
}

// writeBar appends a candle.
func writeBar(w *wire.Writer, m *market.Market, b *bar) {
	w.Open('[')
	w.Dst = strconv.AppendInt(w.Dst, b.Start.Millis(), 10)
	for _, price := range [...]market.Price{b.Open, b.High, b.Low, b.Close} {
		w.Comma()
		w.Decimal(int64(price), m.PriceDigits)
	}
	w.Comma()
	w.Sum(b.Base, m.AmountDigits)
	w.Close(']')
}
