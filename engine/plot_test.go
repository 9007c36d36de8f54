package engine_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// easel collects what strategies plot.
type easel struct{ journal }

func (e *easel) Plot(s market.StrategyID, p strategy.Plotted) {
	e.add("%d: %s %q %q %v %t", s, []string{"", "BTC", "ETH"}[p.Market], p.Name, p.Pane, p.Value, p.Mark)
}

func TestPlotsAndMarksReachThePlotter(t *testing.T) {
	var e easel
	b := newBench(t, setup{plots: &e, markets: 2, slots: []engine.StrategyConfig{{Strategy: &script{}},
		{Strategy: &script{candle: func(d *strategy.Desk, c market.Candle) {
			d.In(1).Plot("mean", float64(c.Close))
			d.In(2).Plot("RSI", math.NaN(), strategy.Pane("below"))
			d.In(1).Mark("here")
			d.In(3).Plot("no such market", 1)
		}}}}})
	b.flat(1, 100)
	require.Equal(t, journal{`2: BTC "mean" "" 10000 false`, `2: ETH "RSI" "below" NaN false`,
		`2: BTC "here" "" 0 true`},
		e.journal)
	require.Empty(t, b.log.String())
	require.Empty(t, b.engine.Halts())
}

// A plot from outside of the strategy's callbacks is dropped, and halts nothing.
func TestAPlotFromOutsideIsDropped(t *testing.T) {
	var e easel
	var first *strategy.Desk
	draw := func(d *strategy.Desk) {
		d.In(1).Plot("outside", 1)
		d.In(1).Mark("outside")
	}
	b := newBench(t, setup{plots: &e, slots: []engine.StrategyConfig{
		{Strategy: &script{candle: func(d *strategy.Desk, _ market.Candle) {
			first = d
			done := make(chan struct{})
			go func() { defer close(done); draw(d) }()
			<-done
		}}},
		{Strategy: &script{candle: func(*strategy.Desk, market.Candle) { draw(first) }}}}})
	b.flat(2, 100)
	draw(first)
	b.flat(1, 100)
	require.Empty(t, e.journal)
	require.Empty(t, b.engine.Halts())
}

func TestWithoutAPlotterPlotsAreLinesOfTheDebugLog(t *testing.T) {
	b := one(t, &script{candle: func(d *strategy.Desk, c market.Candle) {
		d.In(1).Plot("mean", 99.5)
		d.In(1).Plot("RSI", 30, strategy.Pane("below"))
		d.In(1).Mark("here")
	}})
	b.flat(1, 100)
	require.Equal(t, `{"level":"debug","strategy":"s1","market":"BTC-EUR","name":"mean","value":99.5,"message":"plot"}
{"level":"debug","strategy":"s1","market":"BTC-EUR","name":"RSI","pane":"below","value":30,"message":"plot"}
{"level":"debug","strategy":"s1","market":"BTC-EUR","name":"here","message":"mark"}
`, b.log.String())
}
