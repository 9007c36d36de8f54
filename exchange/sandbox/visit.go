package sandbox

import (
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// maxBody is the largest body of a request, in bytes.
const maxBody = 64 << 10

// jsonContent is the value of the header Content-Type of every answer.
var jsonContent = []string{"application/json"}

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

// declareJSON sets the header Content-Type of an answer.
func declareJSON(h http.Header) { h["Content-Type"] = jsonContent }

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

// admit finds out whose request it is, and charges it. unread says what is wrong with its body.
func (f *front) admit(v *visit, r *http.Request, now market.Time, unread *exchange.Error) (refusal *exchange.Error) {
	cost := 1
	v.peer = peerOf(r.RemoteAddr)
	if v.endpoint == nil {
		refusal = exchange.ErrCode(110)
	} else {
		cost = v.endpoint.cost(r.URL.RawQuery)
		refusal = unread
	}
	if refusal == nil {
		v.key, refusal = f.identify(v, r, v.skewed(now))
	}
	within := false
	if v.key != nil {
		v.account = v.key.account
		v.bill, within = f.limiter.chargeKey(v.key, cost, now)
	} else {
		v.bill, within = f.limiter.chargePeer(v.peer, cost, now)
	}
	if !within {
		return exchange.Banned(v.bill.resetAt)
	}
	return refusal
}

// peerOf returns the IP address of the other side; the zero one where there is none, as in a request made by hand.
func peerOf(remote string) netip.Addr {
	peer, _ := netip.ParseAddrPort(remote) // the zero AddrPort of an error is what we want
	return peer.Addr().Unmap()
}

// head sets the headers of the answer and its status.
func (f *front) head(w http.ResponseWriter, v *visit) {
	h := w.Header()
	declareJSON(h)
	f.budget.write(h, v.bill)
	if v.status == 0 {
		v.status = http.StatusOK
	}
}

// send writes the answer after head.
func (v *visit) send(w http.ResponseWriter) {
	if len(v.out) > 1<<11 { // net/http counts a shorter body itself
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(v.out))}
	}
	if v.status != http.StatusOK {
		w.WriteHeader(v.status)
	}
	w.Write(v.out) // a client that has gone gets nothing; the work is done
}
