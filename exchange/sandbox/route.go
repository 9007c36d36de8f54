package sandbox

import "strings"

// version is where the path of every endpoint begins; it is part of what a client signs (specification 1 and 9).
const version = "/v2"

// route finds the endpoint of a method and a path without /v2, and the market that the path names; nil where there is none. A path
// that is written out in the table comes before one with {market} in it.
func (t table) route(method, path string) (e *endpoint, market string) {
	if e := t.exact(method, path); e != nil {
		return e, ""
	}
	for i := range t {
		if e := &t[i]; e.method == method {
			if market, ok := e.marketOf(path); ok {
				return e, market
			}
		}
	}
	return nil, ""
}

// exact returns the endpoint of a method and a path that is written as in the table, or nil.
func (t table) exact(method, path string) *endpoint {
	for i := range t {
		if e := &t[i]; e.path == path && e.method == method {
			return e
		}
	}
	return nil
}

// name is the method and the path without /v2: "GET /{market}/book".
func (e *endpoint) name() string { return e.method + " " + e.path }

// named returns the endpoint of a name, or nil.
func (t table) named(name string) *endpoint {
	for i := range t {
		if t[i].name() == name {
			return &t[i]
		}
	}
	return nil
}

// marketOf returns what stands in a path where the endpoint's has {market}.
func (e *endpoint) marketOf(path string) (market string, ok bool) {
	before, after, found := strings.Cut(e.path, "{market}")
	if !found || len(path) <= len(before)+len(after) || !strings.HasPrefix(path, before) || !strings.HasSuffix(path, after) {
		return "", false
	}
	market = path[len(before) : len(path)-len(after)]
	return market, !strings.Contains(market, "/")
}

// cost returns the weight of a request with that query. The value of market may turn out to be invalid: what a request costs is known
// before its parameters are read.
func (e *endpoint) cost(query string) int {
	if e.weightAll == 0 {
		return e.weight
	}
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if name, _, _ := strings.Cut(pair, "="); name == "market" {
			return e.weight
		}
	}
	return e.weightAll
}
