package bot_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// onTerminal gives a child a terminal of its own.
func onTerminal(t *testing.T, cmd *exec.Cmd) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = slave.Close() })
	cmd.Stdin, cmd.SysProcAttr = slave, &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

// With a terminal, SIGHUP says that it is gone.
func TestABotWhoseTerminalIsGoneStopsInGoodOrder(t *testing.T) {
	t.Parallel()
	s, folder := lively(t), filepath.Join(t.TempDir(), "state")
	cmd := bottest.Child(bottest.Program(t), "run", "-c", filepath.Join("..", "configs", "sandbox.toml"), "--set",
		"exchange.base_url="+s.facts.BaseURL, "--set", "bot.state="+folder, "--set", "bot.stop_within=5m")
	onTerminal(t, cmd)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // under nohup a child would inherit that it is ignored
	defer signal.Stop(hangups)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stderr = write
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	require.NoError(t, write.Close())
	accepted, said := bottest.Overdue(cmd), ""
	for lines := bufio.NewScanner(read); !strings.Contains(said, "order accepted"); {
		require.True(t, lines.Scan(), "no order was accepted; the bot said:\n%s", said)
		said += lines.Text() + "\n"
	}
	accepted()
	require.NoError(t, read.Close()) // as when Ctrl-C ends a tee

	entries := func() (n int) {
		var now status
		code, out := 1, ""
		bottest.Await(t, func() bool {
			code, out, _ = call(t.Context(), "status", "--json", "--state", folder)
			return code == 0
		})
		require.NoError(t, json.Unmarshal([]byte(out), &now))
		require.Equal(t, "trading", now.State, "the bot lives on")
		return now.Journal
	}
	before := entries()
	bottest.Await(t, func() bool { return entries() >= before+4 })
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	require.NoError(t, bottest.Ended(cmd), "exit code 0: nothing is left open")
	var left orders
	_, out, _ := call(t.Context(), "orders", "--json", "--state", folder)
	require.NoError(t, json.Unmarshal([]byte(out), &left))
	require.False(t, left.Running)
	require.Empty(t, left.Orders)
	s.stop()
}

// Without a terminal, as under systemd, SIGHUP reloads. So does bot reload.
func TestABotWithoutATerminalReloadsAtSIGHUP(t *testing.T) {
	t.Parallel()
	s, dir := lively(t), t.TempDir()
	state, file := filepath.Join(dir, "state"), filepath.Join(dir, "bot.toml")
	sample, err := os.ReadFile(filepath.Join("..", "configs", "sandbox.toml"))
	require.NoError(t, err)
	write := func(log string) {
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(sample), `log = "info"`,
			`log = "`+log+`"`, 1)), 0o600))
	}
	write("info")
	cmd := bottest.Child(bottest.Program(t), "run", "-c", file, "--set", "exchange.base_url="+s.facts.BaseURL, "--set",
		"bot.state="+state, "--set", "bot.stop_within=5m")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // under nohup a child would inherit that it is ignored
	defer signal.Stop(hangups)
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	cmd.Stderr = log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	now := func() (now struct {
		State      string `json:"state"`
		ReloadedMS int64  `json:"reloaded_ms"`
		ReloadedBy string `json:"reloaded_by"`
	}) {
		if code, out, _ := call(t.Context(), "status", "--json", "--state", state); code == 0 {
			require.NoError(t, json.Unmarshal([]byte(out), &now))
		}
		return now
	}
	bottest.Await(t, func() bool { return now().State == "trading" })
	write("debug")
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	bottest.Await(t, func() bool { return now().ReloadedMS != 0 })
	require.Equal(t, "SIGHUP", now().ReloadedBy)
	bottest.Await(t, func() bool {
		text, err := os.ReadFile(log.Name())
		return err == nil && strings.Contains(string(text), `"level":"debug"`)
	})
	write("warn")
	code, out, _ := call(t.Context(), "reload", "--check", "--state", state)
	require.Zero(t, code)
	require.Contains(t, out, "bot.log: debug → warn\nnothing is applied: this would change; config ")
	code, out, said := call(t.Context(), "reload", "--state", state)
	require.Zero(t, code, said)
	require.Contains(t, out, "bot.log: debug → warn\nreloaded; config ")
	code, out, _ = call(t.Context(), "reload", "--state", state)
	require.Zero(t, code)
	require.Equal(t, "no setting has changed\n", out)
	require.Regexp(t, "^user ", now().ReloadedBy)
	alerts := make(chan string, 64)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err == nil {
			alerts <- string(text)
		}
	}))
	defer receiver.Close()
	sample = append(sample, "\n[alerts.to.phone]\nurl = \""+receiver.URL+"/secret\"\n"...)
	write("warn")
	code, out, _ = call(t.Context(), "reload", "--state", state)
	require.Zero(t, code)
	require.Contains(t, out, "alerts.to.phone.url: none → …\n")
	require.NotContains(t, out, "/secret")
	code, _, _ = call(t.Context(), "halt", "--state", state)
	require.Zero(t, code)
	heard := ""
	bottest.Await(t, func() bool {
		select {
		case one := <-alerts:
			heard += one
		default:
		}
		return strings.Contains(heard, `"kind":"halt"`)
	})
	write("loud")
	code, _, said = call(t.Context(), "reload", "--state", state)
	require.Equal(t, 64, code)
	require.Contains(t, said, `"loud" is not one of`)
	require.Equal(t, "halted", now().State)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, bottest.Ended(cmd))
	s.stop()
}
