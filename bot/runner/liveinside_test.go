package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/internal/lives"
)

// body is a bot in a life: its loop in the process of the test, or a process of its own.
type body interface {
	ended() (err error, by bool) // by itself
	end() error                  // in good order
	kill()                       // bury waits until it is dead
	bury()
	ask(path string, ask *operator.Request, value any) error
	command(path string, ask *operator.Request) (code int, text string)
	reloads(chance *rand.Rand)
}

// inside is a bot whose loop turns in the process of the test.
type inside struct {
	*process
	p    *player
	door http.Handler
	cut  *powerCut // nil: its power does not fail
	disk *fullDisk // nil: its disk has room
}

// growInside makes a bot and lets it trade. A panic is an error.
func (p *player) growInside() (grown body, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("panic: %v", why)
			p.guard.Fail("P8", "%s: the start panics: %v", time.Since(p.begun), why)
		}
	}()
	began, err := p.open()
	if err != nil {
		return nil, err
	}
	p.opensPaper(began)
	b := &inside{process: began, p: p}
	b.begin()
	return b, nil
}

func (b *inside) begin() {
	p, ctx := b.p, b.ctx()
	c := &control{r: b.runner}
	c.ctx, c.end = context.WithCancel(context.WithoutCancel(ctx))
	b.door = c.routes()
	follows, rest := context.WithCancel(context.Background())
	var beside sync.WaitGroup
	if p.meets("disk") {
		b.disk = &fullDisk{Journal: b.loop.Journal}
		b.loop.Journal = b.disk
	}
	if p.meets("direct") || p.meets("sell") {
		beside.Go(func() { b.direct.follow(follows, b.loop) })
	}
	if p.meets("power") {
		b.cut = &powerCut{process: b.process, chance: rand.New(rand.NewPCG(p.seed, uint64(p.starts))),
			over: make(chan struct{})}
		if b.paper != nil {
			b.cut.ends = b.endPaper
		}
		b.loop.Journal = &powerJournal{b.loop.Journal, b.cut}
	}
	go func() {
		err := b.traded(ctx)
		c.end()
		rest()
		beside.Wait()
		b.done <- err
	}()
}

// meets reports whether the life has such an event.
func (p *player) meets(verb string) bool {
	return slices.ContainsFunc(p.life.Events, func(e lives.Event) bool { return e.Verb == verb })
}

// traded lets the bot trade until it ends; a panic is an error.
func (b *inside) traded(ctx context.Context) (err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("panic: %v", why)
			b.p.says("%v\n%s", err, debug.Stack())
		}
	}()
	return b.trade(ctx)
}

func (b *inside) ended() (err error, by bool) {
	select {
	case err = <-b.done:
		b.done <- err
		return err, true
	default:
		return nil, false
	}
}

// end is process.end.
func (b *inside) end() error {
	b.stop()
	failed := <-b.done
	b.leaveAndClose(failed)
	return failed
}

func (b *inside) leaveAndClose(failed error) {
	b.p.closesPaper()
	b.process.leaveAndClose(failed)
}

func (b *inside) kill() {
	was := b.p.Folder
	if b.paper != nil {
		b.killPaper()
		return
	}
	b.process.kill()
	for _, name := range []string{killswitch.LogFile, killswitch.HoldingsFile} {
		if was != b.p.Folder { // the same file: the switch may be at work
			_ = os.Link(filepath.Join(was, name), filepath.Join(b.p.Folder, name))
		}
	}
}

func (b *inside) bury() {
	b.stop() // its loop may have nothing to wake for
	<-b.done
	b.client.Close()
}

func (b *inside) reloads(chance *rand.Rand) { b.reloadAny(chance) }

// ask sends a request of the bot's socket.
func (b *inside) ask(path string, ask *operator.Request, value any) error {
	body, err := json.Marshal(ask)
	require.NoError(b.p.T, err)
	request := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	answer := httptest.NewRecorder()
	b.door.ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		return errors.New(strings.TrimSpace(answer.Body.String()))
	}
	return json.Unmarshal(answer.Body.Bytes(), value)
}

// command asks as a command of the program does, and returns its exit code and its words.
func (b *inside) command(path string, ask *operator.Request) (code int, text string) {
	var report operator.ActResult
	switch err := b.ask(path, ask, &report); {
	case err != nil:
		return 1, err.Error()
	case !report.Done:
		code = 1
	}
	return code, report.Words(path, ask)
}
