package backtest_test

import (
	"context"
	"fmt"
	"io"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// slice is candles in memory as a backtest.Source: one batch.
type slice struct{ left []market.Candle }

func (s *slice) Next() ([]market.Candle, error) {
	batch := s.left
	s.left = nil
	if len(batch) == 0 {
		return nil, io.EOF
	}
	return batch, nil
}

func (s *slice) Close() error { return nil }

// ExampleRun puts a plan together by hand: an account, a market, a strategy and its candles.
func ExampleRun() {
	var catalog market.Catalog
	eur, _ := catalog.AddAsset("EUR", 2)
	catalog.AddAsset("BTC", 8)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8,
		Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2}}
	catalog.AddMarket(m)
	candles, err := synthetic.BTCEUR(m, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := &backtest.Plan{
		Catalog: &catalog, Currency: eur, Fees: backtest.Fees{Maker: 150_000, Taker: 250_000},
		Deposits: []backtest.Deposit{{Asset: eur.ID, Money: 10_000_00}},
		Strategies: []backtest.StrategyPlan{{Name: "trend", Kind: shipped.SMACross, Markets: []*market.Market{m},
			Interval: market.Interval1h}},
		Feeds: []backtest.Feed{{Market: m, Interval: market.Interval1h, Drive: true, Deliver: true}},
		Open: func(backtest.Feed, market.Time, market.Time) (backtest.Source, error) {
			return &slice{candles[:2000]}, nil
		},
	}
	result, err := backtest.Run(context.Background(), plan, backtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Performance.Start, "→", result.Performance.Final, result.Currency, "in", result.Trips.Count,
		"round trips")
	// Output: 10000 → 8809.22 EUR in 20 round trips
}
