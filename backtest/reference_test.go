package backtest

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

const shared = "../../shared/"

// crossRun is the rule of the reference run, traded by hand and told to a recorder: no engine, gate
// or venue is involved.
type crossRun struct {
	t       *testing.T
	r       *recorder
	m       *market.Market
	candles []market.Candle
	cash    market.Money
	held    market.Qty
	orders  market.OrderID
}

const crossFee = market.Rate(250_000)

// newCrossRun reads the candles. Prices have two decimals, amounts none, EUR eight, so that fees
// need no rounding.
func newCrossRun(t *testing.T, cfg recorderConfig) *crossRun {
	c := &market.Catalog{}
	cfg.Currency = asset(t, c, "EUR", 8)
	asset(t, c, "BTC", 0)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8, Rules: market.Rules{TickSize: 1}}
	require.NoError(t, c.AddMarket(m))
	candles := readCandles(t, m, shared+"data/bitvavo_BTC-EUR_1h_2020-2024.csv")
	cfg.Catalog, cfg.Start, cfg.From = c, 10_000_000_00000000, candles[0].Start
	cfg.Markets, cfg.HoldInterval = []*market.Market{m}, market.Interval1h
	cfg.Fees = []exchange.Fees{{}, {Taker: crossFee}}
	r, err := newRecorder(cfg)
	require.NoError(t, err)
	return &crossRun{t: t, r: r, m: m, candles: candles, cash: cfg.Start}
}

func asset(t *testing.T, c *market.Catalog, symbol string, digits uint8) *market.Asset {
	a, err := c.AddAsset(symbol, digits)
	require.NoError(t, err)
	return a
}

// readCandles reads a file of shared data, and skips the test where the folder is absent.
func readCandles(t *testing.T, m *market.Market, path string) []market.Candle {
	rows := readCSV(t, path)
	candles := make([]market.Candle, 0, len(rows))
	for _, row := range rows {
		ms, err := strconv.ParseInt(row[0], 10, 64)
		require.NoError(t, err)
		start, err := market.TimeOfMillis(ms)
		require.NoError(t, err)
		k := market.Candle{Start: start, Market: m.ID, Interval: market.Interval1h}
		for i, to := range []*market.Price{&k.Open, &k.High, &k.Low, &k.Close} {
			*to, err = m.ParsePrice(row[i+1])
			require.NoError(t, err)
		}
		candles = append(candles, k)
	}
	return candles
}

func readCSV(t *testing.T, path string) [][]string {
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		t.Skipf("%s is not here: the shared reference data is needed", path)
	}
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	return rows[1:]
}

// play runs the rule: a close above or below decides, the next open fills.
func (x *crossRun) play() {
	var before, pending int64
	for i := range x.candles {
		k := &x.candles[i]
		x.trade(k, pending)
		pending = 0
		if i >= 20 {
			pending = x.decide(before, x.cross(i), k)
		}
		if i >= 19 {
			before = x.cross(i)
		}
		x.r.Bar(k)
		equity := x.cash + market.Money(int64(x.held)*int64(k.Close)*1e6)
		x.r.Mark(k.End(), equity, x.cash, x.held != 0)
	}
}

// cross is twice the sum of the last 10 closes less the sum of the last 20.
func (x *crossRun) cross(i int) (d int64) {
	for back := range 20 {
		d -= int64(x.candles[i-back].Close)
		if back < 10 {
			d += 2 * int64(x.candles[i-back].Close)
		}
	}
	return d
}

// decide returns the amount to trade at the next open.
func (x *crossRun) decide(before, now int64, k *market.Candle) int64 {
	switch {
	case x.held == 0 && before <= 0 && now > 0:
		return int64(x.cash/100*99) / (int64(k.Close) * 1e6)
	case x.held != 0 && before >= 0 && now < 0:
		return -int64(x.held)
	}
	return 0
}

// trade fills a market order whole at the open.
func (x *crossRun) trade(k *market.Candle, amount int64) {
	if amount == 0 {
		return
	}
	x.orders++
	value := market.ValueOf(amount * int64(k.Open) * 1e6)
	fee := market.ValueOf(max(amount, -amount) * int64(k.Open) * 1e6 / 400)
	f := market.Fill{Order: x.orders, Market: x.m.ID, Side: market.Buy, Taker: true, Settled: true, Price: k.Open,
		Amount: market.Qty(max(amount, -amount)), Fee: fee, Time: k.Start}
	o := market.Order{ID: x.orders, Market: x.m.ID, Side: market.Buy, Type: market.TypeMarket, Created: k.Start,
		OrderState: market.OrderState{Status: market.StatusFilled, Amount: f.Amount, FilledAmount: f.Amount,
			FilledAmountQuote: value, FeePaid: fee, Updated: k.Start}}
	if amount < 0 {
		f.Side, o.Side, o.FilledAmountQuote = market.Sell, market.Sell, value.Neg()
	}
	x.cash -= money(x.t, value) + money(x.t, fee)
	x.held += market.Qty(amount)
	x.r.Fill(&f, &o)
	x.r.Order(&o)
}

func money(t *testing.T, v market.Value) market.Money {
	m, err := v.ExactMoney(0)
	require.NoError(t, err)
	return m
}

func TestReferenceRunAgreesWithTwoOtherEngines(t *testing.T) {
	dir := t.TempDir()
	x := newCrossRun(t, recorderConfig{Out: dir})
	x.play()
	res, err := x.r.Finish(finishInfo{About: About{Title: "reference"}})
	require.NoError(t, err)

	require.Equal(t, "295028.42425", res.Performance.Final.String())
	require.Equal(t, "30134513.87575", res.Performance.Fees.String())
	require.InDelta(t, 0.98674537619, float64(res.Performance.Drawdown.Depth), 1e-11)
	require.InDelta(t, -1.4788644394, sharpeBehindTheFirstDay(t, dir), 1e-10)
	require.InDelta(t, 0.52148286, float64(res.Performance.Exposure), 1e-8)
	require.EqualValues(t, 1146, res.Trips.Count)
	require.EqualValues(t, 0, res.Trips.Open)
	sameTrips(t, readCSV(t, shared+"reference/sma-cross_btc-eur-1h_trades.csv"),
		readCSV(t, filepath.Join(dir, "trades.csv")))
}

// sharpeBehindTheFirstDay is the Sharpe ratio of a folder's daily returns without the first one,
// which the other engines leave out.
func sharpeBehindTheFirstDay(t *testing.T, dir string) float64 {
	var days spread
	for _, row := range readCSV(t, filepath.Join(dir, "days.csv"))[1:] {
		days.add(decimalOf(t, row[1]))
	}
	_, sharpe, _ := days.figures(false)
	return float64(sharpe)
}

// sameTrips compares the reference's columns n, entry_bar, entry_ts_ms, entry_price, size,
// exit_bar, exit_ts_ms, exit_price, fees, pnl_net with ours.
func sameTrips(t *testing.T, want, have [][]string) {
	require.Len(t, have, len(want))
	for i, w := range want {
		h := have[i]
		require.Equal(t, []string{"BTC-EUR", "long", w[2], w[6], w[4]}, []string{h[0], h[1], h[2], h[4], h[6]},
			"trip %s", w[0])
		for _, pair := range [][2]int{{3, 3}, {7, 5}, {8, 7}, {9, 8}} {
			require.InDelta(t, decimalOf(t, w[pair[0]]), decimalOf(t, h[pair[1]]), 1e-6, "trip %s column %d", w[0],
				pair[1])
		}
	}
}

func decimalOf(t *testing.T, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return x
}

func TestEveryUnitOfTheReferenceRunIsInATrip(t *testing.T) {
	x := newCrossRun(t, recorderConfig{})
	x.play()
	res, err := x.r.Finish(finishInfo{})
	require.NoError(t, err)
	require.Equal(t, res.Performance.Gain, res.Trips.Net) // no position is open at the end
}
