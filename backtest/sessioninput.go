package backtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Enter moves time to an input, and carries it out. On the way timers ring, and commands arrive at
// the prices that stand. An input that is earlier than the latest one counts as of now. Inputs that
// speak of orders of the recorded run are left out (Left). The input is valid until Enter returns,
// and unchanged.
func (s *Session) Enter(in *market.Input) error {
	at := in.At
	if in.Event != nil {
		at = in.Event.At
	}
	if at = max(at, s.d.engine.Now()); s.options.WholeGroups && in.Event != nil &&
		in.Event.Kind == market.KindCandles && len(in.Event.Candles) > 0 {
		return s.whole(in.Event, at)
	}
	if err := s.hear(at); err != nil {
		return err
	}
	s.markUntil(at)
	if err := s.pass(at - 1); err != nil {
		return err
	}
	if err := s.carryOutInput(in, at); err != nil {
		return err
	}
	return s.pass(at)
}

// hear lets the signals of the plan arrive that are due until a time, each at its own: before an
// input of the same time.
func (s *Session) hear(until market.Time) error {
	for d := s.d; d.signalAt <= until; {
		at := max(d.signalAt, d.engine.Now())
		s.markUntil(at)
		if err := s.pass(at - 1); err != nil {
			return err
		}
		d.hear(d.signalAt)
	}
	return s.d.engine.Err()
}

// whole is Enter for all candles that closed at an instant.
func (s *Session) whole(ev *market.Event, at market.Time) error {
	end := ev.Candles[0].End()
	s.count(ev.Candles)
	return s.closed(end, at, ev.Candles)
}

// closed processes candles that closed at end and arrive together, as Run does.
func (s *Session) closed(end, at market.Time, candles []market.Candle) error {
	d := s.d
	d.latency = at - end
	d.drive, d.deliver = d.drive[:0], d.deliver[:0]
	for i := range candles {
		c := &candles[i]
		f := d.feedFor(c)
		if d.walks(c, f != nil && f.Drive) {
			d.drive = append(d.drive, *c)
			d.drivenTo[c.Market] = end
			s.moved[c.Market].paths++
		}
		if f != nil && f.Deliver {
			d.deliver = append(d.deliver, *c)
		}
	}
	return d.group(end)
}

// count counts candles of the plan's series, before they are processed.
func (s *Session) count(candles []market.Candle) {
	for i := range candles {
		if f := s.d.feedFor(&candles[i]); f != nil {
			f.count++
			f.first = min(f.first, candles[i].Start)
		}
	}
}

// feedFor is the feed of a candle; nil: the plan has none.
func (d *driver) feedFor(c *market.Candle) *feed {
	for i := range d.feeds {
		if f := &d.feeds[i]; f.Market.ID == c.Market && f.Interval == c.Interval {
			return f
		}
	}
	return nil
}

// pass lets everything happen that is due up to a time: timers, and arrivals at standing prices.
func (s *Session) pass(at market.Time) error {
	d := s.d
	for range maxTimers {
		timer, rings := d.engine.NextTimer()
		rings = rings && !s.options.Timers
		arrival, arrives := d.venue.NextArrival()
		var err error
		switch {
		case arrives && arrival <= at && (!rings || arrival <= timer):
			err = d.venue.Arrive(max(arrival, d.engine.Now()))
		case rings && timer <= at:
			ev := market.Event{Kind: market.KindTimer, At: max(timer, d.engine.Now())}
			d.send(d.engine.Step(&ev))
		default:
			return d.engine.Err()
		}
		if err = errors.Join(err, d.engine.Err()); err != nil {
			return err
		}
	}
	return nil
}

// carryOutInput gives an input to the part of the session that it is for, at its time.
func (s *Session) carryOutInput(in *market.Input, at market.Time) error {
	d := s.d
	switch in.Kind {
	case market.InputBooking:
		return s.transfer(in.Event, at, false)
	case market.InputEvent:
		return s.event(in.Event, at)
	case market.InputHalt, market.InputResume, market.InputCancelAll, market.InputCancelOthers,
		market.InputCancelHalted, market.InputFlatten,
		market.InputMembers, market.InputDelisted, market.InputUnreliable, market.InputStop, market.InputGuard,
		market.InputFinish, market.InputSignal:
		of := *in
		of.At = at
		d.send(d.engine.Enter(&of).Commands)
		if in.Kind == market.InputDelisted {
			for _, o := range slices.Clone(d.account.Open(nil, 0, in.Market)) {
				d.venue.Cancel(o.ID, at, market.CancelOnDelisting)
			}
		}
	default:
		if d.facts == nil {
			s.left++
			return nil
		}
		of := *in
		of.At = at
		answer := d.engine.Enter(&of)
		d.send(answer.Commands)
		return errors.Join(answer.Err, d.engine.Err())
	}
	return d.engine.Err()
}

// event carries out an event.
func (s *Session) event(ev *market.Event, at market.Time) error {
	d := s.d
	s.entering = *ev
	s.entering.At = at
	switch ev.Kind {
	case market.KindTransfer:
		return s.transfer(ev, at, true)
	case market.KindMarketStatus:
		d.send(d.engine.Step(&s.entering))
		return errors.Join(d.engine.Err(), d.venue.Advance(&s.entering))
	case market.KindReport, market.KindFill, market.KindTimer:
		switch {
		case ev.Kind == market.KindTimer && s.options.Timers:
			d.send(d.engine.Step(&s.entering))
			return d.engine.Err()
		case ev.Kind != market.KindTimer && d.facts != nil:
			return s.reported()
		}
		s.left++
		return nil
	}
	if !d.started && at >= d.plan.From && d.priced() {
		if err := d.startAt(at, nil); err != nil {
			return err
		}
	}
	if err := s.move(at); err != nil {
		return err
	}
	if ev.Kind == market.KindCandles {
		return s.deliver(at)
	}
	d.knows = at
	d.send(d.engine.Step(&s.entering))
	return d.engine.Err()
}

// priced reports whether all deposits have a value.
func (d *driver) priced() bool {
	for _, p := range d.plan.Deposits {
		if p.Asset != d.plan.Currency.ID && !slices.ContainsFunc(d.plan.Catalog.Markets(),
			func(m *market.Market) bool { return m.Base == p.Asset && d.account.Last(m.ID) != 0 }) {
			return false
		}
	}
	return true
}

// transfer moves money in or out of the account: with Facts except what orders at the venue hold.
// Of a booking no command is sent.
func (s *Session) transfer(of *market.Event, at market.Time, sends bool) error {
	d, ev := s.d, &s.entering
	*ev = *of
	ev.At = at
	err := d.venue.Transfer(0, ev.Asset, ev.Money)
	if err != nil && (d.facts == nil || errors.Is(err, market.ErrOverflow)) {
		return fmt.Errorf("%s: %w", at, err)
	}
	if commands := d.engine.Step(ev); sends {
		d.send(commands)
	}
	if d.recorder != nil && ev.Market != 0 && ev.Money > 0 {
		d.recorder.Held(at, ev.Owner, ev.Market, market.Qty(ev.Money), ev.Price)
	}
	return d.engine.Err()
}

// move moves the venue's markets by the data of an event.
func (s *Session) move(at market.Time) error {
	d, ev := s.d, &s.entering
	if s.options.Others != nil {
		if ev = s.options.Others.Clean(ev); ev == nil {
			return nil
		}
	}
	switch ev.Kind {
	case market.KindTicker:
		return s.moveTo(ev, ev.Ticker.Market)
	case market.KindTrade:
		return s.moveTo(ev, ev.Trade.Market)
	case market.KindBook:
		return s.moveTo(ev, ev.Book.Market)
	case market.KindCandles:
		s.count(ev.Candles)
		d.drive = d.drive[:0]
		for i := range ev.Candles {
			if c := &ev.Candles[i]; c.Start >= d.drivenTo[c.Market] {
				d.drive = append(d.drive, *c)
				d.drivenTo[c.Market] = c.End()
				s.moved[c.Market].paths++
			}
		}
		if len(d.drive) > 0 {
			d.movement.At, d.movement.Candles = at, d.drive
			return d.venue.Advance(&d.movement)
		}
	}
	return nil
}

// moveTo moves a market by an event that says what it is worth now.
func (s *Session) moveTo(ev *market.Event, m market.ID) error {
	s.moved[m].quotes++
	s.d.drivenTo[m] = ev.At
	s.d.muted = s.options.Seat != nil
	err := s.d.venue.Advance(ev)
	s.d.muted = false
	return err
}

// deliver gives the strategies candles that have arrived.
func (s *Session) deliver(at market.Time) error {
	d, ev := s.d, &s.entering
	d.deliver = d.deliver[:0]
	for i := range ev.Candles {
		if f := d.feedFor(&ev.Candles[i]); f != nil && f.Deliver {
			d.deliver = append(d.deliver, ev.Candles[i])
		}
	}
	if len(d.deliver) == 0 {
		return nil
	}
	d.knows, ev.Candles = at, d.deliver
	d.send(d.engine.Step(ev))
	if d.recorder != nil {
		d.drive = append(d.drive[:0], d.deliver...)
		d.markCandles()
	}
	return d.engine.Err()
}

// markUntil records the account at the instants before a time.
func (s *Session) markUntil(at market.Time) {
	d := s.d
	if d.recorder == nil {
		return
	}
	if s.markDue == 0 {
		s.markDue = (d.from/s.every + 1) * s.every
	}
	d.drive, d.deliver = d.drive[:0], d.deliver[:0]
	for ; s.markDue < at; s.markDue += s.every {
		d.mark(s.markDue)
		d.last = s.markDue
	}
}
