package bot_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/view/page"
)

// drawer plots an average over the price and the RSI below it, and marks what it does.
type drawer struct {
	strategy.Base
	strategy.PerMarket[drawn]
	lines int // further lines
}

type drawn struct {
	mean indicator.SMA
	rsi  indicator.RSI
}

func (s *drawer) OnCandle(d *strategy.Desk, c market.Candle) {
	m, one := d.In(c.Market), s.In(c.Market)
	one.mean.Push(c.Close)
	one.rsi.Push(c.Close)
	if !one.rsi.Ready() {
		return
	}
	m.Plot("mean", one.mean.Value())
	m.Plot("RSI", one.rsi.Value(), strategy.Pane("RSI"))
	m.Plot("30", 30, strategy.Pane("RSI"))
	for i := range s.lines {
		m.Plot(strconv.Itoa(i), float64(c.Close))
	}
	switch {
	case one.rsi.Value() < 30 && m.Flat():
		m.Buy(strategy.CashShare(40 * market.Percent))
		m.Mark("oversold")
	case one.rsi.Value() > 60 && m.Held() > 0:
		m.Sell(strategy.PositionShare(market.Whole))
	}
}

func drawing(lines int) strategy.Definition {
	return strategy.Define("drawer", "plots", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
			return &drawer{lines: lines, PerMarket: strategy.Each(s, func(market.Market) drawn {
				return drawn{mean: indicator.NewSMA(20), rsi: indicator.NewRSI(14)}
			})}, nil
		})
}

// The lines are what the strategy plotted, candle by candle: here of a market with one price.
func TestWhatAStrategyPlotsIsInTheFiles(t *testing.T) {
	out := t.TempDir()
	options := []bot.Option{bot.Closes("BTC-EUR", market.Interval1h, strings.Repeat("100 101.5 ", 12)+"99 98 97 90 80"),
		bot.Closes("ETH-EUR", market.Interval1h, strings.Repeat("10 11 ", 14))}
	quiet, err := bot.Backtest(t.Context(), drawing(0), nil, options...)
	require.NoError(t, err)
	result, err := bot.Backtest(t.Context(), drawing(0), nil, append(options, bot.Out(out))...)
	require.NoError(t, err)
	require.Equal(t, quiet.Transcript(), result.Transcript())
	require.Equal(t, []string{"trades.csv", "fills.csv", "orders.csv", "plots.csv", "equity.csv", "days.csv",
		"report.html", "result.json"}, result.Files)

	lines := rows(t, out, "plots.csv")
	require.Equal(t, []string{"1704142800000", "BTC-EUR", "1", "line", "", "mean", "100.75"}, lines[6][:7])
	require.Contains(t, lines, []string{"1704168000000", "ETH-EUR", "1", "line", "RSI", "30", "30"})
	require.Contains(t, lines, []string{"1704171600000", "BTC-EUR", "1", "mark", "", "oversold", "80"})

	report := []byte(read(t, out, "report.html"))
	for _, label := range []string{"price of BTC-EUR", "price of ETH-EUR"} { // wide and narrow
		require.Equal(t, 2, strings.Count(string(report), `aria-label="`+label+`"`))
	}
	packed, err := page.Find(report, "marks")
	require.NoError(t, err)
	var head struct{ Columns []struct{ Names []string } }
	columns, err := page.Unpack(packed, &head)
	require.NoError(t, err)
	require.Equal(t, []string{"oversold"}, head.Columns[3].Names)
	require.Equal(t, [][]int64{{0}, {1704171600}, {8000}, {0}}, columns)
	packed, err = page.Find(report, "lines")
	require.NoError(t, err)
	var drawn struct {
		Lines []struct{ Market, Pane, Name string }
	}
	columns, err = page.Unpack(packed, &drawn)
	require.NoError(t, err)
	require.Len(t, drawn.Lines, 6)
	require.Len(t, columns, 12)
	require.Equal(t, "RSI", drawn.Lines[1].Pane)
}

func TestARunWithoutPlotsHasNoTraceOfThem(t *testing.T) {
	out := t.TempDir()
	result, err := bot.Backtest(t.Context(), shipped.SMACross, pair, bot.Closes("BTC-EUR", market.Interval1h, waves),
		bot.Out(out))
	require.NoError(t, err)
	require.NotContains(t, result.Files, "plots.csv")
	require.NotContains(t, read(t, out, "report.html"), "plots")
}

func TestTooManyLinesAreAWarning(t *testing.T) {
	result, err := bot.Backtest(t.Context(), drawing(40), nil, bot.Out(t.TempDir()), bot.Between("", "2021-02-01"))
	require.NoError(t, err)
	require.Equal(t, []string{"The first 32 plotted lines are kept; 11 or more others are not. The name of a " +
		"line is a constant."}, result.Warnings)
}

// A mark's text and the names are the author's: none of them ends the page's script.
func TestNamesOfPlotsCannotEndTheScript(t *testing.T) {
	const name = `</script><b>"x"`
	evil := strategy.Define("evil", "plots", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &shouter{name: name}, nil })
	out := t.TempDir()
	_, err := bot.Backtest(t.Context(), evil, nil, bot.Closes("BTC-EUR", market.Interval1h, waves), bot.Out(out))
	require.NoError(t, err)
	require.NotContains(t, read(t, out, "report.html"), name)
	require.NotContains(t, read(t, out, "report.html"), "</script><b>")
}

// shouter plots and marks under one name.
type shouter struct {
	strategy.Base
	name string
}

func (s *shouter) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	m.Plot(s.name, float64(c.Close))
	m.Plot(s.name, 1e200, strategy.Pane(s.name))
	m.Plot(s.name, 5, strategy.Pane(s.name+"2"))
	m.Mark(s.name)
	d.In(c.Market+1).Plot("no such market", 1)
}
