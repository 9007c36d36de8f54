package rest

import (
	"net/url"
	"strconv"

	"github.com/tidemark-trading/tidemark/market"
)

// query builds a path with its query.
type query struct {
	text []byte
	any  bool
}

// to begins a path; its parts follow version and are escaped.
func to(parts ...string) query {
	q := query{text: append(make([]byte, 0, 128), version...)}
	for _, part := range parts {
		q.text = append(append(q.text, '/'), url.PathEscape(part)...)
	}
	return q
}

// with adds a parameter, unless it is empty.
func (q query) with(name, value string) query {
	if value == "" {
		return q
	}
	separator := byte('?')
	if q.any {
		separator = '&'
	}
	q.any = true
	q.text = append(append(append(q.text, separator), name...), '=')
	q.text = append(q.text, url.QueryEscape(value)...)
	return q
}

// integer adds a number, unless it is 0.
func (q query) integer(name string, n int64) query {
	if n == 0 {
		return q
	}
	return q.with(name, strconv.FormatInt(n, 10))
}

// page adds the bounds of a list; from and to are the names of its id parameters.
func (q query) page(p Page, from, to string) query {
	q = q.integer("limit", int64(p.Limit)).moment("start", p.Start).moment("end", p.End)
	if from == "" {
		return q
	}
	return q.with(from, p.From).with(to, p.To)
}

// moment adds a time in Unix milliseconds, unless it is 0.
func (q query) moment(name string, t market.Time) query { return q.integer(name, t.Millis()) }

func (q query) String() string { return string(q.text) }
