package sim

import (
	"math"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// depth is one side of a book: limit orders that rest, by price, and at one price by time. Levels
// stand in a tree of 64-way nodes keyed by the price in ticks, with a bit for each child in use:
// adding, removing and finding the next level cost a few steps, whatever the number of orders.
type depth struct {
	bids   bool // the best level is the highest
	unit   market.Price
	root   *branch
	height int // branches from the root to a leaf; 0: no root yet
	first  *level
	levels int
	orders int

	spareBranches []*branch
	spareLeaves   []*leaf
	spareLevels   []*level
}

// branch is an inner node; kids or, in the lowest row, leaves are there.
type branch struct {
	used   uint64
	kids   []*branch
	leaves []*leaf
}

// leaf holds the levels of 64 ticks.
type leaf struct {
	used   uint64
	levels [64]*level
}

// level is one price: a queue of orders, the oldest first.
type level struct {
	price       market.Price
	key         uint64 // the price in units of the tree
	first, last *order
	high, low   uint64 // 2^64·high + low is their remaining amount in all, in units of Qty
}

// digit is the width of a node in bits.
const digit = 6

// add puts an order at the end of its price's queue.
func (d *depth) add(o *order) {
	l := d.at(o.Price)
	o.queue, o.prev, o.next = l, l.last, nil
	if l.last == nil {
		l.first = o
	} else {
		l.last.next = o
	}
	l.last = o
	o.shown = 0
	d.orders++
	d.resize(o)
}

// remove takes an order out.
func (d *depth) remove(o *order) {
	l := o.queue
	if o.prev == nil {
		l.first = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next == nil {
		l.last = o.prev
	} else {
		o.next.prev = o.prev
	}
	l.add(-o.shown)
	o.queue, o.prev, o.next = nil, nil, nil
	d.orders--
	if l.first == nil {
		d.drop(l)
	}
}

// resize brings the level's amount up to date after a change of the order's remaining amount.
func (d *depth) resize(o *order) {
	l := o.queue
	l.add(o.AmountRemaining - o.shown)
	o.shown = o.AmountRemaining
}

// add adds to the level's amount: 2^64 orders of 2^63 units fit.
func (l *level) add(amount market.Qty) {
	var carry uint64
	l.low, carry = bits.Add64(l.low, uint64(amount), 0)
	l.high += uint64(amount>>63) + carry // of two's complement
}

// size is the level's amount, or the largest Qty.
func (l *level) size() market.Qty {
	if l.high != 0 || l.low > math.MaxInt64 {
		return math.MaxInt64
	}
	return market.Qty(l.low)
}

// at returns the level of a price and makes it where there is none.
func (d *depth) at(price market.Price) *level {
	if d.first != nil && d.first.price == price {
		return d.first
	}
	key := d.fit(price)
	n := d.root
	for row := d.height; row > 1; row-- {
		slot := key >> (digit * row) & 63
		if n.used>>slot&1 == 0 {
			n.used |= 1 << slot
			n.kids[slot] = d.branch(row == 2)
		}
		n = n.kids[slot]
	}
	slot := key >> digit & 63
	if n.used>>slot&1 == 0 {
		n.used |= 1 << slot
		n.leaves[slot] = d.leaf()
	}
	f := n.leaves[slot]
	slot = key & 63
	if f.used>>slot&1 == 0 {
		f.used |= 1 << slot
		f.levels[slot] = d.level(price, key)
	}
	return f.levels[slot]
}

// fit makes the tree fine and high enough for a price, and returns the price's key.
func (d *depth) fit(price market.Price) (key uint64) {
	if d.unit == 0 {
		d.unit = price
	}
	ticks := price / d.unit
	if ticks*d.unit != price {
		d.refine(greatestDivisor(d.unit, price))
		ticks = price / d.unit
	}
	if d.root == nil {
		d.root, d.height = d.branch(true), 1
	}
	for uint64(ticks)>>(digit*(d.height+1)) != 0 {
		top := d.branch(false)
		if d.root.used != 0 {
			top.used, top.kids[0] = 1, d.root
		}
		d.root = top
		d.height++
	}
	return uint64(ticks)
}

// refine rebuilds the tree with a finer unit: a market's tick has changed.
func (d *depth) refine(unit market.Price) {
	var kept []*level
	for l := d.first; l != nil; l = d.next(l) {
		kept = append(kept, l)
	}
	*d = depth{bids: d.bids, unit: unit, orders: d.orders}
	for _, l := range kept {
		into := d.at(l.price)
		into.high, into.low, into.first, into.last = l.high, l.low, l.first, l.last
		for o := l.first; o != nil; o = o.next {
			o.queue = into
		}
	}
}

func greatestDivisor(a, b market.Price) market.Price {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// level makes a level and updates the best one.
func (d *depth) level(price market.Price, key uint64) *level {
	var l *level
	if n := len(d.spareLevels); n > 0 {
		l = d.spareLevels[n-1]
		d.spareLevels = d.spareLevels[:n-1]
		*l = level{price: price, key: key}
	} else {
		l = &level{price: price, key: key}
	}
	if d.first == nil || (price > d.first.price) == d.bids {
		d.first = l
	}
	d.levels++
	return l
}

func (d *depth) branch(lowest bool) *branch {
	if n := len(d.spareBranches); n > 0 && lowest {
		b := d.spareBranches[n-1]
		d.spareBranches = d.spareBranches[:n-1]
		return b
	}
	if lowest {
		return &branch{leaves: make([]*leaf, 64)}
	}
	return &branch{kids: make([]*branch, 64)}
}

func (d *depth) leaf() *leaf {
	if n := len(d.spareLeaves); n > 0 {
		f := d.spareLeaves[n-1]
		d.spareLeaves = d.spareLeaves[:n-1]
		return f
	}
	return &leaf{}
}

// drop removes an empty level from the tree, with the nodes that it leaves empty.
func (d *depth) drop(l *level) {
	if d.first == l {
		d.first = d.next(l)
	}
	d.levels--
	key := l.key
	var way [11]*branch
	n := d.root
	for row := d.height; row > 1; row-- {
		way[row] = n
		n = n.kids[key>>(digit*row)&63]
	}
	way[1] = n
	f := n.leaves[key>>digit&63]
	f.levels[key&63] = nil
	f.used &^= 1 << (key & 63)
	d.spareLevels = append(d.spareLevels, l)
	if f.used != 0 {
		return
	}
	n.leaves[key>>digit&63] = nil
	d.spareLeaves = append(d.spareLeaves, f)
	for row := 1; row <= d.height; row++ {
		n = way[row]
		n.used &^= 1 << (key >> (digit * row) & 63)
		if n.used != 0 || row == d.height {
			return
		}
		if row == 1 {
			d.spareBranches = append(d.spareBranches, n)
		}
		way[row+1].kids[key>>(digit*(row+1))&63] = nil
	}
}

// next returns the next worse level, or nil: the next lower bid or higher ask. l must be in the
// tree.
func (d *depth) next(l *level) *level {
	key := l.key
	var way [11]*branch
	n := d.root
	for row := d.height; row > 1; row-- {
		way[row] = n
		n = n.kids[key>>(digit*row)&63]
	}
	way[1] = n
	f := n.leaves[key>>digit&63]
	if rest := d.worse(f.used, key&63); rest != 0 {
		return f.levels[d.nearest(rest)]
	}
	for row := 1; row <= d.height; row++ {
		rest := d.worse(way[row].used, key>>(digit*row)&63)
		if rest == 0 {
			continue
		}
		n = way[row]
		for ; row > 1; row-- {
			n = n.kids[d.nearest(rest)]
			rest = n.used
		}
		f = n.leaves[d.nearest(rest)]
		return f.levels[d.nearest(f.used)]
	}
	return nil
}

// worse returns the used slots that are worse than slot.
func (d *depth) worse(used, slot uint64) uint64 {
	if d.bids {
		return used & (1<<slot - 1)
	}
	return used &^ (2<<slot - 1)
}

// nearest returns the best of some used slots.
func (d *depth) nearest(used uint64) int {
	if d.bids {
		return 63 - bits.LeadingZeros64(used)
	}
	return bits.TrailingZeros64(used)
}
