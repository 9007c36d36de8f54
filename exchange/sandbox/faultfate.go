package sandbox

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// decision is what the faults of a script do to one request, beside their effects on its call.
type decision struct {
	over   chan struct{}   // of the script
	before market.Duration // wait before the request is read
	after  market.Duration // wait before the answer is sent
	end    *Fault          // decides what becomes of the answer; nil: it goes out
}

// take adds a fault. It reports false for one that comes too late to decide.
func (f *decision) take(one *Fault, c *call) bool {
	switch one.Kind {
	case FaultDelayRequest:
		f.before += one.Delay
	case FaultDelayAnswer:
		f.after += one.Delay
	case FaultLateFill:
		c.fillLater += one.Delay
	case FaultLateSettlement:
		c.settleLater += one.Delay
	case FaultClockSkew:
		c.skew += one.Skew
	default:
		if f.end != nil {
			return false
		}
		f.end = one
	}
	return true
}

// page is what a proxy before an exchange might say.
const page = "<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>\n"

// arrive is what happens to the request before anybody has looked at it. It reports whether that was all.
func (f *decision) arrive(w http.ResponseWriter) (over bool) {
	if f.end == nil || f.end.Work {
		return false
	}
	switch f.end.Kind {
	case FaultDropRequest:
		panic(http.ErrAbortHandler)
	case FaultResetRequest:
		reset(w)
	case FaultHTML:
		writePage(w, f.end.Code)
	default:
		return false
	}
	return true
}

// refuse returns the error that is answered in place of the work, or nil.
func (f *decision) refuse(now market.Time) *exchange.Error {
	if f == nil || f.end == nil || f.end.Kind != FaultError || f.end.Work {
		return nil
	}
	return f.refusal(now)
}

// refusal words the error on demand.
func (f *decision) refusal(now market.Time) *exchange.Error {
	if f.end.Code == exchange.CodeBanned {
		return exchange.Banned(now.Add(time.Minute).Millis())
	}
	return exchange.ErrCode(f.end.Code)
}

// depart is what happens to the answer, which is complete in the visit with its headers set. It reports whether it has been dealt with.
func (f *decision) depart(w http.ResponseWriter, v *visit) (over bool) {
	if f.end == nil {
		return false
	}
	switch f.end.Kind {
	case FaultDropAnswer:
		panic(http.ErrAbortHandler)
	case FaultResetAnswer:
		reset(w)
	case FaultTruncate:
		truncate(w, v)
	case FaultHTML: // with work: without, it never comes here
		clear(w.Header())
		writePage(w, f.end.Code)
	case FaultError:
		if !f.end.Work {
			return false
		}
		refusal := f.refusal(v.now)
		v.out, v.status = exchange.AppendError(v.out[:0], refusal), refusal.Status
		return false
	default:
		return false
	}
	return true
}

// writePage answers with an HTML page.
func writePage(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, page) // who went away hears nothing
}

// truncate sends the headers of the whole answer and half of its body, and closes the connection.
func truncate(w http.ResponseWriter, v *visit) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(max(1, len(v.out)))}
	w.WriteHeader(v.status)
	w.Write(v.out[:len(v.out)/2])
	http.NewResponseController(w).Flush() // what cannot be flushed is closed all the same
	panic(http.ErrAbortHandler)
}

// reset resets the connection, so that the client's system says so; one that is not its own (HTTP/2, a recorder) is closed.
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
