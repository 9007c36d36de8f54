package dashboard

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
)

// madeUpBot answers on a socket as a bot does. It carries nothing out, but keeps what was asked.
type madeUpBot struct {
	*testing.T
	folder string
	socket net.Listener
	served *http.Server

	mu      sync.Mutex
	profits int      // questions for the profit
	asked   []string // verb, strategy, order, by, from and reason of each action
	cut     bool     // actions are taken, and the connection ends without an answer
	stuck   chan struct{}
}

// newMadeUpBot listens in a folder with a short name: the path of a socket has at most 100 bytes.
func newMadeUpBot(t *testing.T, dir string) *madeUpBot {
	b := &madeUpBot{T: t, folder: dir}
	require.NoError(t, os.MkdirAll(dir, 0o700))
	b.listen()
	t.Cleanup(b.die)
	return b
}

func (b *madeUpBot) listen() {
	var err error
	b.socket, err = operator.Listen(filepath.Join(b.folder, statedir.SocketFile))
	require.NoError(b, err)
	b.served = &http.Server{Handler: http.HandlerFunc(b.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = b.served.Serve(b.socket) }()
}

// die ends the bot. Its socket goes too, as with a bot that ends in good order.
func (b *madeUpBot) die() { _ = b.served.Close() }

// actions are the actions that were asked for.
func (b *madeUpBot) actions() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

func (b *madeUpBot) profitsAsked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.profits
}

// cutOff lets the bot die with each action.
func (b *madeUpBot) cutOff() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = true
}

func (b *madeUpBot) serve(w http.ResponseWriter, r *http.Request) {
	d := madeUp()
	if b.stuck != nil {
		<-b.stuck
	}
	switch r.URL.Path {
	case operator.PathStatus:
		operator.WriteAnswer(w, http.StatusOK, d.Status)
	case operator.PathGlance:
		operator.WriteAnswer(w, http.StatusOK, operator.Glance{Status: d.Status, Positions: d.Positions,
			Risk: d.Risk})
	case operator.PathOrders:
		operator.WriteAnswer(w, http.StatusOK, madeUpOrders())
	case operator.PathMarket:
		operator.WriteAnswer(w, http.StatusOK, &operator.Market{Watched: []operator.Watched{{Strategy: "trend",
			Kind: "stop", Price: "90050"}}})
	case operator.PathEquity:
		operator.WriteAnswer(w, http.StatusOK, d.Curve)
	case operator.PathProfit:
		b.mu.Lock()
		b.profits++
		b.mu.Unlock()
		report, _ := madeUpProfit()
		operator.WriteAnswer(w, http.StatusOK, report)
	case operator.PathExplain:
		operator.WriteAnswer(w, http.StatusOK, d.Refused)
	default:
		b.act(w, r)
	}
}

func (b *madeUpBot) act(w http.ResponseWriter, r *http.Request) {
	var ask operator.Request
	_ = json.NewDecoder(r.Body).Decode(&ask)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, strings.Join([]string{r.URL.Path, ask.Strategy, ask.Order, ask.By, ask.From, ask.Reason},
		"|"))
	if b.cut {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = connection.Close()
		}
		return
	}
	report := operator.NewReport([]string{"maker"})
	report.Done = true
	operator.WriteAnswer(w, http.StatusOK, report)
}

// visitor is a browser without a screen.
type visitor struct {
	*testing.T
	server *httptest.Server
	client *http.Client
}

const (
	lookToken = "10000000000000000000000000000000000000000000000000000000000000aa"
	actToken  = "20000000000000000000000000000000000000000000000000000000000000bb"
)

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// serveBot serves the dashboard of a bot, and makes a visitor without a token.
func serveBot(t *testing.T, b *madeUpBot, change func(*Config)) (*visitor, *clock) {
	c := &clock{now: time.UnixMilli(madeUpNow)}
	config := Config{Bot: Bot{Of: operator.Target{Folder: b.folder}, Name: "demo"}, Look: host.Fixed(lookToken),
		Act: host.Fixed(actToken),
		Now: c.Now, Log: zerolog.Nop()}
	if change != nil {
		change(&config)
	}
	s, err := New(config)
	require.NoError(t, err)
	server := httptest.NewServer(s.Handler("127.0.0.1:8787"))
	t.Cleanup(server.Close)
	v := &visitor{T: t, server: server}
	v.forget()
	return v, c
}

// forget lets the visitor lose its cookies.
func (v *visitor) forget() {
	jar, err := cookiejar.New(nil)
	require.NoError(v, err)
	v.client = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// enter shows a token.
func (v *visitor) enter(token string) int {
	status, _, _ := v.do(http.MethodGet, "/enter?token="+token, nil, nil)
	return status
}

// do sends a request. A form is its body.
func (v *visitor) do(method, path string, form url.Values, change func(*http.Request)) (status int, body string,
	head http.Header) {
	v.Helper()
	r, err := http.NewRequestWithContext(v.Context(), method, v.server.URL+path, strings.NewReader(form.Encode()))
	require.NoError(v, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if change != nil {
		change(r)
	}
	answer, err := v.client.Do(r)
	require.NoError(v, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(v, err)
	return answer.StatusCode, string(text), answer.Header
}

// sees loads a page.
func (v *visitor) sees(path string) string {
	v.Helper()
	status, body, _ := v.do(http.MethodGet, path, nil, nil)
	require.Equal(v, http.StatusOK, status, "%s: %s", path, body)
	return body
}

var confirmationIn = regexp.MustCompile(`name="confirmation" value="([0-9a-f]{64})"`)

// opens loads a confirmation and returns the name of its form.
func (v *visitor) opens(path string) string {
	v.Helper()
	found := confirmationIn.FindStringSubmatch(v.sees(path))
	require.Len(v, found, 2)
	return found[1]
}
