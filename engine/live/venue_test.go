package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// box is an exchange in a box: the venue behind the port Trading, which loses requests and answers
// by chance. It counts what came to it.
type box struct {
	t       testing.TB
	catalog *market.Catalog

	mu        sync.Mutex
	venue     *sim.Venue
	chance    *rand.Rand
	faults    int // in a hundred of requests
	ids       map[uuid.UUID]market.OrderID
	names     map[market.OrderID]uuid.UUID
	records   map[uuid.UUID]*exchange.WireOrder // by client id: every order that was ever taken
	next      market.OrderID
	expired   int
	deaf      string              // questions of this name are not answered; "everything": nor are writes
	refuse    string              // questions of this name are refused
	late      time.Duration       // from the moment of which balances tell to their arrival
	timer     time.Duration       // of the group, as it was last told
	armed     int                 // how often it was armed
	moved     []exchange.Movement // deposits and withdrawals that it tells of
	hidden    []string            // questions of these names are answered as if no order had ever been there
	forgotten uuid.UUID           // an order that it does not find by itself
	listed    bool                // but lists
	shift     time.Duration       // of its clock
	slow      time.Duration       // from the moment of which an answer about one order tells to its arrival
	tardy     time.Duration       // from the moment at which a write is carried out to the answer
	beats     []time.Duration     // what timers were told, in turn
	quits     int                 // of the next timers, how many are not answered
	noTimer   bool                // it has no timers
	oneTimer  bool                // it has one, for the first group that asks
	timers    map[uint16]time.Duration
	hold      time.Duration             // how long the next timers take
	withholds bool                      // records of orders come without their fills
	tamper    func(*exchange.WireOrder) // changes records of orders; nil: nothing does
	bySocket  func(*exchange.WireOrder) // changes answers to writes, which come over a socket; nil: by REST

	listings int // how often open orders were listed, of one market or of all
	balances int // answers of Holdings
	cheap    int // how often of one market

	strangers []exchange.WireOrder // open orders of others
	theirs    []exchange.Trade     // trades of others

	teller *teller // its account channel; nil: it has none
}

// fate is what becomes of a request.
type fate uint8

const (
	arrives      fate = iota
	isLost            // it never arrives
	goesUnheard       // its answer never arrives
	isFeigned         // the exchange accepts it and does nothing
	isRefused         // with 423: the market is halted
	isUnsent          // the exchange cannot be reached: it never leaves
	isDenied          // it is carried out, and a socket says 423
	isDeniedSoon      // a socket says 423, and it is carried out half a second later
	isDeniedLate      // the same, five seconds later
)

// hides reports whether questions of a name are answered without orders.
func (b *box) hides(name string) bool { return slices.Contains(b.hidden, name) }

// hide lets questions of these names, and no others, be answered without orders.
func (b *box) hide(names ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hidden = names
}

var errKilled = errors.New("killed")

var errLost = errors.New("connection reset by peer")

func newBox(t testing.TB, seed uint64, faults int) *box { return newBoxOf(t, seed, faults, 1_00000000) }

// newBoxOf is a box whose house quotes levels of a size.
func newBoxOf(t testing.TB, seed uint64, faults int, size market.Qty) *box {
	b := &box{t: t, catalog: &market.Catalog{}, chance: rand.New(rand.NewPCG(seed, 3)), faults: faults,
		timers: map[uint16]time.Duration{}, ids: map[uuid.UUID]market.OrderID{}, names: map[market.OrderID]uuid.UUID{},
		records: map[uuid.UUID]*exchange.WireOrder{}}
	_, err := b.catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	_, err = b.catalog.AddAsset("BTC", 8)
	require.NoError(t, err)
	require.NoError(t, b.catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2,
		Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2, TickSize: 100, MaxOpenOrders: 50,
			MinOrderInQuote: 500}}))
	b.venue = sim.New(b.catalog,
		sim.Config{Book: true, Fees: boxFees,
			Liquidity: func(*market.Market) sim.Liquidity {
				return sim.Liquidity{Levels: 10, Size: size, HalfSpread: 10_000}
			}}, b.hear)
	require.NoError(t, b.venue.Deposit(1, 100_000_00))
	require.NoError(t, b.venue.Deposit(2, 10_00000000))
	b.move(100_00)
	return b
}

func boxFees(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }

// hear keeps the records.
func (b *box) hear(ev *market.Event) {
	if ev.Kind != market.KindReport {
		return
	}
	name, known := b.names[ev.Report.Order]
	if !known {
		return
	}
	record, entered := b.records[name], false
	if record == nil {
		entered = true
		record = &exchange.WireOrder{}
		b.records[name] = record
	}
	record.Order = *b.venue.Order(ev.Report.Order)
	record.Fills = append(record.Fills, ev.Fills...)
	if b.teller != nil {
		b.teller.tell(name, ev, entered)
	}
}

func boxNow() market.Time { return market.Time(time.Now().UnixNano()) }

// Now is the machine's time, which a test may have made up.
func (b *box) Now() market.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return boxNow().Add(b.shift)
}

// move moves the price.
func (b *box) move(price market.Price) {
	b.mu.Lock()
	defer b.mu.Unlock()
	trade := market.Trade{Market: 1, Price: price}
	require.NoError(b.t, b.venue.Advance(&market.Event{At: boxNow(), Kind: market.KindTrade, Trade: &trade}))
}

// Prepare makes an intent; its body is what the box understands.
func (b *box) Prepare(c *market.Command) (exchange.Intent, error) {
	return exchange.Intent{Command: c.Kind, Order: c.Order.ID, Market: c.Order.Market,
		ClientOrderID: c.Order.ClientOrderID, Timestamp: boxNow().Millis(), Window: 10_000}, nil
}

// drop draws whether a request is lost on its way (before) or its answer (after), and how long it
// takes.
func (b *box) drop() (before, after bool, delay time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.faults == 0 {
		return false, false, 5 * time.Millisecond
	}
	delay = time.Duration(b.chance.IntN(400)) * time.Millisecond
	if b.chance.IntN(20) == 0 {
		delay += time.Duration(b.chance.IntN(12_000)) * time.Millisecond // beyond the window, now and then
	}
	return b.chance.IntN(100) < b.faults, b.chance.IntN(100) < b.faults, delay
}

// sender is a box that knows the commands of intents.
type sender struct {
	*box
	commands map[string]market.Command
	swallow  market.OrderID // whose place never arrives
	meets    func(*exchange.Intent) fate
	leaves   []exchange.Intent // what was sent, in turn
	prepared error             // what Prepare says; nil: nothing is wrong
	refusal  error             // of what is refused or denied; nil: 423
	journal  *ledger
}

func key(kind market.CommandKind, id market.OrderID, at int64) string {
	return fmt.Sprint(kind, id, at)
}

// Prepare remembers the command.
func (s *sender) Prepare(c *market.Command) (exchange.Intent, error) {
	i, err := s.box.Prepare(c)
	if s.prepared != nil {
		return i, s.prepared
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands[key(c.Kind, c.Order.ID, i.Timestamp)] = *c
	return i, err
}

// Send carries a command out, unless it is lost or late.
func (s *sender) Send(_ context.Context, i *exchange.Intent) (exchange.WireOrder, error) {
	if !s.journal.committed(i) {
		s.t.Errorf("%s of order %d left before its intent was durable", i.Command, i.Order)
	}
	before, after, delay := s.drop()
	denied := false
	if s.meets != nil {
		s.mu.Lock()
		s.leaves = append(s.leaves, *i)
		meets := s.meets(i)
		s.mu.Unlock()
		switch before, after, denied = meets == isLost, meets == goesUnheard, meets == isDenied; meets {
		case isFeigned:
			return exchange.WireOrder{Order: market.Order{ClientOrderID: i.ClientOrderID}}, nil
		case isRefused:
			return exchange.WireOrder{BySocket: s.bySocket != nil}, s.refuses()
		case isDeniedSoon, isDeniedLate:
			later := map[fate]time.Duration{isDeniedSoon: 500 * time.Millisecond, isDeniedLate: 5 * time.Second}
			time.AfterFunc(later[meets], func() { _, _ = s.carryOut(i) })
			return exchange.WireOrder{BySocket: true}, s.refuses()
		case isUnsent:
			return exchange.WireOrder{}, exchange.ErrNotSent
		}
	}
	if before || i.Order == s.swallow || s.isDeaf("") {
		time.Sleep(delay)
		return exchange.WireOrder{}, errLost
	}
	var back time.Duration // of the answer: without an account channel it takes no time
	if s.teller != nil {
		back = delay / 2
	}
	time.Sleep(delay - back)
	record, err := s.carryOut(i)
	time.Sleep(back + s.tardiness())
	switch {
	case after:
		return exchange.WireOrder{}, errLost
	case denied:
		return exchange.WireOrder{BySocket: true}, s.refuses()
	}
	return record, err
}

func (s *sender) tardiness() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tardy
}

func (s *sender) refuses() error {
	if s.refusal != nil {
		return s.refusal
	}
	return exchange.ErrCode(exchange.CodeHalted)
}

func (s *sender) carryOut(i *exchange.Intent) (exchange.WireOrder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if boxNow().Millis() > i.Timestamp+i.Window {
		s.expired++
		return exchange.WireOrder{}, exchange.ErrCode(304, i.Window)
	}
	c := s.commands[key(i.Command, i.Order, i.Timestamp)]
	name := i.ClientOrderID
	if name == s.forgotten {
		return exchange.WireOrder{}, exchange.ErrCode(exchange.CodeNotFound)
	}
	require.NotEqual(s.t, uuid.Nil, name)
	if c.Kind == market.CommandPlace {
		if s.records[name] != nil {
			s.t.Errorf("order %s was sent twice", name)
		}
		s.next++
		s.ids[name], s.names[s.next] = s.next, name
	}
	c.Order.ID = s.ids[name]
	var mark int
	if r := s.records[name]; r != nil {
		mark = len(r.Fills)
	}
	refused, err := s.venue.Submit(0, boxNow(), &c)
	require.NoError(s.t, err)
	if refused != nil {
		if c.Kind == market.CommandPlace {
			delete(s.names, s.next)
			delete(s.ids, name)
		}
		return exchange.WireOrder{}, refused
	}
	record := *s.records[name]
	record.Fills = s.shown(record.Fills[mark:])
	s.tampered(&record)
	if s.bySocket != nil && c.Kind != market.CommandCancel {
		s.bySocket(&record)
	}
	return record, nil
}

func (b *box) tampered(r *exchange.WireOrder) {
	if b.tamper != nil {
		b.tamper(r)
	}
}

func (b *box) deafen(to string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deaf = to
}

// isDeaf reports whether questions of a name have no answer.
func (b *box) isDeaf(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deaf == "everything" || name != "" && b.deaf == name
}

// ask lets a question take its time and perhaps get lost.
func (b *box) ask(name string) error {
	before, after, delay := b.drop()
	time.Sleep(min(delay, time.Second))
	if before || after || b.isDeaf(name) {
		return errLost
	}
	if name == b.refuse {
		return exchange.ErrCode(311)
	}
	return nil
}

// Order tells of one order.
func (b *box) Order(_ context.Context, _ market.ID, client, _ uuid.UUID) (exchange.WireOrder, error) {
	if err := b.ask("order"); err != nil {
		return exchange.WireOrder{}, err
	}
	b.mu.Lock()
	r := b.records[client]
	if r == nil || client == b.forgotten || b.hides("order") {
		b.mu.Unlock()
		return exchange.WireOrder{}, exchange.ErrCode(exchange.CodeNotFound)
	}
	record := *r
	record.Fills = b.shown(r.Fills)
	slow := b.slow
	b.tampered(&record)
	b.mu.Unlock()
	time.Sleep(slow)
	return record, nil
}

// shown are the fills that a record comes with.
func (b *box) shown(fills []market.Fill) []market.Fill {
	if b.withholds {
		return nil
	}
	return append([]market.Fill(nil), fills...)
}

// OrderUrgent is Order.
func (b *box) OrderUrgent(ctx context.Context, m market.ID, client, name uuid.UUID) (exchange.WireOrder, error) {
	return b.Order(ctx, m, client, name)
}

// OpenOrders lists what is open.
func (b *box) OpenOrders(context.Context) (open []exchange.WireOrder, err error) {
	if err := b.ask("open"); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listings++
	for name, r := range b.records {
		if !r.Order.Done() && (name != b.forgotten || b.listed) && !b.hides("open") {
			open = append(open, exchange.WireOrder{Order: r.Order})
		}
	}
	return append(open, b.strangers...), nil
}

// OpenOrdersIn lists what is open in the one market that there is.
func (b *box) OpenOrdersIn(ctx context.Context, _ market.ID) ([]exchange.WireOrder, error) {
	b.mu.Lock()
	b.cheap++
	b.mu.Unlock()
	return b.OpenOrders(ctx)
}

// Trades lists everything at once.
func (b *box) Trades(_ context.Context, _ market.ID, from market.Time) (trades []exchange.Trade, more bool, err error) {
	if err := b.ask("trades"); err != nil {
		return nil, false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.theirs {
		if b.theirs[i].Time >= from {
			trades = append(trades, b.theirs[i])
		}
	}
	for name, r := range b.records {
		for _, f := range r.Fills {
			if f.Time >= from && !b.hides("trades") {
				trades = append(trades, exchange.Trade{Fill: f, ClientOrderID: name})
			}
		}
	}
	return trades, false, nil
}

// Movements tells what a test moved.
func (b *box) Movements(_ context.Context, since market.Time) (moved []exchange.Movement, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.moved {
		if m.At >= since {
			moved = append(moved, m)
		}
	}
	return moved, nil
}

// Holdings tells the balances.
func (b *box) Holdings(context.Context) (held []exchange.Holding, err error) {
	if err := b.ask("holdings"); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.balances++
	for _, asset := range b.catalog.Assets() {
		balance := b.venue.Balance(asset.ID)
		held = append(held, exchange.Holding{Asset: asset.ID, Available: balance.Total - balance.Held,
			Orders: balance.Held})
	}
	if b.late > 0 {
		b.mu.Unlock()
		time.Sleep(b.late)
		b.mu.Lock()
	}
	return held, nil
}

// CancelAfter notes the timer.
func (b *box) CancelAfter(_ context.Context, group uint16, after market.Duration) error {
	if err := b.ask("timer"); err != nil {
		return err
	}
	b.mu.Lock()
	hold := b.hold
	b.mu.Unlock()
	time.Sleep(hold)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.noTimer || after != 0 && b.oneTimer && len(b.timers) > 0 && b.timers[group] == 0 {
		return exchange.ErrCode(exchange.CodeInvalid)
	}
	if b.quits > 0 {
		b.quits--
		return errLost
	}
	b.beats = append(b.beats, time.Duration(after))
	if b.timers[group] = time.Duration(after); after == 0 {
		delete(b.timers, group)
	}
	if b.timer = time.Duration(after); after != 0 {
		b.armed++
	}
	return nil
}

// ledger is Journal and Findings in memory; it insists on the order of things: what is sent has
// been committed.
type ledger struct {
	t         testing.TB
	engine    *engine.Engine
	parts     map[string][]byte // what a restart finds
	killed    bool              // nothing is committed any more
	dies      int               // the process is killed: 2n-1 before commit n, 2n after it; 0: it is not
	mu        sync.Mutex
	intents   map[string]bool // committed
	sent      map[market.OrderID]exchange.Intent
	noted     []exchange.Intent
	handed    []exchange.Intent // for sending, in turn
	commits   int
	full      error    // what the next commit returns that is durable all the same
	concluded []string // of differences
	remarks   []string
	breached  []Breach
	changed   map[market.OrderID]string // by others
	kept      []Breach                  // what a restart finds of them
	fills     map[uuid.UUID]int         // how often they were noted
	largest   int                       // number of fills in an event
}

func (j *ledger) Event(ev *market.Event) {
	j.largest = max(j.largest, len(ev.Fills))
	for i := range ev.Fills {
		j.fills[ev.Fills[i].ID]++
	}
}
func (j *ledger) Intent(i *exchange.Intent)                    { j.noted = append(j.noted, *i) }
func (j *ledger) Sent(_ market.Time, i *exchange.Intent)       { j.handed = append(j.handed, *i) }
func (j *ledger) Outcome(market.Time, *exchange.Intent, error) {}
func (j *ledger) Note(_ market.Time, kind, text string) {
	j.remarks = append(j.remarks, kind+": "+text)
}
func (j *ledger) Discrepancy(_ market.Time, d *state.Discrepancy) {
	j.concluded = append(j.concluded, d.Conclusion)
}
func (j *ledger) Breached(_ market.Time, b *Breach, all []Breach) {
	j.breached = append(j.breached, *b)
	if all != nil {
		j.kept = slices.Clone(all)
	}
}
func (j *ledger) ChangedByOthers(orders map[market.OrderID]string) { j.changed = maps.Clone(orders) }
func (j *ledger) Checkpoint(market.AssetID, BalanceCheckpoint)     {}

// committed reports whether an intent is durable.
func (j *ledger) committed(i *exchange.Intent) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.intents[key(i.Command, i.Order, i.Timestamp)]
}

// lastChance is when the exchange could last take what was sent.
func (j *ledger) lastChance(id market.OrderID, kind market.CommandKind) (market.Time, bool) {
	i, known := j.sent[id]
	until, _ := market.TimeOfMillis(i.Timestamp + i.Window)
	return until, known && i.Command == kind
}

func (j *ledger) Commit(market.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.killed = j.killed || j.dies == 2*j.commits+1; j.killed {
		return errKilled
	}
	if err := j.engine.Save(func(part string, data []byte) error {
		if j.parts[part] = slices.Clone(data); data == nil {
			delete(j.parts, part)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, i := range j.noted {
		j.intents[key(i.Command, i.Order, i.Timestamp)], j.sent[i.Order] = true, i
	}
	j.noted = j.noted[:0]
	j.commits++
	if j.killed = j.dies == 2*j.commits; j.killed {
		return errKilled
	}
	full := j.full
	j.full = nil
	return full
}

// restless is a strategy that does something by chance with every ticker.
type restless struct {
	strategy.Base
	chance *rand.Rand
}

func (s *restless) OnTicker(d *strategy.Desk, t market.Ticker) {
	const eighth = market.Qty(12500000)
	switch draw := s.chance.IntN(15); {
	case draw == 12:
		_, _ = d.In(t.Market).Buy(strategy.Amount(eighth), strategy.MakerFirst(time.Second),
			strategy.TakeAfter(time.Duration(1+s.chance.IntN(9))*time.Second), strategy.Exits(t.Last*9/10,
				t.Last*11/10))
	case draw == 13:
		_, _ = d.In(t.Market).Buy(strategy.Amount(eighth), strategy.TWAP(8*time.Second, 1+s.chance.IntN(4)),
			strategy.Exits(t.Last*9/10, t.Last*11/10), strategy.PartAt(t.Last*101/100, 40*market.Percent))
	case draw == 14:
		_ = d.In(t.Market).ClosePart(strategy.Amount(eighth / 2))
	case draw < 3:
		_, _ = d.In(t.Market).Buy(strategy.Amount(eighth), strategy.At(t.Last-market.Price(s.chance.IntN(4))*100))
	case draw < 5:
		_, _ = d.In(t.Market).Sell(strategy.Amount(eighth), strategy.At(t.Last+market.Price(s.chance.IntN(4))*100))
	case draw == 5:
		_, _ = d.In(t.Market).Buy(strategy.Amount(eighth))
	case draw < 10:
		open := d.In(t.Market).OpenOrders()
		if len(open) == 0 {
			return
		}
		o := open[s.chance.IntN(len(open))]
		switch {
		case draw == 6 && o.Price > 200:
			_ = d.Update(o.ID, strategy.At(o.Price-100))
			return
		case draw == 7 && o.Price > 300:
			_, _ = d.In(t.Market).Place(o.Side, strategy.Amount(o.AmountRemaining+eighth/4), strategy.At(o.Price-200),
				strategy.Replacing(o.ID))
			return
		}
		_ = d.Cancel(o.ID)
	}
}
