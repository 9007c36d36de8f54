package farm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
)

// patience is how long a test waits for what has to come.
const patience = time.Minute

// quick is a farm that gives the groups of a dead worker to others soon.
func quick() Farm { return Farm{wait: 400 * time.Millisecond, lonely: time.Hour, attempts: 1000} }

func program() machines.Program {
	return machines.Program{Code: "v1", Arch: "amd64", Strategies: map[string]string{"a": "1", "b": "2"}}
}

// said are notices.
type said struct {
	mutex sync.Mutex
	lines []string
	news  chan struct{}
}

func newSaid() *said { return &said{news: make(chan struct{}, 1)} }

func (s *said) say(text string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.lines = append(s.lines, text)
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// await waits for a notice with a text.
func (s *said) await(t testing.TB, text string) string {
	t.Helper()
	late := time.After(patience)
	for {
		s.mutex.Lock()
		for _, line := range s.lines {
			if strings.Contains(line, text) {
				s.mutex.Unlock()
				return line
			}
		}
		all := strings.Join(s.lines, "\n")
		s.mutex.Unlock()
		select {
		case <-s.news:
		case <-late:
			require.Failf(t, "it is not said", "%s\nin\n%s", text, all)
		}
	}
}

// join is the address that a coordinator has named.
func (s *said) join(t testing.TB) string {
	return strings.TrimPrefix(s.await(t, "workers join with: "), "workers join with: bot worker --join ")
}

// play is a coordinator that is given groups.
type play struct {
	*said
	todo   chan research.Group
	done   chan research.Done
	ended  chan error
	cancel context.CancelFunc
}

func cargo(folder string) *machines.Cargo {
	return &machines.Cargo{ID: "0123456789abcdef", Sweep: "a.sweep", Folder: folder,
		Plan: []byte("plan of " + strings.Repeat("x", partSize)),
		Blob: func(h machines.Hash) ([]byte, error) {
			if h == machines.HashOf([]byte("candles")) {
				return []byte("candles"), nil
			}
			return nil, machines.ErrNoBlob
		}}
}

func coordinate(t testing.TB, f Farm, folder string, change func(*machines.Coordination)) *play {
	c := machines.Coordination{Door: machines.Door{Address: "127.0.0.1:0"}, Program: program(),
		Load: func() (*machines.Cargo, error) { return cargo(folder), nil }}
	p := &play{said: newSaid(), ended: make(chan error, 1)}
	if c.Notice = p.say; change != nil {
		change(&c)
	}
	r, err := f.Coordinate(c)
	require.NoError(t, err)
	p.todo, p.done = make(chan research.Group, r.Ahead()), make(chan research.Done, r.Ahead())
	ctx, cancel := context.WithCancel(t.Context())
	p.cancel = cancel
	go func() { p.ended <- r.Run(ctx, p.todo, p.done) }()
	return p
}

// end ends the coordinator.
func (p *play) end(t *testing.T) {
	close(p.todo)
	require.NoError(t, <-p.ended)
	p.cancel()
}

// hand is a machines.Hand of a function.
type hand func(ctx context.Context, g research.Group) ([]research.Row, error)

func (h hand) Core() (func(context.Context, research.Group) ([]research.Row, error), error) {
	return h, nil
}
func (h hand) Close() error { return nil }

// rows are those that the fake work gives: they name the group.
func rows(g *research.Group) (list []research.Row) {
	for _, set := range g.Sets {
		list = append(list, research.Row{Set: set, Rung: g.Rung, First: int32(g.Number), Daily: []float32{1},
			Excess: []float32{2}, Figures: make(research.Figures, len(research.FigureNames()))})
	}
	return list
}

func honest(_ context.Context, g research.Group) ([]research.Row, error) { return rows(&g), nil }

// mate is a worker that a test has started.
type mate struct {
	*said
	cancel context.CancelFunc
	result chan error
}

// work starts a worker.
func work(t testing.TB, f Farm, address string, run hand, change func(*machines.Membership)) *mate {
	w := &mate{said: newSaid(), result: make(chan error, 1)}
	m := machines.Membership{Door: machines.Door{Address: address}, Name: fmt.Sprintf("%s %p", t.Name(), w), Cores: 2,
		Program: program(), Notice: w.say,
		Prepare: func(_ context.Context, plan []byte, fetch func(machines.Hash) ([]byte, error)) (machines.Hand,
			error) {
			if len(plan) != len("plan of ")+partSize {
				return nil, errors.New("another plan")
			}
			content, err := fetch(machines.HashOf([]byte("candles")))
			if err != nil || string(content) != "candles" {
				return nil, errors.Join(errors.New("other candles"), err)
			}
			return run, nil
		}}
	if change != nil {
		change(&m)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	go func() { w.result <- f.Work(ctx, m) }()
	return w
}

// end is the error of a worker that ends by itself.
func (w *mate) end(t testing.TB) error {
	t.Helper()
	defer w.cancel()
	select {
	case err := <-w.result:
		return err
	case <-time.After(patience):
		require.Fail(t, "the worker goes on")
		return nil
	}
}

// stop ends a worker.
func (w *mate) stop(t testing.TB) {
	t.Helper()
	w.cancel()
	require.ErrorIs(t, w.end(t), context.Canceled)
}

// give gives so many groups of two sets, and takes all results: each once.
func (p *play) give(t *testing.T, from, to int) {
	t.Helper()
	got := map[int]bool{}
	next, kept, late := from, from, time.After(patience)
	for len(got) < to-from {
		for got[kept] {
			kept++
		}
		todo := p.todo
		if next == to || next >= kept+ahead {
			todo = nil
		}
		select {
		case todo <- research.Group{Number: next, Sets: []uint64{uint64(2 * next), uint64(2*next + 1)}}:
			next++
		case d := <-p.done:
			require.NoError(t, d.Err)
			require.False(t, got[d.Number], "group %d twice", d.Number)
			got[d.Number] = true
			require.Equal(t, int32(d.Number), d.Rows[0].First)
			require.Equal(t, uint64(2*d.Number+1), d.Rows[1].Set)
		case err := <-p.ended:
			require.NoError(t, err)
			require.Fail(t, "it has ended")
		case <-late:
			require.Failf(t, "late", "%d of %d groups", len(got), to-from)
		}
	}
}

func TestWorkersRunEachGroupOnce(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "f")
	p := coordinate(t, quick(), folder, nil)
	p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
	address := p.join(t)
	first := work(t, quick(), address, honest, nil)
	second := work(t, quick(), address, honest, nil)
	require.Equal(t, 0, (<-p.done).Number)
	p.give(t, 1, 3000)
	awaitRoster(t, folder, func(list []machines.Worker) bool {
		return len(list) == 2 && list[0].Groups+list[1].Groups >= 3000 && list[0].Cores == 2 && list[1].Left == ""
	})
	second.stop(t)
	awaitRoster(t, folder, func(list []machines.Worker) bool {
		return list[0].Left == "left" && list[1].Left == "" || list[0].Left == "" && list[1].Left == "left"
	})
	p.end(t)
	first.stop(t)
	require.NoDirExists(t, folder)
}

// awaitRoster waits until the coordinator has written that its workers are so.
func awaitRoster(t *testing.T, folder string, is func([]machines.Worker) bool) {
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(folder, machines.RosterFile))
		if err != nil {
			return false // not yet
		}
		r, err := machines.ReadRoster(text)
		return err == nil && r.Sweep == "a.sweep" && is(r.Workers)
	}, patience, 20*time.Millisecond)
}

// A worker hears that a sweep is over, and greets the next coordinator at the same address at once.
func TestAWorkerGoesFromSweepToSweep(t *testing.T) {
	t.Parallel()
	address, f := "127.0.0.1:0", Farm{}
	var w *mate
	for range 3 {
		p := coordinate(t, f, filepath.Join(t.TempDir(), "f"), func(c *machines.Coordination) { c.Address = address })
		p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
		if address = p.join(t); w == nil {
			w = work(t, f, address, honest, nil)
		}
		require.Equal(t, 0, (<-p.done).Number)
		p.give(t, 1, 50)
		p.end(t)
	}
	w.stop(t)
	for _, line := range w.lines {
		require.NotContains(t, line, "does not answer")
	}
}
