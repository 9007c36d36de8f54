package sandbox

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// maxDepth is how deep arrays and objects may be nested in a body. No parameter has any; deeper is refused as no JSON.
const maxDepth = 32

// maxDecimal is the longest text of a decimal.
const maxDecimal = 40

// decoder checks the parameters of one request against its endpoint's. Of several complaints the first in the order of the text is the
// answer; what is missing comes last, in the order of the table.
type decoder struct {
	catalog *market.Catalog
	call    *call
	refusal *exchange.Error
}

// decode reads the parameters of a request into c.args: name from the path, the others from query and body. An empty body, and one that is an
// object without members, has no parameters.
func (f *front) decode(c *call, name, query string, body []byte) *exchange.Error {
	c.args = slices.Grow(c.args[:0], len(c.endpoint.params))[:len(c.endpoint.params)]
	clear(c.args)
	d := decoder{catalog: f.catalog, call: c}
	if name != "" {
		d.path(name)
	}
	d.query(query)
	if fault := d.body(body); fault != "" {
		return exchange.ErrCode(exchange.CodeBadJSON, fault)
	}
	if d.refusal == nil {
		d.missing(f.operatorOptional)
	}
	return d.refusal
}

func (d *decoder) complain(refusal *exchange.Error) {
	if d.refusal == nil {
		d.refusal = refusal
	}
}

// path takes the market that the path names.
func (d *decoder) path(name string) {
	for i := range d.call.endpoint.params {
		if p := &d.call.endpoint.params[i]; p.inPath {
			d.set(p, &d.call.args[i], formQuery, name)
		}
	}
}

// query takes the parameters of a query. A name or value whose escapes are wrong is invalid.
func (d *decoder) query(query string) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, wrongName := unescape(rawName)
		value, wrongValue := unescape(rawValue)
		switch {
		case wrongName || wrongValue:
			d.complain(exchange.Invalid(clip(rawName)))
		case !d.call.endpoint.takes(false):
			d.complain(exchange.ErrCode(200, clip(name)))
		default:
			d.take([]byte(name), formQuery, value)
		}
	}
}

// unescape returns what a part of a query stands for.
func unescape(part string) (text string, wrong bool) {
	if strings.IndexByte(part, '%') < 0 && strings.IndexByte(part, '+') < 0 {
		return part, !utf8.ValidString(part)
	}
	text, err := url.QueryUnescape(part)
	return text, err != nil || !utf8.ValidString(text)
}

// body takes the parameters of a body, and returns why it is no JSON object.
func (d *decoder) body(body []byte) (fault string) {
	if len(body) == 0 {
		return ""
	}
	if !utf8.Valid(body) {
		return "it is not valid UTF-8"
	}
	accepted := d.call.endpoint.takes(true)
	text := string(body) // arguments outlive the body, whose memory is used again
	s := scan(body)
	if s.Peek() != '{' {
		return "it is no JSON object"
	}
	for s.Object(); s.Member(); {
		name, as := s.Name(), formOf(s.Peek())
		value := s.Text(text)
		switch {
		case s.Err() != nil:
		case accepted:
			d.take(name, as, value)
		default:
			d.complain(exchange.ErrCode(201, clip(string(name))))
		}
	}
	switch err := s.End(); {
	case errors.Is(err, wire.ErrDeep):
		return "it is nested too deep"
	case err != nil:
		return "it is not valid JSON"
	}
	return ""
}

// scan returns a scanner of a body.
func scan(body []byte) wire.Scanner {
	s := wire.NewScanner(body)
	s.Limit(maxDepth)
	return s
}

// takes reports whether an endpoint has any parameters in the body, or else in the query.
func (e *endpoint) takes(body bool) bool {
	return e.inBody() == body && slices.ContainsFunc(e.params, func(p parameter) bool { return !p.inPath })
}

// take takes one parameter by name.
func (d *decoder) take(name []byte, as form, value string) {
	params := d.call.endpoint.params
	for i := range params {
		if params[i].name != string(name) || params[i].inPath {
			continue
		}
		if d.call.args[i].set {
			d.complain(exchange.Invalid(string(name))) // twice: which one counts would be anybody's guess
			return
		}
		d.set(&params[i], &d.call.args[i], as, value)
		return
	}
	d.complain(exchange.NotSupported(clip(string(name))))
}

// clip keeps a foreign name short in an answer.
func clip(name string) string {
	if len(name) > 64 {
		return strings.ToValidUTF8(name[:64], "") + "…"
	}
	return name
}

// missing complains of a parameter that is required and not there.
func (d *decoder) missing(operatorOptional bool) {
	e := d.call.endpoint
	for i := range e.params {
		if p := &e.params[i]; !d.call.args[i].set && e.requires(p, operatorOptional) {
			d.complain(exchange.Required(p.name))
			return
		}
	}
}

// requires reports whether a request must have a parameter. operatorOptional frees DELETE of its operatorId.
func (e *endpoint) requires(p *parameter, operatorOptional bool) bool {
	return p.required && !(operatorOptional && e.method == http.MethodDelete && p.name == "operatorId")
}

// set checks a value and keeps it. It must be written as its kind is; amounts are strings, so a JSON number is none (specification 1).
func (d *decoder) set(p *parameter, a *argument, as form, text string) {
	a.set, a.text = true, text
	if as != formQuery && as != p.kind.form() || !d.accepts(p, a) {
		d.complain(exchange.Invalid(p.name))
	}
}

// form is how a value is written.
type form uint8

// The forms of values.
const (
	formQuery  form = iota + 1 // in a query, where all is text
	formText                   // a JSON string
	formNumber                 // a JSON number
	formFlag                   // true or false
	formOther                  // null, an array or an object
)

// formOf returns the form of the JSON value that begins with a byte.
func formOf(first byte) form {
	switch first {
	case '"':
		return formText
	case 't', 'f':
		return formFlag
	case 'n', '[', '{':
		return formOther
	}
	return formNumber
}

// form returns how a kind is written in a body.
func (k kind) form() form {
	switch k {
	case kindInteger:
		return formNumber
	case kindFlag:
		return formFlag
	case kindList:
		return formOther
	}
	return formText
}

// accepts checks a text against its parameter, and fills in what it stands for.
func (d *decoder) accepts(p *parameter, a *argument) (ok bool) {
	switch p.kind {
	case kindMarket:
		return d.catalog.MarketNamed(a.text) != nil
	case kindAsset:
		return d.catalog.AssetNamed(a.text) != nil
	case kindWord:
		return slices.Contains(p.words, a.text)
	case kindID:
		a.id, ok = parseID(a.text)
		return ok
	case kindInteger:
		a.number, ok = parseInteger(a.text)
		return ok && a.number >= p.min && a.number <= p.max
	case kindDecimal:
		return isDecimal(a.text)
	case kindFlag:
		return a.text == "true" || a.text == "false"
	case kindList:
		return strings.HasPrefix(a.text, "[")
	}
	return true
}

// parseID reads a UUID in its usual form of 36 characters. The zero one names nothing and is none.
func parseID(text string) (uuid.UUID, bool) {
	if len(text) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(text)
	return id, err == nil && id != uuid.Nil
}

// parseInteger reads digits, with a minus where below zero.
func parseInteger(text string) (int64, bool) {
	digits := strings.TrimPrefix(text, "-")
	if len(digits) == 0 || len(digits) > 19 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// isDecimal reports whether text is digits with at most one point between them.
func isDecimal(text string) bool {
	whole, fraction, pointed := strings.Cut(text, ".")
	return len(text) <= maxDecimal && isDigits(whole) && (!pointed || isDigits(fraction))
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}
