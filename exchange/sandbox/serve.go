package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

// Server returns an HTTP server for the exchange. Its limits keep a client that sends slowly, reads
// slowly or sends nothing from holding a connection for long, and headers from filling the memory:
// 16 KiB of them, 10 s for a request to arrive, 30 s for an answer to be taken, two minutes of
// silence between requests. The address, and the listening, are the caller's.
func (ex *Exchange) Server() *http.Server {
	return &http.Server{
		Handler: ex, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 *
			time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
}

// ServeHTTP answers requests to /v2/… (specification 1) and to /openapi.json, the description of
// the former, which needs no credentials and costs nothing. A refusal is {"errorCode":…,"error":…}
// (specification 7); every answer of /v2 carries the three headers of the budget (specification 8).
// A request goes through these steps, and the first refusal is the answer:
//
//	endpoint      404 with 110 for an unknown path or method
//	faults        on demand: the request is lost, late, or answered with an error (package fault)
//	body          400 with 102: it has more than 64 KiB, or its Content-Type is not application/json
//	credentials   403 with 300 … 312
//	budget        429 with 105. The key pays, or the IP address of a request that was refused so far
//	parameters    400 with 102 and 200 … 205
//	the endpoint  its own refusals
func (ex *Exchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	switch {
	case path == "/openapi.json" && r.Method == http.MethodGet:
		api.DeclareJSON(w.Header())
		w.Write(ex.door.OpenAPI())
		return
	case isSocket(r):
		ex.serveSocket(w, r)
		return
	case strings.HasPrefix(path, adminRoot) && ex.config.Admin != "" && api.PeerOf(r.RemoteAddr).IsLoopback():
		ex.serveAdmin(w, r)
		return
	}
	name := ""
	v := ex.door.NewRequest()
	defer ex.door.Release(v)
	if rest, ok := strings.CutPrefix(path, api.Version); ok {
		v.Endpoint, name = ex.door.Table.Route(r.Method, rest)
	}
	ex.serve(w, r, v, name)
}

// serve takes a request whose endpoint is known through its steps. name is the market that its path
// names.
func (ex *Exchange) serve(w http.ResponseWriter, r *http.Request, v *api.Request, name string) {
	refusal := v.Read(r, ex.config.Rules.Strict)
	var decided *fault.Decision
	if script := ex.requestFaults.Load(); script != nil && v.Endpoint != nil {
		if decided = script.Choose(ex.door, v, r, name, ex.clock.Now()); decided != nil {
			ex.pause(decided, decided.Before)
			if decided.Arrive(w) {
				return
			}
		}
	}
	if refusal = ex.door.Admit(v, r, ex.clock.Now(), refusal); refusal != nil && refusal.Code == exchange.CodeBanned {
		ex.saveBan()
	}
	if refusal == nil {
		refusal = ex.door.Decode(&v.Call, name, r.URL.RawQuery, v.Body)
	}
	if refusal == nil {
		refusal = decided.Refuse(ex.clock.Now())
	}
	if refusal == nil {
		refusal = ex.callEndpoint(&v.Call)
	}
	if refusal != nil {
		v.Out, v.More, v.Status = exchange.AppendError(v.Out[:0], refusal), nil, refusal.Status
	}
	if r.URL.Path == api.Version+"/time" { // its Date is of the same clock, which need not be the machine's
		w.Header().Set("Date", v.Skewed(ex.clock.Now()).Std().UTC().Format(http.TimeFormat))
	}
	ex.door.WriteHead(w, v)
	if decided != nil {
		v.Gather() // faults count the bytes of an answer
		ex.pause(decided, decided.After)
		if decided.Depart(w, v) {
			return
		}
	}
	v.Send(w)
}

// pause lets a request wait on the exchange's clock, also when its client has gone.
func (ex *Exchange) pause(decided *fault.Decision, d market.Duration) {
	if d > 0 {
		ex.clock.wait(later(ex.clock.Now(), d), decided.Over)
	}
}

// callEndpoint brings the exchange up to now, calls the endpoint of a request and saves. An
// endpoint that panics is our mistake: the answer is 101, outcome unknown, and the lock is
// released.
func (ex *Exchange) callEndpoint(c *api.Call) (refusal *exchange.Error) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	defer func() {
		ex.settleLater = 0
		if value := recover(); value != nil {
			refusal = exchange.ErrCode(exchange.CodeUnknownResult)
			// it may be half done: only the file is whole
			ex.store.stop(fmt.Errorf("a request ended in a panic: %v", value))
			if ex.onPanic != nil {
				ex.onPanic(value)
			}
		}
	}()
	if refusal = ex.stopped(); refusal != nil {
		return refusal
	}
	c.Now = max(ex.clock.Now(), ex.reached)
	ex.advance(c.Now)
	ex.settleLater = c.SettleLater
	refusal = c.Endpoint.Do(c)
	ex.settleLater = 0                                                // before save releases the lock
	operated := c.Account == 0 && c.Endpoint.Method != http.MethodGet // the operator changes something
	if ex.saveAndTell(operated) != nil {
		return exchange.ErrCode(exchange.CodeUnknownResult)
	}
	return refusal
}

// saveBan writes a new ban to the state file before the answer.
func (ex *Exchange) saveBan() {
	if ex.store == nil || !ex.door.HasNewBan() {
		return
	}
	ex.mu.Lock()
	defer ex.mu.Unlock()
	_ = ex.save(true) // the client is refused in any case; Err returns the error
}
