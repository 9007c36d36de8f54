package server

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// logRequests logs requests with their answers: from 500 on as errors, from 400 on as warnings,
// others as information. Headers are not logged: they hold keys and signatures. A disabled logger
// leaves the handler as it is.
func logRequests(handler http.Handler, logger zerolog.Logger) http.Handler {
	if logger.GetLevel() == zerolog.Disabled {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		seen := &loggedAnswer{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			broken := recover()
			level := zerolog.InfoLevel
			switch {
			case broken != nil || seen.status >= http.StatusInternalServerError:
				level = zerolog.ErrorLevel
			case seen.status >= http.StatusBadRequest:
				level = zerolog.WarnLevel
			}
			if broken == nil && level < logger.GetLevel() {
				return
			}
			line := logger.WithLevel(level).Str("method", r.Method).Str("path", r.URL.Path).Int("status", seen.status).
				Dur("took_ms", time.Since(began))
			if len(seen.refusal) > 0 {
				line.Str("answer", string(seen.refusal))
			}
			line.Bool("cut", broken != nil || seen.taken).Msg("request")
			if broken != nil {
				panic(broken)
			}
		}()
		handler.ServeHTTP(seen, r)
	})
}

// loggedAnswer notes the status of an answer and the beginning of a refusal.
type loggedAnswer struct {
	http.ResponseWriter
	status  int
	refusal []byte
	taken   bool // the connection was hijacked
}

// maxRefusal bounds the bytes of a refusal in the log.
const maxRefusal = 300

// WriteHeader notes the status.
func (a *loggedAnswer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Write notes the body of a refusal.
func (a *loggedAnswer) Write(body []byte) (int, error) {
	if a.status >= http.StatusBadRequest {
		a.refusal = append(a.refusal, body[:min(len(body), maxRefusal-len(a.refusal))]...)
	}
	return a.ResponseWriter.Write(body)
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (a *loggedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Hijack takes the connection over.
func (a *loggedAnswer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.taken = true
	return http.NewResponseController(a.ResponseWriter).Hijack()
}
