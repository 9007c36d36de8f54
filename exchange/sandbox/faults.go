package sandbox

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// faults is an exchange's data for faults on demand.
type faults struct {
	script *loadedScript
	// the script, where faults of it wait for requests; read without the lock
	requestFaults atomic.Pointer[fault.Script]
	socketFaults  atomic.Pointer[fault.Script] // likewise of sockets
	upcoming      faultSchedule
	late          lateOrders
	// added to the settlement of fills, while a request with a fault lateSettlement is carried out
	settleLater market.Duration
}

// loadedScript is a script with its scheduled faults.
type loadedScript struct {
	*fault.Script
	scheduled []*scheduledFault
}

// scheduledFault is a fault that waits for its time, with the objects that it names.
type scheduledFault struct {
	*fault.Rule
	scope faultScope
	over  bool // it is the end of the fault
}

// faultScope are the objects that a fault names.
type faultScope struct {
	listing *listing // nil: all
	account *account // nil: any
	price   market.Price
	tick    market.Price
}

// ParseFaults reads a script of faults in TOML: one table [[faults]] for each, in the order in
// which they are asked. An error names the fault by its number, from 1, and the key. Markets,
// accounts and keys are looked up by New.
func ParseFaults(text []byte) ([]fault.Fault, error) { return fault.Parse(text, isEndpoint) }

// isEndpoint reports whether a name like "GET /{market}/book" is that of an endpoint.
func isEndpoint(name string) bool {
	return slices.ContainsFunc(endpoints, func(row endpointRow) bool { return row.Name() == name })
}

// loadFaults makes a script of faults that begins at start. An error names the fault by its number
// and the setting.
func (ex *Exchange) loadFaults(faults []fault.Fault, seed uint64, start market.Time) (*loadedScript, error) {
	s := &loadedScript{Script: fault.NewScript(ex.door.Table, seed, start)}
	for i := range faults {
		f := &faults[i]
		var scope faultScope
		err := f.Check(isEndpoint)
		if err == nil {
			scope, err = ex.scopeOf(f)
		}
		if err != nil {
			return nil, fmt.Errorf("fault %d: %w", i+1, err)
		}
		if loaded := s.Add(f, scope.account.place()); f.Kind.Scheduled() {
			s.scheduled = append(s.scheduled, &scheduledFault{Rule: loaded, scope: scope})
		}
	}
	return s, nil
}

// scopeOf finds the objects that a fault names.
func (ex *Exchange) scopeOf(f *fault.Fault) (scope faultScope, err error) {
	if f.Account != "" {
		if scope.account = ex.accounts.named(f.Account); scope.account == nil {
			return scope, fmt.Errorf("account: there is no %q", f.Account)
		}
	}
	if f.Key != "" && !ex.door.HasKey(f.Key) {
		return scope, fmt.Errorf("key: there is no %q", api.Clip(f.Key))
	}
	if f.Market == "" {
		if f.Price != "" {
			return scope, fmt.Errorf("price: an opening price is that of one market")
		}
		return scope, nil
	}
	m := ex.catalog.MarketNamed(f.Market)
	if m == nil {
		return scope, fmt.Errorf("market: there is no %q", f.Market)
	}
	scope.listing = ex.listings[m.ID]
	if f.Price != "" {
		if scope.price, err = prices.Parse(m, f.Price); err != nil {
			return scope, fmt.Errorf("price: %w", err)
		}
	}
	if f.Tick != "" {
		if scope.tick, err = m.ParsePrice(f.Tick); err != nil || scope.tick <= 0 {
			return scope, fmt.Errorf("tickSize: %q is not above 0 with at most %d decimals", f.Tick, m.PriceDigits)
		}
	}
	return scope, nil
}

// install replaces the script. Requests that the old one delays go on at once.
func (ex *Exchange) install(s *loadedScript) {
	if ex.script != nil {
		ex.script.End()
	}
	ex.script = s
	ex.upcoming.plan(s)
	var requests, sockets *fault.Script
	if s.MeetsRequests() {
		requests = s.Script
	}
	if s.MeetsSockets() {
		sockets = s.Script
	}
	ex.requestFaults.Store(requests)
	ex.socketFaults.Store(sockets)
}
