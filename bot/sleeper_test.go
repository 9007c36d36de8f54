package bot

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// asleep starts a bot whose strategy sleeps in OnTicker, and waits until status says so.
func asleep(t *testing.T, stopWithin string) (p *switchPlay, child interface{ String() string }, process *os.Process,
	wait func() error) {
	p = newSwitchPlay(t, "sleeper", stopWithin, "127.0.0.1:0")
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		_, _ = p.alerts.Write(text)
	}))
	t.Cleanup(hook.Close)
	file, err := os.OpenFile(p.file, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(file, "[alerts.to.me]\nurl = %q\n", hook.URL)
	require.NoError(t, errors.Join(err, file.Close()))
	cmd := p.begin()
	bottest.Await(t, func() bool { return p.status().State == operator.Blocked }, "status says that it is blocked",
		cmd.Stderr)
	return p, cmd.Stderr.(*bottest.Log), cmd.Process, cmd.Wait
}

// status asks the bot.
func (p *switchPlay) status() (s operator.Status) {
	_, _ = operator.Call(p.T.Context(), p.Folder, operator.PathStatus, &operator.Request{}, 2*operator.AnswerTimeout,
		&s)
	return s
}

// get asks the bot's port of metrics and health.
func (p *switchPlay) get(log, path string) (status int, body string) {
	address := regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(log)
	require.Len(p.T, address, 2)
	answer, err := http.Get("http://" + address[1] + path)
	require.NoError(p.T, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(p.T, err)
	return answer.StatusCode, string(text)
}

const blocks = "strategy dip blocks in OnTicker since "

func TestAStrategyThatBlocksIsNamedAndAStopEndsInTime(t *testing.T) {
	t.Parallel()
	p, log, process, wait := asleep(t, "14s")
	within := func(what string, ask func()) {
		bottest.Await(t, func() bool { // a busy machine may stand still for as long as an answer waits for the loop
			began := time.Now()
			ask()
			return time.Since(began) < operator.AnswerTimeout
		}, "%s does not wait for the loop", what)
	}
	within("status", func() {
		s := p.status()
		require.Contains(t, s.Blocked, blocks)
		require.Equal(t, 2, s.OpenOrders)
		require.Equal(t, os.Getpid() > 0, s.PID > 0)
	})
	within("halt", func() {
		_, err := operator.Call(t.Context(), p.Folder, operator.PathHalt, &operator.Request{WaitMS: 60_000},
			time.Minute,
			&operator.ActResult{})
		require.ErrorContains(t, err, blocks)
		require.ErrorContains(t, err, "cancel-all --direct")
	})
	within("positions", func() {
		var list operator.Positions
		_, err := operator.Call(t.Context(), p.Folder, operator.PathPositions, &operator.Request{}, time.Minute, &list)
		require.NoError(t, err)
		require.Equal(t, "0.01", list.Positions[0].Amount)
	})
	within("ready", func() {
		status, text := p.get(log.String(), "/readyz")
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Contains(t, text, blocks)
	})
	_, text := p.get(log.String(), "/healthz")
	require.Contains(t, text, blocks)
	bottest.Await(t, func() bool { return strings.Contains(p.alerts.String(), `"kind":"blocked"`) }, "persons are told")
	require.Contains(t, p.alerts.String(), blocks)
	status, _ := p.get(log.String(), "/healthz")
	require.Equal(t, http.StatusServiceUnavailable, status, "after ten seconds")
	_, text = p.get(log.String(), "/metrics")
	require.Contains(t, text, `tidemark_callback_blocked_seconds{callback="OnTicker",strategy="dip"}`)
	require.Contains(t, text, `tidemark_callbacks_blocked_total{callback="OnTicker",strategy="dip"} 1`)
	require.Contains(t, log.String(), `"callback":"OnTicker"`)

	began := time.Now()
	require.NoError(t, process.Signal(os.Interrupt))
	require.Error(t, wait(), "the stop was not in good order")
	require.Less(t, time.Since(began), 14*time.Second+bottest.Patience, "the callback would take an hour")
	require.Contains(t, log.String(), blocks)
	require.Contains(t, log.String(), "no order of the bot is open but the exits of positions, as the "+
		"exchange has confirmed")
	require.Empty(t, p.openOrders(), "half of stop_within turns the kill switch")
	require.Equal(t, market.Qty(1_000_000), p.base(), "a stop sells nothing")
}

func TestASecondCtrlCCancelsWithoutTheLoop(t *testing.T) {
	t.Parallel()
	p, log, process, wait := asleep(t, "1h")
	require.NoError(t, process.Signal(os.Interrupt))
	bottest.Await(t, func() bool { return strings.Contains(log.String(), "a second Ctrl-C") }, "the first was heard")
	began := time.Now()
	require.NoError(t, process.Signal(os.Interrupt))
	require.NoError(t, wait(), "all was confirmed: %s", log)
	require.Less(t, time.Since(began), bottest.Patience, "half of stop_within is longer")
	require.Empty(t, p.openOrders())
	lines, err := killswitch.Read(filepath.Join(p.Folder, killswitch.LogFile))
	require.NoError(t, err)
	require.NotEmpty(t, lines)
	require.False(t, lines[1].Flatten)
}

func TestTheKillSwitchWorksBesideABotThatHangs(t *testing.T) {
	t.Parallel()
	p, log, process, _ := asleep(t, "30s")
	code, out := p.turn("", "", "--flatten")
	require.Zero(t, code, out)
	require.Empty(t, p.openOrders())
	require.Zero(t, p.base())
	require.Contains(t, p.status().Blocked, blocks, "it still hangs")
	require.NotContains(t, log.String(), "panic")
	require.NoError(t, process.Kill())
}
