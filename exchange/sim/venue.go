package sim

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Config is how the venue behaves. The zero value is the plain venue: the adaptive path, fills on
// touch, no spread, no slippage, no latency, no volume cap, no price protection, no fees.
type Config struct {
	Path        Path
	LimitFill   LimitFill
	LimitGap    LimitGap
	FeeRounding exchange.FeeRounding               // of the money of a fill
	Fees        func(*market.Market) exchange.Fees // nil: no fees
	HalfSpread  market.Rate                        // half the distance between bid and ask, as a fraction of the price
	Slippage    market.Rate                        // a taker's cost beyond bid or ask, as a fraction of the price
	Latency     market.Duration                    // from decision to arrival
	VolumeShare market.Rate                        // share of a candle's volume that own orders may take; 0: no cap
	Watches     []market.Watch                     // by market.ID, the engine's own slice: prices to report; nil: none
	Followed    []bool                             // by market.ID: markets whose paths Point gets; nil: none
	Point       Point                              // gets the points of followed paths; may be nil

	// MissProbability is the chance that a price which only touches a resting limit order does not
	// fill it: one draw for each order and candle, a hash of MissSeed, the order's id and the
	// candle's start. A price beyond the order fills it in any case. 0: every touch fills. Without
	// effect with LimitFill Through, which knows no touch.
	MissProbability market.Rate
	MissSeed        uint64
	// DrawEvery is the span whose tickers and trades share a draw, as the prices of a candle do; 0:
	// each movement has its own.
	DrawEvery market.Duration

	// PlacementLimit cancels a limit order that is priced through the market by more than this
	// (venue-facts 3.4); 0: off.
	PlacementLimit market.Rate

	HoldLater bool // exchange.Facts.HoldLater

	Book      bool                           // liquidity is a book between accounts and the house, not the path alone
	Liquidity func(*market.Market) Liquidity // of a Book; nil: no house

	// The price protections of a Book (venue-facts 3.4); 0: off. A taker goes no farther than
	// ExecutionLimit from the best price it met, and ReferenceLimit from the last price before it.
	// Orders without a limit price are cancelled at a spread above SpreadLimit.
	ExecutionLimit, ReferenceLimit, SpreadLimit market.Rate
}

// PathPoint is one of the four points of a candle's path.
type PathPoint struct {
	Candle *market.Candle // valid until Point returns
	At     market.Time
	Price  market.Price
}

// Point gets the points of paths, after everything that happens at them: one, or, while nothing
// happens, the next ones of all followed markets in order. It returns how many it has taken, at
// least one. When a point has led to a command or to a change of Config.Watches, Point must not
// take a later one. Like the sink, Point may call Do and no other method of the venue.
type Point func(path []PathPoint) (taken int)

// Path is the order in which a candle visits its prices.
type Path uint8

// The paths. Adaptive is open → nearer extreme → farther extreme → close; of two extremes equally
// near, the one against the candle's direction comes first. Pessimistic visits the worse extreme
// first: the low when base is held, else the high.
const (
	Adaptive Path = iota
	OHLC
	OLHC
	Pessimistic
	Optimistic
)

var paths = [...]string{"adaptive", "ohlc", "olhc", "pessimistic", "optimistic"}

// ParsePath reads the name of a path: adaptive, ohlc, olhc, pessimistic or optimistic.
func ParsePath(text string) (Path, error) { return word[Path]("path", text, paths[:]) }

// String returns the path's name.
func (p Path) String() string { return paths[p] }

// word reads a name of a list.
func word[T ~uint8](what, text string, names []string) (T, error) {
	if i := slices.Index(names, text); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("%s %q is not one of %v", what, text, names)
}

// LimitFill says when a resting limit order fills.
type LimitFill uint8

// The choices.
const (
	Touch   LimitFill = iota // when the price reaches it
	Through                  // when the price trades beyond it
	// When recorded trades have used up what stood before it in the recorded book (queue.go); where
	// there is no recorded book, Through.
	Queue
)

var limitFills = [...]string{"touch", "through", "queue"}

// LimitGap says at which price a resting limit order fills that the open of a candle has passed.
type LimitGap uint8

// The prices.
const (
	GapOwn  LimitGap = iota // its own: in a market that never closes the price went through it
	GapOpen                 // the open, which is better
)

var limitGaps = [...]string{"own", "open"}

// ParseLimitGap reads "own" or "open".
func ParseLimitGap(text string) (LimitGap, error) {
	return word[LimitGap]("limit_gap", text, limitGaps[:])
}

// String returns the text that ParseLimitGap reads.
func (g LimitGap) String() string { return limitGaps[g] }

// ParseLimitFill reads "touch", "through" or "queue".
func ParseLimitFill(text string) (LimitFill, error) {
	return word[LimitFill]("limit_fill", text, limitFills[:])
}

// String returns the text that ParseLimitFill reads.
func (l LimitFill) String() string { return limitFills[l] }

// Venue is the simulated exchange. It is a plain value owned by one goroutine.
type Venue struct {
	matching
	books  []book      // by market.ID
	active []*book     // scratch: books that a group of candles moves
	shown  []PathPoint // scratch: for Config.Point

	rings     bool        // the engine's timers ring inside the path that is walked
	ringsLeft int         // timers that may still ring on its present leg
	until     market.Time // to which the path is walked now

	across    bool // an attached buy was sent: it acts where its market's path stands
	ambiguous int64
	pathUsed  bool // some candle was walked past its open
}

// matching is a venue without the movement of prices: accounts, open orders, commands on their way,
// and how they trade where the price of a market stands.
type matching struct {
	accounts
	teller
	inbox
	orders   register
	config   Config
	sequence int64 // arrivals so far: time priority
	err      error

	submitting bool // a command of Submit is being carried out
	late       bool // and an order that it brings to the book stands aside
	refused    *exchange.Error

	fact    exchange.Facts
	changed market.Order
	reached []share // scratch: own orders that a trade or a book reaches
	counts  QueueCounts
}

// register is the open orders, and the memory of those that have ended for the next ones.
type register struct {
	market.Index[order] // by our id
	spare               []*order
	done                []*order // ended during this movement; spare from the next one on, when no pointer is left
}

// inbox is the commands that have not arrived.
type inbox struct {
	movement int64      // calls of Advance so far
	waiting  []*arrival // behind the last up to the capacity, spare memory for more
	due      []*arrival // scratch: commands that arrive now; spare behind the last as well
}

// teller tells the sink: it has the events' memory and a time that never decreases.
type teller struct {
	sink       func(*market.Event)
	now        market.Time
	event      market.Event // reused for every report
	priceEvent market.Event // reused for every watched price and timer
	report     market.Report
	fill       [1]market.Fill
	public     market.Trade
}

// order is an order at the venue.
type order struct {
	market.Order
	life
}

// life is the venue's private state of an order.
type life struct {
	account    *account
	in         *inAccount // the account in the order's market
	queue      *level     // of a Book, while it rests there
	prev, next *order     // in that queue
	shown      market.Qty // its part of the queue's total
	rank       *rank      // while it rests in a recorded book
	sequence   int64      // place in the queue: of the arrival, or of the last update

	level      market.Price         // of its ladder entry while it rests; before, the path's price at arrival
	resting    bool                 // has an entry: as a limit order or as a waiting trigger
	taking     bool                 // has a place among the book's takers
	aside      bool                 // open, but neither resting nor taking until Release
	weighed    bool                 // in QueueCounts.Orders
	large      bool                 // in QueueCounts.Large
	met        bool                 // its price was reached when it came: only the spread lets it rest
	missed     bool                 // a price that only touches it does not fill it in this movement
	exec       market.ExecutionType // the report to send when it comes to rest
	settlement exchange.Settlement
}

// arrival is a command on its way. A new order is copied once, to where it stays at the venue.
type arrival struct {
	origin
	book     *book
	kind     market.CommandKind
	attached bool
	id       market.OrderID
	movement int64           // of the Advance during which Do was called: it cannot arrive in the same path
	placed   *order          // of a place
	paid     market.Price    // of an order that meets an open alone: see openAlone
	change   *market.Command // of an update or a cancel; its memory stays for the next one
}

// origin is the account of a command and its time of arrival.
type origin struct {
	account  *account
	at       market.Time // the earliest
	sequence int64
}

// New returns a venue for the markets of the catalog. sink receives every event at the moment it
// happens. The event and the data behind its pointers are valid until sink returns. sink may call
// Do and Walks and no other method of the venue. While Config.Watches[0] has Tactic, sink
// also gets a timer event when the path of candles reaches the time of Config.Watches[0].Timer.
func New(catalog *market.Catalog, config Config, sink func(*market.Event)) *Venue {
	v := &Venue{books: make([]book, len(catalog.Markets())+1)}
	v.catalog, v.config, v.sink = catalog, config, sink
	v.solo = v.accounts.list[v.OpenAccount(config.Fees)]
	v.event = market.Event{Kind: market.KindReport, Report: &v.report}
	for _, m := range catalog.Markets() {
		b := &v.books[m.ID]
		b.market, b.spread = m, exchange.Spread{Half: config.HalfSpread, Slippage: config.Slippage}
		b.missing = misses{seed: config.MissSeed, every: config.DrawEvery}
		if config.LimitFill == Touch {
			b.missing.chance = config.MissProbability
		}
		b.below, b.above = newLadder(true), newLadder(false)
		v.makeBook(b)
		b.setQuietRange()
		b.watch = &market.Watch{}
		if config.Watches != nil {
			b.watch = &config.Watches[m.ID]
		}
	}
	return v
}

// Redirect sends the venue's events and points elsewhere: a copied venue must not go on telling the
// receivers of the original.
func (v *Venue) Redirect(sink func(*market.Event), point Point) { v.sink, v.config.Point = sink, point }

// Watch takes the place of Config.Watches: those of another engine, over the same account.
func (v *Venue) Watch(watches []market.Watch) {
	v.config.Watches = watches
	for i := range v.books {
		v.books[i].watch = &watches[i]
	}
}

// Trim gives up the memory that is kept for later orders and commands, before a copy is made of the
// venue.
func (v *Venue) Trim() { v.orders.spare, v.due, v.waiting = nil, nil, slices.Clip(v.waiting) }

// Deposit adds money to the balance of account 0.
func (a *accounts) Deposit(asset market.AssetID, money market.Money) error {
	return a.Transfer(0, asset, money)
}

// Balance returns account 0's balance of an asset.
func (a *accounts) Balance(asset market.AssetID) Balance { return a.solo.balances[asset] }

// Last returns the latest price of a market, 0 before the first.
func (v *Venue) Last(id market.ID) market.Price { return v.books[id].last }

// Ambiguous returns the number of candles so far in which own orders could have filled in either
// order.
func (v *Venue) Ambiguous() int64 { return v.ambiguous }

// PathUsed reports whether any candle so far was walked past its open. Until then Config.Path has
// had no effect: a venue with another path would have done the same.
func (v *Venue) PathUsed() bool { return v.pathUsed }

// Walks reports whether the paths of candles are being walked, and the engine's timers ring there.
func (v *Venue) Walks() bool { return v.rings }

// Open returns the number of open orders of account 0 in a market.
func (v *Venue) Open(id market.ID) int { return v.solo.markets[id].open }

// Do hands over a command. It arrives at the first point of a path that is not before Command.At
// plus the latency. A later Advance sends the outcome to the sink.
func (v *Venue) Do(c *market.Command) {
	b := &v.books[c.Order.Market]
	if c.Order.Market == 0 {
		b = v.bookOf(c)
	}
	a := v.inbox.fresh()
	a.book, a.kind, a.attached, a.id, a.account = b, c.Kind, c.Attached && v.attaches(b), c.Order.ID, v.solo
	if c.Kind == market.CommandPlace {
		a.placed = v.orders.fresh()
		a.placed.Order = c.Order
	} else {
		a.revise(c)
	}
	v.sequence++
	a.at, a.sequence, a.movement = c.At.Add(v.config.Latency), v.sequence, v.movement
	b.waiting++
	b.quietLow = math.MaxInt64
	if c.Earlier {
		a.movement--
	}
	if a.attached {
		b.attached = true
		v.across = v.across || c.Kind == market.CommandPlace && c.Order.Side == market.Buy
	}
}

// revise makes an arrival that of an update or a cancel.
//
//go:noinline
func (a *arrival) revise(c *market.Command) {
	if a.change == nil {
		a.change = new(market.Command)
	}
	*a.change = *c
}

// fresh returns memory for one more waiting command.
func (in *inbox) fresh() *arrival {
	n := len(in.waiting)
	if n == cap(in.waiting) {
		in.waiting = moreArrivals(in.waiting)
	}
	in.waiting = in.waiting[:n+1]
	return in.waiting[n]
}

// moreArrivals returns a list with the same commands and spare memory behind them.
//
//go:noinline
func moreArrivals(list []*arrival) []*arrival {
	n := len(list)
	grown, slab := append(make([]*arrival, 0, 2*n+4), list...), make([]arrival, n+4)
	for i := range slab {
		grown = append(grown, &slab[i])
	}
	return grown[:n]
}

// bookOf returns the book of the order that an update or a cancel names alone.
func (v *Venue) bookOf(c *market.Command) *book {
	if o := v.orders.Get(c.Order.ID); o != nil {
		return &v.books[o.Market]
	}
	for _, a := range v.waiting {
		if a.id == c.Order.ID {
			return a.book
		}
	}
	return &v.books[1] // an unknown order: any book can refuse it
}

// Advance moves markets: by candles (of one instant, one per market), a ticker, a trade, a recorded
// book, or a market's status. It lets commands arrive and orders fill on the way, and returns the
// first arithmetic error; after one, the venue stands still.
func (v *Venue) Advance(ev *market.Event) error {
	v.movement++
	v.orders.recycle()
	if ev.Kind == market.KindCandles {
		v.candles(ev.Candles)
	} else {
		v.advanceOther(ev)
	}
	return v.err
}

// advanceOther is Advance for what is no candle.
//
//go:noinline
func (v *Venue) advanceOther(ev *market.Event) {
	switch ev.Kind {
	case market.KindTicker:
		b := &v.books[ev.Ticker.Market]
		b.bid, b.ask = ev.Ticker.Bid, ev.Ticker.Ask
		b.follow(b.bid, b.ask)
		if b.shown != nil {
			v.tickInQueue(b, ev.Ticker, ev.At)
		}
		if !v.skipQuote(b, ev.Ticker, ev.At) {
			v.jump(ev.Ticker.Market, ev.Ticker.Last, ev.At, false)
		}
	case market.KindTrade:
		b := &v.books[ev.Trade.Market]
		b.house.endQuote(ev.Trade.Price)
		b.tradesRecorded = true
		if b.shown != nil {
			v.tradeInQueue(b, ev.Trade, ev.At)
		}
		v.jump(ev.Trade.Market, ev.Trade.Price, ev.At, true)
	case market.KindBook:
		v.showBook(&v.books[ev.Book.Market], ev.Book, ev.At)
	case market.KindMarketStatus:
		v.status(ev)
		v.books[ev.Market].setQuietRange()
	}
}

// recycle frees the memory of orders that have ended.
func (r *register) recycle() {
	for _, o := range r.done {
		r.spare = append(r.spare, o)
	}
	r.done = r.done[:0]
}

// fail keeps the first arithmetic error.
func (v *matching) fail(o *order, err error) {
	if v.err == nil {
		v.err = fmt.Errorf("order %d: %w", o.ID, err)
	}
}

// emit sends the sink a report of an order, with its latest fill where fills is 1.
func (v *matching) emit(b *book, o *order, exec market.ExecutionType, fills int) {
	o.Updated = b.time
	if o.queue != nil && o.shown != o.AmountRemaining {
		b.resize(o)
	}
	v.report.Describe(&o.Order, exec)
	v.deliver(b, fills)
	if o.Done() {
		v.release(b, o)
	}
}

// resize shows what is left of an order that rests in a Book.
//
//go:noinline
func (b *book) resize(o *order) { b.queue(o).resize(o) }

// reject reports to the sink that a command was refused; Submit returns the refusal instead.
func (v *matching) reject(b *book, kind market.CommandKind, id market.OrderID, refused *exchange.Error) {
	if v.submitting {
		v.refused = refused
		return
	}
	v.report = market.Report{
		Exec: market.ExecRejected, Command: kind, Code: refused.Code,
		Order: id, Market: b.market.ID, OrderState: market.OrderState{Updated: b.time},
	}
	v.deliver(b, 0)
}

func (t *teller) deliver(b *book, fills int) {
	t.now = max(t.now, b.time)
	t.event.At, t.event.Market, t.event.Fills = t.now, b.market.ID, t.fill[:fills]
	t.sink(&t.event)
}

// release drops an order that is done. Its memory serves the next one.
func (v *matching) release(b *book, o *order) {
	if o.Type != market.TypeMarket {
		o.in.open--
	}
	v.orders.drop(o)
}

// drop removes an order that is done.
func (r *register) drop(o *order) {
	r.Delete(o.ID)
	r.done = append(r.done, o)
}

// fresh returns an order with a zero life. Its market.Order is left over from another: overwrite
// it.
func (r *register) fresh() *order {
	if len(r.spare) == 0 {
		r.grow()
	}
	last := len(r.spare) - 1
	o := r.spare[last]
	r.spare = r.spare[:last]
	o.life = life{}
	return o
}

// grow makes memory for orders. Like other functions of what is rare, it is not inlined: the
// code that each order runs stays small, and more of it in the processor's cache.
//
//go:noinline
func (r *register) grow() {
	slab := make([]order, min(64, 8+2*cap(r.spare)))
	for i := range slab {
		r.spare = append(r.spare, &slab[len(slab)-1-i])
	}
}

// hold sets the amount that an order holds.
func (o *order) hold(money market.Money) {
	o.in.held[o.Side].Held += money - o.OnHold
	o.OnHold = money
}

// setName makes an identifier in the exchange's form: market number, kind (0 a fill, 1 an order),
// counter.
func setName(name *uuid.UUID, id market.ID, kind byte, count uint64) {
	binary.BigEndian.PutUint64(name[:8], uint64(id))
	binary.BigEndian.PutUint64(name[8:], uint64(kind)<<56|count&(1<<48-1))
}
