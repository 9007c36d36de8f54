package fault

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// Script is a script of faults at work. It is safe for concurrent use.
type Script struct {
	seed  uint64
	start market.Time
	table api.Table
	over  chan struct{} // closed when the script ends: requests that it delays go on

	mu     sync.Mutex // guards the counters and sequences of faults
	faults []*Rule
}

// Rule is a fault of a script with its counters.
type Rule struct {
	Fault
	endpoints []*api.Endpoint // none: all
	account   int             // as call.account; 0: any
	random    rand.PCG
	chosen    int // requests that its selectors chose
	fired     int // requests, or times, that it struck
}

// NewScript returns a script without faults for the endpoints of a table. Times of its faults count
// from start.
func NewScript(t api.Table, seed uint64, start market.Time) *Script {
	return &Script{seed: seed, start: start, table: t, over: make(chan struct{})}
}

// Add appends a checked fault. account is the account that the fault names; 0: none.
func (s *Script) Add(fault *Fault, account int) *Rule {
	f := &Rule{Fault: *fault, account: account}
	for _, name := range f.Endpoints {
		f.endpoints = append(f.endpoints, s.table.Named(name))
	}
	s.faults = append(s.faults, f)
	f.random.Seed(s.seed, prices.Mix(uint64(len(s.faults)), 0))
	return f
}

// End ends the script: requests that it delays go on.
func (s *Script) End() { close(s.over) }

// Seed returns the seed of the script.
func (s *Script) Seed() uint64 { return s.seed }

// Begins returns the time from which the times of the faults count.
func (s *Script) Begins() market.Time { return s.start }

// MeetsRequests reports whether any fault waits for requests rather than for its time.
func (s *Script) MeetsRequests() bool {
	return slices.ContainsFunc(s.faults, func(f *Rule) bool { return !f.Kind.Scheduled() && !f.Kind.OfSocket() })
}

// Strikes counts that a scheduled fault has struck.
func (s *Script) Strikes(f *Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.fired++
}

// target is a request that the faults of a script may choose.
type target struct {
	front   *api.Door
	visit   *api.Request
	request *http.Request
	path    string // the market that the path names

	key     string // that it names, genuine or not
	account int    // that has the key
	market  string
	known   bool // the three above have been looked up
}

// Choose returns the effect of the script's faults on a request that arrives at a time; nil: none.
// name is the market in its path. The effects on the call are set in the visit.
func (s *Script) Choose(d *api.Door, v *api.Request, r *http.Request, name string, at market.Time) *Decision {
	return s.choose(&target{front: d, visit: v, request: r, path: name}, at)
}

// ChooseAction is Choose for an action of a socket that is authenticated with a key, "" for none.
// The message names the market.
func (s *Script) ChooseAction(v *api.Request, session *api.Session, name string, at market.Time) *Decision {
	return s.choose(&target{visit: v, key: session.Key(), account: session.Account(), market: name, known: true}, at)
}

func (s *Script) choose(one *target, at market.Time) *Decision {
	var all *Decision
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Kind.Scheduled() || f.Kind.OfSocket() || !f.choose(one, at.Sub(s.start)) {
			continue
		}
		if !f.strikes() {
			continue
		}
		if all == nil {
			all = &Decision{Over: s.over}
		}
		if all.take(&f.Fault, &one.visit.Call) {
			f.fired++
		}
	}
	return all
}

// strikes counts a request that the selectors chose, and reports whether the fault strikes it.
func (f *Rule) strikes() bool {
	f.chosen++
	struck := f.Probability == 0 || f.drawn()
	return struck && (f.Nth == 0 || f.chosen == f.Nth) && (f.Count == 0 || f.fired < f.Count)
}

// drawn draws whether the fault strikes.
func (f *Rule) drawn() bool {
	const bits53 = 1 << 53
	return float64(f.random.Uint64()>>11)/bits53 < f.Probability
}

// choose reports whether the fault's selectors choose a request, passed after the script began.
func (f *Rule) choose(one *target, passed market.Duration) bool {
	switch {
	case passed < f.After, f.Until != 0 && passed >= f.Until:
		return false
	case len(f.endpoints) > 0 && !slices.Contains(f.endpoints, one.visit.Endpoint):
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
func (one *target) lookUp() {
	if !one.known {
		one.known = true
		one.key, one.account = one.front.KeyShown(one.request.Header)
		one.market = one.visit.MarketShown(one.path, one.request.URL.RawQuery)
	}
}

// faultReport is a fault of the script with its counts.
type faultReport struct {
	faultText
	Chosen int `json:"chosen"`
	Fired  int `json:"fired"`
}

// ScriptReport is the answer of the endpoints of faults.
type ScriptReport struct {
	Seed   uint64        `json:"seed"`
	Start  int64         `json:"start"` // Unix ms
	Faults []faultReport `json:"faults"`
}

// Report returns the script with the counts of its faults.
func (s *Script) Report() ScriptReport {
	r := ScriptReport{Seed: s.seed, Start: s.start.Millis(), Faults: []faultReport{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		r.Faults = append(r.Faults, faultReport{f.text(), f.chosen, f.fired})
	}
	return r
}
