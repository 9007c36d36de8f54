package sandbox

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/price"
	"github.com/tidemark-trading/tidemark/market"
)

// faultScript is a script of faults at work. It is safe for concurrent use.
type faultScript struct {
	seed  uint64
	start market.Time
	over  chan struct{} // closed when another script takes its place: who waits for the end of a delay goes on

	mu     sync.Mutex // guards the counters and sequences of faults
	faults []*loadedFault
}

// faults are what an exchange has for faults on demand.
type faults struct {
	script    *faultScript
	agenda    faultAgenda
	late      latecomers
	unsettled market.Duration // how much later than usual the fees of fills are told, while somebody's fault makes them
}

// loadedFault is a fault of a script with what it has met so far.
type loadedFault struct {
	Fault
	endpoints []*endpoint // none: all
	listing   *listing    // of a scheduled kind; nil: all
	account   *account    // nil: any
	price     market.Price
	tick      market.Price
	random    rand.PCG
	chosen    int // requests that its selectors chose
	fired     int // requests, or times, that it struck
}

// loadFaults makes a script of faults that begins at start. An error names the fault by its number and the setting.
func (ex *Exchange) loadFaults(faults []Fault, seed uint64, start market.Time) (*faultScript, error) {
	s := &faultScript{seed: seed, start: start, over: make(chan struct{})}
	for i := range faults {
		f := &loadedFault{Fault: faults[i]}
		err := f.check()
		if err == nil {
			err = ex.lookUp(f)
		}
		if err != nil {
			return nil, fmt.Errorf("fault %d: %w", i+1, err)
		}
		f.random.Seed(seed, price.Mix(uint64(i+1), 0))
		s.faults = append(s.faults, f)
	}
	return s, nil
}

// lookUp finds what a fault names.
func (ex *Exchange) lookUp(f *loadedFault) (err error) {
	for _, name := range f.Endpoints {
		f.endpoints = append(f.endpoints, endpointNamed(name))
	}
	if f.Account != "" {
		if f.account = ex.accountNamed(f.Account); f.account == nil {
			return fmt.Errorf("account: there is no %q", f.Account)
		}
	}
	if f.Key != "" && ex.front.keys[f.Key] == nil {
		return fmt.Errorf("key: there is no %q", clip(f.Key))
	}
	if f.Market == "" {
		if f.Price != "" {
			return fmt.Errorf("price: an opening price is that of one market")
		}
		return nil
	}
	m := ex.catalog.MarketNamed(f.Market)
	if m == nil {
		return fmt.Errorf("market: there is no %q", f.Market)
	}
	f.listing = ex.listings[m.ID]
	if f.Price != "" {
		if f.price, err = price.Parse(m, f.Price); err != nil {
			return fmt.Errorf("price: %w", err)
		}
	}
	if f.Tick != "" {
		if f.tick, err = m.ParsePrice(f.Tick); err != nil || f.tick <= 0 {
			return fmt.Errorf("tickSize: %q is not above 0 with at most %d decimals", f.Tick, m.PriceDigits)
		}
	}
	return nil
}

// install puts a script in the place of the one before, whose waiting requests go on at once.
func (ex *Exchange) install(s *faultScript) {
	if ex.script != nil {
		close(ex.script.over)
	}
	ex.script = s
	ex.agenda.plan(s)
	if slices.ContainsFunc(s.faults, func(f *loadedFault) bool { return !f.Kind.scheduled() }) {
		ex.front.script.Store(s)
	} else {
		ex.front.script.Store(nil)
	}
}

// suspect is what faults are asked about: a request before anybody has looked at it.
type suspect struct {
	visit  *visit
	header http.Header
	path   string // the market that the path names
	query  string

	key    *key // that it shows, genuine or not
	market string
	known  bool // key and market have been looked up
}

// choose decides what the script's faults do to a request at a time; nil: nothing.
func (s *faultScript) choose(ex *Exchange, v *visit, r *http.Request, name string, at market.Time) *fate {
	one := suspect{visit: v, header: r.Header, path: name, query: r.URL.RawQuery}
	var all *fate
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Kind.scheduled() || !f.choose(ex, &one, at.Sub(s.start)) {
			continue
		}
		f.chosen++
		struck := f.Probability == 0 || f.drawn()
		if f.Nth != 0 && f.chosen != f.Nth || f.Count != 0 && f.fired >= f.Count || !struck {
			continue
		}
		if all == nil {
			all = &fate{over: s.over}
		}
		if all.take(&f.Fault) {
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
func (f *loadedFault) choose(ex *Exchange, one *suspect, passed market.Duration) bool {
	switch {
	case passed < f.After, f.Until != 0 && passed >= f.Until:
		return false
	case len(f.endpoints) > 0 && !slices.Contains(f.endpoints, one.visit.endpoint):
		return false
	case f.account == nil && f.Key == "" && f.Market == "":
		return true
	}
	one.lookUp(ex)
	switch {
	case f.account != nil && (one.key == nil || one.key.account != f.account):
		return false
	case f.Key != "" && (one.key == nil || one.key.Key.Key != f.Key):
		return false
	}
	return f.Market == "" || f.Market == one.market
}

// lookUp finds the key and the market that a request shows, before either is checked.
func (one *suspect) lookUp(ex *Exchange) {
	if one.known {
		return
	}
	one.known = true
	for i := range ex.front.credentials {
		if shown := one.header[ex.front.credentials[i].key]; len(shown) > 0 {
			one.key = ex.front.keys[shown[0]]
			break
		}
	}
	switch {
	case one.path != "":
		one.market = one.path
	case one.visit.endpoint.inBody():
		s := scan(one.visit.body)
		for s.Object(); s.Member(); {
			if string(s.Name()) == "market" && s.Peek() == '"' {
				one.market = string(s.Token())
				continue
			}
			s.Discard()
		}
	default:
		for pair := range strings.SplitSeq(one.query, "&") {
			if value, ok := strings.CutPrefix(pair, "market="); ok {
				one.market, _ = unescape(value)
			}
		}
	}
}
