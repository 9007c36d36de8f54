package bottest

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/report"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// Results is a folder of results, which the real backtester and sweep write: smacross over the
// first hours of a made-up market.
type Results struct {
	testing.TB
	Folder  string
	Hours   int
	candles []market.Candle
}

// seriesOf is candles in memory as a backtest.Source.
type seriesOf struct{ left []market.Candle }

func (s *seriesOf) Next() ([]market.Candle, error) {
	if len(s.left) == 0 {
		return nil, io.EOF
	}
	all := s.left
	s.left = nil
	return all, nil
}

func (s *seriesOf) Close() error { return nil }

// plan is a backtest of settings; name is that of its strategy.
func (r *Results) plan(name string, settings []research.Setting) *backtest.Plan {
	var catalog market.Catalog
	eur, err := catalog.AddAsset("EUR", 2)
	require.NoError(r, err)
	_, err = catalog.AddAsset("BTC", 8)
	require.NoError(r, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8,
		Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2}}
	require.NoError(r, catalog.AddMarket(m))
	if r.candles == nil {
		all, err := synthetic.BTCEUR(m, 1)
		require.NoError(r, err)
		r.candles = all[:min(r.Hours, len(all))]
	}
	values := map[string]any{}
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	return &backtest.Plan{Catalog: &catalog, Currency: eur, Fees: backtest.Fees{Maker: 150_000, Taker: 250_000},
		Deposits: []backtest.Deposit{{Asset: eur.ID, Money: 10_000_00}},
		Strategies: []backtest.StrategyPlan{{Name: name, Kind: shipped.SMACross, Values: values,
			Markets: []*market.Market{m}, Interval: market.Interval1h}},
		Feeds: []backtest.Feed{{Market: m, Interval: market.Interval1h, Drive: true, Deliver: true}},
		Open: func(_ backtest.Feed, from, to market.Time) (backtest.Source, error) {
			list := r.candles
			for len(list) > 0 && list[0].Start < from {
				list = list[1:]
			}
			for to != 0 && len(list) > 0 && list[len(list)-1].Start >= to {
				list = list[:len(list)-1]
			}
			return &seriesOf{list}, nil
		}}
}

// Backtest writes the result of a backtest to a folder of the folder. strategy is the name of its
// strategy.
func (r *Results) Backtest(folder, title, strategy, fast, slow string) {
	p := r.plan(strategy, []research.Setting{{Key: "fast", Value: fast}, {Key: "slow", Value: slow}})
	about := backtest.About{Title: title, CodeVersion: "test", ConfigHash: fast + slow, DataHash: "0123456789abcdef"}
	_, err := backtest.Run(r.Context(), p, backtest.Options{Out: filepath.Join(r.Folder, folder), About: about})
	require.NoError(r, err)
}

// Job is a sweep over the same candles, whose file is in the folder.
func (r *Results) Job(file string, vary ...string) research.Job {
	var dims []research.Dimension
	for _, text := range vary {
		d, err := research.ParseDimension(text)
		require.NoError(r, err)
		dims = append(dims, d)
	}
	space, err := research.NewSpace(dims...)
	require.NoError(r, err)
	sharpe, err := research.Objective("sharpe")
	require.NoError(r, err)
	r.plan("trend", nil)
	return research.Job{Space: space, Method: research.Grid, Objective: sharpe, Workers: 1, Seed: 7,
		File: filepath.Join(r.Folder, file), To: r.candles[len(r.candles)-1].End(),
		Look: func(settings []research.Setting) (string, error) {
			values := map[string]any{}
			for _, s := range settings {
				values[s.Key] = s.Value
			}
			_, err := shipped.SMACross.Resolve(values)
			return "", err
		},
		Worker: func() (research.Make, error) {
			return func(s []research.Setting) (*backtest.Plan, error) { return r.plan("trend", s), nil }, nil
		}}
}

// Sweep runs a sweep to its end, and writes its page beside its file.
func (r *Results) Sweep(file string, vary ...string) *research.Outcome {
	job := r.Job(file, vary...)
	found, err := research.Search(r.Context(), job)
	require.NoError(r, err)
	defer found.Close()
	o, err := found.Outcome()
	require.NoError(r, err)
	var page strings.Builder
	doc, err := (&report.Sweep{Title: file, Found: found, Outcome: o, Space: job.Space}).Doc()
	require.NoError(r, err)
	require.NoError(r, doc.Write(&page))
	r.Write(strings.TrimSuffix(file, ".sweep")+".html", page.String())
	return o
}

// Write writes a file to the folder.
func (r *Results) Write(name, text string) {
	path := filepath.Join(r.Folder, name)
	require.NoError(r, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r, os.WriteFile(path, []byte(text), 0o644))
}

// Read is the text of a file of the folder.
func (r *Results) Read(name string) string {
	text, err := os.ReadFile(filepath.Join(r.Folder, name))
	require.NoError(r, err)
	return string(text)
}
