package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
	"github.com/tidemark-trading/tidemark/state/candles"
)

const workerHelp = `Run sets of a sweep that another machine coordinates with --listen.

A worker needs the coordinator's program and its token, and nothing else: the
config and the candles come from the coordinator. It works for one sweep after
another until it is interrupted, and waits where there is none. Workers may
come, go and be killed at any time.`

const workerExample = `  bot worker --join 4222
  bot worker --join 192.0.2.7:4222 --token-file token --tls-cert cert.pem
  bot worker --nats tls://nats.example.com:4222 --token-file token`

// workerFlags are the flags of the command.
type workerFlags struct {
	doorFlags
	cores int
	cache string
}

func workerCommand(a *app) *cobra.Command {
	f := &workerFlags{}
	c := &cobra.Command{
		Use: "worker", Short: "Run sets of a sweep that another machine coordinates", Long: workerHelp,
		Example: workerExample, Args: onlyFlags,
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.work(ctx, f) }),
	}
	c.Flags().StringVar(&f.address, "join", "", "`HOST:PORT` of the coordinator; a port alone is of this machine")
	f.add(c.Flags())
	c.Flags().IntVar(&f.cores, "cores", 0, "how many sets run side by side; 0: as many as cores")
	c.Flags().StringVar(&f.cache, "cache", "",
		"`DIR` for candles, which may be deleted; without it: tidemark in the user's folder for caches")
	return c
}

// work runs the command.
func (a *app) work(ctx context.Context, f *workerFlags) error {
	if f.address == "" && f.url == "" {
		return config.Usagef("want --join HOST:PORT with the address of a coordinator, or --nats URL")
	}
	if f.cores < 0 {
		return config.Usagef("--cores is a number from 0 up")
	}
	if a.Farm == nil {
		return a.handOver()
	}
	door, err := f.door("join")
	if err != nil {
		return err
	}
	m := machines.Membership{Door: door, Name: machineName(), Cores: f.cores}
	if m.Cores == 0 {
		m.Cores = runtime.GOMAXPROCS(0)
	}
	if m.Program, err = a.program(); err != nil {
		return err
	}
	out := zerolog.SyncWriter(a.Stderr)
	m.Notice = func(text string) { fmt.Fprintln(out, text) }
	dir := f.cache
	if dir == "" {
		if dir, err = os.UserCacheDir(); err != nil { // a container may have no user
			dir = "."
		}
		dir = filepath.Join(dir, "tidemark")
	}
	cache, err := machines.NewCache(dir)
	if err != nil {
		return err
	}
	m.Prepare = func(_ context.Context, text []byte, fetch func(machines.Hash) ([]byte, error)) (machines.Hand, error) {
		return a.prepare(text, cache, fetch, m.Notice)
	}
	return a.Farm.Work(ctx, m)
}

// hand runs groups of a sweep.
type hand struct {
	job     research.Job
	candles plan.Library
}

// Close closes the candles.
func (h *hand) Close() error { return h.candles.Close() }

// Core returns a function that runs groups, for one goroutine.
func (h *hand) Core() (func(ctx context.Context, g research.Group) ([]research.Row, error), error) {
	make, err := h.job.Worker()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, g research.Group) ([]research.Row, error) {
		return research.RunGroup(ctx, h.job.Space, make, g)
	}, nil
}

// prepare makes a worker ready for a sweep: candles, config, plans, and a check of all three.
func (a *app) prepare(text []byte, cache *machines.Cache, fetch func(machines.Hash) ([]byte, error),
	notice func(string)) (
	h *hand, err error) {
	var e workerTask
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("read what the coordinator sent: %w", err)
	}
	source := &config.Source{File: e.Name, Text: e.Config, Overrides: e.Sets}
	if len(e.Pieces) > 0 {
		path, err := gather(&e, cache, fetch, notice)
		if err != nil {
			return nil, err
		}
		source.Overrides = append(source.Overrides, config.Override{Flag: "--cache",
			Path: []string{"data", "candles"}, Text: path, Word: true})
	}
	for i := range e.Signals {
		set, err := e.Signals[i].place(cache, fetch)
		if err != nil {
			return nil, err
		}
		source.Overrides = append(source.Overrides, set)
	}
	c, err := config.LoadBacktest(source)
	if err != nil {
		return nil, fmt.Errorf("read the coordinator's config: %w", err)
	}
	lib, err := plan.OpenLibrary(c)
	if err != nil {
		return nil, err
	}
	h = &hand{candles: plan.Shared(lib), job: research.Job{To: e.To}}
	defer func() {
		if err != nil {
			err = errors.Join(err, lib.Close())
		}
	}()
	if h.job.Space, err = research.NewSpace(e.Space...); err != nil {
		return nil, err
	}
	if _, err = a.variants(c, h.candles, &h.job); err != nil {
		return nil, err
	}
	id := &h.job.Identity
	if id.Code != e.Identity.Code || id.Config != e.Identity.Config {
		return nil, fmt.Errorf("%w: the coordinator's config means something else to this program; take the same "+
			"program", machines.ErrRefused)
	}
	for i := range e.Series {
		if err := e.Series[i].Check(h.candles); err != nil {
			return nil, fmt.Errorf("%w: compare the candles with the coordinator's: %w", machines.ErrRefused, err)
		}
	}
	return h, nil
}

// gather makes the candle store of a task in the cache. It fetches what the cache lacks.
func gather(e *workerTask, cache *machines.Cache, fetch func(machines.Hash) ([]byte, error),
	notice func(string)) (string, error) {
	list, err := json.Marshal(e.Pieces)
	if err != nil {
		return "", err
	}
	path := cache.Path("candles-" + machines.HashOf(list).String()[:16] + ".db")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	pieces := make([]candles.Piece, len(e.Pieces))
	for i := range pieces {
		pieces[i] = e.Pieces[i].Piece
	}
	fetches, bytes := 0, 0
	err = candles.Assemble(path, pieces, func(i int) ([]byte, error) {
		content, fetched, err := cache.Get(e.Pieces[i].Hash, fetch)
		if fetched {
			fetches, bytes = fetches+1, bytes+len(content)
		}
		return content, err
	})
	if err == nil {
		notice(fmt.Sprintf("candles: %d of %d pieces fetched, %.1f MB", fetches, len(pieces), float64(bytes)/1e6))
	}
	return path, err
}
