package bot

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// watcher is a `bot watch --act` as a child, with a receiver of its alerts.
type watcher struct {
	*switchPlay
	cmd     *exec.Cmd
	folder  string
	address string
	act     string // the token
}

// watchPlay starts a bot with its dashboard, and a watcher that knows it as live.
func watchPlay(t *testing.T) (w *watcher, running *exec.Cmd) {
	w = &watcher{switchPlay: newSwitchPlay(t, "holder", "75s", "")}
	text, err := os.ReadFile(w.file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.file, append(text, "[dashboard]\nlisten = \"127.0.0.1:0\"\n"...), 0o600))
	running = w.begin()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(&w.alerts, "%s\n", body)
	}))
	t.Cleanup(receiver.Close)
	dashboard := addressIn(t, running, "the dashboard listens")
	w.folder = filepath.Join(w.dir, "watch")
	file := filepath.Join(w.dir, "watch.toml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
[watch]
silent = "2s"
every = "200ms"
folder = %q
listen = "127.0.0.1:0"
[bots.live]
url = %q
token_file = %q
config = %q
[alerts.to.me]
url = %q
`, w.folder, dashboard, filepath.Join(w.Folder, "dashboard.token"), w.file, receiver.URL), 0o600))
	w.cmd = w.command("", "watch", "-c", file, "--act")
	printed := new(bottest.Log)
	w.cmd.Stdout = printed
	require.NoError(t, w.cmd.Start())
	t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	address := regexp.MustCompile(`open (http://127\.0\.0\.1:\d+/)enter\?token=(\w+) to look and act`)
	bottest.Await(t, func() bool { return address.MatchString(printed.String()) }, w.cmd.Stderr)
	found := address.FindStringSubmatch(printed.String())
	w.address, w.act = found[1], found[2]
	return w, running
}

// addressIn is the address in a line of the log of a child.
func addressIn(t *testing.T, cmd *exec.Cmd, message string) (address string) {
	line := regexp.MustCompile(`"address":"([^"]+)"[^\n]*"message":"` + message)
	bottest.Await(t, func() bool {
		found := line.FindStringSubmatch(cmd.Stderr.(*bottest.Log).String())
		if found != nil {
			address = found[1]
		}
		return found != nil
	}, cmd.Stderr)
	return address
}

// ask asks for the page of the bot; a form is sent where there is one.
func (w *watcher) ask(token string, form url.Values) (status int, page string) {
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, w.address+"live", strings.NewReader(form.Encode()))
	require.NoError(w.T, err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}).Do(request)
	require.NoError(w.T, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(w.T, err)
	return answer.StatusCode, string(body)
}

// A bot is killed under bot watch, which knows it over HTTP alone, as on another machine. A person
// is told, and cancels and sells from a phone; the bot's next start books what was sent.
func TestABotThatIsKilledIsToldAndFlattenedFromAPhone(t *testing.T) {
	t.Parallel()
	w, running := watchPlay(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("watcher: %s\nalerts: %s", w.cmd.Stderr, w.alerts.String())
		}
	})
	copied := filepath.Join(w.folder, "live", killswitch.HoldingsFile)
	bottest.Await(t, func() bool { _, err := os.Stat(copied); return err == nil }, "its holdings are kept")
	confirm := url.Values{"confirm": {"live"}}
	status, page := w.ask(w.act, confirm)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, page, "The bot answers")

	require.NoError(t, running.Process.Kill())
	_ = running.Wait()
	killed := time.Now()
	bottest.Await(t, func() bool { return strings.Contains(w.alerts.String(), `"kind":"silent"`) })
	require.Less(t, time.Since(killed), 30*time.Second)
	require.Regexp(t, `live is silent since [\d.]+s.*\\norder dip BTC-EUR (buy|sell) .*\\norder dip BTC-EUR (buy|sell) .*`+
		`\\nto cancel and sell: `+w.address+`live`, w.alerts.String())
	require.Regexp(t, `"equity":"\d+\.\d+",.*"open_orders":2,"positions":\[\{"strategy":"dip","market":"BTC-EUR"`,
		w.alerts.String())

	look, err := os.ReadFile(filepath.Join(w.folder, "watch.token"))
	require.NoError(t, err)
	status, _ = w.ask(strings.TrimSpace(string(look)), confirm)
	require.Equal(t, http.StatusForbidden, status, "the token of looking does not act")
	status, page = w.ask(w.act, url.Values{"confirm": {"dead"}})
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, "the name is live")
	require.NotZero(t, w.base(), "nothing was done yet")

	acted := time.Now()
	status, _ = w.ask(w.act, confirm)
	require.Equal(t, http.StatusSeeOther, status)
	bottest.Await(t, func() bool {
		_, page = w.ask(w.act, nil)
		return strings.Contains(page, "done: the exchange has confirmed everything")
	}, "%s", w.cmd.Stderr)
	require.Less(t, time.Since(acted), 10*time.Second)
	require.Zero(t, w.base(), "everything is sold")
	require.Empty(t, w.openOrders())

	log := filepath.Join(w.folder, "live", killswitch.LogFile)
	require.Contains(t, page, "copy "+log)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(text), "bot watch, act token, dashboard 127.0.0.1")
	require.NoError(t, os.WriteFile(filepath.Join(w.Folder, killswitch.LogFile), text, 0o600))
	w.settle(true)
	require.NoError(t, w.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, w.cmd.Wait())
	for _, secret := range []string{w.act, strings.TrimSpace(string(look)), bottest.BotSecret} {
		require.NotContains(t, w.cmd.Stderr.(*bottest.Log).String()+w.alerts.String(), secret)
	}
}
