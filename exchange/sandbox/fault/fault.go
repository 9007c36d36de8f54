// Package fault has the faults on demand of the simulated exchange: their kinds, scripts of them,
// and their effect on a request. It never changes the state of an exchange: exchange/sandbox
// carries out scheduled faults. Start at Fault; docs/exchange.md lists the kinds.
package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// Fault is a fault on demand: its Kind, the requests that it meets or its time, and its details.
// The zero value of a setting is the default that its comment names, except for Kind; a setting
// that the kind does not take is an error. Times are those of the exchange's clock.
//
// Each request is held against every fault of a script, in the order of the script. Delays add up;
// of the faults that change the answer the first counts. Each fault draws from its own random
// sequence, made of the script's seed and the fault's place: the same requests in the same order
// meet the same faults, and another fault at the end changes nothing before it.
//
// A fault that breaks the connection panics with http.ErrAbortHandler, as net/http expects of a
// handler; a caller of ServeHTTP without a server has to recover it. Go's http.Client and others
// repeat a GET by themselves where a connection that they keep breaks.
type Fault struct {
	Kind Kind

	// Which requests. Those of scheduled kinds take only After, Account and Market.
	Endpoints []string // "POST /order", "GET /{market}/book", as the list of endpoints names them; none: all
	Account   string   // whose key the request shows; "": any, and requests without a key
	Key       string   // the key that it shows; "": any, and requests without one
	Market    string   // that path, query or body name; "": any
	Channel   string   // of a socket: the channel of an event, or "reply"; "": any
	Nth       int      // of the requests chosen so far only this one, counted from 1; 0: every one
	Count     int      // so many of them at most; 0: all
	// of each, up to 1; 0: 1. Of missedFill: of each order and movement of the price
	Probability float64
	After       market.Duration // since the script began: not earlier. Of a scheduled kind: when
	Until       market.Duration // since the script began: earlier than this; 0: without end

	// How.
	Delay  market.Duration     // of delayRequest, delayAnswer, lateFill and lateSettlement
	Skew   market.Duration     // of clockSkew: ahead, or behind where negative
	Code   int                 // of error: the errorCode; of html: the HTTP status
	Work   bool                // of error and html: the request is carried out nevertheless
	Status market.MarketStatus // of marketStatus
	// of marketStatus auctionMatching: the opening price; "": the one at which most is traded
	Price  string
	Tick   string                   // of tickSize
	Reason market.RestatementReason // of cancelOrders; 0: cancelOnAdminRequest
}

// Kind is the kind of a fault.
type Kind uint8

// The kinds of faults. From RefuseSocket to Mute they are those of sockets. From MarketStatus on
// they are scheduled: they happen once, when they are due, whatever is asked.
const (
	DropRequest Kind = iota + 1
	DropAnswer
	ResetRequest
	ResetAnswer
	DelayRequest
	DelayAnswer
	Error
	HTML
	Truncate
	LateFill
	LateSettlement
	ClockSkew
	RefuseSocket
	DropSocket
	CutFrame
	DelayFrame
	DuplicateFrame
	SkipFrame
	SwapFrames
	Silence
	Mute
	MarketStatus
	TickSize
	CancelOrders
	MissedFill
	NewNonces
)

// row is the row of a kind in docs/exchange.md.
type row struct {
	name   string
	client string   // what the client sees
	work   string   // was the work done
	needs  []string // settings
	takes  []string // settings that may be left out
}

// rows are the kinds of faults, by Kind.
var rows = [...]row{
	DropRequest:  {"dropRequest", "the connection is closed without an answer", "no", nil, nil},
	DropAnswer:   {"dropAnswer", "the connection is closed without an answer", "yes", nil, nil},
	ResetRequest: {"resetRequest", "connection reset by peer (RST)", "no", nil, nil},
	ResetAnswer:  {"resetAnswer", "connection reset by peer (RST)", "yes", nil, nil},
	DelayRequest: {"delayRequest", "the answer late; 403 with 304 where the delay exceeds the window",
		"yes, late, also when the client has gone; no with 304", []string{"delay"}, nil},
	DelayAnswer: {"delayAnswer", "the answer late", "yes, at once", []string{"delay"}, nil},
	Error:       {"error", "the status and body of code", "no; with work: yes", []string{"code"}, []string{"work"}},
	HTML:        {"html", "an HTML page with status code", "no; with work: yes", []string{"code"}, []string{"work"}},
	Truncate: {"truncate", "the right status and headers, and half of the body; then the connection is closed",
		"yes", nil, nil},
	LateFill: {"lateFill", "an order with status new that is not in the book; what it fills comes later",
		"yes: the order comes to the book after delay", []string{"delay"}, nil},
	LateSettlement: {"lateSettlement", "fills with settled false and without their fee",
		"yes; the fees are told after delay", []string{"delay"}, nil},
	ClockSkew: {"clockSkew", "GET /time off by skew; 403 with 304 where the skew exceeds the window",
		"yes; no with 304", []string{"skew"}, nil},
	RefuseSocket: {"refuseSocket", "the handshake is answered with 503 and 111", "no socket is opened", nil, nil},
	DropSocket:   {"dropSocket", "the connection ends before the frame", "yes", nil, nil},
	CutFrame:     {"cutFrame", "the connection ends in the middle of the frame", "yes", nil, nil},
	DelayFrame: {"delayFrame", "the frame late, and with it all that follow it", "yes, at once", []string{"delay"},
		nil},
	DuplicateFrame: {"duplicateFrame", "the frame twice", "yes", nil, nil},
	SkipFrame:      {"skipFrame", "nothing of the frame; of a book, a gap in the nonces", "yes", nil, nil},
	SwapFrames:     {"swapFrames", "the frame after the next one", "yes", nil, nil},
	Silence:        {"silence", "nothing any more, on an open connection", "yes", nil, nil},
	Mute:           {"mute", "a subscription that is acknowledged, and no event of it", "no", nil, nil},
	MarketStatus:   {"marketStatus", "the market's status changes", "scheduled", []string{"status"}, []string{"price"}},
	TickSize: {"tickSize", "the market's tickSize changes; resting orders stay as they are", "scheduled",
		[]string{"market", "tickSize"}, nil},
	CancelOrders: {"cancelOrders", "open orders end as canceled with restatementReason reason", "scheduled", nil,
		[]string{"reason", "account"}},
	MissedFill: {"missedFill", "an order that the price only touches stays as it is; a price beyond it fills it",
		"scheduled", nil, []string{"probability", "until"}},
	NewNonces: {"newNonces", "the nonce of the book begins anew", "scheduled", nil, nil},
}

// String returns the kind's name.
func (k Kind) String() string {
	if int(k) < len(rows) {
		return rows[k].name
	}
	return fmt.Sprintf("fault kind(%d)", uint8(k))
}

// parseKind reads the name of a kind: dropRequest, dropAnswer, …
func parseKind(text string) (Kind, error) {
	var names []string
	for k, row := range rows {
		if row.name != "" && row.name == text {
			return Kind(k), nil
		}
		names = append(names, row.name)
	}
	return 0, fmt.Errorf("%q is not one of %s", text, strings.Join(names[1:], ", "))
}

// OfSocket reports whether faults of the kind wait for handshakes and frames of sockets.
func (k Kind) OfSocket() bool { return k >= RefuseSocket && k <= Mute }

// Scheduled reports whether faults of the kind wait for their time, not for a request.
func (k Kind) Scheduled() bool { return k >= MarketStatus }

// The settings that every kind takes, of those that wait for a request and of scheduled ones.
var (
	selectors = []string{"endpoints", "account", "key", "market", "nth", "count", "probability", "after", "until"}
	schedules = []string{"after", "market"}
	ofFrames  = []string{"channel", "account", "market", "nth", "count", "probability", "after", "until"}
)

// maxDelay is the longest delay and skew of a fault.
const maxDelay = 8760 * time.Hour

// Reasons are the reasons for which the operator of an exchange ends orders.
var Reasons = []string{"cancelOnMaintenance", "cancelOnAdminRequest", "cancelOnDelisting", "cancelOnLockPlaced"}

// Channels are the channels of a socket, and the word for what is no event of one.
var Channels = []string{"ticker", "ticker24h", "candles", "trades", "book", "account", "reply"}

// FaultCodes are the codes of an error on demand: those that a client meets through no fault of its
// own (venue-facts 2.2).
var FaultCodes = []int{101, 105, 107, 108, 109, 111, 400, 419, 430, 431}

// Check returns the first wrong setting of a fault; the error begins with its name. Markets,
// accounts and keys are not looked up.
func (f *Fault) Check(isEndpoint func(name string) bool) error {
	if f.Kind == 0 || int(f.Kind) >= len(rows) {
		return fmt.Errorf("kind: %d is none", f.Kind)
	}
	row, common := &rows[f.Kind], selectors
	switch {
	case f.Kind.Scheduled():
		common = schedules
	case f.Kind.OfSocket():
		common = ofFrames
	}
	for _, s := range f.settings() {
		switch needed := slices.Contains(row.needs, s.name); {
		case needed && !s.set:
			return fmt.Errorf("%s: a fault of kind %s needs it", s.name, f.Kind)
		case s.set && !needed && !slices.Contains(row.takes, s.name) && !slices.Contains(common, s.name):
			return fmt.Errorf("%s: a fault of kind %s has none", s.name, f.Kind)
		}
	}
	return f.checkValues(isEndpoint)
}

// setting is one setting of a fault by its name in a script, and whether it has another value than
// the zero one.
type setting struct {
	name string
	set  bool
}

func (f *Fault) settings() []setting {
	return []setting{
		{"endpoints", len(f.Endpoints) > 0}, {"account", f.Account != ""}, {"key", f.Key != ""}, {"market",
			f.Market != ""}, {"channel", f.Channel != ""}, {"nth", f.Nth != 0}, {"count", f.Count != 0},
		{"probability", f.Probability != 0}, {"after", f.After != 0}, {"until", f.Until != 0}, {"delay",
			f.Delay != 0}, {"skew", f.Skew != 0}, {"code", f.Code != 0},
		{"work", f.Work}, {"status", f.Status != 0}, {"price", f.Price != ""}, {"tickSize", f.Tick != ""}, {"reason",
			f.Reason != 0},
	}
}

func (f *Fault) checkValues(isEndpoint func(name string) bool) error {
	switch {
	case f.Nth < 0:
		return fmt.Errorf("nth: %d is below 1", f.Nth)
	case f.Count < 0:
		return fmt.Errorf("count: %d is below 1", f.Count)
	case !(f.Probability >= 0 && f.Probability <= 1):
		return fmt.Errorf("probability: %v is not above 0 and at most 1", f.Probability)
	case f.After < 0:
		return fmt.Errorf("after: %s is negative", f.After)
	case f.Until != 0 && f.Until <= f.After:
		return fmt.Errorf("until: %s is not later than after, %s", f.Until, f.After)
	case f.Delay < 0 || f.Delay > maxDelay:
		return fmt.Errorf("delay: %s is not between 0 and %s", f.Delay, maxDelay)
	case f.Skew.Abs() > maxDelay:
		return fmt.Errorf("skew: %s is more than %s", f.Skew, maxDelay)
	case f.Kind == HTML && f.Code != 200 && f.Code != 502:
		return fmt.Errorf("code: %d is not 200 or 502, the HTTP status of a page", f.Code)
	case f.Kind == Error && !slices.Contains(FaultCodes, f.Code):
		return fmt.Errorf("code: %d is not one of %v", f.Code, FaultCodes)
	case f.Kind == Error && f.Work && exchange.ErrCode(f.Code).Status < 500:
		return fmt.Errorf("work: code %d says that nothing was done", f.Code)
	case f.Price != "" && f.Status != market.AuctionMatching:
		return fmt.Errorf("price: only status auctionMatching has an opening price")
	case f.Reason != 0 && !slices.Contains(Reasons, f.Reason.String()):
		return fmt.Errorf("reason: %s is not one of %v", f.Reason, Reasons)
	}
	if f.Channel != "" && !slices.Contains(Channels, f.Channel) {
		return fmt.Errorf("channel: %q is not one of %s", f.Channel, strings.Join(Channels, ", "))
	}
	for _, name := range f.Endpoints {
		if !isEndpoint(name) {
			return fmt.Errorf(`endpoints: there is no %q; write method and path without %s, `+
				`as in "POST /order" or "GET /{market}/book"`, name, api.Version)
		}
	}
	return nil
}
