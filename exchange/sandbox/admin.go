package sandbox

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// adminRoot is where the paths of the admin interface begin.
const adminRoot = "/admin/"

// longestAdvance is how far one request may move the clock: what it makes due happens before the answer.
const longestAdvance = 31 * day

// adminEndpoints are the admin interface: what the operator of an exchange does, for tests to do. It is there for who asks from the
// same machine and shows the token of Config.Admin in the header Authorization, "Bearer TOKEN"; a request costs nothing. Errors are
// those of the API. Paths begin with /admin.
var adminEndpoints = []endpointRow{
	{endpoint: endpoint{method: "GET", path: "/clock", summary: "The exchange's time", answer: "Clock"}, do: (*Exchange).adminClock},
	{endpoint: endpoint{method: "POST", path: "/clock", summary: "Move the clock, or set its speed; what becomes due has happened when the answer comes", answer: "Clock",
		params: []parameter{{name: "advance", kind: kindText, doc: `how far to move it, "1m30s"; at most 744h`}, {name: "time", kind: kindInteger, max: lastMillis, doc: "when to move it to, Unix ms; not back, at most 744h"},
			{name: "speed", kind: kindDecimal, doc: "times the machine's speed from now on, to 10000; 0: it stands"}}}, do: (*Exchange).adminMoveClock},
	{endpoint: endpoint{method: "POST", path: "/status", summary: "Change a market's status", answer: "Market",
		params: []parameter{oneMarket, {name: "status", kind: kindWord, required: true, words: market.Words[market.MarketStatus](), doc: "any after any"},
			{name: "price", kind: kindDecimal, doc: "opening price of auctionMatching; the one at which most is traded where it is left out"}}}, do: (*Exchange).adminStatus},
	{endpoint: endpoint{method: "POST", path: "/rules", summary: "Change a market's rules; resting orders stay as they are", answer: "Market",
		params: []parameter{oneMarket, {name: "tickSize", kind: kindDecimal}, {name: "minOrderInBaseAsset", kind: kindDecimal}, {name: "minOrderInQuoteAsset", kind: kindDecimal},
			{name: "maxOrderInBaseAsset", kind: kindDecimal}, {name: "maxOrderInQuoteAsset", kind: kindDecimal}, {name: "quantityDecimals", kind: kindInteger, max: market.MaxDigits},
			{name: "notionalDecimals", kind: kindInteger, max: market.MaxDigits}, {name: "maxOpenOrders", kind: kindInteger, max: 1_000_000_000, doc: "0: no limit"}}}, do: (*Exchange).adminRules},
	{endpoint: endpoint{method: "POST", path: "/price", summary: "Move a market's price as its source does: the house goes with it and takes what the price runs through", answer: "TickerPrice",
		params: []parameter{oneMarket, {name: "price", kind: kindDecimal, required: true, doc: "a multiple of the tickSize"}, {name: "amount", kind: kindDecimal, doc: "of a trade of others at that price; none where it is left out"}}}, do: (*Exchange).adminPrice},
	{endpoint: endpoint{method: "POST", path: "/cancelOrders", summary: "End open orders: all, those of a market, of an account, or one", answer: "CancelledByAdmin",
		params: []parameter{anyMarket, {name: "account", kind: kindText, doc: "all where it is left out"}, {name: "orderId", kind: kindID, doc: "needs market"},
			{name: "reason", kind: kindWord, words: faultReasons, doc: "restatementReason; cancelOnAdminRequest where it is left out"}}}, do: (*Exchange).adminCancelOrders},
	{endpoint: endpoint{method: "POST", path: "/deposit", summary: "Let money arrive for an account; it is credited with its confirmations", answer: "Transfer",
		params: []parameter{{name: "account", kind: kindText, required: true}, {name: "symbol", kind: kindAsset, required: true}, {name: "amount", kind: kindDecimal, required: true}}}, do: (*Exchange).adminDeposit},
	{endpoint: endpoint{method: "GET", path: "/transfers", summary: "Deposits and withdrawals under way", answer: "Transfers"}, do: (*Exchange).adminTransfers},
	{endpoint: endpoint{method: "POST", path: "/cancelTransfer", summary: "Cancel a withdrawal that has not been sent, or a deposit that has not been credited", answer: "Transfer",
		params: []parameter{{name: "transactionId", kind: kindID, required: true}}}, do: (*Exchange).adminCancelTransfer},
	{endpoint: endpoint{method: "GET", path: "/ledger", summary: "Every balance, and per asset what was transferred and what the house has", answer: "Ledger"}, do: (*Exchange).adminLedger},
	{endpoint: endpoint{method: "GET", path: "/faults", summary: "The script of faults with what it has met", answer: "Faults"}, do: (*Exchange).adminFaults},
	{endpoint: endpoint{method: "PUT", path: "/faults", summary: "Put a script of faults in the place of the one before; it begins now", answer: "Faults",
		params: []parameter{{name: "faults", kind: kindList, required: true}, {name: "seed", kind: kindInteger, max: 1<<63 - 1, doc: "the exchange's where it is left out"}}}, do: (*Exchange).adminPutFaults},
	{endpoint: endpoint{method: "DELETE", path: "/faults", summary: "No more faults; requests that a fault delays go on at once", answer: "Faults"}, do: (*Exchange).adminDeleteFaults},
}

// serveAdmin answers a request to /admin/… from this machine: 403 with 320 for a wrong token, 404 with 110 for an unknown path. The
// interface describes itself at GET /admin/openapi.json.
func (ex *Exchange) serveAdmin(w http.ResponseWriter, r *http.Request) {
	v := ex.front.enter()
	defer ex.front.leave(v)
	refusal := ex.authorize(r)
	declareJSON(w.Header())
	if refusal == nil && r.Method == http.MethodGet && r.URL.Path == adminRoot+"openapi.json" {
		w.Write(ex.adminTable.describeAdmin(adminRoot))
		return
	}
	if refusal == nil {
		v.endpoint = ex.adminTable.exact(r.Method, "/"+strings.TrimPrefix(r.URL.Path, adminRoot))
		if v.endpoint == nil {
			refusal = exchange.ErrCode(110)
		}
	}
	if refusal == nil {
		refusal = v.read(r, false)
	}
	if refusal == nil {
		refusal = ex.front.decode(&v.call, "", r.URL.RawQuery, v.body)
	}
	if refusal == nil {
		refusal = ex.carryOut(&v.call)
	}
	if refusal != nil {
		w.WriteHeader(refusal.Status)
		v.out = exchange.AppendError(v.out[:0], refusal)
	}
	w.Write(v.out) // who went away hears nothing; the work is done
}

// authorize compares the token in constant time, its length included.
func (ex *Exchange) authorize(r *http.Request) *exchange.Error {
	shown := sha256.Sum256([]byte(r.Header.Get("Authorization")))
	want := sha256.Sum256([]byte("Bearer " + ex.config.Admin))
	if subtle.ConstantTimeCompare(shown[:], want[:]) != 1 {
		return exchange.ErrCode(320)
	}
	return nil
}

// invalid says of a parameter of the admin interface what is wrong with it.
func invalid(err error) *exchange.Error {
	refusal := *exchange.ErrCode(exchange.CodeInvalid)
	refusal.Message = err.Error()
	return &refusal
}

// answerJSON makes an answer of the admin interface.
func answerJSON(c *call, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic("sandbox: " + err.Error()) // an answer that is no JSON
	}
	c.out = append(c.out, text...)
}

// adminClock answers GET /admin/clock.
func (ex *Exchange) adminClock(c *call) *exchange.Error {
	now := max(ex.clock.Now(), ex.reached)
	w := wire.Writer{Dst: c.out}
	w.Open('{')
	w.Integer("time", now.Millis())
	w.Integer("timeNs", int64(now))
	w.Text("speed", strconv.FormatFloat(ex.clock.Speed(), 'f', -1, 64))
	w.Close('}')
	c.out = w.Dst
	return nil
}

// adminMoveClock answers POST /admin/clock. Of advance and time there may be one.
func (ex *Exchange) adminMoveClock(c *call) *exchange.Error {
	now := ex.clock.Now()
	target, refused := targetOf(c, now)
	if refused != nil {
		return refused
	}
	if c.has("speed") {
		speed, err := strconv.ParseFloat(c.text("speed"), 64)
		if err != nil || speed > FastestClock || ex.clock.SetSpeed(speed) != nil {
			return exchange.Invalid("speed")
		}
	}
	if target > now { // a clock that runs may have passed it meanwhile
		ex.clock.Advance(target.Sub(ex.clock.Now()))
	}
	ex.advance(max(ex.clock.Now(), ex.reached))
	return ex.adminClock(c)
}

// targetOf returns where the clock is to be moved.
func targetOf(c *call, now market.Time) (market.Time, *exchange.Error) {
	target := now
	switch {
	case c.has("advance") && c.has("time"):
		return 0, exchange.Exclusive("advance", "time")
	case c.has("advance"):
		d, err := time.ParseDuration(c.text("advance"))
		if err != nil || d < 0 || d > longestAdvance {
			return 0, exchange.Invalid("advance")
		}
		target = later(now, d)
	case c.has("time"):
		at, err := market.TimeOfMillis(c.integer("time", 0))
		if err != nil || at.Millis() < now.Millis() || at > later(now, longestAdvance) {
			return 0, exchange.Invalid("time")
		}
		target = max(now, at)
	}
	return target, nil
}
