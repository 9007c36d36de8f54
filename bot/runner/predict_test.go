package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/orders"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/strategy"
)

// bookRequoterKind is requoterKind, with books in its recording.
var bookRequoterKind = strategy.Define("requoter", "rests orders and replaces them",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true, Book: true} },
	func(p restlessParams, _ strategy.Setup) (strategy.Strategy, error) {
		return &requoter{chance: rand.New(rand.NewPCG(uint64(p.Seed), 6))}, nil
	})

// The resting orders of a bot meet its own recording again. The sandbox fills what the price runs
// through, whatever stands before it, and the bot records no trades.
//
//	go test ./bot/runner -run FillsOfABot -v -live-seeds 20
func TestTheFillsOfABotArePredictedFromItsRecording(t *testing.T) {
	bottest.Unraced(t)
	var all [3]orders.Prediction
	for seed := range uint64(max(1, *liveSeeds)) {
		synctest.Test(t, func(t *testing.T) {
			s := requoters(t, 40+seed)
			s.kinds[len(s.kinds)-1] = bookRequoterKind
			p := s.start()
			time.Sleep(8 * time.Minute)
			require.NoError(t, p.end())
			log, err := orders.Read(context.Background(), s.Folder, orders.Options{})
			require.NoError(t, err)
			for i, fill := range []sim.LimitFill{sim.Touch, sim.Through, sim.Queue} {
				one, err := log.Predict(context.Background(), fill)
				require.NoError(t, err)
				all[i].Fill = fill
				all[i].Unclear += one.Unclear
				for k := range one.Buckets {
					all[i].Buckets[k].Name = one.Buckets[k].Name
					join(&all[i].Buckets[k], &one.Buckets[k])
				}
				join(&all[i].All, &one.All)
				require.Zero(t, one.Removed.Unseen)
			}
		})
	}
	var text strings.Builder
	for i := range all {
		for _, b := range append(all[i].Buckets[:], all[i].All) {
			fmt.Fprintf(&text, "%-8s%-10s%4d rests, predicted %4d, seen %4d, Brier %.4f\n", all[i].Fill, b.Name,
				b.Rests,
				b.Predicted, b.Seen, b.Brier())
		}
		fmt.Fprintf(&text, "unclear %d\n", all[i].Unclear)
		require.Positive(t, all[i].All.Seen)
		require.Less(t, all[i].All.Brier(), 0.35)
	}
	t.Log("\n" + text.String())
}

func join(to, from *orders.Bucket) {
	to.Rests, to.Predicted = to.Rests+from.Rests, to.Predicted+from.Predicted
	to.Seen, to.Wrong = to.Seen+from.Seen, to.Wrong+from.Wrong
}
