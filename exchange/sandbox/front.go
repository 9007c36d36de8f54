package sandbox

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
)

// defaultPrefix is the brand of the headers where the config names none.
const defaultPrefix = "Service"

// front is the HTTP side of an exchange: which headers it reads and writes, whom it lets in, what a request costs. It is safe for
// concurrent use once it is made; what may be nil below is set before the first request.
type front struct {
	credentials []credentialHeaders // by prefix
	budget      budgetHeaders
	keys        map[string]*key
	limiter     *limiter
	rules       Rules
	visits      sync.Pool
	describe    sync.Once
	description []byte

	// script has the faults that requests meet; nil: there are none. It may change at any time.
	script atomic.Pointer[faultScript]
	// mishap hears of a panic in a handler, which is answered with 500 and code 101.
	mishap func(value any)
}

// visit is what one request needs while it is served. It goes back to a pool: an endpoint keeps neither the call nor its out. The texts of
// arguments are parts of the whole query or body; clone what is to be kept for long.
type visit struct {
	call
	key   *key // nil: none was shown, or it was not genuine
	peer  netip.Addr
	body  []byte
	bill  bill
	shown credentials

	message   []byte // what is signed
	compact   bytes.Buffer
	signature [sha256.Size]byte
	sum       []byte
}

// newFront makes the HTTP side of an exchange with its accounts.
func newFront(config *Config, accounts []*account) (*front, error) {
	prefixes := config.Prefixes
	if len(prefixes) == 0 {
		prefixes = []string{defaultPrefix}
	}
	f := &front{budget: budgetHeadersOf(prefixes[0]), keys: map[string]*key{}, limiter: newLimiter(config.Budget), rules: config.Rules}
	for _, prefix := range prefixes {
		f.credentials = append(f.credentials, credentialHeadersOf(prefix))
	}
	perKey := points(config.Budget.PerKey, defaultBudget)
	for _, a := range accounts {
		for i := range a.config.Keys {
			k, err := newKey(&a.config.Keys[i], a, perKey)
			if err != nil {
				return nil, err
			}
			if f.keys[k.Key.Key] != nil {
				return nil, fmt.Errorf("account %s has a key that another key equals", a.name)
			}
			f.keys[k.Key.Key] = k
			if config.Budget.PerAccount {
				k.payer = f.keys[a.config.Keys[0].Key]
			}
		}
	}
	f.visits.New = func() any { return &visit{sum: make([]byte, 0, sha256.Size)} }
	return f, nil
}

// largest is how much room for an answer or a body a visit keeps for the next one.
const largest = 1 << 18

// enter takes a visit from the pool.
func (f *front) enter() *visit { return f.visits.Get().(*visit) }

// leave gives a visit back. What the request and its answer consisted of must be gone from it.
func (f *front) leave(v *visit) {
	clear(v.args)
	v.call = call{args: v.args[:0], out: v.out[:0]}
	v.key, v.body, v.message, v.shown, v.bill = nil, v.body[:0], v.message[:0], credentials{}, bill{}
	if cap(v.out) <= largest {
		f.visits.Put(v)
	}
}
