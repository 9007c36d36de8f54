package runner

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/internal/filetest"
	"github.com/tidemark-trading/tidemark/market"
)

// What the power fails in the middle of, in paper mode: a commit of the bot, one of its simulated
// exchange, or one of each.
const (
	inBotFile   = "bot.db"
	inPaperFile = "paper.db"
	inBoth      = "both"
)

// paperBot is stageBot in paper mode, on the prices of the stage's exchange.
const paperBot = `
[bot]
mode = "paper"
stop_within = "20m"
[exchange]
base_url = "https://exchange.test/v2"
[poll]
orders = "20s"
[paper.start]
EUR = "20000"
[strategies.restless]
kind = "restless"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "10000"
operator_id = 7
cod_group_id = 3
params.seed = %d
`

// paperCut lets the power fail in one life of a bot in paper mode, and leaves what a disk then has
// of both files. What the bot commits and what its exchange does happens one after the other, so
// that both files can be looked at.
type paperCut struct {
	*process
	moment string
	nth    int // commit, or write, from which on it may be the moment
	chance *rand.Rand
	over   chan struct{}

	mu      sync.Mutex
	seen    int
	dead    bool
	steps   []filetest.Step
	request *halfDone     // under way when the bot commits
	nobody  chan struct{} // hears of that request
}

// halfDone is the exchange's file before and after a request whose answer did not reach the bot.
type halfDone struct{ before, after []byte }

func (c *paperCut) image(file string) []byte {
	image, err := os.ReadFile(filepath.Join(c.stage.Folder, file))
	require.NoError(c.stage.T, err)
	return image
}

// cut is what is left of a commit.
func (c *paperCut) cut(before, after []byte) []byte {
	step := filetest.Step(1 + c.chance.IntN(3))
	c.steps = append(c.steps, step)
	return filetest.Cut(before, after, step, c.chance)
}

// due counts what may be the moment.
func (c *paperCut) due() bool {
	c.seen++
	return c.seen >= c.nth
}

// cutJournal lets the power fail in a commit of the bot.
type cutJournal struct {
	live.Journal
	*paperCut
}

func (j *cutJournal) Commit(at market.Time) error {
	c := j.paperCut
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead || c.moment == inPaperFile || c.moment == inBoth && c.request == nil || c.moment == inBotFile &&
		!c.due() {
		return j.Journal.Commit(at)
	}
	before := c.image(statedir.StateFile)
	if err := j.Journal.Commit(at); err != nil {
		return err
	}
	after := c.image(statedir.StateFile)
	if string(before) == string(after) {
		return nil // there was nothing to be committed
	}
	paper := c.image(statedir.PaperFile)
	if c.request != nil && string(paper) == string(c.request.after) { // else prices have moved it on
		paper = c.cut(c.request.before, c.request.after)
	}
	c.leave(c.cut(before, after), paper)
	return errPower
}

// before stands before the exchange, and lets the power fail in its commits.
func (c *paperCut) before(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.request != nil { // an answer would show what that has done, and then it is on disk
			c.mu.Unlock()
			<-c.nobody
			c.mu.Lock()
		}
		if c.dead {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		if r.Method == http.MethodGet || !strings.HasSuffix(r.URL.Path, "/order") || c.moment == inBotFile || !c.due() {
			h.ServeHTTP(w, r)
			return
		}
		before := c.image(statedir.PaperFile)
		h.ServeHTTP(w, r)
		after := c.image(statedir.PaperFile)
		switch {
		case string(before) == string(after):
		case c.moment == inPaperFile:
			c.leave(c.image(statedir.StateFile), c.cut(before, after))
		default:
			c.request = &halfDone{before, after}
			c.mu.Unlock()
			<-c.nobody
			c.mu.Lock()
		}
	})
}

// leave ends the process and writes what is left of its files into a folder of its own.
func (c *paperCut) leave(bot, paper []byte) {
	c.dead = true
	s := c.stage
	require.True(s.T, c.wire.die())
	dir := fmt.Sprintf("%s-%d", strings.TrimSuffix(s.Folder, filepath.Ext(s.Folder)), s.starts)
	require.NoError(s.T, os.MkdirAll(dir, 0o700))
	require.NoError(s.T, os.WriteFile(filepath.Join(dir, statedir.StateFile), bot, 0o600))
	require.NoError(s.T, os.WriteFile(filepath.Join(dir, statedir.PaperFile), paper, 0o600))
	require.NoError(s.T, c.store.Close()) // the next commit fails, and with it the loop
	s.Folder = dir
	close(c.over)
	close(c.nobody)
}

// cutPaper lets a bot trade on paper until the power has failed.
func (s *stage) cutPaper(moment string, chance *rand.Rand) (steps []filetest.Step) {
	c := &paperCut{moment: moment, nth: 1 + chance.IntN(25), chance: chance, over: make(chan struct{}),
		nobody: make(chan struct{})}
	s.within = c.before
	p, err := s.open()
	require.NoError(s.T, err)
	c.mu.Lock()
	c.process = p
	c.mu.Unlock()
	p.loop.Journal = &cutJournal{p.loop.Journal, c}
	go func() { p.done <- p.trade(p.ctx()) }()
	select {
	case <-c.over:
	case <-time.After(10 * time.Minute):
		require.Fail(s.T, "the moment never came")
	}
	p.bury()
	require.NoError(s.T, p.paper.Close())
	s.within = nil
	return c.steps
}

// In paper mode two files are written, each by its own commits. Whatever is left of them, the bot
// finds out of its exchange what its own file does not know. More seeds: -live-seeds.
func TestAPowerCutOfABotOnPaperLosesNoOrder(t *testing.T) {
	bottest.Unraced(t)
	for _, moment := range []string{inBotFile, inPaperFile, inBoth} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(*liveSeeds) {
				synctest.Test(t, func(t *testing.T) { failPaper(t, seed+1, moment) })
				if t.Failed() {
					t.Fatalf("seed %d", seed+1)
				}
			}
		})
	}
}

func failPaper(t *testing.T, seed uint64, moment string) {
	s, chance := newStage(t, seed, nil), rand.New(rand.NewPCG(seed, 11))
	s.config, s.traffic.limits = fmt.Sprintf(paperBot, seed), limits{}
	cuts := map[string]int{}
	lives := 5
	if testing.Short() {
		lives = 2
	}
	for range lives {
		for _, step := range s.cutPaper(moment, chance) {
			cuts[step.String()]++
		}
		s.Sound()
		time.Sleep(time.Duration(chance.IntN(30)) * time.Second)
	}
	t.Logf("seed %d: %v", seed, cuts)
	s.edit(`mode = "paper"`, "mode = \"paper\"\nkeep_exits = false") // so that nothing fills before the comparison
	p := s.start()
	time.Sleep(time.Minute)
	p.stop()
	require.NoError(t, <-p.done)
	require.NoError(t, p.writeStop(nil))
	require.NoError(t, p.store.Close())
	s.Auditor, s.Units, s.Before = p.paper.client, p.plan.Catalog, nil
	s.onlyExits(p)
	a := s.AgreeOnFile()
	require.Positive(t, a.Orders)
	have := s.Holdings()
	quote, base := s.Market().Quote, s.Market().Base
	require.Equal(t, p.account.Total(quote).Total+10_000_00, have[quote]) // the half that is unallocated
	require.Equal(t, p.account.Total(base).Total, have[base])
	require.NoError(t, p.close())
}
