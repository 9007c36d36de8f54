package runner

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// stagePromise is a promise about the stage's bot: a drawdown that it breaks at once, if strict.
func stagePromise(strict bool) stats.Promise {
	p := stats.Promise{Level: 0.05, Weights: [stats.Quantities]float64{0.25, 0.25, 0.25, 0.25},
		Return:   stats.ReturnPromise{Deviation: 0.02, Mean: -0.5, Clip: 4, Days: 1, Restart: 30},
		Trips:    stats.TripPromise{Low: 0, High: 100, Cap: 1000},
		Slippage: stats.SlippagePromise{Unit: 10, Most: 3, Clip: 4},
		Drawdown: stats.DrawdownPromise{Depth: 0.9, Horizon: 365, Chance: 0.01}}
	if strict {
		p.Drawdown.Depth = 1e-9
	}
	return p
}

// sealNow seals the stage's bot while none runs.
func (s *stage) sealNow(strict bool) {
	d := seal.Document{Currency: "EUR", Strategies: seal.StrategiesOf(s.plan(nil).Strategies),
		Promise: stagePromise(strict), PublicKey: seal.PublicKey(sealKey(1))}
	text, err := d.Encode()
	require.NoError(s.T, err)
	require.NoError(s.T, os.MkdirAll(s.Folder, 0o700))
	store, err := journal.Open(filepath.Join(s.Folder, statedir.StateFile))
	require.NoError(s.T, err)
	b := store.NewBatch()
	b.Seal(market.Time(time.Now().UnixNano()), &journal.Seal{Scope: seal.Scope, By: "ann", Document: text})
	require.NoError(s.T, store.Commit(b))
	require.NoError(s.T, store.Close())
}

// sealKey signs the exports of a stage.
func sealKey(of byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{of}, ed25519.SeedSize))
}

// exportOf is the signed export of a store.
func exportOf(t *testing.T, store *journal.Store, key ed25519.PrivateKey) []byte {
	var text bytes.Buffer
	require.NoError(t, seal.Export(&text, store, key, market.Time(time.Now().UnixNano()), "v1"))
	return text.Bytes()
}

// proven exports the stage's journal and checks it as others do.
func (s *stage) proven() *seal.Proof {
	store, err := journal.Read(filepath.Join(s.Folder, statedir.StateFile))
	require.NoError(s.T, err)
	defer func() { require.NoError(s.T, store.Close()) }()
	text := exportOf(s.T, store, sealKey(1))
	proof, err := seal.ReadExport(bytes.NewReader(text))
	require.NoError(s.T, err)
	s.forged(store, text)
	require.Empty(s.T, proof.Flaws)
	standing, err := seal.StatusOf(store)
	require.NoError(s.T, err)
	require.Equal(s.T, standing, proof.Standing, "the export says the same as bot verify")
	return proof
}

// forged checks that no changed byte of an export passes, nor a journal that was written again with
// a better day and a whole chain.
func (s *stage) forged(store *journal.Store, export []byte) {
	chance := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		text := bytes.Clone(export)
		text[chance.IntN(len(text))] ^= 1 << chance.IntN(8)
		proof, err := seal.ReadExport(bytes.NewReader(text))
		require.True(s.T, err != nil || len(proof.Flaws) > 0, "one flipped bit")
	}
	for says, change := range map[string]func(r journal.Payload){
		"the evidence is": func(r journal.Payload) {
			if v, is := r.(*journal.Verdict); is && v.Broken {
				v.Broken = false
			} else if is {
				v.Document = bytes.Replace(v.Document, []byte(`"total":`), []byte(`"total":0.5,"was":`), 1)
			}
		},
		"fills and transfers make": func(r journal.Payload) {
			if f, is := r.(*journal.ReportEntry); is && len(f.Fills) > 0 {
				f.Fills[0].Price -= 10
			}
		},
		"the day's return is": func(r journal.Payload) {
			if v, is := r.(*journal.Verdict); is {
				v.Document = bytes.Replace(v.Document, []byte(`"return":`), []byte(`"return":0.5,"was":`), 1)
			}
		},
		"signed with another key": func(journal.Payload) {},
	} {
		again := rewritten(s.T, store, change)
		proof, err := seal.ReadExport(bytes.NewReader(exportOf(s.T, again, sealKey(2))))
		require.NoError(s.T, err)
		require.Contains(s.T, strings.Join(proof.Flaws, "\n"), says)
		require.NoError(s.T, again.Close())
	}
}

// rewritten is a journal of the same entries, but for a change, with a chain of its own.
func rewritten(t *testing.T, store *journal.Store, change func(journal.Payload)) *journal.Store {
	into, err := journal.Open(filepath.Join(memoryFolder(t), "bot.db"))
	require.NoError(t, err)
	catalog := store.Catalog()
	require.NoError(t, into.Bind(catalog, nil))
	b := into.NewBatch()
	require.NoError(t, store.Entries(0, func(e *journal.Entry) error {
		switch change(e.Record); r := e.Record.(type) {
		case *journal.Seal:
			b.Seal(e.At, r)
		case *journal.Verdict:
			b.Verdict(e.At, r)
		default:
			b.Journal(e.At, e.Record)
		}
		return nil
	}))
	require.NoError(t, into.Commit(b))
	return into
}

// A sealed bot judges each day at its end, over stops, kills and days without it; and the money,
// the positions and the trips of its verdicts follow from the fills.
func TestASealedBotJudgesEachDay(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 5, nil)
		s.traffic.position, s.traffic.money = 0, 0 // prices move for days while no bot runs
		time.Sleep(24*time.Hour - 90*time.Second)
		p := s.start()
		time.Sleep(30 * time.Second)
		require.NoError(t, p.end())
		s.sealNow(false)
		for day := range 5 {
			p := s.start()
			time.Sleep(150 * time.Second) // over midnight
			if day == 2 {
				p.kill()
				p.bury()
			} else {
				require.NoError(t, p.end())
			}
			time.Sleep(24*time.Hour - 150*time.Second)
			if day == 3 {
				time.Sleep(24 * time.Hour)
			}
		}
		proof := s.proven()
		require.Equal(t, 5, proof.Sums, "a baseline and four verdicts")
		require.Greater(t, proof.Fills, 20)
		standing := proof.Standing
		require.Equal(t, []int{5, 1}, []int{standing.Days, standing.Missed}, standing.Text())
		require.False(t, standing.Broken)
		require.Contains(t, standing.Sentence(), "Within its promise after 4 days")
		require.NotEqual(t, 1.0, standing.Evidence["slippage"], "orders that took were measured")
		require.NotEqual(t, 1.0, standing.Evidence["trips"])
		s.replayed()
	})
}

// A broken promise stays broken, is told once, and halts nothing. A new seal begins anew.
func TestABrokenPromiseStaysBrokenUntilTheNextSeal(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 6, nil)
		s.traffic.position, s.traffic.money = 0, 0 // prices move for days while no bot runs
		s.sealNow(true)
		time.Sleep(24*time.Hour - time.Minute)
		for range 3 {
			p := s.start()
			time.Sleep(150 * time.Second)
			require.NoError(t, p.end())
			time.Sleep(24*time.Hour - 150*time.Second)
		}
		standing := s.proven().Standing
		require.True(t, standing.Broken)
		require.Equal(t, []string{"drawdown"}, standing.Alone)
		require.Contains(t, standing.Sentence(), "The promise is broken: drawdown. Probably since 2000-01-02")
		require.Equal(t, 1, strings.Count(s.log.String(), "The promise is broken"))

		document, err := (&seal.Document{Currency: "EUR", Promise: stagePromise(false)}).Encode()
		require.NoError(t, err)
		p := s.start()
		time.Sleep(20 * time.Second)
		c := &control{r: p.runner, ctx: context.Background()}
		answer, err := c.seal(t.Context(), &operator.Request{By: "ann", Document: document})
		require.NoError(t, err)
		require.Contains(t, answer.(*seal.SealStatus).Sentence(), "no whole UTC day has been judged yet")
		_, err = c.seal(t.Context(), &operator.Request{By: "ann", Document: []byte(`{"version":9}`)})
		require.ErrorContains(t, err, "update the program")
		require.NoError(t, p.end())
		standing, err = seal.StatusOf(s.Stored())
		require.NoError(t, err)
		require.Equal(t, []any{"ann", false}, []any{standing.By, standing.Broken})
	})
}
