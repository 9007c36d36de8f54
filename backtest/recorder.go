package backtest

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// recorderConfig configures a recorder. Catalog, Currency, Start and From are required.
type recorderConfig struct {
	Catalog  *market.Catalog
	Currency *market.Asset // of the account; every market that is traded must be quoted in it
	Start    market.Money  // equity at From, above zero
	From     market.Time   // start of the first candle

	Run          uuid.UUID        // run id, for the client order ids in orders.csv
	Out          string           // folder of the result files; empty: none are written
	Config       []byte           // of Options
	Curve        bool             // keep the equity curve for the summary; implied by Out
	Keep         bool             // keep trades and fills for the Result
	Markets      []*market.Market // of buy and hold
	HoldInterval market.Interval  // the candles of its market, where it is one
	Fees         []exchange.Fees  // by market, as fills are charged now; buy and hold pays the taker's
	Spread       exchange.Spread  // that buy and hold pays
	Strategies   []string         // by StrategyID − 1
	Candles      []report.Candles // of the page
	Tried        func(*Track) []string
}

// recorder records a run and sums it up. It streams rows to disk and keeps a bounded amount of
// memory, whatever the number of candles, orders and fills. Call it in the order of events and end
// with Finish, or with Abort where the run failed. It keeps the first error, which ends all
// recording of fills and orders, and returns it from Err and Finish.
type recorder struct {
	// The fields of Mark come first.
	wake            market.Time // a close after it begins a new day or a new bucket of the curve
	last            sample
	marks, invested int64

	equity   track
	curve    curve
	hold     hold
	extremes extremes
	months   []Month
	month    monthEnd

	cfg   recorderConfig
	held  holdings
	tally tally
	kept  *kept       // nil: Keep is not set
	plots *plots      // nil without a folder
	page  *reportData // nil without a folder

	followed followed
	days     *days        // nil: not collected
	own      []report.Day // days of the account, and of buy and hold, of a run that keeps its own
	market   []report.Day
	out      *results
	tables
	err error
}

// tables are the files that grow while the run lasts; nil without a folder.
type tables struct{ trips, fills, orders *table }

// newRecorder begins a recording. With cfg.Out it makes the folder and the temporary files, which
// Finish or Abort remove.
func newRecorder(cfg recorderConfig) (*recorder, error) {
	if cfg.Catalog == nil || cfg.Currency == nil {
		return nil, errors.New("record a run: catalog and currency are missing")
	}
	if cfg.Start <= 0 {
		return nil, fmt.Errorf("record a run: start equity at %s is %s %s; it must be above zero, so start with some "+
			"%s or later, when there is a price",
			cfg.From, market.FormatFixed(int64(cfg.Start),
				cfg.Currency.Digits), cfg.Currency.Symbol, cfg.Currency.Symbol)
	}
	if cfg.Fees == nil {
		cfg.Fees = make([]exchange.Fees, len(cfg.Catalog.Markets())+1)
	}
	r := &recorder{cfg: cfg, tally: newTally(cfg.Catalog, cfg.Currency), curve: noCurve()}
	r.held.stride = len(cfg.Catalog.Markets()) + 1
	r.last = sample{cfg.From, cfg.Start, cfg.Start}
	r.equity.start(cfg.From, int64(cfg.Start))
	r.equity.dayEnd = endOfDay(cfg.From + 1) // From begins its day, a close at the same instant ends one
	r.equity.daily, r.hold.track.daily = &r.own, &r.market
	r.month = monthOf(cfg.From+1, cfg.Start)
	if cfg.Curve || cfg.Out != "" {
		r.curve = curve{end: cfg.From}
	}
	r.wake = min(r.equity.dayEnd, r.curve.end)
	if cfg.Keep {
		r.kept = &kept{}
	}
	r.hold.length = cfg.HoldInterval.Fixed()
	for _, m := range cfg.Markets {
		r.hold.parts = append(r.hold.parts, holdPart{market: m})
	}
	if cfg.Out != "" || cfg.Keep {
		r.followed = make(followed, len(cfg.Catalog.Markets())+1)
	}
	return r, r.open()
}

// open creates the tables.
func (r *recorder) open() (err error) {
	if r.cfg.Out == "" {
		return nil
	}
	if r.out, err = newResults(r.cfg.Out); err != nil {
		return err
	}
	r.plots, r.page = newPlots(r.cfg.Catalog), newSheet(&r.cfg)
	r.equity.daily = &r.page.days
	for _, t := range []struct {
		to           **table
		name, header string
	}{{&r.trips, "trades.csv", tripHeader}, {&r.fills, "fills.csv", fillHeader}, {&r.orders, "orders.csv",
		orderHeader}} {
		if *t.to, err = r.out.create(t.name); err != nil {
			r.out.discard()
			return err
		}
		(*t.to).buf = append((*t.to).buf, t.header...)
	}
	return nil
}

// Mark records the account at the close of a group of candles: at is that close, not its arrival,
// and rises from call to call. cash is the balance of the account's currency, holds included;
// equity is cash and the value of everything else. invested reports whether there is any position.
// Mark is almost free while neither equity nor cash changes.
func (r *recorder) Mark(at market.Time, equity, cash market.Money, invested bool) {
	r.marks++
	if invested {
		r.invested++
	}
	if equity == r.last.equity && cash == r.last.cash && at <= r.wake {
		r.last.at = at
		return
	}
	r.update(sample{at, equity, cash})
}

// update records a close that begins a day or a bucket of the curve, or changes the account.
func (r *recorder) update(s sample) {
	if s.at > r.wake {
		r.roll(s)
	}
	r.equity.add(s.at, int64(s.equity))
	if r.curve.kept() {
		r.curve.add(s)
		r.extremes.add(&r.equity, s)
	}
	r.last = s
}

// roll begins the day and the bucket of s.
func (r *recorder) roll(s sample) {
	if s.at > r.month.end {
		r.rollMonth(s.at)
	}
	r.equity.roll(s.at)
	if s.at > r.curve.end {
		r.curve.begin(s, r.last)
	}
	r.wake = min(r.equity.dayEnd, r.curve.end)
}

// Bar records a candle of the one market of buy and hold, and ignores all others. It needs every
// candle from the first on that could be traded. It reports whether it has recorded the candle.
func (r *recorder) Bar(c *market.Candle) bool {
	if !r.holds(c) {
		return false
	}
	h, at := &r.hold, c.Start+market.Time(r.hold.length)
	if h.length == 0 {
		at = c.End()
	}
	if !h.seen {
		h.seen, h.open, h.from, h.fee = true, r.cfg.bought(c.Open), c.Start, r.cfg.Fees[c.Market].Taker
		if h.shared != nil {
			h.joint = h.shared.from(c)
			return true
		}
		h.track.startBought(at, int64(c.Open), int64(c.Close))
	}
	if at > h.track.dayEnd {
		h.track.roll(at)
	}
	h.track.add(at, int64(c.Close))
	return true
}

// holds reports whether a candle is of the one market of buy and hold.
func (r *recorder) holds(c *market.Candle) bool {
	return len(r.cfg.Markets) == 1 && c.Market == r.cfg.Markets[0].ID && c.Interval == r.cfg.HoldInterval
}

// Held records an amount of base that was there before the run or came from outside, at a price as
// its cost. Sells of base that was neither bought nor recorded here are in no round trip.
func (r *recorder) Held(at market.Time, strategy market.StrategyID, id market.ID, amount market.Qty,
	price market.Price) {
	m := r.cfg.Catalog.Market(id)
	value, err := m.Value(price, amount)
	if err == nil {
		h := r.held.of(strategy, m)
		err = h.buy(at, amount, value, market.Value{})
		r.followed.begin(h)
	}
	r.fail(err)
}

// Fill records a fill of o. o may be in its state before or after the fill.
func (r *recorder) Fill(f *market.Fill, o *market.Order) {
	if r.err != nil {
		return
	}
	m := r.cfg.Catalog.Market(f.Market)
	if m.Quote != r.cfg.Currency.ID {
		r.failQuote(m)
		return
	}
	value, err := m.Value(f.Price, f.Amount)
	if err != nil {
		r.failFill(f, err)
		return
	}
	r.fail(r.tally.fill(m, f, value, r.cfg.Fees[m.ID]))
	if r.fills != nil {
		r.fills.buf = appendFill(r.fills.buf, r.cfg.Catalog, f, value)
		r.fills.flushFull()
	}
	if r.kept != nil {
		r.kept.fill(m, f, o)
	}
	r.fail(r.updateHolding(m, f, o, value))
}

//go:noinline
func (r *recorder) failQuote(m *market.Market) {
	r.fail(fmt.Errorf("market %s is not quoted in the account's currency %s", m.Name, r.cfg.Currency.Symbol))
}

//go:noinline
func (r *recorder) failFill(f *market.Fill, err error) {
	r.fail(fmt.Errorf("fill of order %d: %w", f.Order, err))
}

// updateHolding books a fill to its holding, and ends the trips of a holding that is empty.
func (r *recorder) updateHolding(m *market.Market, f *market.Fill, o *market.Order, value market.Value) error {
	h := r.held.of(f.Strategy, m)
	if f.Side == market.Buy {
		r.followed.begin(h)
		return h.buy(f.Time, f.Amount, value, f.Fee)
	}
	covered, err := h.sell(f, o.Tag, value)
	if err != nil {
		return fmt.Errorf("sell %s: %w", m.Name, err)
	}
	if covered < f.Amount {
		r.tally.trips.Untracked++
	}
	if covered > 0 && h.amount == 0 {
		h.flat = true
		return r.endTrips(h, 0)
	}
	return nil
}

// Order records an order that has ended, or is still open when the run ends. Record its fills
// before.
func (r *recorder) Order(o *market.Order) {
	if r.err != nil {
		return
	}
	m := r.cfg.Catalog.Market(o.Market)
	r.tally.order(o)
	r.writeOrder(m, o, "sent")
	if o.FilledAmount > 0 && o.Side == market.Sell {
		r.fail(r.close(r.held.of(o.Strategy, m), o))
	}
}

// Rejected records an order that the exchange refused; it has no status.
func (r *recorder) Rejected(o *market.Order) {
	if r.err != nil {
		return
	}
	r.tally.rejected()
	r.writeOrder(r.cfg.Catalog.Market(o.Market), o, "rejected")
}

// writeOrder writes a row of orders.csv; unknown is the status of an order without one.
func (r *recorder) writeOrder(m *market.Market, o *market.Order, unknown string) {
	if r.orders == nil {
		return
	}
	r.page.stops.end(o.ID, max(o.Updated, o.Created))
	r.orders.buf = appendOrder(r.orders.buf, m, o, market.ClientOrderID(r.cfg.Run, o.ID), unknown)
	r.orders.flushFull()
}

// close ends the trip of a closing order that has ended, and the position with it where only dust
// is left.
func (r *recorder) close(h *holding, o *market.Order) error {
	h.settle(o)
	return r.endTrips(h, o.ID)
}

// endTrips writes the trips of the order, or of all orders where it is 0.
func (r *recorder) endTrips(h *holding, order market.OrderID) error {
	kept, only := h.closing[:0], len(h.closing) == 1
	for i := range h.closing {
		t := &h.closing[i]
		if order != 0 && t.order != order {
			kept = append(kept, *t)
			continue
		}
		t.reached = h.reached
		if !h.flat || h.parts > 0 || !only {
			h.parts++
			t.part = h.parts
		}
		if err := r.trip(h, t); err != nil {
			return err
		}
	}
	h.closing = kept
	r.endPosition(h)
	return nil
}

// endPosition counts a position that is flat, once all of its trips have ended.
func (r *recorder) endPosition(h *holding) {
	if !h.flat || h.ended == 0 || len(h.closing) > 0 {
		return
	}
	r.tally.trips.Positions++
	if h.gained.Sign() > 0 {
		r.tally.trips.PositionsWon++
	}
	h.ended, h.gained = 0, market.Value{}
}

// trip counts a round trip and writes its row.
func (r *recorder) trip(h *holding, t *trip) error {
	m := h.market
	pnl, err := t.pnl()
	if err != nil {
		return fmt.Errorf("profit of a trip in %s: %w", m.Name, err)
	}
	h.ended++
	if err := addTo(&h.gained, pnl, nil); err != nil {
		return figureError("profit of a position", m, err)
	}
	if t.part > 0 {
		r.tally.trips.Partial++
	}
	if r.trips != nil {
		r.page.trip(m, t, pnl)
		r.trips.buf = appendTrip(r.trips.buf, m, t, pnl)
		r.trips.flushFull()
	}
	if r.kept != nil {
		r.kept.trade(r.nameOf(h.strategy), m, t, pnl)
	}
	return r.tally.trip(m, pnl)
}

// nameOf is the name of a strategy; empty for none.
func (r *recorder) nameOf(id market.StrategyID) string {
	if id == 0 {
		return ""
	}
	return r.cfg.Strategies[id-1]
}

// Err returns the first error of the recording, so that a driver can stop early; a full disk shows
// here once rows are flushed.
func (r *recorder) Err() error {
	for _, t := range []*table{r.trips, r.fills, r.orders} {
		if t != nil && t.err != nil && r.err == nil {
			r.err = fmt.Errorf("write %s: %w", t.name, t.err)
		}
	}
	return r.err
}

// Abort removes the files. After Finish it does nothing.
func (r *recorder) Abort() {
	if r.out != nil {
		r.out.discard()
	}
}

func (r *recorder) fail(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

func (r *recorder) amount(m market.Money) Amount { return Amount{m, r.cfg.Currency.Digits} }

// span is the time that the run covers.
func (r *recorder) span(to market.Time) time.Duration { return to.Sub(r.cfg.From) }
