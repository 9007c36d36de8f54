package research_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
)

// rowsOf are the returns of all tries, those in excess behind them.
func rowsOf(t *testing.T, f *research.Found) (rows [][]float64) {
	for _, try := range f.Tries {
		row := make([]float64, 2*try.Days())
		require.NoError(t, f.Returns(try, row))
		require.NoError(t, f.Excess(try, row[try.Days():]))
		rows = append(rows, row)
	}
	return rows
}

func TestASearchInMemoryFindsWhatASweepFinds(t *testing.T) {
	for _, method := range research.Methods() {
		job := jobOf(t, 900, "fast=2:20:3", "slow=5:50:5")
		if job.Method = method; method != research.Grid {
			job.Sets = 40
		}
		need, err := research.Requirement("trips >= 12")
		require.NoError(t, err)
		job.Require = []*research.Formula{need}
		o, err := research.Sweep(t.Context(), job)
		require.NoError(t, err)
		inFile, err := research.Search(t.Context(), job)
		require.NoError(t, err)
		job.File = ""
		searcher, err := research.NewSearcher(job)
		require.NoError(t, err)
		for range 2 {
			f, err := searcher.Search(t.Context(), nil)
			require.NoError(t, err)
			require.Equal(t, o.Top[0].Settings, f.Winner.Settings)
			require.Equal(t, []int{o.Tried, o.Started, o.Days}, []int{len(f.Tries), f.Started, f.Days})
			require.Equal(t, []market.Time{market.Time(o.From), market.Time(o.To)}, []market.Time{f.From, f.To})
			require.Equal(t, rowsOf(t, inFile), rowsOf(t, f))
			require.Equal(t, f.To, f.Winner.First()+market.Time(f.Winner.Days()-1)*24*3600e9)
			for i := range o.Top {
				require.Equal(t, o.Top[i].Set, f.Tries[i].Set, "%s: place %d", method, i+1)
			}
		}
		require.NoError(t, inFile.Close())
	}
}

func TestASearchForTheWinnerKeepsItsReturnsAlone(t *testing.T) {
	for _, method := range []research.Method{research.Grid, research.Halving, research.CMAES} {
		job := jobOf(t, 900, "fast=2:20:1", "slow=5:50:3")
		if job.Method, job.File = method, ""; method != research.Grid {
			job.Sets = 100
		}
		searcher, err := research.NewSearcher(job)
		require.NoError(t, err)
		whole, err := searcher.Search(t.Context(), nil)
		require.NoError(t, err)
		f, err := searcher.Winner(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, whole.Winner.Settings, f.Winner.Settings)
		want, got := make([]float64, whole.Winner.Days()), make([]float64, f.Winner.Days())
		require.NoError(t, whole.Excess(whole.Winner, want))
		require.NoError(t, f.Excess(f.Winner, got))
		require.Equal(t, want, got)
		forgotten := 0
		for _, try := range f.Tries {
			if f.Returns(try, got) != nil {
				forgotten++
			}
		}
		if method == research.Grid { // the sets of its last groups are still there
			require.Greater(t, forgotten, len(f.Tries)/2)
		}
	}
}

func TestASearcherRunsOnOtherCandlesAndKeepsItsPlans(t *testing.T) {
	job := jobOf(t, 900, "fast=2:20:3", "slow=5:50:5")
	var workers atomic.Int32
	worker := job.Worker
	job.Worker = func() (research.Make, error) { workers.Add(1); return worker() }
	searcher, err := research.NewSearcher(job)
	require.NoError(t, err)
	plain, err := searcher.Search(t.Context(), nil)
	require.NoError(t, err)
	for range 5 {
		other, err := searcher.Search(t.Context(), func(p *backtest.Plan) {
			open := p.Open
			p.Open = func(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
				s, err := open(f, from, to)
				return falling{s}, err
			}
		})
		require.NoError(t, err)
		require.Equal(t, plain.From, other.From)
		require.NotEqual(t, rowsOf(t, plain), rowsOf(t, other))
	}
	again, err := searcher.Search(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, rowsOf(t, plain), rowsOf(t, again))
	require.LessOrEqual(t, int(workers.Load()), job.Workers)
}

// falling yields candles mirrored about a price.
type falling struct{ backtest.Source }

func (f falling) Next() ([]market.Candle, error) {
	batch, err := f.Source.Next()
	own := make([]market.Candle, len(batch))
	for i, c := range batch {
		const middle = 2 * 30_000_00
		own[i] = c
		own[i].Open, own[i].Close, own[i].High, own[i].Low = middle-c.Open, middle-c.Close, middle-c.Low, middle-c.High
	}
	return own, err
}

// What follows from daily returns is what the backtest has said, up to the 24 bits that a row
// keeps.
func TestFiguresOfDailyReturnsAreThoseOfTheBacktest(t *testing.T) {
	job := jobOf(t, 4000, "fast=2:20:6", "slow=25:75:25")
	job.File = ""
	f, err := research.Search(t.Context(), job)
	require.NoError(t, err)
	whole, err := research.Objective("sharpe+sortino+calmar+return+cagr+volatility+drawdown+days+trips")
	require.NoError(t, err)
	part, fresh, random := research.NewPart(whole), research.NewPart(whole), rand.New(rand.NewPCG(3, 4))
	for _, try := range f.Tries {
		row := make([]float64, try.Days())
		require.NoError(t, f.Returns(try, row))
		part.Of(row)
		daily := part.Figures(0, len(row))
		for _, name := range []string{"sharpe", "sortino", "volatility", "days"} {
			require.InEpsilon(t, try.Figures.Of(name), daily.Of(name), 1e-4, name)
		}
		growth := 1.0
		for _, r := range row {
			growth *= 1 + r
		}
		require.InDelta(t, growth-1, daily.Of("return"), 1e-12)
		require.LessOrEqual(t, daily.Of("drawdown"), try.Figures.Of("drawdown")+1e-6, "of closes of days alone")
		require.InEpsilon(t, daily.Of("cagr")/daily.Of("drawdown"), daily.Of("calmar"), 1e-12)
		require.True(t, math.IsNaN(daily.Of("trips")))
		for range 20 { // whatever came before, a part is itself
			from := random.IntN(len(row))
			to := from + random.IntN(len(row)-from+1)
			have := slices.Clone(part.Figures(from, to))
			fresh.Of(row[from:to])
			want := fresh.Figures(0, to-from)
			for i := range want {
				require.Equal(t, math.Float64bits(want[i]), math.Float64bits(have[i]))
			}
			part.Figures(from, (from+to)/2)
		}
	}
	for text, want := range map[string][]string{"sharpe": nil, "sharpe - 2*drawdown": nil,
		"trips > 3 ? sharpe : -trips": {"trips"}, "profit_factor*expectancy": {"profit_factor", "expectancy"}} {
		formula, err := research.Objective(text)
		require.NoError(t, err)
		require.ElementsMatch(t, want, formula.Beyond(), text)
	}
}
