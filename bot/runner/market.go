package runner

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// market answers the question for the picture of a market. The loop tells the latest price; the
// rest is read beside it.
func (c *control) market(ctx context.Context, ask *operator.Request) (any, error) {
	r, q := c.r, ask.Market
	if q == nil {
		q = &operator.MarketQuery{}
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	v := &operator.Market{Series: r.marketSeries()}
	if err := v.Choose(q); err != nil {
		return nil, err
	}
	m := r.plan.Catalog.MarketNamed(v.Market)
	if m == nil {
		return v, nil
	}
	var last market.Price
	var watched []bracket.Watched
	err := c.query(ctx, func(market.Time) { last, watched = r.account.Last(m.ID), r.engine.Brackets().Watched(m.ID) })
	if err != nil && !errors.As(err, new(blockedError)) {
		return nil, err
	}
	if last != 0 {
		v.Last = m.FormatPrice(last)
	}
	for i := range watched {
		v.Watched = append(v.Watched, r.watchedExit(m, &watched[i]))
	}
	if err := r.addCandles(v, q, m); err != nil {
		return nil, err
	}
	r.journal.shown.addPlots(v, m)
	r.journal.shown.addBook(v, m)
	return v, v.AddOwn(r.store)
}

// watchedExit describes an exit whose price the engine watches.
func (r *runner) watchedExit(m *market.Market, w *bracket.Watched) operator.Watched {
	kind := "target"
	switch {
	case w.Stop:
		kind = "stop"
	case w.Part:
		kind = "part"
	}
	return operator.Watched{Strategy: r.nameOf(w.Strategy), Entry: int64(w.Bracket), Kind: kind,
		Amount: m.FormatQty(w.Amount), Price: m.FormatPrice(w.Price)}
}

// marketSeries lists the markets with the intervals of their candles.
func (r *runner) marketSeries() []operator.MarketSeries {
	list, all := []operator.MarketSeries{}, r.series()
	slices.SortFunc(all, func(a, b poll.Series) int { return cmp.Compare(a.Interval, b.Interval) })
	for _, m := range r.plan.Catalog.Markets() {
		s := operator.MarketSeries{Market: m.Name, Intervals: []string{}}
		for _, one := range all {
			if one.Market == m.ID {
				s.Intervals = append(s.Intervals, one.Interval.String())
			}
		}
		list = append(list, s)
	}
	return list
}

// addCandles sets the time of the picture and its candles.
func (r *runner) addCandles(v *operator.Market, q *operator.MarketQuery, m *market.Market) error {
	now := r.trading.Now()
	if v.Interval == "" {
		v.Note = "No strategy gets candles of this market."
		v.Span(q, 0, now.Millis())
		return nil
	}
	interval, err := market.ParseInterval(v.Interval)
	if err != nil {
		return err
	}
	all := r.journal.shown.candles[poll.Series{Market: m.ID, Interval: interval}].all()
	slices.SortStableFunc(all, func(a, b market.Candle) int { return cmp.Compare(a.Start, b.Start) })
	all = slices.CompactFunc(all, func(a, b market.Candle) bool { return a.Start == b.Start })
	v.Span(q, interval.End(0).Millis(), now.Millis())
	if len(all) > 0 && v.FromMS < all[0].Start.Millis() {
		older, err := r.journal.shown.older(r.store, m, interval, all[0].Start)
		if err != nil {
			return err
		}
		all = append(slices.Clip(older), all...)
	}
	v.Trim(q, all)
	v.AddCandles(m, all, q.Columns)
	return nil
}

// older are the candles of a series in the recording that start before a time. What was read of a
// market is kept: it is read anew when the ring has lost candles since.
func (s *plots) older(store *journal.Store, m *market.Market, interval market.Interval,
	before market.Time) ([]market.Candle, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	kept, known := s.recorded[m.ID]
	if !known || before > kept.before {
		found, err := operator.ReadRecorded(store, m, 0, interval.End(before))
		if err != nil {
			return nil, err
		}
		kept = recordedCandles{before, found}
		s.recorded[m.ID] = kept
	}
	list := kept.found[interval]
	end, _ := slices.BinarySearchFunc(list, before,
		func(c market.Candle, at market.Time) int { return cmp.Compare(c.Start, at) })
	return list[:end], nil
}

// addPlots sets the plots of a market in the time of a picture.
func (s *plots) addPlots(v *operator.Market, m *market.Market) {
	listed := s.listed.Load()
	if listed == nil {
		return
	}
	for _, series := range *listed {
		if series.market != m.ID {
			continue
		}
		p := operator.Plot{Strategy: s.names(series.strategy), Name: series.name, Pane: series.pane, Mark: series.mark,
			Points: []operator.PlotPoint{}}
		scale := 1.0
		if series.pane == "" {
			scale = math.Pow10(-int(m.PriceDigits))
		}
		for _, one := range series.values.all() {
			at := one.at.Millis()
			if at >= v.FromMS && at < v.ToMS && finite(one.value) {
				p.Points = append(p.Points, operator.PlotPoint{AtMS: at, Value: one.value * scale})
			}
		}
		v.Plots = append(v.Plots, p)
	}
}

// addBook sets the latest book of a market.
func (s *plots) addBook(v *operator.Market, m *market.Market) {
	book := s.books[m.ID].Load()
	if book == nil {
		return
	}
	levels := func(from []market.Level) []operator.Level {
		list := make([]operator.Level, 0, len(from))
		for _, l := range from {
			list = append(list, operator.Level{Price: m.FormatPrice(l.Price), Amount: m.FormatQty(l.Amount)})
		}
		return list
	}
	v.Book = &operator.Book{AtMS: book.at.Millis(), Bids: levels(book.Bids), Asks: levels(book.Asks)}
}

// glance answers the question of the dashboard: status, positions and limits by one look at the
// loop.
func (c *control) glance(ctx context.Context, _ *operator.Request) (any, error) {
	var prices map[market.ID]market.Price
	var uses *limitUses
	var failed error
	s := c.newStatus()
	err := c.query(ctx, func(at market.Time) {
		failed = c.statusAt(s, at)
		prices, uses = c.prices(), c.r.uses(at)
	})
	if errors.As(err, new(blockedError)) {
		return c.blockedGlance(s)
	}
	if err = cmp.Or(err, failed, c.finishStatus(s)); err != nil {
		return nil, err
	}
	g := &operator.Glance{Status: s, Risk: c.r.riskOf(uses)}
	g.Positions, err = operator.PositionsOf(c.r.store, func(id market.ID) market.Price { return prices[id] })
	return g, errors.Join(err, g.Risk.AddHalts(c.r.store))
}

// blockedGlance is a glance while a strategy blocks the loop, from the state file.
func (c *control) blockedGlance(s *operator.Status) (any, error) {
	status, err := c.blockedStatus(s)
	if err != nil {
		return nil, err
	}
	g := &operator.Glance{Status: status}
	if g.Positions, err = operator.StoppedPositions(c.r.store); err != nil {
		return nil, err
	}
	if g.Risk, err = operator.StoppedRisk(c.r.store); err != nil {
		return nil, err
	}
	return g, nil
}
