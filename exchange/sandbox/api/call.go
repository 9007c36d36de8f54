package api

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Call is a request for the handler of its endpoint: the account, the parameters, and the answer
// that the handler appends.
type Call struct {
	Endpoint *Endpoint
	Account  int         // the account's place in Config.Accounts, from 1; 0: public, without credentials
	Now      market.Time // the exchange's time at which the request is carried out
	Args     Arguments
	Out      []byte // the body of the answer; a handler appends to it
	Status   int    // HTTP status of the answer; 0: 200

	// More appends a part of the answer that follows after Out, and reports whether there are more
	// parts; nil: Out is the whole answer. It is called when the handler has returned, without a
	// lock of the exchange: it reads what the handler has copied, nothing that changes.
	More func(dst []byte) (out []byte, more bool)

	// Effects of faults on the request, 0 without a fault.
	Skew        market.Duration // added to the time that the client is shown
	FillLater   market.Duration // from the order to its place in the book
	SettleLater market.Duration // added to the time from a fill to its settlement
}

// Gather appends all parts of the answer to Out.
func (c *Call) Gather() {
	for more := c.More != nil; more; {
		c.Out, more = c.More(c.Out)
	}
	c.More = nil
}

// Skewed returns t as the client is shown it.
func (c *Call) Skewed(t market.Time) market.Time { return t.Add(c.Skew) }

// Arguments are the checked parameters of a request, by their place in endpoint.params.
type Arguments []Argument

// Argument is one parameter's value. Its text has been checked against the parameter's kind.
type Argument struct {
	Set    bool
	Text   string // as sent, without quotes; a flag is "true" or "false"
	Number int64  // of an integer
	UUID   uuid.UUID
}

// Arg returns the argument of a parameter. The name must be one of the endpoint's.
func (c *Call) Arg(name string) *Argument {
	for i := range c.Endpoint.Params {
		if c.Endpoint.Params[i].Name == name {
			return &c.Args[i]
		}
	}
	panic("door: " + c.Endpoint.Method + " " + c.Endpoint.Path + " has no parameter " + name)
}

// Has reports whether a parameter was sent.
func (c *Call) Has(name string) bool { return c.Arg(name).Set }

// Text returns a parameter as sent, "" where it was not.
func (c *Call) Text(name string) string { return c.Arg(name).Text }

// UUID returns a UUID, the zero one where it was not sent.
func (c *Call) UUID(name string) uuid.UUID { return c.Arg(name).UUID }

// Integer returns an integer, or otherwise where it was not sent.
func (c *Call) Integer(name string, otherwise int64) int64 {
	if a := c.Arg(name); a.Set {
		return a.Number
	}
	return otherwise
}

// Flag returns a boolean, or otherwise where it was not sent.
func (c *Call) Flag(name string, otherwise bool) bool {
	if a := c.Arg(name); a.Set {
		return a.Text == "true"
	}
	return otherwise
}
