package stream

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// The bounds of trades: that wait to be sent, that are known by their ids, and of one question.
const (
	maxTrades   = 1 << 16
	knownTrades = 1024
	tradesPage  = 1000
	tradesPages = 20
)

// trades follows the channel trades: each trade once, in the order of its market. At each opening
// the trades since the last one are asked for over REST; events wait meanwhile.
type trades struct {
	feed    *Feed
	channel *Channel
	poke    poke

	mu      sync.Mutex // guards everything below
	of      map[market.ID]*tradeCursor
	list    []*tradeCursor
	waiting []market.Trade // to be sent
	queued  int            // of those, that are in the feed's queue
	dropped bool
}

// tradeCursor is the progress of one market.
type tradeCursor struct {
	m      *market.Market
	since  market.Time // of the latest trade
	last   []uuid.UUID // of the latest trades
	opened bool
	epoch  int                    // counts the openings and ends of the stream
	whole  bool                   // the trades before the subscription have been asked for
	held   []exchange.PublicTrade // events that wait for that
}

func newTrades(f *Feed) *trades {
	t := &trades{feed: f, poke: make(poke, 1), of: map[market.ID]*tradeCursor{}}
	for _, id := range f.Trades {
		one := &tradeCursor{m: f.Catalog.Market(id), since: f.Data.Now()}
		t.of[id], t.list = one, append(t.list, one)
	}
	t.channel = &Channel{Name: "trades", Topics: []Topic{{Markets: f.namesOf(f.Trades)}}, Quiet: time.Minute,
		Opened: func() { t.reset(true) }, Event: t.onEvent, Closed: func() { t.reset(false) },
		Silent: func(market.Duration) { t.reset(true) }}
	if len(t.of) > 0 {
		f.On.Subscribe(t.channel)
	}
	return t
}

// reset asks for the trades since the latest ones.
func (t *trades) reset(opened bool) {
	t.mu.Lock()
	for _, one := range t.list {
		one.opened, one.epoch, one.whole = opened, one.epoch+1, false
	}
	t.mu.Unlock()
	t.poke.send()
}

func (t *trades) onEvent(frame []byte) error {
	m, trade, err := readTrade(frame, t.feed.known)
	if err != nil || m == nil {
		return t.feed.judge(m, err)
	}
	t.channel.SetLag(t.feed.Data.Now().Sub(trade.Time))
	t.mu.Lock()
	defer t.mu.Unlock()
	switch one := t.of[m.ID]; {
	case one == nil:
	case one.whole:
		t.add(one, &trade)
	case len(one.held) < maxTrades:
		one.held = append(one.held, trade)
	}
	return nil
}

// add lets a trade wait to be sent, unless it is known. The caller holds the mutex.
func (t *trades) add(one *tradeCursor, trade *exchange.PublicTrade) {
	if slices.Contains(one.last, trade.ID) {
		return
	}
	if one.last = append(one.last, trade.ID); len(one.last) >= 2*knownTrades {
		one.last = slices.Delete(one.last, 0, knownTrades)
	}
	one.since = max(one.since, trade.Time)
	if len(t.waiting) >= maxTrades {
		if t.waiting = t.waiting[1:]; !t.dropped {
			t.dropped = true
			t.feed.Log.Warn().Int("waiting", maxTrades).Msg("more trades than can wait: the oldest of them are missing")
		}
	}
	t.waiting = append(t.waiting, trade.Trade)
	if t.queued < len(t.waiting) {
		t.queued++
		t.feed.put(t)
	}
}

func (t *trades) make() (market.Event, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queued--
	if len(t.waiting) == 0 {
		return market.Event{}, false
	}
	trade := t.waiting[0]
	t.waiting = t.waiting[1:]
	return market.Event{At: max(t.feed.Data.Now(), trade.Time), Kind: market.KindTrade, Market: trade.Market,
		Trade: &trade}, true
}

// run asks for the trades before each subscription, until ctx ends.
func (t *trades) run(ctx context.Context) {
	for {
		wait := time.After(t.feed.BookEvery * 5)
		select {
		case <-wait:
		case <-t.poke:
		case <-ctx.Done():
			return
		}
		for _, one := range t.list {
			t.fill(ctx, one)
		}
	}
}

// fill asks for the trades of a market since its latest one, where they are missing. While the
// stream is not open they are missing again and again.
func (t *trades) fill(ctx context.Context, one *tradeCursor) {
	t.mu.Lock()
	since, epoch, whole := one.since, one.epoch, one.whole
	t.mu.Unlock()
	if whole {
		return
	}
	found, err := t.between(ctx, one.m, since)
	if err != nil {
		if ctx.Err() == nil {
			t.feed.Log.Debug().Err(err).Str("market", one.m.Name).Msg("the exchange did not answer for its trades")
		}
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range found {
		t.add(one, &found[i])
	}
	if one.whole = one.opened && one.epoch == epoch; one.whole {
		for i := range one.held {
			t.add(one, &one.held[i])
		}
		one.held = nil
	}
}

// between are the trades since a time, the oldest first.
func (t *trades) between(ctx context.Context, m *market.Market, since market.Time) (all []exchange.PublicTrade,
	err error) {
	until := market.Time(0)
	for range tradesPages {
		page, err := t.feed.TradeData.TradesBetween(ctx, m, since, until, tradesPage, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < tradesPage || page[len(page)-1].Time == until {
			break
		}
		until = page[len(page)-1].Time
	}
	slices.Reverse(all)
	return all, nil
}
