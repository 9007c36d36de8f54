package door

import "strings"

// Version is where the path of every endpoint begins; it is part of what a client signs
// (specification 1 and 9).
const Version = "/v2"

// Route finds the endpoint of a method and a path without /v2, and the market that the path names;
// nil where there is none. A path that is written out in the table comes before one with {market}
// in it.
func (t Table) Route(method, path string) (e *Endpoint, market string) {
	if e := t.Exact(method, path); e != nil {
		return e, ""
	}
	for i := range t {
		if e := &t[i]; e.Method == method {
			if market, ok := e.marketOf(path); ok {
				return e, market
			}
		}
	}
	return nil, ""
}

// Exact returns the endpoint of a method and a path that is written as in the table, or nil.
func (t Table) Exact(method, path string) *Endpoint {
	for i := range t {
		if e := &t[i]; e.Path == path && e.Method == method {
			return e
		}
	}
	return nil
}

// Name is the method and the path without /v2: "GET /{market}/book".
func (e *Endpoint) Name() string { return e.Method + " " + e.Path }

// Named returns the endpoint of a name, or nil.
func (t Table) Named(name string) *Endpoint {
	for i := range t {
		if t[i].Name() == name {
			return &t[i]
		}
	}
	return nil
}

// marketOf returns what stands in a path where the endpoint's has {market}.
func (e *Endpoint) marketOf(path string) (market string, ok bool) {
	before, after, found := strings.Cut(e.Path, "{market}")
	if !found || len(path) <= len(before)+len(after) || !strings.HasPrefix(path, before) ||
		!strings.HasSuffix(path, after) {
		return "", false
	}
	market = path[len(before) : len(path)-len(after)]
	return market, !strings.Contains(market, "/")
}

// Cost returns the weight of a request with that query. The value of market may turn out to be
// invalid: what a request costs is known before its parameters are read.
func (e *Endpoint) Cost(query string) int {
	if e.WeightAll == 0 {
		return e.Weight
	}
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if name, _, _ := strings.Cut(pair, "="); name == "market" {
			return e.Weight
		}
	}
	return e.WeightAll
}
