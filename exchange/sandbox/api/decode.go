package api

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

// maxDepth is how deep arrays and objects may be nested in a body. No parameter has any; deeper is
// refused as no JSON.
const maxDepth = 32

// maxDecimal is the longest text of a decimal.
const maxDecimal = 40

// decoder checks the parameters of one request against those of its endpoint. The answer names the
// first wrong parameter in the order of the request; missing ones come last, in the order of the
// table.
type decoder struct {
	catalog *market.Catalog
	call    *Call
	refusal *exchange.Error
}

// Decode reads the parameters of a request into c.Args: name from the path, the others from query
// and body. An empty body and an empty object have no parameters.
func (d *Door) Decode(c *Call, name, query string, body []byte) *exchange.Error {
	p := d.decoder(c)
	if name != "" {
		p.path(name)
	}
	p.query(query)
	if fault := p.body(body); fault != "" {
		return exchange.ErrCode(exchange.CodeBadJSON, fault)
	}
	if p.refusal == nil {
		p.missing(d.operatorOptional)
	}
	return p.refusal
}

// decoder begins to read the parameters of a call: it has none yet.
func (d *Door) decoder(c *Call) decoder {
	c.Args = slices.Grow(c.Args[:0], len(c.Endpoint.Params))[:len(c.Endpoint.Params)]
	clear(c.Args)
	return decoder{catalog: d.catalog, call: c}
}

func (d *decoder) complain(refusal *exchange.Error) {
	if d.refusal == nil {
		d.refusal = refusal
	}
}

// path takes the market that the path names.
func (d *decoder) path(name string) {
	for i := range d.call.Endpoint.Params {
		if p := &d.call.Endpoint.Params[i]; p.InPath {
			d.set(p, &d.call.Args[i], formQuery, name)
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
			d.complain(exchange.Invalid(Clip(rawName)))
		case !d.call.Endpoint.Takes(false):
			d.complain(exchange.ErrCode(200, Clip(name)))
		default:
			d.take([]byte(name), formQuery, value)
		}
	}
}

// unescape decodes a part of a query.
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
	accepted := d.call.Endpoint.Takes(true)
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
			d.complain(exchange.ErrCode(201, Clip(string(name))))
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

// Takes reports whether an endpoint has any parameters in the body, or else in the query.
func (e *Endpoint) Takes(body bool) bool {
	return e.InBody() == body && slices.ContainsFunc(e.Params, func(p Parameter) bool { return !p.InPath })
}

// take takes one parameter by name.
func (d *decoder) take(name []byte, as form, value string) {
	params := d.call.Endpoint.Params
	for i := range params {
		if params[i].Name != string(name) || params[i].InPath {
			continue
		}
		if d.call.Args[i].Set {
			d.complain(exchange.Invalid(string(name))) // it comes twice
			return
		}
		d.set(&params[i], &d.call.Args[i], as, value)
		return
	}
	d.complain(exchange.NotSupported(Clip(string(name))))
}

// Clip keeps a foreign name short in an answer.
func Clip(name string) string {
	if len(name) > 64 {
		return strings.ToValidUTF8(name[:64], "") + "…"
	}
	return name
}

// missing complains of a parameter that is required and not there.
func (d *decoder) missing(operatorOptional bool) {
	e := d.call.Endpoint
	for i := range e.Params {
		if p := &e.Params[i]; !d.call.Args[i].Set && e.requires(p, operatorOptional) {
			d.complain(exchange.Required(p.Name))
			return
		}
	}
}

// requires reports whether a request must have a parameter. operatorOptional frees DELETE of its
// operatorId.
func (e *Endpoint) requires(p *Parameter, operatorOptional bool) bool {
	return p.Required && !(operatorOptional && e.Method == http.MethodDelete && p.Name == "operatorId")
}

// set checks a value and keeps it. It must be written as its kind is; amounts are strings, so a
// JSON number is none (specification 1).
func (d *decoder) set(p *Parameter, a *Argument, as form, text string) {
	a.Set, a.Text = true, text
	if as != formQuery && as != p.Kind.form() || !d.accepts(p, a) {
		d.complain(exchange.Invalid(p.Name))
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
	case Integer:
		return formNumber
	case Flag:
		return formFlag
	case List:
		return formOther
	}
	return formText
}

// accepts checks a text against its parameter, and sets the argument's value.
func (d *decoder) accepts(p *Parameter, a *Argument) (ok bool) {
	switch p.Kind {
	case MarketName:
		return d.catalog.MarketNamed(a.Text) != nil
	case AssetSymbol:
		return d.catalog.AssetNamed(a.Text) != nil
	case Word:
		return slices.Contains(p.Words, a.Text)
	case UUID:
		a.UUID, ok = parseID(a.Text)
		return ok
	case Integer:
		a.Number, ok = parseInteger(a.Text)
		return ok && a.Number >= p.Min && a.Number <= p.Max
	case Decimal:
		return isDecimal(a.Text)
	case Flag:
		return a.Text == "true" || a.Text == "false"
	case List:
		return strings.HasPrefix(a.Text, "[")
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
