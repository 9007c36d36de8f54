package gap

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/footprint"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// Model has the assumptions of runs where they take nothing from the record.
type Model struct {
	Venue       sim.Config
	Fees        *backtest.Fees  // nil: those of the bot
	DataLatency market.Duration // from a candle's close to its arrival
	// SyntheticBook: order books are made of candles.
	SyntheticBook bool
}

// run is one run over a stretch with some facts.
type run struct {
	stretch  *stretch
	survey   *survey
	model    *Model
	facts    Set            // taken from the record: all facts while leading, then out.Facts
	made     *core.Config   // of the present start
	manifest *core.Manifest // what its engine is made of now
	core     *core.Core
	relay    *relay
	session  *backtest.Session
	ledger   *profitMeter
	matcher  *matcher
	out      *RunBooks
	next     int     // place in the stored candles: those before have been delivered
	number   uint64  // of the record at hand
	pairs    []*pair // by order of the run
	live     map[market.OrderID]*pair
	due      []market.Input // answers that the record does not have, by time
	coming   []*pair        // orders on their way to the exchange
	group    market.Event   // reused
	parts    map[string][]byte
	hearing
	quotes map[market.ID]market.Ticker // the latest recorded ones
	others *footprint.Markets          // without the bot

	refusedAt map[refusal]market.Time // the latest one in RunBooks.Orders
}

// hearing is how far a run has heard its record.
type hearing struct {
	leading bool        // the stretch begins inside a start, and its beginning has not come yet
	funded  bool        // the record has gone past the deposits of the beginning
	deaf    bool        // events are lost: the rest of this start does not fit these books
	over    bool        // the record has ended: later asks do not count
	known   market.Time // close of the latest candle that strategies have
	caught  market.Time // close of the latest candle that came while the bot was down
	said    int         // place in the signals, of a run without Data: those before have been heard
	begun   market.Time // as known, at the beginning
}

// refusal is a kind of order with the reason for which the gate refused it.
type refusal struct {
	key
	reason string
}

// refuse keeps an order that the gate refused; of equal refusals it keeps one a minute.
func (r *run) refuse(asked *market.Command, reason string) {
	r.out.refused[reason]++
	o := &asked.Order
	of := refusal{keyOf(o), reason}
	if at, known := r.refusedAt[of]; asked.Kind != market.CommandPlace || known && asked.At-at < near {
		return
	}
	r.refusedAt[of] = asked.At
	r.out.Orders = append(r.out.Orders, RunOrder{Strategy: o.Strategy, Market: o.Market, Side: o.Side, Type: o.Type,
		At: asked.At, Amount: o.Amount, Quote: o.AmountQuote, Price: level(o), Refused: reason})
}

// pair is an order of a run with the live one that stands for it.
type pair struct {
	*life
	order    market.Order // of the run, as it was asked for
	log      int          // place in RunBooks.Orders; -1: it ended before from
	recorded bool         // the record says what becomes of it; else the venue
	exact    bool         // so far it is the live order in every term
	done     bool
	limit    market.Price // that was asked for last; 0: that of the order
	offered  market.Price // to it when it reached the exchange; 0: it has not
	arrives  market.Time
	settled  exchange.Settlement
	sum      tally
	live     market.Qty // filled of the live order
	used     []bool     // of the changes: another one of the run stands for it
	fills    []scaled
}

// tally is the sum of an order's fills by the record.
type tally struct {
	amount     market.Qty
	value, fee market.Value
}

// scaled is a fill whose fee comes later.
type scaled struct {
	id       uuid.UUID
	own, was market.Qty
}

// simulate runs the strategies over the stretch with some facts.
func (t *stretch) simulate(ctx context.Context, v *survey, model *Model, facts Set) *RunBooks {
	r := &run{stretch: t, survey: v, model: model, facts: facts, hearing: hearing{leading: t.lead},
		live: map[market.OrderID]*pair{}, quotes: map[market.ID]market.Ticker{},
		matcher: newMatcher(&v.liveOrders, v.candles.finest()), refusedAt: map[refusal]market.Time{},
		out: &RunBooks{Facts: facts, refused: map[string]int{}}, others: v.others()}
	r.out.Match.Run, r.out.Strategies = facts.String(), make([]market.Money, len(v.first.made.Strategies))
	if r.leading {
		r.facts = whole
	}
	err := r.play(ctx)
	r.close()
	if r.ledger != nil {
		r.out.Profit, r.out.Strategies = r.ledger.profit, r.ledger.byProfit
	}
	r.out.Err = err
	return r.out
}

// play plays the stretch.
func (r *run) play(ctx context.Context) error {
	for item, err := range r.stretch.items(ctx) {
		if err == nil {
			err = r.item(item)
		}
		if err != nil {
			return err
		}
	}
	return r.end()
}

// item plays a record.
func (r *run) item(item *reader.Item) error {
	switch {
	case item.Gap != nil:
		r.deaf = r.deaf || r.facts == whole && len(item.Gap.Lost) > 0
		return nil
	case item.Kind == recording.KindStart:
		r.deaf = false
	}
	if r.number = item.Number; r.deaf {
		return nil
	}
	if r.leading && item.At >= r.stretch.from {
		if err := r.arrive(); err != nil {
			return fmt.Errorf("go on from %s with %s: %w", r.stretch.from, r.out.Facts, err)
		}
	}
	switch item.Kind {
	case recording.KindStart:
		return r.start(item)
	case recording.KindOpen:
		return r.begin(item.At, item.History)
	case recording.KindInput:
		return r.input(&item.Input)
	case recording.KindReload:
		return r.reload(item)
	}
	return nil
}

// arrive ends what all runs have in common: from now on the run takes its own facts alone. The
// engine goes on, in a session that gets the inputs as these facts have them.
func (r *run) arrive() error {
	r.leading, r.facts = false, r.out.Facts
	r.out.Match, r.out.Orders = Match{Run: r.facts.String()}, nil
	for _, p := range r.pairs {
		if p != nil {
			p.log = -1
		}
	}
	for _, o := range r.session.Account().Open(nil, 0, 0) {
		r.inherit(o)
	}
	if r.facts != whole {
		r.close()
		if err := r.around(); err != nil {
			return err
		}
		if err := r.session.Continue(); err != nil {
			return err
		}
	}
	r.ledger = newLedger(r.survey.first.made)
	r.ledger.open(r.session.Account())
	r.known = r.stretch.from - 1 // a candle that closes at from is still to come
	r.seek()
	return nil
}

// inherit pairs an order that is open at the beginning with the live order that it is; nil: it is
// none.
func (r *run) inherit(o *market.Order) *pair {
	p := r.pairOf(o.ID)
	if p == nil {
		l := r.survey.lives[o.ID]
		if l == nil || l.at > r.session.Engine().Now() {
			return nil
		}
		p = &pair{life: l, order: *o, used: make([]bool, len(l.changes)), exact: true, live: o.FilledAmount,
			sum: tally{o.FilledAmount, o.FilledAmountQuote, o.FeePaid}}
		r.keep(p)
		r.live[o.ID] = p
	}
	p.recorded, p.log = p.life != nil && r.facts.Has(Fills), len(r.out.Orders)
	one := RunOrder{ID: o.ID, Strategy: o.Strategy, Market: o.Market, Side: o.Side, Type: o.Type, At: o.Created,
		Amount: o.Amount, Quote: o.AmountQuote, Price: level(o)}
	if p.life != nil {
		one.Live, one.At = p.life.order.ID, p.life.at
	}
	r.out.Orders = append(r.out.Orders, one)
	return p
}

// keep stores a pair under the number of its order.
func (r *run) keep(p *pair) {
	for len(r.pairs) <= int(p.order.ID) {
		r.pairs = append(r.pairs, nil)
	}
	r.pairs[p.order.ID] = p
}

// start makes the engine of a start. Without People the first start goes on.
func (r *run) start(item *reader.Item) error {
	b, err := r.stretch.begin(item)
	switch {
	case err != nil:
	case r.session == nil:
		r.parts, r.manifest = b.parts, b.manifest
		err = r.newSession(b.made)
	case r.facts.Has(People):
		if r.parts = b.parts; r.facts != whole {
			if r.parts, err = r.core.Saved(); err != nil {
				return err
			}
		}
		r.close()
		r.manifest = b.manifest
		err = r.newSession(b.made)
	}
	return err
}

// begin begins a start: the first one, or with People a later one. Without People the candles of
// the time in between are traded.
func (r *run) begin(at market.Time, history []market.Candle) error {
	switch {
	case r.ledger == nil:
		return r.open(at, history)
	case !r.facts.Has(People):
		return r.missed(at)
	}
	// the stored candles that closed while the bot was down are left out
	for all := r.survey.candles.all; !r.facts.Has(Data) && r.next < len(all) && all[r.next].End() <= at; r.next++ {
	}
	if err := r.session.Restore(at, r.parts, history); err != nil {
		return fmt.Errorf("begin again at %s: %w", at, err)
	}
	r.ledger.open(r.session.Account())
	return nil
}

// close ends a session.
func (r *run) close() {
	if r.session != nil {
		r.session.Close()
	}
}

// open begins the first start.
func (r *run) open(at market.Time, history []market.Candle) error {
	first := r.survey.first
	r.ledger = newLedger(first.made)
	if err := r.enterBooks(at, history); err != nil {
		return err
	}
	r.ledger.open(r.session.Account())
	r.known = max(at, first.made.TradeFrom)
	r.seek()
	return nil
}

// seek finds the first stored candle that strategies do not have yet.
func (r *run) seek() {
	r.begun = r.known
	r.next, _ = slices.BinarySearchFunc(r.survey.candles.all, r.known, func(c market.Candle, t market.Time) int {
		if c.End() <= t {
			return -1
		}
		return 1
	})
}

// enterBooks begins with the books of the start; a new bot has none.
func (r *run) enterBooks(at market.Time, history []market.Candle) error {
	if r.parts[engine.PartAccount] == nil {
		return r.session.Open(at, history)
	}
	return r.session.Restore(at, r.parts, history)
}

// missed gives strategies the candles that closed while the bot was down, at their time: that it
// was down is a fact of People.
func (r *run) missed(at market.Time) error {
	if !r.facts.Has(Data) {
		return nil
	}
	for group := range market.ByClose(r.survey.candles.all) {
		if end := group[0].End(); end > r.known && end <= at {
			clear(r.quotes)
			r.known, r.caught = end, end
			r.group = market.Event{Kind: market.KindCandles, At: end.Add(r.model.DataLatency), Candles: group}
			if err := r.enter(&market.Input{Kind: market.InputEvent, Event: &r.group}); err != nil {
				return err
			}
		}
	}
	return nil
}

// input plays an input of the record, or leaves it out.
func (r *run) input(in *market.Input) error {
	if r.ledger == nil {
		return nil
	}
	r.funded = r.funded || in.Kind != market.InputBooking
	if err := r.until(timeOfInput(in)); err != nil {
		return err
	}
	switch {
	case answer(in):
		if r.facts.Has(Orders) {
			return r.answer(in.Event)
		}
		return nil
	case marketData(in):
		if !r.facts.Has(Data) {
			return nil
		}
		if ev := in.Event; ev != nil && ev.Kind == market.KindCandles && len(ev.Candles) > 0 {
			if ev.Candles[0].End() <= r.caught {
				return nil
			}
			r.known = max(r.known, ev.Candles[0].End())
		}
		if ev := in.Event; ev != nil && ev.Kind == market.KindTicker {
			r.quotes[ev.Ticker.Market] = *ev.Ticker
		}
		return r.enter(in)
	case in.Kind == market.InputBooking && !r.funded:
		return r.enter(in)
	case !r.facts.Has(People):
		return nil
	}
	return r.people(in)
}

// people enters the input of a person. Its orders get the numbers that they have in this run.
func (r *run) people(in *market.Input) error {
	switch in.Kind {
	case market.InputCancel, market.InputDissolve, market.InputCancelling:
		own := *in
		own.Orders = nil
		for _, id := range in.Orders {
			if p := r.live[id]; p != nil {
				own.Orders = append(own.Orders, p.order.ID)
			}
		}
		if len(own.Orders) == 0 {
			return nil
		}
		return r.enter(&own)
	case market.InputCancelEnded, market.InputReopen, market.InputAdopt:
		if r.facts != whole {
			return nil // of an order that this run may not have
		}
	}
	return r.enter(in)
}

// enter lets an input enter, not before the engine's time.
func (r *run) enter(in *market.Input) error {
	now := r.session.Engine().Now()
	if in.Event != nil && in.Event.At < now {
		event := *in.Event
		event.At = now
		later := *in
		later.Event = &event
		in = &later
	} else if in.Event == nil && in.At < now {
		later := *in
		later.At = now
		in = &later
	}
	r.ledger.note(in)
	return r.session.Enter(in)
}

// until brings the run to a time: timers, candles of the store, and answers that are due.
func (r *run) until(at market.Time) error {
	r.reach(at)
	for len(r.due) > 0 && timeOfInput(&r.due[0]) <= at {
		in := r.due[0]
		r.due = r.due[1:]
		if err := r.enter(&in); err != nil {
			return err
		}
	}
	if r.facts.Has(Data) {
		if r.facts == whole {
			return nil
		}
		return r.timers(at - patience)
	}
	all := r.survey.candles.all
	for r.next < len(all) {
		end := all[r.next].End()
		arrives := end.Add(r.model.DataLatency)
		if arrives > at {
			break
		}
		to := r.next + 1
		for to < len(all) && all[to].End() == end {
			to++
		}
		r.group = market.Event{Kind: market.KindCandles, At: arrives, Candles: all[r.next:to:to]}
		r.next = to
		if err := r.signalsUntil(arrives); err != nil {
			return err
		}
		if err := r.enter(&market.Input{Kind: market.InputEvent, Event: &r.group}); err != nil {
			return err
		}
	}
	return r.signalsUntil(at)
}

// reach notes what is offered to the orders that have reached the exchange by now.
func (r *run) reach(at market.Time) {
	r.coming = slices.DeleteFunc(r.coming, func(p *pair) bool {
		if p.arrives > at {
			return false
		}
		p.offered = r.offered(p.order.Market, p.order.Side)
		return true
	})
}

// patience is how long a timer of this run waits for the same timer of the recording.
const patience = market.Time(5e9)

// timers fires the timers that are due.
func (r *run) timers(until market.Time) error {
	if !r.funded { // a timer that a strategy set in its warm-up is overdue: it rings after the money has come
		return nil
	}
	for range 100_000 {
		at, waiting := r.session.Engine().NextTimer()
		if !waiting || at > until {
			return nil
		}
		ev := market.Event{Kind: market.KindTimer, At: max(at, r.session.Engine().Now())}
		if err := r.enter(&market.Input{Kind: market.InputEvent, Event: &ev}); err != nil {
			return err
		}
	}
	return nil
}

func timeOfInput(in *market.Input) market.Time {
	if in.Event != nil {
		return in.Event.At
	}
	return in.At
}

// fees are the model's.
func (r *run) fees() exchange.Fees {
	if r.model.Fees != nil {
		return exchange.Fees(*r.model.Fees)
	}
	return exchange.Fees(r.survey.first.made.Fees)
}

// end ends the run with the stretch.
func (r *run) end() error {
	if r.ledger == nil {
		return fmt.Errorf("the recording has no beginning of trading")
	}
	if err := r.until(r.survey.to); err != nil {
		return err
	}
	if err := r.finish(); err != nil {
		return err
	}
	return r.ledger.close(r.session.Account())
}

// finish moves the markets of a run without Data to the last recorded prices, by the candle that
// was open then. What strategies ask for at its close counts no longer.
func (r *run) finish() error {
	r.over = true
	if rest := r.survey.candles.open(r.survey.to); !r.facts.Has(Data) && len(rest) > 0 {
		r.group = market.Event{Kind: market.KindCandles, At: rest[0].End(), Candles: rest}
		return r.enter(&market.Input{Kind: market.InputEvent, Event: &r.group})
	}
	return nil
}

// Approved is of backtest.Observer.
func (*run) Approved(state.Terms, *market.Command, []state.Figure) {}

// Ended is of backtest.Observer.
func (*run) Ended(*state.Account) {}

// Filled keeps what an order has filled: an engine.Observer.
func (r *run) Filled(o *state.Order, f *market.Fill) {
	p := r.pairOf(o.ID)
	if p == nil || p.log < 0 {
		return
	}
	one := &r.out.Orders[p.log]
	one.Filled += f.Amount
	if value, err := r.survey.first.made.Catalog.Market(f.Market).Value(f.Price, f.Amount); err == nil {
		one.Value, _ = one.Value.Add(value)
	}
	if one.Fee, _ = one.Fee.Add(f.Fee); one.First == 0 {
		one.First = f.Time
	}
}

// Closed keeps that an order was refused.
func (r *run) Closed(o *state.Order) {
	if p := r.pairOf(o.ID); p != nil && p.log >= 0 {
		r.out.Orders[p.log].Rejected = o.State == state.Rejected
	}
}

func (r *run) pairOf(id market.OrderID) *pair {
	if int(id) < len(r.pairs) {
		return r.pairs[id]
	}
	return nil
}
