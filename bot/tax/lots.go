package tax

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Method is a way to choose the lots of a sale.
type Method int

// The methods.
const (
	FIFO    Method = iota // the oldest lot first
	LIFO                  // the youngest lot first
	Average               // a part of everything held
	methods
)

var methodNames = [methods]string{"fifo", "lifo", "average"}

// costDigits are the decimals of a cost that is split: the part is cut there, and the last part of
// a lot takes the rest.
const costDigits = 18

// lot is an amount of an asset that came at once.
type lot struct {
	at     time.Time
	number int // of lots of one time, the order in which they came
	amount decimal.Decimal
	cost   decimal.Decimal
	known  bool // the cost is known
}

// before reports whether a lot came before another one.
func (l *lot) before(other *lot) bool {
	return l.at.Before(other.at) || l.at.Equal(other.at) && l.number < other.number
}

// used is the part of the lots that a sale or a withdrawal took.
type used struct {
	cost    decimal.Decimal // of the part with a known cost
	unknown decimal.Decimal // amount without a known cost
	first   time.Time       // when the oldest and the youngest part came; zero: not known
	last    time.Time
	lots    []lot // the parts
}

func (u *used) add(part lot) {
	u.lots = append(u.lots, part)
	if part.known {
		u.cost = u.cost.Add(part.cost)
	} else {
		u.unknown = u.unknown.Add(part.amount)
	}
	if part.at.IsZero() {
		return
	}
	if u.first.IsZero() || part.at.Before(u.first) {
		u.first = part.at
	}
	if part.at.After(u.last) {
		u.last = part.at
	}
}

// pool has the lots of an asset, by one method.
type pool struct {
	method Method
	lots   []lot // FIFO, LIFO: by time; Average: at most one with a known cost and one without
}

// put adds a lot.
func (p *pool) put(l lot) {
	if !l.amount.IsPositive() {
		return
	}
	if p.method == Average {
		at := slices.IndexFunc(p.lots, func(have lot) bool { return have.known == l.known })
		if at >= 0 {
			have := &p.lots[at]
			have.amount, have.cost = have.amount.Add(l.amount), have.cost.Add(l.cost)
			return
		}
		p.lots = append(p.lots, l)
		return
	}
	at := len(p.lots)
	for at > 0 && l.before(&p.lots[at-1]) {
		at--
	}
	p.lots = slices.Insert(p.lots, at, l)
}

// take takes an amount out. What is not there was held before the history begins: its cost is not
// known.
func (p *pool) take(amount decimal.Decimal) (u used) {
	if p.method == Average {
		amount = p.takeEvenly(amount, &u)
	}
	for amount.IsPositive() && len(p.lots) > 0 {
		at := 0
		if p.method == LIFO {
			at = len(p.lots) - 1
		}
		part := p.cut(at, decimal.Min(amount, p.lots[at].amount))
		amount = amount.Sub(part.amount)
		u.add(part)
	}
	if amount.IsPositive() {
		u.add(lot{amount: amount})
	}
	return u
}

// takeEvenly takes an amount from the known and the unknown part alike, and returns what is left to
// take: where both parts are used up, or the rest of a division.
func (p *pool) takeEvenly(amount decimal.Decimal, u *used) (left decimal.Decimal) {
	if len(p.lots) < 2 {
		return amount
	}
	all := p.lots[0].amount.Add(p.lots[1].amount)
	if amount.GreaterThanOrEqual(all) {
		return amount
	}
	first := decimal.Min(amount, part(p.lots[0].amount, amount, all))
	second := decimal.Min(amount.Sub(first), p.lots[1].amount)
	u.add(p.cut(1, second))
	u.add(p.cut(0, first))
	return amount.Sub(first).Sub(second)
}

// cut takes an amount out of a lot, with its part of the cost.
func (p *pool) cut(at int, amount decimal.Decimal) lot {
	l := &p.lots[at]
	taken := lot{at: l.at, number: l.number, amount: amount, cost: part(l.cost, amount, l.amount), known: l.known}
	if amount.Equal(l.amount) {
		taken.cost = l.cost
		p.lots = slices.Delete(p.lots, at, at+1)
		return taken
	}
	l.amount, l.cost = l.amount.Sub(amount), l.cost.Sub(taken.cost)
	return taken
}

// part is whole × num ÷ den, cut after costDigits decimals.
func part(whole, num, den decimal.Decimal) decimal.Decimal {
	quotient, _ := whole.Mul(num).QuoRem(den, costDigits)
	return quotient
}

// held is the amount in the pool.
func (p *pool) held() (u used, amount decimal.Decimal) {
	for _, l := range p.lots {
		u.add(l)
		amount = amount.Add(l.amount)
	}
	return u, amount
}
