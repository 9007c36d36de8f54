package strategy

import (
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/market"
)

// Engine is the other side of a Desk. Package engine implements it; a strategy never sees it.
type Engine interface {
	// Now is the arrival time of the present event.
	Now() market.Time
	// Ask submits a command, with what its bracket follows (nil: nothing); the engine copies both.
	// It returns the order's id, or the gate's refusal.
	Ask(s market.StrategyID, c *market.Command, f *Follow) (market.OrderID, error)
	// Replace is Ask for a new order over the funds of another; see Replacing.
	Replace(s market.StrategyID, old market.OrderID, c *market.Command, f *Follow) (market.OrderID, error)
	// Protect opens a bracket over base that the strategy holds; see MarketDesk.Protect.
	Protect(s market.StrategyID, m market.ID, levels market.Bracket, f *Follow) (market.OrderID, error)
	// Rebalance brings markets to the weights of a portfolio; see Desk.Rebalance.
	Rebalance(s market.StrategyID, p Portfolio) error
	// Work begins a tactic over the whole size of a command; see MakerFirst. It returns the id of
	// its first order, or the gate's refusal of the whole.
	Work(s market.StrategyID, c *market.Command, t *Tactic, f *Follow) (market.OrderID, error)
	// Working reports whether a tactic is under way in a market.
	Working(s market.StrategyID, m market.ID) bool
	// Idle reports whether the strategy has neither an open order in a market, nor one that waits,
	// nor a tactic under way.
	Idle(s market.StrategyID, m market.ID) bool
	// InWarmUp reports whether asks in a market are refused because of the strategy's warm-up.
	InWarmUp(s market.StrategyID, m market.ID) bool
	// RefuseAsk logs and counts an ask that the desk refuses by itself, and returns the answer: the
	// error, or the refusal of a warm-up.
	RefuseAsk(s market.StrategyID, c *market.Command, why error) error
	// EndTactics ends the tactics in a market, 0 for all markets, and cancels their orders.
	EndTactics(s market.StrategyID, m market.ID)
	// Close sells a position, or an amount of it; 0: all. See MarketDesk.Close.
	Close(s market.StrategyID, m market.ID, amount market.Qty, tag string) error
	// Costs are the gate's assumptions about the costs of orders in a market.
	Costs(m market.ID) Costs
	// Exits are the present levels of the bracket of an order; found is false where it has none.
	Exits(s market.StrategyID, id market.OrderID) (levels market.Bracket, found bool)
	// Members are the markets of the strategy's universe now, all of its markets if it has none.
	// The slice is the engine's.
	Members(s market.StrategyID) []market.ID
	// Signal is the latest signal of a source about a market; see MarketDesk.Signal.
	Signal(source string, m market.ID) (s market.Signal, heard bool)
	// SetTimer asks for an OnTimer at or after a time.
	SetTimer(s market.StrategyID, at market.Time, name int64)
	// AccountView is the strategy's part of the account.
	Book() AccountView
	// Catalog lists markets and assets; it is always the same.
	Catalog() *market.Catalog
	// Admit reports whether strategy s may use its desk now: inside its own callback, on the
	// callback's goroutine.
	Admit(s market.StrategyID, call string) bool
}

// AccountView is the read-only part of the account that a Desk shows. Package state implements it.
type AccountView interface {
	// Holding is the strategy's position as it is until the next event.
	Holding(s market.StrategyID, m market.ID) *market.Position
	Balance(s market.StrategyID, a market.AssetID) (available, inOrder market.Money)
	Last(m market.ID) market.Price
	// EquityOf is the value in a quote asset of all that the strategy's part of the account holds:
	// its allocation, or what the strategies without one share.
	EquityOf(s market.StrategyID, quote market.AssetID) (market.Money, error)
	// Equity is the same of the whole account.
	Equity(quote market.AssetID) (market.Money, error)
	Order(id market.OrderID) *market.Order
	// Open appends the strategy's open orders in m (all markets where m is 0) by id.
	Open(dst []*market.Order, s market.StrategyID, m market.ID) []*market.Order
}

// Desk has what a strategy may do that concerns all of its markets; Desk.In is the desk of one.
// Asks return the order's id, or the gate's refusal as an error. The strategy's log has each
// refusal already, so a strategy may ignore the error. OrderHandler and FillHandler get the order's
// later reports.
//
// Each strategy has its own Desk, with its own positions, orders and allocation of the balance. A
// Desk works inside the callbacks that get it, on their goroutine. Anywhere else it shows nothing,
// refuses asks with ErrElsewhere, and the strategy is halted; Log alone works everywhere. A market
// or an asset that the run does not have is a mistake of the program: reading its position, price
// or balance panics, which halts the strategy too; asks are refused.
type Desk struct {
	engine  Engine
	catalog *market.Catalog // the engine's
	id      market.StrategyID
	log     zerolog.Logger
	plotter Plotter         // nil: plots are lines of the log
	muted   bool            // plots go nowhere
	command market.Command  // reused: a pointer to a local through an interface would allocate on every ask
	fault   error           // ErrMeaningless about the ask that is being made
	follow  *Follow         // of the ask that is being made; nil: none
	tactic  *Tactic         // of the ask that is being made; nil: none
	old     market.OrderID  // that the ask replaces; 0: none
	terms   Follow          // reused: what follow points at
	way     Tactic          // reused: what tactic points at
	open    []*market.Order // reused: the account's own, which never leave the desk
	copies  []market.Order  // of OpenOrders
	members []market.ID     // of Universe
}

// NewDesk returns the desk of strategy id on e. Only an engine calls it.
func NewDesk(e Engine, id market.StrategyID, log zerolog.Logger) *Desk {
	d := &Desk{id: id, log: log}
	d.Move(e)
	return d
}

// Move lets a desk work on another engine, with the same markets and strategies. Only an engine
// calls it, for a strategy that it takes over from the other one.
func (d *Desk) Move(to Engine) {
	if d.engine, d.plotter = to, nil; to != nil {
		d.catalog = to.Catalog()
	}
	if shows, can := to.(plotting); can {
		d.plotter = shows.Plotter()
	}
	d.muted = d.plotter == nil && d.log.GetLevel() > zerolog.DebugLevel
}

// In is the desk of one market.
func (d *Desk) In(m market.ID) MarketDesk { return MarketDesk{d, m} }

// Now is the arrival time of the present event.
func (d *Desk) Now() market.Time {
	if !d.engine.Admit(d.id, "Now") {
		return 0
	}
	return d.engine.Now()
}

// Log is the strategy's logger.
func (d *Desk) Log() *zerolog.Logger { return &d.log }

// Balance is the amount of an asset that the strategy may still spend, and the amount that its open
// orders hold.
func (d *Desk) Balance(a market.AssetID) (available, inOrder market.Money) {
	if !d.engine.Admit(d.id, "Balance") {
		return 0, 0
	}
	if n := len(d.catalog.Assets()); a < 1 || int(a) > n {
		panic(fmt.Sprintf("strategy: Desk.Balance of asset %d: the run has assets 1 to %d", a, n))
	}
	return d.engine.Book().Balance(d.id, a)
}

// reads reports whether a market may be read now. It panics on a market that the run does not have.
func (d *Desk) reads(call string, m market.ID) bool {
	if !d.engine.Admit(d.id, call) {
		return false
	}
	if !d.has(m) {
		panic(fmt.Sprintf("strategy: Desk.%s of market %d: the run has markets 1 to %d", call, m,
			len(d.catalog.Markets())))
	}
	return true
}

func (d *Desk) has(m market.ID) bool { return m >= 1 && int(m) <= len(d.catalog.Markets()) }

// Order returns an own open order as it is now, and whether the id is one's. A Status of zero means
// that the exchange has not answered yet.
func (d *Desk) Order(id market.OrderID) (o market.Order, open bool) {
	if !d.engine.Admit(d.id, "Order") {
		return market.Order{}, false
	}
	own := d.engine.Book().Order(id)
	if own == nil || own.Strategy != d.id {
		return market.Order{}, false
	}
	return *own, true
}

// Resting is the part of an open order that changes while it rests.
type Resting struct {
	ID              market.OrderID
	Status          market.Status // zero: the exchange has not answered yet
	Price           market.Price
	Amount          market.Qty
	AmountRemaining market.Qty
}

// Resting is Order without the copy of a whole order.
func (d *Desk) Resting(id market.OrderID) (r Resting, open bool) {
	if !d.engine.Admit(d.id, "Resting") {
		return Resting{}, false
	}
	o := d.engine.Book().Order(id)
	if o == nil || o.Strategy != d.id {
		return Resting{}, false
	}
	return Resting{o.ID, o.Status, o.Price, o.Amount, o.AmountRemaining}, true
}

// OpenOrders returns the strategy's open orders in all markets by id, as they are now. The slice is
// the caller's until its next call of an OpenOrders, which fills it anew.
func (d *Desk) OpenOrders() []market.Order {
	if !d.engine.Admit(d.id, "OpenOrders") {
		return nil
	}
	return d.copied(0)
}

// copied is own as copies.
func (d *Desk) copied(m market.ID) []market.Order {
	if d.copies = d.copies[:0]; m != 0 && d.engine.Idle(d.id, m) {
		return d.copies
	}
	for _, o := range d.own(m) {
		d.copies = append(d.copies, *o)
	}
	return d.copies
}

// Spoil overwrites the slices that a desk has handed out and will use again. The look-ahead check
// calls it after each callback: a strategy that kept such a slice then decides differently.
func Spoil(d *Desk) {
	for i := range d.copies {
		d.copies[i] = market.Order{ID: -1, OrderState: market.OrderState{Amount: 1, Price: 1}}
	}
	clear(d.members)
}

// own are the strategy's open orders in m, or in all markets for m = 0, without copies.
func (d *Desk) own(m market.ID) []*market.Order {
	d.open = d.engine.Book().Open(d.open[:0], d.id, m)
	return d.open
}

// Timer asks for OnTimer(name) at or after a time. Timers outlive a restart: a timer that was due
// meanwhile comes late. While a restart replays candles, no timer is set.
func (d *Desk) Timer(at market.Time, name int64) {
	if d.engine.Admit(d.id, "Timer") {
		d.engine.SetTimer(d.id, at, name)
	}
}

// ErrElsewhere is the answer to an ask outside the strategy's own callbacks, or on another
// goroutine.
var ErrElsewhere = errors.New(
	"the desk was used outside its strategy's callbacks; ask inside them, and start no goroutine that asks")

// ErrNoPosition is the answer to Protect where the strategy has no unprotected position.
var ErrNoPosition = errors.New("no position to protect")

// Update asks for a change of an own open order: At, Resize, Trigger, InForce, PostOnly, SelfTrade.
// The order leaves the book and loses its place in the queue. On the entry of a bracket, StopAt,
// TargetAt or Exits move its exits; Trail, TrailBy, TrailAfter, ByPrices, BreakEvenAfter, ExitAfter
// and ExitAfterTime set how they follow, PartAt the partial targets that are to come.
func (d *Desk) Update(id market.OrderID, with ...Option) error {
	d.command, d.fault = market.Command{Kind: market.CommandUpdate}, nil
	d.follow, d.tactic, d.old = nil, nil, 0
	o := &d.command.Order
	o.ID = id
	for i := range with {
		if f := with[i].field; f == fieldStop || f == fieldTarget {
			o.Bracket, _ = d.engine.Exits(d.id, id) // the exit that is not named stays
			break
		}
	}
	d.options(with)
	return d.change(id)
}

// Cancel asks for an own open order to be cancelled. It is not an error to cancel one that is done.
func (d *Desk) Cancel(id market.OrderID) error {
	d.command, d.fault = market.Command{Kind: market.CommandCancel}, nil
	d.follow, d.tactic, d.old = nil, nil, 0
	d.command.Order.ID = id
	return d.change(id)
}

// CancelAll asks for all own open orders in all markets to be cancelled.
func (d *Desk) CancelAll() error {
	if !d.engine.Admit(d.id, "CancelAll") {
		return ErrElsewhere
	}
	return d.cancelAll(0)
}

func (d *Desk) cancelAll(m market.ID) error {
	d.engine.EndTactics(d.id, m)
	for _, o := range d.own(m) {
		if err := d.Cancel(o.ID); err != nil {
			return err
		}
	}
	return nil
}

// draft begins an order.
func (d *Desk) draft(m market.ID, side market.Side) *market.Order {
	d.command = market.Command{}
	d.command.Kind = market.CommandPlace
	d.fault, d.follow, d.tactic, d.old = nil, nil, nil, 0
	o := &d.command.Order
	o.Market, o.Side, o.Type, o.Strategy = m, side, market.TypeMarket, d.id
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	if side != market.Buy && side != market.Sell {
		d.fault = fmt.Errorf("%w: side %d: use market.Buy or market.Sell", ErrMeaningless, side)
	}
	return o
}

// options applies the options of an ask.
func (d *Desk) options(with []Option) {
	for i := range with {
		if with[i].field >= fieldReplacing && d.unusualOption(&with[i]) {
			continue
		}
		changed, err := with[i].apply(&d.command.Order)
		d.command.Changed |= changed
		if err != nil && d.fault == nil {
			d.fault = err
		}
	}
}

// unusualOption applies an option that is no field of an order. It returns false for one that apply
// has to check.
//
//go:noinline
func (d *Desk) unusualOption(p *Option) bool {
	switch {
	case p.field == fieldReplacing:
		d.old = market.OrderID(p.number)
		return false
	case p.field >= fieldMakerFirst:
		d.tacticOption(p)
	default:
		d.followOption(p)
	}
	return true
}

// followOption applies an option of exits that follow.
func (d *Desk) followOption(p *Option) {
	if d.follow == nil {
		d.terms = Follow{}
		d.follow = &d.terms
	}
	if err := p.check(); err != nil && d.fault == nil {
		d.fault = err
	}
	p.follow(d.follow)
}

// ask hands the command on.
func (d *Desk) ask() (market.OrderID, error) {
	if o := &d.command.Order; d.fault == nil && d.tactic == nil && d.old == 0 &&
		int64(o.Amount)|int64(o.AmountQuote)|int64(o.Price)|int64(o.TriggerAmount) >= 0 {
		return d.engine.Ask(d.id, &d.command, d.follow)
	}
	return d.askUnusual()
}

// askUnusual is ask for a mistake, a tactic or a replacement.
//
//go:noinline
func (d *Desk) askUnusual() (market.OrderID, error) {
	o, old := &d.command.Order, d.old
	d.old = 0
	switch {
	case d.fault != nil:
		return 0, d.refuse(d.fault)
	case d.tactic != nil && d.command.Kind != market.CommandPlace:
		return 0, d.refuse(fmt.Errorf("%w: MakerFirst and TWAP begin with Buy or Sell; Update does not change them",
			ErrMeaningless))
	case o.Amount < 0 || o.AmountQuote < 0 || o.Price < 0 || o.TriggerAmount < 0:
		return 0, d.refuse(fmt.Errorf("%w: amount %d, quote amount %d, price %d, trigger %d: "+
			"none of them can be negative", ErrMeaningless, o.Amount, o.AmountQuote, o.Price, o.TriggerAmount))
	case d.tactic != nil && old != 0:
		return 0, d.refuse(fmt.Errorf("%w: Replacing is for a single order; cancel the old one before "+
			"MakerFirst or TWAP", ErrMeaningless))
	case d.tactic != nil:
		return d.work()
	}
	return d.engine.Replace(d.id, old, &d.command, d.follow)
}

// change hands an update or a cancel on.
func (d *Desk) change(id market.OrderID) error {
	if id <= 0 && d.fault == nil {
		d.fault = fmt.Errorf("%w: order %d: ids begin with 1; an ask that was refused has none", ErrMeaningless, id)
	}
	if d.old != 0 && d.fault == nil {
		d.fault = errNotReplacing()
	}
	if !d.engine.Admit(d.id, d.command.Kind.String()) {
		return ErrElsewhere
	}
	_, err := d.ask()
	return err
}

// refuse is the answer to the ask that is being made, which the gate does not see.
//
//go:noinline
func (d *Desk) refuse(why error) error { return d.engine.RefuseAsk(d.id, &d.command, why) }

// refuseIn is refuse for an ask that has no order yet.
func (d *Desk) refuseIn(m market.ID, side market.Side, why error) error {
	d.draft(m, side)
	return d.refuse(why)
}

func (d *Desk) unknown(m market.ID, side market.Side) error {
	return d.refuseIn(m, side, fmt.Errorf("%w: market %d: the run has markets 1 to %d", ErrMeaningless, m,
		len(d.catalog.Markets())))
}
