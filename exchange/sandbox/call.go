package sandbox

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// call is one request on its way through an endpoint: who asks, with which parameters, and the answer in the making.
type call struct {
	endpoint *endpoint
	account  int         // the account's place in Config.Accounts, from 1; 0: public, without credentials
	now      market.Time // the exchange's time at which the request is carried out
	args     arguments
	out      []byte // the body of the answer; a handler appends to it
	status   int    // HTTP status of the answer; 0: 200

	// Effects of faults on the request, 0 without a fault.
	skew        market.Duration // added to the time that the client is shown
	fillLater   market.Duration // from the order to its place in the book
	settleLater market.Duration // added to the time from a fill to its settlement
}

// skewed returns t as the client is shown it.
func (c *call) skewed(t market.Time) market.Time { return t.Add(c.skew) }

// arguments are the checked parameters of a request, by their place in endpoint.params.
type arguments []argument

// argument is one parameter's value. Its text has been checked against the parameter's kind.
type argument struct {
	set    bool
	text   string // as sent, without quotes; a flag is "true" or "false"
	number int64  // of an integer
	id     uuid.UUID
}

// arg returns the argument of a parameter. The name must be one of the endpoint's.
func (c *call) arg(name string) *argument {
	for i := range c.endpoint.params {
		if c.endpoint.params[i].name == name {
			return &c.args[i]
		}
	}
	panic("door: " + c.endpoint.method + " " + c.endpoint.path + " has no parameter " + name)
}

// has reports whether a parameter was sent.
func (c *call) has(name string) bool { return c.arg(name).set }

// text returns a parameter as sent, "" where it was not.
func (c *call) text(name string) string { return c.arg(name).text }

// id returns a UUID, the zero one where it was not sent.
func (c *call) id(name string) uuid.UUID { return c.arg(name).id }

// integer returns an integer, or otherwise where it was not sent.
func (c *call) integer(name string, otherwise int64) int64 {
	if a := c.arg(name); a.set {
		return a.number
	}
	return otherwise
}

// flag returns a boolean, or otherwise where it was not sent.
func (c *call) flag(name string, otherwise bool) bool {
	if a := c.arg(name); a.set {
		return a.text == "true"
	}
	return otherwise
}
