package research_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

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

// made is the made-up market, in the units of a market with ID 1.
var made = sync.OnceValues(func() ([]market.Candle, error) {
	return synthetic.BTCEUR(&market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}, 1)
})

// exampleMake makes plans of smacross over the first hours of the made-up market.
func exampleMake(hours int) (research.Make, error) {
	var catalog market.Catalog
	eur, _ := catalog.AddAsset("EUR", 2)
	catalog.AddAsset("BTC", 8)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8,
		Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2}}
	catalog.AddMarket(m)
	candles, err := made()
	if err != nil {
		return nil, err
	}
	return func(settings []research.Setting) (*backtest.Plan, error) {
		values := map[string]any{}
		for _, s := range settings {
			values[s.Key] = s.Value
		}
		return &backtest.Plan{
			Catalog: &catalog, Currency: eur, Fees: backtest.Fees{Maker: 150_000, Taker: 250_000},
			Deposits: []backtest.Deposit{{Asset: eur.ID, Money: 10_000_00}},
			Strategies: []backtest.StrategyPlan{{Name: "trend", Kind: shipped.SMACross, Values: values,
				Markets: []*market.Market{m}, Interval: market.Interval1h}},
			Feeds: []backtest.Feed{{Market: m, Interval: market.Interval1h, Drive: true, Deliver: true}},
			Open: func(_ backtest.Feed, from, to market.Time) (backtest.Source, error) {
				list := candles[:hours]
				for len(list) > 0 && list[0].Start < from {
					list = list[1:]
				}
				for to != 0 && len(list) > 0 && list[len(list)-1].Start >= to {
					list = list[:len(list)-1]
				}
				return &batch{list}, nil
			},
		}, nil
	}, nil
}

// ExampleSweep tries eleven pairs of averages.
func ExampleSweep() {
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fast, _ := research.ParseDimension("fast=10:40:10")
	slow, _ := research.ParseDimension("slow=20,40,80")
	space, _ := research.NewSpace(fast, slow)
	sharpe, _ := research.Objective("sharpe")
	outcome, err := research.Sweep(context.Background(), research.Job{
		Space: space, Method: research.Grid, Objective: sharpe, File: filepath.Join(dir, "example.sweep"),
		Look: func(settings []research.Setting) (string, error) {
			_, err := shipped.SMACross.Resolve(map[string]any{"fast": settings[0].Value, "slow": settings[1].Value})
			return "", err
		},
		Worker: func() (research.Make, error) { return exampleMake(8000) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	best := outcome.Top[0]
	fmt.Printf("%d sets, %d left out by fast < slow\n", outcome.Tried, outcome.LeftOut)
	fmt.Printf("best: %s, Sharpe %.2f\n", research.SettingsText(best.Settings), best.Value)
	fmt.Printf("5 in 100 such searches on worthless data show more than %.2f\n", outcome.Verdict.Luck.Bar)
	// Output:
	// 8 sets, 4 left out by fast < slow
	// best: fast=40 slow=80, Sharpe 1.14
	// 5 in 100 such searches on worthless data show more than 2.62
}
