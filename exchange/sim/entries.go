package sim

import (
	"slices"
	"sort"

	"github.com/tidemark-trading/tidemark/market"
)

// entry is an order that fills or triggers when the price reaches a level.
type entry struct {
	level    market.Price
	sequence int64
	order    *order
}

// entries is a sorted list of entries, the next to be reached last: the highest level of those
// below the price, the lowest of those above, and of equal levels the oldest. It is cut into
// blocks, so that a change moves one block in memory and not the whole list.
type entries struct {
	near  []entry   // the last block; empty only if there is no other
	far   [][]entry // the blocks before it, none of them empty
	spare [][]entry
	count int
}

// blockSize is the most entries of a block.
const blockSize = 64

// next returns the entry that is reached next, or nil.
func (l *entries) next() *entry {
	if n := len(l.near); n > 0 {
		return &l.near[n-1]
	}
	return nil
}

// nearest calls yield for each entry, the next to be reached first. The list must not change
// meanwhile.
func (l *entries) nearest(yield func(e *entry) bool) {
	for number := len(l.far); number >= 0; number-- {
		block := *l.block(number)
		for at := len(block) - 1; at >= 0; at-- {
			if !yield(&block[at]) {
				return
			}
		}
	}
}

// best returns the limit order with the best price, the oldest of it: a missed one may stand behind
// others. Without entries it is nil.
func (l *entries) best() (best *entry) {
	for e := range l.nearest {
		if best == nil || e.order.Price != best.order.Price && crosses(e.order.Side, e.order.Price, best.order.Price) ||
			e.order.Price == best.order.Price && e.sequence < best.sequence {
			best = e
		}
	}
	return best
}

// block returns a block by its number; the last one is near.
func (l *entries) block(number int) *[]entry {
	if number == len(l.far) {
		return &l.near
	}
	return &l.far[number]
}

// behind reports whether an entry stands before k in the list: the price reaches it later.
func (e *entry) behind(k *entry, down bool) bool {
	if e.level != k.level {
		return (e.level < k.level) == down
	}
	return e.sequence > k.sequence
}

// find returns the place of the first entry that is not behind k.
func (l *entries) find(k *entry, down bool) (number, at int) {
	number = len(l.far)
	if number > 0 && !l.far[number-1][len(l.far[number-1])-1].behind(k, down) {
		number = sort.Search(number, func(i int) bool { return !l.far[i][len(l.far[i])-1].behind(k, down) })
	}
	block := *l.block(number)
	return number, sort.Search(len(block), func(i int) bool { return !block[i].behind(k, down) })
}

func (l *entries) insert(e entry, down bool) {
	l.count++
	number, at := l.find(&e, down)
	block := l.block(number)
	*block = slices.Insert(*block, at, e)
	if len(*block) > blockSize {
		l.split(number)
	}
}

// split moves the first half of a block to a block of its own.
func (l *entries) split(number int) {
	half := make([]entry, 0, blockSize+1)
	if n := len(l.spare); n > 0 {
		half, l.spare = l.spare[n-1], l.spare[:n-1]
	}
	block := l.block(number)
	half = append(half, (*block)[:blockSize/2]...)
	*block = slices.Delete(*block, 0, blockSize/2)
	l.far = slices.Insert(l.far, number, half)
}

// remove takes an entry out; it must be there.
func (l *entries) remove(e entry, down bool) {
	l.count--
	number, at := l.find(&e, down)
	for at == len(*l.block(number)) || (*l.block(number))[at].order != e.order {
		if at++; at >= len(*l.block(number)) { // the next block begins with an entry of the same place
			number, at = number+1, 0
		}
	}
	block := l.block(number)
	if *block = slices.Delete(*block, at, at+1); len(*block) == 0 && len(l.far) > 0 {
		l.drop(number)
	}
}

// drop removes an empty block.
func (l *entries) drop(number int) {
	l.spare = append(l.spare, *l.block(number))
	if number == len(l.far) {
		number--
		l.near = l.far[number]
	}
	l.far = slices.Delete(l.far, number, number+1)
}
