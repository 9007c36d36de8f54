package backtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/footprint"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// SessionOptions configure a Session. Envelope and Progress of Options have no effect.
type SessionOptions struct {
	Options
	// WholeGroups: each event of candles has all candles that closed at its instant, and nothing
	// else moves a market. So come stored candles, and the session does what Run does. Otherwise
	// inputs come as a live bot receives them.
	WholeGroups bool
	Unrecorded  bool  // no figures are kept: End returns no Result
	Facts       Facts // nil: the venue's model alone
	Timers      bool  // timers ring only where the input of a recorded one enters
	// Seat makes account, gate and engine, such as those of a live bot; nil: those of Run.
	Seat Seat
	// Others takes the account that was recorded out of what moves the venue's markets; nil: it is
	// not in the inputs. Strategies get the inputs as they are.
	Others *footprint.Markets
	Apart  engine.Apart // calls strategies; nil: directly, and one that ends its goroutine ends the caller's
}

// Seat makes what trades in a session. Nothing has entered the engine, unless the session begins
// with Continue. The observer is the engine's own.
type Seat func(engine.Observer) (*state.Account, *risk.Gate, *engine.Engine, error)

// Session is a run whose inputs come one by one, in the order of their arrival: from a recording, a
// live feed or a store. Engine, gate, strategies and venue are those of Run. The venue fills the
// session's orders: a command arrives at the price that stands then, and a resting order meets the
// tickers and books that follow. The path of a candle moves a market only where no ticker, book or
// trade has moved it since the candle's start.
//
// Begin with Open, Restore or Continue, then call Enter for each input, and end with End, or with
// Close where no result is wanted. One goroutine owns a session. The plan's catalog must not be
// that of another engine: an input that changes a market changes it there. Plan.Changes and
// Plan.Borders belong to stored candles; a live session has none.
type Session struct {
	d        *driver
	options  SessionOptions
	recorder *recorder
	days     *days

	every    market.Time // between two marks of the account
	markDue  market.Time // of the next one
	entering market.Event
	moved    []movedBy // by market.ID
	left     int64     // inputs that are of the recorded run alone
}

// markEvery is the longest time between two marks of the account of a session.
const markEvery = market.Time(60e9)

// movedBy counts what moved a market at the venue.
type movedBy struct{ quotes, paths int64 }

// NewSession makes the strategies of a plan and what stands around them. Nothing has entered yet.
func NewSession(p *Plan, o SessionOptions) (*Session, error) {
	s := &Session{options: o, moved: make([]movedBy, len(p.Catalog.Markets())+1), every: markEvery}
	if !o.WholeGroups && len(p.Changes)+len(p.Borders) > 0 {
		return nil, errors.New("a session whose inputs come as they arrive has no planned changes and no borders")
	}
	if o.Tried != nil {
		s.days = &days{}
	}
	run := runOptions{observer: o.Observer, apart: o.Apart, plots: o.Out != "", live: !o.WholeGroups, facts: o.Facts,
		seat: o.Seat, told: o.Told}
	if !o.Unrecorded {
		run.record = s.record
	}
	d, err := newDriver(p, run)
	if err != nil {
		return nil, err
	}
	d.plain = false
	for _, f := range p.Feeds {
		length := market.Time(f.Interval.Fixed())
		d.feeds = append(d.feeds, feed{Feed: f, length: length, end: never, first: never})
		if length != 0 {
			s.every = min(s.every, length)
		}
	}
	d.watch(o.Watch)
	s.d = d
	return s, nil
}

// record begins the recording of results.
func (s *Session) record(equity market.Money, from market.Time, rates []exchange.Fees) (r *recorder, err error) {
	p := s.d.plan
	if r, err = newRecorder(p.recording(s.options.Options, equity, from, rates)); err == nil && s.days != nil {
		r.follow(s.days, p.Feeds[0].Market)
	}
	s.recorder = r
	return r, err
}

// Engine is the session's engine. Only Enter may change it.
func (s *Session) Engine() *engine.Engine { return s.d.engine }

// Account is the session's account. Only Enter may change it.
func (s *Session) Account() *state.Account { return s.d.account }

// Left is how many inputs were left out, because they speak of orders of the recorded run: timers,
// inputs about single orders, and, without Facts, reports and fills.
func (s *Session) Left() int64 { return s.left }

// Moved is how often quotes (tickers, books, trades) and the paths of candles have moved a market.
func (s *Session) Moved(m market.ID) (quotes, paths int64) {
	return s.moved[m].quotes, s.moved[m].paths
}

// Open begins the session anew: the strategies start, and are warmed up by history, the candles
// before at in the order of their close. The deposits of the plan arrive with the first market data
// that is not before Plan.From.
func (s *Session) Open(at market.Time, history []market.Candle) error {
	d := s.d
	if s.options.Seat != nil {
		return s.openSeated(at, history)
	}
	d.engine.See(history, at)
	first := at
	for i := range history {
		first = min(first, history[i].Start)
	}
	d.send(d.engine.Start(first))
	d.hearOld(first)
	for group := range market.ByClose(history) {
		end := group[0].End()
		s.count(group)
		if err := s.closed(end, end+market.Time(d.plan.DataLatency), group); err != nil {
			return err
		}
	}
	d.engine.StartRest(at)
	return d.engine.Err()
}

// openSeated is Open as a live bot begins: the venue sees the prices of history alone.
func (s *Session) openSeated(at market.Time, history []market.Candle) error {
	d, first := s.d, at
	if len(history) > 0 {
		first = history[0].Start
	}
	d.engine.See(history, at)
	d.send(d.engine.Start(first))
	for group := range market.ByClose(history) {
		s.entering = market.Event{Kind: market.KindCandles, At: group[0].End(), Candles: group}
		if err := s.move(s.entering.At); err != nil {
			return err
		}
		d.send(d.engine.Step(&s.entering))
	}
	d.engine.StartRest(at)
	return d.engine.Err()
}

// Restore begins the session in the state that an engine saved (engine.Save): its balances,
// positions, open orders, brackets and halts. history are the candles of the warm-ups in the order
// of their close. Commands that were under way when the state was saved are sent anew; a change
// that was under way is refused.
func (s *Session) Restore(at market.Time, parts map[string][]byte, history []market.Candle) error {
	d := s.d
	d.handing = true
	d.engine.See(history, at)
	commands, err := d.engine.Restore(at, parts, shown(history))
	d.handing = false
	if err != nil {
		return err
	}
	return s.takeOver(at, slices.Clone(commands))
}

// Continue begins the session with an engine that runs already: Seat returned that of another
// session, which ends with it. The venue takes over the account as at Restore.
func (s *Session) Continue() error { return s.takeOver(s.d.engine.Now(), nil) }

// takeOver gives the venue what the account has, and then the commands.
func (s *Session) takeOver(at market.Time, commands []market.Command) error {
	d := s.d
	d.muted = s.options.Seat != nil
	err := d.settle()
	if d.muted = false; err != nil {
		return fmt.Errorf("restore the venue: %w", err)
	}
	d.send(commands)
	d.started, d.from = true, at
	return d.startRecording(at)
}

// settle gives the venue what a restored account has: balances, prices that stand, open orders, and
// commands that were under way.
func (d *driver) settle() error {
	for _, m := range d.plan.Catalog.Markets() {
		bid, _ := d.account.BestPrice(m.ID, market.Sell)
		ask, _ := d.account.BestPrice(m.ID, market.Buy)
		if bid == 0 || ask == 0 {
			continue
		}
		d.drivenTo[m.ID] = d.engine.Now()
		if err := d.venue.Advance(&market.Event{Kind: market.KindTicker, At: d.engine.Now(), Market: m.ID,
			Ticker: &market.Ticker{Market: m.ID, Last: d.account.Last(m.ID), Bid: bid, Ask: ask}}); err != nil {
			return err
		}
	}
	for _, a := range d.plan.Catalog.Assets() {
		if err := d.venue.Deposit(a.ID, d.account.Total(a.ID).Total); err != nil {
			return err
		}
	}
	for i, o := range d.account.Open(nil, 0, 0) {
		own := d.account.Known(o.ID)
		if d.facts != nil && d.facts.Restored(o) {
			continue
		}
		if own.State == state.Sent || own.State == state.Unknown {
			d.venue.Do(&market.Command{Kind: market.CommandPlace, At: d.engine.Now(), Order: *o})
			continue
		}
		resting := sim.Resting{Order: *o, Sequence: int64(i + 1)}
		resting.Order.Status = statuses[own.State]
		if err := d.venue.Restore(0, &resting); err != nil {
			return err
		}
		switch own.InFlight {
		case market.CommandCancel:
			d.venue.Do(&market.Command{Kind: market.CommandCancel, At: d.engine.Now(),
				Order: market.Order{ID: o.ID, Market: o.Market}})
		case market.CommandUpdate:
			d.refuse(o)
		}
	}
	return d.engine.Err()
}

// statuses are the statuses of orders that rest at a venue.
var statuses = map[state.State]market.Status{state.AwaitingTrigger: market.StatusAwaitingTrigger,
	state.Open: market.StatusNew, state.PartiallyFilled: market.StatusPartiallyFilled}

// refuse answers a change that was under way: it changes nothing.
func (d *driver) refuse(o *market.Order) {
	d.send(d.engine.Step(&market.Event{Kind: market.KindReport, At: d.engine.Now(), Market: o.Market,
		Report: &market.Report{Exec: market.ExecRejected, Command: market.CommandUpdate, Code: exchange.CodeUnchanged,
			Order: o.ID, Market: o.Market, OrderState: market.OrderState{Updated: d.engine.Now()}}}))
}

// End stops the strategies, and returns the result of the session, with its files where the options
// name a folder: nil where nothing was to be recorded. It returns ErrNoCandles where trading never
// began. Nothing may enter afterwards.
func (s *Session) End(ctx context.Context) (*Result, error) {
	d := s.d
	if !s.options.WholeGroups && d.recorder != nil {
		s.markUntil(d.engine.Now())
		if now := d.engine.Now(); now > d.last {
			d.mark(now)
			d.last = now
		}
	}
	if err := d.end(); err != nil {
		s.Close()
		return nil, err
	}
	if s.options.Unrecorded {
		return nil, nil
	}
	s.recorder = nil // conclude ends it in any case
	o := s.options.Options
	o.Envelope, o.Late = false, false
	return d.conclude(ctx, o)
}

// Close ends a session without a result, and leaves no file behind. It may be called at any time,
// also after End.
func (s *Session) Close() {
	if s.recorder != nil {
		s.recorder.Abort()
		s.recorder = nil
	}
}
