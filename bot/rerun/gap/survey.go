package gap

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// survey has the records of a stretch beside its stream of market data.
type survey struct {
	liveOrders
	inherited []*life // open at a start, asked for before the stretch began
	candles   series  // that were recorded, or since of a store
	signals   []heard // by when they were known
	sent      []heard // the same as their senders sent them
	starts    int
	notes     []string
	turnover  market.Money
	by        []market.Money // turnover by StrategyID − 1
	from, to  market.Time
	whole     *profitMeter // of the run with all facts
	first     *begin
	prices    map[string]market.Price // by market, with which the books begin
	last      uuid.UUID               // the run of the last start
	short     string                  // why it ends before the books do; empty: it does not
}

// look plays the stretch with all its facts: every input enters the engine as it did live, so the
// orders and the books are those of the bot.
//
// A start that began anew, because the one before had committed nothing, begins the stretch anew;
// so does the first start after from, where the bot did not run at from, or events before it are
// lost. The stretch ends with the last turn of which the journal has the commit, and before a
// start with other strategies or markets.
func (t *stretch) look(ctx context.Context) (*survey, error) {
	v := &viewer{survey: &survey{}, stretch: t, leading: t.lead}
	var err error
	for item, failed := range t.items(ctx) {
		if err = failed; err == nil {
			err = v.item(item)
		}
		if err != nil {
			break
		}
	}
	switch {
	case errors.Is(err, errAnew):
		t.first, t.lead = v.number, false
		return t.look(ctx)
	case err == nil && v.leading:
		return nil, config.Usagef("nothing is recorded from %s on; the last record is of %s", t.from, v.to)
	case errors.Is(err, errOthers):
		t.last, t.other = v.number-1, v.number
	case err != nil:
		return nil, err
	}
	if v.unwritten {
		t.last = v.turned
		return t.look(ctx)
	}
	v.stop()
	if t.last == 0 {
		t.last = v.number // a running bot goes on
	}
	v.candles.sort()
	v.signals = sorted(v.signals)
	if v.whole == nil && v.err == nil {
		v.err = fmt.Errorf("%s: %w", t.dir, errIdle)
	}
	return v.survey, v.err
}

var (
	errAnew   = errors.New("the bot began anew")
	errOthers = errors.New("the bot began with other strategies or markets")
	errIdle   = errors.New("the bot has not begun to trade in that time")
)

// viewer plays a stretch with all facts.
type viewer struct {
	*survey
	stretch *stretch
	leading bool       // from is still to come
	number  uint64     // of the record at hand
	turned  uint64     // of the record of the last turn that was committed
	core    *core.Core // nil: nothing is played until the next start
	begin   *begin
	err     error
	// manifest is what the core is made of now: that of the start, or of a reload.
	manifest  *core.Manifest
	unwritten bool // the last turn of the start was never committed
}

// item plays a record, or notes what is missing.
func (v *viewer) item(r *reader.Item) error {
	if r.Gap != nil {
		for _, l := range r.Gap.Lost {
			v.notes = append(v.notes, fmt.Sprintf("events %d to %d are lost: what followed from them is unexplained",
				l.From, l.To))
			v.short = v.notes[len(v.notes)-1]
			v.stop()
		}
		return nil
	}
	if v.number = r.Number; r.Kind == recording.KindStart {
		return v.start(r)
	}
	if v.core == nil {
		return nil
	}
	if v.leading && v.whole != nil && r.At >= v.stretch.from {
		v.arrive()
	}
	v.to = max(v.to, r.At)
	switch r.Kind {
	case recording.KindHistory:
		v.candles.add(r.Candles)
	case recording.KindOpen:
		return v.open(r.At, r.History)
	case recording.KindTurn:
		if v.unwritten = r.To > v.stretch.ends[v.begin.manifest.Run]; !v.unwritten {
			v.turned = r.Number
		}
	case recording.KindInput:
		return v.input(r.Number, &r.Input)
	case recording.KindReload:
		return v.reload(r)
	}
	return nil
}

// start makes the engine of a start.
func (v *viewer) start(r *reader.Item) error {
	v.stop()
	b, err := v.stretch.begin(r)
	switch {
	case err != nil:
		return err
	case v.leading && (v.first != nil || r.At >= v.stretch.from),
		v.first != nil && b.parts[engine.PartAccount] == nil:
		return errAnew
	case v.first != nil && !alike(v.first.manifest, b.manifest):
		return errOthers
	}
	v.begin, v.manifest, v.unwritten, v.short = b, b.manifest, false, ""
	v.starts, v.last = v.starts+1, b.manifest.Run
	if v.first == nil {
		v.first, v.from = b, r.At
		v.by = make([]market.Money, len(b.made.Strategies))
	}
	b.made.Observer = v
	v.core, err = core.New(b.made)
	return err
}

// open begins the engine of a start.
func (v *viewer) open(at market.Time, history []market.Candle) error {
	commands, err := v.core.Open(at, v.begin.parts, history)
	if err != nil {
		return fmt.Errorf("begin as the bot did at %s: %w", at, err)
	}
	if v.whole == nil {
		v.begins(v.core.Account)
	}
	v.whole.open(v.core.Account)
	v.inherit()
	v.ask(commands)
	return nil
}

// begins begins the books of the run with all facts.
func (v *viewer) begins(a *state.Account) {
	v.whole, v.prices = newLedger(v.begin.made), map[string]market.Price{}
	for _, m := range a.Catalog().Markets() {
		v.prices[m.Name] = a.Last(m.ID)
	}
}

// arrive begins the comparison at from, inside a start.
func (v *viewer) arrive() {
	v.leading, v.from, v.turnover = false, v.stretch.from, 0
	clear(v.by)
	v.begins(v.core.Account)
	v.whole.open(v.core.Account)
}

// inherit keeps the orders that are open at a start, and were asked for before the stretch began.
func (v *viewer) inherit() {
	for _, o := range v.core.Account.Open(nil, 0, 0) {
		if v.lives[o.ID] == nil {
			v.inherited = append(v.inherited, v.keep(&life{order: *o, at: o.Created, accepted: o.Created,
				answered: o.Created}))
		}
	}
}

// input lets an input enter.
func (v *viewer) input(number uint64, in *market.Input) error {
	if in.Event != nil && in.Event.Kind == market.KindCandles {
		v.candles.add(in.Event.Candles)
	}
	if in.Kind == market.InputSignal {
		v.hear(in)
	}
	if in.Event != nil {
		v.candles.price(in.Event)
	}
	if answer(in) {
		if l := v.lives[orderOf(in.Event)]; l != nil {
			l.tell(number, in.Event)
		}
	}
	v.whole.note(in)
	a := v.core.Engine.Enter(in)
	if a.Err != nil {
		return fmt.Errorf("record %d: %w", number, a.Err)
	}
	if in.Kind != market.InputBooking {
		v.ask(a.Commands)
	}
	return nil
}

// ask keeps the orders that the bot asked for.
func (v *viewer) ask(commands []market.Command) {
	for i := range commands {
		c := &commands[i]
		if c.Kind == market.CommandPlace {
			v.add(c)
		} else if l := v.lives[c.Order.ID]; l != nil {
			l.changes = append(l.changes, liveWrite{kind: c.Kind, at: c.At, order: c.Order})
		}
	}
}

// stop ends the play of a process.
func (v *viewer) stop() {
	if v.core != nil && v.whole != nil && v.err == nil {
		v.err = v.whole.close(v.core.Account)
	}
	v.core = nil
}

// Filled counts the turnover: an engine.Observer.
func (v *viewer) Filled(o *state.Order, f *market.Fill) {
	m := v.begin.made.Catalog.Market(f.Market)
	if m.Quote != v.begin.made.Limits.Currency {
		return
	}
	if value, err := m.Notional(f.Price, f.Amount); err == nil && o.Strategy > 0 {
		v.turnover += value
		v.by[o.Strategy-1] += value
	}
}

// Closed is of engine.Observer.
func (*viewer) Closed(*state.Order) {}

// orderOf is the order that an answer is about; 0: a foreign one.
func orderOf(ev *market.Event) market.OrderID {
	if ev.Report != nil {
		return ev.Report.Order
	}
	if len(ev.Fills) > 0 {
		return ev.Fills[0].Order
	}
	return 0
}

var _ backtest.Facts = (*run)(nil)
