package fault

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// Decision is the effect of a script's faults on one request, beside those on its call.
type Decision struct {
	Over   chan struct{}   // of the script
	Before market.Duration // wait before the request is read
	After  market.Duration // wait before the answer is sent
	end    *Fault          // the fault that changes the answer; nil: the answer goes out
}

// take adds a fault. It reports false where an earlier fault already decides the answer.
func (f *Decision) take(one *Fault, c *api.Call) bool {
	switch one.Kind {
	case DelayRequest:
		f.Before += one.Delay
	case DelayAnswer:
		f.After += one.Delay
	case LateFill:
		c.FillLater += one.Delay
	case LateSettlement:
		c.SettleLater += one.Delay
	case ClockSkew:
		c.Skew += one.Skew
	default:
		if f.end != nil {
			return false
		}
		f.end = one
	}
	return true
}

// page is an answer like that of a proxy before an exchange.
const page = "<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>\n"

// Arrive applies the faults before the request is checked. It reports whether the request is over.
func (f *Decision) Arrive(w http.ResponseWriter) (over bool) {
	if f.end == nil || f.end.Work {
		return false
	}
	switch f.end.Kind {
	case DropRequest:
		panic(http.ErrAbortHandler)
	case ResetRequest:
		reset(w)
	case HTML:
		writePage(w, f.end.Code)
	default:
		return false
	}
	return true
}

// Refuse returns the error that is answered in place of the work, or nil.
func (f *Decision) Refuse(now market.Time) *exchange.Error {
	if f == nil || f.end == nil || f.end.Kind != Error || f.end.Work {
		return nil
	}
	return f.refusal(now)
}

// refusal words the error on demand.
func (f *Decision) refusal(now market.Time) *exchange.Error {
	if f.end.Code == exchange.CodeBanned {
		return exchange.Banned(now.Add(time.Minute).Millis())
	}
	return exchange.ErrCode(f.end.Code)
}

// Depart applies the decision to the answer, which is complete in the visit with its headers set.
// It reports whether it has sent or dropped the answer.
func (f *Decision) Depart(w http.ResponseWriter, v *api.Request) (over bool) {
	if f.end == nil {
		return false
	}
	switch f.end.Kind {
	case DropAnswer:
		panic(http.ErrAbortHandler)
	case ResetAnswer:
		reset(w)
	case Truncate:
		truncate(w, v)
	case HTML: // with work: without, it never comes here
		clear(w.Header())
		writePage(w, f.end.Code)
	case Error:
		if !f.end.Work {
			return false
		}
		refusal := f.refusal(v.Now)
		v.Out, v.Status = exchange.AppendError(v.Out[:0], refusal), refusal.Status
		return false
	default:
		return false
	}
	return true
}

// EndsSocket reports whether the socket of an action ends: before its work, or after it.
func (f *Decision) EndsSocket(worked bool) bool {
	if f == nil || f.end == nil {
		return false
	}
	switch f.end.Kind {
	case DropRequest, ResetRequest:
		return !worked
	case DropAnswer, ResetAnswer, Truncate:
		return worked
	case HTML: // there are no pages on a socket
		return worked == f.end.Work
	}
	return false
}

// Denies returns the error that is answered although the work of an action is done, or nil.
func (f *Decision) Denies(now market.Time) *exchange.Error {
	if f == nil || f.end == nil || f.end.Kind != Error || !f.end.Work {
		return nil
	}
	return f.refusal(now)
}

// writePage answers with an HTML page.
func writePage(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, page) // a client that has gone gets nothing
}

// truncate sends the headers of the whole answer and half of its body, and closes the connection.
func truncate(w http.ResponseWriter, v *api.Request) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(max(1, len(v.Out)))}
	w.WriteHeader(v.Status)
	w.Write(v.Out[:len(v.Out)/2])
	http.NewResponseController(w).Flush() // after a failed flush the connection is closed all the same
	panic(http.ErrAbortHandler)
}

// reset resets the connection, so that the client's system reports a reset; a shared connection
// (HTTP/2, a recorder) is closed.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0) // without it the close is an orderly one, which is a fault as well
	}
	conn.Close()
}
