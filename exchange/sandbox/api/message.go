package api

import (
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// socketPath is what a client signs to authenticate a socket (websocket-facts 3).
const socketPath = Version + "/websocket"

// messageCost is the weight of a message that no endpoint answers (websocket-facts 4).
const messageCost = 1

// Message is a message of a client on a socket, before its parameters are checked (websocket-facts
// 2). Its texts are parts of the frame.
type Message struct {
	Action    string
	RequestID string // as it was sent, with the quotes of a text; empty: none
	Market    string // that it names; empty: none
	OrderID   string
	text      string
}

// Session is the credentials of a socket. Set Peer; the rest comes with Authenticate.
type Session struct {
	Peer netip.Addr
	key  *activeKey
}

// Account is the account's place in Config.Accounts, from 1; 0: the socket is not authenticated.
func (s *Session) Account() int {
	if s.key == nil {
		return 0
	}
	return s.key.account
}

// Key is the key that the socket is authenticated with; "": none.
func (s *Session) Key() string {
	if s.key == nil {
		return ""
	}
	return s.key.Key.Key
}

// Lacks returns the refusal of a session without a right: 300 without a key, in the words of the
// socket, else 310 to 312.
func (s *Session) Lacks(needed Right) *exchange.Error {
	switch {
	case needed == 0:
		return nil
	case s.key == nil:
		return &exchange.Error{Code: 300, Status: 403, Message: "Authentication is required for this endpoint."}
	}
	return s.key.lacks(needed)
}

// ParseMessage reads the action of a frame. It reports false for a frame that is no JSON object.
func ParseMessage(frame []byte) (m Message, ok bool) {
	if !utf8.Valid(frame) {
		return m, false
	}
	m.text = string(frame)
	s := scan(frame)
	if s.Peek() != '{' {
		return m, false
	}
	for s.Object(); s.Member(); {
		name, is := string(s.Name()), formOf(s.Peek())
		switch raw := ""; {
		case name == "requestId" && (is == formNumber || is == formText):
			m.RequestID = string(s.Raw())
		case is != formText:
			s.Discard()
		default:
			raw = s.Text(m.text)
			switch name {
			case "action":
				m.Action = raw
			case "market":
				m.Market = raw
			case "orderId":
				m.OrderID = raw
			}
		}
	}
	return m, s.End() == nil
}

// Each calls a function with each member of the message but action and requestId. text is a string
// without its quotes, any other value as it stands; null is left out.
func (m *Message) Each(take func(name, text string)) {
	s := scan([]byte(m.text))
	for s.Object(); s.Member(); {
		name, null := string(s.Name()), s.Peek() == 'n'
		if value := s.Text(m.text); !null && name != "action" && name != "requestId" {
			take(name, value)
		}
	}
}

// Authenticate checks the credentials of a message and gives them to the session, in place of those
// that it had (websocket-facts 3).
func (d *Door) Authenticate(s *Session, m *Message, now market.Time) *exchange.Error {
	q := d.NewRequest()
	defer d.Release(q)
	m.Each(func(name, text string) {
		switch name {
		case "key":
			q.shown.key = text
		case "signature":
			q.shown.signature = text
		case "timestamp":
			q.shown.timestamp = text
		case "window":
			q.shown.window, q.shown.hasWindow = text, true
		}
	})
	k, refusal := d.authenticate(q, now, func() netip.Addr { return s.Peer }, func(k *activeKey) bool {
		q.message = append(q.message[:0], q.shown.timestamp+"GET"+socketPath...)
		return k.matches(q)
	})
	if refusal == nil {
		s.key = k
	}
	return refusal
}

// Charge charges a session for a message that no endpoint answers, or returns 105.
func (d *Door) Charge(s *Session, now market.Time) *exchange.Error {
	return d.chargeSession(s, messageCost, now)
}

func (d *Door) chargeSession(s *Session, cost int, now market.Time) *exchange.Error {
	var paid charge
	within := false
	if s.key != nil {
		paid, within = d.limiter.chargeKey(s.key, cost, now)
	} else {
		paid, within = d.limiter.chargePeer(s.Peer, cost, now)
	}
	if !within {
		return exchange.Banned(paid.resetAt)
	}
	return nil
}

// Take makes a request of a message: it charges the session, checks its rights and the parameters.
// q.Endpoint is that of the message's action.
func (d *Door) Take(q *Request, s *Session, m *Message, now market.Time) *exchange.Error {
	cost := q.Endpoint.Weight
	if q.Endpoint.WeightAll != 0 && m.Market == "" {
		cost = q.Endpoint.WeightAll
	}
	refusal := d.chargeSession(s, cost, now)
	if refusal == nil {
		refusal = s.Lacks(q.Endpoint.Needs)
	}
	if refusal != nil {
		return refusal
	}
	q.key, q.Account = s.key, s.Account()
	return d.decodeMessage(&q.Call, m)
}

// decodeMessage reads the parameters of a message. Each client writes numbers in its own way: as
// numbers or as texts of digits (websocket-facts 8). An empty text counts as missing.
func (d *Door) decodeMessage(c *Call, m *Message) *exchange.Error {
	p := d.decoder(c)
	m.Each(func(name, text string) {
		if text != "" {
			p.member(name, text)
		}
	})
	if p.refusal == nil {
		p.missing(d.operatorOptional)
	}
	return p.refusal
}

// member takes a parameter of a message, by its name of today or of before. A member that is no
// parameter is ignored: clients send more than is needed. The refusal shows the value of a market
// or a number, as the exchange does.
func (d *decoder) member(name, text string) {
	params := d.call.Endpoint.Params
	at := slices.IndexFunc(params, func(p Parameter) bool { return name == p.Name || name == p.FormerName })
	switch {
	case at < 0:
		return
	case d.call.Args[at].Set:
		d.complain(exchange.Invalid(name))
		return
	}
	p, a := &params[at], &d.call.Args[at]
	a.Set, a.Text = true, text
	if d.accepts(p, a) {
		return
	}
	if p.Kind == Integer || p.Kind == MarketName && text == strings.ToUpper(text) {
		name += " parameter " + Clip(text)
		d.complain(&exchange.Error{Code: exchange.CodeInvalid, Status: 400, Message: name + " is invalid."})
		return
	}
	d.complain(exchange.Invalid(name))
}
