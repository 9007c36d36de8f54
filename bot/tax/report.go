package tax

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Options say what a report has.
type Options struct {
	Currency string         // in which costs, proceeds and gains are
	Zone     *time.Location // of the dates
	From, To time.Time      // of the rows: [From, To); lots come from all changes before To
	At       time.Time      // of the holdings; zero: To

	// Value returns the price of an asset at At, and whether it is known; nil: no values.
	Value func(asset string) (price decimal.Decimal, known bool)
	// Balances are those of the account at the time of the holdings; nil: not known. A difference
	// is noted.
	Balances map[string]decimal.Decimal
}

// Disclaimer is the last line of every report.
const Disclaimer = "evidence for an adviser, no tax return"

// UnknownBasis marks a row in which a cost is not known.
const UnknownBasis = "basis unknown"

// head is the first line of a report.
var head = []string{"date", "kind", "asset", "amount", "currency", "cost", "proceeds", "fee", "fee_currency",
	"basis_fifo", "unknown_fifo", "gain_fifo", "acquired_fifo", "basis_lifo", "unknown_lifo", "gain_lifo",
	"acquired_lifo", "basis_average", "unknown_average", "gain_average", "price", "value", "transaction", "order",
	"trade", "note"}

// Summary counts what a report says.
type Summary struct {
	Rows     int
	Sales    int
	Unknown  int                      // sales in which a cost is not known
	Gains    [methods]decimal.Decimal // of the sales whose cost is known, by Method
	Holdings map[string]decimal.Decimal
	Astray   []string // assets whose balance is not what the rows add up to
}

// account holds the pools of every asset.
type account struct {
	o         *Options
	out       *csv.Writer
	pools     map[string]*[methods]pool
	withdrawn []withdrawal
	held      []row           // at the time of the holdings
	counted   bool            // held is made
	lots      int             // so many came
	money     decimal.Decimal // of the account's currency, that the changes add up to
	summary   Summary
}

// withdrawal is the money that a withdrawal took: its cancellation brings it back.
type withdrawal struct {
	amount Amount
	used   [methods]used
}

// Report writes one CSV row for each change in the asked time, then one for each asset that is held
// at its end, with what each method says. A sale has a gain where all its costs are known.
func Report(w io.Writer, changes []Transaction, o *Options) (Summary, error) {
	a := account{o: o, out: csv.NewWriter(w), pools: map[string]*[methods]pool{}}
	if err := a.out.Write(head); err != nil {
		return a.summary, err
	}
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(x, y Transaction) int { return x.At.Compare(y.At) })
	for i := range changes {
		c := &changes[i]
		if !a.counted && !o.At.IsZero() && !c.At.Before(o.At) {
			a.count()
		}
		after := !o.To.IsZero() && !c.At.Before(o.To)
		if after && (a.counted || o.At.IsZero()) {
			break
		}
		for _, r := range a.apply(c) {
			if after || c.At.Before(o.From) {
				continue
			}
			if err := a.write(r); err != nil {
				return a.summary, err
			}
		}
	}
	if !a.counted {
		a.count()
	}
	for _, r := range a.held {
		if err := a.write(r); err != nil {
			return a.summary, err
		}
	}
	if err := a.write(row{kind: "note", note: Disclaimer}); err != nil {
		return a.summary, err
	}
	a.out.Flush()
	return a.summary, a.out.Error()
}

// row is a row of the report.
type row struct {
	change         *Transaction // nil: of a holding
	kind           string
	amount         Amount
	cost, proceeds *decimal.Decimal // in the account's currency; nil: none, or not known
	used           *[methods]used
	sale           bool
	price          *decimal.Decimal
	note           string   // what is missing
	notes          []string // further ones
}

func (a *account) poolsOf(asset string) *[methods]pool {
	all := a.pools[asset]
	if all == nil {
		all = &[methods]pool{}
		for m := range all {
			all[m].method = Method(m)
		}
		a.pools[asset] = all
	}
	return all
}

func (a *account) put(l lot, asset string) {
	a.lots++
	l.number = a.lots
	for m := range a.poolsOf(asset) {
		a.poolsOf(asset)[m].put(l)
	}
}

func (a *account) take(amount Amount) *[methods]used {
	var all [methods]used
	for m := range a.poolsOf(amount.Asset) {
		all[m] = a.poolsOf(amount.Asset)[m].take(amount.Number)
	}
	return &all
}

// apply moves the lots of a change and returns its rows: what left, then what came.
func (a *account) apply(c *Transaction) (rows []row) {
	if c.Sent.Asset == a.o.Currency {
		a.money = a.money.Sub(c.Sent.Number)
	}
	if c.Received.Asset == a.o.Currency {
		a.money = a.money.Add(c.Received.Number)
	}
	if gone := c.Sent; gone.Number.IsPositive() {
		rows = append(rows, a.gone(c, gone))
	}
	if came := c.Received; came.Number.IsPositive() {
		rows = append(rows, a.came(c, came))
	}
	if c.traded() && len(rows) == 2 { // money is the other side of a row, and no row
		rows = slices.DeleteFunc(rows, func(r row) bool { return r.amount.Asset == a.o.Currency })
	}
	return rows
}

// traded reports whether the change exchanged one asset for another.
func (c *Transaction) traded() bool { return c.Sent.Asset != "" && c.Received.Asset != "" }

// gone is the row of what left.
func (a *account) gone(c *Transaction, amount Amount) row {
	r := row{change: c, kind: c.Type, amount: amount}
	if amount.Asset == a.o.Currency {
		return r
	}
	r.used = a.take(amount)
	if !c.traded() {
		a.withdrawn = append(a.withdrawn, withdrawal{amount, *r.used})
		r.note = "left the account: no sale"
		return r
	}
	r.kind, r.sale = "sell", true
	if c.Received.Asset == a.o.Currency {
		r.proceeds = &c.Received.Number
	} else {
		r.note = "sold for " + c.Received.Asset + ": its value in " + a.o.Currency + " is not in the history"
	}
	return r
}

// came is the row of what came, and makes its lot.
func (a *account) came(c *Transaction, amount Amount) row {
	r := row{change: c, kind: c.Type, amount: amount}
	if amount.Asset == a.o.Currency {
		return r
	}
	l := lot{at: c.At, amount: amount.Number}
	switch {
	case c.known:
		l.cost, l.known = c.cost, true
		r.cost = &c.cost
	case c.traded() && c.Sent.Asset == a.o.Currency:
		l.cost, l.known = c.Sent.Number, true
		r.kind, r.cost = "buy", &c.Sent.Number
	case c.traded():
		r.kind = "buy"
		r.note = UnknownBasis + ": paid in " + c.Sent.Asset
	case a.returned(c, amount):
		r.note = "a cancelled withdrawal: its lots came back"
		return r
	default:
		r.note = UnknownBasis
	}
	a.put(l, amount.Asset)
	return r
}

// returned puts back the lots of a withdrawal that was cancelled.
func (a *account) returned(c *Transaction, amount Amount) bool {
	if c.Type != "withdrawal_cancelled" {
		return false
	}
	for i, w := range slices.Backward(a.withdrawn) {
		if w.amount.Asset == amount.Asset && w.amount.Number.Equal(amount.Number) {
			for m := range w.used {
				for _, l := range w.used[m].lots {
					a.poolsOf(amount.Asset)[m].put(l)
				}
			}
			a.withdrawn = slices.Delete(a.withdrawn, i, i+1)
			return true
		}
	}
	return false
}

// count makes the rows of what is held of each asset.
func (a *account) count() {
	a.counted, a.summary.Holdings = true, map[string]decimal.Decimal{}
	assets := slices.Collect(maps.Keys(a.pools))
	for asset := range a.o.Balances {
		if asset != a.o.Currency && a.pools[asset] == nil {
			assets = append(assets, asset)
		}
	}
	slices.Sort(assets)
	for _, asset := range assets {
		r := row{kind: "holding", amount: Amount{Asset: asset}, used: &[methods]used{}}
		for m := range r.used {
			r.used[m], r.amount.Number = a.poolsOf(asset)[m].held()
		}
		have, balance := r.amount.Number, a.o.Balances[asset]
		if have.IsPositive() {
			a.summary.Holdings[asset] = have
		}
		if a.o.Balances != nil && !alike(have, balance) {
			a.summary.Astray = append(a.summary.Astray, asset)
			r.notes = append(r.notes, fmt.Sprintf("the account's balance is %s: %s are not explained", balance,
				balance.Sub(have)))
		} else if have.IsZero() {
			continue
		}
		a.price(&r)
		a.held = append(a.held, r)
	}
	a.countMoney()
}

// countMoney makes a row of the account's currency where the changes do not add up to its balance.
// Sums of money may be off by what an exchange's floats are.
func (a *account) countMoney() {
	balance := a.o.Balances[a.o.Currency]
	rest := balance.Sub(a.money)
	if a.o.Balances == nil || rest.Abs().LessThan(decimal.New(1, -6)) {
		return
	}
	a.summary.Astray = append(a.summary.Astray, a.o.Currency)
	a.held = append(a.held, row{kind: "holding", amount: Amount{a.o.Currency, balance},
		notes: []string{fmt.Sprintf("the rows add up to %s: %s are not explained", a.money, rest)}})
}

// price gives a holding its price.
func (a *account) price(r *row) {
	if a.o.Value == nil {
		return
	}
	if price, known := a.o.Value(r.amount.Asset); known {
		r.price = &price
	} else {
		r.notes = append(r.notes, "value unknown: no price of that date")
	}
}

// write writes a row and counts it.
func (a *account) write(r row) error {
	cells := make([]string, len(head))
	set := func(name, text string) { cells[slices.Index(head, name)] = text }
	at := cmp.Or(a.o.At, a.o.To)
	if r.change != nil {
		at = r.change.At
		r.notes = append(r.notes, r.change.Notes...)
		set("transaction", r.change.ID)
		set("order", r.change.Order)
		set("trade", r.change.Trade)
		if r.change.traded() && r.change.Price.Asset == a.o.Currency {
			set("price", r.change.Price.Number.String())
		}
		if r.change.Fee.Asset != "" && !r.change.Fee.Number.IsZero() {
			set("fee", r.change.Fee.Number.String())
			set("fee_currency", r.change.Fee.Asset)
		}
	}
	if !at.IsZero() && r.kind != "note" {
		set("date", at.In(a.o.Zone).Format(time.RFC3339))
	}
	set("kind", r.kind)
	if r.amount.Asset != "" {
		set("asset", r.amount.Asset)
		set("amount", r.amount.Number.String())
		set("currency", a.o.Currency)
	}
	if r.cost != nil {
		set("cost", r.cost.String())
	}
	if r.proceeds != nil {
		set("proceeds", r.proceeds.String())
	}
	if r.price != nil {
		set("price", r.price.String())
		set("value", r.price.Mul(r.amount.Number).String())
	}
	if r.used != nil {
		r.note = cmp.Or(r.note, a.writeUsed(&r, set))
	}
	if r.note != "" {
		r.notes = slices.Insert(r.notes, 0, r.note)
	}
	set("note", strings.Join(r.notes, "; "))
	a.summary.Rows++
	return a.out.Write(cells)
}

// writeUsed writes what each method says of a row, and returns the note that a cost is not known.
func (a *account) writeUsed(r *row, set func(name, text string)) (note string) {
	unknown := false
	for m := range r.used {
		u, name := &r.used[m], methodNames[m]
		set("basis_"+name, u.cost.String())
		if u.unknown.IsPositive() {
			set("unknown_"+name, u.unknown.String())
			note, unknown = fmt.Sprintf("%s of a part", UnknownBasis), true
			if u.unknown.Equal(r.amount.Number) {
				set("basis_"+name, "")
				note = UnknownBasis
			}
		}
		if Method(m) != Average && !u.first.IsZero() {
			text := u.first.In(a.o.Zone).Format(time.DateOnly)
			if last := u.last.In(a.o.Zone).Format(time.DateOnly); last != text {
				text += " to " + last
			}
			set("acquired_"+name, text)
		}
		if r.sale && r.proceeds != nil && u.unknown.IsZero() {
			gain := r.proceeds.Sub(u.cost)
			set("gain_"+name, gain.String())
			a.summary.Gains[m] = a.summary.Gains[m].Add(gain)
		}
	}
	if r.sale {
		a.summary.Sales++
		if unknown || r.proceeds == nil {
			a.summary.Unknown++
		}
	}
	return note
}
