package orders

import (
	"cmp"
	"context"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// candleWait is how long after its end a candle may arrive and still say what it reached. Later
// the prices that were heard meanwhile count alone.
const candleWait = market.Time(60e9)

// point is a quote that is wanted: the market as of a time.
type point struct {
	at     market.Time
	market market.ID
	into   *Quote
}

// watching walks the recording once for all orders.
type watching struct {
	quotes
	log       *Log
	options   Options
	points    []point // by time
	rests     []*watched
	waiting   int               // the first of rests that has not begun
	holes     []market.Time     // by market: the end of the latest gap
	active    [][]*watched      // by market
	intervals []market.Interval // by market
	now       market.Time
}

// readRecording notes the quotes at decisions and arrivals, and the candles that reached resting
// orders.
func (l *Log) readRecording(ctx context.Context, o Options) error {
	markets := len(l.Catalog.Markets()) + 1
	w := &watching{log: l, options: o, active: make([][]*watched, markets), holes: make([]market.Time, markets),
		intervals: slices.Repeat([]market.Interval{cmp.Or(o.Interval, market.Interval1m)}, markets)}
	l.Intervals = w.intervals
	w.collect()
	if err := l.read(ctx, &w.quotes, w); err != nil {
		return err
	}
	w.end()
	l.nameQuotes()
	return nil
}

// collect lists what is wanted of the recording.
func (w *watching) collect() {
	for _, o := range w.log.Orders {
		if place := o.Place(); place != nil {
			w.points = append(w.points, point{place.Decided, o.Market, &o.Decision})
		}
		if o.Accepted != 0 {
			w.points = append(w.points, point{o.Accepted, o.Market, &o.Arrival})
		}
		for i := range o.Rests {
			w.rests = append(w.rests, &watched{order: o, rest: &o.Rests[i]})
		}
	}
	slices.SortStableFunc(w.points, func(x, y point) int { return cmp.Compare(x.at, y.at) })
	slices.SortStableFunc(w.rests, func(x, y *watched) int { return cmp.Compare(x.rest.From, y.rest.From) })
}

// record takes a record. It is a listener's.
func (w *watching) record(item *reader.Item) error {
	w.advance(item.At)
	if item.Kind == recording.KindStart {
		w.start(item.Manifest)
		return nil
	}
	ev := item.Data()
	if ev == nil {
		return nil
	}
	if ev.Kind == market.KindCandles {
		for i := range ev.Candles {
			c := &ev.Candles[i]
			for _, one := range w.of(c.Market) {
				one.candle(c, ev.At)
			}
		}
		return nil
	}
	for _, one := range w.of(ev.Market) {
		one.price(ev)
	}
	return nil
}

// start notes the intervals of a process.
func (w *watching) start(m *core.Manifest) {
	if w.options.Interval != 0 {
		return
	}
	for i := range w.intervals {
		w.intervals[i] = market.Interval1m // of a market that no strategy trades
	}
	known := make([]bool, len(w.intervals))
	for i := range m.Strategies {
		s := &m.Strategies[i]
		for _, name := range s.Markets {
			of := w.log.Catalog.MarketNamed(name)
			if of != nil && (!known[of.ID] || s.Interval < w.intervals[of.ID]) {
				w.intervals[of.ID], known[of.ID] = s.Interval, true
			}
		}
	}
}

// advance brings time to that of the latest item, before what it says.
func (w *watching) advance(at market.Time) {
	w.now = max(w.now, at)
	for len(w.points) > 0 && w.points[0].at < w.now {
		p := &w.points[0]
		*p.into = w.before(p.market, p.at)
		w.points = w.points[1:]
	}
	for w.waiting < len(w.rests) && w.rests[w.waiting].rest.From < w.now {
		one := w.rests[w.waiting]
		id := one.order.Market
		w.waiting++
		one.begin(w.intervals[id], w.before(id, one.rest.From))
		if one.rest.From >= w.holes[id] {
			w.active[id] = append(w.active[id], one)
		}
	}
}

// gap ends what was watched in a market, or in all. It is a listener's.
func (w *watching) gap(g *Hole) {
	w.log.Gaps = append(w.log.Gaps, *g)
	w.advance(w.now + 1) // quotes up to now are those before the gap
	for id := range w.active {
		if g.Market == 0 || g.Market == market.ID(id) {
			w.holes[id] = g.To
			for _, one := range w.active[id] {
				one.stop(g.From)
			}
			w.active[id] = nil
		}
	}
}

// of are the resting orders of a market that are watched now.
func (w *watching) of(id market.ID) []*watched {
	w.active[id] = slices.DeleteFunc(w.active[id], func(one *watched) bool { return one.over(w.now) })
	return w.active[id]
}

// end notes what is known at the end of the recording.
func (w *watching) end() {
	w.advance(w.now + 1)
	for id := range w.active {
		for _, one := range w.active[id] {
			one.stop(w.pulses[id].last) // its market may have been silent since
		}
	}
}

// nameQuotes says of which orders the market at decision or arrival is not known.
func (l *Log) nameQuotes() {
	for _, o := range l.Orders {
		if o.Place() != nil && o.Decision.Mid() == 0 {
			o.lack("bid and ask at its decision are not recorded")
		}
		if o.Accepted != 0 && o.Arrival.Mid() == 0 {
			o.lack("bid and ask at its arrival are not recorded")
		}
	}
}
