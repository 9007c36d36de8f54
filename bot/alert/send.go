package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/tidemark-trading/tidemark/exchange/rest"
)

// templates are the formats of an alert.
var templates = []string{"json", "telegram", "slack", "discord", "ntfy"}

// pace holds the times of sending.
type pace struct {
	answer         time.Duration // limit of one attempt
	first, longest time.Duration // pauses between attempts
	total          time.Duration // limit of all attempts of one alert
}

func defaultPace() pace {
	return pace{answer: 10 * time.Second, first: time.Second, longest: time.Minute, total: 10 * time.Minute}
}

// insist calls try until it succeeds, its error is permanent, or total is over. It waits as long as
// a receiver asks for; these waits do not count.
func (p *pace) insist(ctx context.Context, try func() error) error {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = p.first, p.longest
	for {
		_, err := backoff.Retry(ctx, func() (struct{}, error) {
			err := try()
			if busy := (*busyError)(nil); errors.As(err, &busy) && busy.after > 0 {
				err = backoff.Permanent(err)
			}
			return struct{}{}, err
		}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(p.total))
		busy := (*busyError)(nil)
		if !errors.As(err, &busy) || busy.after == 0 {
			return err
		}
		wait := time.NewTimer(busy.after)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return err
		}
	}
}

// deliver sends an alert until the receiver takes it, refuses it for good, or pace.total is over.
// The waits that the receiver asks for do not count.
func (p *Receiver) deliver(ctx context.Context, one *Alert) {
	err := p.pace.insist(ctx, func() error { return p.send(ctx, one) })
	if err != nil {
		p.mu.Lock()
		p.dropped += one.Dropped + 1
		p.mu.Unlock()
		p.log.Warn().Str("to", p.Name).Str("kind", one.Kind).Str("reason", p.scrub(err)).Msg("an alert was not sent")
	}
}

// send makes one attempt.
func (p *Receiver) send(ctx context.Context, one *Alert) error {
	body, contentType, err := p.write(one)
	if err != nil {
		return backoff.Permanent(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	request.Header.Set("Content-Type", contentType)
	if p.Template == "ntfy" {
		request.Header.Set("Title", strings.TrimSpace("Tidemark "+one.Bot)+": "+one.Kind)
	}
	return p.exchange(request)
}

// exchange sends a request and reads the answer: nil if the receiver took it; a permanent error
// forbids another attempt.
func (p *Receiver) exchange(request *http.Request) error {
	answer, err := p.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<16)) // so that the connection can be used again
	err = fmt.Errorf("the receiver answered %d", answer.StatusCode)
	switch {
	case answer.StatusCode/100 == 2:
		return nil
	case answer.StatusCode == http.StatusTooManyRequests:
		return &busyError{after: retryAfter(answer.Header.Get("Retry-After"), body), err: err}
	case answer.StatusCode >= 500, answer.StatusCode == http.StatusRequestTimeout:
		return err
	}
	return backoff.Permanent(err)
}

// busyError asks to wait for after before another request; 0: it says no time.
type busyError struct {
	after time.Duration
	err   error
}

// Error is the text of the cause.
func (e *busyError) Error() string { return e.err.Error() }

// longestWait is the longest wait that a receiver may ask for.
const longestWait = time.Hour

// retryAfter is the wait that a receiver asks for: in the header, or in the body as Telegram
// (parameters.retry_after) and Discord (retry_after) write it, in seconds. 0: it asks for none.
func retryAfter(header string, body []byte) time.Duration {
	seconds, err := strconv.ParseFloat(header, 64)
	if err != nil {
		var says struct {
			RetryAfter float64 `json:"retry_after"`
			Parameters struct {
				RetryAfter float64 `json:"retry_after"`
			} `json:"parameters"`
		}
		_ = json.Unmarshal(body, &says) // a body that is no JSON asks for no wait
		seconds = max(says.RetryAfter, says.Parameters.RetryAfter)
	}
	if !(seconds > 0) { // not a number, too
		return 0
	}
	return time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
}

// write writes an alert in the receiver's format.
func (p *Receiver) write(one *Alert) (body []byte, contentType string, err error) {
	contentType = "application/json"
	switch p.Template {
	case "telegram":
		body, err = json.Marshal(map[string]any{"chat_id": p.Chat, "text": one.line(),
			"disable_web_page_preview": true})
	case "slack":
		body, err = json.Marshal(map[string]string{"text": forSlack(one.line())})
	case "discord":
		body, err = json.Marshal(map[string]any{"content": clipTo(one.line(), discordLimit),
			"allowed_mentions": map[string][]string{"parse": {}}})
	case "ntfy":
		return []byte(one.line()), "text/plain; charset=utf-8", nil
	default:
		body, err = json.Marshal(one)
	}
	return body, contentType, err
}

// discordLimit is the number of characters that Discord allows in a message.
const discordLimit = 2000

// clipTo keeps at most the first limit characters.
func clipTo(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit])
	}
	return text
}

// scrub is an error without the URL and its parts, which are secrets.
func (p *Receiver) scrub(err error) string {
	var failed *url.Error
	for errors.As(err, &failed) {
		err = failed.Err
		failed = nil
	}
	return clipTo(rest.NewScrubber(secretsOf(p.url)...).Text(strings.ReplaceAll(err.Error(), p.url, "the URL")),
		maxReason)
}

// maxReason bounds the characters of a receiver's error in the log.
const maxReason = 300

// secretsOf are the parts of an address that may be secrets: path, query and fragment, whole and in
// pieces, user and password.
func secretsOf(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return []string{address}
	}
	var found []string
	add := func(text string) {
		if len(text) > 3 {
			found = append(found, text)
		}
	}
	add(u.RequestURI())
	for _, part := range strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' || r == ':' }) {
		add(part)
	}
	for _, values := range u.Query() {
		for _, value := range values {
			add(value)
		}
	}
	add(u.Fragment)
	password, _ := u.User.Password()
	add(u.User.Username())
	add(password)
	return found
}

// forSlack escapes characters with which Slack would make links and mentions.
func forSlack(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// Try sends one test message. It returns the reason of a failure, without the URL; empty: none.
func (p *Receiver) Try(ctx context.Context, bot string) string {
	p.http = p.client()
	defer p.http.CloseIdleConnections()
	if err := p.send(ctx, &Alert{Kind: Test, Bot: bot, At: time.Now().UTC(),
		Text: "bot doctor tries whether alerts arrive"}); err != nil {
		return p.scrub(err)
	}
	return ""
}
