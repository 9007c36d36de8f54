package runner

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/rerun/canary"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
)

// followed is a stage whose bot has a canary with these strategies.
func followed(t *testing.T, seed uint64, kinds ...strategy.Definition) *stage {
	s := newStage(t, seed, nil)
	s.canary = func() *canary.Process {
		records, to := io.Pipe()
		from, answers := io.Pipe()
		go func() {
			p := canary.Player{Hello: canary.Hello{Program: "v2"}, Kinds: append(slices.Clone(s.kinds), kinds...)}
			// the error is its last answer too
			_ = answers.CloseWithError(p.Play(context.Background(), records, answers))
		}()
		return canary.Over(to, from)
	}
	return s
}

// promotions are those in the journal of a stopped bot.
func (s *stage) promotions() (all []journal.Promotion) {
	store, err := journal.Read(filepath.Join(s.Folder, statedir.StateFile))
	require.NoError(s.T, err)
	defer func() { require.NoError(s.T, store.Close()) }()
	require.NoError(s.T, store.Entries(0, func(e *journal.Entry) error {
		if p, is := e.Record.(*journal.Promotion); is {
			all = append(all, *p)
		}
		return nil
	}))
	return all
}

func TestACanaryThatDecidesTheSameIsPromoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := followed(t, 4)
		p := s.start()
		time.Sleep(4 * time.Minute)
		require.NoError(t, p.end())
		state := p.Canary.State()
		require.Nil(t, state.First)
		require.NoError(t, state.Ended)
		require.Zero(t, state.Unchecked)
		require.Equal(t, s.replayed().Equal, state.Equal, "it has compared what a replay compares")
		require.Equal(t, []journal.Promotion{{Accepted: true, By: "20 equal commands", Version: "v2",
			Compared: s.promotions()[0].Equal, Equal: s.promotions()[0].Equal}}, s.promotions())
		require.GreaterOrEqual(t, s.promotions()[0].Equal, int64(20))
	})
}

func TestAPersonDecidesAboutACanaryThatDiffers(t *testing.T) {
	bottest.Unraced(t)
	for _, decision := range []string{operator.CanaryAccept, operator.CanaryRefuse} {
		synctest.Test(t, func(t *testing.T) {
			s := followed(t, 4, otherSeed)
			p := s.start()
			c := &control{r: p.runner, ctx: context.Background()}
			time.Sleep(3 * time.Minute)
			answer, err := c.canary(t.Context(), &operator.Request{})
			require.NoError(t, err)
			require.Regexp(t, `^event \d+, ticker BTC-EUR of \S+: `, answer.(*operator.Canary).Difference)
			require.Contains(t, s.log.String(), "the canary decides otherwise after ")
			answer, err = c.canary(t.Context(), &operator.Request{As: decision, Reason: "as planned"})
			require.NoError(t, err)
			require.Contains(t, answer.(*operator.Canary).Decided, decision)
			_, err = c.canary(t.Context(), &operator.Request{As: decision})
			require.ErrorContains(t, err, "before")
			time.Sleep(time.Minute)
			require.NoError(t, p.end())
			made := s.promotions()
			require.Len(t, made, 1)
			require.Equal(t, decision == operator.CanaryAccept, made[0].Accepted)
			require.Equal(t, "decided by the operator: as planned", made[0].By)
			require.Equal(t, made[0].Equal+1, made[0].Compared)
			require.Contains(t, made[0].Difference, "ticker BTC-EUR")
			s.replayed()
		})
	}
}

// A canary that reads nothing holds nothing up, and a program that is no canary is named.
func TestACanaryThatHangsOrIsNoneHoldsNothingUp(t *testing.T) {
	for name, play := range map[string]func(io.Reader, io.WriteCloser){
		"hangs": func(io.Reader, io.WriteCloser) {},
		"is none": func(in io.Reader, out io.WriteCloser) {
			_, _ = out.Write([]byte("usage: x\n"))
			_ = out.Close()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 4, nil)
			var out *io.PipeWriter
			s.canary = func() *canary.Process {
				records, to := io.Pipe()
				from, answers := io.Pipe()
				out = answers
				go play(records, answers)
				p := canary.Over(to, from)
				time.AfterFunc(5*time.Minute, func() { // what the end of a process does
					_ = records.Close()
					_ = answers.Close()
				})
				return p
			}
			p := s.start()
			time.Sleep(3 * time.Minute)
			before := s.traffic.orders()
			require.Greater(t, before, 20)
			c := &control{r: p.runner, ctx: context.Background()}
			_, err := c.canary(t.Context(), &operator.Request{As: operator.CanaryAccept})
			require.ErrorContains(t, err, "the canary has not compared anything yet")
			require.NoError(t, p.end())
			if name == "is none" {
				require.ErrorContains(t, p.Canary.State().Ended, `it begins with "usage: x"`)
			}
			require.NotNil(t, out)
			require.Empty(t, s.promotions())
		})
	}
}
