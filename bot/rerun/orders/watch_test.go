package orders

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
)

const (
	second = market.Time(1e9)
	minute = 60 * second
	begin  = 1_700_000_040 * second // a full minute
)

// heard is an event of a random market, for the naive twin.
type heard struct {
	at                     market.Time
	market                 market.ID
	last, bid, ask, trades market.Price
	candle                 *market.Candle
}

// world is a recording of random prices in two markets, with starts, silences and candles that are
// missing.
type world struct {
	log    *Log
	events []heard
	starts []market.Time
	ended  market.Time
}

func newWorld(t testing.TB, random *rand.Rand, minutes int) *world {
	catalog := &market.Catalog{}
	for _, symbol := range []string{"BTC", "ETH", "EUR"} {
		_, err := catalog.AddAsset(symbol, 8)
		require.NoError(t, err)
	}
	for _, name := range []string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, catalog.AddMarket(&market.Market{Name: name, PriceDigits: 2, VolumeDigits: 8,
			Status: market.Trading}))
	}
	w := &world{log: &Log{Folder: t.TempDir(), Catalog: catalog}}
	file, err := recording.Open(filepath.Join(w.log.Folder, statedir.RecordingFolder),
		recording.Options{Catalog: catalog})
	require.NoError(t, err)
	write := func(r recording.Record) {
		_, err := file.Write(&r)
		require.NoError(t, err)
		w.ended = r.At
		if r.Input.Event != nil {
			w.ended = r.Input.Event.At
		}
	}
	note := func(h heard, ev market.Event) {
		w.events = append(w.events, h)
		ev.At = h.at
		write(recording.Record{Kind: recording.KindInput, Input: market.Input{Kind: market.InputEvent, Event: &ev}})
	}
	start := func(at market.Time) {
		w.starts = append(w.starts, at)
		write(recording.Record{Kind: recording.KindStart, At: at, Manifest: []byte("{}")})
	}
	start(begin)
	prices, bars := [3]market.Price{0, 1000, 2000}, [3]market.Candle{}
	at := begin
	for at < begin+market.Time(minutes)*minute {
		step := market.Time(random.Int64N(int64(3 * second)))
		switch random.IntN(400) {
		case 0:
			step += market.Time(random.Int64N(int64(5 * minute))) // everything is silent
		case 1:
			at += second + market.Time(random.Int64N(int64(2*minute)))
			start(at)
		}
		for id := market.ID(1); id <= 2; id++ {
			if b := &bars[id]; b.Volume > 0 && (at+step)/minute > b.Start/minute {
				if random.IntN(5) > 0 {
					c := *b
					note(heard{at: max(at, c.End()+2*second), market: id, candle: &c},
						market.Event{Kind: market.KindCandles, Candles: []market.Candle{c}})
					at = max(at, c.End()+2*second)
				}
				*b = market.Candle{}
			}
		}
		at += step
		id := market.ID(1 + random.IntN(2))
		if random.IntN(300) == 0 { // the market is silent, its neighbour is not
			for until := at + market.Time(random.Int64N(int64(3*minute))); at < until; at += 2 * second {
				h := heard{at: at, market: 3 - id, last: prices[3-id], bid: prices[3-id] - 2, ask: prices[3-id] + 2}
				note(h, market.Event{Kind: market.KindTicker, Market: h.market,
					Ticker: &market.Ticker{Market: h.market, Last: h.last, Bid: h.bid, Ask: h.ask}})
			}
		}
		p := &prices[id]
		for range random.IntN(3) { // trades between the looks
			*p += market.Price(random.IntN(3) - 1)
			b := &bars[id]
			if b.Volume == 0 {
				*b = market.Candle{Market: id, Interval: market.Interval1m, Start: market.Interval1m.Floor(at),
					Open: *p,
					High: *p, Low: *p}
			}
			b.High, b.Low, b.Close, b.Volume = max(b.High, *p), min(b.Low, *p), *p, b.Volume+1
		}
		if random.IntN(4) == 0 {
			note(heard{at: at, market: id, trades: *p}, market.Event{Kind: market.KindTrade, Market: id,
				Trade: &market.Trade{Market: id, Price: *p, Amount: 1, Side: market.Buy, Time: at}})
			continue
		}
		h := heard{at: at, market: id, last: *p, bid: *p - market.Price(random.IntN(3)),
			ask: *p + market.Price(random.IntN(3))}
		note(h, market.Event{Kind: market.KindTicker, Market: id,
			Ticker: &market.Ticker{Market: id, Last: h.last, Bid: h.bid, Ask: h.ask}})
	}
	require.NoError(t, file.Close())
	return w
}

// orders adds orders that rest at random.
func (w *world) orders(random *rand.Rand, count int) {
	for n := range count {
		from := begin + market.Time(random.Int64N(int64(w.ended-begin)))
		o := &Life{ID: market.OrderID(n + 1), Market: market.ID(1 + random.IntN(2)),
			Side:     market.Side(1 + random.IntN(2)),
			Accepted: from, Writes: []Write{{Kind: market.CommandPlace,
				Decided: from - market.Time(random.Int64N(int64(second)))}}}
		if random.IntN(2) == 0 && len(w.events) > 0 { // exactly at an event
			h := &w.events[random.IntN(len(w.events))]
			o.Writes[0].Decided, o.Accepted, from = h.at, h.at+1, h.at+1
		}
		r := Rest{From: from, Price: market.Price(1000 * int64(o.Market)), Amount: 5}
		r.Price += market.Price(random.IntN(13) - 6)
		for _, h := range w.events { // near the market
			if h.at > from && h.market == o.Market && h.last != 0 {
				r.Price = h.last + market.Price(random.IntN(7)-3)
				break
			}
		}
		if random.IntN(6) > 0 {
			r.To = from + market.Time(random.Int64N(int64(6*minute)))
			r.End = EndCanceled
			if random.IntN(2) == 0 {
				r.End = EndFilled
				o.Fills = []market.Fill{{Time: r.To, Amount: 5, Price: r.Price}}
			}
		}
		o.Rests = []Rest{r}
		w.log.Orders = append(w.log.Orders, o)
	}
}

// holes are the gaps of a market, by the definition.
func (w *world) holes(id market.ID) (all []Hole) {
	var times []market.Time
	flush := func() {
		first := 0
		for i := 1; i < len(times); i++ {
			limit := minute
			if n := i - first; n >= 2 {
				limit = max(limit, 5*((times[i-1]-times[first])/market.Time(n-1)))
			}
			if times[i]-times[i-1] > limit {
				all = append(all, Hole{From: times[i-1], To: times[i]})
				first = i
			}
		}
		times = nil
	}
	next, before := 0, market.Time(0)
	for _, h := range append(slices.Clone(w.events), heard{at: w.ended + 1}) {
		for next < len(w.starts) && w.starts[next] <= h.at {
			if flush(); before != 0 {
				all = append(all, Hole{From: before, To: w.starts[next]})
			}
			next++
		}
		before = h.at
		if h.market == id && h.candle == nil {
			times = append(times, h.at)
		}
	}
	flush()
	return all
}

// quote is the market as of a time, by looking at everything since the latest gap.
func (w *world) quote(id market.ID, at market.Time) (q Quote) {
	since := market.Time(0)
	for _, g := range w.holes(id) {
		if g.To <= at {
			since = g.To
		}
	}
	for _, h := range w.events {
		if h.at < since || h.at > at || h.market != id || h.candle != nil {
			continue
		}
		if q.At = h.at; h.trades != 0 {
			q.Last = h.trades
			continue
		}
		q.Last, q.Bid, q.Ask = h.last, h.bid, h.ask
	}
	return q
}

// lost reports whether there is no price of a market since the last gap, or for a minute.
func (w *world) lost(id market.ID, at market.Time) bool {
	q := w.quote(id, at)
	return q.At == 0 || at-q.At > minute || at > w.ended ||
		slices.ContainsFunc(w.holes(id), func(g Hole) bool { return q.At < g.To && at > g.From })
}

// touches are those of an order by the definition: each minute is judged by itself.
func (w *world) touches(o *Life) (all []Touch) {
	r := &o.Rests[0]
	hole := Hole{From: w.ended, To: w.ended}
	for _, g := range w.holes(o.Market) {
		if g.To > r.From && g.From <= hole.From {
			hole = g
		}
	}
	to := r.To
	if to == 0 {
		to = w.ended + minute
	}
	beats := func(p market.Price) bool {
		return p != 0 && (o.Side == market.Buy && p < r.Price || o.Side == market.Sell && p > r.Price)
	}
	meets := func(p market.Price) bool { return p == r.Price || beats(p) }
	for start := market.Interval1m.Floor(r.From); start <= to && start < hole.From; start += minute {
		var reached, through, whole, late bool
		partial := r.From-start > minute/10
		last := w.quote(o.Market, r.From).Last
		if w.lost(o.Market, r.From) {
			last = 0
		}
		for _, h := range w.events {
			if h.market != o.Market || h.at >= hole.To && hole.To != hole.From {
				continue
			}
			late = late || h.at > start+2*minute
			if h.candle != nil {
				low := h.candle.Low
				if o.Side == market.Sell {
					low = h.candle.High
				}
				if h.candle.Start == start && h.at >= r.From && h.at <= start+2*minute {
					whole = true
					through = through || !partial && beats(low)
					reached = reached || !partial && to >= start+minute && meets(low)
				}
				continue
			}
			trade, opposite := h.trades, h.ask
			if o.Side == market.Sell {
				opposite = h.bid
			}
			if h.last != 0 && h.last != last && last != 0 {
				trade = h.last
			}
			if h.at >= r.From && h.at >= start && h.at < start+minute {
				through = through || trade != 0 && beats(trade)
				reached = reached || h.at < to && (trade != 0 && meets(trade) || opposite != 0 && meets(opposite))
			}
			if h.at >= r.From {
				last = max(h.last, h.trades)
			}
		}
		touch := Touch{Start: start, Through: through, Partial: partial}
		for i := range o.Fills {
			if at := o.Fills[i].Time; at >= start && at < start+minute {
				touch.Filled += o.Fills[i].Amount
				reached = true
			}
		}
		if reached && (whole || late) {
			all = append(all, touch)
		}
	}
	return all
}

// Each candle that reached an order is judged as a naive look at the whole recording judges it, and
// quotes are those of that look.
func TestTouchesAndQuotesAreThoseOfANaiveLook(t *testing.T) {
	touched, through, quoted, gaps := 0, 0, 0, 0
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 5))
		w := newWorld(t, random, 40)
		w.orders(random, 60)
		require.NoError(t, w.log.readRecording(t.Context(), Options{Interval: market.Interval1m}))
		gaps += len(w.log.Gaps)
		for _, o := range w.log.Orders {
			r := &o.Rests[0]
			require.Equal(t, w.touches(o), r.Touches, "seed %d, order %d: %+v, holes %v", seed, o.ID,
				r, w.holes(o.Market))
			for _, one := range r.Touches {
				if touched++; one.Through {
					through++
				}
			}
			for _, p := range []point{{o.Place().Decided, o.Market, &o.Decision}, {o.Accepted, o.Market, &o.Arrival}} {
				if p.into.At != 0 {
					quoted++
					require.Equal(t, w.quote(o.Market, p.at), *p.into)
				} else {
					require.True(t, w.lost(o.Market, p.at), "seed %d: %+v", seed, o)
				}
			}
		}
	}
	t.Logf("%d touches, %d of them through, %d quotes, %d gaps", touched, through, quoted, gaps)
	require.Greater(t, touched, 200)
	require.Greater(t, through, 100)
	require.Greater(t, gaps, 20)
	require.Greater(t, quoted, 500)
}

// BenchmarkRecording walks a recording for 500 orders that rest at random; "tape" is the floor: it
// walks the same records for none.
func BenchmarkRecording(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 5))
	w := newWorld(b, random, 1440)
	w.orders(random, 500)
	orders := w.log.Orders
	for _, row := range []struct {
		name   string
		orders []*Life
	}{{"tape", nil}, {"500 orders", orders}} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w.log.Gaps, w.log.Orders = nil, nil
				for _, o := range row.orders {
					fresh := *o
					fresh.Rests, fresh.Lacks = slices.Clone(o.Rests), nil
					fresh.Rests[0].Touches = nil
					w.log.Orders = append(w.log.Orders, &fresh)
				}
				b.StartTimer()
				require.NoError(b, w.log.readRecording(b.Context(), Options{Interval: market.Interval1m}))
			}
			b.ReportMetric(float64(len(w.events))*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
		})
	}
}
