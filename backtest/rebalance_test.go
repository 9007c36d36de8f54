package backtest

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// rotationPlan is a plan of the best of three markets, chosen anew at every quarter of an hour. The
// first coarse markets move by candles of five minutes, the others by minutes.
func rotationPlan(t *testing.T, coarse, n int, top int64) *Plan {
	catalog := &market.Catalog{}
	eur, err := catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	p := &Plan{Catalog: catalog, Currency: eur, Deposits: []Deposit{{Asset: eur.ID, Money: 100_000_00}},
		Fees: Fees{Maker: 150_000, Taker: 250_000}}
	series := map[market.ID]map[market.Interval][]market.Candle{}
	for i, base := range []string{"BTC", "ETH", "ADA"} {
		_, err := catalog.AddAsset(base, 8)
		require.NoError(t, err)
		m := &market.Market{Name: base + "-EUR", PriceDigits: 2, VolumeDigits: 4,
			Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2, TickSize: 1, MinOrderInQuote: 5_00}}
		require.NoError(t, catalog.AddMarket(m))
		g, err := synthetic.New(synthetic.Config{Seed: uint64(i + 1), Market: m, Interval: market.Interval1m,
			Start: 1640995200_000_000_000, First: 1000_00, Volume: 5_0000, DailyVolatility: 0.2, GapChance: -1})
		require.NoError(t, err)
		one := make([]market.Candle, n)
		for i := range one {
			g.Next(&one[i])
		}
		series[m.ID] = map[market.Interval][]market.Candle{market.Interval1m: one, market.Interval5m: coarser(one)}
		if i >= coarse {
			p.Feeds = append(p.Feeds, Feed{Market: m, Interval: market.Interval1m, Drive: true})
		}
	}
	for i, m := range catalog.Markets() {
		p.Feeds = append(p.Feeds, Feed{Market: m, Interval: market.Interval5m, Drive: i < coarse, Deliver: true})
	}
	p.Open = func(f Feed, from, _ market.Time) (Source, error) {
		all := series[f.Market.ID][f.Interval]
		n := slices.IndexFunc(all, func(c market.Candle) bool { return c.Start >= from })
		if n < 0 {
			n = len(all)
		}
		return &memory{all[n:]}, nil
	}
	p.Strategies = []StrategyPlan{{Name: "rotation", Kind: shipped.Rotation, Markets: catalog.Markets(),
		Interval: market.Interval5m, Values: map[string]any{"top": top, "candles": int64(6), "every": "15m"}}}
	return p
}

// opens notes the fills of each side by their time.
type opens struct{ sells, buys map[market.Time]int }

func (o *opens) Filled(order *state.Order, f *market.Fill) {
	if order.Tag != strategy.TagRebalance {
		return
	}
	if f.Side == market.Sell {
		o.sells[f.Time]++
	} else {
		o.buys[f.Time]++
	}
}

func (o *opens) Closed(*state.Order)                                   {}
func (o *opens) Approved(state.Terms, *market.Command, []state.Figure) {}
func (o *opens) Ended(*state.Account)                                  {}

// both counts the times at which both sides filled.
func (o *opens) both() (n int) {
	for at := range o.sells {
		if o.buys[at] > 0 {
			n++
		}
	}
	return n
}

func TestTheSellsOfARotationPayForItsBuysAtTheSameOpen(t *testing.T) {
	for _, coarse := range []int{0, 3} {
		var log bytes.Buffer
		p, o := rotationPlan(t, coarse, 20_000, 1), &opens{map[market.Time]int{}, map[market.Time]int{}}
		p.Log = zerolog.New(&log).Level(zerolog.InfoLevel)
		_, err := Run(context.Background(), p, Options{Observer: o})
		require.NoError(t, err)
		require.Greater(t, o.both(), 100)
		for at := range o.buys {
			require.Zero(t, at%market.Time(15*60e9), "a buy at the open after its decision")
		}
		require.NotContains(t, log.String(), "dropped")
		require.NotContains(t, log.String(), "refused")
	}
}

// A market that moves by coarser candles opens when these have closed: a buy in another market that
// waits for a sell there comes later, and none is lost.
func TestMarketsOfDifferentCandlesRebalanceToo(t *testing.T) {
	for _, coarse := range []int{1, 2} {
		var log bytes.Buffer
		p, o := rotationPlan(t, coarse, 20_000, 1), &opens{map[market.Time]int{}, map[market.Time]int{}}
		p.Log = zerolog.New(&log).Level(zerolog.InfoLevel)
		_, err := Run(context.Background(), p, Options{Observer: o})
		require.NoError(t, err)
		require.NotContains(t, log.String(), "dropped")
		require.NotContains(t, log.String(), "refused")
		later := 0
		for at := range o.buys {
			switch at % market.Time(15*60e9) {
			case 0:
			case market.Time(4 * 60e9): // the last minute of the coarse candle
				later++
			default:
				t.Errorf("a buy at %s", at)
			}
		}
		require.Greater(t, later, 10)
		require.Greater(t, o.both(), 10)
	}
}

func TestARotationDecidesTheSameWhateverComesLater(t *testing.T) {
	for _, coarse := range []int{0, 1} {
		report, err := CheckLookahead(context.Background(), rotationPlan(t, coarse, 4_000, 2), quickLook)
		require.NoError(t, err)
		require.Greater(t, report.Decisions, 100)
		require.Empty(t, report.Changed)
		require.Empty(t, report.FromStart)
	}
}
