package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// clockError is how far the clock of an earlier run may have been ahead of the exchange's.
const clockError = time.Hour

// newerNumbers is how many order numbers of a run are looked for after the last one of the state
// file.
const newerNumbers = 1 << 15

// Newer is what a run knows of orders that its bot has sent after the copy of its state file was
// made. A client order id is made of a run's id and the order's number: the next numbers of the
// file's runs prove whose such an order is. An order of a run that the file does not know has only
// the operator id of a strategy: that is no proof, but reason enough to place no second exit.
type Newer struct {
	Runs  []Run       // of the file, those that may have sent it, the latest first
	First market.Time // of the file's first entry: an older order is of no copy of this file
	Since market.Time // of the file's last entry before this start, and before failed ones
	// Settled says that all newer orders are known: the start has not failed.
	Settled bool
	// Owners are the strategies that an order may be of, the likeliest first: by its operator id
	// and, where its name proves that it is the bot's, also without.
	Owners func(o *market.Order, proven bool) []market.StrategyID
	// Orders are the newer orders in the books, by their new numbers, those of earlier starts too.
	Orders []market.OrderID
	// Unknown is what those of them that are purchases have brought, those of earlier starts too.
	// Amount is what was bought; Since is 0 until the strategy has been halted for it.
	Unknown []UnknownExit
	// Lent is base of the unallocated balance that newer purchases are to give back; Since is 0.
	Lent []UnknownExit
}

// Run is a run of which the state file may lack orders: the file can be a copy from within it.
type Run struct {
	ID   uuid.UUID      `json:"id"`
	Last market.OrderID `json:"last"` // the highest number in the file when the next run began
}

// sent is the place of a newer order among all that the runs of the file have sent.
type sent struct {
	run    int // index in Newer.Runs
	number market.OrderID
}

// newer takes the orders that Newer tells of into the books. It places no second exit beside one of
// them: strategies whose exits are not known are halted.
type newer struct {
	base
	*Newer
	sent     map[uuid.UUID]sent             // by client order id
	taken    map[uuid.UUID]bool             // orders that this start has booked
	doubts   map[market.StrategyID][]string // by what may be exits of their positions
	shared   map[market.StrategyID][]string // orders in the books that may be of another strategy
	asked    map[uuid.UUID]bool             // names of orders that were asked for, or doubted
	searched market.Time                    // all trades since then have been looked through; 0: none
	ends     retry                          // of cancelRest
}

func newNewer(b base) newer {
	return newer{base: b, Newer: b.Config.Newer, taken: map[uuid.UUID]bool{},
		doubts: map[market.StrategyID][]string{}, shared: map[market.StrategyID][]string{}, asked: map[uuid.UUID]bool{}}
}

// unbooked is what an order's fills bring that are not booked.
func unbooked(own *state.Order, fills []market.Fill) (amount market.Qty) {
	for i := range fills {
		if !own.Knows(&fills[i]) {
			amount += fills[i].Amount
		}
	}
	return amount
}

// lend books base of the unallocated balance to a strategy of which the kill switch or a newer
// order has sold more than it holds. It is lent with the fill: before it, what own orders under way
// have bought or sold may be unknown. A newer purchase gives it back.
func (n *newer) lend(fills []market.Fill) {
	if len(fills) == 0 {
		return
	}
	own := n.Account.Known(fills[0].Order)
	if own == nil || own.Side != market.Sell || own.Strategy == 0 ||
		made(own.ClientOrderID) && !n.taken[own.ClientOrderID] {
		return
	}
	lacks := unbooked(own, fills) - n.Account.Position(own.Strategy, own.Market).Amount
	if lacks <= 0 {
		return
	}
	m := n.Account.Catalog().Market(own.Market)
	n.Log.Warn().Int64("order", int64(own.ID)).Str("market", m.Name).Str("amount", m.FormatQty(lacks)).
		Msg("more was sold than the strategies hold: the rest was unallocated, and is booked to the strategy")
	loan := UnknownExit{Strategy: own.Strategy, Market: m.ID, Amount: lacks}
	if at := slices.IndexFunc(n.Lent, loan.Same); at >= 0 {
		n.Lent[at].Amount += lacks
	} else {
		n.Lent = append(n.Lent, loan)
	}
	n.loop.step(&market.Event{Kind: market.KindTransfer, Asset: m.Base, Market: m.ID, Money: market.Money(lacks),
		Owner: own.Strategy, Price: max(1, n.Account.Last(m.ID))})
}

// takeBackLoan acts on a newer purchase that has been booked: the base that lend has booked for it
// leaves the books again, and after the start its strategy is halted.
func (n *newer) takeBackLoan(bought UnknownExit) {
	if at := slices.IndexFunc(n.Lent, bought.Same); at >= 0 {
		lent := &n.Lent[at]
		amount := min(lent.Amount, bought.Amount)
		if lent.Amount -= amount; lent.Amount == 0 {
			n.Lent = slices.Delete(n.Lent, at, at+1)
		}
		n.loop.step(&market.Event{Kind: market.KindTransfer, Asset: n.Account.Catalog().Market(bought.Market).Base,
			Market: bought.Market, Money: -market.Money(amount), Owner: bought.Strategy})
	}
	if bought.Amount > 0 && n.Settled {
		n.haltBought()
	}
}

// sentBy tells as which of its orders a run of the state file has sent an order.
func (n *newer) sentBy(client uuid.UUID) (as sent, is bool) {
	if n.sent == nil {
		n.sent = make(map[uuid.UUID]sent, len(n.Runs)*newerNumbers)
		for i, run := range n.Runs {
			for number := run.Last + 1; number <= run.Last+newerNumbers; number++ {
				n.sent[market.ClientOrderID(run.ID, number)] = sent{i, number}
			}
		}
	}
	as, is = n.sent[client]
	return as, is
}

// made reports whether a client order id may be one of this program: ids of others are rarely of
// version 5.
func made(client uuid.UUID) bool { return client.Version() == 5 }

// strange reports whether an order is none of the books.
func (n *newer) strange(client uuid.UUID) bool {
	if !made(client) || n.Owns != nil && n.Owns(client) {
		return false
	}
	for _, o := range n.Account.Pending(nil) {
		if o.ClientOrderID == client {
			return false
		}
	}
	return true
}

// adoptOpen takes orders of the bot into the books that its state file does not know: open ones of
// a list, and with the first of them all that have traded.
func (n *newer) adoptOpen(ctx context.Context, open []exchange.WireOrder) error {
	found := map[sent]*market.Order{}
	for i := range open {
		o := &open[i].Order
		if !n.strange(o.ClientOrderID) {
			continue
		}
		if as, is := n.sentBy(o.ClientOrderID); is {
			found[as] = o
		} else {
			n.doubt(o, "rests")
		}
	}
	if len(found) == 0 {
		return nil
	}
	return n.adoptTraded(ctx, found, n.Since.Add(-clockError))
}

// adoptTraded adopts found orders and those with trades since a time, the oldest run's first.
func (n *newer) adoptTraded(ctx context.Context, found map[sent]*market.Order, since market.Time) error {
	var others []market.Order
	for _, m := range n.Account.Catalog().Markets() {
		err := eachTrade(ctx, n.Trading, m.ID, max(1, since), func(t *exchange.Trade) {
			if !n.strange(t.ClientOrderID) {
				return
			}
			o := market.Order{Market: m.ID, ClientOrderID: t.ClientOrderID, ExchangeID: t.ExchangeID}
			if as, is := n.sentBy(t.ClientOrderID); is && found[as] == nil {
				found[as] = &o
			} else if !is && !n.asked[t.ClientOrderID] {
				n.asked[t.ClientOrderID] = true
				others = append(others, o)
			}
		})
		if err != nil {
			return err
		}
	}
	for _, as := range slices.SortedFunc(maps.Keys(found), func(a, b sent) int {
		return cmp.Or(cmp.Compare(b.run, a.run), cmp.Compare(a.number, b.number))
	}) {
		if err := n.adopt(ctx, as.number, found[as]); err != nil {
			return err
		}
	}
	n.searched = since
	for i := range others {
		record, err := n.Trading.Order(ctx, others[i].Market, others[i].ClientOrderID, others[i].ExchangeID)
		if err == nil {
			n.doubt(&record.Order, "has traded")
		} else if !isNotFound(err) {
			return err
		}
	}
	return nil
}

// adoptDiffering is adoptTraded once, where the balances are others than the books know or cannot
// be compared with them. since is when they fitted last: an earlier start may have missed what came
// before the file's last entry. It reports whether the books have changed.
func (n *newer) adoptDiffering(ctx context.Context, since market.Time) bool {
	before := len(n.taken)
	since = min(since, n.Since.Add(-clockError))
	if len(n.Runs) == 0 || n.searched != 0 && n.searched <= since {
		return false
	}
	err := RetryUntilReached(ctx, n.Log, func() error {
		return n.adoptTraded(ctx, map[sent]*market.Order{}, since)
	})
	if err != nil {
		n.Log.Warn().Err(err).Msg("trades since the last entry of the state file could not be asked for")
	}
	return len(n.taken) > before
}

// adopt takes one order into the books, as its record says.
func (n *newer) adopt(ctx context.Context, number market.OrderID, o *market.Order) error {
	if n.taken[o.ClientOrderID] {
		return nil
	}
	asked := n.stamp()
	record, err := n.Trading.Order(ctx, o.Market, o.ClientOrderID, o.ExchangeID)
	return n.bookFound(number, o, asked, record, err)
}

// bookFound takes one order into the books, as the answer to its query says.
func (n *newer) bookFound(number market.OrderID, o *market.Order, asked market.Time, record exchange.WireOrder,
	err error) error {
	var owners []market.StrategyID
	if err == nil {
		owners = n.Owners(&record.Order, true)
	} else if !isNotFound(err) {
		return err
	}
	if len(owners) == 0 {
		n.Log.Error().Stringer("client_order_id", o.ClientOrderID).AnErr("record", err).
			Msg("an order that is newer than the state file fits no strategy: it counts as another's")
		return nil
	}
	sent := record.Order
	sent.Strategy, sent.FilledAmount = owners[0], 0
	sent.FilledAmountQuote, sent.FeePaid = market.Value{}, market.Value{}
	// its command is not queued: the exchange has the order
	own := n.door.Enter(&market.Input{Kind: market.InputAdopt, At: n.engineTime(), Order: &sent}).Own
	intent, err := n.Trading.Prepare(&market.Command{Kind: market.CommandPlace, At: n.engineTime(), Order: own.Order})
	if err != nil {
		return fmt.Errorf("order %s: %w", o.ClientOrderID, err)
	}
	n.Journal.Intent(&intent)
	m := n.Account.Catalog().Market(own.Market)
	text := fmt.Sprintf("%s %s %s is newer than the state file: order %d then, order %d now", own.Side, m.Name,
		own.ClientOrderID, number, own.ID)
	if len(owners) > 1 {
		var names []string
		for _, id := range owners {
			names = append(names, n.Engine.Names()[id-1])
		}
		of := "of " + strings.Join(names, " or ") + ", booked to " + names[0]
		text += "; it is " + of
		for _, id := range owners {
			n.shared[id] = append(n.shared[id], fmt.Sprintf("order %d (%s %s %s, %s)", own.ID, own.Side,
				m.FormatQty(own.Amount), m.Name, of))
		}
	}
	n.Log.Warn().Int64("order", int64(own.ID)).Msg(text + "; it is in the books")
	n.ReconcileLog.Note(n.stamp(), "newer than the state file", text)
	n.taken[o.ClientOrderID] = true
	n.Orders = append(n.Orders, own.ID)
	q := n.loop.queryOf(own.ID)
	q.unresolved = &unresolved{outcome: placeUnresolved,
		command: market.Command{Kind: market.CommandPlace, Order: own.Order}, until: asked}
	n.loop.receive(q, &reply{from: fromQuery, asked: n.stamp(), record: &record})
	return nil
}

// adoptLate adopts an order that rests or has traded and that the start could not see: its market
// had gone, or the list of open orders was false. An older one of an unknown run, it doubts. It
// reports whether the order is the bot's.
func (n *newer) adoptLate(work context.Context, seen *market.Order) bool {
	o, asked := *seen, n.now
	if !n.Settled || n.asked[o.ClientOrderID] || !n.strange(o.ClientOrderID) {
		return false
	}
	as, is := n.sentBy(o.ClientOrderID)
	if !is {
		if o.Created > 0 && o.Created < n.began {
			n.doubt(&o, "rests, and the list of the start lacked it,")
			n.withhold()
		}
		return false
	}
	n.asked[o.ClientOrderID] = true
	n.ask(func() func() {
		record, err := n.Trading.Order(work, o.Market, o.ClientOrderID, o.ExchangeID)
		return func() {
			if err = n.bookFound(as.number, &o, asked, record, err); err != nil {
				delete(n.asked, o.ClientOrderID) // the next comparison asks again
				n.Log.Warn().Err(err).Msg("an order that is newer than the state file could not be asked for")
			}
			n.haltShared()
		}
	})
	return true
}

// doubt notes an order of a run that the state file does not know, with a strategy's operator id:
// it may be the strategy's, and a sale the exit of its position. An order that is older than the
// file is of another file or another bot.
func (n *newer) doubt(o *market.Order, does string) {
	n.asked[o.ClientOrderID] = true
	if o.Created < n.First {
		return
	}
	if o.Created < n.Since.Add(-clockError) {
		does += " and was made while the file was in use"
	}
	m, amount := n.Account.Catalog().Market(o.Market), o.AmountRemaining
	if o.Done() {
		amount = o.FilledAmount
	}
	text := fmt.Sprintf("%s %s %s %s (order %s) %s", o.Side, o.Type, m.FormatQty(amount), m.Name, o.ClientOrderID, does)
	for _, owner := range n.Owners(o, false) {
		n.doubts[owner] = append(n.doubts[owner], text)
	}
}

// haltShared halts the strategies of which each may have sent a newer order: it is booked to one of
// them. A later start knows that order as the strategy's, so the halt is durable with the booking.
func (n *newer) haltShared() {
	for _, id := range slices.Sorted(maps.Keys(n.shared)) {
		n.loop.halt(id, "the state file is a copy from before "+
			strings.Join(n.shared[id], ", ")+", and no operator_id tells whose that is: compare positions "+
			"and exits in bot status with what each strategy has traded, then bot resume or bot flatten")
	}
	clear(n.shared)
}

// settle ends what the newer orders leave to do, before brackets act: orders that nothing protects
// or expects are cancelled, and strategies whose positions are not known are halted.
func (n *newer) settle() {
	n.Settled = true
	n.haltShared()
	n.cancelRest()
	n.haltBought()
	n.withhold()
}

// withhold halts the strategies that have doubts, and lets their brackets place no exit.
func (n *newer) withhold() {
	for _, id := range slices.Sorted(maps.Keys(n.doubts)) {
		n.loop.input(&market.Input{Kind: market.InputWithhold, Strategy: id, Reason: "not in the state file, and " +
			"with its operator_id: " + strings.Join(n.doubts[id], ", ") + "; the file is a copy from before these " +
			"orders, or another bot has the same operator_id. No exit is placed beside them: compare bot status with " +
			"the exchange, cancel what is left (bot cancel-all --including-foreign), then bot resume"})
	}
	clear(n.doubts)
}

// cancelRest cancels the newer orders that are open and no exits, at growing intervals: a halted
// market refuses a cancel, and its answer may be lost.
func (n *newer) cancelRest() {
	if !n.Settled || len(n.Orders) == 0 || n.ends.next > n.now {
		return
	}
	var cancels []market.OrderID
	for _, id := range n.Orders {
		if n.Account.Own(id) != nil && !n.Engine.Brackets().IsExit(id) {
			cancels = append(cancels, id)
		}
	}
	n.ends.later(n.now, len(cancels) > 0, true)
	if len(cancels) > 0 {
		n.loop.input(&market.Input{Kind: market.InputCancel, Orders: cancels})
	}
}

// haltBought dates what newer purchases have brought since the last call, and halts the strategies
// that hold it.
func (n *newer) haltBought() {
	bought, now := map[market.StrategyID][]string{}, n.engineTime()
	for i := range n.Unknown {
		u := &n.Unknown[i]
		if u.Since == 0 && n.Account.Position(u.Strategy, u.Market).Amount > 0 {
			m := n.Account.Catalog().Market(u.Market)
			bought[u.Strategy] = append(bought[u.Strategy], m.FormatQty(u.Amount)+" "+m.Name)
		}
		u.Since = cmp.Or(u.Since, now)
	}
	for _, id := range slices.Sorted(maps.Keys(bought)) {
		n.loop.halt(id, "the state file is a copy from before "+
			"its last orders: they bought "+strings.Join(bought[id], ", ")+", and which exits it had is not "+
			"known; look at bot status, then bot resume or bot flatten")
	}
}

// UnknownExit is base of a position that has no exit, because it is not known which.
type UnknownExit struct {
	Strategy market.StrategyID
	Market   market.ID
	Amount   market.Qty
	Since    market.Time
}

// Same reports whether two of them are of one strategy's position in one market.
func (u *UnknownExit) Same(v UnknownExit) bool {
	return u.Strategy == v.Strategy && u.Market == v.Market
}

// position is the position that it is part of; false: that has closed, or none of it was bought
// then.
func (u *UnknownExit) position(a *state.Account) (p market.Position, open bool) {
	p = a.Position(u.Strategy, u.Market)
	return p, u.Since == 0 || p.Amount > 0 && p.Opened <= u.Since
}

// buys adds what fills of one order bring, and returns it where it is a newer purchase and they are
// new; Amount is 0 otherwise. Call it before they are booked: they may come after the start, until
// the order's cancel.
func (n *newer) buys(fills []market.Fill) (bought UnknownExit) {
	if len(fills) == 0 || !slices.Contains(n.Orders, fills[0].Order) {
		return bought
	}
	own := n.Account.Known(fills[0].Order)
	if own == nil || own.Side != market.Buy {
		return bought
	}
	amount := unbooked(own, fills)
	if amount == 0 {
		return bought
	}
	one := UnknownExit{Strategy: own.Strategy, Market: own.Market}
	at := slices.IndexFunc(n.Unknown, one.Same)
	if at < 0 {
		at = len(n.Unknown)
		n.Unknown = append(n.Unknown, one)
	}
	u := &n.Unknown[at]
	if _, open := u.position(n.Account); !open {
		u.Amount = 0
	}
	u.Amount, u.Since = u.Amount+amount, 0
	one.Amount = amount
	return one
}

// Left drops what is held no more, and returns the rest for the next start, with the orders that
// may still buy. Before the newer orders are settled, the next start needs the sales too: it has to
// cancel them. What was lent is needed as long as a newer purchase may come.
func (n *Newer) Left(a *state.Account) (held []UnknownExit, orders []market.OrderID) {
	n.Unknown = slices.DeleteFunc(n.Unknown, func(u UnknownExit) bool {
		_, open := u.position(a)
		return !open
	})
	for _, id := range n.Orders {
		if own := a.Known(id); own != nil && (own.Side == market.Buy || !n.Settled) {
			orders = append(orders, id)
		}
	}
	if n.Settled && len(orders) == 0 {
		n.Lent = nil
	}
	return n.Unknown, orders
}

// UnknownExits are the positions, or parts, that newer purchases brought and no bracket covers: the
// exits that they had are not known. Only the loop's goroutine may call it.
func (l *Loop) UnknownExits() (list []UnknownExit) {
	for _, u := range l.Newer.Unknown {
		p, open := u.position(l.Account)
		u.Amount = min(p.Amount-l.Engine.Brackets().Covered(u.Strategy, u.Market), u.Amount)
		u.Since = cmp.Or(u.Since, l.began)
		if open && u.Amount > 0 {
			list = append(list, u)
		}
	}
	return list
}
