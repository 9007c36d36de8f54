package api

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// MaxBody is the largest body of a request, in bytes.
const MaxBody = 64 << 10

// jsonContent is the value of the header Content-Type of every answer.
var jsonContent = []string{"application/json"}

// Request is one request while it is served, with its call. It comes from a pool and goes back: a
// handler keeps neither the Call nor its Out. Texts of arguments are parts of the query or of a
// copy of the body: clone a text to keep it for long.
type Request struct {
	Call
	key    *activeKey // nil: none, or not genuine
	Body   []byte
	charge charge
	shown  credentials

	message   []byte // the signed bytes
	compact   bytes.Buffer
	signature [sha256.Size]byte
	sum       []byte
}

// maxPooled is the largest memory for an answer that goes back to the pool, in bytes: a list of a
// thousand orders has room.
const maxPooled = 1 << 20

// NewRequest takes a request from the pool. Release it when it is answered.
func (d *Door) NewRequest() *Request { return d.requests.Get().(*Request) }

// Release gives a request back to the pool, emptied: nothing of it may reach the next client.
func (d *Door) Release(q *Request) {
	clear(q.Args)
	q.Call = Call{Args: q.Args[:0], Out: q.Out[:0]}
	q.key, q.Body, q.message, q.shown, q.charge = nil, q.Body[:0], q.message[:0], credentials{}, charge{}
	if cap(q.Out) <= maxPooled {
		d.requests.Put(q)
	}
}

// Read reads the body and checks its type and size.
func (q *Request) Read(r *http.Request, strict bool) *exchange.Error {
	cause := q.readBody(r)
	if (strict || len(q.Body) > 0) && !isJSON(first(r.Header["Content-Type"])) {
		return exchange.ErrCode(exchange.CodeBadJSON, "the header Content-Type must be application/json")
	}
	if len(q.Body) > MaxBody {
		return exchange.ErrCode(exchange.CodeBadJSON, "it has more than "+strconv.Itoa(MaxBody)+" bytes")
	}
	if cause != nil {
		return exchange.ErrCode(exchange.CodeBadJSON, "it ended early")
	}
	return nil
}

// DeclareJSON sets the header Content-Type of an answer.
func DeclareJSON(h http.Header) { h["Content-Type"] = jsonContent }

// readBody reads up to one byte more than a body may have.
func (q *Request) readBody(r *http.Request) error {
	if r.Body == nil || r.ContentLength == 0 {
		return nil
	}
	if q.Body == nil {
		q.Body = make([]byte, 0, 1<<10)
	}
	for len(q.Body) <= MaxBody {
		if len(q.Body) == cap(q.Body) {
			q.Body = append(q.Body, 0)[:len(q.Body)]
		}
		n, err := r.Body.Read(q.Body[len(q.Body):min(cap(q.Body), MaxBody+1)])
		q.Body = q.Body[:len(q.Body)+n]
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

// Admit finds the key of a request, checks the signature, and charges the request. unread is the
// error of an unreadable body.
func (d *Door) Admit(q *Request, r *http.Request, now market.Time, unread *exchange.Error) (refusal *exchange.Error) {
	cost := 1
	if q.Endpoint == nil {
		refusal = exchange.ErrCode(110)
	} else {
		cost = q.Endpoint.Cost(r.URL.RawQuery)
		refusal = unread
	}
	if refusal == nil {
		q.key, refusal = d.identify(q, r, q.Skewed(now))
	}
	within := false
	if q.key != nil {
		q.Account = q.key.account
		q.charge, within = d.limiter.chargeKey(q.key, cost, now)
	} else {
		q.charge, within = d.limiter.chargePeer(PeerOf(r.RemoteAddr), cost, now)
	}
	if !within {
		return exchange.Banned(q.charge.resetAt)
	}
	return refusal
}

// PeerOf returns the IP address of the other side; the zero one where there is none, as in a
// request made by hand.
func PeerOf(remote string) netip.Addr {
	peer, _ := netip.ParseAddrPort(remote) // an error gives the zero AddrPort, which serves
	return peer.Addr().Unmap()
}

// WriteHead sets the headers of the answer and its status.
func (d *Door) WriteHead(w http.ResponseWriter, q *Request) {
	h := w.Header()
	DeclareJSON(h)
	d.budget.write(h, q.charge)
	q.Status = cmp.Or(q.Status, http.StatusOK)
}

// Send writes the answer after head. An answer of one part has its length in a header; the parts of
// a longer one are made and written one by one, and a client that takes no more ends that.
func (q *Request) Send(w http.ResponseWriter) {
	more := false
	if q.More != nil {
		q.Out, more = q.More(q.Out)
	}
	if len(q.Out) > 1<<11 && !more { // net/http counts a shorter body itself
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(q.Out))}
	}
	if q.Status != http.StatusOK {
		w.WriteHeader(q.Status)
	}
	for {
		if _, err := w.Write(q.Out); err != nil || !more {
			return // a client that has gone gets nothing; the work is done
		}
		q.Out, more = q.More(q.Out[:0])
	}
}
