package recipes_test

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// played runs a recipe in a backtest over the candles of a scene, and returns the scene with the
// fills that came of it. The account begins with 10,000 EUR on 2024-01-01, and pays 0.15 % and
// 0.25 %.
func played(t *testing.T, definition strategy.Definition, scene string) string {
	t.Helper()
	head, _, _ := strings.Cut(scene, "\n\n")
	s := newStage(t, strings.Split(head, "\n"))
	trades := &fills{catalog: &s.catalog}
	_, err := backtest.Run(t.Context(), s.plan(t, definition), backtest.Options{Observer: trades,
		Halted: func(h backtest.Halted) { t.Errorf("%s: %s\n%s", h.Name, h.Reason, h.Stack) }})
	require.NoError(t, err)
	return head + "\n\n" + strings.Join(trades.lines, "\n") + "\n"
}

// stage is the markets of a scene with their candles.
type stage struct {
	catalog market.Catalog
	eur     *market.Asset
	markets []*market.Market
	hours   map[market.ID][]market.Candle
}

// newStage reads lines such as "BTC-EUR 100 x5 101.5": a market, and the closes of its candles of
// 1h. Each opens at the close before it. "100 x5" is five closes of 100.
func newStage(t *testing.T, lines []string) *stage {
	t.Helper()
	s := &stage{hours: map[market.ID][]market.Candle{}}
	var err error
	s.eur, err = s.catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	for _, line := range lines {
		words := strings.Fields(line)
		base, _, err := market.SplitName(words[0])
		require.NoError(t, err)
		_, err = s.catalog.AddAsset(base, 4)
		require.NoError(t, err)
		m := &market.Market{Name: words[0], PriceDigits: 2,
			Rules: market.Rules{QuantityDecimals: 4, NotionalDecimals: 2, MinOrderInQuote: 5_00}}
		require.NoError(t, s.catalog.AddMarket(m))
		s.markets, s.hours[m.ID] = append(s.markets, m), hours(t, m.ID, words[1:])
	}
	return s
}

// hours are the candles of some closes.
func hours(t *testing.T, id market.ID, closes []string) (list []market.Candle) {
	t.Helper()
	at := market.Time(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	var before, price market.Price
	for _, word := range closes {
		count := 1
		if times, repeated := strings.CutPrefix(word, "x"); repeated {
			n, err := strconv.Atoi(times)
			require.NoError(t, err)
			count = n - 1
		} else {
			units, err := market.ParseFixed(word, 2)
			require.NoError(t, err)
			price = market.Price(units)
		}
		for range count {
			before = cmp.Or(before, price)
			list = append(list, market.Candle{Market: id, Interval: market.Interval1h, Start: at, Open: before,
				High: max(before, price), Low: min(before, price), Close: price, Volume: 1})
			at, before = market.Interval1h.End(at), price
		}
	}
	return list
}

// days merges candles of 1h into those of 1d.
func days(list []market.Candle) (merged []market.Candle) {
	for part := range slices.Chunk(list, 24) {
		day := part[0]
		day.Interval, day.Close = market.Interval1d, part[len(part)-1].Close
		for i := range part {
			day.High, day.Low = max(day.High, part[i].High), min(day.Low, part[i].Low)
		}
		if len(part) == 24 {
			merged = append(merged, day)
		}
	}
	return merged
}

// plan is a backtest of one strategy in all markets of the stage.
func (s *stage) plan(t *testing.T, definition strategy.Definition) *backtest.Plan {
	t.Helper()
	needs, err := definition.Needs(nil)
	require.NoError(t, err)
	p := &backtest.Plan{
		Catalog: &s.catalog, Currency: s.eur, Fees: backtest.Fees{Maker: 15 * market.BasisPoint,
			Taker: 25 * market.BasisPoint},
		Deposits: []backtest.Deposit{{Asset: s.eur.ID, Money: 10_000_00}},
		Strategies: []backtest.StrategyPlan{{Name: definition.Name, Kind: definition, Markets: s.markets,
			Interval: market.Interval1h}},
		Open: func(f backtest.Feed, _, _ market.Time) (backtest.Source, error) {
			if f.Interval == market.Interval1d {
				return &series{days(s.hours[f.Market.ID])}, nil
			}
			return &series{s.hours[f.Market.ID]}, nil
		},
	}
	for _, m := range s.markets {
		p.Feeds = append(p.Feeds, backtest.Feed{Market: m, Interval: market.Interval1h, Drive: true, Deliver: true})
		for _, interval := range needs.Intervals {
			p.Feeds = append(p.Feeds, backtest.Feed{Market: m, Interval: interval, Deliver: true})
		}
	}
	return p
}

// series is candles in memory as a backtest.Source.
type series struct{ left []market.Candle }

func (s *series) Next() ([]market.Candle, error) {
	batch := s.left
	s.left = nil
	if len(batch) == 0 {
		return nil, io.EOF
	}
	return batch, nil
}

func (s *series) Close() error { return nil }

// stamp is the layout of a time.
const stamp = "Jan _2 15:04"

// fills is an Observer that writes the fills of a run.
type fills struct {
	catalog *market.Catalog
	lines   []string
}

func (f *fills) Filled(o *state.Order, fill *market.Fill) {
	m := f.catalog.Market(fill.Market)
	fee, _ := fill.Fee.CeilMoney(m.MoneyDrop())
	how := "maker"
	if fill.Taker {
		how = "taker"
	}
	f.lines = append(f.lines, fmt.Sprintf("%s  %-4s %s %s at %s (%s, fee %s)", fill.Time.Std().Format(stamp),
		fill.Side, market.FormatFixed(int64(fill.Amount), m.AmountDigits), m.Name, m.FormatPrice(fill.Price),
		how, m.FormatMoney(fee)))
}

// Closed writes an offer that ended without a fill.
func (f *fills) Closed(o *state.Order) {
	m := f.catalog.Market(o.Market)
	if o.PostOnly && o.FilledAmount == 0 {
		f.lines = append(f.lines, fmt.Sprintf("%s  %-4s %s %s at %s: %s", o.Updated.Std().Format(stamp), o.Side,
			market.FormatFixed(int64(o.Amount), m.AmountDigits), m.Name, m.FormatPrice(o.Price), o.Status))
	}
}

func (f *fills) Approved(state.Terms, *market.Command, []state.Figure) {}
func (f *fills) Ended(*state.Account)                                  {}
