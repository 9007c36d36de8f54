package backtest

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// memory is a Source over candles in memory, in batches as large as those of the store.
type memory struct {
	candles []market.Candle
}

func (s *memory) Next() ([]market.Candle, error) {
	if len(s.candles) == 0 {
		return nil, io.EOF
	}
	n := min(512, len(s.candles))
	batch := s.candles[:n]
	s.candles = s.candles[n:]
	return batch, nil
}

func (s *memory) Close() error { return nil }

// minutes makes n seeded one-minute candles.
func minutes(tb testing.TB, m *market.Market, n int) []market.Candle {
	g, err := synthetic.New(synthetic.Config{Seed: 1, Market: m, Interval: market.Interval1m,
		Start: 1640995200_000_000_000, First: 20000_00, Volume: 5_0000, GapChance: -1})
	require.NoError(tb, err)
	candles := make([]market.Candle, n)
	for i := range candles {
		g.Next(&candles[i])
	}
	return candles
}

// planOver is a plan over candles in memory, with so much cash.
func planOver(tb testing.TB, n int, cash market.Money, kind strategy.Definition, values map[string]any) (*Plan,
	[]market.Candle) {
	var catalog market.Catalog
	_, err := catalog.AddAsset("BTC", 8)
	require.NoError(tb, err)
	eur, err := catalog.AddAsset("EUR", 2)
	require.NoError(tb, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 4,
		Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2, TickSize: 1}}
	require.NoError(tb, catalog.AddMarket(m))
	candles := minutes(tb, m, n)
	return &Plan{
		Catalog: &catalog, Currency: eur, Deposits: []Deposit{{Asset: eur.ID, Money: cash}},
		Strategies: []StrategyPlan{{Name: "bench", Kind: kind, Values: values, Markets: []*market.Market{m},
			Interval: market.Interval1m}},
		Feeds: []Feed{{Market: m, Interval: market.Interval1m, Drive: true, Deliver: true}},
		Open:  func(Feed, market.Time, market.Time) (Source, error) { return &memory{candles}, nil },
		Fees:  Fees{Maker: 150_000, Taker: 250_000},
	}, candles
}

func mustRun(tb testing.TB, p *Plan) *Result {
	result, err := Run(context.Background(), p, Options{})
	require.NoError(tb, err)
	return result
}

func TestMemoryDoesNotGrowWithCandles(t *testing.T) {
	if testing.Short() {
		t.Skip("runs 900,000 candles")
	}
	mallocs := func(n int) (made, orders uint64) {
		p, _ := planOver(t, n, 1_000_000_00, shipped.SMACross, nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result := mustRun(t, p)
		runtime.ReadMemStats(&after)
		t.Log(fmt.Sprint(n, " candles, ", result.Orders.Orders, " orders: ", after.Mallocs-before.Mallocs, " mallocs"))
		return after.Mallocs - before.Mallocs, uint64(result.Orders.Orders)
	}
	mallocs(1000)
	one, orders := mallocs(300_000)
	two, _ := mallocs(600_000)
	require.LessOrEqual(t, two, one+orders/10, "more than 100 allocations a thousand orders")
}
