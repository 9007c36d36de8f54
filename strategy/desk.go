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
	// Ask submits a command; the engine copies it. It returns the order's id, or the gate's
	// refusal.
	Ask(s market.StrategyID, c *market.Command) (market.OrderID, error)
	// Protect opens a bracket over base that the strategy holds; see Desk.Protect.
	Protect(s market.StrategyID, m market.ID, levels market.Bracket) (market.OrderID, error)
	// SetTimer asks for an OnTimer at or after a time.
	SetTimer(s market.StrategyID, at market.Time, name int64)
	// Book is the strategy's part of the account.
	Book() Book
	// Catalog lists markets and assets.
	Catalog() *market.Catalog
	// Admit reports whether strategy s may use its desk now: inside its own callback, on the
	// callback's goroutine.
	Admit(s market.StrategyID, call string) bool
}

// Book is the read-only part of the account that a Desk shows. Package state implements it.
type Book interface {
	Position(s market.StrategyID, m market.ID) market.Position
	Balance(s market.StrategyID, a market.AssetID) (available, inOrder market.Money)
	Last(m market.ID) market.Price
	Order(id market.OrderID) *market.Order
	// Open appends the strategy's open orders in m (all markets where m is 0) by id.
	Open(dst []*market.Order, s market.StrategyID, m market.ID) []*market.Order
}

// Desk has all that a strategy may do. Asks return the order's id, or the gate's refusal as an
// error. OrderHandler and FillHandler get the order's later reports. Amounts and prices are in the
// market's units; the gate rounds a price to the tick (buys down, sells up) and an amount down to
// the market's decimals.
//
// Each strategy has its own Desk, with its own positions, orders and allocation of the balance. A
// Desk works inside the callbacks that get it, on their goroutine. Anywhere else it shows nothing,
// refuses asks with ErrElsewhere, and the strategy is halted; Log alone works everywhere. A market
// or an asset that the run does not have is a mistake of the program: reading its position, price
// or balance panics, which halts the strategy too; asks are refused.
type Desk struct {
	engine  Engine
	id      market.StrategyID
	log     zerolog.Logger
	command market.Command  // reused: a pointer to a local through an interface would allocate on every ask
	open    []*market.Order // reused: the account's own, which never leave the desk
	copies  []market.Order  // of OpenOrders
	fault   error           // ErrMeaningless about the ask that is being made
}

// NewDesk returns the desk of strategy id on e. Only an engine calls it.
func NewDesk(e Engine, id market.StrategyID, log zerolog.Logger) *Desk {
	return &Desk{engine: e, id: id, log: log}
}

// Now is the arrival time of the present event.
func (d *Desk) Now() market.Time {
	if !d.engine.Admit(d.id, "Now") {
		return 0
	}
	return d.engine.Now()
}

// Log is the strategy's logger.
func (d *Desk) Log() *zerolog.Logger { return &d.log }

// Market returns a market's units and its present rules.
func (d *Desk) Market(m market.ID) market.Market {
	if !d.reads("Market", m) {
		return market.Market{}
	}
	return *d.engine.Catalog().Market(m)
}

// Position is the strategy's own position in m.
func (d *Desk) Position(m market.ID) market.Position {
	if !d.reads("Position", m) {
		return market.Position{}
	}
	return d.engine.Book().Position(d.id, m)
}

// Balance is the amount of an asset that the strategy may still spend, and the amount that its open
// orders hold.
func (d *Desk) Balance(a market.AssetID) (available, inOrder market.Money) {
	if !d.engine.Admit(d.id, "Balance") {
		return 0, 0
	}
	if n := len(d.engine.Catalog().Assets()); a < 1 || int(a) > n {
		panic(fmt.Sprintf("strategy: Desk.Balance of asset %d: the run has assets 1 to %d", a, n))
	}
	return d.engine.Book().Balance(d.id, a)
}

// Cash is the available balance of m's quote asset.
func (d *Desk) Cash(m market.ID) market.Money {
	if !d.reads("Cash", m) {
		return 0
	}
	available, _ := d.engine.Book().Balance(d.id, d.engine.Catalog().Market(m).Quote)
	return available
}

// Last is the latest price seen in m, 0 before the first.
func (d *Desk) Last(m market.ID) market.Price {
	if !d.reads("Last", m) {
		return 0
	}
	return d.engine.Book().Last(m)
}

// reads reports whether a market may be read now. It panics on a market that the run does not have.
func (d *Desk) reads(call string, m market.ID) bool {
	if !d.engine.Admit(d.id, call) {
		return false
	}
	if !d.has(m) {
		panic(fmt.Sprintf("strategy: Desk.%s of market %d: the run has markets 1 to %d", call, m,
			len(d.engine.Catalog().Markets())))
	}
	return true
}

func (d *Desk) has(m market.ID) bool { return m >= 1 && int(m) <= len(d.engine.Catalog().Markets()) }

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

// OpenOrders returns the strategy's open orders in m by id, or those in all markets for m = 0, as
// they are now. The slice is the caller's until its next call of OpenOrders, which fills it anew.
func (d *Desk) OpenOrders(m market.ID) []market.Order {
	if !d.engine.Admit(d.id, "OpenOrders") {
		return nil
	}
	if m != 0 {
		d.reads("OpenOrders", m)
	}
	d.copies = d.copies[:0]
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
}

// own is OpenOrders without the copies.
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

// Buy asks for a market order over a base amount.
func (d *Desk) Buy(m market.ID, amount market.Qty, with ...Option) (market.OrderID, error) {
	o := d.draft(m, market.Buy, market.TypeMarket)
	o.Amount = amount
	return d.place(with)
}

// Sell asks for a market order over a base amount.
func (d *Desk) Sell(m market.ID, amount market.Qty, with ...Option) (market.OrderID, error) {
	o := d.draft(m, market.Sell, market.TypeMarket)
	o.Amount = amount
	return d.place(with)
}

// BuyQuote asks for a market order that spends money of the quote asset, fee included.
func (d *Desk) BuyQuote(m market.ID, money market.Money, with ...Option) (market.OrderID, error) {
	o := d.draft(m, market.Buy, market.TypeMarket)
	o.AmountQuote = money
	return d.place(with)
}

// Limit asks for a limit order.
func (d *Desk) Limit(m market.ID, side market.Side, amount market.Qty, price market.Price,
	with ...Option) (market.OrderID, error) {
	o := d.draft(m, side, market.TypeLimit)
	o.Amount, o.Price = amount, price
	return d.place(with)
}

// Stop asks for a stopLoss, or a stopLossLimit where At gives a price: it triggers at a price equal
// to or worse than trigger (lower for a sell, higher for a buy; specification 4.1 rule 3).
func (d *Desk) Stop(m market.ID, side market.Side, amount market.Qty, trigger market.Price,
	with ...Option) (market.OrderID, error) {
	return d.triggered(m, side, market.TypeStopLoss, amount, trigger, with)
}

// TakeProfit asks for a takeProfit, or a takeProfitLimit where At gives a price: it triggers at a
// price equal to or better than trigger.
func (d *Desk) TakeProfit(m market.ID, side market.Side, amount market.Qty, trigger market.Price,
	with ...Option) (market.OrderID, error) {
	return d.triggered(m, side, market.TypeTakeProfit, amount, trigger, with)
}

// Bracket asks for a buy with two exits: a stop that sells below and a target that sells above (0
// leaves one out). The entry is a market order, or a limit order where At gives a price. The exits
// come alive with the entry's first fill. Spot exchanges let only one exit rest, because a sell
// holds its base: the stop rests (Keep changes that), the engine watches the other and swaps after
// the exchange confirmed the cancel. When either exit fills, the other is gone. When one comes to
// nothing while the entry still rests, the entry is cancelled first. Cancel with the entry's id
// ends the bracket: its exit is cancelled and not replaced; while nothing has been bought it
// cancels the entry, and a fill on the way is still protected.
func (d *Desk) Bracket(m market.ID, amount market.Qty, stop, target market.Price,
	with ...Option) (market.OrderID, error) {
	o := d.draft(m, market.Buy, market.TypeMarket)
	o.Amount = amount
	o.Bracket.Stop, o.Bracket.Target = stop, target
	return d.place(with)
}

// ErrElsewhere is the answer to an ask outside the strategy's own callbacks, or on another
// goroutine.
var ErrElsewhere = errors.New(
	"the desk was used outside its strategy's callbacks; ask inside them, and start no goroutine that asks")

// ErrNoPosition is the answer to Protect where the strategy has no unprotected position.
var ErrNoPosition = errors.New("no position to protect")

// Protect puts a stop and a target (0 leaves one out) around the part of the position in m that no
// other bracket covers, as Bracket does for an entry that fills. Decided on a candle, it is alive
// from the next open on. The id names the bracket, for Update with Exits and for Cancel. With
// nothing to protect it returns ErrNoPosition.
func (d *Desk) Protect(m market.ID, stop, target market.Price, with ...Option) (market.OrderID, error) {
	o := d.draft(m, market.Sell, market.TypeMarket)
	o.Bracket.Stop, o.Bracket.Target = stop, target
	d.options(with)
	switch {
	case !d.engine.Admit(d.id, "Protect"):
		return 0, ErrElsewhere
	case d.fault != nil:
		return 0, d.fault
	case !d.has(m):
		return 0, d.unknown(m)
	case o.Bracket.Stop < 0 || o.Bracket.Target < 0:
		return 0, fmt.Errorf("%w: stop %d, target %d: they are positive, or 0 for none", ErrMeaningless, o.Bracket.Stop,
			o.Bracket.Target)
	}
	return d.engine.Protect(d.id, m, o.Bracket)
}

// Target asks for the market order that brings the strategy's position in m to amount. It counts
// the open market orders over base amounts, but not those of BuyQuote, whose amount is not known
// before they fill. It returns 0 and no error when nothing is missing.
func (d *Desk) Target(m market.ID, amount market.Qty, with ...Option) (market.OrderID, error) {
	switch {
	case !d.engine.Admit(d.id, "Target"):
		return 0, ErrElsewhere
	case !d.has(m):
		return 0, d.unknown(m)
	case amount < 0:
		return 0, fmt.Errorf("%w: Target(%d): a position is zero or more, because the exchange is spot", ErrMeaningless,
			amount)
	}
	missing := amount - d.Position(m).Amount
	for _, o := range d.own(m) {
		if o.Type == market.TypeMarket && o.Side == market.Buy {
			missing -= o.AmountRemaining
		} else if o.Type == market.TypeMarket {
			missing += o.AmountRemaining
		}
	}
	switch {
	case missing > 0:
		return d.Buy(m, missing, with...)
	case missing < 0:
		return d.Sell(m, -missing, with...)
	}
	return 0, nil
}

// Update asks for a change of an own open order: At, Amount, AmountQuote, Trigger, InForce,
// PostOnly, SelfTrade; or Exits, on the entry of a bracket, which moves its stop and target. The
// order leaves the book and loses its place in the queue.
func (d *Desk) Update(id market.OrderID, with ...Option) error {
	d.command, d.fault = market.Command{Kind: market.CommandUpdate}, nil
	d.command.Order.ID = id
	d.options(with)
	return d.change(id)
}

// Cancel asks for an own open order to be cancelled. It is not an error to cancel one that is done.
func (d *Desk) Cancel(id market.OrderID) error {
	d.command, d.fault = market.Command{Kind: market.CommandCancel}, nil
	d.command.Order.ID = id
	return d.change(id)
}

// CancelAll asks for all own open orders in m to be cancelled, or those in all markets for m = 0.
func (d *Desk) CancelAll(m market.ID) error {
	switch {
	case !d.engine.Admit(d.id, "CancelAll"):
		return ErrElsewhere
	case m != 0 && !d.has(m):
		return d.unknown(m)
	}
	for _, o := range d.own(m) {
		if err := d.Cancel(o.ID); err != nil {
			return err
		}
	}
	return nil
}

// draft begins an order.
func (d *Desk) draft(m market.ID, side market.Side, kind market.OrderType) *market.Order {
	d.command, d.fault = market.Command{Kind: market.CommandPlace}, nil
	o := &d.command.Order
	o.Market, o.Side, o.Type, o.Strategy = m, side, kind, d.id
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	if side != market.Buy && side != market.Sell {
		d.fault = fmt.Errorf("%w: side %d: use market.Buy or market.Sell", ErrMeaningless, side)
	}
	return o
}

func (d *Desk) triggered(m market.ID, side market.Side, kind market.OrderType, amount market.Qty, trigger market.Price,
	with []Option) (market.OrderID, error) {
	o := d.draft(m, side, kind)
	o.Amount, o.TriggerAmount = amount, trigger
	o.TriggerType, o.TriggerReference = market.TriggerPrice, market.LastTrade
	return d.place(with)
}

// options applies the options of an ask.
func (d *Desk) options(with []Option) {
	for i := range with {
		changed, err := with[i].apply(&d.command.Order)
		d.command.Changed |= changed
		if err != nil && d.fault == nil {
			d.fault = err
		}
	}
}

func (d *Desk) place(with []Option) (market.OrderID, error) {
	o := &d.command.Order
	if len(with) > 0 {
		d.options(with)
		d.command.Changed = 0
	}
	if o.Price != 0 {
		switch o.Type {
		case market.TypeMarket:
			o.Type = market.TypeLimit
		case market.TypeStopLoss:
			o.Type = market.TypeStopLossLimit
		case market.TypeTakeProfit:
			o.Type = market.TypeTakeProfitLimit
		}
	}
	return d.ask("place")
}

// ask hands the command on; call is its name.
func (d *Desk) ask(call string) (market.OrderID, error) {
	if !d.engine.Admit(d.id, call) {
		return 0, ErrElsewhere
	}
	o := &d.command.Order
	switch {
	case d.fault != nil:
		return 0, d.fault
	case o.Amount < 0 || o.AmountQuote < 0 || o.Price < 0 || o.TriggerAmount < 0:
		return 0, fmt.Errorf("%w: amount %d, quote amount %d, price %d, trigger %d: none of them can be negative",
			ErrMeaningless, o.Amount, o.AmountQuote, o.Price, o.TriggerAmount)
	}
	return d.engine.Ask(d.id, &d.command)
}

// change hands an update or a cancel on.
func (d *Desk) change(id market.OrderID) error {
	if id <= 0 && d.fault == nil {
		d.fault = fmt.Errorf("%w: order %d: ids begin with 1; an ask that was refused has none", ErrMeaningless, id)
	}
	_, err := d.ask(d.command.Kind.String())
	return err
}

func (d *Desk) unknown(m market.ID) error {
	return fmt.Errorf("%w: market %d: the run has markets 1 to %d", ErrMeaningless, m,
		len(d.engine.Catalog().Markets()))
}
