package runner

import (
	"context"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// sometimes is one of two ways to an exchange.
type sometimes struct {
	plain      *atomic.Bool
	right, odd http.RoundTripper
}

func (s *sometimes) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.plain.Load() {
		return s.right.RoundTrip(r)
	}
	return s.odd.RoundTrip(r)
}

// hearer notes each candle that it is told.
type hearer struct {
	strategy.Base
	told []market.Candle
}

func (h *hearer) OnCandle(_ *strategy.Desk, c market.Candle) { h.told = append(h.told, c) }

// The warm-up, polls and the stream read one odd list as one: each candle once and in its order,
// what is odd is said, what came late is marked, in the recording too.
func TestOddListsOfCandlesAreReadAsOne(t *testing.T) {
	bottest.Unraced(t)
	for _, odd := range bottest.OddLists() {
		for _, way := range []string{overPolls, overStream} {
			t.Run(odd.Name+" over "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { hearOdd(t, &odd, way) })
			})
		}
	}
}

func hearOdd(t *testing.T, odd *bottest.OddCandles, way string) {
	heard := &hearer{}
	s := stageOf(t, "hearer", strategy.Define("hearer", "hears", func(struct{}) strategy.Needs {
		return strategy.Needs{Warmup: 25}
	}, func(struct{}, strategy.Setup) (strategy.Strategy, error) { return heard, nil }))
	s.hears = way
	var plain atomic.Bool
	s.wrap = func(next http.RoundTripper) http.RoundTripper {
		return &sometimes{&plain, next, odd.Through(next, time.Now)}
	}
	if odd.None { // a start would wait for a list
		plain.Store(true)
		time.AfterFunc(5*time.Minute, func() { plain.Store(false) })
		time.AfterFunc(10*time.Minute, func() { plain.Store(true) })
	}
	p := s.start()
	began := market.Time(time.Now().UnixNano())
	time.Sleep(31 * time.Minute)
	require.NoError(t, p.end())
	log := s.log.Tail(2000)
	if !odd.None || way == overPolls { // while the stream tells all, no list is asked for
		require.Contains(t, log, odd.Said)
	}
	next, late := heard.told[0].Start, 0
	for _, c := range heard.told {
		for next < c.Start && odd.Lacks(next.Std()) && !odd.None {
			next = next.Add(time.Minute)
		}
		require.Equal(t, next, c.Start, "each in its order, once")
		require.NoError(t, c.Check())
		require.False(t, way == overPolls && !odd.None && odd.Lacks(c.Start.Std()))
		if next = c.End(); c.Late {
			late++
			require.True(t, odd.None || odd.Late && bottest.IsLate(c.Start.Std()), c.Start)
		}
	}
	require.Less(t, heard.told[0].Start, began.Add(-20*time.Minute), "the warm-up")
	require.Greater(t, heard.told[len(heard.told)-1].Start, began.Add(28*time.Minute))
	if !odd.None {
		require.Equal(t, odd.Late && way == overPolls, late > 15, late)
		require.Equal(t, odd.Late, late > 0, "over the stream too the one before the start comes late")
	}
	var kept []market.Candle
	_, err := reader.Walk(context.Background(), filepath.Join(s.Folder, statedir.RecordingFolder), reader.Range{},
		func(r *reader.Item) error {
			if ev := r.Input.Event; ev != nil && ev.Kind == market.KindCandles {
				kept = append(kept, ev.Candles...)
			}
			return nil
		})
	require.NoError(t, err)
	require.Equal(t, heard.told[len(heard.told)-len(kept):], kept, "the recording has them as they came")
}
