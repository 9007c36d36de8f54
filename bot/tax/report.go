package tax

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Options say what a report has.
type Options struct {
	Currency string         // in which costs, proceeds and gains are
	Zone     *time.Location // of the dates
	From, To time.Time      // of the rows: [From, To); lots come from all changes before To

	// Value returns the price of an asset at To, and whether it is known; nil: no values.
	Value func(asset string) (price decimal.Decimal, known bool)
}

// Disclaimer is the last line of every report.
const Disclaimer = "evidence for an adviser, no tax return"

// UnknownBasis marks a row in which a cost is not known.
const UnknownBasis = "basis unknown"

// head is the first line of a report.
var head = []string{"date", "kind", "asset", "amount", "currency", "cost", "proceeds", "fee", "fee_currency",
	"basis_fifo", "unknown_fifo", "gain_fifo", "acquired_fifo", "basis_lifo", "unknown_lifo", "gain_lifo",
	"acquired_lifo", "basis_average", "unknown_average", "gain_average", "price", "value", "transaction", "note"}

// Summary counts what a report says.
type Summary struct {
	Rows     int
	Sales    int
	Unknown  int                      // sales in which a cost is not known
	Gains    [methods]decimal.Decimal // of the sales whose cost is known, by Method
	Holdings map[string]decimal.Decimal
}

// account holds the pools of every asset.
type account struct {
	o         *Options
	out       *csv.Writer
	pools     map[string]*[methods]pool
	withdrawn []withdrawal
	summary   Summary
}

// withdrawal is the money that a withdrawal took: its cancellation brings it back.
type withdrawal struct {
	amount Amount
	used   [methods]used
}

// Report writes one CSV row for each change in the asked time, then one for each asset that is held
// at its end, with what each method says. A sale has a gain where all its costs are known.
func Report(w io.Writer, changes []Change, o *Options) (Summary, error) {
	a := account{o: o, out: csv.NewWriter(w), pools: map[string]*[methods]pool{}}
	if err := a.out.Write(head); err != nil {
		return a.summary, err
	}
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(x, y Change) int { return x.At.Compare(y.At) })
	for i := range changes {
		c := &changes[i]
		if !o.To.IsZero() && !c.At.Before(o.To) {
			break
		}
		for _, r := range a.apply(c) {
			if c.At.Before(o.From) {
				continue
			}
			if err := a.write(r); err != nil {
				return a.summary, err
			}
		}
	}
	if err := a.holdings(); err != nil {
		return a.summary, err
	}
	if err := a.write(row{kind: "note", note: Disclaimer}); err != nil {
		return a.summary, err
	}
	a.out.Flush()
	return a.summary, a.out.Error()
}

// row is a row of the report.
type row struct {
	change         *Change // nil: of a holding
	kind           string
	amount         Amount
	cost, proceeds *decimal.Decimal // in the account's currency; nil: none, or not known
	used           *[methods]used
	sale           bool
	price          *decimal.Decimal
	note           string
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
func (a *account) apply(c *Change) (rows []row) {
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
func (c *Change) traded() bool { return c.Sent.Asset != "" && c.Received.Asset != "" }

// gone is the row of what left.
func (a *account) gone(c *Change, amount Amount) row {
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
func (a *account) came(c *Change, amount Amount) row {
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
func (a *account) returned(c *Change, amount Amount) bool {
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

// holdings writes what is held of each asset at the end.
func (a *account) holdings() error {
	a.summary.Holdings = map[string]decimal.Decimal{}
	for _, asset := range slices.Sorted(maps.Keys(a.pools)) {
		var all [methods]used
		var amount decimal.Decimal
		for m := range all {
			all[m], amount = a.pools[asset][m].held()
		}
		if !amount.IsPositive() {
			continue
		}
		a.summary.Holdings[asset] = amount
		r := row{kind: "holding", amount: Amount{asset, amount}, used: &all}
		if a.o.Value != nil {
			if price, known := a.o.Value(asset); known {
				r.price = &price
			} else {
				r.note = "value unknown: no price of that date"
			}
		}
		if err := a.write(r); err != nil {
			return err
		}
	}
	return nil
}

// write writes a row and counts it.
func (a *account) write(r row) error {
	cells := make([]string, len(head))
	set := func(name, text string) { cells[slices.Index(head, name)] = text }
	at := a.o.To
	if r.change != nil {
		at = r.change.At
		set("transaction", r.change.ID)
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
	set("note", r.note)
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
