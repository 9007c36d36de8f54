package recording

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// coder writes or reads the rare records, field by field in one order for both. One of the two is
// nil.
type coder struct {
	e *eventEncoder
	d *eventDecoder
}

// input is an input without an event.
func (c coder) input(in *market.Input) {
	switch in.Kind {
	case market.InputStart, market.InputStop, market.InputCancelAll, market.InputCancelOthers,
		market.InputCancelHalted, market.InputGuard, market.InputFinish:
	case market.InputHalt, market.InputFlatten, market.InputWithhold:
		c.strategy(&in.Strategy)
		c.text(&in.Reason)
	case market.InputResume:
		c.strategy(&in.Strategy)
	case market.InputCancel, market.InputDissolve, market.InputCancelling:
		list(c, &in.Orders, number[market.OrderID])
	case market.InputAdopt, market.InputCancelEnded:
		if c.d != nil {
			c.d.order = market.Order{}
			in.Order = &c.d.order
		}
		c.order(in.Order)
	case market.InputMembers:
		c.strategy(&in.Strategy)
		number(c, &in.From)
		list(c, &in.Members, coder.market)
	case market.InputDelisted, market.InputUnreliable:
		c.market(&in.Market)
	case market.InputReopen:
		c.bytes(&in.Saved)
	case market.InputSignal:
		if c.d != nil {
			c.d.signal = market.Signal{}
			in.Signal = &c.d.signal
		}
		c.signal(in.Signal)
	default:
		c.unknown("input", byte(in.Kind))
	}
}

// unknown is a kind that this program does not have. A later program may write it.
func (c coder) unknown(what string, kind byte) {
	if c.e != nil {
		c.e.Fail("%s of kind %d cannot be recorded", what, kind)
		return
	}
	c.d.Fail("%s of kind %d", what, kind)
}

// event is an event that is no market data.
func (c coder) event(ev *market.Event) {
	switch ev.Kind {
	case market.KindTransfer:
		c.market(&ev.Market)
		c.asset(&ev.Asset)
		number(c, &ev.Money)
		c.strategy(&ev.Owner)
		c.price(&ev.Price)
	case market.KindReport:
		c.market(&ev.Market)
		if c.d != nil {
			c.d.report = market.Report{}
			ev.Report = &c.d.report
		}
		c.report(ev.Report)
		list(c, &ev.Fills, coder.fill)
	case market.KindFill:
		c.market(&ev.Market)
		list(c, &ev.Fills, coder.fill)
	case market.KindTimer:
	default:
		c.unknown("event", byte(ev.Kind))
	}
}

// status is a market's status, with its rules where they came too.
func (c coder) status(ev *market.Event) {
	c.market(&ev.Market)
	word(c, &ev.Status, market.CancelOnly)
	c.price(&ev.Price)
	with := ev.Rules != nil
	c.flags(&with)
	if !with {
		return
	}
	if c.d != nil {
		if ev.Market != 0 {
			c.d.rules = *c.d.Catalog().Market(ev.Market)
		}
		ev.Rules = &c.d.rules
	}
	r := ev.Rules
	word(c, &r.Status, market.CancelOnly)
	c.price(&r.TickSize)
	for _, digits := range [...]*uint8{&r.QuantityDecimals, &r.NotionalDecimals} {
		word(c, digits, 255)
	}
	number(c, &r.MinOrderInBase)
	number(c, &r.MinOrderInQuote)
	number(c, &r.MaxOrderInBase)
	number(c, &r.MaxOrderInQuote)
	most := int64(r.MaxOpenOrders)
	number(c, &most)
	r.MaxOpenOrders = int(most)
	c.text(&r.FeeCategory)
}

func (c coder) report(r *market.Report) {
	number(c, &r.Order)
	c.uuid(&r.ExchangeID)
	c.market(&r.Market)
	word(c, &r.Exec, market.ExecUnknown)
	word(c, &r.Command, market.CommandPlace)
	code := int64(r.Code)
	number(c, &code)
	r.Code = int(code)
	c.state(&r.OrderState)
}

func (c coder) state(s *market.OrderState) {
	word(c, &s.Status, market.StatusUnresolved)
	word(c, &s.TimeInForce, market.FOK)
	word(c, &s.SelfTradePrevention, market.CancelBoth)
	word(c, &s.RestatementReason, market.CancelPostOnly)
	c.flags(&s.PostOnly, &s.Triggered)
	c.price(&s.Price)
	c.price(&s.TriggerAmount)
	number(c, &s.Amount)
	number(c, &s.AmountRemaining)
	number(c, &s.AmountQuote)
	number(c, &s.AmountQuoteRemaining)
	number(c, &s.OnHold)
	number(c, &s.FilledAmount)
	c.value(&s.FilledAmountQuote)
	c.value(&s.FeePaid)
	number(c, &s.Updated)
}

func (c coder) order(o *market.Order) {
	c.market(&o.Market)
	number(c, &o.ID)
	c.uuid(&o.ExchangeID)
	c.uuid(&o.ClientOrderID)
	number(c, &o.OperatorID)
	c.strategy(&o.Strategy)
	group := int64(o.CodGroupID)
	number(c, &group)
	o.CodGroupID = uint16(group)
	word(c, &o.Side, market.Sell)
	word(c, &o.Type, market.TypeTakeProfitLimit)
	word(c, &o.TriggerType, market.TriggerPrice)
	word(c, &o.TriggerReference, market.MidPrice)
	c.flags(&o.Visible)
	c.asset(&o.FeeCurrency)
	c.asset(&o.OnHoldCurrency)
	c.state(&o.OrderState)
	number(c, &o.Created)
	c.price(&o.Bracket.Stop)
	c.price(&o.Bracket.Target)
	word(c, &o.Bracket.Keep, market.KeepTarget)
	c.text(&o.Tag)
}

func (c coder) fill(f *market.Fill) {
	c.market(&f.Market)
	c.uuid(&f.ID)
	number(c, &f.Order)
	c.strategy(&f.Strategy)
	word(c, &f.Side, market.Sell)
	c.flags(&f.Taker, &f.Settled)
	c.asset(&f.FeeCurrency)
	c.price(&f.Price)
	number(c, &f.Amount)
	c.value(&f.Fee)
	number(c, &f.Time)
}

func (c coder) signal(s *market.Signal) {
	c.text(&s.Source)
	c.market(&s.Market)
	number(c, &s.Number)
	for _, at := range [...]*market.Time{&s.Time, &s.Known, &s.Arrived, &s.Until} {
		number(c, at)
	}
	word(c, &s.Action, market.ActExit)
	word(c, &s.Stance, market.StanceFlat)
	c.flags(&s.HasValue, &s.HasTarget)
	for _, part := range [...]*float64{&s.Value, &s.Target} {
		bits := int64(math.Float64bits(*part))
		number(c, &bits)
		*part = math.Float64frombits(uint64(bits))
	}
	c.text(&s.Text)
}

// note writes a record that is no input.
func (e *eventEncoder) note(r *Record) {
	switch r.Kind {
	case KindHistory:
		e.history(r)
	case KindStart, KindSnapshot:
		e.made(r)
	case KindReload:
		e.made(r)
		e.Int(int64(r.Until))
		e.Uint(uint64(r.Size))
		e.history(r)
	default:
		coder{e: e}.small(r)
	}
}

func (d *eventDecoder) note(r *Record) {
	switch r.Kind {
	case KindHistory:
		d.history(r)
	case KindStart, KindSnapshot:
		d.made(r)
	case KindReload:
		d.made(r)
		r.Until = market.Time(d.Int())
		size := d.Uint()
		d.history(r)
		if size > uint64(len(r.Candles)) {
			d.Fail("a reload of %d candles warms up with %d", len(r.Candles), size)
			return
		}
		r.Size = int(size)
	default:
		coder{d: d}.small(r)
	}
}

// history writes the candles of a record.
func (e *eventEncoder) history(r *Record) {
	e.Uint(uint64(len(r.Candles)))
	for i := range r.Candles {
		e.candle(&r.Candles[i], r.At)
	}
}

func (d *eventDecoder) history(r *Record) {
	for n := d.Count(); n > 0 && d.Err() == nil; n-- {
		r.Candles = append(r.Candles, d.candle(r.At))
	}
}

// made writes what an engine is made of, and its saved parts.
func (e *eventEncoder) made(r *Record) {
	e.Bytes(r.Manifest)
	e.Uint(uint64(len(r.Parts)))
	for _, name := range slices.Sorted(maps.Keys(r.Parts)) {
		e.Text(name)
		e.Bytes(r.Parts[name])
	}
}

func (d *eventDecoder) made(r *Record) {
	r.Manifest, r.Parts = d.Bytes(), map[string][]byte{}
	for n := d.Count(); n > 0 && d.Err() == nil; n-- {
		name := d.Text()
		if r.Parts[name] = d.Bytes(); r.Parts[name] == nil {
			r.Parts[name] = []byte{}
		}
	}
}

func (c coder) small(r *Record) {
	switch r.Kind {
	case KindOpen, KindWaiting, KindBegun:
	case KindWithheld:
		number(c, &r.Order)
		word(c, &r.Command, market.CommandPlace)
	case KindTurn:
		from, size := int64(r.From), int64(r.To-r.From)
		number(c, &from)
		number(c, &size)
		r.From, r.To = uint64(from), uint64(from+size)
	default:
		c.unknown("note", byte(r.Kind))
	}
}

func number[T ~int64](c coder, p *T) {
	if c.e != nil {
		c.e.Int(int64(*p))
		return
	}
	*p = T(c.d.Int())
}

// word is a byte that is at most last.
func word[T ~uint8](c coder, p *T, last T) {
	if c.e != nil {
		c.e.Byte(byte(*p))
		return
	}
	*p = codec.Enum(&c.d.Decoder, last)
}

// list is a list of a length, nil where it is empty.
func list[T any](c coder, all *[]T, each func(coder, *T)) {
	if c.e != nil {
		c.e.Uint(uint64(len(*all)))
		for i := range *all {
			each(c, &(*all)[i])
		}
		return
	}
	for n := c.d.Count(); n > 0 && c.d.Err() == nil; n-- {
		var one T
		each(c, &one)
		*all = append(*all, one)
	}
}

func (c coder) price(p *market.Price) {
	if c.e != nil {
		c.e.Int(int64(*p))
		return
	}
	*p = c.d.Price()
}

func (c coder) value(v *market.Value) {
	if c.e != nil {
		c.e.Value(*v)
		return
	}
	*v = c.d.Value()
}

func (c coder) text(s *string) {
	if c.e != nil {
		c.e.Text(*s)
		return
	}
	*s = c.d.Text()
}

func (c coder) bytes(b *[]byte) {
	if c.e != nil {
		c.e.Bytes(*b)
		return
	}
	*b = c.d.Bytes()
}

func (c coder) uuid(id *uuid.UUID) {
	if c.e != nil {
		c.e.UUID(*id)
		return
	}
	*id = c.d.UUID()
}

func (c coder) flags(flags ...*bool) {
	if c.d != nil {
		c.d.Flags(flags...)
		return
	}
	values := make([]bool, len(flags))
	for i := range flags {
		values[i] = *flags[i]
	}
	c.e.Flags(values...)
}

func (c coder) market(id *market.ID) {
	if c.e != nil {
		c.e.listed(*id)
		return
	}
	*id, _ = c.d.listed()
}

func (c coder) asset(id *market.AssetID) {
	if c.e != nil {
		c.e.Asset(*id)
		return
	}
	*id = c.d.Asset()
}

func (c coder) strategy(id *market.StrategyID) {
	if c.e != nil {
		c.e.Strategy(*id)
		return
	}
	name, known := c.d.Strategy()
	if *id = known; known == 0 && name != "" {
		c.d.Fail("strategy %q is none of this bot", name)
	}
}

// newer stops the reading at something that a later program wrote.
func (d *eventDecoder) newer(format string, args ...any) {
	d.Refuse(fmt.Errorf("%w: "+format+"; update the program", append([]any{bolt.ErrNewer}, args...)...))
}
