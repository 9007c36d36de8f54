package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// directBooks books the kill switch's log.
type directBooks struct {
	*books
	booked   directBooked
	own      atomic.Bool   // the log is this process's own: the next start books it
	valve    *orderGateway // through which the loop's orders leave
	holdings *holdingsKeeper
	fault    func(point string) // reports a point of the booking to a test
}

// directBooked is the content of DirectBlob: how many lines of which log are booked.
type directBooked struct {
	File  uuid.UUID `json:"file"`
	Lines int       `json:"lines"`
}

// adoption is a sale of the kill switch that has become an own order.
type adoption struct {
	id    market.OrderID
	until market.Time      // the exchange cannot accept it later
	moved []market.Command // of brackets whose base was moved for it
}

// unbooked are the lines of a log that are not booked yet.
func (b *directBooks) unbooked(lines []killswitch.Line) []killswitch.Line {
	if len(lines) == 0 || lines[0].File != b.booked.File {
		return lines
	}
	return lines[min(b.booked.Lines, len(lines)):]
}

func (b *directBooks) readBooked() error {
	text, err := b.store.Blob(statedir.DirectBlob)
	if err != nil || text == nil {
		return err
	}
	if err := json.Unmarshal(text, &b.booked); err != nil {
		return fmt.Errorf("what of %s is booked, in the state file: %w", killswitch.LogFile, err)
	}
	return nil
}

// bookAtStart books the kill switch's log of the time when no bot ran, before anything is queried
// or traded: the books then expect its sales like any order of the last run. The log is moved away
// once the bookings are on disk; a kill before that books nothing twice.
func (b *directBooks) bookAtStart() ([]market.Command, error) {
	log, err := killswitch.OpenExisting(filepath.Join(b.plan.Config.Bot.State, killswitch.LogFile))
	if err != nil {
		return nil, directError(err)
	}
	if log == nil {
		return nil, b.readBooked()
	}
	commands, err := b.bookAndRetire(log)
	return commands, errors.Join(err, log.Close())
}

func (b *directBooks) bookAndRetire(log *killswitch.Log) (commands []market.Command, err error) {
	if err := b.readBooked(); err != nil {
		return nil, err
	}
	lines := b.unbooked(log.Lines())
	if len(lines) > 0 && b.resumed {
		now := max(b.trading.Now(), b.engine.Now())
		b.journal.operate()
		if commands, _, err = b.book(now, log.Lines(), false); err != nil {
			return nil, err
		}
		commands = append(commands, b.finish(now, log.Lines())...)
		if err := b.journal.Commit(now); err != nil {
			return nil, err
		}
		b.fault("direct booked")
	} else if len(lines) > 0 {
		b.log.Warn().Str("log", killswitch.LogFile).
			Msg("the books begin anew: what the kill switch did before is not in them")
	}
	if b.resumed { // the sales are among the orders: the next switch queries them
		if err := b.holdings.write(b.holdings.now(b.engine.Now())); err != nil {
			return nil, err
		}
	}
	b.fault("holdings left")
	to, err := log.Retire()
	if err != nil {
		return nil, err
	}
	b.fault("direct retired")
	b.log.Warn().Int("lines", len(lines)).Str("kept_as", to).Msg("what bot cancel-all --direct did is in the books")
	return commands, nil
}

// book books the new lines of the kill switch's log in engine and journal, to be committed. A
// flatten halts all strategies, and so does any switch while the bot runs. Call it where engine and
// account may be touched.
func (b *directBooks) book(at market.Time, all []killswitch.Line, running bool) (commands []market.Command,
	sales []adoption, err error) {
	lines, ends := b.unbooked(all), endsOf(all)
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
			if id := b.openOrder(l.Client); id != 0 {
				cancelled = append(cancelled, id)
			}
		}
	}
	if halting != "" {
		commands = slices.Clone(b.door.Enter(&market.Input{Kind: market.InputHalt, At: at, Reason: halting}).Commands)
	}
	dissolve := market.Input{Kind: market.InputDissolve, At: at, Orders: cancelled}
	commands = append(commands, b.door.Enter(&dissolve).Commands...)
	for i := range lines {
		if l := &lines[i]; l.Kind == killswitch.KindSell {
			sale, err := b.adopt(at, lines[i:], ends)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: line %d: %w", killswitch.LogFile, l.Number, err)
			}
			if sale.id != 0 {
				sales = append(sales, sale)
			}
			commands = append(commands, sale.moved...)
		}
	}
	for _, id := range cancelled {
		sales = append(sales, adoption{id: id})
	}
	b.booked = directBooked{File: all[0].File, Lines: len(all)}
	text, _ := json.Marshal(b.booked) // an id and a number
	b.journal.batch.Blob(statedir.DirectBlob, text)
	return commands, sales, nil
}

// finish lets the bot go on with a flatten of the kill switch, where the switch has cancelled an
// exit and not sold all: the rest is sold when the exchange takes it, and until then the exit
// returns. Where a person typed the amounts, the rest is not the switch's to sell.
func (b *directBooks) finish(at market.Time, lines []killswitch.Line) (commands []market.Command) {
	by := ""
	for i := range lines {
		switch l := &lines[i]; {
		case l.Kind == killswitch.KindBegin && l.Flatten:
			by = fmt.Sprintf("%s at %s", l.By, operator.ClockOf(l.AtMS))
		case l.Kind == killswitch.KindSell && l.Strategy == "":
			return nil
		}
	}
	for i := range b.plan.Names() {
		if id := strategyID(i + 1); by != "" && b.engine.Brackets().Withdrawn(id) {
			in := market.Input{Kind: market.InputFlatten, At: at, Strategy: id, Reason: by}
			commands = append(commands, b.door.Enter(&in).Commands...)
		}
	}
	return commands
}

// openOrder is the number of the own open order with a client order id; 0: there is none.
func (b *directBooks) openOrder(client uuid.UUID) market.OrderID {
	for _, o := range b.account.Open(nil, 0, 0) {
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

// adopt books the sale of the first line as an own order of the strategy whose position it sold,
// unless it is known that the exchange never executed it.
func (b *directBooks) adopt(at market.Time, lines []killswitch.Line, ends map[uuid.UUID]string) (sale adoption,
	err error) {
	l := &lines[0]
	if _, err := b.store.OrderByClientID(l.Client); !errors.Is(err, bolt.ErrNotFound) {
		return sale, err // it is an own order already
	}
	if ends[l.Client] == "0" {
		return sale, nil
	}
	m := b.plan.Catalog.MarketNamed(l.Market)
	if m == nil {
		b.log.Warn().Str("market", l.Market).Str("amount", l.Amount).
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
	id := b.sellerOf(l.Strategy, m)
	moved, err := b.cover(at, id, m, lines, ends)
	if err != nil {
		return sale, err
	}
	o := market.Order{ClientOrderID: l.Client, OperatorID: l.Operator, Market: m.ID, Strategy: id, Side: market.Sell,
		Type: market.TypeMarket,
		OrderState: market.OrderState{TimeInForce: market.GTC, SelfTradePrevention: market.DecrementAndCancel,
			Amount: amount, AmountRemaining: amount},
		Created: signed, Tag: fmt.Sprintf("flatten %s:%d", killswitch.LogFile, l.Number)}
	own := b.door.Enter(&market.Input{Kind: market.InputAdopt, At: at, Order: &o}).Own
	j := b.journal
	j.intend(at, &journal.Intent{Command: market.Command{Kind: market.CommandPlace, At: at, Order: own.Order},
		Method: l.Method, Path: l.Path, Body: []byte(l.Body), Timestamp: l.SignedMS, WindowMS: l.WindowMS})
	j.batch.Journal(at, &journal.Difference{Discrepancy: state.Discrepancy{What: "direct",
		Theirs: fmt.Sprintf("order %d is line %d of log %s (%s): %s %s sold without the loop, for %s", own.ID, l.Number,
			killswitch.LogFile, l.Client, l.Amount, l.Market, b.nameOf(id))}})
	j.order(own.ID)
	return adoption{id: own.ID, until: signed.Add(market.Duration(l.WindowMS) * 1e6), moved: moved}, nil
}

// sellerOf is the strategy of a sale: the one it names, otherwise the one with the largest
// position.
func (b *directBooks) sellerOf(name string, m *market.Market) (id market.StrategyID) {
	most := market.Qty(-1)
	for i, known := range b.plan.Names() {
		if name != "" && known == name {
			return strategyID(i + 1)
		}
		if held := b.account.Position(strategyID(i+1), m.ID).Amount; held > most {
			id, most = strategyID(i+1), held
		}
	}
	return id
}

// cover moves to a strategy the part of the sale of the first line that it does not hold, from what
// other strategies hold beyond their own sales and the exits that rest. What they lack was
// unallocated, and the loop books it with the fill: an own order whose outcome is unknown may still
// bring it, or have sold nothing.
func (b *directBooks) cover(at market.Time, id market.StrategyID, m *market.Market, lines []killswitch.Line,
	ends map[uuid.UUID]string) (commands []market.Command, err error) {
	lacks := b.selling(id, m, lines[:1], ends) - b.account.Position(id, m.ID).Amount
	for i := range b.plan.Names() {
		other := strategyID(i + 1)
		spare := b.account.Position(other, m.ID).Amount - b.selling(other, m, lines[1:], ends) -
			b.resting(other, m, ends)
		if lacks <= 0 || other == id || spare <= 0 {
			continue
		}
		part := min(lacks, spare)
		lacks -= part
		from := market.Event{Asset: m.Base, Market: m.ID, Money: -market.Money(part), Owner: other}
		to := market.Event{Asset: m.Base, Market: m.ID, Money: market.Money(part), Owner: id,
			Price: max(1, b.account.Last(m.ID))}
		commands = append(append(commands, b.carry(at, &from)...), b.carry(at, &to)...)
	}
	return commands, b.engine.Err()
}

// selling is what sales of a strategy have sold: those that are own orders and still to be booked,
// and those of lines that are to become own orders.
func (b *directBooks) selling(id market.StrategyID, m *market.Market, lines []killswitch.Line,
	ends map[uuid.UUID]string) (amount market.Qty) {
	for _, o := range b.account.Pending(nil) {
		if o.Strategy == id && o.Market == m.ID && o.Side == market.Sell && o.Type == market.TypeMarket &&
			o.InFlight == market.CommandPlace {
			amount += soldBy(o.ClientOrderID, m, o.Amount, ends) - o.BookedAmount()
		}
	}
	for i := range lines {
		l := &lines[i]
		if l.Kind != killswitch.KindSell || l.Market != m.Name || b.sellerOf(l.Strategy, m) != id {
			continue
		}
		if whole, err := m.ParseQty(l.Amount); err == nil {
			amount += soldBy(l.Client, m, whole, ends)
		}
	}
	return amount
}

// resting is what orders of a strategy hold that rest, and that the log does not end: that is not
// sold.
func (b *directBooks) resting(id market.StrategyID, m *market.Market, ends map[uuid.UUID]string) (amount market.Qty) {
	for _, o := range b.account.Pending(nil) {
		_, ended := ends[o.ClientOrderID]
		if o.Strategy == id && o.Market == m.ID && o.Side == market.Sell && o.Reported && o.InFlight == 0 && !ended {
			amount += market.Qty(o.OnHold)
		}
	}
	return amount
}

// soldBy is the confirmed amount of a sale, its whole amount where the log has none.
func soldBy(client uuid.UUID, m *market.Market, whole market.Qty, ends map[uuid.UUID]string) market.Qty {
	if text, known := ends[client]; known {
		if sold, err := m.ParseQty(text); err == nil {
			return sold
		}
	}
	return whole
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
