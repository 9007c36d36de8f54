package rest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// version is the first part of every path.
const version = "/v2"

// request is a request before it is signed. A write has the timestamp of its preparation; a GET
// gets one when it is signed.
type request struct {
	at        endpoint
	all       bool   // of all markets
	path      string // with version and query
	body      []byte
	lane      Lane // 0: the endpoint's own
	timestamp int64
	window    int64      // ms
	date      *time.Time // set to the header Date of the answer; nil: not needed
	socket    Socket     // that carries it; nil, or not able to send: HTTP does
	carried   *bool      // set where the socket has brought the answer; nil: not needed
}

func (r *request) method() string {
	name := endpoints[r.at].name
	for i := range name {
		if name[i] == ' ' {
			return name[:i]
		}
	}
	return name
}

// get sends a GET and passes the body of a success to read, which must not keep it. It retries
// where a later attempt may succeed: no connection, an answer cut off, a 5xx, a page of something
// before the exchange; and once after 304,
// with the exchange's clock measured anew.
func (c *Client) get(ctx context.Context, r request, read func([]byte) error) error {
	remeasured := false
	err := c.retry(ctx, func() error {
		seen := c.clock.anchor.Load()
		err := c.attempt(ctx, r, read)
		if remeasured || !outOfWindow(err) {
			return err
		}
		remeasured = true
		if failed := c.resync(ctx, seen); failed != nil {
			return err
		}
		return c.attempt(ctx, r, read)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", endpoints[r.at].name, err)
	}
	return nil
}

// retry calls once again and again, with growing pauses, while its error is retryable.
func (c *Client) retry(ctx context.Context, once func() error) error {
	last := once()
	if last == nil {
		return nil
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval, pauses.Multiplier = 500*time.Millisecond, 5*time.Second, 2
	first := true // its outcome is known: most calls succeed at once and need no backoff
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		if !first {
			last = once()
		}
		first = false
		if last != nil && !retryable(ctx, last) {
			return struct{}{}, backoff.Permanent(last)
		}
		return struct{}{}, last
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(uint(c.config.Tries)), backoff.WithMaxElapsedTime(0))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !errors.Is(last, ctx.Err()):
		return fmt.Errorf("%w; before that: %w", context.Cause(ctx), last)
	}
	return last
}

// retryable reports whether a GET that failed may succeed later.
func retryable(ctx context.Context, err error) bool {
	var refused *exchange.Error
	var transport *transportError
	switch {
	case ctx.Err() != nil:
		return false
	case errors.As(err, &refused):
		return refused.Status >= 500 && refused.Code != exchange.CodeNotTrading ||
			refused.Code == 0 && foreignPage(refused.Status, nil)
	}
	return errors.As(err, &transport) || errors.Is(err, wire.ErrMalformed) || errors.Is(err, ErrFalseTime)
}

// transportError is the error of a request without a complete answer.
type transportError struct{ cause error }

func (e *transportError) Error() string { return e.cause.Error() }

func (e *transportError) Unwrap() error { return e.cause }

// attempt sends a request once. An answer other than 200 or 201 is an *exchange.Error;
// exchange.ErrNotSent marks a request that was not sent.
func (c *Client) attempt(ctx context.Context, r request, read func([]byte) error) error {
	signed := endpoints[r.at].private || c.config.SignPublic && r.at != getTime && !c.config.Key.IsZero()
	if signed && c.config.Key.IsZero() {
		return notSent(ErrNoKey)
	}
	done, err := c.awaitBudget(ctx, &r, signed)
	if err != nil {
		return notSent(err)
	}
	answered := false
	defer func() {
		if !answered {
			done(nil, 0, nil)
		}
	}()
	if r.timestamp != 0 && c.timeLeft(&r) <= 0 { // it could reach the exchange after its window
		return notSent(ErrLate)
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	if r.socket != nil {
		if err := c.act(ctx, &r, done, read); !errors.Is(err, exchange.ErrNotSent) {
			answered = true
			return err
		}
	}
	answer, signature, err := c.send(ctx, &r, signed)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if r.date != nil {
		*r.date, _ = http.ParseTime(answer.Header.Get("Date"))
	}
	buffer := c.buffers.Get().(*bytes.Buffer)
	defer c.buffers.Put(buffer)
	buffer.Reset()
	_, err = buffer.ReadFrom(io.LimitReader(answer.Body, maxResponse+1))
	answered = true
	done(answer.Header, answer.StatusCode, buffer.Bytes())
	if err := c.checkResponse(answer.StatusCode, buffer.Bytes(), signature, err); err != nil {
		return err
	}
	return c.hideBody(read(buffer.Bytes()), buffer.Bytes(), signature)
}

// scrubber finds the credentials of a request.
func (c *Client) scrubber(signature string) *Scrubber {
	return NewScrubber(c.config.Key.Reveal(), c.config.Secret.Reveal(), signature)
}

// hideBody replaces the text of a parse error where the answer repeats a credential: the text may
// quote a part of it.
func (c *Client) hideBody(err error, body []byte, signature string) error {
	if err == nil || !c.scrubber(signature).Finds(body) {
		return err
	}
	return &scrubbedError{cause: err,
		text: "the answer cannot be read, and repeats key, secret or signature: its text is not shown"}
}

// checkResponse is the error of an answer that is too long, incomplete, or a refusal.
func (c *Client) checkResponse(status int, body []byte, signature string, broke error) error {
	switch {
	case len(body) > maxResponse:
		return errTooLong
	case broke != nil:
		return &transportError{c.scrubber(signature).Error(fmt.Errorf("the answer broke off after %d bytes: %w",
			len(body), broke))}
	case status != http.StatusOK && status != http.StatusCreated:
		return c.refused(status, body, signature)
	}
	return nil
}

// maxMessage is the longest text of a refusal that is kept, in bytes.
const maxMessage = 1000

// refused parses a refusal. Its text is scrubbed before it is cut.
func (c *Client) refused(status int, body []byte, signature string) *exchange.Error {
	refused := exchange.ParseError(status, body)
	if refused.Code == 0 {
		return exchange.ParseError(status, []byte(c.scrubber(signature).Text(string(body))))
	}
	return c.clean(refused, signature)
}

// clean scrubs and shortens the text of a refusal.
func (c *Client) clean(refused *exchange.Error, signature string) *exchange.Error {
	refused.Message = c.scrubber(signature).Text(refused.Message)
	if len(refused.Message) > maxMessage {
		refused.Message = strings.ToValidUTF8(refused.Message[:maxMessage], "") + "…"
	}
	return refused
}

// awaitBudget waits for the budget and returns its done.
func (c *Client) awaitBudget(ctx context.Context, r *request, signed bool) (
	done func(http.Header, int, []byte), err error) {
	if c.config.Budget == nil {
		return func(http.Header, int, []byte) {}, nil
	}
	lane, weight := cmp.Or(r.lane, endpoints[r.at].lane), c.weights[r.at].of(r.all)
	if r.timestamp != 0 { // a write must leave before its window ends
		within, cancel := context.WithTimeout(ctx, max(0, c.timeLeft(r)))
		defer cancel()
		defer func() {
			if err != nil && within.Err() != nil && ctx.Err() == nil {
				err = fmt.Errorf("%w: %w", ErrLate, err)
			}
		}()
		ctx = within
	}
	return c.config.Budget.Begin(ctx, lane, endpoints[r.at].name, weight, payerOf(signed))
}

// timeLeft is how long a prepared request may still leave.
func (c *Client) timeLeft(r *request) time.Duration {
	return time.Duration(r.timestamp+r.window-c.Now().Millis())*time.Millisecond - c.config.Margin
}

// send signs a request and sends it. signature is empty where the request has none.
func (c *Client) send(ctx context.Context, r *request, signed bool) (answer *http.Response, signature string,
	err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", notSent(err)
	}
	sent, err := c.build(ctx, r, signed)
	if err != nil {
		return nil, "", notSent(err)
	}
	if signed {
		signature = sent.Header[c.names.signature][0]
	}
	answer, err = c.transport.RoundTrip(sent)
	if err != nil {
		// it may quote an unreadable status line
		return nil, "", &transportError{c.scrubber(signature).Error(markNotSent(err))}
	}
	return answer, signature, nil
}

// build makes the HTTP request, with the credentials of specification 5 where it is signed.
func (c *Client) build(ctx context.Context, r *request, signed bool) (*http.Request, error) {
	var body io.Reader // stays nil for an empty body
	if len(r.body) > 0 {
		body = bytes.NewReader(r.body)
	}
	sent, err := http.NewRequestWithContext(ctx, r.method(), c.origin+r.path, body)
	if err != nil {
		return nil, err
	}
	values := [5]string{"application/json"}
	sent.Header["Content-Type"] = values[:1:1]
	if !signed {
		return sent, nil
	}
	timestamp, window := r.timestamp, r.window
	if timestamp == 0 {
		timestamp, window = c.Now().Millis(), int64(c.config.Window/time.Millisecond)
	}
	signer := c.signers.Get().(*Signer)
	var digits [64]byte
	signature := signer.AppendSignature(digits[:0], timestamp, sent.Method, r.path, r.body)
	c.signers.Put(signer)
	copy(values[1:], []string{c.config.Key.Reveal(), string(signature), strconv.FormatInt(timestamp, 10),
		strconv.FormatInt(window, 10)})
	sent.Header[c.names.key], sent.Header[c.names.signature] = values[1:2:2], values[2:3:3]
	sent.Header[c.names.timestamp], sent.Header[c.names.window] = values[3:4:4], values[4:5:5]
	return sent, nil
}

// Page narrows a list (venue-facts 1.2 and 1.3). The zero Page is the latest rows, as many as the
// endpoint returns by default.
type Page struct {
	Limit      int         // rows at most; 0: the endpoint's own limit
	Start, End market.Time // rounded down to milliseconds; 0: open
	From, To   string      // ids of trades or orders; "": open
}
