package runner

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/orders"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// stayed buys where it holds nothing, and leaves after three candles. It counts how many it was
// told while it held a position.
type stayed struct {
	strategy.Base
	told   int         // candles since the entry filled
	bought market.Time // when it did; 0: nothing is held
	counts []int       // of each position
	starts map[market.Time]int
	late   int
}

func (s *stayed) OnCandle(d *strategy.Desk, c market.Candle) {
	if s.starts[c.Start]++; c.Late {
		s.late++
	}
	if s.bought != 0 && c.End() > s.bought {
		s.told++
	}
	if m := d.In(c.Market); m.Position().Amount == 0 && len(m.OpenOrders()) == 0 {
		_, _ = m.Buy(strategy.Amount(m.AmountOf(strategy.Money(500_00), c.Close)), strategy.StopAt(c.Close/2),
			strategy.ExitAfter(3))
	}
}

func (s *stayed) OnFill(_ *strategy.Desk, f market.Fill) {
	switch {
	case f.Side == market.Buy:
		s.bought, s.told = f.Time, 0
	case s.bought != 0:
		s.counts, s.bought = append(s.counts, s.told), 0
	}
}

// The lists have rows twice, or have rows 40 s late, or both, over polls and over the stream: each
// candle is told once, and ExitAfter counts it once.
func TestExitAfterCountsCandlesThatComeLateOrTwiceOnce(t *testing.T) {
	bottest.Unraced(t)
	for name, change := range map[string]func(rows []any) []any{
		"plain": func(rows []any) []any { return rows },
		"twice": func(rows []any) []any { return slices.Concat(rows, rows) },
		"late":  lateRows,
		"late and twice": func(rows []any) []any {
			rows = lateRows(rows)
			return slices.Concat(rows, rows)
		},
	} {
		for _, way := range []string{overPolls, overStream} {
			synctest.Test(t, func(t *testing.T) {
				heard := &stayed{starts: map[market.Time]int{}}
				s := stageOf(t, "stayer", strategy.Define("stayer", "leaves after three candles",
					func(struct{}) strategy.Needs { return strategy.Needs{} },
					func(struct{}, strategy.Setup) (strategy.Strategy, error) { return heard, nil }))
				s.hears = way
				l := &falsifier{quiet: true}
				s.wrap = func(next http.RoundTripper) http.RoundTripper {
					l.next = next
					return l
				}
				l.tell(ofCandles(change))
				p := s.start()
				time.Sleep(40 * time.Minute)
				require.NoError(t, p.end())
				require.Greater(t, len(heard.counts), 4, "%s over %s", name, way)
				late := strings.HasPrefix(name, "late") && way == overPolls
				require.Equal(t, late, heard.late > 5, "%s over %s", name, way)
				for _, n := range heard.counts {
					require.Equal(t, 3, n, "%s over %s", name, way)
				}
				for start, times := range heard.starts {
					require.Equal(t, 1, times, "%s: %s over %s", start, name, way)
				}
			})
		}
	}
}

// ofCandles changes lists of candles, and no other answer.
func ofCandles(change func(rows []any) []any) func(path string, answer any) any {
	return func(path string, answer any) any {
		if rows, is := answer.([]any); is && strings.HasSuffix(path, "/candles") {
			return change(rows)
		}
		return answer
	}
}

// Candles come late, in two starts. The order log has each order once, with the fills that
// the exchange has, and the gap is explained to the last unit: its runs hear each candle once.
func TestTheOrderLogAndTheGapKnowLateCandles(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		var made []*stayed
		s := stageOf(t, "stayer", strategy.Define("stayer", "leaves after three candles",
			func(struct{}) strategy.Needs { return strategy.Needs{} },
			func(struct{}, strategy.Setup) (strategy.Strategy, error) {
				made = append(made, &stayed{starts: map[market.Time]int{}})
				return made[len(made)-1], nil
			}))
		s.hears = overPolls
		l := &falsifier{quiet: true}
		s.wrap = func(next http.RoundTripper) http.RoundTripper {
			l.next = next
			return l
		}
		l.tell(ofCandles(lateRows))
		p := s.start()
		time.Sleep(20*time.Minute + 30*time.Second)
		require.NoError(t, p.end())
		time.Sleep(90 * time.Second)
		p = s.start()
		time.Sleep(20 * time.Minute)
		require.NoError(t, p.end())
		for _, live := range made {
			require.Greater(t, live.late, 5)
		}
		lived := len(made)
		r := s.explained()
		require.NotZero(t, r.Account.Turnover.Units)
		require.Empty(t, r.Notes)
		require.Equal(t, made[:lived], made[lived:2*lived], "what a start is played again with")
		for _, run := range made[2*lived:] {
			for start, times := range run.starts {
				require.Equal(t, 1, times, start)
			}
		}
		s.everyOrderOnce()
	})
}

// everyOrderOnce requires that the order log has each order of the exchange once, with its fills.
func (s *stage) everyOrderOnce() {
	s.T.Helper()
	log, err := orders.Read(context.Background(), s.Folder, orders.Options{})
	require.NoError(s.T, err)
	theirs := s.OrdersAtTheExchange()
	for _, o := range log.Orders {
		record, there := theirs[o.ClientID]
		require.True(s.T, there, o.ClientID)
		delete(theirs, o.ClientID)
		filled := market.Qty(0)
		for i := range o.Fills {
			filled += o.Fills[i].Amount
		}
		require.Equal(s.T, record.Order.FilledAmount, filled)
	}
	require.Empty(s.T, theirs)
}

// lateRows leaves out the rows of two candles in three that have ended within 40 s: on a late
// candle nothing is opened.
func lateRows(rows []any) (kept []any) {
	kept = []any{}
	for _, row := range rows {
		number, _ := row.([]any)[0].(json.Number)
		start, _ := number.Int64()
		if at := time.UnixMilli(start); at.Minute()%3 == 0 || time.Since(at.Add(time.Minute)) > 40*time.Second {
			kept = append(kept, row)
		}
	}
	return kept
}
