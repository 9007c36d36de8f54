package market

import "math/bits"

// Index is a hash table by order id, several times faster than a map. Order ids are a sequence, and
// multiples of the golden ratio spread a sequence evenly: collisions are rare. The latest orders
// stay outside the table until as many others have come: most orders end before that. The zero
// Index is empty and ready.
type Index[T any] struct {
	latest  [latest]slot[T] // by id modulo their number: each once the highest id; free after its Delete
	highest OrderID         // so far
	slots   []slot[T]       // a power of two of them, at most half used
	shift   uint8           // 64 less that power
	used    int             // slots
}

// latest is how many orders stay outside the table, a power of two: those that meet one open are
// often a few.
const latest = 8

// home is the first slot of an id. Four consecutive ids are neighbours: they share a line of the
// processor's cache, and orders placed one after the other are used together.
func (x *Index[T]) home(id OrderID) int {
	return int(uint64(id)>>2*0x9e3779b97f4a7c15>>x.shift)&^3 | int(id)&3
}

// slot is one place of the table; id 0 is free.
type slot[T any] struct {
	id    OrderID
	value *T
}

// Get returns the value of an id, or nil.
func (x *Index[T]) Get(id OrderID) *T {
	if s := &x.latest[id&(latest-1)]; s.id == id {
		return s.value
	}
	return x.find(id)
}

// find is Get in the table.
func (x *Index[T]) find(id OrderID) *T {
	if x.used == 0 {
		return nil
	}
	mask := len(x.slots) - 1
	for at := x.home(id); ; at = (at + 1) & mask {
		switch s := &x.slots[at]; s.id {
		case id:
			return s.value
		case 0:
			return nil
		}
	}
}

// Put sets the value of an id, which must not be 0.
func (x *Index[T]) Put(id OrderID, what *T) {
	s := &x.latest[id&(latest-1)]
	switch {
	case id < x.highest && id != s.id:
		x.insert(id, what)
		return
	case id != s.id && s.id != 0:
		x.insert(s.id, s.value)
	}
	s.id, s.value = id, what
	x.highest = max(x.highest, id)
}

// insert is Put into the table.
func (x *Index[T]) insert(id OrderID, what *T) {
	if 2*(x.used+1) > len(x.slots) {
		x.grow()
	}
	mask := len(x.slots) - 1
	at := x.home(id)
	for x.slots[at].id != 0 && x.slots[at].id != id {
		at = (at + 1) & mask
	}
	if x.slots[at].id == 0 {
		x.used++
	}
	x.slots[at] = slot[T]{id, what}
}

// Delete removes an id, if it is there.
func (x *Index[T]) Delete(id OrderID) {
	if s := &x.latest[id&(latest-1)]; s.id == id {
		s.id, s.value = 0, nil
		return
	}
	x.remove(id)
}

// remove is Delete from the table.
func (x *Index[T]) remove(id OrderID) {
	if x.used == 0 {
		return
	}
	mask := len(x.slots) - 1
	at := x.home(id)
	for x.slots[at].id != id {
		if x.slots[at].id == 0 {
			return
		}
		at = (at + 1) & mask
	}
	x.used--
	for next := (at + 1) & mask; x.slots[next].id != 0; next = (next + 1) & mask { // close the gap behind it
		home := x.home(x.slots[next].id)
		if (next-home)&mask >= (next-at)&mask {
			x.slots[at] = x.slots[next]
			at = next
		}
	}
	x.slots[at] = slot[T]{}
}

// All calls yield for each id and its value, in no order, until it returns false. The Index must
// not change meanwhile.
func (x *Index[T]) All(yield func(id OrderID, what *T) bool) {
	for i := range x.latest {
		if x.latest[i].id != 0 && !yield(x.latest[i].id, x.latest[i].value) {
			return
		}
	}
	for i := range x.slots {
		if x.slots[i].id != 0 && !yield(x.slots[i].id, x.slots[i].value) {
			return
		}
	}
}

// Len is the number of ids.
func (x *Index[T]) Len() int {
	n := x.used
	for i := range x.latest {
		if x.latest[i].id != 0 {
			n++
		}
	}
	return n
}

func (x *Index[T]) grow() {
	old := x.slots
	x.slots = make([]slot[T], max(64, 2*len(old)))
	x.shift = uint8(64 - bits.TrailingZeros(uint(len(x.slots))))
	x.used = 0
	for i := range old {
		if old[i].id != 0 {
			x.insert(old[i].id, old[i].value)
		}
	}
}
