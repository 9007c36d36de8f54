package host

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// The bounds of wrong secrets.
const (
	MaxTries    = 10 // of one address within TriesFor
	MaxTriesAll = 100
	TriesFor    = time.Minute
)

// Tries are the wrong secrets of the last TriesFor, of a token or of a signal. Its zero value has
// none.
type Tries struct {
	mu   sync.Mutex
	list []wrongTry
}

// wrongTry is a wrong secret.
type wrongTry struct {
	at   time.Time
	from netip.Prefix
}

// Take calls right unless there were too many wrong secrets, and counts a wrong one. closed says
// that there were too many.
func (t *Tries) Take(now time.Time, from netip.Addr, right func() bool) (closed, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = slices.DeleteFunc(t.list, func(w wrongTry) bool { return now.Sub(w.at) >= TriesFor })
	place, own := PlaceOf(from), 0
	for _, w := range t.list {
		if w.from == place {
			own++
		}
	}
	if own >= MaxTries || len(t.list) >= MaxTriesAll {
		return true, false
	}
	if ok = right(); !ok {
		t.list = append(t.list, wrongTry{now, place})
	}
	return false, ok
}

// PlaceOf is the address, of IPv6 the network of it: one machine has all addresses of a /64.
func PlaceOf(from netip.Addr) netip.Prefix {
	from = from.Unmap().WithZone("")
	bits := from.BitLen()
	if from.Is6() {
		bits = 64
	}
	place, err := from.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // an address that is none: all of them are one place
	}
	return place
}
