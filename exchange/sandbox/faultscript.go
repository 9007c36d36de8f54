package sandbox

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/price"
	"github.com/tidemark-trading/tidemark/market"
)

// faultScript is a script of faults at work. It is safe for concurrent use.
type faultScript struct {
	seed  uint64
	start market.Time
	table table
	over  chan struct{} // closed when the script ends: requests that it delays go on

	mu     sync.Mutex // guards the counters and sequences of faults
	faults []*loadedFault
}

// loadedFault is a fault of a script with its counters.
type loadedFault struct {
	Fault
	endpoints []*endpoint // none: all
	account   int         // as call.account; 0: any
	random    rand.PCG
	chosen    int // requests that its selectors chose
	fired     int // requests, or times, that it struck
}

// newFaultScript returns a script without faults for the endpoints of a table. Times of its faults count from start.
func newFaultScript(t table, seed uint64, start market.Time) *faultScript {
	return &faultScript{seed: seed, start: start, table: t, over: make(chan struct{})}
}

// add appends a fault that has been checked. account is the one that it names; 0: none.
func (s *faultScript) add(fault *Fault, account int) *loadedFault {
	f := &loadedFault{Fault: *fault, account: account}
	for _, name := range f.Endpoints {
		f.endpoints = append(f.endpoints, s.table.named(name))
	}
	s.faults = append(s.faults, f)
	f.random.Seed(s.seed, price.Mix(uint64(len(s.faults)), 0))
	return f
}

// end ends the script: requests that it delays go on.
func (s *faultScript) end() { close(s.over) }

// begins returns the time from which the times of the faults count.
func (s *faultScript) begins() market.Time { return s.start }

// meetsRequests reports whether any fault waits for requests rather than for its time.
func (s *faultScript) meetsRequests() bool {
	return slices.ContainsFunc(s.faults, func(f *loadedFault) bool { return !f.Kind.scheduled() })
}

// strikes counts that a scheduled fault has struck.
func (s *faultScript) strikes(f *loadedFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.fired++
}

// faultTarget is a request that the faults of a script may choose.
type faultTarget struct {
	front   *front
	visit   *visit
	request *http.Request
	path    string // the market that the path names

	key     string // that it names, genuine or not
	account int    // that has the key
	market  string
	known   bool // the three above have been looked up
}

// choose decides what the script's faults do to a request that arrives at a time; nil: nothing. name is the market in its path. The
// effects on the call are in the visit then.
func (s *faultScript) choose(d *front, v *visit, r *http.Request, name string, at market.Time) *decision {
	one := faultTarget{front: d, visit: v, request: r, path: name}
	var all *decision
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Kind.scheduled() || !f.choose(&one, at.Sub(s.start)) {
			continue
		}
		f.chosen++
		struck := f.Probability == 0 || f.drawn()
		if f.Nth != 0 && f.chosen != f.Nth || f.Count != 0 && f.fired >= f.Count || !struck {
			continue
		}
		if all == nil {
			all = &decision{over: s.over}
		}
		if all.take(&f.Fault, &v.call) {
			f.fired++
		}
	}
	return all
}

// drawn draws whether the fault strikes.
func (f *loadedFault) drawn() bool {
	const bits53 = 1 << 53
	return float64(f.random.Uint64()>>11)/bits53 < f.Probability
}

// choose reports whether the fault's selectors choose a request, passed after the script began.
func (f *loadedFault) choose(one *faultTarget, passed market.Duration) bool {
	switch {
	case passed < f.After, f.Until != 0 && passed >= f.Until:
		return false
	case len(f.endpoints) > 0 && !slices.Contains(f.endpoints, one.visit.endpoint):
		return false
	case f.account == 0 && f.Key == "" && f.Market == "":
		return true
	}
	one.lookUp()
	switch {
	case f.account != 0 && f.account != one.account, f.Key != "" && f.Key != one.key:
		return false
	}
	return f.Market == "" || f.Market == one.market
}

// lookUp finds the key and the market that a request shows, before either is checked.
func (one *faultTarget) lookUp() {
	if !one.known {
		one.known = true
		one.key, one.account = one.front.keyShown(one.request.Header)
		one.market = one.visit.marketShown(one.path, one.request.URL.RawQuery)
	}
}

// faultReport is a fault of the script at work with what it has met.
type faultReport struct {
	faultText
	Chosen int `json:"chosen"`
	Fired  int `json:"fired"`
}

// scriptReport is the answer of the endpoints of faults.
type scriptReport struct {
	Seed   uint64        `json:"seed"`
	Start  int64         `json:"start"` // Unix ms
	Faults []faultReport `json:"faults"`
}

// report writes down a script with what it has met so far.
func (s *faultScript) report() scriptReport {
	r := scriptReport{Seed: s.seed, Start: s.start.Millis(), Faults: []faultReport{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		r.Faults = append(r.Faults, faultReport{f.text(), f.chosen, f.fired})
	}
	return r
}
