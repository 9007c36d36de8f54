package sandbox

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"sync"

	"github.com/tidemark-trading/tidemark/market"
)

// defaultPrefix is the brand of the headers where the config names none.
const defaultPrefix = "Service"

// front is the HTTP side of an exchange: it finds the endpoint of a request, checks its signature and its parameters, charges its
// weight, and writes the headers of its answer. It is safe for concurrent use.
type front struct {
	table            table
	catalog          *market.Catalog
	credentials      []credentialHeaders // by prefix
	budget           budgetHeaders
	keys             map[string]*key
	limiter          *limiter
	strict           bool
	operatorOptional bool
	visits           sync.Pool
	describe         sync.Once
	description      []byte
}

// frontConfig is what a front is made of.
type frontConfig struct {
	Table            table
	Catalog          *market.Catalog
	Prefixes         []string // brands of the headers; all are understood, the first is answered with; none: "Service"
	Budget           Budget
	Keys             []accountKeys // by account
	Strict           bool          // requests are signed exactly as they are sent, and have a Content-Type
	OperatorOptional bool          // DELETE needs no operatorId
}

// accountKeys are the keys of one account.
type accountKeys struct {
	Name string // of the account
	Keys []Key
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

// newFront makes the HTTP side of an exchange. An error names the account whose key is wrong.
func newFront(config *frontConfig) (*front, error) {
	prefixes := config.Prefixes
	if len(prefixes) == 0 {
		prefixes = []string{defaultPrefix}
	}
	f := &front{
		table: config.Table, catalog: config.Catalog, budget: budgetHeadersOf(prefixes[0]), keys: map[string]*key{}, limiter: newLimiter(config.Budget),
		strict: config.Strict, operatorOptional: config.OperatorOptional,
	}
	for _, prefix := range prefixes {
		f.credentials = append(f.credentials, credentialHeadersOf(prefix))
	}
	for i := range config.Keys {
		if err := f.addKeys(i+1, &config.Keys[i], &config.Budget); err != nil {
			return nil, err
		}
	}
	f.visits.New = func() any { return &visit{sum: make([]byte, 0, sha256.Size)} }
	return f, nil
}

// addKeys adds the keys of an account.
func (f *front) addKeys(account int, a *accountKeys, budget *Budget) error {
	for i := range a.Keys {
		k, err := newKey(&a.Keys[i], account, a.Name, points(budget.PerKey, defaultBudget))
		if err != nil {
			return err
		}
		if f.keys[k.Key.Key] != nil {
			return fmt.Errorf("account %s has a key that another key equals", a.Name)
		}
		f.keys[k.Key.Key] = k
		if budget.PerAccount {
			k.payer = f.keys[a.Keys[0].Key]
		}
	}
	return nil
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
