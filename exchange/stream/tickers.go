package stream

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// The times of tickers.
const (
	proofAfter = 10 * time.Second // of silence of all markets, after which the exchange is asked
	provenFor  = 15 * time.Second // after an event or an answer, prices that have not changed are still true
	graceOfNew = 2 * time.Second  // in which the event of a price that an answer showed must come
)

// tickers follows the channel ticker. Its events have only what has changed, and none comes at the
// beginning. So each opening begins with a question over REST; a value that an event has brought
// since that question wins over the answer's.
type tickers struct {
	feed    *Feed
	channel *Channel
	ask     poke
	priced  chan struct{} // closed after the first question

	mu     sync.Mutex // guards everything below
	of     map[market.ID]*ticker
	list   []*ticker // the same, in the order of the config
	opened bool
	epoch  int // counts the openings and ends of the stream
	// answered: an answer has come in this epoch. Markets that it lacks, halted ones, wait for the
	// next comparison.
	answered bool
	proven   time.Duration // since the channel's birth: when an event or an answer came last; 0: never
	checked  time.Duration // likewise: when an answer came last
}

// ticker is the state of one market.
type ticker struct {
	in      *tickers
	now     market.Ticker
	known   parts // that are true
	brought parts // by events since the latest question
	events  int64
	sent    time.Duration
	queued  bool
	// missed is how many events had come when an answer showed another price without an event, or
	// -1; missedAt is when.
	missed   int64
	missedAt time.Duration
}

func newTickers(f *Feed) *tickers {
	t := &tickers{feed: f, ask: make(poke, 1), priced: make(chan struct{}), of: map[market.ID]*ticker{}}
	for _, id := range f.Tickers {
		one := &ticker{in: t, now: market.Ticker{Market: id}, missed: -1}
		t.of[id], t.list = one, append(t.list, one)
	}
	t.channel = &Channel{Name: "ticker", Topics: []Topic{{Markets: f.namesOf(f.Tickers)}}, Opened: t.onOpened,
		Event: t.onEvent, Closed: func() { t.reset(false) }}
	if len(t.of) > 0 {
		f.On.Subscribe(t.channel)
	}
	return t
}

// onOpened begins anew: what an earlier connection brought may be out of date.
func (t *tickers) onOpened() {
	t.reset(true)
	t.ask.send()
}

func (t *tickers) reset(opened bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opened, t.answered, t.epoch = opened, false, t.epoch+1
	for _, one := range t.list {
		one.known, one.brought, one.missed = 0, 0, -1
	}
}

func (t *tickers) onEvent(frame []byte) error {
	var now market.Ticker
	m, brought, err := readTop(frame, t.feed.known, &now)
	if err != nil || m == nil {
		return t.feed.judge(m, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.of[m.ID]
	if one == nil {
		return nil
	}
	t.proven = t.clock()
	one.events++
	one.take(&now, brought)
	one.brought |= brought
	if one.known |= brought; one.known == allParts {
		one.put()
	}
	return nil
}

// clock is the time since the channel's birth.
func (t *tickers) clock() time.Duration { return time.Duration(t.channel.now()) }

// take copies parts of a ticker, and reports whether that changes anything.
func (one *ticker) take(from *market.Ticker, which parts) (changed bool) {
	was, now := one.now, &one.now
	if which&bid != 0 {
		now.Bid, now.BidSize = from.Bid, from.BidSize
	}
	if which&ask != 0 {
		now.Ask, now.AskSize = from.Ask, from.AskSize
	}
	if which&last != 0 {
		now.Last = from.Last
	}
	return was != *now
}

// put lets the ticker wait to be sent. The caller holds the mutex.
func (one *ticker) put() {
	if !one.queued {
		one.queued = true
		one.in.feed.put(one)
	}
}

func (one *ticker) make() (market.Event, bool) {
	t := one.in
	t.mu.Lock()
	defer t.mu.Unlock()
	one.queued, one.sent = false, t.clock()
	now := one.now
	return market.Event{At: t.feed.Data.Now(), Kind: market.KindTicker, Market: now.Market, Ticker: &now},
		one.known == allParts
}

// run asks over REST at each opening, while the stream is not open, after a silence of all markets,
// and now and then for a comparison; and it sends unchanged tickers again, as long as they are
// proven.
func (t *tickers) run(ctx context.Context) {
	t.question(ctx)
	close(t.priced)
	for stale := false; ctx.Err() == nil; {
		if t.due() {
			t.question(ctx)
		}
		silent := t.repeat()
		if silent > t.feed.StaleAfter && !stale && t.feed.Stale != nil {
			t.feed.Stale(silent)
		}
		stale = silent > t.feed.StaleAfter
		select {
		case <-time.After(t.feed.TickerEvery):
		case <-t.ask:
			t.question(ctx)
		case <-ctx.Done():
		}
	}
}

// due reports whether the exchange is to be asked.
func (t *tickers) due() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	return !t.opened || !t.answered || now-t.proven >= proofAfter || now-t.checked >= t.feed.CheckEvery
}

// question asks for all tickers.
func (t *tickers) question(ctx context.Context) {
	t.mu.Lock()
	for _, one := range t.list {
		one.brought = 0
	}
	epoch := t.epoch
	t.mu.Unlock()
	data := t.feed.Data
	prices, err := data.TickerPrices(ctx, nil)
	if err == nil || errors.Is(err, exchange.ErrUnits) {
		var tops []market.Ticker
		if tops, err = data.TickerBooks(ctx, nil); err == nil || errors.Is(err, exchange.ErrUnits) {
			t.answer(prices, tops, epoch)
			return
		}
	}
	if ctx.Err() == nil {
		t.feed.Log.Debug().Err(err).Str("feed", "tickers").Msg("the exchange did not answer")
	}
}

// answer takes the answer to a question of an epoch.
func (t *tickers) answer(prices, tops []market.Ticker, epoch int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.epoch != epoch {
		return // the stream has opened or ended meanwhile: the next question speaks for it
	}
	now, any := t.clock(), false
	for i := range prices {
		one := t.of[prices[i].Market]
		if one == nil {
			continue
		}
		told := prices[i]
		if at := slices.IndexFunc(tops, func(b market.Ticker) bool { return b.Market == told.Market }); at >= 0 {
			told.Bid, told.BidSize, told.Ask, told.AskSize = tops[at].Bid, tops[at].BidSize, tops[at].Ask,
				tops[at].AskSize
		}
		any = any || told.Last+told.Bid+told.Ask != 0
		one.answer(&told, now)
	}
	if any {
		t.proven, t.checked, t.answered = now, now, true
	}
}

// answer takes an answer: what no event has brought since its question. The caller holds the mutex.
func (one *ticker) answer(told *market.Ticker, now time.Duration) {
	was, known := one.now, one.known
	changed := one.take(told, allParts&^one.brought)
	if changed && known == allParts && one.in.opened && one.missed < 0 && moved(&was, &one.now) {
		one.missed, one.missedAt = one.events, now
	}
	one.known = allParts
	if n := &one.now; one.brought != 0 && n.Bid != 0 && n.Ask != 0 && n.Bid >= n.Ask {
		return // one side is older than the other: the event that is on its way has both
	}
	if changed || known != allParts || !one.in.opened {
		one.put()
	}
}

// moved reports whether an event must tell of a change. None tells that a side is empty, or that it
// is not empty any more with the level that it had before.
func moved(was, now *market.Ticker) bool {
	return was.Bid != 0 && now.Bid != 0 && (was.Bid != now.Bid || was.BidSize != now.BidSize) ||
		was.Ask != 0 && now.Ask != 0 && (was.Ask != now.Ask || was.AskSize != now.AskSize) || was.Last != now.Last
}

// repeat sends tickers again that have not changed, and ends a connection that has not told of a
// change. It returns the time since something proved the prices.
func (t *tickers) repeat() (unproven market.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, deaf := t.clock(), false
	for _, one := range t.list {
		if one.missed >= 0 && now-one.missedAt >= graceOfNew {
			if one.missed == one.events {
				deaf = true
				t.feed.differed(t.feed.Catalog.Market(one.now.Market), "ticker")
			}
			one.missed = -1
		}
		if t.opened && one.known == allParts && now-t.proven < provenFor && now-one.sent >= t.feed.TickerEvery {
			one.put()
		}
	}
	if deaf {
		t.feed.On.Reset(ErrSilent)
	}
	return now - t.proven
}
