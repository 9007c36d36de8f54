package backtest

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// inputs are the candles of a plan in the order in which Run delivers them.
func inputs(t require.TestingT, p *Plan) (all []market.Candle) {
	for _, f := range p.Feeds {
		source, err := p.Open(f, p.ReadFrom(f), p.To)
		require.NoError(t, err)
		s := feed{Feed: f, source: source}
		for err = s.fill(); err == nil && len(s.batch) > 0; err = s.fill() {
			all = append(all, s.batch...)
		}
		require.NoError(t, err)
	}
	slices.SortStableFunc(all, func(a, b market.Candle) int {
		return cmp.Or(cmp.Compare(a.End(), b.End()), cmp.Compare(a.Interval, b.Interval),
			cmp.Compare(a.Market, b.Market))
	})
	return all
}

// storedSession feeds a session with the stored candles of a plan.
func storedSession(t require.TestingT, p *Plan, o Options) (*Result, error) {
	s, err := NewSession(p, SessionOptions{Options: o, WholeGroups: true})
	require.NoError(t, err)
	defer s.Close()
	all := inputs(t, p)
	if len(all) == 0 {
		return nil, ErrNoCandles
	}
	history := 0
	for history < len(all) && all[history].End() <= p.From {
		history++
	}
	if err := s.Open(max(p.From, firstStart(all)), all[:history]); err != nil {
		return nil, err
	}
	for group := range market.ByClose(all[history:]) {
		ev := market.Event{Kind: market.KindCandles, At: group[0].End() + market.Time(p.DataLatency), Candles: group}
		if err := s.Enter(&market.Input{Kind: market.InputEvent, Event: &ev}); err != nil {
			return nil, err
		}
	}
	return s.End(context.Background())
}

func firstStart(all []market.Candle) market.Time {
	return slices.MinFunc(all, func(a, b market.Candle) int { return cmp.Compare(a.Start, b.Start) }).Start
}

// sameResult requires that a session gives the bytes of Run.
func sameResult(t require.TestingT, p *Plan) {
	want, errRun := Run(context.Background(), p, Options{})
	have, errSession := storedSession(t, p, Options{})
	if errRun != nil {
		require.EqualError(t, errSession, errRun.Error())
		return
	}
	require.NoError(t, errSession)
	wanted, err := want.JSON()
	require.NoError(t, err)
	had, err := have.JSON()
	require.NoError(t, err)
	require.Equal(t, string(wanted), string(had))
}

func TestASessionFedWithStoredCandlesGivesWhatRunGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { sameResult(t, forkPlan(t)) })
}

func TestASessionOfEachShippedStrategyGivesWhatRunGives(t *testing.T) {
	for _, kind := range shipped.Definitions() {
		p := shippedPlan(t, kind, 3000)
		if kind.Name != "rotation" { // whose warm-up would be all there is
			p.From = 1640995200_000_000_000 + 1500*60_000_000_000
		}
		sameResult(t, p)
	}
}

// A session hears the signals of its plan as Run does; between candles each comes at its time, with
// what follows from it.
func TestASessionHearsTheSignalsOfItsPlan(t *testing.T) {
	signals := []market.Signal{{Known: at(-time.Hour)}, {Known: at(70 * time.Second), Action: market.ActBuy},
		{Known: at(2 * time.Minute), Action: market.ActSell}, {Known: at(250 * time.Second), Action: market.ActBuy}}
	p, _, _ := advisedPlan(t, 9, false, signals...)
	sameResult(t, p)

	p, heard, fills := advisedPlan(t, 9, false, signals...)
	s, err := NewSession(p, SessionOptions{})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Open(day, nil))
	for i := range 30 {
		price := market.Price(30_000_00 + i)
		ev := market.Event{Kind: market.KindTicker, At: at(time.Duration(i) * 10 * time.Second), Market: 1,
			Ticker: &market.Ticker{Market: 1, Bid: price - 1, Ask: price + 1, Last: price}}
		require.NoError(t, s.Enter(&market.Input{Kind: market.InputEvent, Event: &ev}))
	}
	require.Equal(t, []string{"1 0 at 0s", "2 1 at 1m10s", "3 2 at 2m0s", "4 1 at 4m10s"}, *heard)
	require.Equal(t, []string{"buy at 1m10s", "sell at 2m0s", "buy at 4m10s"}, *fills)
}

func TestASessionWritesTheFilesOfRun(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	p := shippedPlan(t, shipped.Definitions()[0], 3000)
	_, err := Run(context.Background(), p, Options{Out: one})
	require.NoError(t, err)
	_, err = storedSession(t, p, Options{Out: other})
	require.NoError(t, err)
	names, err := os.ReadDir(one)
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join(one, name.Name()))
		require.NoError(t, err)
		have, err := os.ReadFile(filepath.Join(other, name.Name()))
		require.NoError(t, err)
		require.Equal(t, string(want), string(have), name.Name())
	}
}
