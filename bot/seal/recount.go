package seal

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// recount works out an exported journal again: the seal, the evidence of every day, and the sums of
// money, positions and round trips between two verdicts.
type recount struct {
	catalog  *market.Catalog
	sealed   *watched
	runs     []string
	fills    int // different ones
	sums     int // verdicts whose sums were right
	flaws    []string
	balances map[string]int64 // by asset: changes since the last verdict
	counted  map[fillKey]counted
	sides    map[market.OrderID]market.Side
	ended    map[market.OrderID]bool
	trips    int
	moved    []transfer // since the last verdict
}

// transfer is a balance that changed from outside.
type transfer struct {
	symbol string
	units  int64
}

// fillKey is a fill: two orders may share its id.
type fillKey struct {
	order market.OrderID
	id    uuid.UUID
}

// counted is a fill that was counted.
type counted struct {
	price  market.Price
	taker  bool
	booked market.Money // change of the quote
}

func (f *recount) flaw(format string, args ...any) {
	f.flaws = append(f.flaws, fmt.Sprintf(format, args...))
}

// add counts an entry of the journal.
func (f *recount) add(c *market.Catalog, e *journal.Entry) error {
	f.catalog = c
	switch r := e.Record.(type) {
	case *journal.Start:
		f.runs = append(f.runs, fmt.Sprintf("%s program %s, config %.12s", e.At, r.Version, r.ConfigHash))
	case *journal.Intent:
		f.sides[r.Command.Order.ID] = r.Command.Order.Side
	case *journal.ReportEntry:
		f.addFills(r.Fills)
		f.report(&r.Report)
	case *journal.Fills:
		f.addFills(r.Fills)
	case *journal.Transfer:
		symbol := c.Asset(r.Asset).Symbol
		f.balances[symbol] += int64(r.Money)
		f.moved = append(f.moved, transfer{symbol, int64(r.Money)})
	case *journal.Seal:
		if r.Scope != Scope {
			return nil
		}
		w, err := newWatched(e.Number, e.At, r)
		if err != nil {
			return err
		}
		f.sealed = w
	case *journal.Verdict:
		if f.sealed != nil && r.Scope == Scope && r.Seal == f.sealed.number {
			return f.verdict(e, r)
		}
	}
	return nil
}

// addFills books fills as the account does: the amount, and the quote with the fee, rounded down by
// fill. A fee that settles later corrects its fill.
func (f *recount) addFills(list []market.Fill) {
	for i := range list {
		fill := &list[i]
		key := fillKey{fill.Order, fill.ID}
		before, known := f.counted[key]
		if fill.Order == 0 || known && !fill.Settled {
			continue
		}
		m := f.catalog.Market(fill.Market)
		money, err := quoteOf(m, fill)
		if err != nil {
			f.flaw("fill %s: %v", fill.ID, err)
			continue
		}
		f.balances[f.catalog.Asset(m.Quote).Symbol] += int64(money - before.booked)
		if !known {
			f.fills++
			amount := int64(fill.Amount)
			if fill.Side == market.Sell {
				amount = -amount
			}
			f.balances[f.catalog.Asset(m.Base).Symbol] += amount
			f.sides[fill.Order] = fill.Side
		}
		f.counted[key] = counted{fill.Price, fill.Taker, money}
	}
}

// quoteOf is the change in quote by a fill, with its fee where that is known.
func quoteOf(m *market.Market, fill *market.Fill) (market.Money, error) {
	cash, err := m.Value(fill.Price, fill.Amount)
	if err != nil {
		return 0, err
	}
	if fill.Side == market.Buy {
		cash = cash.Neg()
	}
	if fill.Settled {
		if cash, err = cash.Sub(fill.Fee); err != nil {
			return 0, err
		}
	}
	return cash.FloorMoney(m.MoneyDrop())
}

// report counts a sale that ended with a fill as a round trip.
func (f *recount) report(r *market.Report) {
	if r.Order == 0 || !r.Status.Terminal() || f.ended[r.Order] {
		return
	}
	f.ended[r.Order] = true
	if f.sides[r.Order] == market.Sell && r.FilledAmount > 0 {
		f.trips++
	}
}

// verdict holds a verdict against the sums and the evidence.
func (f *recount) verdict(e *journal.Entry, v *journal.Verdict) error {
	o, err := decodeObservation(v)
	if err != nil {
		return err
	}
	w, flaws := f.sealed, len(f.flaws)
	before := w.last
	f.equity(e.Number, o)
	if before != nil {
		f.compare(e.Number, before, o)
	}
	w.add(v.Day, o)
	if w.evidence.Values() != o.Evidence || w.evidence.Total() != o.Total || v.Broken != (w.evidence.Broken() != nil) {
		f.flaw("entry %d: the evidence is %v, and it follows %v from the days", e.Number, o.Total, w.evidence.Total())
	}
	if len(f.flaws) == flaws {
		f.sums++
	}
	clear(f.balances)
	f.trips, f.moved = 0, nil
	return nil
}

// equity checks that the balances at the prices make the equity.
func (f *recount) equity(number uint64, o *Observation) {
	currency := f.catalog.AssetNamed(f.sealed.document.Currency)
	if currency == nil {
		f.flaw("entry %d: the currency %s is unknown", number, f.sealed.document.Currency)
		return
	}
	sum := f.balance(o, currency)
	for _, m := range f.catalog.Markets() {
		if m.Quote != currency.ID || o.Prices[m.Name] == "" {
			continue
		}
		price, err := market.ParseFixed(o.Prices[m.Name], m.PriceDigits)
		if err != nil {
			f.flaw("entry %d: price of %s: %v", number, m.Name, err)
			continue
		}
		value, err := m.Notional(market.Price(price), market.Qty(f.balance(o, f.catalog.Asset(m.Base))))
		if err != nil {
			f.flaw("entry %d: value of %s: %v", number, m.Name, err)
		}
		sum += int64(value)
	}
	if have, err := market.ParseFixed(o.Equity, currency.Digits); err != nil || have != sum {
		f.flaw("entry %d: the equity is %s, its balances make %s", number, o.Equity,
			market.FormatFixed(sum, currency.Digits))
	}
}

func (f *recount) balance(o *Observation, a *market.Asset) int64 {
	text := o.Balances[a.Symbol]
	if text == "" {
		return 0
	}
	units, err := market.ParseFixed(text, a.Digits)
	if err != nil {
		f.flaw("balance of %s: %v", a.Symbol, err)
	}
	return units
}

// compare checks that fills and transfers lead from one observation to the next.
func (f *recount) compare(number uint64, before, after *Observation) {
	symbols := map[string]bool{}
	for _, list := range []map[string]string{before.Balances, after.Balances} {
		for symbol := range list {
			symbols[symbol] = true
		}
	}
	for symbol := range f.balances {
		symbols[symbol] = true
	}
	for _, symbol := range slices.Sorted(maps.Keys(symbols)) {
		a := f.catalog.AssetNamed(symbol)
		if a == nil {
			f.flaw("entry %d: the asset %s is unknown", number, symbol)
			continue
		}
		if want := f.balance(before, a) + f.balances[symbol]; want != f.balance(after, a) {
			f.flaw("entry %d: the bot has %s %s; fills and transfers make %s", number, market.FormatFixed(
				f.balance(after, a), a.Digits), symbol, market.FormatFixed(want, a.Digits))
		}
	}
	if after.Trips != f.trips {
		f.flaw("entry %d: %d round trips are stated, the reports have %d", number, after.Trips, f.trips)
	}
	f.returns(number, before, after)
	f.transfers(number, after)
	for i := range after.Slippage {
		f.slip(number, &after.Slippage[i])
	}
}

// returns checks the day's return and exposure.
func (f *recount) returns(number uint64, before, after *Observation) {
	digits := f.catalog.AssetNamed(f.sealed.document.Currency).Digits
	var units [4]int64
	for i, text := range [...]string{before.Equity, before.Exposure, after.Equity, after.Transfers} {
		var err error
		if units[i], err = market.ParseFixed(text, digits); err != nil {
			f.flaw("entry %d: %v", number, err)
			return
		}
	}
	r, share, known := returnOf(units[0], units[1], units[2], units[3])
	if !known || r != after.Return || share != after.Share {
		f.flaw("entry %d: the day's return is %v, its equity makes %v", number, after.Return, r)
	}
}

// transfers checks the stated transfers where all of them were in the currency: the price of
// another asset is not in the journal.
func (f *recount) transfers(number uint64, o *Observation) {
	sum, currency := int64(0), f.catalog.AssetNamed(f.sealed.document.Currency)
	for _, t := range f.moved {
		if t.symbol != currency.Symbol {
			return
		}
		sum += t.units
	}
	if stated, err := market.ParseFixed(o.Transfers, currency.Digits); err != nil || stated != sum {
		f.flaw("entry %d: transfers of %s are stated, the journal has %s", number, o.Transfers,
			market.FormatFixed(sum, currency.Digits))
	}
}

// slip checks the slippage of a fill.
func (f *recount) slip(number uint64, s *Slip) {
	m, id := f.catalog.MarketNamed(s.Market), uuid.UUID{}
	var prices [3]market.Price
	err := id.UnmarshalText([]byte(s.Fill))
	if m == nil {
		err = fmt.Errorf("the market %s is unknown", s.Market)
	}
	for i, text := range [...]string{s.Price, s.Against, s.Decided} {
		if err == nil {
			var units int64
			units, err = market.ParseFixed(text, m.PriceDigits)
			prices[i] = market.Price(units)
		}
	}
	if err != nil {
		f.flaw("entry %d: slippage of fill %s: %v", number, s.Fill, err)
		return
	}
	c, known := f.counted[fillKey{market.OrderID(s.Order), id}]
	if !known || c.price != prices[0] || !c.taker || bps(s.Buy, prices[0], prices[1], prices[2]) != s.BPS {
		f.flaw("entry %d: the slippage of fill %s does not follow from the fill", number, s.Fill)
	}
}
