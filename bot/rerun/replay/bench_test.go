package replay

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// six are the strategies of the benchmark; all of them get candles, and grid tickers too.
var six = []string{"smacross", "breakout", "rsirevert", "bandrevert", "dca", "grid"}

// twoMarkets are those of the bots of these tests.
var twoMarkets = [2]string{"BTC-EUR", "ETH-EUR"}

// benchCore is a bot of six strategies in two markets.
func benchCore(b testing.TB) *core.Config { return coreOf(b, twoMarkets) }

func coreOf(b testing.TB, markets [2]string) *core.Config {
	catalog := &market.Catalog{}
	for _, a := range []market.Asset{{Symbol: markets[0][:3], Digits: 8}, {Symbol: markets[1][:3], Digits: 8},
		{Symbol: "EUR", Digits: 2}} {
		_, err := catalog.AddAsset(a.Symbol, a.Digits)
		require.NoError(b, err)
	}
	for _, name := range markets {
		require.NoError(b, catalog.AddMarket(&market.Market{Name: name, PriceDigits: 2, VolumeDigits: 8,
			Status: market.Trading, Rules: market.Rules{TickSize: 1, QuantityDecimals: 8, NotionalDecimals: 2}}))
	}
	c := &core.Config{Catalog: catalog, Run: uuid.UUID{1}, SaveLimit: 1 << 20, Log: zerolog.Nop(),
		Limits: risk.AccountLimits{Currency: catalog.AssetNamed("EUR").ID}, Fees: backtest.Fees{Maker: 15, Taker: 25}}
	for _, name := range six {
		for _, kind := range shipped.Definitions() {
			if kind.Name == name {
				c.Strategies = append(c.Strategies,
					backtest.StrategyPlan{Name: name, Kind: kind, Interval: market.Interval1m,
						Markets: catalog.Markets(), Limits: risk.Limits{OperatorID: 1, ReduceOnly: true}})
			}
		}
	}
	require.Len(b, c.Strategies, len(six))
	return c
}

// dayOf records n tickers and candles, as a bot hears them: each market each second, and a candle
// of each market a minute.
func dayOf(b *testing.B, c *core.Config, dir string, n int) {
	w, err := recording.Open(dir, recording.Options{Catalog: c.Catalog, Strategies: six})
	require.NoError(b, err)
	m, err := core.NewManifest(c, "bench")
	require.NoError(b, err)
	text, err := m.Encode()
	require.NoError(b, err)
	at := began
	for _, r := range []recording.Record{{Kind: recording.KindStart, At: at, Manifest: text},
		{Kind: recording.KindOpen, At: at}, {Kind: recording.KindWaiting, At: at}, {Kind: recording.KindBegun,
			At: at}} {
		_, err := w.Write(&r)
		require.NoError(b, err)
	}
	hear(n, at, func(in *market.Input) {
		_, err := w.Append(in.Event)
		require.NoError(b, err)
	})
	require.NoError(b, w.Close())
}

// BenchmarkReplayedEvents plays tickers and candles through six strategies, in turn with its floor,
// which reads the same records. Figures are the least of all rounds; xfloor is the floor divided by
// the replay.
func BenchmarkReplayedEvents(b *testing.B) {
	const n = 200_000
	dir, config := b.TempDir(), benchCore(b)
	dayOf(b, config, dir, n)
	walk := func(visit func(*player, *reader.Item) error) {
		p := &player{report: &Verdict{}, kinds: shipped.Definitions(), runs: map[uuid.UUID]uint64{config.Run: 1},
			written: nothing()}
		for item, err := range reader.Items(b.Context(), reader.Source{Dir: dir}) {
			if err == nil {
				err = visit(p, item)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	var least [2]time.Duration
	for b.Loop() {
		decode := func(*player, *reader.Item) error { return nil }
		for i, visit := range [...]func(*player, *reader.Item) error{decode, (*player).record} {
			began := time.Now()
			walk(visit)
			if took := time.Since(began); least[i] == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	b.ReportMetric(float64(least[0].Nanoseconds())/n, "decode-ns")
	b.ReportMetric(float64(least[1].Nanoseconds())/n, "ns/event")
	b.ReportMetric(n/least[1].Seconds()/1e6, "M/s")
	b.ReportMetric(float64(least[0])/float64(least[1]), "xfloor")
}

// nothing is an empty journal.
func nothing() *entries {
	return &entries{next: func() (e journal.Entry, err error, more bool) { return e, nil, false }, end: func() {}}
}
