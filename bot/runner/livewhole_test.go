package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/internal/lives"
)

// whole is a bot of a life that is a process of its own: at an exchange behind HTTP and WebSocket,
// asked over its socket, and commanded by the program.
type whole struct {
	p    *player
	cmd  *exec.Cmd
	done chan error
}

// program is the program, as a child of the test.
func (p *player) program(args ...string) *exec.Cmd {
	path, err := os.Executable()
	require.NoError(p.T, err)
	cmd := bottest.Child(path, args...)
	cmd.Env = append(os.Environ(), "TIDEMARK_LIFE=1", "KEY="+bottest.BotKey, "SECRET="+bottest.BotSecret)
	return cmd
}

// growWhole starts the program and waits until it trades.
func (p *player) growWhole() (body, error) {
	p.starts++
	file := filepath.Join(filepath.Dir(p.Folder), "life.toml")
	require.NoError(p.T, os.WriteFile(file, []byte(p.config), 0o600))
	args := []string{"run", "-c", file, "--set", "bot.state=" + p.Folder}
	for _, way := range p.ways() {
		args = append(args, "--set", strings.Join(way.Path, ".")+"="+way.Text)
	}
	w := &whole{p: p, cmd: p.program(args...), done: make(chan error, 1)}
	w.cmd.Stderr = &p.log
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { w.done <- w.cmd.Wait() }()
	for range 200 {
		time.Sleep(100 * time.Millisecond)
		if err, by := w.ended(); by {
			return nil, fmt.Errorf("it ended: %w", err)
		}
		if w.ask(operator.PathPositions, &operator.Request{}, &operator.Positions{}) == nil {
			return w, nil
		}
	}
	w.kill()
	w.bury()
	return nil, errors.New("it does not trade within 20 s")
}

func (w *whole) ended() (err error, by bool) {
	select {
	case err = <-w.done:
		w.done <- err
		return err, true
	default:
		return nil, false
	}
}

func (w *whole) end() error {
	_ = w.cmd.Process.Signal(os.Interrupt)
	return <-w.done
}

func (w *whole) kill() { _ = w.cmd.Process.Kill() }
func (w *whole) bury() { <-w.done }

func (w *whole) reloads(*rand.Rand) { _ = w.cmd.Process.Signal(syscall.SIGHUP) }

func (w *whole) ask(path string, ask *operator.Request, value any) error {
	_, err := operator.Call(context.Background(), w.p.Folder, path, ask, 5*time.Second, value)
	return err
}

// command runs the program with a command.
func (w *whole) command(path string, ask *operator.Request) (code int, text string) {
	args := []string{path[1:]}
	if ask.Order != "" {
		args = append(args, ask.Order)
	}
	cmd := w.p.program(append(args, "--state", w.p.Folder, "--wait", fmt.Sprint(ask.WaitMS, "ms"))...)
	said, err := cmd.CombinedOutput()
	if err != nil {
		code = cmd.ProcessState.ExitCode()
	}
	return code, string(said)
}

// newWhole is a player of a life in processes: all times of the life are a quarter.
func newWhole(t *testing.T, l *lives.Life) *player {
	p := newPlayer(t, quicker(l))
	p.grow, p.calm = p.growWhole, 2*time.Minute
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.traffic.isDown() {
			panic(http.ErrAbortHandler)
		}
		p.ex.ServeHTTP(w, r)
	}))
	server.Start()
	t.Cleanup(server.Close)
	p.config = strings.Replace(p.config, "https://exchange.test", server.URL, 1)
	return p
}

// quicker is a life in a quarter of its time, without what only a bot inside the test can meet.
func quicker(l *lives.Life) *lives.Life {
	quick := &lives.Life{Seed: l.Seed, Setup: l.Setup}
	quick.Setup.Start, quick.Setup.Paper = 0, false
	for _, e := range l.Events {
		e.At /= 4
		switch e.Verb {
		case "killwrite", "power":
			e.Verb, e.Args = "kill", e.Args[len(e.Args)-1:]
		case "sleep", "direct", "sell", "clock", "disk", "restore", "twice", "adopt", "candles", "lie", "delist":
			continue
		}
		args := make([]string, len(e.Args))
		for i, arg := range e.Args {
			if args[i] = arg; len(arg) > 1 {
				if span, err := time.ParseDuration(arg); err == nil {
					args[i] = max(span/4, 2*time.Second).String()
				}
			}
		}
		e.Args = args
		quick.Events = append(quick.Events, e)
	}
	return quick
}

// The same lives, with bots that are processes of their own: real time, real sockets, real signals,
// and the commands of the program with their exit codes.
func TestThePromisesHoldInLivesOfProcesses(t *testing.T) {
	for seed := range uint64(*wholeLives) {
		t.Run(fmt.Sprint(seed+1+*firstLife), func(t *testing.T) {
			t.Parallel()
			l := lives.Draw(seed + 1 + *firstLife)
			if *lifeFile != "" {
				l = readLife(t, *lifeFile)
			}
			p := newWhole(t, l)
			p.play()
			for _, f := range p.guard.Findings {
				t.Errorf("seed %d: %s\n%s", l.Seed, f, p.life)
				text, _ := json.Marshal(f.Text)
				p.says("%s", text)
			}
			if len(p.guard.Findings) > 0 && *lifeFile != "" {
				t.Log(p.log.Tail(300))
			}
		})
	}
}
