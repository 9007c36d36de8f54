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

// fate is what the faults of a script do to one request. A nil one does nothing.
type fate struct {
	over   chan struct{} // of the script
	before market.Duration
	after  market.Duration
	fill   market.Duration
	settle market.Duration
	skew   market.Duration
	end    *Fault // decides what becomes of the answer; nil: it goes out
}

// take adds a fault. It reports false for one that comes too late to decide.
func (f *fate) take(one *Fault) bool {
	switch one.Kind {
	case FaultDelayRequest:
		f.before += one.Delay
	case FaultDelayAnswer:
		f.after += one.Delay
	case FaultLateFill:
		f.fill += one.Delay
	case FaultLateSettlement:
		f.settle += one.Delay
	case FaultClockSkew:
		f.skew += one.Skew
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
func (f *fate) arrive(ex *Exchange, w http.ResponseWriter) (over bool) {
	ex.pause(f, f.before)
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
func (f *fate) refuse(now market.Time) *exchange.Error {
	if f == nil || f.end == nil || f.end.Kind != FaultError || f.end.Work {
		return nil
	}
	return f.refusal(now)
}

// refusal words the error on demand.
func (f *fate) refusal(now market.Time) *exchange.Error {
	if f.end.Code == exchange.CodeBanned {
		return exchange.Banned(now.Add(time.Minute).Millis())
	}
	return exchange.ErrCode(f.end.Code)
}

// depart is what happens to the answer, which is complete in the visit with its headers set. It reports whether it has been dealt with.
func (f *fate) depart(ex *Exchange, w http.ResponseWriter, v *visit) (over bool) {
	ex.pause(f, f.after)
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

// pause lets a request wait on the exchange's clock, whether or not its client still does.
func (ex *Exchange) pause(f *fate, d market.Duration) {
	if d > 0 {
		ex.clock.wait(later(ex.clock.Now(), d), f.over)
	}
}

// skewed is a time as the request's exchange tells it.
func (f *fate) skewed(now market.Time) market.Time {
	if f == nil {
		return now
	}
	return now.Add(f.skew)
}

// settlement is how much later the fees of the request's fills are told.
func (f *fate) settlement() market.Duration {
	if f == nil {
		return 0
	}
	return f.settle
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
