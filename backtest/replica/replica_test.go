package replica_test

import (
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/backtest/replica"
)

// world is a graph with every kind of reference.
type world struct {
	all   []*node
	array []node
	later []*part
}

type node struct {
	number int
	parts  []part
	fixed  [2]part
	pairs  [][2]*part

	next   *node
	count  *int
	part   *part
	view   []part
	name   map[string]*node
	known  map[*node]int
	value  any
	atomic atomic.Pointer[node]
	err    error
	text   string
	once   sync.Once
	lock   sync.Mutex
	zone   *time.Location
	visit  func(int) int
	empty  *struct{}
}

type part struct {
	number int
	owner  *node
}

func double(n int) int { return 2 * n }

// worlds draws a graph. Half of the nodes stand in one array, and every reference may lead
// anywhere, into the middle of a node or of its arrays too.
func worlds(t *rapid.T) *world {
	w := &world{array: make([]node, rapid.IntRange(0, 6).Draw(t, "array"))}
	for i := range w.array {
		w.all = append(w.all, &w.array[i])
	}
	for range rapid.IntRange(1, 6).Draw(t, "single") {
		w.all = append(w.all, &node{})
	}
	some := func() *node { return w.all[rapid.IntRange(0, len(w.all)-1).Draw(t, "node")] }
	for i, n := range w.all {
		n.number, n.text = i, strings.Repeat("x", i)
		n.parts = make([]part, rapid.IntRange(0, 4).Draw(t, "parts"), 5)
	}
	somePart := func() *part {
		n := some()
		if i := rapid.IntRange(0, len(n.parts)+1).Draw(t, "part"); i < len(n.parts) {
			return &n.parts[i]
		}
		return &n.fixed[rapid.IntRange(0, 1).Draw(t, "fixed")]
	}
	for _, n := range w.all {
		n.next, n.part, n.count = some(), somePart(), &some().number
		if rapid.Bool().Draw(t, "count of a part") {
			n.count = &somePart().number
		}
		n.fixed[0].owner = some()
		n.atomic.Store(some())
		other := some()
		from := rapid.IntRange(0, len(other.parts)).Draw(t, "from")
		n.view = other.parts[from:]
		if rapid.Bool().Draw(t, "view of an array") {
			n.view = other.fixed[rapid.IntRange(0, 1).Draw(t, "from"):]
		}
		n.name, n.known = map[string]*node{"a": some(), "b": some()}, map[*node]int{some(): 1, some(): 2}
		if rapid.Bool().Draw(t, "shared map") {
			n.name, n.known = other.name, other.known
		}
		n.value = rapid.SampledFrom([]any{nil, 7, "text", part{1, some()}, somePart(), n.parts, n.known,
			[]any{some(), 3}, [1]*node{some()}, double, struct{}{}}).Draw(t, "value")
		n.pairs = [][2]*part{{somePart(), nil}, {somePart(), somePart()}}
		n.err, n.zone, n.visit, n.empty = io.EOF, time.UTC, double, &struct{}{}
		n.once.Do(func() {})
	}
	for range rapid.IntRange(0, 3).Draw(t, "later") {
		w.later = append(w.later, somePart())
	}
	return w
}

// twin walks two graphs side by side, with neither plan nor cache, and compares them: each number
// of one has its own number at the same place in the other.
type twin struct {
	t      require.TestingT
	to, of map[uintptr]uintptr
	seen   map[reflect.Type]map[uintptr]bool
	maps   [][2]reflect.Value // to compare once the nodes of their keys are known
	nodes  map[uintptr]reflect.Value
}

func (w *twin) same(a, b reflect.Value) {
	require.Equal(w.t, a.Type(), b.Type())
	if a.CanAddr() && a.Type().Size() > 0 {
		if w.seen[a.Type()] == nil {
			w.seen[a.Type()] = map[uintptr]bool{}
		}
		if w.seen[a.Type()][a.UnsafeAddr()] {
			return
		}
		w.seen[a.Type()][a.UnsafeAddr()] = true
	}
	switch a.Kind() {
	case reflect.Int:
		require.Equal(w.t, a.Int(), b.Int())
		if a.CanAddr() {
			w.pair(a.UnsafeAddr(), b.UnsafeAddr())
		}
	case reflect.Pointer:
		require.Equal(w.t, a.IsNil(), b.IsNil())
		switch {
		case a.Type() == reflect.TypeFor[*time.Location]() || a.Type() == reflect.TypeOf(io.EOF):
			require.Equal(w.t, a.Pointer(), b.Pointer())
		case !a.IsNil():
			if a.Type().Elem().Size() > 0 {
				w.pair(a.Pointer(), b.Pointer())
			}
			if a.Type() == reflect.TypeFor[*node]() {
				w.nodes[a.Pointer()] = b
			}
			w.same(a.Elem(), b.Elem())
		}
	case reflect.Interface:
		require.Equal(w.t, a.IsNil(), b.IsNil())
		if !a.IsNil() {
			w.same(addressable(a.Elem()), addressable(b.Elem()))
		}
	case reflect.Slice:
		require.Equal(w.t, []int{a.Len(), a.Cap()}, []int{b.Len(), b.Cap()})
		for i := range a.Cap() {
			w.same(a.Slice(0, a.Cap()).Index(i), b.Slice(0, b.Cap()).Index(i))
		}
	case reflect.Array:
		for i := range a.Len() {
			w.same(open(a.Index(i)), open(b.Index(i)))
		}
	case reflect.Map:
		w.maps = append(w.maps, [2]reflect.Value{a, b})
	case reflect.Struct:
		if strings.HasPrefix(a.Type().String(), "atomic.Pointer[") {
			w.same(reflect.ValueOf(a.Addr().Interface().(*atomic.Pointer[node]).Load()),
				reflect.ValueOf(b.Addr().Interface().(*atomic.Pointer[node]).Load()))
			return
		}
		for i := range a.NumField() {
			w.same(open(a.Field(i)), open(b.Field(i)))
		}
	case reflect.Func:
		require.Equal(w.t, a.Pointer(), b.Pointer())
	default:
		require.Equal(w.t, a.Interface(), b.Interface())
	}
}

// sameMap compares maps by the keys that belong together.
func (w *twin) sameMap(a, b reflect.Value) {
	require.Equal(w.t, a.Len(), b.Len())
	if a.IsNil() {
		return
	}
	w.pair(a.Pointer(), b.Pointer())
	for all := a.MapRange(); all.Next(); {
		key := all.Key()
		if key.Kind() == reflect.Pointer {
			key = w.nodes[key.Pointer()]
		}
		require.True(w.t, b.MapIndex(key).IsValid())
		w.same(addressable(all.Value()), addressable(b.MapIndex(key)))
	}
}

func (w *twin) pair(a, b uintptr) {
	require.NotEqual(w.t, a, b, "original and copy share memory")
	if known, is := w.to[a]; is {
		require.Equal(w.t, known, b, "two references to one place lead to two places of the copy")
	}
	if known, is := w.of[b]; is {
		require.Equal(w.t, known, a, "two places became one")
	}
	w.to[a], w.of[b] = b, a
}

func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// addressable is a value that reflect lets be read; its own address means nothing.
func addressable(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Int || v.Kind() == reflect.String {
		return reflect.ValueOf(v.Interface())
	}
	own := reflect.New(v.Type()).Elem()
	own.Set(v)
	return own
}

func TestACopyHasTheShapeOfTheOriginal(t *testing.T) {
	copier := replica.New(replica.Rules{})
	rapid.Check(t, func(t *rapid.T) {
		w := worlds(t)
		copied, err := replica.Of(copier, w)
		require.NoError(t, err)
		both := &twin{t: t, to: map[uintptr]uintptr{}, of: map[uintptr]uintptr{},
			seen: map[reflect.Type]map[uintptr]bool{}, nodes: map[uintptr]reflect.Value{}}
		both.same(reflect.ValueOf(w).Elem(), reflect.ValueOf(copied).Elem())
		for i := 0; i < len(both.maps); i++ {
			both.sameMap(both.maps[i][0], both.maps[i][1])
		}
		for a := range both.to {
			_, is := both.of[a]
			require.False(t, is, "memory of the original is part of the copy")
		}
	})
}

func TestWhatCannotBeCopiedIsNamedWithItsPlace(t *testing.T) {
	counter := 0
	bound := &node{}
	for want, value := range map[string]any{
		"holder.value is a channel":                               make(chan int),
		"holder.value(*os.File) is a os.File":                     os.Stderr,
		"holder.value(*sync.Mutex) is a sync.Mutex in use":        locked(),
		"holder.value(*replica_test.part).owner.lock is a sync.M": &part{owner: lockedNode()},
		"holder.value is a function that may hold variables (":    func() int { counter++; return counter },
		"holder.value is a function that may hold variables (git": bound.method,
		"holder.value is an unsafe.Pointer":                       unsafe.Pointer(&counter),
		"holder.value(*time.Timer).C is a channel":                time.NewTimer(time.Hour),
		"holder.value(*sync.Cond) is a sync.Cond in use":          sync.NewCond(&sync.Mutex{}),
	} {
		_, err := replica.Of(replica.New(replica.Rules{}), &holder{value: value})
		var refusal *replica.Refusal
		require.ErrorAs(t, err, &refusal, "%T", value)
		require.Contains(t, err.Error()+strings.Repeat(" ", len(want)), want)
	}
}

type holder struct{ value any }

func (n *node) method() {}

func locked() *sync.Mutex {
	m := &sync.Mutex{}
	m.Lock()
	return m
}

func lockedNode() *node {
	n := &node{}
	n.lock.Lock()
	return n
}

func TestRulesShareWhatTheyName(t *testing.T) {
	shared := &node{number: 1, parts: make([]part, 3), name: map[string]*node{}}
	opaque := &world{}
	count := 0
	function := func() { count++ }
	root := &struct {
		shared *node
		inside *part
		name   map[string]*node
		opaque *world
		call   func()
		own    *node
	}{shared, &shared.parts[1], shared.name, opaque, function, &node{next: shared}}
	copied, err := replica.Of(replica.New(replica.Rules{Shared: []any{shared},
		Opaque: []reflect.Type{reflect.TypeFor[*world]()}, Functions: []any{function}}), root)
	require.NoError(t, err)
	require.Same(t, shared, copied.shared)
	require.Same(t, &shared.parts[1], copied.inside)
	require.Same(t, opaque, copied.opaque)
	require.NotSame(t, root.own, copied.own)
	require.Same(t, shared, copied.own.next)
	copied.name["new"] = nil
	require.Len(t, shared.name, 1)
	copied.call()
	require.Equal(t, 1, count)
}

func TestAnErrorIsCopiedOnlyWithItsOwner(t *testing.T) {
	type owner struct {
		refusal replica.Refusal
		last    error
		other   error
	}
	own := &owner{other: errors.New("sentinel")}
	own.last = &own.refusal
	copied, err := replica.Of(replica.New(replica.Rules{}), own)
	require.NoError(t, err)
	require.Same(t, &copied.refusal, copied.last)
	require.Same(t, own.other, copied.other)
}

func TestACopyHasBounds(t *testing.T) {
	var list *node
	for range 1000 {
		list = &node{next: list}
	}
	_, err := replica.Of(replica.New(replica.Rules{Objects: 1001}), list)
	require.NoError(t, err)
	_, err = replica.Of(replica.New(replica.Rules{Objects: 900}), list)
	require.ErrorContains(t, err, "too much to copy")
	_, err = replica.Of(replica.New(replica.Rules{Bytes: 10_000}), list)
	require.ErrorContains(t, err, "too much to copy")
}
