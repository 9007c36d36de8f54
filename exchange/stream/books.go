package stream

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// snapshotDepth is how many levels of a side a snapshot has: the most that the exchange shows.
const snapshotDepth = 1000

// books follows the channel book: for each market a copy of its book (websocket-facts 5).
type books struct {
	feed    *Feed
	channel *Channel
	of      []*book
	byID    map[market.ID]*book
	delta   delta // of the reading goroutine
}

// book is the copy of one market's book. Events are kept while a snapshot is asked for. An event
// that is missing makes the copy stale: nothing is sent until the next snapshot.
type book struct {
	in   *books
	m    *market.Market
	poke poke // a snapshot is needed at once

	mu      sync.Mutex // guards everything below
	copy    bookCopy
	opened  bool
	epoch   int     // counts the openings and ends of the stream
	synced  bool    // the copy is that of the exchange as of its nonce
	heard   int64   // nonce of the latest event, or of the first snapshot where none has come
	any     bool    // an event has come since the opening
	based   bool    // a snapshot has come since the opening
	asking  bool    // a snapshot is on its way: events are kept
	kept    []delta // since the question, without a gap
	checked time.Duration
	ahead   bool // a snapshot was ahead of the events since aheadAt …
	aheadAt time.Duration
	queued  bool
	polled  *market.OrderBook // the answer while the stream is not open
}

func newBooks(f *Feed) *books {
	all := &books{feed: f, byID: map[market.ID]*book{}}
	for _, id := range f.Books {
		b := &book{in: all, m: f.Catalog.Market(id), poke: make(poke, 1)}
		all.of, all.byID[id] = append(all.of, b), b
	}
	all.channel = &Channel{Name: "book", Topics: []Topic{{Markets: f.namesOf(f.Books)}}, Event: all.onEvent,
		Opened: func() { all.reset(true) }, Closed: func() { all.reset(false) }, Silent: all.onSilent}
	if len(all.of) > 0 {
		f.On.Subscribe(all.channel)
	}
	return all
}

func (all *books) reset(opened bool) {
	for _, b := range all.of {
		b.mu.Lock()
		b.opened, b.any, b.based, b.epoch = opened, false, false, b.epoch+1
		b.lose()
		b.mu.Unlock()
	}
}

// onSilent compares all books with the exchange's.
func (all *books) onSilent(market.Duration) {
	for _, b := range all.of {
		b.poke.send()
	}
}

func (all *books) onEvent(frame []byte) error {
	d := &all.delta
	m, err := readDelta(frame, all.feed.known, d)
	if err != nil || m == nil {
		return all.feed.judge(m, err)
	}
	if d.Time != 0 {
		all.channel.SetLag(all.feed.Data.Now().Sub(d.Time))
	}
	if b := all.byID[m.ID]; b != nil {
		b.take(d)
	}
	return nil
}

// take takes an event.
func (b *book) take(d *delta) {
	b.mu.Lock()
	defer b.mu.Unlock()
	gap := b.any && d.Nonce != b.heard+1
	b.heard, b.any = d.Nonce, true
	if gap {
		b.lost()
	}
	if b.asking {
		b.kept = append(b.kept, delta{Nonce: d.Nonce, Time: d.Time, Bids: slices.Clone(d.Bids),
			Asks: slices.Clone(d.Asks)})
	}
	if b.synced {
		b.applyNext(d)
	}
	if b.synced {
		b.put()
	}
}

// lost makes the copy stale because of a gap.
func (b *book) lost() {
	b.in.feed.gaps.Add(1)
	b.in.feed.Log.Warn().Str("market", b.m.Name).Int64("nonce", b.heard).
		Msg("events of a book are missing: it is asked for anew")
	b.lose()
}

// lose makes the copy stale, and asks for a snapshot.
func (b *book) lose() {
	b.synced, b.ahead, b.kept, b.polled = false, false, b.kept[:0], nil
	b.poke.send()
}

// applyNext applies an event to the copy if its nonce is the next one. An event that the copy
// contains already is ignored, after a gap the copy is lost.
func (b *book) applyNext(d *delta) {
	switch {
	case d.Nonce <= b.copy.nonce && d.Time <= b.copy.time:
		return
	case d.Nonce != b.copy.nonce+1:
		b.lost()
		return
	}
	b.copy.apply(d)
	b.ahead = false
	if b.copy.crossed() {
		b.lost()
		return
	}
	if !b.copy.known(b.low()) {
		b.poke.send()
	}
}

// low is the number of known levels below which a new snapshot is taken, before there are fewer
// than are asked for: of the most levels, some may be missing for a moment.
func (b *book) low() int {
	depth := b.in.feed.Depth
	return min(depth+depth/4+10, snapshotDepth-snapshotDepth/10)
}

// put lets the book wait to be sent. The caller holds the mutex.
func (b *book) put() {
	if !b.queued {
		b.queued = true
		b.in.feed.put(b)
	}
}

func (b *book) make() (market.Event, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queued = false
	ev := market.Event{At: b.in.feed.Data.Now(), Kind: market.KindBook, Market: b.m.ID}
	switch {
	case b.synced:
		ev.Book = b.copy.book(b.m.ID, b.in.feed.Depth)
	case b.polled != nil:
		ev.Book, b.polled = b.polled, nil
	}
	return ev, ev.Book != nil
}

// clock is the time since the channel's birth.
func (b *book) clock() time.Duration { return time.Duration(b.in.channel.now()) }

// run asks for snapshots until ctx ends.
func (b *book) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-time.After(b.pause()):
		case <-b.poke:
		case <-ctx.Done():
			return
		}
		if b.overdue() {
			b.in.feed.differed(b.m, "book")
			b.in.feed.On.Reset(ErrSilent)
			continue
		}
		b.ask(ctx)
	}
}

// pause is the time until the next snapshot, without a reason to ask earlier.
func (b *book) pause() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.ahead:
		return graceOfNew
	case b.opened && b.synced:
		return max(0, b.checked+b.in.feed.CheckEvery-b.clock())
	}
	return b.in.feed.BookEvery
}

// overdue reports that a snapshot was ahead of the events, and they have not come since.
func (b *book) overdue() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ahead && b.opened && b.clock()-b.aheadAt >= graceOfNew
}

// ask asks for a snapshot: the most levels for a copy, those that are wanted while the stream is
// not open.
func (b *book) ask(ctx context.Context) {
	b.mu.Lock()
	epoch, opened, depth := b.epoch, b.opened, snapshotDepth
	if b.asking, b.kept = opened, b.kept[:0]; !opened {
		depth = b.in.feed.Depth
	}
	b.mu.Unlock()
	var shown market.OrderBook
	err := b.in.feed.Data.Book(ctx, b.m, depth, &shown)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asking = false
	switch {
	case err != nil:
		b.synced = false // not trading any more, or unknown
		if ctx.Err() == nil {
			b.in.feed.Log.Debug().Err(err).Str("market", b.m.Name).Msg("the exchange has no book")
		}
	case b.epoch != epoch:
		b.poke.send()
	case opened:
		b.answer(&shown)
	default:
		b.polled = &shown
		b.put()
	}
}

// answer begins a copy with a snapshot, and the events that came since the question. The caller
// holds the mutex.
func (b *book) answer(shown *market.OrderBook) {
	was, compared := b.copy, b.synced
	b.copy = bookCopy{}
	b.copy.load(shown, snapshotDepth)
	b.checked, b.synced = b.clock(), true
	if len(b.kept) > 0 && b.kept[0].Nonce > b.copy.nonce+1 || len(b.kept) == 0 && b.any && b.heard > b.copy.nonce {
		b.synced = false // it is older than the events: the next one may be newer
		return
	}
	for i := range b.kept {
		if b.applyNext(&b.kept[i]); !b.synced {
			return
		}
	}
	if b.copy.crossed() {
		b.synced = false
		return
	}
	if compared && was.nonce == b.copy.nonce && was.differs(&b.copy) {
		b.in.feed.differed(b.m, "book")
	}
	b.noteAhead()
	b.put()
}

// noteAhead notes whether the copy has changes whose events have not come.
func (b *book) noteAhead() {
	if !b.any && !b.based {
		b.heard = b.copy.nonce
	}
	b.based = true
	switch {
	case b.copy.nonce == b.heard, b.any && b.copy.nonce < b.heard:
		b.ahead = false
	case !b.ahead:
		b.ahead, b.aheadAt = true, b.clock()
	}
}
