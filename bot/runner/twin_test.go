package runner

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/folder"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/replay"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state/boltfile"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// shadowed is a stage whose strategy has a twin. It trades averages of a few minutes, by market
// orders.
func shadowed(t *testing.T, seed uint64) *stage {
	s := newStage(t, seed, nil)
	head, _, _ := strings.Cut(s.config, "[strategies.restless]")
	s.config = head + `[strategies.restless]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "10000"
operator_id = 7
shadow = true
params = { fast = 2, slow = 3, share = "0.05" }
`
	return s
}

// compared waits for the next comparison, and returns it with the live position.
func compared(p *process) (f *twinFigures, held market.Qty) {
	time.Sleep(time.Minute)
	synctest.Wait()
	p.look(func() { held = p.account.Position(1, 1).Amount })
	return p.twin.figures.Load(), held
}

func TestATwinDoesWhatTheLiveStrategyDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shadowed(t, 4)
		p := s.start()
		held, worst, profits := 0, 0.0, map[market.Money]bool{}
		for range 15 {
			f, position := compared(p)
			if worst, profits[f.Own[0]] = max(worst, f.Tracking[0], -f.Tracking[0]), true; position != 0 {
				held++
			}
		}
		require.Greater(t, held, 2)
		require.Greater(t, len(profits), 4, "the twin trades")
		require.Less(t, worst, 5.0)

		require.NoError(t, p.end()) // a restart: the twin goes on
		p = s.start()
		f, _ := compared(p)
		require.Less(t, max(f.Tracking[0], -f.Tracking[0]), 5.0)
		require.NotZero(t, f.Own[0], "what it had earned before the restart is in its books")
		require.False(t, f.Halted[0])

		c := &control{r: p.runner}
		require.NoError(t, c.do(t.Context(), func(at market.Time) []market.Command {
			return p.door.Enter(&market.Input{Kind: market.InputHalt, At: at, Strategy: 1, Reason: "a person"}).Commands
		}))
		f, _ = compared(p)
		require.True(t, f.Halted[0])
		require.Empty(t, p.twin.reason())
		require.Zero(t, p.twin.lost.Load())
		status := p.twinStatus(1, "restless")
		require.Equal(t, p.twin.figures.Load().Tracking[0], status.TrackingBPS)
		require.NotZero(t, status.AtMS)
		require.NoError(t, p.end())
		s.replayed()
	})
}

// After a stop in good order the twin goes on as it was, whatever the bot holds. A kill leaves it
// behind: it begins anew.
func TestATwinGoesOnAfterAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shadowed(t, 4)
		p := s.start()
		for range 6 {
			compared(p)
		}
		p.look(func() { // the twin alone is halted
			halt := market.Input{Kind: market.InputHalt, At: p.engine.Now(), Strategy: 1, Reason: "a test"}
			p.twin.offer(&halt, p.account)
		})
		before, _ := compared(p)
		require.True(t, before.Halted[0])
		require.NoError(t, p.end())
		first := p.twin
		for range 2 { // also without a comparison in between
			p = s.start()
			require.NotNil(t, p.twin.saved)
			require.Equal(t, first.began, p.twin.began)
			require.Equal(t, first.base, p.twin.base)
			require.Equal(t, first.money, p.twin.money)
			require.Equal(t, first.session.Account().Position(1, 1), p.twin.session.Account().Position(1, 1))
			require.NoError(t, p.end())
		}
		p = s.start()
		after, _ := compared(p)
		require.True(t, after.Halted[0])
		_, halted := p.engine.Halted(1)
		require.False(t, halted)

		p.kill()
		p.bury()
		p = s.start()
		require.Nil(t, p.twin.saved, "the run before left none")
		require.Greater(t, p.twin.began, first.began)
		again, _ := compared(p)
		require.False(t, again.Halted[0])
		require.NoError(t, p.end())
		s.replayed()

		for text, is := range map[string]error{`{"version":2}`: boltfile.ErrNewer, `{`: boltfile.ErrCorrupt} {
			store, err := journal.Open(filepath.Join(s.Folder, folder.StateFile))
			require.NoError(t, err)
			b := store.NewBatch()
			b.Blob(folder.TwinBlob, []byte(text))
			require.NoError(t, store.Commit(b))
			require.NoError(t, store.Close())
			_, err = s.open()
			require.ErrorIs(t, err, is)
			require.ErrorContains(t, err, "twin of the last run: ")
		}
	})
}

// A twin that falls behind never holds up the loop. It survives the loss of prices alone.
func TestATwinThatFallsBehindLosesInputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shadowed(t, 4)
		p, err := s.open()
		require.NoError(t, err)
		tick := market.Event{Kind: market.KindTicker, At: p.engine.Now(), Market: 1,
			Ticker: &market.Ticker{Market: 1, Last: 1, Bid: 1, Ask: 2}}
		for range twinQueue + 10 { // nothing runs the twin yet
			p.twin.offer(&market.Input{Kind: market.InputEvent, Event: &tick}, p.account)
		}
		require.Greater(t, p.twin.lost.Load(), int64(9))
		require.Empty(t, p.twin.reason())
		closed := market.Event{Kind: market.KindCandles, At: p.engine.Now(), Candles: []market.Candle{{Market: 1}}}
		p.twin.offer(&market.Input{Kind: market.InputEvent, Event: &closed}, p.account)
		require.Equal(t, "it fell behind, and lost candles", p.twin.reason())
		require.Equal(t, p.twin.reason(), p.twinStatus(1, "restless").Ended)
		require.NoError(t, p.close())
	})
}

func TestAStrategyFarFromItsTwinMakesAnAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := shadowed(t, 4).open()
		require.NoError(t, err)
		told := &recorder{}
		w := &watch{r: p.runner, now: time.Now, alerts: told, strayed: make([]bool, 2)}
		for _, bps := range []float64{49, -51, 60, 30, 55, 20, 50} {
			p.twin.figures.Store(&twinFigures{Tracking: []float64{bps}})
			w.checkTwin()
		}
		p.twin.end("it had to")
		w.checkTwin()
		w.checkTwin()
		var texts []string
		since := operator.ClockOf(p.twin.began.Millis())
		for _, one := range told.told {
			require.Equal(t, alert.Tracking, one.Kind)
			texts = append(texts, one.Text)
		}
		require.Equal(t, []string{"restless is -51.0 bps of its money from its twin since " + since,
			"restless is +50.0 bps of its money from its twin since " + since, "the twin has ended: it had to"}, texts)
		require.NoError(t, p.close())
	})
}

// BenchmarkTwin is the cost of a ticker for the twin of six strategies: "queue" is the loop's part
// and the floor, "twin" the whole.
func BenchmarkTwin(b *testing.B) {
	catalog := &market.Catalog{}
	for _, a := range []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "EUR", Digits: 2}} {
		_, err := catalog.AddAsset(a.Symbol, a.Digits)
		require.NoError(b, err)
	}
	require.NoError(b, catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8,
		Status: market.Trading, Rules: market.Rules{TickSize: 1, QuantityDecimals: 8, NotionalDecimals: 2}}))
	made := &replay.CoreConfig{Catalog: catalog, Limits: risk.AccountLimits{Currency: catalog.AssetNamed("EUR").ID}}
	for _, kind := range shipped.Definitions()[:6] {
		made.Strategies = append(made.Strategies, backtest.StrategyPlan{Name: kind.Name, Kind: kind,
			Interval: market.Interval1m, Markets: catalog.Markets()})
	}
	for _, whole := range []bool{false, true} {
		b.Run(map[bool]string{false: "queue", true: "twin"}[whole], func(b *testing.B) {
			session, err := backtest.NewSession(twinPlan(made), backtest.SessionOptions{Unrecorded: true})
			require.NoError(b, err)
			t := &twin{session: session, currency: made.Limits.Currency, queue: make(chan twinInput, twinQueue),
				money: make([]market.Money, 6)}
			t.figures.Store(&twinFigures{Tracking: make([]float64, 6)})
			account := session.Account()
			t.open(1, nil, nil)
			tick := market.Ticker{Market: 1, Last: 30_000_00, Bid: 29_999_00, Ask: 30_001_00}
			ev := market.Event{Kind: market.KindTicker, At: 1, Market: 1, Ticker: &tick}
			b.ReportAllocs()
			var one twinInput
			for i := 0; b.Loop(); i++ {
				ev.At += 1e9
				tick.Last += market.Price(i%3 - 1)
				t.offer(&market.Input{Kind: market.InputEvent, Event: &ev}, account)
				for len(t.queue) > 0 {
					if one = <-t.queue; whole && one.profits == nil {
						require.NoError(b, t.enter(&one))
					}
				}
			}
		})
	}
}
