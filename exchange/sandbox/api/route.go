package api

import "strings"

// Version begins the path of every endpoint; a client signs it too (specification 1 and 9).
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
	return t.find(func(e *Endpoint) bool { return e.Path == path && e.Method == method })
}

// find returns the first endpoint that is so, or nil.
func (t Table) find(is func(e *Endpoint) bool) *Endpoint {
	for i := range t {
		if is(&t[i]) {
			return &t[i]
		}
	}
	return nil
}

// Name is the method and the path without /v2: "GET /{market}/book".
func (e *Endpoint) Name() string { return e.Method + " " + e.Path }

// Named returns the endpoint of a name, or nil.
func (t Table) Named(name string) *Endpoint {
	return t.find(func(e *Endpoint) bool { return e.Name() == name })
}

// ForAction returns the endpoint that an action of the socket names, or nil.
func (t Table) ForAction(action string) *Endpoint {
	return t.find(func(e *Endpoint) bool { return e.Action == action && action != "" })
}

// marketOf returns the {market} of a path.
func (e *Endpoint) marketOf(path string) (market string, ok bool) {
	before, after, found := strings.Cut(e.Path, "{market}")
	if !found || len(path) <= len(before)+len(after) || !strings.HasPrefix(path, before) ||
		!strings.HasSuffix(path, after) {
		return "", false
	}
	market = path[len(before) : len(path)-len(after)]
	return market, !strings.Contains(market, "/")
}

// Cost returns the weight of a request with that query. The cost is known before the parameters are
// checked: the value of market may be invalid.
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
