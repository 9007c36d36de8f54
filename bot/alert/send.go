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

// deliver sends an alert until the receiver takes it, refuses it for good, or pace.total is over.
func (p *Receiver) deliver(ctx context.Context, one *Alert) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = p.pace.first, p.pace.longest
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, p.send(ctx, one) },
		backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(p.pace.total))
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
	answer, err := p.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16)) // so that the connection can be used again
	return verdict(answer)
}

// verdict reads a receiver's answer: nil if it took the alert; a permanent error forbids another
// attempt.
func verdict(answer *http.Response) error {
	if answer.StatusCode/100 == 2 {
		return nil
	}
	err := fmt.Errorf("the receiver answered %d", answer.StatusCode)
	switch {
	case answer.StatusCode == http.StatusTooManyRequests:
		if seconds, failed := strconv.Atoi(answer.Header.Get("Retry-After")); failed == nil && seconds > 0 {
			return backoff.RetryAfter(min(seconds, 60))
		}
		return err
	case answer.StatusCode >= 500, answer.StatusCode == http.StatusRequestTimeout:
		return err
	}
	return backoff.Permanent(err)
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
