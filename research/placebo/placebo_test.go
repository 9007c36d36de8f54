package placebo_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/placebo"
	"github.com/tidemark-trading/tidemark/research/walkforward"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

var kills = flag.Int("kills", 3, "random places at which the file of a placebo is cut off")

// batch is candles in memory as a backtest.Source.
type batch struct{ left []market.Candle }

func (s *batch) Next() ([]market.Candle, error) {
	if len(s.left) == 0 {
		return nil, io.EOF
	}
	all := s.left
	s.left = nil
	return all, nil
}

func (s *batch) Close() error { return nil }

// maker makes plans of smacross over candles.
func maker(list []market.Candle) func() (research.Make, error) {
	return func() (research.Make, error) {
		var catalog market.Catalog
		eur, _ := catalog.AddAsset("EUR", 2)
		catalog.AddAsset("BTC", 8)
		m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8,
			Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2}}
		catalog.AddMarket(m)
		return func(settings []research.Setting) (*backtest.Plan, error) {
			values := map[string]any{}
			for _, s := range settings {
				values[s.Key] = s.Value
			}
			interval := list[0].Interval
			return &backtest.Plan{
				Catalog: &catalog, Currency: eur, Fees: backtest.Fees{Maker: 150_000, Taker: 250_000},
				Deposits: []backtest.Deposit{{Asset: eur.ID, Money: 10_000_00}},
				Strategies: []backtest.StrategyPlan{{Name: "trend", Kind: shipped.SMACross, Values: values,
					Markets: []*market.Market{m}, Interval: interval}},
				Feeds: []backtest.Feed{{Market: m, Interval: interval, Drive: true, Deliver: true}},
				Open: func(_ backtest.Feed, from, to market.Time) (backtest.Source, error) {
					first, _ := slices.BinarySearchFunc(list, from, startsAt)
					end := len(list)
					if to != 0 {
						end, _ = slices.BinarySearchFunc(list, to, startsAt)
					}
					return &batch{list[min(first, end):end]}, nil
				},
			}, nil
		}, nil
	}
}

func startsAt(c market.Candle, at market.Time) int { return cmp.Compare(c.Start, at) }

// jobOf is a grid over smacross.
func jobOf(t testing.TB, list []market.Candle, vary ...string) research.Job {
	var dims []research.Dimension
	for _, text := range vary {
		d, err := research.ParseDimension(text)
		require.NoError(t, err)
		dims = append(dims, d)
	}
	space, err := research.NewSpace(dims...)
	require.NoError(t, err)
	sharpe, err := research.Objective("sharpe")
	require.NoError(t, err)
	return research.Job{Space: space, Method: research.Grid, Objective: sharpe, Seed: 1,
		To: list[len(list)-1].End(),
		Look: func(settings []research.Setting) (string, error) {
			values := map[string]any{}
			for _, s := range settings {
				values[s.Key] = s.Value
			}
			_, err := shipped.SMACross.Resolve(values)
			return "", err
		}, Worker: maker(list)}
}

// hours are the first hours of the made-up market.
func hours(t testing.TB, n int) []market.Candle {
	list, err := synthetic.BTCEUR(&market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}, 1)
	require.NoError(t, err)
	return list[:n]
}

func run(t *testing.T, test placebo.Test) (*placebo.Result, string) {
	o, err := placebo.Run(t.Context(), test)
	require.NoError(t, err)
	content, err := os.ReadFile(o.File)
	require.NoError(t, err)
	o.File = ""
	return o, string(content)
}

func TestAPlaceboIsTheSameWhateverTheCoresAndKills(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	list := hours(t, 1100)
	for _, method := range research.Methods() {
		if testing.Short() && method != research.CMAES {
			continue
		}
		job := jobOf(t, list, "fast=2:20:4", "slow=5:50:9")
		if job.Method = method; method != research.Grid {
			job.Sets = 20
		}
		test := placebo.Test{Surrogates: 19, Procedure: placebo.Search(job), Workers: 1,
			File: filepath.Join(t.TempDir(), "a.placebo")}
		o, content := run(t, test)
		require.Len(t, o.Thetas, 19)
		require.Positive(t, o.Tried)
		test.Workers, test.File = 3, filepath.Join(t.TempDir(), "b.placebo")
		again, same := run(t, test)
		require.Equal(t, o, again, method)
		require.Equal(t, content, same)
		for range *kills { // a kill leaves any beginning of the file
			require.NoError(t, os.Truncate(test.File, random.Int64N(int64(len(content)))))
			again, same = run(t, test)
			require.Equal(t, o, again, "%s goes on", method)
			require.Equal(t, content, same)
		}
	}
}

func TestTheRealWinnerIsThatOfTheSweep(t *testing.T) {
	job, surrogates := jobOf(t, hours(t, 2000), "fast=2:20:3", "slow=30:50:5"), 39
	if testing.Short() {
		surrogates = 19
	}
	o, _ := run(t, placebo.Test{Surrogates: surrogates, Procedure: placebo.Search(job),
		File: filepath.Join(t.TempDir(), "a")})
	job.File = filepath.Join(t.TempDir(), "a.sweep")
	s, err := research.Sweep(t.Context(), job)
	require.NoError(t, err)
	require.Equal(t, s.Top[0].Settings, o.Winner)
	require.InDelta(t, float64(s.Verdict.Excess), float64(o.Theta), 1e-9)
	require.InDelta(t, float64(s.Verdict.Sharpe), float64(o.Sharpe), 1e-9)
	require.Equal(t, []any{s.From, s.To, s.Days, s.Tried}, []any{o.From, o.To, o.Days, o.Tried})
	better := 0
	for _, theta := range o.Thetas {
		if theta >= o.Theta {
			better++
		}
	}
	require.Equal(t, better, o.Better)
	require.InDelta(t, float64(1+better)/float64(1+surrogates), float64(o.P), 1e-15)
	require.Equal(t, o.P <= 0.05, o.Above)
	require.Equal(t, o.Theta > o.Bar, o.Above)
}

// A walk-forward is a procedure, too. Its winner is the stitched run of the test days.
func TestAWalkForwardIsRankedByItsStitchedDays(t *testing.T) {
	job, config := jobOf(t, hours(t, 1500), "fast=2:20:6", "slow=30:50:10"), walkforward.Config{Train: 12, Test: 6}
	test := placebo.Test{Surrogates: 19, Procedure: placebo.WalkForward(job, config), Workers: 2,
		File: filepath.Join(t.TempDir(), "a")}
	o, content := run(t, test)
	w, err := walkforward.New(job, config)
	require.NoError(t, err)
	r, err := w.Again(t.Context(), nil)
	require.NoError(t, err)
	require.True(t, r.Found)
	require.Equal(t, []float64{r.Excess, r.Sharpe}, []float64{float64(o.Theta), float64(o.Sharpe)})
	require.Nil(t, o.Winner)
	test.Workers, test.File = 1, filepath.Join(t.TempDir(), "b")
	again, same := run(t, test)
	require.Equal(t, o, again)
	require.Equal(t, content, same)
}

// made is a Procedure whose results are given.
type made func(n int) placebo.Chosen

func (m made) Run(_ context.Context, alter func(*backtest.Plan)) (placebo.Chosen, error) {
	if alter == nil {
		return m(0), nil
	}
	return m(1), nil
}

// given is the test of made results.
func given(t *testing.T, real, others float64) placebo.Test {
	make, err := maker(hours(t, 50))()
	require.NoError(t, err)
	p, err := make([]research.Setting{{Key: "fast", Value: "2"}, {Key: "slow", Value: "3"}})
	require.NoError(t, err)
	return placebo.Test{Surrogates: 19, File: filepath.Join(t.TempDir(), "x-*.placebo"),
		Procedure: func(_ int, note func(*backtest.Plan) error) (placebo.Procedure, error) {
			if note != nil {
				if err := note(p); err != nil {
					return nil, err
				}
			}
			return made(func(n int) placebo.Chosen {
				return placebo.Chosen{Theta: [...]float64{real, others}[n], Reads: p.From}
			}), nil
		}}
}

func TestTheRankCountsTiesAndEmptySearchesRight(t *testing.T) {
	none := math.Inf(-1)
	for _, c := range []struct {
		real, others float64
		p            float64
		empty        int
	}{
		{1, 0.5, 0.05, 0}, {1, 1, 1, 0}, {1, 1 - 1e-15, 1, 0}, {1, 2, 1, 0}, {0, none, 0.05, 19},
		{math.NaN(), 0, 1, 0},
	} {
		o, _ := run(t, given(t, c.real, c.others))
		require.InDelta(t, c.p, float64(o.P), 1e-12, "%+v", c)
		require.Equal(t, c.empty, o.Empty)
		require.Equal(t, c.p <= 0.05, o.Above)
	}
}

func TestMoreSurrogatesGoOnWithTheSameFile(t *testing.T) {
	test := given(t, 1, 0.5)
	_, short := run(t, test)
	began := placebo.Start{}
	test.Surrogates, test.Began = 39, func(s placebo.Start) { began = s }
	_, long := run(t, test)
	require.Equal(t, 19, began.Done)
	require.Contains(t, long, short)
	test.Surrogates = 19
	o, same := run(t, test)
	require.Equal(t, long, same)
	require.Len(t, o.Thetas, 19)
}

func TestACancelledPlaceboGoesOn(t *testing.T) {
	test := given(t, 1, 0.5)
	o, content := run(t, test)
	test.File = filepath.Join(t.TempDir(), "b")
	for starts, done := 1, 0; ; starts++ {
		ctx, cancel := context.WithCancel(t.Context())
		test.Progress = func(placebo.Progress) { cancel() }
		test.Began = func(s placebo.Start) {
			require.GreaterOrEqual(t, s.Done, done)
			done = s.Done
		}
		again, err := placebo.Run(ctx, test)
		cancel()
		if err == nil {
			require.Greater(t, starts, 1)
			again.File = ""
			require.Equal(t, o, again)
			break
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	same, err := os.ReadFile(test.File)
	require.NoError(t, err)
	require.Equal(t, content, string(same))
}

func TestBadPlacebosSayWhatIsWrong(t *testing.T) {
	broken := errors.New("a wire is cut")
	for _, c := range []struct {
		change func(*placebo.Test)
		want   string
	}{
		{func(p *placebo.Test) { p.Surrogates = 18 }, "18 surrogates: want at least 19"},
		{func(p *placebo.Test) { p.Keep = -1 }, "-1ns is negative"},
		{func(p *placebo.Test) { p.Keep = 90 * time.Minute }, "1h30m0s is no multiple of the candles' 1h"},
		{func(p *placebo.Test) { p.Procedure = given(t, math.Inf(-1), 0).Procedure }, "found nothing in the data"},
		{func(p *placebo.Test) { p.Identity.Code = "b" }, "belongs to another placebo, which differs in the version"},
		{func(p *placebo.Test) { p.Identity.Procedure = []string{"b"} }, "differs in the search"},
		{func(p *placebo.Test) { p.Seed = 9 }, "differs in the seed"},
		{func(p *placebo.Test) { p.Identity.Data, p.SeasonalDrift = "b", true }, "the candles, what is kept"},
		{func(p *placebo.Test) { p.Data = func() (string, error) { return "", broken } }, "a wire is cut"},
		{func(p *placebo.Test) {
			p.Procedure = func(int, func(*backtest.Plan) error) (placebo.Procedure, error) { return nil, broken }
		}, "a wire is cut"},
		{func(p *placebo.Test) { require.NoError(t, os.WriteFile(p.File, []byte("time,open\n1,2\n"), 0o644)) },
			"this is no file of a placebo"},
		{func(p *placebo.Test) {
			require.NoError(t, os.WriteFile(p.File, []byte("TMPLACEBO {}\n"), 0o644))
		},
			"the first line is damaged"},
		{func(p *placebo.Test) { p.File = t.TempDir() }, "open the placebo's file"},
	} {
		test := given(t, 1, 0.5)
		test.File = filepath.Join(t.TempDir(), "a")
		run(t, test)
		c.change(&test)
		_, err := placebo.Run(t.Context(), test)
		require.ErrorContains(t, err, c.want)
	}
	test := given(t, 1, 0.5)
	busy := false
	test.File = filepath.Join(t.TempDir(), "a")
	test.Began = func(placebo.Start) {
		other := test
		other.Began = nil
		_, err := placebo.Run(t.Context(), other)
		busy = errors.Is(err, research.ErrBusy)
	}
	run(t, test)
	require.True(t, busy)
}
