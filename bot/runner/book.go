package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/folder"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/direct"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/boltfile"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// directBooked is the content of DirectBlob.
type directBooked struct {
	File  uuid.UUID `json:"file"`
	Lines int       `json:"lines"`
}

// adoption is a sale of the kill switch that has become an own order.
type adoption struct {
	id    market.OrderID
	until market.Time // the exchange could last take it
}

// fresh are the lines of a log that are not booked yet.
func (r *runner) fresh(lines []direct.Line) []direct.Line {
	if len(lines) == 0 || lines[0].File != r.booked.File {
		return lines
	}
	return lines[min(r.booked.Lines, len(lines)):]
}

// readBooked reads how much was booked before.
func (r *runner) readBooked() error {
	text, err := r.store.Blob(folder.DirectBlob)
	if err != nil || text == nil {
		return err
	}
	if err := json.Unmarshal(text, &r.booked); err != nil {
		return fmt.Errorf("what of %s is booked, in the state file: %w", direct.LogFile, err)
	}
	return nil
}

// bookAtStart books what the kill switch has done while no bot ran, before anything is asked or
// traded: afterwards the books expect its sales like any order of the last run. The log is moved
// away once that is on disk; a kill before books nothing twice.
func (r *runner) bookAtStart() ([]market.Command, error) {
	log, err := direct.OpenExisting(filepath.Join(r.plan.Config.Bot.State, direct.LogFile))
	if err != nil {
		return nil, directError(err)
	}
	if log == nil {
		return nil, r.readBooked()
	}
	commands, err := r.bookAndRetire(log)
	return commands, errors.Join(err, log.Close())
}

func (r *runner) bookAndRetire(log *direct.Log) (commands []market.Command, err error) {
	if err := r.readBooked(); err != nil {
		return nil, err
	}
	lines := r.fresh(log.Lines())
	if len(lines) > 0 && r.resumed {
		now := max(r.trading.Now(), r.engine.Now())
		r.journal.operate()
		if commands, _, err = r.book(now, log.Lines(), false); err != nil {
			return nil, err
		}
		if err := r.journal.Commit(now); err != nil {
			return nil, err
		}
		r.fault("direct booked")
	} else if len(lines) > 0 {
		r.log.Warn().Str("log", direct.LogFile).
			Msg("the books begin anew: what the kill switch did before is not in them")
	}
	if r.resumed { // with the sales among the orders, so that the next switch asks for them
		if err := r.leaveHoldings(r.holdings(r.engine.Now())); err != nil {
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

// book takes what is new in the kill switch's log into engine and journal, to be committed. A
// flatten halts all strategies, a switch that was turned while the bot runs does too. Call it where
// engine and account may be touched.
func (r *runner) book(at market.Time, all []direct.Line, running bool) (commands []market.Command, sales []adoption,
	err error) {
	lines, ends := r.fresh(all), endsOf(all)
	var cancelled []market.OrderID
	halting := ""
	for i := range lines {
		l := &lines[i]
		switch l.Kind {
		case direct.KindBegin:
			if l.Flatten || running {
				halting = fmt.Sprintf("%s at %s", l.By, operator.ClockOf(l.AtMS))
			}
		case direct.KindCancel:
			if id := r.openOrder(l.Client); id != 0 {
				cancelled = append(cancelled, id)
			}
		}
	}
	if halting != "" {
		commands = slices.Clone(r.engine.HaltAll(at, halting))
	}
	commands = append(commands, r.engine.Dissolve(at, cancelled)...)
	for i := range lines {
		if l := &lines[i]; l.Kind == direct.KindSell {
			sale, err := r.adopt(at, l, ends)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: line %d: %w", direct.LogFile, l.Number, err)
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
	r.journal.batch.Blob(folder.DirectBlob, text)
	return commands, sales, nil
}

// openOrder is the number of an own open order, 0 where there is none of that name.
func (r *runner) openOrder(client uuid.UUID) market.OrderID {
	for _, o := range r.account.Open(nil, 0, 0) {
		if o.ClientOrderID == client && client != uuid.Nil {
			return o.ID
		}
	}
	return 0
}

// endsOf are the amounts that sales certainly came to, by client order id.
func endsOf(lines []direct.Line) map[uuid.UUID]string {
	ends := map[uuid.UUID]string{}
	for i := range lines {
		if lines[i].Kind == direct.KindEnd {
			ends[lines[i].Client] = lines[i].Amount
		}
	}
	return ends
}

// adopt makes a sale an own order of the strategy whose position it sold. One that certainly never
// was is none.
func (r *runner) adopt(at market.Time, l *direct.Line, ends map[uuid.UUID]string) (sale adoption, err error) {
	if _, err := r.store.OrderByClientID(l.Client); !errors.Is(err, boltfile.ErrNotFound) {
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
		Created: signed, Tag: fmt.Sprintf("flatten %s:%d", direct.LogFile, l.Number)}
	own := r.engine.Adopt(at, &o)
	j := r.journal
	j.batch.Journal(at, &journal.Intent{Command: market.Command{Kind: market.CommandPlace, At: at, Order: own.Order},
		Method: l.Method, Path: l.Path, Body: []byte(l.Body), Timestamp: l.SignedMS, WindowMS: l.WindowMS})
	j.batch.Journal(at, &journal.Difference{Discrepancy: state.Discrepancy{What: "direct",
		Theirs: fmt.Sprintf("order %d is line %d of log %s: %s %s sold without the loop, for %s", own.ID, l.Number,
			r.logID(l), l.Amount, l.Market, r.nameOf(id))}})
	j.order(own.ID)
	return adoption{id: own.ID, until: signed.Add(market.Duration(l.WindowMS) * 1e6)}, nil
}

// logID names the log for the journal.
func (r *runner) logID(l *direct.Line) string {
	return fmt.Sprintf("%s (%s)", direct.LogFile, l.Client)
}

// sellerOf is the strategy that a sale is booked to: the one that it names, otherwise the one that
// holds most.
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

// cover moves to a strategy what it lacks of an amount that was sold in its name: from others that
// hold it, then from what is nobody's.
func (r *runner) cover(at market.Time, id market.StrategyID, m *market.Market, amount market.Qty,
	ends map[uuid.UUID]string) error {
	for _, o := range r.account.Pending(nil) { // sales before it, which have still to be booked
		if o.Strategy == id && o.Market == m.ID && o.Side == market.Sell && o.Type == market.TypeMarket &&
			o.InFlight == market.CommandPlace {
			amount += r.soldBy(o.ClientOrderID, m, o.Amount, ends) - o.Booked()
		}
	}
	lacks := amount - r.account.Position(id, m.ID).Amount
	for i := range r.plan.Names() {
		other := strategyID(i + 1)
		held := r.account.Position(other, m.ID)
		if lacks <= 0 || other == id || held.Amount <= 0 {
			continue
		}
		part := min(lacks, held.Amount)
		lacks -= part
		r.carry(at, &market.Event{Asset: m.Base, Market: m.ID, Money: -market.Money(part), Owner: other})
		r.carry(at, &market.Event{Asset: m.Base, Market: m.ID, Money: market.Money(part), Owner: id,
			Price: max(1, r.account.Last(m.ID))})
	}
	if lacks > 0 {
		r.log.Warn().Str("market", m.Name).Str("amount", m.FormatQty(lacks)).Str("strategy", r.nameOf(id)).
			Msg("more was sold than the strategies hold: the rest was nobody's, and is booked to the strategy")
		r.carry(at, &market.Event{Asset: m.Base, Market: m.ID, Money: market.Money(lacks), Owner: id,
			Price: max(1, r.account.Last(m.ID))})
	}
	return r.engine.Err()
}

// soldBy is what a sale came to, as far as the log knows, otherwise its whole amount.
func (r *runner) soldBy(client uuid.UUID, m *market.Market, whole market.Qty, ends map[uuid.UUID]string) market.Qty {
	if text, known := ends[client]; known {
		if sold, err := m.ParseQty(text); err == nil {
			return sold
		}
	}
	return whole
}

// carry moves an amount in the books.
func (r *runner) carry(at market.Time, ev *market.Event) {
	ev.At, ev.Kind = at, market.KindTransfer
	r.engine.Step(ev)
	r.journal.Event(ev)
	position := r.account.Position(ev.Owner, ev.Market)
	r.journal.batch.Position(ev.Owner, ev.Market, &position)
}

// fault lets a test know how far booking has come.
func (r *runner) fault(point string) {
	if r.Faults != nil {
		r.Faults(point)
	}
}

// directError says what a log of the kill switch that cannot be read means.
func directError(err error) error {
	switch {
	case errors.Is(err, direct.ErrBusy):
		return fmt.Errorf("%w: start the bot when it is done", err)
	case errors.Is(err, direct.ErrDamaged):
		return fmt.Errorf("%w; it may tell of sales that are not in the books: compare it with the exchange's trades, "+
			"then move it away", err)
	}
	return err
}
