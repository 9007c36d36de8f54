// Package replica copies a graph of Go values: everything that a pointer leads to, unexported
// fields included. It knows nothing of trading and never changes the original. Start at Copier.Of.
//
// A copy has the shape of the original: two references to one piece of memory (a pointer into a
// struct or into an array, two slices of one array, one map held twice, a cycle) refer to one piece
// of the copy. Original and copy share what Rules name, what cannot change (strings, functions
// without variables, time zones), and nothing else.
//
// Known limitation: memory that is only reached by name, such as a package variable, belongs to
// no graph, and an address kept as a uintptr or inside a string of package unsafe is not seen. A
// pointer to a package variable is followed, so the copy has its own; where a program compares such
// pointers, the copy's is another one.
package replica

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// Rules are the exceptions of a copy.
type Rules struct {
	// Shared are pointers. Original and copy share all memory to which they lead.
	Shared []any
	// Opaque are types whose values are taken over as they are. Nothing behind them is copied.
	Opaque []reflect.Type
	// Functions are function values that are taken over as they are, whatever variables they hold.
	Functions []any
	Bytes     int // most bytes of one copy; 0: no limit
	Objects   int // most pieces of memory in one copy; 0: no limit
}

// Refusal is the error of a graph that cannot be copied faithfully.
type Refusal struct {
	Path string // the fields that lead there, from the root
	Why  string
}

// Error says what cannot be copied.
func (r *Refusal) Error() string { return r.Path + " " + r.Why }

// Copier copies graphs by one set of rules. It keeps what it has learnt about types. One goroutine
// at a time may use it.
type Copier struct {
	rules      Rules
	opaque     map[reflect.Type]bool
	functions  map[unsafe.Pointer]bool
	shapes     map[reflect.Type]*shape
	shared     []block
	sharedMaps map[uintptr]pair

	// Of the copy under way.
	entries []entry          // pieces of memory in the order in which they were found
	found   map[place]int    // the longest row found at a place
	maps    map[uintptr]pair // by address of the original
	rows    []row            // the pieces, where each place has its longest row
	blocks  []block          // without overlaps, by address
	refusal *Refusal
	lenient bool // nothing is refused: the walk only finds memory
}

// entry is a row of equal values in memory, and how the walk came to it.
type entry struct {
	row
	from  int // entry that refers to it; -1: the root
	label string
}

// row is n values of one shape, side by side.
type row struct {
	at    unsafe.Pointer
	shape *shape
	n     int
}

// place is the begin of a row.
type place struct {
	at    unsafe.Pointer
	shape *shape
}

// block is memory that was copied as one piece; without a copy it is shared.
type block struct {
	row
	end  uintptr
	copy unsafe.Pointer
}

// pair is a map and its copy.
type pair struct{ old, copy reflect.Value }

// New returns a copier. It walks what the rules share.
func New(rules Rules) *Copier {
	c := &Copier{rules: rules, opaque: make(map[reflect.Type]bool), functions: make(map[unsafe.Pointer]bool),
		shapes: make(map[reflect.Type]*shape), found: make(map[place]int), maps: make(map[uintptr]pair)}
	for _, t := range rules.Opaque {
		c.opaque[t] = true
	}
	for _, f := range rules.Functions {
		c.functions[word(&f)] = true
	}
	c.lenient = true
	for _, pointer := range rules.Shared {
		v := reflect.ValueOf(pointer)
		c.reach(v.UnsafePointer(), c.shapeOf(v.Type().Elem()), 1, -1, "")
	}
	c.walk()
	c.merge()
	c.shared, c.sharedMaps, c.lenient = c.blocks, c.maps, false
	c.blocks, c.maps = nil, make(map[uintptr]pair)
	return c
}

// Of copies the value of a pointer and everything that it leads to. The error is a *Refusal.
func Of[T any](c *Copier, root *T) (*T, error) {
	c.begin()
	defer c.begin()
	c.reach(unsafe.Pointer(root), c.shapeOf(reflect.TypeFor[T]()), 1, -1, reflect.TypeFor[T]().Name())
	c.walk()
	if c.refusal == nil {
		c.merge()
	}
	if c.refusal != nil {
		return nil, c.refusal
	}
	c.duplicate()
	return (*T)(c.moved(unsafe.Pointer(root))), nil
}

// begin forgets the copy before.
func (c *Copier) begin() {
	c.entries, c.rows, c.blocks, c.refusal = c.entries[:0], c.rows[:0], c.blocks[:0], nil
	clear(c.found)
	clear(c.maps)
}

// walk visits the pieces of memory that have been found, and those found on the way.
func (c *Copier) walk() {
	bytes := 0
	for i := 0; i < len(c.entries) && c.refusal == nil; i++ {
		e := c.entries[i].row
		bytes += int(e.shape.size) * e.n
		if c.rules.Bytes > 0 && bytes > c.rules.Bytes || c.rules.Objects > 0 && i >= c.rules.Objects {
			c.refuse(i, "", fmt.Sprintf("is one of more than %d pieces of memory or %d bytes: too much to copy often",
				c.rules.Objects, c.rules.Bytes))
			return
		}
		if len(e.shape.slots) == 0 {
			continue
		}
		for j := range e.n {
			c.visit(unsafe.Add(e.at, uintptr(j)*e.shape.size), e.shape, i, "")
		}
	}
}

// reach notes a row of values that something refers to.
func (c *Copier) reach(at unsafe.Pointer, s *shape, n, from int, label string) {
	if s.element != nil { // an array is a row of its elements
		n *= s.length
		s = s.element
	}
	if at == nil || s.size == 0 || n == 0 || within(c.shared, uintptr(at)) != nil {
		return
	}
	if known := c.found[place{at, s}]; known >= n {
		return
	}
	c.found[place{at, s}] = n
	c.entries = append(c.entries, entry{row{at, s, n}, from, label})
}

// merge makes blocks of the rows: a row inside another is part of it, and rows that overlap are
// one.
func (c *Copier) merge() {
	for p, n := range c.found {
		c.rows = append(c.rows, row{p.at, p.shape, n})
	}
	slices.SortFunc(c.rows, row.compare)
	for _, r := range c.rows {
		end := uintptr(r.at) + uintptr(r.n)*r.shape.size
		if n := len(c.blocks); n > 0 && uintptr(r.at) < c.blocks[n-1].end {
			b := &c.blocks[n-1]
			away := uintptr(r.at) - uintptr(b.at)
			if end <= b.end {
				continue
			}
			if r.shape != b.shape || away%b.shape.size != 0 {
				c.refusal = &Refusal{r.shape.typ.String(), "shares memory with a " + b.shape.typ.String()}
				return
			}
			b.n, b.end = int((end-uintptr(b.at))/b.shape.size), end
			continue
		}
		c.blocks = append(c.blocks, block{row: r, end: end})
	}
}

// compare sorts rows by their begin, the longest first. A struct comes before its first field of
// the same size.
func (r row) compare(o row) int {
	switch {
	case uintptr(r.at) != uintptr(o.at):
		return order(uintptr(r.at), uintptr(o.at))
	case uintptr(r.n)*r.shape.size != uintptr(o.n)*o.shape.size:
		return order(uintptr(o.n)*o.shape.size, uintptr(r.n)*r.shape.size)
	}
	return o.shape.depth - r.shape.depth
}

func order(a, b uintptr) int {
	if a < b {
		return -1
	}
	return 1
}

// duplicate copies the blocks and the maps, then makes every reference of the copy refer to the
// copy.
func (c *Copier) duplicate() {
	for i := range c.blocks {
		b := &c.blocks[i]
		if b.n == 1 {
			made := reflect.New(b.shape.typ)
			made.Elem().Set(reflect.NewAt(b.shape.typ, b.at).Elem())
			b.copy = made.UnsafePointer()
			continue
		}
		made := reflect.MakeSlice(b.shape.row, b.n, b.n)
		reflect.Copy(made, reflect.SliceAt(b.shape.typ, b.at, b.n))
		b.copy = made.UnsafePointer()
	}
	for at, m := range c.maps {
		m.copy = reflect.MakeMapWithSize(m.old.Type(), m.old.Len())
		c.maps[at] = m
	}
	for i := range c.blocks {
		b := &c.blocks[i]
		if len(b.shape.slots) == 0 {
			continue
		}
		for j := range b.n {
			c.redirect(unsafe.Add(b.copy, uintptr(j)*b.shape.size), b.shape)
		}
	}
	for _, m := range c.maps {
		for all := m.old.MapRange(); all.Next(); {
			m.copy.SetMapIndex(c.valueOf(all.Key()), c.valueOf(all.Value()))
		}
	}
}

// moved is the place in the copy of a place in the original; shared memory stays where it is.
func (c *Copier) moved(at unsafe.Pointer) unsafe.Pointer {
	if b := within(c.blocks, uintptr(at)); b != nil {
		return unsafe.Add(b.copy, uintptr(at)-uintptr(b.at))
	}
	return at
}

// within returns the block that holds an address, or nil.
func within(blocks []block, at uintptr) *block {
	low, high := 0, len(blocks)
	for low < high {
		middle := (low + high) / 2
		switch b := &blocks[middle]; {
		case b.end <= at:
			low = middle + 1
		case uintptr(b.at) > at:
			high = middle
		default:
			return b
		}
	}
	return nil
}

// word is the data word of an interface value. Of a function it is the function value.
func word(v *any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(v))[1] }
