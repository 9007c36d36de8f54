package runner

import (
	"errors"
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

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/internal/filetest"
	"github.com/tidemark-trading/tidemark/market"
)

// The moments in the life of a write at which the power fails. What is in the middle of a commit is
// cut by chance before its first sync, between the two, or after them.
const (
	inItsIntent = "in the commit of its intent"
	aboutToSend = "about to be sent"
	carriedOut  = "carried out"
	inItsAnswer = "in the commit of its answer"
)

var errPower = errors.New("the power has failed")

// powerCut waits in one life of the bot for a moment and leaves what a disk then has: the state
// file as of its last sync with any part of what was written since, and of the recording, which is
// not synced, any part at all.
type powerCut struct {
	*process
	kind   market.CommandKind
	moment string
	nth    int // write of its kind
	chance *rand.Rand
	over   chan struct{}
	ends   func()        // what else ends with the power; nil: nothing
	step   filetest.Step // that the commit was cut at; 0: the power failed between commits

	mu    sync.Mutex // of commits, and of what follows
	seen  int        // writes of the kind
	armed bool       // in the next commit
	dead  bool
}

// powerJournal lets the power fail in a commit.
type powerJournal struct {
	live.Journal
	cut *powerCut
}

func (j *powerJournal) Intent(i *exchange.Intent) {
	j.Journal.Intent(i)
	if c := j.cut; i.Command == c.kind && c.moment == inItsIntent {
		c.count()
	}
}

func (j *powerJournal) Commit(at market.Time) error {
	c := j.cut
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead || !c.armed || c.stage.switching.Load() > 0 {
		return j.Journal.Commit(at)
	}
	before := c.image()
	if err := j.Journal.Commit(at); err != nil {
		return err
	}
	if after := c.image(); string(after) != string(before) { // something was to be committed
		c.step = filetest.Step(1 + c.chance.IntN(3))
		c.leave(filetest.Cut(before, after, c.step, c.chance))
		return errPower
	}
	return nil
}

// count counts the writes of the kind; the n-th is the one.
func (c *powerCut) count() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen++; c.seen < c.nth || c.dead || c.stage.switching.Load() > 0 {
		return
	}
	if c.armed = c.moment == inItsIntent || c.moment == inItsAnswer; !c.armed {
		c.leave(c.image())
	}
}

// image is the state file as the operating system has it: between commits all of it is synced.
func (c *powerCut) image() []byte {
	file, err := os.ReadFile(c.store.Path())
	require.NoError(c.stage.T, err)
	return file
}

// leave ends the process and writes what is left of its files into a folder of its own, where the
// next one begins.
func (c *powerCut) leave(image []byte) {
	c.dead, c.armed = true, false
	s := c.stage
	if !c.wire.die() {
		return
	}
	dir := fmt.Sprintf("%s-%d", strings.TrimSuffix(s.Folder, filepath.Ext(s.Folder)), s.starts)
	require.NoError(s.T, os.MkdirAll(filepath.Join(dir, statedir.RecordingFolder), 0o700))
	require.NoError(s.T, os.WriteFile(filepath.Join(dir, statedir.StateFile), image, 0o600))
	if c.ends != nil {
		c.ends()
	}
	for _, synced := range []string{killswitch.LogFile, killswitch.HoldingsFile, statedir.PaperFile} {
		if data, err := os.ReadFile(filepath.Join(s.Folder, synced)); err == nil {
			require.NoError(s.T, os.WriteFile(filepath.Join(dir, synced), data, 0o600))
		}
	}
	segments, err := filepath.Glob(filepath.Join(s.Folder, statedir.RecordingFolder, "*"))
	require.NoError(s.T, err)
	for _, segment := range segments {
		c.tear(segment, filepath.Join(dir, statedir.RecordingFolder, filepath.Base(segment)))
	}
	require.NoError(s.T, c.store.Close()) // the next commit fails, and with it the loop
	s.Folder = dir
	close(c.over)
}

// tear copies a file of which nothing was synced: it may be gone, its end cut off, or pages of it
// zeros.
func (c *powerCut) tear(from, to string) {
	data, err := os.ReadFile(from)
	require.NoError(c.stage.T, err)
	switch c.chance.IntN(4) {
	case 0:
		return
	case 1:
		data = data[:c.chance.IntN(len(data)+1)]
	case 2:
		for at := c.chance.IntN(len(data) + 1); at < len(data); at += 4096 {
			clear(data[at:min(at+c.chance.IntN(4096), len(data))])
		}
	}
	require.NoError(c.stage.T, os.WriteFile(to, data, 0o600))
}

// neverCame is the end of a life in which there were too few writes of the kind.
const neverCame = "the moment never came"

// cutPower lets a bot trade until the power has failed, for five minutes at most, and tells how it
// did.
func (s *stage) cutPower(kind market.CommandKind, moment string, chance *rand.Rand) (how string) {
	p, err := s.open()
	require.NoError(s.T, err)
	c := &powerCut{process: p, kind: kind, moment: moment, nth: 1 + chance.IntN(8), chance: chance,
		over: make(chan struct{})}
	p.loop.Journal = &powerJournal{p.loop.Journal, c}
	s.traffic.on(func(r *http.Request, about bool) {
		if commandOf(r) == kind &&
			(moment == aboutToSend && about || !about && (moment == carriedOut || moment == inItsAnswer)) {
			c.count()
		}
	})
	go func() { p.done <- p.trade(p.ctx()) }()
	select {
	case <-c.over:
		if how = "between commits"; c.step != 0 {
			how = c.step.String()
		}
	case <-time.After(5 * time.Minute): // so few of them
		c.mu.Lock()
		c.leave(c.image())
		c.mu.Unlock()
		how = neverCame
	}
	s.traffic.on(nil)
	p.bury()
	return how
}

// At every boundary of an order's life, and in the middle of the commits there, the power fails,
// again and again. The next start finds what was synced. More seeds: -live-seeds.
func TestABotWhosePowerFailsLosesNoOrder(t *testing.T) {
	for _, kind := range []market.CommandKind{market.CommandPlace, market.CommandUpdate, market.CommandCancel} {
		for i, moment := range []string{inItsIntent, aboutToSend, carriedOut, inItsAnswer} {
			if testing.Short() && *liveSeeds == 1 && i != int(kind) {
				continue // one of each kind
			}
			t.Run(kind.String()+" "+moment, func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(*liveSeeds) {
					synctest.Test(t, func(t *testing.T) { failPower(t, seed+1, kind, moment) })
					if t.Failed() {
						t.Fatalf("seed %d", seed+1)
					}
				}
			})
		}
	}
}

func failPower(t *testing.T, seed uint64, kind market.CommandKind, moment string) {
	s, chance := newStage(t, seed, nil), rand.New(rand.NewPCG(seed, uint64(kind)))
	s.tighten(0) // one that lets it trade to the end
	cuts := map[string]int{}
	lives := bottest.Rounds(4, 2)
	for range lives {
		cuts[s.cutPower(kind, moment, chance)]++
		s.Sound()
		time.Sleep(time.Duration(chance.IntN(30)) * time.Second)
	}
	t.Logf("seed %d: %v", seed, cuts)
	require.Less(t, cuts[neverCame], lives)
	p := s.start()
	time.Sleep(time.Minute)
	s.sameOpen(p)
	require.NoError(t, p.end())
	s.onlyExits(p)
	require.Positive(t, s.agree(p).Orders)
}

// The power fails in the commit of a reload: before its pages were synced, between its two syncs,
// or after it. The next start finds the journal of before, or the reload, and takes its settings
// from the config as it is then. More seeds: -live-seeds.
func TestThePowerFailsInTheCommitOfAReload(t *testing.T) {
	bottest.Unraced(t)
	for _, takesNew := range []bool{false, true} {
		t.Run(fmt.Sprint("then the new config ", takesNew), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(bottest.Rounds(3**liveSeeds, 1)) {
				synctest.Test(t, func(t *testing.T) { failPowerInAReload(t, seed+1, takesNew) })
				if t.Failed() {
					t.Fatalf("seed %d", seed+1)
				}
			}
		})
	}
}

func failPowerInAReload(t *testing.T, seed uint64, takesNew bool) {
	s, chance := newStage(t, seed, nil), rand.New(rand.NewPCG(seed, 77))
	var c *powerCut
	s.faults = func(at string) {
		if at == "reload taken over" {
			c.mu.Lock()
			c.armed = true
			c.mu.Unlock()
		}
	}
	p, err := s.open()
	require.NoError(t, err)
	c = &powerCut{process: p, chance: chance, over: make(chan struct{})}
	p.loop.Journal = &powerJournal{p.loop.Journal, c}
	go func() { p.done <- p.trade(p.ctx()) }()
	time.Sleep(2 * time.Minute)
	old := s.config
	s.edit(fmt.Sprint("params.seed = ", seed), "params.seed = 77")
	s.edit(`orders_per_minute = 40`, `orders_per_minute = 30`)
	_, err = p.reload(false)
	require.Error(t, err, "its commit was not acknowledged")
	<-c.over
	p.bury()
	s.faults = nil
	if !takesNew {
		s.config = old
	}
	s.Sound()
	switch kept := len(s.reloads()); c.step {
	case filetest.Pages:
		require.Zero(t, kept)
	case filetest.Done:
		require.Equal(t, 1, kept)
	}
	t.Logf("seed %d: %s, %d reloads in the journal", seed, c.step, len(s.reloads()))
	p = s.start()
	time.Sleep(time.Minute)
	s.sameOpen(p)
	require.NoError(t, p.end())
	require.Positive(t, s.agree(p).Orders)
}
