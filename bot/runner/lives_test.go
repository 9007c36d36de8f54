package runner

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/internal/lives"
)

// Each life that is replayed is drawn as those of TestThePromisesHoldInAnyLife, which holds more of
// it. Damaged recordings are replayed, too.
func TestTheReplayOfAnyLifeIsEqual(t *testing.T) {
	bottest.Unraced(t)
	equal, unchecked, resumed, reloads := 0, 0, 0, 0
	for seed := range uint64(*manyLives / 40) {
		seed += *firstLife
		synctest.Test(t, func(t *testing.T) {
			p := newPlayer(t, lives.Draw(seed+1))
			p.play()
			r := p.replayed()
			equal, unchecked, reloads = equal+r.Equal, unchecked+r.Unchecked, reloads+r.Reloads
			resumed += p.damaged(seed, r.Equal+r.Unchecked)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed+1)
		}
	}
	t.Logf("%d lives, %d reloads: %d commands are equal, %d are unchecked after power cuts; damaged, %d went on "+
		"from a snapshot", *manyLives/40, reloads, equal, unchecked, resumed)
	require.Greater(t, equal, *manyLives/20)
}

// damaged flips bits of the recording, one at a time, and replays it: no command differs, and each
// is equal or unchecked. It returns how often the replay went on from a snapshot.
func (s *stage) damaged(seed uint64, commands int) (resumed int) {
	chance := rand.New(rand.NewPCG(seed, 15))
	segments, err := filepath.Glob(filepath.Join(s.Folder, statedir.RecordingFolder, "*"))
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
