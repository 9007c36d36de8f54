package replica

import (
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

// sliceHeader is a slice in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// visit notes the memory to which the value at an address refers. entry is the piece of memory that
// contains the value; part is the value's name in it.
func (c *Copier) visit(at unsafe.Pointer, s *shape, entry int, part string) {
	for i := range s.slots {
		f := &s.slots[i]
		p, name := unsafe.Add(at, f.offset), join(part, f.name)
		switch f.kind {
		case toPointer:
			if q := *(*unsafe.Pointer)(p); q != nil {
				c.reach(q, c.shapeOf(f.typ.Elem()), 1, entry, name)
			}
		case toSlice:
			h := (*sliceHeader)(p)
			c.reach(h.data, c.shapeOf(f.typ.Elem()), h.cap, entry, name)
		case toMap:
			c.visitMap(reflect.NewAt(f.typ, p).Elem(), entry, name)
		case toInterface:
			if v := reflect.NewAt(f.typ, p).Elem(); !v.IsNil() {
				c.visitValue(v.Elem(), entry, name)
			}
		case toArray:
			for j := range f.part.length {
				c.visit(unsafe.Add(p, uintptr(j)*f.part.element.size), f.part.element, entry, name)
			}
		case toFunction, mustBeNil, mustBeIdle, cannot:
			if why := c.objection(p, f); why != "" {
				c.refuse(entry, name, why)
			}
		}
	}
}

// visitMap notes a map and the memory to which its keys and values refer.
func (c *Copier) visitMap(m reflect.Value, entry int, name string) {
	if m.IsNil() {
		return
	}
	_, known := c.maps[m.Pointer()]
	if _, shared := c.sharedMaps[m.Pointer()]; known || shared {
		return
	}
	c.maps[m.Pointer()] = pair{old: m}
	key, value := c.shapeOf(m.Type().Key()), c.shapeOf(m.Type().Elem())
	if key.slots == nil && value.slots == nil {
		return
	}
	for all := m.MapRange(); all.Next() && c.refusal == nil; {
		c.visitValue(all.Key(), entry, name)
		c.visitValue(all.Value(), entry, name)
	}
}

// visitValue notes the memory to which a value refers that has no address of its own: inside an
// interface or a map.
func (c *Copier) visitValue(v reflect.Value, entry int, name string) {
	s := c.shapeOf(v.Type())
	if s.slots == nil {
		return
	}
	if v.Kind() == reflect.Pointer {
		c.reach(v.UnsafePointer(), c.shapeOf(v.Type().Elem()), 1, entry, name+"("+v.Type().String()+")")
		return
	}
	own := reflect.New(v.Type())
	own.Elem().Set(v)
	c.visit(own.UnsafePointer(), s, entry, name)
}

// redirect makes the references of a copied value refer to the copy.
func (c *Copier) redirect(at unsafe.Pointer, s *shape) {
	for i := range s.slots {
		f := &s.slots[i]
		p := unsafe.Add(at, f.offset)
		switch f.kind {
		case toPointer:
			q := (*unsafe.Pointer)(p)
			*q = c.moved(*q)
		case toSlice:
			h := (*sliceHeader)(p)
			h.data = c.moved(h.data)
		case toMap:
			if m := reflect.NewAt(f.typ, p).Elem(); !m.IsNil() {
				m.Set(c.mapOf(m))
			}
		case toInterface, toError:
			if v := reflect.NewAt(f.typ, p).Elem(); !v.IsNil() &&
				(f.kind == toInterface || v.Elem().Kind() == reflect.Pointer) {
				v.Set(c.valueOf(v.Elem()))
			}
		case toArray:
			for j := range f.part.length {
				c.redirect(unsafe.Add(p, uintptr(j)*f.part.element.size), f.part.element)
			}
		}
	}
}

// valueOf is the copy of a value inside an interface or a map.
func (c *Copier) valueOf(v reflect.Value) reflect.Value {
	s := c.shapeOf(v.Type())
	if s.slots == nil {
		return v
	}
	own := reflect.New(v.Type())
	own.Elem().Set(v)
	c.redirect(own.UnsafePointer(), s)
	return own.Elem()
}

// mapOf is the copy of a map; a shared one is the same.
func (c *Copier) mapOf(m reflect.Value) reflect.Value {
	if found, is := c.maps[m.Pointer()]; is {
		return found.copy.Convert(m.Type())
	}
	return m
}

// objection says why a value cannot be copied; "": it can.
func (c *Copier) objection(at unsafe.Pointer, f *slot) string {
	switch f.kind {
	case toFunction:
		function := *(*unsafe.Pointer)(at)
		if function == nil || c.functions[function] {
			return ""
		}
		v := reflect.NewAt(f.typ, at).Elem()
		if name := runtime.FuncForPC(v.Pointer()).Name(); !stateless(name) {
			return "is a function that may hold variables (" + name + ")"
		}
	case mustBeNil:
		if *(*unsafe.Pointer)(at) != nil && f.typ.Kind() == reflect.Chan {
			return "is a channel"
		} else if *(*unsafe.Pointer)(at) != nil {
			return "is an unsafe.Pointer"
		}
	case mustBeIdle:
		if !zero(at, f.size) {
			return "is a " + f.typ.String() + " in use"
		}
	case cannot:
		return "is a " + f.typ.String()
	}
	return ""
}

// stateless reports whether a function holds no variables, by its name: a function or a method of a
// package, not a literal, not a method bound to its receiver, none made by package reflect.
func stateless(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	return !strings.Contains(name, ".func") && !strings.HasSuffix(name, "-fm") && !strings.Contains(name, "[") &&
		!strings.HasPrefix(name, "reflect.") && !strings.HasPrefix(name, "glob.")
}

// join is the path of a field of a value.
func join(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// refuse notes why the graph cannot be copied, with the way to the place.
func (c *Copier) refuse(entry int, name, why string) {
	if c.refusal != nil || c.lenient {
		return
	}
	path := name
	for i := entry; i >= 0; i = c.entries[i].from {
		path = join(c.entries[i].label, path)
	}
	c.refusal = &Refusal{Path: path, Why: why}
}
