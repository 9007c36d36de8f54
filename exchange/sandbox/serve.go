package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
)

// maxBody is the largest body of a request, in bytes.
const maxBody = 64 << 10

// jsonContent is the value of the header Content-Type of every answer.
var jsonContent = []string{"application/json"}

// ServeHTTP answers requests to /v2/… (specification 1) and to /openapi.json, the description of the former, which needs no
// credentials and costs nothing. A refusal is {"errorCode":…,"error":…} (specification 7); every answer of /v2 carries the three headers
// of the budget (specification 8). A request goes through these steps, and the first refusal is the answer:
//
//	endpoint      404 with 110 for an unknown path or method
//	faults        on demand: the request is lost, late, or met by an error in place of its work (fault.go)
//	body          400 with 102 where its header Content-Type is not application/json, or it has more than 64 KiB
//	credentials   403 with 300 … 312
//	budget        429 with 105; what failed so far costs the IP address, which hears that in its place where it is banned, else the key pays
//	parameters    400 with 102 and 200 … 205
//	the endpoint  whatever it answers
func (ex *Exchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	switch {
	case path == "/openapi.json" && r.Method == http.MethodGet:
		w.Header()["Content-Type"] = jsonContent
		w.Write(ex.front.openAPI())
		return
	case strings.HasPrefix(path, adminRoot) && ex.config.Admin != "" && peerOf(r.RemoteAddr).IsLoopback():
		ex.serveAdmin(w, r)
		return
	}
	name := ""
	v := ex.front.enter()
	defer ex.front.leave(v)
	if rest, ok := strings.CutPrefix(path, version); ok {
		v.endpoint, name = route(r.Method, rest)
	}
	ex.serve(w, r, v, name)
}

// serve takes a request whose endpoint is known through its steps. name is the market that its path names.
func (ex *Exchange) serve(w http.ResponseWriter, r *http.Request, v *visit, name string) {
	refusal := v.read(r, ex.config.Rules.Strict)
	if script := ex.front.script.Load(); script != nil && v.endpoint != nil {
		if v.fate = script.choose(ex, v, r, name, ex.clock.Now()); v.fate != nil && v.fate.arrive(ex, w) {
			return
		}
	}
	refusal = ex.admit(v, r, refusal)
	if refusal == nil {
		refusal = ex.decode(&v.call, name, r.URL.RawQuery, v.body)
	}
	if refusal == nil {
		refusal = v.fate.refuse(ex.clock.Now())
	}
	if refusal == nil {
		refusal = ex.carryOut(&v.call)
	}
	if refusal != nil {
		v.out, v.status = exchange.AppendError(v.out[:0], refusal), refusal.Status
	}
	if r.URL.Path == version+"/time" { // its Date is of the same clock, which need not be the machine's
		w.Header().Set("Date", v.fate.skewed(ex.clock.Now()).Std().UTC().Format(http.TimeFormat))
	}
	ex.answer(w, v)
}

// admit finds out whose request it is, and charges it. unread says what is wrong with its body.
func (ex *Exchange) admit(v *visit, r *http.Request, unread *exchange.Error) (refusal *exchange.Error) {
	now, cost := ex.clock.Now(), 1
	v.peer = peerOf(r.RemoteAddr)
	if v.endpoint == nil {
		refusal = exchange.ErrCode(110)
	} else {
		cost = v.endpoint.cost(r.URL.RawQuery)
		refusal = unread
	}
	if refusal == nil {
		v.key, refusal = ex.identify(v, r, v.fate.skewed(now))
	}
	within := false
	if v.key != nil {
		v.account = v.key.account
		v.bill, within = ex.front.limiter.chargeKey(v.key, cost, now)
	} else {
		v.bill, within = ex.front.limiter.chargePeer(v.peer, cost, now)
	}
	if !within {
		ex.saveBan()
		return exchange.Banned(v.bill.resetAt)
	}
	return refusal
}

// peerOf returns the IP address of the other side; the zero one where there is none, as in a request made by hand.
func peerOf(remote string) netip.Addr {
	peer, _ := netip.ParseAddrPort(remote) // the zero AddrPort of an error is what we want
	return peer.Addr().Unmap()
}

// read reads the body and checks its type and size.
func (v *visit) read(r *http.Request, strict bool) *exchange.Error {
	cause := v.readBody(r)
	if (strict || len(v.body) > 0) && !isJSON(first(r.Header["Content-Type"])) {
		return exchange.ErrCode(exchange.CodeBadJSON, "the header Content-Type must be application/json")
	}
	if len(v.body) > maxBody {
		return exchange.ErrCode(exchange.CodeBadJSON, "it has more than "+strconv.Itoa(maxBody)+" bytes")
	}
	if cause != nil {
		return exchange.ErrCode(exchange.CodeBadJSON, "it ended early")
	}
	return nil
}

// readBody reads up to one byte more than a body may have.
func (v *visit) readBody(r *http.Request) error {
	if r.Body == nil || r.ContentLength == 0 {
		return nil
	}
	if v.body == nil {
		v.body = make([]byte, 0, 1<<10)
	}
	for len(v.body) <= maxBody {
		if len(v.body) == cap(v.body) {
			v.body = append(v.body, 0)[:len(v.body)]
		}
		n, err := r.Body.Read(v.body[len(v.body):min(cap(v.body), maxBody+1)])
		v.body = v.body[:len(v.body)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isJSON reports whether a Content-Type is JSON, whatever its charset.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}

// carryOut lets happen what is due and then calls the endpoint. A panic there is a mistake of ours: the client hears 101, which leaves
// the outcome open, and the next request finds the lock free.
func (ex *Exchange) carryOut(c *call) (refusal *exchange.Error) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	defer func() {
		ex.unsettled = 0
		if value := recover(); value != nil {
			refusal = exchange.ErrCode(exchange.CodeUnknownResult)
			ex.store.stop(fmt.Errorf("a request ended in a panic: %v", value)) // it may be half done: only the file is whole
			if ex.front.mishap != nil {
				ex.front.mishap(value)
			}
		}
	}()
	if refusal = ex.stopped(); refusal != nil {
		return refusal
	}
	c.now = max(ex.clock.Now(), ex.reached)
	ex.advance(c.now)
	ex.unsettled = c.fate.settlement()
	refusal = c.endpoint.do(ex, c)
	ex.unsettled = 0 // before save lets others in
	if ex.save(c.operates()) != nil {
		return exchange.ErrCode(exchange.CodeUnknownResult)
	}
	return refusal
}

// operates reports whether the operator changes something.
func (c *call) operates() bool { return c.account == nil && c.endpoint.method != http.MethodGet }

// answer writes the answer, which is complete in the visit.
func (ex *Exchange) answer(w http.ResponseWriter, v *visit) {
	h := w.Header()
	h["Content-Type"] = jsonContent
	ex.front.budget.write(h, v.bill)
	if v.status == 0 {
		v.status = http.StatusOK
	}
	if v.fate != nil && v.fate.depart(ex, w, v) {
		return
	}
	if len(v.out) > 1<<11 { // net/http counts a shorter body itself
		h["Content-Length"] = []string{strconv.Itoa(len(v.out))}
	}
	if v.status != http.StatusOK {
		w.WriteHeader(v.status)
	}
	w.Write(v.out) // who went away hears nothing; the work is done
}
