package shipped_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

func startCross(t *testing.T, values map[string]any) *stage {
	return begin(t, 0, 2, 1000_00).with(shipped.SMACross, market.Interval1h, values)
}

func oneTwo() map[string]any { return map[string]any{"fast": int64(1), "slow": int64(2)} }

func TestACrossUpwardsBuysAndACrossDownwardsSells(t *testing.T) {
	s := startCross(t, oneTwo())
	closes := []struct {
		price market.Price
		asks  []string // D = 2·last − (last + before) = last − before
	}{
		{100, nil}, // no difference yet
		{110, nil}, // the first difference is above zero, but there is none to compare with
		{100, nil}, // downwards without a position
		{100, nil}, // zero is no cross
		{101, []string{"buy 9.8 (cross up)"}},
		{102, nil},
		{102, nil},                               // zero again
		{101, []string{"sell 9.8 (cross down)"}}, // from zero to below
	}
	for i, c := range closes {
		s.close(c.price)
		require.Equal(t, c.asks, s.Asked(), "candle %d", i)
		if i == 4 {
			s.Fill(1, 101, 9_80)
		}
	}
}

func TestTheFirstDecisionIsOnTheCandleAfterSlow(t *testing.T) {
	s := startCross(t, map[string]any{"fast": int64(10), "slow": int64(20)})
	for range 20 {
		s.close(100)
		require.Empty(t, s.Asked())
	}
	s.close(101) // number 21
	require.Equal(t, []string{"buy 9.8 (cross up)"}, s.Asked())
}

func TestAnOpenOrderKeepsItFromBuyingAgain(t *testing.T) {
	s := startCross(t, oneTwo())
	for _, price := range []market.Price{100, 99, 101} {
		s.close(price)
	}
	require.Len(t, s.Asked(), 1)
	s.Pending = true
	for _, price := range []market.Price{101, 99, 101} { // down: the buy that waits is cancelled; up: it is still there
		s.close(price)
	}
	require.Equal(t, []string{"cancel 1"}, s.Asked())
}

func TestAPartlyFilledBuyIsCancelledAndWhatIsHeldSold(t *testing.T) {
	s := startCross(t, oneTwo())
	for _, price := range []market.Price{100, 99, 101} {
		s.close(price)
	}
	s.Fill(1, 101, 4_00)
	s.Asked()
	s.close(100)
	require.Equal(t, []string{"cancel 1", "sell 4 (cross down)"}, s.Asked())
	s.close(102)
	s.close(101) // the sell still waits
	require.Empty(t, s.Asked())
}

func TestARefusedBuyIsNotMadeUpFor(t *testing.T) {
	s := startCross(t, oneTwo())
	s.Refuse = func(*market.Command) error { return os.ErrPermission }
	for _, price := range []market.Price{100, 99, 101, 102, 103} {
		s.close(price)
	}
	require.Equal(t, []string{"buy 9.8 (cross up) refused"}, s.Asked())
}

func TestMarketsAreTradedForThemselves(t *testing.T) {
	s := begin(t, 0, 2, 1000_00, 0).with(shipped.SMACross, market.Interval1h, oneTwo())
	for i := range 4 {
		s.Candle(s.strategy, s.desk, s.markets[0], market.Price(100+i%2)) // 100 101 100 101
		s.Candle(s.strategy, s.desk, s.markets[1], market.Price(201-i%2)) // 201 200 201 200
	}
	require.Equal(t, []string{"buy 4.92 on ETH-EUR (cross up)", "buy 9.8 on BTC-EUR (cross up)", "cancel 1"}, s.Asked())
}

func TestAFastAverageMustBeFaster(t *testing.T) {
	_, err := shipped.SMACross.Needs(map[string]any{"fast": int64(50)})
	require.EqualError(t, err, "strategy smacross: parameter fast: 50 is not below slow, which is 50")
	needs, err := shipped.SMACross.Needs(nil)
	require.NoError(t, err)
	require.Equal(t, strategy.Needs{Warmup: 51}, needs)
}

func TestAPriceTooHighToCompareExactlyPanics(t *testing.T) {
	s := startCross(t, map[string]any{"fast": int64(20), "slow": int64(50)})
	highest := market.Price(math.MaxInt64 / 100) // 20·50 without their common factor
	for range 60 {
		s.close(highest)
	}
	require.Empty(t, s.Asked()) // all equal: no difference
	require.Panics(t, func() { s.close(highest + 1) })
}

func TestACandleWithoutACrossAllocatesNothing(t *testing.T) {
	s := begin(t, 0, 2, 0).with(shipped.SMACross, market.Interval1h, nil)
	c := market.Candle{Market: s.market.ID, Close: 100}
	require.Zero(t, testing.AllocsPerRun(200, func() { c.Close++; s.strategy.OnCandle(s.desk, c) }))
}

// A run on real candles against the trades of two independent engines. Orders fill at the next
// open, each fill pays 0.25 %.
func TestTheReferenceRun(t *testing.T) {
	rows, want := table(t, "data/bitvavo_BTC-EUR_1h_2020-2024.csv"), table(t,
		"reference/sma-cross_btc-eur-1h_trades.csv")
	s := begin(t, 2, 0, 0).with(shipped.SMACross, market.Interval1h,
		map[string]any{"fast": int64(10), "slow": int64(20), "share": "0.99"})
	run := &reference{bench: &s.Bench, market: s.market, cash: 10_000_000 * unit}
	for i, row := range rows {
		run.open(t, i, price(t, s.market, row[1]), len(s.desk.OpenOrders()) > 0)
		run.pay()
		s.close(price(t, s.market, row[4]))
	}
	require.Len(t, run.trades, len(want))
	for i := range want {
		require.Equal(t, []string{want[i][1], want[i][4], want[i][5]}, run.trades[i],
			"trade %d: entry bar, size, exit bar", i+1)
	}
	require.Equal(t, "295028.42425", market.FormatFixed(run.cash, 5))
}

// unit is a euro with the five decimals that 0.25 % of a cent-priced fill needs.
const unit = 100_000

// reference keeps the exact cash beside the bench, whose euros have two decimals.
type reference struct {
	bench  *strategytest.Bench
	market *market.Market
	cash   int64
	asked  int
	trades [][]string
	entry  int
}

// open fills the order that waits at the open of candle i.
func (r *reference) open(t *testing.T, i int, at market.Price, waiting bool) {
	if !waiting {
		return
	}
	line := r.bench.Asked()
	require.Len(t, line, 1)
	r.asked++
	var side string
	var amount int64
	_, err := fmt.Sscanf(line[0], "%s %d", &side, &amount)
	require.NoError(t, err)
	value, fee := amount*int64(at)*unit/100, amount*int64(at)*unit/100/400
	r.bench.Fill(market.OrderID(r.asked), at, market.Qty(amount))
	if side == "buy" {
		r.cash, r.entry = r.cash-value-fee, i
		return
	}
	r.cash += value - fee
	r.trades = append(r.trades, []string{strconv.Itoa(r.entry), strconv.FormatInt(amount, 10), strconv.Itoa(i)})
}

// pay makes the bench's cash equal to the exact one, rounded down to cents: no share of it in whole
// units differs.
func (r *reference) pay() {
	have := r.bench.Cash(r.market)
	r.bench.Deposit(r.market, market.Money(r.cash/(unit/100))-have)
}

func price(t *testing.T, m *market.Market, text string) market.Price {
	p, err := m.ParsePrice(text)
	require.NoError(t, err)
	return p
}

// table reads a CSV file beside the checkout without its header, or skips.
func table(t *testing.T, name string) [][]string {
	f, err := os.Open("../../../shared/" + name)
	if err != nil {
		t.Skipf("the shared data is not here: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return rows[1:]
}
