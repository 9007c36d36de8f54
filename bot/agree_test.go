package bot

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// stairs is a price that stands still for a minute and then jumps by thousands: whoever comes within the minute meets its open, as in a
// backtest without latency, and 10 bps are a whole tick. It trades again in the middle of the minute, so that its close is that price
// whatever the bot has traded meanwhile.
type stairs struct{ seed uint64 }

// Movements walks the stairs.
func (s stairs) Movements(start sandbox.Start) (sandbox.Movements, error) {
	chance := rand.New(rand.NewPCG(s.seed, 1))
	price, at := market.Price(30_000_00), market.Interval1m.Floor(start.Beginning)
	return func(m *sandbox.Movement) (bool, error) {
		for {
			*m = sandbox.Movement{At: at, Price: price, Amount: 1_00000000, Side: market.Buy}
			if at = at.Add(30 * time.Second); at == market.Interval1m.Floor(at) {
				price = min(60_000_00, max(10_000_00, price+market.Price(chance.IntN(7)-3)*1_000_00))
			}
			if m.At >= start.From {
				return true, nil
			}
		}
	}, nil
}

const agreeBot = `
[exchange]
base_url = "https://exchange.test/v2"
key_env = "KEY"
secret_env = "SECRET"
[poll]
tickers = "10s"
[strategies.trend]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1m"
allotment = "10000"
operator_id = 7
params = { fast = 3, slow = 8, share = "0.9" }
`

const agreeBacktest = `
[backtest]
from = %d
to = %d
half_spread_bps = "10"
[data]
candles = %q
[account]
start = { EUR = "10000" }
[assets]
EUR.decimals = 2
BTC.decimals = 8
[markets.BTC-EUR]
tick_size = "1"
quantity_decimals = 8
notional_decimals = 2
[strategies.trend]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1m"
params = { fast = 3, slow = 8, share = "0.9" }
`

// traded is a fill as both sides tell it. Arrival times and the exchange's ids are not compared: live a decision is made two seconds
// after the close and meets the price of that moment.
type traded struct {
	minute             market.Time
	side               string
	price, amount, fee string
	taker              bool
}

// TestLiveAndBacktestTradeTheSame lets smacross trade live for two hours and then over the very candles that the exchange tells of them:
// the same fills in the same minutes, from the first decision after the warm-up on.
func TestLiveAndBacktestTradeTheSame(t *testing.T) {
	var live []traded
	var candles []market.Candle
	var from, to market.Time
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, func(c *sandbox.Config) {
			c.Markets[0].Source, c.Markets[0].House = stairs{3}, sandbox.House{Levels: 1, HalfSpread: 100_000, Size: "1000"}
		})
		s.config, s.traffic.limits = agreeBot, limits{value: 20_000}
		time.Sleep(10 * time.Second)
		from = market.Interval1m.Floor(s.ex.Clock().Now())
		p := s.start()
		time.Sleep(2*time.Hour - 20*time.Second)
		to = market.Interval1m.Floor(s.ex.Clock().Now())
		require.NoError(t, p.end())
		s.agree(p)
		m := s.market()
		require.NoError(t, s.stored().Fills(0, 0, func(f *state.FillRow) error {
			live = append(live, traded{minute: market.Interval1m.Floor(f.Time), side: f.Side.String(), price: m.FormatPrice(f.Price), amount: m.FormatQty(f.Amount), fee: m.FormatValue(f.Fee), taker: f.Taker})
			return nil
		}))
		var err error
		candles, err = s.auditor.Candles(context.Background(), m, market.Interval1m, from.Add(-hour), to, 1440, nil)
		require.NoError(t, err)
	})
	require.Greater(t, len(live), 10)
	require.Equal(t, live, backtested(t, dir, candles, from, to))
}

// backtested trades the candles and returns the fills.
func backtested(t *testing.T, dir string, candles []market.Candle, from, to market.Time) (fills []traded) {
	db, config := filepath.Join(dir, "candles.db"), filepath.Join(dir, "backtest.toml")
	store, err := state.OpenCandles(db, false)
	require.NoError(t, err)
	_, err = store.Put(state.WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}, candles, 2, 8, nil)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, agreeBacktest, from.Millis(), to.Millis(), db), 0o600))
	var failed bytes.Buffer
	code := Run(t.Context(), Process{Args: []string{"backtest", "-c", config, "--out", filepath.Join(dir, "out")}, Stdin: &failed, Stdout: io.Discard, Stderr: &failed,
		Getenv: os.Getenv, Kinds: testKinds()})
	require.Zero(t, code, failed.String())
	text, err := os.ReadFile(filepath.Join(dir, "out", "fills.csv"))
	require.NoError(t, err)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"time_ms", "market", "strategy", "order", "fill_id", "side", "price", "amount", "value", "fee", "fee_currency", "taker"}, rows[0])
	for _, row := range rows[1:] {
		millis, err := strconv.ParseInt(row[0], 10, 64)
		require.NoError(t, err)
		at, err := market.TimeOfMillis(millis)
		require.NoError(t, err)
		fills = append(fills, traded{minute: market.Interval1m.Floor(at), side: row[5], price: row[6], amount: row[7], fee: row[9], taker: row[11] == "true"})
	}
	return fills
}
