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
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// adminRoot is where the paths of the admin interface begin.
const adminRoot = "/admin/"

// maxAdvance bounds the step of the clock in one request: everything that the step makes due
// happens before the answer.
const maxAdvance = 31 * day

// adminEndpoints are the admin interface: the actions of an exchange's operator, for tests. It
// answers requests from the same machine that carry the token of Config.Admin in the header
// Authorization, "Bearer TOKEN"; a request costs nothing. Errors are those of the API. Paths begin
// with /admin.
var adminEndpoints = []endpointRow{
	{api.Endpoint{Method: "GET", Path: "/clock", Summary: "The exchange's time", Answer: "Clock"},
		(*Exchange).adminClock},
	{api.Endpoint{Method: "POST", Path: "/clock",
		Summary: "Move the clock, or set its speed; what becomes due has happened when the answer comes",
		Answer:  "Clock",
		Params: []api.Parameter{{Name: "advance", Kind: api.Text, Doc: `how far to move it, "1m30s"; at most 744h`},
			{Name: "time", Kind: api.Integer, Max: lastMillis,
				Doc: "when to move it to, Unix ms; not back, at most 744h"},
			{Name: "speed", Kind: api.Decimal, Doc: "times the machine's speed from now on, to 10000; 0: it stands"}}},
		(*Exchange).adminMoveClock},
	{api.Endpoint{Method: "POST", Path: "/status", Summary: "Change a market's status", Answer: "Market",
		Params: []api.Parameter{oneMarket, {Name: "status", Kind: api.Word, Required: true, Words: listedStatuses(),
			Doc: "any after any"}, {Name: "price", Kind: api.Decimal,
			Doc: "opening price of auctionMatching; the one at which most is traded where it is left out"}}},
		(*Exchange).adminStatus},
	{api.Endpoint{Method: "POST", Path: "/rules",
		Summary: "Change a market's rules; resting orders stay as they are", Answer: "Market",
		Params: []api.Parameter{oneMarket, {Name: "tickSize", Kind: api.Decimal},
			{Name: "minOrderInBaseAsset", Kind: api.Decimal}, {Name: "minOrderInQuoteAsset", Kind: api.Decimal},
			{Name: "maxOrderInBaseAsset", Kind: api.Decimal}, {Name: "maxOrderInQuoteAsset", Kind: api.Decimal},
			{Name: "quantityDecimals", Kind: api.Integer, Max: market.MaxDigits},
			{Name: "notionalDecimals", Kind: api.Integer, Max: market.MaxDigits},
			{Name: "maxOpenOrders", Kind: api.Integer, Max: 1_000_000_000, Doc: "0: no limit"}}},
		(*Exchange).adminRules},
	{api.Endpoint{Method: "POST", Path: "/price",
		Summary: "Move a market's price as its source does: the liquidity goes with it and takes what the price runs " +
			"through",
		Answer: "TickerPrice", Params: []api.Parameter{oneMarket,
			{Name: "price", Kind: api.Decimal, Required: true, Doc: "a multiple of the tickSize"},
			{Name: "amount", Kind: api.Decimal, Doc: "of a trade of others at that price; none where it is left out"}}},
		(*Exchange).adminPrice},
	{api.Endpoint{Method: "POST", Path: "/cancelOrders",
		Summary: "End open orders: all, those of a market, of an account, or one", Answer: "CancelledByAdmin",
		Params: []api.Parameter{anyMarket, {Name: "account", Kind: api.Text, Doc: "all where it is left out"},
			{Name: "orderId", Kind: api.UUID, Doc: "needs market"}, {Name: "reason", Kind: api.Word,
				Words: fault.Reasons, Doc: "restatementReason; cancelOnAdminRequest where it is left out"}}},
		(*Exchange).adminCancelOrders},
	{api.Endpoint{Method: "POST", Path: "/deposit",
		Summary: "Let money arrive for an account; it is credited with its confirmations", Answer: "Transfer",
		Params: []api.Parameter{{Name: "account", Kind: api.Text, Required: true},
			{Name: "symbol", Kind: api.AssetSymbol, Required: true},
			{Name: "amount", Kind: api.Decimal, Required: true}}}, atBank((*bank).adminDeposit)},
	{api.Endpoint{Method: "GET", Path: "/transfers", Summary: "Deposits and withdrawals under way",
		Answer: "Transfers"}, atBank((*bank).adminTransfers)},
	{api.Endpoint{Method: "POST", Path: "/cancelTransfer",
		Summary: "Cancel a withdrawal that has not been sent, or a deposit that has not been credited",
		Answer:  "Transfer", Params: []api.Parameter{{Name: "transactionId", Kind: api.UUID, Required: true}}},
		atBank((*bank).adminCancelTransfer)},
	{api.Endpoint{Method: "GET", Path: "/ledger",
		Summary: "Every balance, and per asset what was transferred and what the exchange has", Answer: "Ledger"},
		atBank((*bank).adminLedger)},
	{api.Endpoint{Method: "GET", Path: "/faults", Summary: "The script of faults with what it has met",
		Answer: "Faults"}, (*Exchange).adminFaults},
	{api.Endpoint{Method: "PUT", Path: "/faults",
		Summary: "Put a script of faults in the place of the one before; it begins now", Answer: "Faults",
		Params: []api.Parameter{{Name: "faults", Kind: api.List, Required: true},
			{Name: "seed", Kind: api.Integer, Max: 1<<63 - 1, Doc: "the exchange's where it is left out"}}},
		(*Exchange).adminPutFaults},
	{api.Endpoint{Method: "DELETE", Path: "/faults",
		Summary: "No more faults; requests that a fault delays go on at once", Answer: "Faults"},
		(*Exchange).adminDeleteFaults},
}

// serveAdmin answers a request to /admin/… from this machine: 403 with 320 for a wrong token, 404
// with 110 for an unknown path. The interface describes itself at GET /admin/openapi.json.
func (ex *Exchange) serveAdmin(w http.ResponseWriter, r *http.Request) {
	v := ex.door.NewRequest()
	defer ex.door.Release(v)
	refusal := authorize(r, ex.config.Admin)
	api.DeclareJSON(w.Header())
	if refusal == nil && r.Method == http.MethodGet && r.URL.Path == adminRoot+"openapi.json" {
		w.Write(ex.adminTable.DescribeAdmin(adminRoot))
		return
	}
	if refusal == nil {
		v.Endpoint = ex.adminTable.Exact(r.Method, "/"+strings.TrimPrefix(r.URL.Path, adminRoot))
		if v.Endpoint == nil {
			refusal = exchange.ErrCode(110)
		}
	}
	if refusal == nil {
		refusal = v.Read(r, false)
	}
	if refusal == nil {
		refusal = ex.door.Decode(&v.Call, "", r.URL.RawQuery, v.Body)
	}
	if refusal == nil {
		refusal = ex.callEndpoint(&v.Call)
	}
	if refusal != nil {
		w.WriteHeader(refusal.Status)
		v.Out = exchange.AppendError(v.Out[:0], refusal)
	}
	w.Write(v.Out) // a client that has gone gets nothing; the work is done
}

// authorize compares the token in constant time, its length included.
func authorize(r *http.Request, token string) *exchange.Error {
	shown := sha256.Sum256([]byte(r.Header.Get("Authorization")))
	want := sha256.Sum256([]byte("Bearer " + token))
	if subtle.ConstantTimeCompare(shown[:], want[:]) != 1 {
		return exchange.ErrCode(320)
	}
	return nil
}

// invalid is error 205 with the fault of a parameter of the admin interface.
func invalid(err error) *exchange.Error {
	refusal := *exchange.ErrCode(exchange.CodeInvalid)
	refusal.Message = err.Error()
	return &refusal
}

// answerJSON makes an answer of the admin interface.
func answerJSON(c *api.Call, value any) {
	text, _ := json.Marshal(value) // names and numbers
	c.Out = append(c.Out, text...)
}

// adminClock answers GET /admin/clock.
func (ex *Exchange) adminClock(c *api.Call) *exchange.Error {
	now := max(ex.clock.Now(), ex.reached)
	return object(c, func(w *wire.Writer) {
		w.Integer("time", now.Millis())
		w.Integer("timeNs", int64(now))
		w.Text("speed", strconv.FormatFloat(ex.clock.Speed(), 'f', -1, 64))
	})
}

// adminMoveClock answers POST /admin/clock. Of advance and time there may be one.
func (ex *Exchange) adminMoveClock(c *api.Call) *exchange.Error {
	now := ex.clock.Now()
	target, refused := targetOf(c, now)
	if refused != nil {
		return refused
	}
	if c.Has("speed") {
		speed, err := strconv.ParseFloat(c.Text("speed"), 64)
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
func targetOf(c *api.Call, now market.Time) (market.Time, *exchange.Error) {
	target := now
	switch {
	case c.Has("advance") && c.Has("time"):
		return 0, exchange.Exclusive("advance", "time")
	case c.Has("advance"):
		d, err := time.ParseDuration(c.Text("advance"))
		if err != nil || d < 0 || d > maxAdvance {
			return 0, exchange.Invalid("advance")
		}
		target = later(now, d)
	case c.Has("time"):
		at, err := market.TimeOfMillis(c.Integer("time", 0))
		if err != nil || at.Millis() < now.Millis() || at > later(now, maxAdvance) {
			return 0, exchange.Invalid("time")
		}
		target = max(now, at)
	}
	return target, nil
}
