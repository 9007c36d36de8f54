package sandbox

import (
	"github.com/tidemark-trading/tidemark/exchange"
)

// endpoint is one row of the table of endpoints: what routes, checks and charges a request, and what openapi.json is made of.
type endpoint struct {
	method, path string // the path without /v2; {market} is a path parameter
	summary      string
	section      string // of the specification, or of venue-facts
	weight       int    // in points
	weightAll    int    // instead of weight where the parameter market is absent; 0: the same
	needs        right  // 0: public
	params       []parameter
	answer       string // name of the schema of the answer
	do           func(*call) *exchange.Error
}

// table is a list of endpoints.
type table []endpoint

// public reports whether the endpoint needs no credentials.
func (e *endpoint) public() bool { return e.needs == 0 }

// inBody reports whether the endpoint's parameters come as a JSON body; otherwise they stand in the query.
func (e *endpoint) inBody() bool { return e.method == "POST" || e.method == "PUT" }

// right is a set of permissions of a key (specification 5).
type right uint8

// The permissions.
const (
	rightRead right = 1 << iota
	rightTrade
	rightWithdraw
)

// parameter is one parameter of an endpoint, with what its value has to be before the endpoint looks at it.
type parameter struct {
	name     string
	kind     kind
	required bool
	min, max int64    // of an integer
	words    []string // of an enumeration
	inPath   bool
	doc      string
}

// kind is the type of a parameter.
type kind uint8

// The kinds of parameters. In a body a decimal, a word, a name and an id are JSON strings, an integer is a JSON integer and a flag a
// JSON boolean; in a query all are text.
const (
	kindText    kind = iota + 1 // any text
	kindMarket                  // the name of a market of this exchange
	kindAsset                   // the symbol of an asset of this exchange
	kindWord                    // one of words
	kindID                      // a UUID
	kindInteger                 // an integer from min to max
	kindDecimal                 // a plain decimal that is not negative
	kindFlag                    // true or false
	kindList                    // of the admin interface: a JSON array as it stands
)
