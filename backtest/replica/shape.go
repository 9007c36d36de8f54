package replica

import (
	"reflect"
	"strings"
	"time"
	"unsafe"
)

// shape is the layout of a type: where it refers to other memory.
type shape struct {
	typ     reflect.Type
	row     reflect.Type // a slice of the type
	size    uintptr
	depth   int    // how many structs and arrays lie around the innermost first field
	slots   []slot // nil: it refers to nothing
	element *shape // of an array
	length  int    // of an array
}

// slot is a part of a value that needs more than its bytes copied.
type slot struct {
	kind   slotKind
	offset uintptr
	typ    reflect.Type
	name   string // the fields that lead to it
	part   *shape // of an array inside the value: the array; of an atomic pointer: what it points to
	size   uintptr
}

type slotKind uint8

const (
	toPointer slotKind = iota + 1
	toSlice
	toMap
	toInterface
	toFunction
	toArray   // inside the value
	toError   // its target is copied only where something else leads there
	mustBeNil // a channel, an unsafe.Pointer: cannot be copied
	mustBeIdle
	cannot // something outside the process
)

// shapeOf returns the layout of a type.
func (c *Copier) shapeOf(t reflect.Type) *shape {
	if s := c.shapes[t]; s != nil {
		return s
	}
	s := &shape{typ: t, row: reflect.SliceOf(t), size: t.Size()}
	c.shapes[t] = s // before its parts, which may refer to it
	switch t.Kind() {
	case reflect.Array:
		s.element, s.length = c.shapeOf(t.Elem()), t.Len()
		s.depth = s.element.depth + 1
		if inner := s.element; inner.element != nil { // an array of arrays
			s.element, s.length = inner.element, s.length*inner.length
		}
	case reflect.Struct:
		if t.NumField() > 0 {
			s.depth = c.shapeOf(t.Field(0).Type).depth + 1
		}
	}
	c.addSlots(s, t, 0, "")
	return s
}

// addSlots adds the slots of a value of type t at an offset inside s.
func (c *Copier) addSlots(s *shape, t reflect.Type, offset uintptr, name string) {
	if c.opaque[t] || immutable(t) {
		return
	}
	add := func(kind slotKind) {
		s.slots = append(s.slots, slot{kind: kind, offset: offset, typ: t, name: name, size: t.Size()})
	}
	switch t.Kind() {
	case reflect.Pointer:
		add(toPointer)
	case reflect.Slice:
		add(toSlice)
	case reflect.Map:
		add(toMap)
	case reflect.Interface:
		if t == reflect.TypeFor[error]() {
			add(toError)
		} else {
			add(toInterface)
		}
	case reflect.Func:
		add(toFunction)
	case reflect.Chan, reflect.UnsafePointer:
		add(mustBeNil)
	case reflect.Array:
		if part := c.shapeOf(t); t.Len() > 0 && (part.element.slots != nil) {
			s.slots = append(s.slots, slot{kind: toArray, offset: offset, typ: t, name: name, part: part})
		}
	case reflect.Struct:
		c.addFields(s, t, offset, name)
	}
}

// addFields adds the slots of a struct's fields.
func (c *Copier) addFields(s *shape, t reflect.Type, offset uintptr, name string) {
	one := slot{offset: offset, typ: t, name: name, size: t.Size()}
	switch {
	case outside(t):
		one.kind = cannot
		s.slots = append(s.slots, one)
		return
	case (t.PkgPath() == "sync" || t.PkgPath() == "internal/sync") && t.Name() != "Once":
		one.kind = mustBeIdle
		s.slots = append(s.slots, one)
		return
	case t.PkgPath() == "sync/atomic" && strings.HasPrefix(t.Name(), "Pointer["):
		one.kind, one.typ = toPointer, t.Field(0).Type.Elem() // its first field is a [0]*T
		s.slots = append(s.slots, one)
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		c.addSlots(s, f.Type, offset+f.Offset, join(name, f.Name))
	}
}

// immutable reports whether values of a type refer only to memory that never changes, and may be
// compared by its address.
func immutable(t reflect.Type) bool {
	described := reflect.TypeFor[reflect.Type]()
	return t == reflect.TypeFor[*time.Location]() || t == described || t == reflect.TypeOf(described) ||
		t.Kind() == reflect.Struct && t.PkgPath() == "unique"
}

// outside reports whether a struct stands for something outside the process's memory.
func outside(t reflect.Type) bool {
	switch t.PkgPath() {
	case "internal/poll":
		return true
	case "os":
		return t.Name() == "File" || t.Name() == "Process" || t.Name() == "Root"
	}
	return false
}

// zero reports whether all bytes at a place are zero.
func zero(at unsafe.Pointer, size uintptr) bool {
	for _, b := range unsafe.Slice((*byte)(at), size) {
		if b != 0 {
			return false
		}
	}
	return true
}
