package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// directBooked is the content of DirectBlob: how many lines of which log are booked.
type directBooked struct {
	File  uuid.UUID `json:"file"`
	Lines int       `json:"lines"`
}

// adoption is a sale of the kill switch that has become an own order.
type adoption struct {
	id    market.OrderID
	until market.Time // the exchange cannot accept it later
}

// unbooked are the lines of a log that are not booked yet.
func (r *runner) unbooked(lines []killswitch.Line) []killswitch.Line {
	if len(lines) == 0 || lines[0].File != r.booked.File {
		return lines
	}
	return lines[min(r.booked.Lines, len(lines)):]
}

func (r *runner) readBooked() error {
	text, err := r.store.Blob(statedir.DirectBlob)
	if err != nil || text == nil {
		return err
	}
	if err := json.Unmarshal(text, &r.booked); err != nil {
		return fmt.Errorf("what of %s is booked, in the state file: %w", killswitch.LogFile, err)
	}
	return nil
}

// bookAtStart books the kill switch's log of the time when no bot ran, before anything is queried
// or traded: the books then expect its sales like any order of the last run. The log is moved away
// once the bookings are on disk; a kill before that books nothing twice.
func (r *runner) bookAtStart() ([]market.Command, error) {
	log, err := killswitch.OpenExisting(filepath.Join(r.plan.Config.Bot.State, killswitch.LogFile))
	if err != nil {
		return nil, directError(err)
	}
	if log == nil {
		return nil, r.readBooked()
	}
	commands, err := r.bookAndRetire(log)
	return commands, errors.Join(err, log.Close())
}

func (r *runner) bookAndRetire(log *killswitch.Log) (commands []market.Command, err error) {
	if err := r.readBooked(); err != nil {
		return nil, err
	}
	lines := r.unbooked(log.Lines())
	if len(lines) > 0 && r.resumed {
		now := max(r.trading.Now(), r.engine.Now())
		r.journal.operate()
		if commands, _, err = r.book(now, log.Lines(), false); err != nil {
			return nil, err
		}
		commands = append(commands, r.finish(now, log.Lines())...)
		if err := r.journal.Commit(now); err != nil {
			return nil, err
		}
		r.fault("direct booked")
	} else if len(lines) > 0 {
		r.log.Warn().Str("log", killswitch.LogFile).
			Msg("the books begin anew: what the kill switch did before is not in them")
	}
	if r.resumed { // the sales are among the orders: the next switch queries them
		if err := r.writeHoldings(r.holdings(r.engine.Now())); err != nil {
			return nil, err
		}
	}
	r.fault("holdings left")
	to, err := log.Retire()
	if err != nil {
		return nil, err
	}
	r.fault("direct retired")
	r.log.Warn().Int("lines", len(lines)).Str("kept_as", to).Msg("what bot cancel-all --direct did is in the books")
	return commands, nil
}

// book books the new lines of the kill switch's log in engine and journal, to be committed. A
// flatten halts all strategies, and so does any switch while the bot runs. Call it where engine and
// account may be touched.
func (r *runner) book(at market.Time, all []killswitch.Line, running bool) (commands []market.Command, sales []adoption,
	err error) {
	lines, ends := r.unbooked(all), endsOf(all)
	var cancelled []market.OrderID
	halting := ""
	for i := range lines {
		l := &lines[i]
		switch l.Kind {
		case killswitch.KindBegin:
			if l.Flatten || running {
				halting = fmt.Sprintf("%s at %s", l.By, operator.ClockOf(l.AtMS))
			}
		case killswitch.KindCancel:
			if id := r.openOrder(l.Client); id != 0 {
				cancelled = append(cancelled, id)
			}
		}
	}
	if halting != "" {
		commands = slices.Clone(r.door.Enter(&market.Input{Kind: market.InputHalt, At: at, Reason: halting}).Commands)
	}
	dissolve := market.Input{Kind: market.InputDissolve, At: at, Orders: cancelled}
	commands = append(commands, r.door.Enter(&dissolve).Commands...)
	for i := range lines {
		if l := &lines[i]; l.Kind == killswitch.KindSell {
			sale, err := r.adopt(at, l, ends)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: line %d: %w", killswitch.LogFile, l.Number, err)
			}
			if sale.id != 0 {
				sales = append(sales, sale)
			}
		}
	}
	for _, id := range cancelled {
		sales = append(sales, adoption{id: id})
	}
	r.booked = directBooked{File: all[0].File, Lines: len(all)}
	text, _ := json.Marshal(r.booked) // an id and a number
	r.journal.batch.Blob(statedir.DirectBlob, text)
	return commands, sales, nil
}

// finish lets the bot go on with a flatten of the kill switch, where the switch has cancelled an
// exit and not sold all: the rest is sold when the exchange takes it, and until then the exit
// returns. Where a person typed the amounts, the rest is not the switch's to sell.
func (r *runner) finish(at market.Time, lines []killswitch.Line) (commands []market.Command) {
	by := ""
	for i := range lines {
		switch l := &lines[i]; {
		case l.Kind == killswitch.KindBegin && l.Flatten:
			by = fmt.Sprintf("%s at %s", l.By, operator.ClockOf(l.AtMS))
		case l.Kind == killswitch.KindSell && l.Strategy == "":
			return nil
		}
	}
	for i := range r.plan.Names() {
		if id := strategyID(i + 1); by != "" && r.engine.Brackets().Withdrawn(id) {
			in := market.Input{Kind: market.InputFlatten, At: at, Strategy: id, Reason: by}
			commands = append(commands, r.door.Enter(&in).Commands...)
		}
	}
	return commands
}

// openOrder is the number of the own open order with a client order id; 0: there is none.
func (r *runner) openOrder(client uuid.UUID) market.OrderID {
	for _, o := range r.account.Open(nil, 0, 0) {
		if o.ClientOrderID == client && client != uuid.Nil {
			return o.ID
		}
	}
	return 0
}

// endsOf are the confirmed amounts of sales, by client order id.
func endsOf(lines []killswitch.Line) map[uuid.UUID]string {
	ends := map[uuid.UUID]string{}
	for i := range lines {
		if lines[i].Kind == killswitch.KindEnd {
			ends[lines[i].Client] = lines[i].Amount
		}
	}
	return ends
}

// adopt books a sale as an own order of the strategy whose position it sold, unless it is known
// that the exchange never executed it.
func (r *runner) adopt(at market.Time, l *killswitch.Line, ends map[uuid.UUID]string) (sale adoption, err error) {
	if _, err := r.store.OrderByClientID(l.Client); !errors.Is(err, bolt.ErrNotFound) {
		return sale, err // it is an own order already
	}
	if ends[l.Client] == "0" {
		return sale, nil
	}
	m := r.plan.Catalog.MarketNamed(l.Market)
	if m == nil {
		r.log.Warn().Str("market", l.Market).Str("amount", l.Amount).
			Msg("no strategy trades the market of a direct sale any more: it is not booked")
		return sale, nil
	}
	amount, err := m.ParseQty(l.Amount)
	if err != nil {
		return sale, err
	}
	signed, err := market.TimeOfMillis(l.SignedMS)
	if err != nil {
		return sale, err
	}
	id := r.sellerOf(l.Strategy, m)
	if err := r.cover(at, id, m, r.soldBy(l.Client, m, amount, ends), ends); err != nil {
		return sale, err
	}
	o := market.Order{ClientOrderID: l.Client, OperatorID: l.Operator, Market: m.ID, Strategy: id, Side: market.Sell,
		Type: market.TypeMarket,
		OrderState: market.OrderState{TimeInForce: market.GTC, SelfTradePrevention: market.DecrementAndCancel,
			Amount: amount, AmountRemaining: amount},
		Created: signed, Tag: fmt.Sprintf("flatten %s:%d", killswitch.LogFile, l.Number)}
	own := r.door.Enter(&market.Input{Kind: market.InputAdopt, At: at, Order: &o}).Own
	j := r.journal
	j.intend(at, &journal.Intent{Command: market.Command{Kind: market.CommandPlace, At: at, Order: own.Order},
		Method: l.Method, Path: l.Path, Body: []byte(l.Body), Timestamp: l.SignedMS, WindowMS: l.WindowMS})
	j.batch.Journal(at, &journal.Difference{Discrepancy: state.Discrepancy{What: "direct",
		Theirs: fmt.Sprintf("order %d is line %d of log %s: %s %s sold without the loop, for %s", own.ID, l.Number,
			r.logID(l), l.Amount, l.Market, r.nameOf(id))}})
	j.order(own.ID)
	return adoption{id: own.ID, until: signed.Add(market.Duration(l.WindowMS) * 1e6)}, nil
}

// logID names the log for the journal.
func (r *runner) logID(l *killswitch.Line) string {
	return fmt.Sprintf("%s (%s)", killswitch.LogFile, l.Client)
}

// sellerOf is the strategy of a sale: the one it names, otherwise the one with the largest
// position.
func (r *runner) sellerOf(name string, m *market.Market) (id market.StrategyID) {
	most := market.Qty(-1)
	for i, known := range r.plan.Names() {
		if name != "" && known == name {
			return strategyID(i + 1)
		}
		if held := r.account.Position(strategyID(i+1), m.ID).Amount; held > most {
			id, most = strategyID(i+1), held
		}
	}
	return id
}

// cover moves to a strategy the part of a sold amount that it does not hold, from what other
// strategies hold beyond their own sales. What they lack was unallocated, and the loop books it
// with the fill: an own order whose outcome is unknown may still bring it, or have sold nothing.
func (r *runner) cover(at market.Time, id market.StrategyID, m *market.Market, amount market.Qty,
	ends map[uuid.UUID]string) error {
	amount += r.selling(id, m, ends)
	lacks := amount - r.account.Position(id, m.ID).Amount
	for i := range r.plan.Names() {
		other := strategyID(i + 1)
		spare := r.account.Position(other, m.ID).Amount - r.selling(other, m, ends)
		if lacks <= 0 || other == id || spare <= 0 {
			continue
		}
		part := min(lacks, spare)
		lacks -= part
		r.carry(at, &market.Event{Asset: m.Base, Market: m.ID, Money: -market.Money(part), Owner: other})
		r.carry(at, &market.Event{Asset: m.Base, Market: m.ID, Money: market.Money(part), Owner: id,
			Price: max(1, r.account.Last(m.ID))})
	}
	return r.engine.Err()
}

// selling is what sales of a strategy that are still to be booked have sold.
func (r *runner) selling(id market.StrategyID, m *market.Market, ends map[uuid.UUID]string) (amount market.Qty) {
	for _, o := range r.account.Pending(nil) {
		if o.Strategy == id && o.Market == m.ID && o.Side == market.Sell && o.Type == market.TypeMarket &&
			o.InFlight == market.CommandPlace {
			amount += r.soldBy(o.ClientOrderID, m, o.Amount, ends) - o.Booked()
		}
	}
	return amount
}

// soldBy is the confirmed amount of a sale, its whole amount where the log has none.
func (r *runner) soldBy(client uuid.UUID, m *market.Market, whole market.Qty, ends map[uuid.UUID]string) market.Qty {
	if text, known := ends[client]; known {
		if sold, err := m.ParseQty(text); err == nil {
			return sold
		}
	}
	return whole
}

// carry books a transfer event.
func (r *runner) carry(at market.Time, ev *market.Event) {
	ev.At, ev.Kind = at, market.KindTransfer
	r.door.Enter(&market.Input{Kind: market.InputBooking, Event: ev})
	r.journal.Event(ev)
}

// fault reports a point of the booking to a test.
func (r *runner) fault(point string) {
	if r.Faults != nil {
		r.Faults(point)
	}
}

// directError adds to an error of the kill switch's log what to do about it.
func directError(err error) error {
	switch {
	case errors.Is(err, killswitch.ErrBusy):
		return fmt.Errorf("%w: start the bot when it is done", err)
	case errors.Is(err, killswitch.ErrDamaged):
		return fmt.Errorf("%w; it may tell of sales that are not in the books: compare it with the exchange's trades, "+
			"then move it away", err)
	}
	return err
}
