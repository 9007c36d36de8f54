package stream

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// The candles of a series that are kept, and how often all of a series is compared with REST.
const (
	keptCandles  = 16
	compareEvery = time.Hour
)

// candles follows the channel candles, and answers questions for closed candles from it. Its events
// show the candle of an interval as it stands at each trade. So the latest event of an interval is
// its candle, as long as the subscription was open from that event until the interval's end. What
// the events do not show is asked over REST, each interval once.
type candles struct {
	feed    *Feed
	channel *Channel
	news    poke
	row     []market.Candle // of the reading goroutine

	mu sync.Mutex // guards everything below
	of map[Series]*series
}

// series is the state of one series since the subscription is open.
type series struct {
	opened market.Time     // 0: it is not open
	told   []market.Candle // by start, the latest of each; at most keptCandles
	quiet  []market.Time   // starts of intervals that had no trade, by REST
	asked  market.Time     // when REST was asked last
	doubts bool            // a row that cannot be was logged
}

// early is how far ahead of the exchange's time, as this machine knows it, a candle may begin.
const early = time.Second

func newCandles(f *Feed) *candles {
	c := &candles{feed: f, news: make(poke, 1), of: map[Series]*series{}}
	c.channel = &Channel{Name: "candles", Event: c.onEvent,
		Opened: func() { c.reset(f.Data.Now()) }, Closed: func() { c.reset(0) }}
	for _, s := range f.Series {
		c.of[s] = &series{}
		text, name := s.Interval.String(), f.Catalog.Market(s.Market).Name
		at := slices.IndexFunc(c.channel.Topics, func(t Topic) bool { return t.Interval == text })
		if at < 0 {
			at, c.channel.Topics = len(c.channel.Topics), append(c.channel.Topics, Topic{Interval: text})
		}
		c.channel.Topics[at].Markets = append(c.channel.Topics[at].Markets, name)
	}
	if len(c.of) > 0 {
		f.On.Subscribe(c.channel)
	}
	return c
}

func (c *candles) reset(opened market.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.of {
		s.opened, s.told = opened, s.told[:0]
	}
}

func (c *candles) onEvent(frame []byte) (err error) {
	var m *market.Market
	var interval market.Interval
	if m, interval, c.row, err = readCandles(frame, c.feed.known, c.row[:0]); err != nil || m == nil {
		return c.feed.judge(m, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s, latest := c.of[Series{m.ID, interval}], c.feed.Data.Now().Add(early)
	if s == nil {
		return nil // none of those that are followed
	}
	for i := range c.row {
		if err := check(&c.row[i], latest); err == nil {
			s.take(&c.row[i])
		} else if !s.doubts {
			s.doubts = true
			c.feed.Log.Warn().Str("market", m.Name).Stringer("interval", interval).Int("row", i+1).
				Stringer("start", c.row[i].Start).Err(err).Msg("rows of the stream's candles are left out")
		}
	}
	c.news.send()
	return nil
}

// check reports what is wrong with a candle as it stands.
func check(c *market.Candle, latest market.Time) error {
	if c.Start > latest {
		return errAhead
	}
	return c.Check()
}

// take notes a candle as it stands.
func (s *series) take(candle *market.Candle) {
	at, found := s.find(candle.Start)
	if found {
		s.told[at] = *candle
		return
	}
	s.told = slices.Insert(s.told, at, *candle)
	if len(s.told) > keptCandles {
		s.told = slices.Delete(s.told, 0, 1)
	}
}

func (s *series) find(start market.Time) (at int, found bool) {
	return slices.BinarySearchFunc(s.told, start, func(c market.Candle, start market.Time) int {
		return int(max(-1, min(1, c.Start-start)))
	})
}

// Candles answers as exchange.MarketData does, for a range whose end is past: from the stream where
// that knows all of it but the first candle, otherwise over REST.
func (f *Feed) Candles(ctx context.Context, m *market.Market, interval market.Interval, start, end market.Time,
	limit int, dst []market.Candle) ([]market.Candle, error) {
	c := f.candles
	if got, known := c.answer(Series{m.ID, interval}, start, end, dst); known {
		return got, nil
	}
	now, before := f.Data.Now(), len(dst)
	got, err := f.Data.Candles(ctx, m, interval, start, end, limit, dst)
	if left, failed := exchange.CheckLeftOut(err); failed == nil && (left == nil || left.False == 0) {
		c.learn(m, interval, start, min(end, interval.Floor(now)), now, got[before:])
	}
	return got, err
}

// answer appends the candles of a range; false: it is not known. A candle behind intervals without
// a trade is known when REST was asked after its end: it may list one of them by then, and one that
// comes behind a newer candle is lost.
func (c *candles) answer(of Series, start, end market.Time, dst []market.Candle) ([]market.Candle, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.of[of]
	now := c.feed.Data.Now()
	if s == nil || s.opened == 0 || now.Sub(s.asked) >= compareEvery {
		return dst, false
	}
	before, quiet := len(dst), false
	for i := of.Interval.Index(start); of.Interval.StartOf(i) < end; i++ {
		from := of.Interval.StartOf(i)
		at, found := s.find(from)
		switch {
		case found && quiet && s.asked < of.Interval.End(from):
			return dst[:before], false
		case found:
			dst = append(dst, s.told[at])
		case from > start:
			if quiet = true; !(slices.Contains(s.quiet, from) && s.believes(of.Interval.End(from), now)) {
				return dst[:before], false
			}
		}
	}
	return dst, true
}

// believes reports whether the latest answer over REST still shows that an interval was quiet:
// until the interval is four times as old as it was then. The exchange may list a candle late.
func (s *series) believes(end, now market.Time) bool { return now.Sub(end) <= 4*s.asked.Sub(end) }

// learn notes an answer over REST of the closed candles of a range: intervals without a trade, and
// candles that the stream has not told.
func (c *candles) learn(m *market.Market, interval market.Interval, start, end, now market.Time, got []market.Candle) {
	c.mu.Lock()
	s := c.of[Series{m.ID, interval}]
	if s == nil {
		c.mu.Unlock()
		return
	}
	s.asked, s.quiet = now, s.quiet[:0]
	deaf, differs := false, false
	for i := interval.Index(start); interval.StartOf(i) < end && len(s.quiet) < keptCandles; i++ {
		from := interval.StartOf(i)
		there := slices.IndexFunc(got, func(g market.Candle) bool { return g.Start == from })
		at, told := s.find(from)
		switch {
		case there < 0 && !told:
			s.quiet = append(s.quiet, from)
		case there >= 0 && told && got[there] != s.told[at]:
			differs, s.told[at] = true, got[there]
		case there >= 0 && !told && s.opened != 0 && s.opened <= from:
			differs, deaf = true, true
		}
	}
	c.mu.Unlock()
	if differs {
		c.feed.differed(m, "candles")
	}
	if deaf {
		c.feed.On.Reset(ErrSilent)
	}
}

// Final reports whether the stream has told of the candle that begins at a time, and of a later
// one: then it changes no more.
func (f *Feed) Final(of Series, start market.Time) bool {
	c := f.candles
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.of[of]
	if s == nil || s.opened == 0 {
		return false
	}
	at, found := s.find(start)
	return found && at < len(s.told)-1
}

// News receives after candles have changed.
func (f *Feed) News() <-chan struct{} { return f.candles.news }
