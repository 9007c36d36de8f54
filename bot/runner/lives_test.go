package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/bottest"
	"github.com/tidemark-trading/tidemark/bot/folder"
	"github.com/tidemark-trading/tidemark/bot/replay"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

// A life has up to four processes of a bot: with faults, kills, power cuts, halts and resumes of a
// person, a flatten, reloads, other allocations, and sometimes a midnight. Its strategy is
// restless, or replaces orders, or leaves by Close, or rebalances.
func TestTheReplayOfAnyLifeIsEqual(t *testing.T) {
	bottest.Unraced(t)
	equal, unchecked, resumed, reloads := 0, 0, 0, 0
	for seed := range uint64(*manyLives / 40) {
		seed += *firstLife
		synctest.Test(t, func(t *testing.T) {
			s := lifeOf(t, seed+1)
			r := s.replayed()
			equal, unchecked, reloads = equal+r.Equal, unchecked+r.Unchecked, reloads+r.Reloads
			resumed += s.damaged(seed, r.Equal+r.Unchecked)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed+1)
		}
	}
	t.Logf("%d lives, %d reloads: %d commands are equal, %d are unchecked after power cuts; damaged, %d went on "+
		"from a snapshot", *manyLives/40, reloads, equal, unchecked, resumed)
	require.Greater(t, equal, *manyLives/2)
}

// damaged flips bits of the recording, one at a time, and replays it: no command differs, and each
// is equal or unchecked. It returns how often the replay went on from a snapshot.
func (s *stage) damaged(seed uint64, commands int) (resumed int) {
	chance := rand.New(rand.NewPCG(seed, 15))
	segments, err := filepath.Glob(filepath.Join(s.Folder, folder.RecordingFolder, "*"))
	require.NoError(s.T, err)
	for range 6 {
		undo := flip(s.T, segments[chance.IntN(len(segments))], chance, 4)
		r, err := replay.Run(context.Background(), s.Folder, s.kinds, nil)
		undo()
		if err != nil {
			require.ErrorContains(s.T, err, "no start in the recording")
			continue
		}
		require.Nil(s.T, r.First)
		require.Equal(s.T, commands, r.Equal+r.Unchecked)
		resumed += r.Resumed
	}
	return resumed
}

// lifeOf plays a life.
func lifeOf(t *testing.T, seed uint64) *stage {
	chance := rand.New(rand.NewPCG(seed, 14))
	if chance.IntN(3) == 0 {
		time.Sleep(24*time.Hour - time.Duration(chance.IntN(300))*time.Second)
	}
	faults := []fault.Fault(nil)
	if chance.IntN(2) == 0 {
		f := mishaps[chance.IntN(len(mishaps))].fault
		f.Endpoints, f.Key = []string{boundaries[chance.IntN(6)].endpoint}, bottest.BotKey
		f.Probability, f.Until = 0.3, 2*time.Minute
		faults = append(faults, f)
	}
	s := stageOfLife(t, seed, chance, faults)
	if seed%5 == 0 {
		s.hears = overMixed
	}
	s.traffic.limits = limits{value: 9000} // prices move far in a long life
	for range 1 + chance.IntN(4) {
		kind := []market.CommandKind{market.CommandPlace, market.CommandUpdate, market.CommandCancel}[chance.IntN(3)]
		switch chance.IntN(4) {
		case 0:
			s.killAtWrite(kind, chance.IntN(2) == 0, 1+chance.Int64N(8))
		case 1:
			if len(faults) == 0 { // the power fails while the exchange answers
				moments := []string{inItsIntent, aboutToSend, carriedOut, inItsAnswer}
				s.cutPower(kind, moments[chance.IntN(4)], chance)
			}
		default:
			s.governed(chance)
		}
		s.traffic.on(nil)
		time.Sleep(time.Duration(chance.IntN(60)) * time.Second)
		if chance.IntN(2) == 0 {
			before := s.config
			s.config = strings.Replace(before, `allocation = "10000"`, `allocation = "9000"`, 1)
			if s.config == before {
				s.config = strings.Replace(before, `allocation = "9000"`, `allocation = "10000"`, 1)
			}
		}
	}
	s.governed(chance)
	return s
}

// stageOfLife is a stage with a strategy by chance.
func stageOfLife(t *testing.T, seed uint64, chance *rand.Rand, faults []fault.Fault) *stage {
	strike := func(c *sandbox.Config) { c.Faults = faults }
	switch chance.IntN(5) {
	case 0:
		return requoters(t, seed, &requotes{}, faults...)
	case 1:
		return quitters(t, seed, strike)
	case 2:
		return balancers(t, seed, faults...)
	case 3:
		s := newStage(t, seed, strike)
		s.kinds[0] = savingKind
		return s
	}
	return newStage(t, seed, strike)
}

// governed lets a process trade while a person halts, resumes and flattens, and ends it in good
// order.
func (s *stage) governed(chance *rand.Rand) {
	p := s.start()
	for range 4 {
		time.Sleep(time.Duration(5+chance.IntN(30)) * time.Second)
		in := market.Input{Kind: market.InputResume, Strategy: 1}
		switch chance.IntN(6) {
		case 0:
			in.Kind, in.Reason = market.InputHalt, fmt.Sprintf("halted by %d", chance.IntN(10))
		case 1:
			in.Kind, in.Reason = market.InputFlatten, "flattened"
		case 2:
			in = market.Input{Kind: market.InputCancelAll}
		case 3:
			p.reloadAny(chance)
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_ = p.loop.Do(ctx, func(at market.Time) []market.Command { // it may have ended by itself
			p.journal.operate()
			in.At = at
			return p.door.Enter(&in).Commands
		})
		cancel()
	}
	if err := p.end(); err != nil {
		s.T.Logf("a process ended: %v", err)
	}
}
