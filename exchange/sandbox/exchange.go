package sandbox

import (
	"math"
	"sync"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// Exchange is a simulated exchange: an http.Handler with the API of the specification. It is safe
// for concurrent use.
type Exchange struct {
	config  Config
	catalog *market.Catalog
	clock   *Clock
	door    *api.Door
	// called when a handler panics, which is answered with 500 and code 101; nil: nothing is called
	onPanic    func(value any)
	adminTable api.Table

	mu       sync.Mutex // guards everything below
	venue    *sim.Venue
	accounts accounts
	bank     *bank
	listings []*listing // by market.ID
	schedule []scheduled
	reached  market.Time // everything due up to then has happened
	failed   error       // the first error of a source or the venue
	store    *store      // nil: nothing is kept
	depth    depth       // scratch
	bars     []bar       // scratch
	trading
	faults
	streams streams
}

// account is one client: its orders, its transfers.
type account struct {
	id     sim.AccountID
	name   string
	config *Account
	marked bool // as changed since the store's last write
	transfers
	orders []*records // by market.ID
}

// accounts are the clients of an exchange, by sim.AccountID.
type accounts []*account

// caller returns the account whose key a call shows. The call's endpoint must not be public.
func (all accounts) caller(c *api.Call) *account { return all[c.Account-1] }

// named returns the account of a name, or nil.
func (all accounts) named(name string) *account {
	for _, a := range all {
		if a.name == name {
			return a
		}
	}
	return nil
}

// place returns the account's place in Config.Accounts, from 1; 0 for nil.
func (a *account) place() int {
	if a == nil {
		return 0
	}
	return int(a.id) + 1
}

// listing is the exchange's data of a market beside its book at the venue.
type listing struct {
	*market.Market
	config *Market
	publicData
	stream followed
	text   bookText
	orders market.Index[record] // by their place in the market, which orderId names
}

// never is when nothing more is due.
const never = market.Time(math.MaxInt64)

// scheduled is something that the exchange's clock makes due.
type scheduled interface {
	due() market.Time   // the time of the next event; never: there is none
	run(at market.Time) // carries out one event that is due at at
}

// advance carries out all events due up to now, in the order of their times; at one instant, in the
// order of ex.schedule.
func (ex *Exchange) advance(now market.Time) {
	for {
		at, next := never, scheduled(nil)
		for _, d := range ex.schedule {
			if due := d.due(); due < at {
				at, next = due, d
			}
		}
		if next == nil || at > now {
			break
		}
		next.run(at)
		ex.reached = max(ex.reached, at)
	}
	ex.reached = max(ex.reached, now)
	ex.showTakers()
}
