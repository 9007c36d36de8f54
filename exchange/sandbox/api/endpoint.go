package api

import (
	"net/http"

	"github.com/tidemark-trading/tidemark/exchange"
)

// Endpoint is one row of the table of endpoints: it routes, checks and charges a request, and
// openapi.json is made of it.
type Endpoint struct {
	Method, Path string // the path without /v2; {market} is a path parameter
	Action       string // its name on the socket (websocket-facts 8); empty: it is not there
	Summary      string
	Section      string // of the specification, or of venue-facts
	Weight       int    // in points
	WeightAll    int    // instead of weight where the parameter market is absent; 0: the same
	Needs        Right  // 0: Public
	Params       []Parameter
	Answer       string // Name of the schema of the answer
	Created      bool   // a success is HTTP 201, not 200
	Do           func(*Call) *exchange.Error
}

// Table is a list of endpoints.
type Table []Endpoint

// Public reports whether the endpoint needs no credentials.
func (e *Endpoint) Public() bool { return e.Needs == 0 }

// Success is the HTTP status of a success.
func (e *Endpoint) Success() int {
	if e.Created {
		return http.StatusCreated
	}
	return http.StatusOK
}

// InBody reports whether the endpoint's parameters come as a JSON body; otherwise they stand in the
// query.
func (e *Endpoint) InBody() bool { return e.Method == "POST" || e.Method == "PUT" }

// Right is a set of permissions of a key (specification 5).
type Right uint8

// The permissions.
const (
	Read Right = 1 << iota
	Trade
	Withdraw
)

// Parameter is one parameter of an endpoint, with the rules of its value.
type Parameter struct {
	Name       string
	FormerName string // that the socket still takes; empty: none
	Kind       kind
	Required   bool
	Min, Max   int64    // of an integer
	Words      []string // of an enumeration
	InPath     bool
	Doc        string
}

// kind is the type of a parameter.
type kind uint8

// The kinds of parameters. In a body a decimal, a word, a name and an id are JSON strings, an
// integer is a JSON integer and a flag a JSON boolean; in a query all are text.
const (
	Text        kind = iota + 1 // any text
	MarketName                  // the name of a market of this exchange
	AssetSymbol                 // the symbol of an asset of this exchange
	Word                        // one of words
	UUID                        // a UUID
	Integer                     // an integer from min to max
	Decimal                     // a plain decimal that is not negative
	Flag                        // true or false
	List                        // of the admin interface: a JSON array as it stands
)
