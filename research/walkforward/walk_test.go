package walkforward_test

import (
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/research/walkforward"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

const day = market.Time(24 * 3600e9)

// made is the made-up market, in the units of a market with ID 1.
var made = sync.OnceValues(func() ([]market.Candle, error) {
	return synthetic.BTCEUR(&market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}, 1)
})

type batch struct{ left []market.Candle }

func (s *batch) Next() ([]market.Candle, error) {
	if len(s.left) == 0 {
		return nil, io.EOF
	}
	n := min(256, len(s.left))
	next := s.left[:n]
	s.left = s.left[n:]
	return next, nil
}

func (s *batch) Close() error { return nil }

// opening opens the candles of a range.
func opening(candles []market.Candle) func(backtest.Feed, market.Time, market.Time) (backtest.Source, error) {
	return func(_ backtest.Feed, from, to market.Time) (backtest.Source, error) {
		at := func(t market.Time) int {
			n, _ := slices.BinarySearchFunc(candles, t,
				func(c market.Candle, t market.Time) int { return int(c.Start - t) })
			return n
		}
		list := candles[at(from):]
		if to != 0 {
			list = candles[min(at(from), at(to)):at(to)]
		}
		return &batch{list}, nil
	}
}

// maker makes plans of smacross, or of a kind like it, over candles.
func maker(kind strategy.Definition, candles []market.Candle) (research.Make, error) {
	var catalog market.Catalog
	eur, _ := catalog.AddAsset("EUR", 2)
	catalog.AddAsset("BTC", 8)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8,
		Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2}}
	catalog.AddMarket(m)
	return func(settings []research.Setting) (*backtest.Plan, error) {
		p := &backtest.Plan{Catalog: &catalog, Currency: eur, Fees: backtest.Fees{Maker: 150_000, Taker: 250_000},
			Deposits: []backtest.Deposit{{Asset: eur.ID, Money: 10_000_00}},
			Feeds:    []backtest.Feed{{Market: m, Interval: market.Interval1h, Drive: true, Deliver: true}},
			Open:     opening(candles)}
		values := map[string]any{}
		for _, s := range settings {
			switch s.Key {
			case "late":
				p.DataLatency = market.Duration(len(s.Value)) * 600e9
			default:
				values[s.Key] = s.Value
			}
		}
		p.Strategies = []backtest.StrategyPlan{{Name: "trend", Kind: kind, Values: values, Markets: []*market.Market{m},
			Interval: market.Interval1h}}
		return p, nil
	}, nil
}

// jobOver is a search of pairs of averages over candles.
func jobOver(t *testing.T, candles []market.Candle, vary ...string) research.Job {
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
	return research.Job{Space: space, Method: research.Grid, Objective: sharpe, Workers: 2, Seed: 3,
		To: candles[len(candles)-1].End(),
		Look: func(settings []research.Setting) (string, error) {
			values := map[string]any{}
			for _, s := range settings {
				if s.Key != "late" {
					values[s.Key] = s.Value
				}
			}
			_, err := shipped.SMACross.Resolve(values)
			return "", err
		},
		Worker: func() (research.Make, error) { return maker(shipped.SMACross, candles) }}
}

// some are the first hours of the made-up market.
func some(t *testing.T, hours int) []market.Candle {
	candles, err := made()
	require.NoError(t, err)
	return candles[:hours]
}

func run(t *testing.T, job research.Job, c walkforward.Config) *walkforward.Result {
	w, err := walkforward.New(job, c)
	require.NoError(t, err)
	o, err := w.Run(t.Context())
	require.NoError(t, err)
	return o
}

func TestAWalkWithOneWindowIsABacktestOfItsWinner(t *testing.T) {
	candles := some(t, 24*100)
	job := jobOver(t, candles, "fast=5:25:5", "slow=30,60,90")
	o := run(t, job, walkforward.Config{Train: 50, Test: 44, Gap: 2})
	require.Len(t, o.Windows, 1)
	make, err := maker(shipped.SMACross, candles)
	require.NoError(t, err)
	p, err := make(o.Windows[0].Settings)
	require.NoError(t, err)
	p.From = market.Time(o.Windows[0].TestFrom)
	require.Equal(t, market.Time(o.Windows[0].TrainEnd)+2*day, p.From)
	plain, err := backtest.Run(t.Context(), p, backtest.Options{})
	require.NoError(t, err)
	stitched, err := backtest.Run(t.Context(), o.Plan(), backtest.Options{})
	require.NoError(t, err)
	want, err := plain.JSON()
	require.NoError(t, err)
	have, err := stitched.JSON()
	require.NoError(t, err)
	require.Equal(t, string(want), string(have))
	require.Equal(t, plain.Performance.Sharpe, o.Stitched.Sharpe)
	o.Other.Border, o.Once.Border = o.Stitched.Border, o.Stitched.Border
	require.Equal(t, o.Stitched, o.Once, "nothing was chosen anew")
	require.Equal(t, o.Stitched, o.Other, "without a border both kinds are one")
}

// The same settings throughout are a plain run of the first window's winner over the test days.
func TestTheSameSettingsThroughoutAreOnePlainRun(t *testing.T) {
	candles := some(t, 24*120)
	for _, flat := range []bool{false, true} {
		o := run(t, jobOver(t, candles, "fast=5:25:5", "slow=30,60,90"),
			walkforward.Config{Train: 30, Test: 15, Flat: flat})
		require.Positive(t, o.Changed)
		require.Equal(t, o.Windows[0].Settings, o.OnceSettings)
		make, err := maker(shipped.SMACross, candles)
		require.NoError(t, err)
		p, err := make(o.OnceSettings)
		require.NoError(t, err)
		runs, err := backtest.RunTogether(t.Context(), []*backtest.Plan{p},
			backtest.LockstepOptions{From: market.Time(o.Windows[0].TestFrom)})
		require.NoError(t, err)
		require.Equal(t, runs[0].Track.Returns, o.Once.Returns)
		require.Equal(t, runs[0].Result.Performance.Return, o.Once.Return)
		require.NotEqual(t, o.Stitched.Returns, o.Once.Returns)
		require.Contains(t, o.Sentences()[1], "the first window's settings throughout ("+
			research.SettingsText(o.OnceSettings)+") returned "+o.Once.Return.Percent(1)+".")
	}
}

// The naive twin cuts the returns of plain backtests by hand.
func TestTheWinnersOfWindowsAreThoseOfTheirTrainings(t *testing.T) {
	candles := some(t, 24*150)
	for _, anchored := range []bool{false, true} {
		job := jobOver(t, candles, "fast=5:25:5", "slow=30,60,90")
		o := run(t, job, walkforward.Config{Train: 40, Test: 20, Gap: 1, Anchored: anchored})
		require.Greater(t, len(o.Windows), 4)
		make, err := maker(shipped.SMACross, candles)
		require.NoError(t, err)
		var tracks []backtest.RunEnd
		for set := range job.Space.Size() {
			p, err := make(job.Space.Settings(set))
			require.NoError(t, err)
			p.From = market.Time(o.Windows[0].TrainFrom)
			one, err := backtest.RunTogether(t.Context(), []*backtest.Plan{p}, backtest.LockstepOptions{})
			require.NoError(t, err)
			tracks = append(tracks, one...)
		}
		for i, w := range o.Windows {
			if anchored {
				require.Equal(t, o.Windows[0].TrainFrom, w.TrainFrom)
			}
			best, winner := math.Inf(-1), 0
			for set, r := range tracks {
				var training []float64
				for k, x := range r.Track.Returns {
					if end := r.Track.First + market.Time(k)*day; end > market.Time(w.TrainFrom) &&
						end <= market.Time(w.TrainEnd) {
						training = append(training, x)
					}
				}
				require.Len(t, training, w.In.Days)
				if s := stats.Annual(stats.Sharpe(training)); s > best+1e-7 {
					best, winner = s, set
				}
			}
			require.Equal(t, job.Space.Settings(uint64(winner)), w.Settings, "window %d", i+1)
			require.InDelta(t, best, float64(w.Value), 1e-4)
			require.InDelta(t, best, float64(w.In.Sharpe), 1e-4)
		}
	}
}

func TestAnObjectiveBeyondDailyReturnsSearchesInEachWindow(t *testing.T) {
	candles := some(t, 24*100)
	job := jobOver(t, candles, "fast=5:25:5", "slow=30,60,90")
	var err error
	job.Objective, err = research.Objective("expectancy")
	require.NoError(t, err)
	w, err := walkforward.New(job, walkforward.Config{Train: 30, Test: 20})
	require.NoError(t, err)
	require.Equal(t, "expectancy does not follow from daily returns", w.Apart())
	require.Greater(t, w.Cost(), 0.8)
	o, err := w.Run(t.Context())
	require.NoError(t, err)
	for i, s := range w.Spans() {
		make, err := maker(shipped.SMACross, candles)
		require.NoError(t, err)
		best, winner := math.Inf(-1), uint64(0)
		for set := range job.Space.Size() {
			p, err := make(job.Space.Settings(set))
			require.NoError(t, err)
			p.From, p.To = s.From, s.TrainEnd
			r, err := backtest.Run(t.Context(), p, backtest.Options{})
			require.NoError(t, err)
			if x := r.Trips.Expectancy.Float(); r.Trips.Count > 0 && x > best {
				best, winner = x, set
			}
		}
		require.Equal(t, job.Space.Settings(winner), o.Windows[i].Settings)
	}
}

// What comes after a border changes no choice before it.
func TestNoChoiceKnowsWhatComesAfterItsTraining(t *testing.T) {
	candles := some(t, 24*150)
	for _, method := range []research.Method{research.Grid, research.Halving} {
		job := jobOver(t, candles, "fast=5:25:5", "slow=30,60,90")
		if job.Method = method; method != research.Grid {
			job.Sets = 12
		}
		c := walkforward.Config{Train: 40, Test: 20, Gap: 3}
		o := run(t, job, c)
		changed := 0
		for i, w := range o.Windows {
			other := slices.Clone(candles)
			for k := range other {
				if m := &other[k]; m.Start >= market.Time(w.TrainEnd) {
					const middle = 2 * 30_000_00
					m.Open, m.Close, m.High, m.Low = middle-m.Open, middle-m.Close, middle-m.Low, middle-m.High
				}
			}
			again := job
			again.Worker = func() (research.Make, error) { return maker(shipped.SMACross, other) }
			p := run(t, again, c)
			for k := range i + 1 {
				require.Equal(t, o.Windows[k].Settings, p.Windows[k].Settings)
				require.Equal(t, o.Windows[k].Value, p.Windows[k].Value)
				require.Equal(t, o.Windows[k].In, p.Windows[k].In)
				if o.Windows[k].TestEnd <= w.TrainEnd {
					require.Equal(t, o.Windows[k].Out, p.Windows[k].Out)
				}
			}
			if i+1 < len(o.Windows) && o.Windows[i+1].Value != p.Windows[i+1].Value {
				changed++
			}
		}
		require.Positive(t, changed, "%s: the change must be seen at some time", method)
	}
}

func TestWindowsFollowEachOtherAndNoTrainingMeetsItsTest(t *testing.T) {
	candles, random := some(t, 24*100+7), rand.New(rand.NewPCG(5, 6))
	job := jobOver(t, candles, "fast=5,6", "slow=30")
	for range 200 {
		c := walkforward.Config{Train: 3 + random.IntN(40), Test: 1 + random.IntN(30), Gap: random.IntN(5),
			Anchored: random.IntN(2) == 0}
		w, err := walkforward.New(job, c)
		require.NoError(t, err)
		spans := w.Spans()
		for i, s := range spans {
			require.Equal(t, s.TrainEnd+market.Time(c.Gap)*day, s.Test)
			if length := (s.TrainEnd - s.From) / day; c.Anchored {
				require.Equal(t, spans[0].From, s.From)
				require.EqualValues(t, c.Train+i*c.Test, length)
			} else {
				require.EqualValues(t, c.Train, length)
			}
			if i > 0 {
				require.Equal(t, spans[i-1].To, s.Test)
			}
		}
		last := spans[len(spans)-1]
		require.Equal(t, job.To, last.To)
		require.LessOrEqual(t, last.To-last.Test, market.Time(c.Test)*day*3/2+day)
		require.GreaterOrEqual(t, last.To-last.Test, market.Time(c.Test)*day/2)
	}
}

func text(t *testing.T, o *walkforward.Result) string {
	o.Files = nil
	all, err := json.Marshal(o)
	require.NoError(t, err)
	return string(all)
}

func TestAWalkIsTheSameWhateverTheCoresAndKills(t *testing.T) {
	candles := some(t, 24*100)
	for _, c := range []struct {
		objective string
		config    walkforward.Config
	}{{"sharpe", walkforward.Config{Train: 30, Test: 10, Flat: true}},
		{"expectancy", walkforward.Config{Train: 30, Test: 25, Anchored: true}}} {
		job := jobOver(t, candles, "fast=5:25:5", "slow=30,60,90")
		job.Objective, _ = research.Objective(c.objective)
		job.File = filepath.Join(t.TempDir(), "a.sweep")
		o := run(t, job, c.config)
		files := o.Files
		require.Len(t, files, map[string]int{"sharpe": 1, "expectancy": len(o.Windows)}[c.objective])
		want := text(t, o)
		for _, workers := range []int{1, 3} {
			job.Workers, job.File = workers, filepath.Join(t.TempDir(), "b.sweep")
			require.Equal(t, want, text(t, run(t, job, c.config)))
		}
		job.File = filepath.Join(filepath.Dir(files[0]), "a.sweep")
		info, err := os.Stat(files[len(files)-1])
		require.NoError(t, err)
		require.NoError(t, os.Truncate(files[len(files)-1], info.Size()/2))
		require.Equal(t, want, text(t, run(t, job, c.config)), "it goes on")
	}
}

func TestAWalkRunsAgainOnOtherCandles(t *testing.T) {
	candles := some(t, 24*100)
	for _, flat := range []bool{false, true} {
		job := jobOver(t, candles, "fast=5:25:5", "slow=30,60,90")
		c := walkforward.Config{Train: 30, Test: 10, Flat: flat}
		o := run(t, job, c)
		w, err := walkforward.New(job, c)
		require.NoError(t, err)
		for range 2 {
			r, err := w.Again(t.Context(), nil)
			require.NoError(t, err)
			require.True(t, r.Found)
			require.Equal(t, float64(o.Stitched.Excess), r.Excess)
			require.Equal(t, float64(o.Stitched.Sharpe), r.Sharpe)
		}
		mirrored := slices.Clone(candles)
		for k := range mirrored {
			m := &mirrored[k]
			const middle = 2 * 30_000_00
			m.Open, m.Close, m.High, m.Low = middle-m.Open, middle-m.Close, middle-m.Low, middle-m.High
		}
		r, err := w.Again(t.Context(), func(p *backtest.Plan) { p.Open = opening(mirrored) })
		require.NoError(t, err)
		other := job
		other.Worker = func() (research.Make, error) { return maker(shipped.SMACross, mirrored) }
		require.Equal(t, float64(run(t, other, c).Stitched.Excess), r.Excess)
	}
}

func TestWindowsWithoutAWinnerKeepTheParameters(t *testing.T) {
	candles := some(t, 24*150)
	job := jobOver(t, candles, "fast=5:25:5", "slow=30,60,90")
	plain := run(t, job, walkforward.Config{Train: 30, Test: 15})
	need, err := research.Requirement("return > 0")
	require.NoError(t, err)
	job.Require = []*research.Formula{need}
	o := run(t, job, walkforward.Config{Train: 30, Test: 15})
	kept := 0
	for i, w := range o.Windows {
		switch {
		case w.Kept:
			kept++
			require.Equal(t, o.Windows[i-1].Settings, w.Settings)
		case len(w.Settings) == 0:
			require.Zero(t, w.Out.Days, "nothing trades before the first winner")
		default:
			require.Positive(t, float64(w.In.Return))
		}
	}
	require.NotEqual(t, plain.Windows, o.Windows)
	t.Log(kept, "of", len(o.Windows), "windows kept their parameters")
	job.Require[0], err = research.Requirement("sharpe > 1000")
	require.NoError(t, err)
	w, err := walkforward.New(job, walkforward.Config{Train: 30, Test: 15})
	require.NoError(t, err)
	_, err = w.Run(t.Context())
	require.ErrorIs(t, err, walkforward.ErrNothing)
	r, err := w.Again(t.Context(), nil)
	require.NoError(t, err)
	require.False(t, r.Found)
}

func TestBadWalksSayWhatIsWrong(t *testing.T) {
	candles := some(t, 24*60)
	for _, c := range []struct {
		config walkforward.Config
		vary   []string
		want   string
	}{
		{walkforward.Config{Train: 2, Test: 5}, nil, "train is 2 days; want at least 3"},
		{walkforward.Config{Train: 20}, nil, "test is 0 days; want at least 1"},
		{walkforward.Config{Train: 20, Test: 5, Gap: -1}, nil, "gap is -1 days; want at least 0"},
		{walkforward.Config{Train: 50, Test: 10, Gap: 1}, nil, "train, gap and test are 61 days, and 5"},
		{walkforward.Config{Train: 400, Test: 10}, nil, "too short for a walk-forward"},
		{walkforward.Config{Train: 20, Test: 5}, []string{"fast=5", "slow=30"}, "only one set"},
		{walkforward.Config{Train: 6, Test: 2}, []string{"late=a,bb,ccc,dddd", "fast=5:25:5"},
			"the venue cannot change inside"},
	} {
		if c.vary == nil {
			c.vary = []string{"fast=5:25:5", "slow=30,60"}
		}
		w, err := walkforward.New(jobOver(t, candles, c.vary...), c.config)
		if err == nil {
			_, err = w.Run(t.Context())
		}
		require.ErrorContains(t, err, c.want)
	}
}

// M27: a walk over sets that trade alike is the plain run of its test days.
func TestAWalkOverSetsThatTradeAlikeIsOnePlainRun(t *testing.T) {
	candles := some(t, 24*120)
	for _, c := range []walkforward.Config{{Train: 30, Test: 15}, {Train: 20, Test: 10, Gap: 3, Anchored: true}} {
		job := jobOver(t, candles, "fast=7", "slow=30", "alike=a,b,c")
		look, worker := job.Look, job.Worker
		job.Look = func(s []research.Setting) (string, error) { return look(s[:2]) }
		job.Worker = func() (research.Make, error) {
			make, err := worker()
			return func(s []research.Setting) (*backtest.Plan, error) { return make(s[:2]) }, err
		}
		o := run(t, job, c)
		require.Greater(t, len(o.Windows), 4)
		make, err := maker(shipped.SMACross, candles)
		require.NoError(t, err)
		p, err := make(job.Space.Settings(0)[:2])
		require.NoError(t, err)
		p.From = market.Time(o.Windows[0].TestFrom)
		plain, err := backtest.Run(t.Context(), p, backtest.Options{})
		require.NoError(t, err)
		stitched, err := backtest.Run(t.Context(), o.Plan(), backtest.Options{})
		require.NoError(t, err)
		plain.Assumptions, stitched.Assumptions = nil, nil // the stitched run says where its borders are
		want, err := plain.JSON()
		require.NoError(t, err)
		have, err := stitched.JSON()
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(have))
	}
}
