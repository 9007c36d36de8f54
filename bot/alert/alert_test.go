package alert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// mailbox is a receiver that keeps what it gets.
type mailbox struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	titles []string
	before func(n int, w http.ResponseWriter) bool // says that the n-th request, from 0, has had its answer
}

func newMailbox(t *testing.T, before func(n int, w http.ResponseWriter) bool) *mailbox {
	m := &mailbox{before: before}
	asked := 0
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		n := asked
		asked++
		m.mu.Unlock()
		if m.before != nil && m.before(n, w) {
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.bodies, m.titles = append(m.bodies, string(body)), append(m.titles, r.Header.Get("Title"))
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *mailbox) got() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.bodies...)
}

// secretPath is what no log may show.
const secretPath = "/bot123:SECRET/send?token=SECRET"

// place is a receiver of a config, with as much patience as a test has and no pauses between
// attempts.
func place(t *testing.T, url string, change func(*config.AlertSection)) *Receiver {
	s := config.AlertSection{Template: "json", URL: url}
	if change != nil {
		change(&s)
	}
	places, err := NewReceivers(&config.AlertsSection{To: map[string]config.AlertSection{"me": s}},
		func(string) string { return "" })
	require.NoError(t, err)
	places[0].pace = pace{answer: bottest.Patience, first: time.Millisecond, longest: 5 * time.Millisecond,
		total: bottest.Patience}
	return places[0]
}

func TestEveryTemplateIsWhatItsReceiverReads(t *testing.T) {
	one := Alert{Kind: Halt, At: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Run: "r", Text: `trend "halted" & <b>`,
		Dropped: 2}
	const line = `[halt] trend "halted" & <b> (2 alerts before this one were not sent)`
	for template, want := range map[string]map[string]any{
		"json":     {"kind": "halt", "at": "2026-03-02T12:00:00Z", "run": "r", "text": one.Text, "dropped": 2.0},
		"telegram": {"chat_id": "42", "text": line, "disable_web_page_preview": true},
		"slack":    {"text": `[halt] trend "halted" &amp; &lt;b&gt; (2 alerts before this one were not sent)`},
		"discord":  {"content": line, "allowed_mentions": map[string]any{"parse": []any{}}},
		"ntfy":     nil,
	} {
		m := newMailbox(t, nil)
		p := place(t, m.URL+secretPath, func(s *config.AlertSection) {
			if s.Template = template; template == "telegram" {
				s.Chat = "42"
			}
		})
		p.dropped = 2
		a := NewSender([]*Receiver{p}, nil, zerolog.Nop())
		a.Tell(one)
		a.Stop(bottest.Patience)
		require.Len(t, m.got(), 1)
		if want == nil {
			require.Equal(t, line, m.got()[0])
			require.Equal(t, "Tidemark: halt", m.titles[0])
			continue
		}
		var have map[string]any
		require.NoError(t, json.Unmarshal([]byte(m.got()[0]), &have))
		require.Equal(t, want, have)
	}
}

// inMemory carries requests to a handler, over no network.
type inMemory struct{ http.Handler }

func (h inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	answered := make(chan *http.Response, 1)
	go func() {
		defer close(answered)
		defer func() { _ = recover() }() // the connection breaks
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		answered <- answer.Result()
	}()
	select {
	case answer := <-answered:
		if answer == nil {
			return nil, io.ErrUnexpectedEOF
		}
		return answer, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func TestAnAlertIsSentAgainUntilItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, taken atomic.Int64
		a := NewSender([]*Receiver{place(t, "http://127.0.0.1:1", nil)}, nil, zerolog.Nop())
		p := a.places[0]
		p.pace, p.http.Timeout = defaultPace(), defaultPace().answer
		p.http.Transport = inMemory{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch asked.Add(1) {
			case 1:
				w.WriteHeader(http.StatusInternalServerError)
			case 2:
				panic(http.ErrAbortHandler)
			case 3:
				time.Sleep(p.pace.answer + time.Second) // longer than an attempt may take
			default:
				taken.Add(1)
			}
		})}
		a.Tell(Alert{Kind: Ban, Text: "once"})
		a.Stop(time.Minute)
		require.EqualValues(t, 4, asked.Load())
		require.EqualValues(t, 1, taken.Load())
	})
}

func TestTheWaitThatAReceiverAsksForIsKept(t *testing.T) {
	for name, row := range map[string]struct {
		header, body string
		want         time.Duration
	}{
		"telegram":          {"", `{"ok":false,"error_code":429,"parameters":{"retry_after":700}}`, 700 * time.Second},
		"discord":           {"", `{"message":"slow down","retry_after":0.5,"global":false}`, 500 * time.Millisecond},
		"a header":          {"35", "", 35 * time.Second},
		"years are an hour": {"1e9", "", time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []time.Time
				a := NewSender([]*Receiver{place(t, "http://127.0.0.1:1", nil)}, nil, zerolog.Nop())
				p := a.places[0]
				p.pace = defaultPace()
				p.http.Transport = inMemory{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if asked = append(asked, time.Now()); len(asked) == 1 {
						if row.header != "" {
							w.Header().Set("Retry-After", row.header)
						}
						w.WriteHeader(http.StatusTooManyRequests)
						_, _ = io.WriteString(w, row.body)
					}
				})}
				a.Tell(Alert{Kind: Ban, Text: "once"})
				a.Stop(2 * time.Hour)
				require.Len(t, asked, 2)
				require.Equal(t, row.want, asked[1].Sub(asked[0]))
			})
		})
	}
}

func TestWhatAReceiverRefusesForEverIsNotSentAgain(t *testing.T) {
	var log bytes.Buffer
	asked := 0
	m := newMailbox(t, func(n int, w http.ResponseWriter) bool {
		asked = n + 1
		if n == 0 {
			// the sender follows no redirect
			http.Redirect(w, &http.Request{Method: http.MethodPost}, "http://127.0.0.1:1/elsewhere", http.StatusFound)
			return true
		}
		return false
	})
	a := NewSender([]*Receiver{place(t, m.URL+secretPath, nil)}, nil, zerolog.New(&log))
	a.Tell(Alert{Kind: Fill, Text: "lost"})
	a.Tell(Alert{Kind: Fill, Text: "next"})
	a.Stop(bottest.Patience)
	require.Equal(t, 2, asked)
	require.Len(t, m.got(), 1)
	require.Contains(t, m.got()[0], `"dropped":1`)
	require.Contains(t, log.String(), "the receiver answered 302")
	require.NotContains(t, log.String(), "SECRET")
}

func TestASlowReceiverHoldsUpNobodyAndLosesTheOldest(t *testing.T) {
	release := make(chan struct{})
	slow := newMailbox(t, func(n int, _ http.ResponseWriter) bool {
		if n == 0 {
			<-release
		}
		return false
	})
	quick := newMailbox(t, nil)
	late := place(t, slow.URL, nil)
	a := NewSender([]*Receiver{late, place(t, quick.URL, nil)}, nil, zerolog.Nop())
	a.Tell(Alert{Kind: Fill, Text: "first"})
	bottest.Await(t, func() bool { late.mu.Lock(); defer late.mu.Unlock(); return len(late.waiting) == 0 })
	const more = 3 * maxQueued
	for i := range more {
		a.Tell(Alert{Kind: Fill, Text: strconv.Itoa(i)})
		if i%32 == 0 {
			bottest.Await(t, func() bool { return len(quick.got()) >= i }, "the quick one is not held up")
		}
	}
	close(release)
	a.Stop(bottest.Patience)
	require.Len(t, quick.got(), more+1)
	got := slow.got()
	require.Len(t, got, maxQueued+1)
	require.Contains(t, got[1], fmt.Sprintf(`"text":"%d","dropped":%d`, more-maxQueued, more-maxQueued))
	require.Contains(t, got[maxQueued], fmt.Sprintf(`"text":"%d"`, more-1))
}

func TestAStopWaitsForAlertsOnlySoLong(t *testing.T) {
	var log bytes.Buffer
	m := newMailbox(t, func(_ int, w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	p := place(t, m.URL+secretPath, nil)
	p.pace.total = time.Hour
	a := NewSender([]*Receiver{p}, nil, zerolog.New(&log))
	a.Tell(Alert{Kind: Stop, Text: "one"})
	a.Tell(Alert{Kind: Stop, Text: "two"})
	began := time.Now()
	a.Stop(100 * time.Millisecond)
	require.Less(t, time.Since(began), bottest.Patience, "it would try for an hour")
	require.Contains(t, log.String(), `"alerts":2,"message":"alerts were not sent"`)
	require.NotContains(t, log.String(), "SECRET")
}

func TestNoErrorOfSendingShowsTheURL(t *testing.T) {
	var log bytes.Buffer
	p := place(t, "http://127.0.0.1:1"+secretPath, nil)
	p.pace.total = 20 * time.Millisecond
	a := NewSender([]*Receiver{p}, nil, zerolog.New(&log))
	a.Tell(Alert{Kind: Start})
	a.Stop(bottest.Patience) // it gives up long before
	require.Contains(t, log.String(), "refused")
	require.NotContains(t, log.String(), "SECRET")
}

func TestKindsThatAreSkippedAreNotSent(t *testing.T) {
	m := newMailbox(t, nil)
	a := NewSender([]*Receiver{place(t, m.URL, func(s *config.AlertSection) { s.Skip = []string{Fill, Start} })},
		nil, zerolog.Nop())
	for _, kind := range kinds {
		a.Tell(Alert{Kind: kind})
	}
	a.Stop(bottest.Patience)
	require.Len(t, m.got(), len(kinds)-2)
	var none *Sender
	none.Tell(Alert{})
	none.Stop(0)
	require.Nil(t, NewSender(nil, nil, zerolog.Nop()))
}

func TestReceiversOfAConfigAreChecked(t *testing.T) {
	open := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(open, []byte("https://example.com/SECRET"), 0o644))
	for _, row := range []struct {
		section config.AlertSection
		want    string
	}{
		{config.AlertSection{Template: "json"}, "is missing"},
		{config.AlertSection{Template: "jsn", URL: "https://example.com"}, `the nearest is "json"`},
		{config.AlertSection{Template: "json", URL: "http://example.com/SECRET"}, "in clear"},
		{config.AlertSection{Template: "json", URL: "SECRET"}, "is no address"},
		{config.AlertSection{Template: "json", URL: "https://example.com:x/SECRET"}, "is no address"},
		{config.AlertSection{Template: "telegram", URL: "https://example.com/SECRET"}, "chat_id"},
		{config.AlertSection{Template: "slack", URL: "https://example.com/SECRET", Chat: "1"}, "telegram"},
		{config.AlertSection{Template: "json", URLFile: open}, "others may read"},
		{config.AlertSection{Template: "json", URLEnv: "NOT_SET"}, "no variable of that name"},
		{config.AlertSection{Template: "json", URL: "https://example.com", Skip: []string{"fil"}},
			`the nearest is "fill"`},
	} {
		_, err := NewReceivers(&config.AlertsSection{To: map[string]config.AlertSection{"me": row.section}},
			func(string) string { return "" })
		require.ErrorContains(t, err, row.want)
		require.NotContains(t, err.Error(), "SECRET")
	}
}

// A broken receiver, or a proxy before it, answers with the request itself, which Go's HTTP client
// quotes in its errors.
func TestNoErrorOfAReceiverThatEchoesTheURLShowsIt(t *testing.T) {
	const path, token = "/bot123:SECRET-of-the-path/send?token=SECRET%2Bof-the-query", "token=SECRET%2Bof-the-query"
	for name, answer := range map[string]string{
		"status line": "%s is no answer\r\n\r\n",
		"status":      "HTTP/1.1 %s\r\n\r\n",
		"header":      "HTTP/1.1 200 OK\r\n%s\r\n\r\n",
		"length":      "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n",
		"encoding":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n",
		"location":    "HTTP/1.1 302 Found\r\nLocation: http://[%s\r\nContent-Length: 0\r\n\r\n",
		"body":        "HTTP/1.1 500 no\r\nContent-Length: 300\r\n\r\n%s",
	} {
		for _, echo := range []string{path, token, "POST " + path, "bot123:SECRET-of-the-path", "SECRET+of-the-query"} {
			t.Run(name+" "+echo, func(t *testing.T) {
				var log bytes.Buffer
				m := newMailbox(t, func(_ int, w http.ResponseWriter) bool {
					line, buffer, err := http.NewResponseController(w).Hijack()
					if err == nil {
						_, _ = fmt.Fprintf(buffer, answer, echo)
						_ = buffer.Flush()
						_ = line.Close()
					}
					return true
				})
				p := place(t, m.URL+path, nil)
				p.pace.total = 20 * time.Millisecond
				a := NewSender([]*Receiver{p}, nil, zerolog.New(&log))
				a.Tell(Alert{Kind: Start})
				a.Stop(bottest.Patience)
				if name != "length" && name != "header" { // an answer of 200 may pass for one
					require.Contains(t, log.String(), "an alert was not sent")
				}
				require.NotContains(t, log.String(), "SECRET")
			})
		}
	}
}
