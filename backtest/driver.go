package backtest

import (
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// driver runs a plan once: over its stored candles (run), or over inputs that come one by one
// (Session).
type driver struct {
	plan     *Plan
	engine   *engine.Engine
	account  *state.Account
	venue    *sim.Venue
	recorder *recorder
	record   func(equity market.Money, from market.Time, rates []exchange.Fees) (*recorder, error)
	tracer   func(*market.Command, market.Time)
	progress func(market.Time)
	feedSet
	latency market.Time // from close to arrival
	instant
	coarse    coarse
	oneCandle oneCandle
	gate      *risk.Gate
	quotes
	marketsNow
	mishaps
	sessionFacts
	borders
	more int // history beyond the warm-ups, in warm-ups

	pauseAt market.Time                 // pause is called before the first group that closes later
	pause   func(end market.Time) error // gets the close of that group; it sets pauseAt anew

	// What the venue was given: a fork shares fees, and has a sink and a point of its own.
	fees  func(*market.Market) exchange.Fees
	sink  func(*market.Event)
	point sim.Point
}

// feedSet are the feeds of a run over stored candles, and its signals.
type feedSet struct {
	signalFeed
	feeds    []feed
	even     bool          // alike, and the feeds have one interval of fixed length
	alike    bool          // each feed drives and delivers: drive and deliver are the same candles
	plain    bool          // one feed, and no tickers or books to make: quiet candles need no walk
	drivenTo []market.Time // by market: until when its path has been walked
	outline  outline       // of the only feed's batch, where many runs step it
}

// instant is the candles that close together, and how far the run is.
type instant struct {
	movement market.Event // reused: what the venue advances by
	arrival  market.Event // reused: what the engine steps
	drive    []market.Candle
	deliver  []market.Candle
	started  bool
	from     market.Time // start of the range, once started
	last     market.Time // close of the last group
	knows    market.Time // for the tracer: see decision
	busy     bool        // the venue walked the last candle, and the next was not stepped with it
}

// mishaps are what went wrong in a run, for its warnings.
type mishaps struct {
	rejected map[int]int64 // orders, by the exchange's code
	bare     []bareCount   // positions without an exit
	unsold   []failedClose // by Closes
}

// newDriver builds engine and venue for one run of the plan. Nothing is read yet: open opens the
// feeds of stored candles, a Session needs none.
func newDriver(p *Plan, o runOptions) (*driver, error) {
	markets := len(p.Catalog.Markets()) + 1
	d := &driver{
		plan: p, record: o.record, tracer: o.tracer, progress: o.progress, pauseAt: math.MaxInt64, more: o.more,
		feedSet: feedSet{drivenTo: make([]market.Time, markets)}, mishaps: mishaps{rejected: make(map[int]int64)},
		quotes: quotes{tickers: make([]bool, markets), books: make([]bool, markets), sizes: make([]size, markets),
			overwrites: o.overwrite},
		sessionFacts: sessionFacts{live: o.live, facts: o.facts}, borders: borders{borderAt: never},
	}
	d.setSignals(p.Signals)
	d.rates = slices.Repeat([]exchange.Fees{exchange.Fees(p.Fees)}, markets)
	d.fees, d.sink, d.point = d.feesOf, d.onEvent, d.onPath
	d.beginChanges()
	roster, err := NewRoster(p.Catalog, p.Strategies, p.Log)
	if err != nil {
		return nil, err
	}
	d.subscribe(roster)
	if len(p.Borders) > 0 {
		if err := p.checkBorders(); err != nil {
			return nil, err
		}
		d.options, d.borderAt = o, d.nextBorder()
	}
	if err := d.seat(roster, o); err != nil {
		return nil, err
	}
	config := p.Venue
	config.Fees, config.Watches = d.fees, d.engine.Watches()
	if d.live {
		config.DrawEvery = market.Duration(markEvery)
	} else {
		config.Followed, config.Point = d.follow(), d.point
	}
	if o.path != nil {
		config.Path = *o.path
	}
	d.venue = sim.New(p.Catalog, config, d.sink)
	d.movement.Kind, d.arrival.Kind = market.KindCandles, market.KindCandles
	d.tick = market.Event{Kind: market.KindTicker, Ticker: &d.ticker}
	d.show = market.Event{Kind: market.KindBook, Book: &d.book}
	d.latency = market.Time(p.DataLatency)
	d.plain = !p.OneByOne && len(p.Changes) == 0 && len(p.Feeds) == 1 && !slices.Contains(d.tickers, true) &&
		!slices.Contains(d.books, true)
	return d, nil
}

// subscribe notes the markets for which tickers and books are made.
func (d *driver) subscribe(r *Roster) {
	for i := range r.Slots {
		for _, m := range r.Slots[i].Markets {
			d.tickers[m] = d.tickers[m] || r.Needs[i].Ticker
			d.books[m] = d.books[m] || r.Needs[i].Book && d.plan.SyntheticBook
		}
	}
}

// end stops the strategies after the last candle.
func (d *driver) end() error {
	if !d.started {
		return ErrNoCandles
	}
	d.ownRules()
	d.knows = math.MaxInt64 // from here on the end of the data is known
	d.send(d.engine.Stop(d.engine.Now()))
	d.recordOpen()
	return nil
}

// step processes the candles of drive and deliver, which close at end. It is the one way of a
// candle: the venue walks its path, unless the candle is quiet; the strategies receive it, with the
// quiet candles after it where nothing keeps them from being stepped in a row; the recorder marks
// the account at each close. row are the candles of the only feed from this one on, which begin at
// a place of its batch; nil where there are several feeds. It returns how many it has processed.
func (d *driver) step(end market.Time, row []market.Candle, at int) (stepped int, err error) {
	rows := row != nil && d.steady()
	quiet := rows && d.isQuiet(&row[0])
	if !quiet {
		if err := d.walk(end); err != nil {
			return 0, err
		}
	}
	if rows && (quiet || !d.busy) {
		stepped, err = d.stepRow(row, at, !quiet)
	}
	if stepped == 0 && err == nil {
		if quiet {
			if err := d.walk(end); err != nil {
				return 0, err
			}
		}
		stepped, err = 1, d.deliverGroup(end, d.deliver)
	}
	d.busy = !quiet && stepped == 1
	return stepped, err
}

// group is step for a group of candles of several feeds, or of a session.
func (d *driver) group(end market.Time) error {
	_, err := d.step(end, nil, 0)
	return err
}

// steady reports whether candles of the only feed may be stepped in a row.
func (d *driver) steady() bool {
	return d.plain && d.started && !d.signalDue && d.feeds[0].length > 0 &&
		(d.recorder == nil || d.recorder.hold.trading)
}

// isQuiet reports whether a candle has no effect at the venue.
func (d *driver) isQuiet(c *market.Candle) bool {
	low, high := d.venue.QuietRange(c.Market)
	return c.Low > low && c.High < high
}

// walk lets the venue walk the paths of the candles that close at end, after the timers and the
// changes of markets before it.
func (d *driver) walk(end market.Time) error {
	d.ownRules()
	if !d.started {
		if err := d.start(); err != nil {
			return err
		}
	}
	inPath := d.hearBefore(end) // the venue says when
	if at, waiting := d.engine.NextTimer(); waiting && at < end && !inPath {
		d.fireTimers(end - 1)
	}
	d.knows = end
	if len(d.plan.Changes) > 0 {
		if err := d.change(end); err != nil {
			return err
		}
	}
	d.movement.At, d.movement.Candles = end, d.drive
	d.coarse.walking = true
	if err := d.venue.Advance(&d.movement); err != nil {
		return err
	}
	d.coarse.walking = false
	d.leave(end)
	if inPath {
		d.await(0)
		d.hear(end - 1)
		d.fireTimers(end - 1)
	}
	return nil
}

// stepRow steps quiet candles, from a place in the batch on, and returns how many; walked: the
// venue has walked the first.
func (d *driver) stepRow(series []market.Candle, at int, walked bool) (int, error) {
	f := &d.feeds[0]
	low, high := d.venue.QuietRange(f.Market.ID)
	n, commands := d.engine.StepQuiet(series, f.length, d.latency, engine.Quiet{Low: low, High: high, Walked: walked})
	if n == 0 {
		return 0, nil
	}
	last := &series[n-1]
	d.venue.SkipTo(last)
	d.last = last.Start + f.length
	d.knows = d.last
	if len(commands) > 0 {
		d.send(commands)
	}
	if d.engine.TimerDue() {
		d.fireTimers(d.engine.Now())
	}
	if d.recorder != nil {
		if err := d.markQuiet(f, at, series[:n]); err != nil {
			return n, err
		}
	}
	return n, d.engine.Err()
}

// deliverGroup delivers the candles that closed at end to the strategies, and records the account.
func (d *driver) deliverGroup(end market.Time, group []market.Candle) error {
	at := max(end+d.latency, d.engine.Now())
	if d.signalAt <= at {
		d.hear(at)
	}
	d.arrival.At, d.arrival.Candles = at, group
	if commands := d.engine.Step(&d.arrival); len(commands) > 0 {
		d.send(commands)
	}
	if d.engine.TimerDue() {
		d.fireTimers(at)
	}
	if d.recorder != nil {
		d.mark(end)
	}
	d.last = end
	if d.overwrites {
		overwrite(d.drive)
		overwrite(group)
	}
	return d.engine.Err()
}

// mark records the account at a close.
func (d *driver) mark(end market.Time) {
	cash, equity, err := d.account.CashAndEquity(d.plan.Currency.ID)
	if err != nil {
		d.recorder.fail(err)
		return
	}
	r := d.recorder
	if r.marks == 0 {
		r.hold.trading = d.tradable()
	}
	r.Mark(end, equity, cash, equity != cash)
	if r.days != nil {
		d.markDay(end, cash, equity)
	}
	d.markCandles()
	switch {
	case !r.hold.trading:
		r.hold.trading = d.tradable() // from the next open on
	case r.hold.joint != nil:
	case r.hold.several() && end >= r.hold.due:
		r.hold.look(end, &r.cfg, d.account.Last)
	}
}

// markDay is markQuiet for the days alone, for a close that is not quiet.
func (d *driver) markDay(end market.Time, cash, equity market.Money) {
	if !d.plain {
		d.recorder.days.stay(end, balances{rest: equity, cash: cash}, 0, 1)
		return
	}
	c := &d.deliver[0]
	d.recorder.days.stay(end, d.balances(d.feeds[0].Market, cash, equity), int64(c.Close), 1)
}

// markCandles records the candles of a close: prices that open positions saw, and buy and hold of
// one market.
func (d *driver) markCandles() {
	r := d.recorder
	if r.followed != nil {
		r.followed.group(d.drive)
	}
	if r.hold.trading && r.hold.joint == nil && !r.hold.several() {
		d.markHold()
	}
}

// markHold records the candle of the market of buy and hold: once, though it may stand in both
// groups.
func (d *driver) markHold() {
	_ = d.markBar(d.deliver) || d.markBar(d.drive)
}

// markBar records the candle of the market of buy and hold, and reports whether it is in a group.
func (d *driver) markBar(group []market.Candle) bool {
	for i := range group {
		if d.recorder.Bar(&group[i]) {
			return true
		}
	}
	return false
}

// endHold marks buy and hold of several markets at the end.
func (d *driver) endHold() {
	if h := &d.recorder.hold; h.several() && h.trading {
		h.look(d.last, &d.recorder.cfg, d.account.Last)
	}
}

// tradable reports whether a strategy has ended its warm-up.
func (d *driver) tradable() bool {
	for i := range d.plan.Strategies {
		if !d.engine.Warming(market.StrategyID(i + 1)) {
			return true
		}
	}
	return false
}

// onEvent passes an event of the venue to the engine. Arrival times never go back: an event within
// a path that happened before the arrival of a later one arrives now.
func (d *driver) onEvent(ev *market.Event) {
	if d.muted && ev.Kind == market.KindTrade {
		return
	}
	if ev.Kind == market.KindTimer {
		d.hear(ev.At)
		d.fireTimers(ev.At)
		return
	}
	ev.At = max(ev.At, d.engine.Now())
	if commands := d.engine.Step(ev); len(commands) > 0 {
		d.send(commands)
	}
}

// send passes commands to the venue.
func (d *driver) send(commands []market.Command) {
	for i := range commands {
		c := &commands[i]
		if d.tracer != nil {
			d.tracer(c, d.knows)
		}
		if d.recorder != nil && d.recorder.page != nil {
			d.recorder.page.stops.command(c, d.plan.Catalog)
		}
		if d.facts != nil && d.knownFate(c) {
			continue
		}
		if !d.waits(c) {
			d.venue.Do(c)
		}
	}
}

// fireTimers steps the timers that are due until a time, each at its own.
func (d *driver) fireTimers(until market.Time) {
	for rounds := 0; rounds < maxTimers; rounds++ {
		at, waiting := d.engine.NextTimer()
		if !waiting || at > until {
			return
		}
		ev := market.Event{Kind: market.KindTimer, At: max(at, d.engine.Now())}
		d.sendInPath(d.engine.Step(&ev))
	}
}

// sendInPath passes commands to the venue. While a path is walked, one that does not act where the
// path stands arrives at a later point of it.
func (d *driver) sendInPath(commands []market.Command) {
	walks := d.venue.Walks()
	for i := range commands {
		commands[i].Earlier = walks && !commands[i].Attached
	}
	d.send(commands)
}

// maxTimers bounds the timers of one candle: a strategy that sets its next timer in the past would
// fire for ever.
const maxTimers = 100_000

// Filled records a fill: an engine.Observer.
func (d *driver) Filled(o *state.Order, f *market.Fill) {
	if len(d.oneCandle.moves) > 0 {
		d.soldWithin(o, f)
	}
	if d.recorder != nil {
		d.recorder.Fill(f, &o.Order)
	}
}

// Closed records an order that has ended: an engine.Observer.
func (d *driver) Closed(o *state.Order) {
	if o.State == state.Rejected {
		d.rejected[o.Code]++
	}
	switch {
	case d.recorder == nil:
	case o.State == state.Rejected:
		d.recorder.Rejected(&o.Order)
	default:
		d.recorder.Order(&o.Order)
	}
}

// recordOpen records the orders that are open at the end.
func (d *driver) recordOpen() {
	if d.recorder == nil {
		return
	}
	for _, o := range d.account.Open(nil, 0, 0) {
		d.recorder.Order(o)
	}
}
