// Package api is the HTTP side of the simulated exchange: it finds the endpoint of a request,
// checks signature and parameters, charges weight points, and describes its endpoints as OpenAPI.
// It never carries out a request and takes no lock of the exchange: each endpoint has a function
// for that. Start at Door; exchange/sandbox/serve.go shows a request's way through it.
package api

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/tidemark-trading/tidemark/market"
)

// defaultPrefix is the brand of the headers where the config names none.
const defaultPrefix = "Service"

// Door is the HTTP side of an exchange. It is safe for concurrent use.
type Door struct {
	Table            Table // the endpoints of the API
	catalog          *market.Catalog
	credentials      []credentialHeaders // by prefix
	budget           budgetHeaders
	keys             map[string]*activeKey
	limiter          *limiter
	strict           bool
	operatorOptional bool
	requests         sync.Pool
	describe         sync.Once
	description      []byte
}

// Config has the settings of a Door.
type Config struct {
	Table            Table
	Catalog          *market.Catalog
	Prefixes         []string // brands of the headers; all are understood, the first is answered with; none: "Service"
	Budget           Budget
	Keys             []AccountKeys // by account
	Strict           bool          // requests are signed exactly as they are sent, and have a Content-Type
	OperatorOptional bool          // DELETE needs no operatorId
}

// AccountKeys are the keys of one account.
type AccountKeys struct {
	Name string // of the account
	Keys []Key
}

// New makes the HTTP side of an exchange. An error names the account whose key is wrong.
func New(config *Config) (*Door, error) {
	prefixes := config.Prefixes
	if len(prefixes) == 0 {
		prefixes = []string{defaultPrefix}
	}
	d := &Door{
		Table: config.Table, catalog: config.Catalog, budget: budgetHeadersOf(prefixes[0]),
		keys: map[string]*activeKey{}, limiter: newLimiter(config.Budget),
		strict: config.Strict, operatorOptional: config.OperatorOptional,
	}
	for _, prefix := range prefixes {
		d.credentials = append(d.credentials, credentialHeadersOf(prefix))
	}
	for i := range config.Keys {
		if err := d.addKeys(i+1, &config.Keys[i], &config.Budget); err != nil {
			return nil, err
		}
	}
	d.requests.New = func() any { return &Request{sum: make([]byte, 0, sha256.Size)} }
	return d, nil
}

// addKeys adds the keys of an account.
func (d *Door) addKeys(account int, a *AccountKeys, budget *Budget) error {
	for i := range a.Keys {
		k, err := newKey(&a.Keys[i], account, a.Name, points(budget.PerKey, defaultBudget))
		if err != nil {
			return err
		}
		if d.keys[k.Key.Key] != nil {
			return fmt.Errorf("account %s has a key that another key equals", a.Name)
		}
		d.keys[k.Key.Key] = k
		if budget.PerAccount {
			k.payer = d.keys[a.Keys[0].Key]
		}
	}
	return nil
}
