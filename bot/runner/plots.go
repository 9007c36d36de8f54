package runner

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// What a bot keeps for its pictures.
const (
	shownValues = 5_000            // candles of a series, and values of a plot
	shownPlots  = 200              // series of plots; a strategy that invents names gets no more
	bookEvery   = market.Time(5e8) // at most so often a book is kept
)

// plots has the data of a bot's markets for pictures: candles, plots, the latest books. The loop
// adds; it never waits for those who look.
type plots struct {
	candles map[poll.Series]*ring[market.Candle]     // the map is never changed
	books   map[market.ID]*atomic.Pointer[shownBook] // the map is never changed
	plots   map[shownPlot]*ring[plotted]             // of the loop alone
	listed  atomic.Pointer[[]*shownSeries]           // the same, for others
	now     func() market.Time                       // of the engine
	last    func(market.ID) market.Price             // of the account
	names   func(market.StrategyID) string
	catalog *market.Catalog

	reading  sync.Mutex // a recording is read; the loop never takes it
	recorded map[market.ID]recordedCandles
	log      zerolog.Logger
}

// recordedCandles are the candles of a market in the recording before a time.
type recordedCandles struct {
	before market.Time
	found  operator.Recorded
}

// shownBook is the latest book of a market.
type shownBook struct {
	market.OrderBook
	at market.Time // when it came
}

// shownPlot names a series of a plot.
type shownPlot struct {
	strategy market.StrategyID
	market   market.ID
	name     string
	pane     string
	mark     bool
}

// shownSeries is a series of a plot with its values.
type shownSeries struct {
	shownPlot
	values *ring[plotted]
}

// plotted is a value of a plot; of a mark, the price that it stands at.
type plotted struct {
	at    market.Time
	value float64
}

func (r *runner) newShown() *plots {
	s := &plots{candles: map[poll.Series]*ring[market.Candle]{}, books: map[market.ID]*atomic.Pointer[shownBook]{},
		plots: map[shownPlot]*ring[plotted]{}, recorded: map[market.ID]recordedCandles{}, names: r.nameOf,
		catalog: r.plan.Catalog, log: r.log,
		now:  func() market.Time { return r.engine.Now() },
		last: func(id market.ID) market.Price { return r.account.Last(id) }}
	for _, series := range r.series() {
		s.candles[series] = newTape[market.Candle](shownValues)
	}
	for _, m := range r.plan.Catalog.Markets() {
		s.books[m.ID] = &atomic.Pointer[shownBook]{}
	}
	return s
}

// input keeps what an event shows. Only the loop calls it.
func (s *plots) input(ev *market.Event) {
	switch ev.Kind {
	case market.KindCandles:
		s.addCandles(ev.Candles)
	case market.KindBook:
		kept := s.books[ev.Book.Market]
		if kept == nil {
			return
		}
		if was := kept.Load(); was != nil && ev.At-was.at < bookEvery {
			return
		}
		book := shownBook{OrderBook: *ev.Book, at: ev.At}
		book.Bids, book.Asks = slices.Clone(book.Bids), slices.Clone(book.Asks)
		kept.Store(&book)
	}
}

func (s *plots) addCandles(candles []market.Candle) {
	for i := range candles {
		if t := s.candles[poll.Series{Market: candles[i].Market, Interval: candles[i].Interval}]; t != nil {
			t.add(candles[i])
		}
	}
}

// Plot keeps what a strategy plots, and logs it as before: a strategy.Plotter. Only the loop calls
// it.
func (s *plots) Plot(id market.StrategyID, p strategy.Plotted) {
	s.logPlot(id, &p)
	key := shownPlot{id, p.Market, p.Name, p.Pane, p.Mark}
	t := s.plots[key]
	if t == nil {
		if len(s.plots) == shownPlots {
			return
		}
		t = newTape[plotted](shownValues)
		s.plots[key] = t
		var listed []*shownSeries
		if all := s.listed.Load(); all != nil {
			listed = slices.Clone(*all)
		}
		listed = append(listed, &shownSeries{key, t})
		s.listed.Store(&listed)
	}
	if p.Mark {
		p.Value = float64(s.last(p.Market))
	}
	t.add(plotted{s.now(), p.Value})
}

// logPlot writes a plot to the debug log.
func (s *plots) logPlot(id market.StrategyID, p *strategy.Plotted) {
	if s.log.GetLevel() > zerolog.DebugLevel {
		return
	}
	line := s.log.Debug().Str("strategy", s.names(id)).
		Str("market", s.catalog.Market(p.Market).Name).Str("name", p.Name)
	if p.Mark {
		line.Msg("mark")
		return
	}
	if p.Pane != "" {
		line = line.Str("pane", p.Pane)
	}
	line.Float64("value", p.Value).Msg("plot")
}

// finite reports whether a value can be written down.
func finite(value float64) bool { return !math.IsNaN(value) && !math.IsInf(value, 0) }

// ringPart is the number of values of a part of a ring.
const ringPart = 256

// ring keeps the latest values of a series, at least most of them once there are so many. One
// goroutine adds; any other may read beside it, and none waits for another.
type ring[T any] struct {
	most  int
	parts atomic.Pointer[[]*ringValues[T]] // oldest first; the list is never changed
}

// ringValues is a part of a ring. What used counts is never changed.
type ringValues[T any] struct {
	used   atomic.Int32
	values [ringPart]T
}

func newTape[T any](most int) *ring[T] { return &ring[T]{most: most} }

// add appends a value.
func (t *ring[T]) add(value T) {
	var last *ringValues[T]
	if parts := t.parts.Load(); parts != nil {
		last = (*parts)[len(*parts)-1]
	}
	if last == nil || last.used.Load() == ringPart {
		last = t.grow()
	}
	n := last.used.Load()
	last.values[n] = value
	last.used.Store(n + 1)
}

// grow adds an empty part, and leaves out the oldest one if the others have enough.
func (t *ring[T]) grow() *ringValues[T] {
	next, last := []*ringValues[T]{}, &ringValues[T]{}
	if parts := t.parts.Load(); parts != nil {
		next = *parts
	}
	if (len(next)-1)*ringPart >= t.most {
		next = next[1:]
	}
	next = append(slices.Clone(next), last)
	t.parts.Store(&next)
	return last
}

// all are the values so far, oldest first, at most the latest most.
func (t *ring[T]) all() (values []T) {
	parts := t.parts.Load()
	if parts == nil {
		return nil
	}
	values = make([]T, 0, len(*parts)*ringPart)
	for _, part := range *parts {
		values = append(values, part.values[:part.used.Load()]...)
	}
	return values[max(0, len(values)-t.most):]
}
