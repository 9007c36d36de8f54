package lang

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestExplainShowsEachComparisonWithItsNumbers(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"close > 100 and volume > 1", "close 101.5 > 100, volume 2.5 > 1"},
		{"close > open", "close 101.5 > open 101"},
		{"close > 200 and volume > 1", "close 101.5 <= 200, volume 2.5 > 1"}, // what failed stands first
		{"volume > 1 and close > 200", "close 101.5 <= 200, volume 2.5 > 1"},
		{"close > 200 or close < 102", "close 101.5 < 102"},
		{"close > 200 or close < 50", "close 101.5 <= 200, close 101.5 >= 50"},
		{"not (close > 200 or close < 50)", "close 101.5 <= 200, close 101.5 >= 50"},
		{"close crosses above 101.25", "close 101.5 crosses above 101.25 (before: 100.5 and 101.25)"},
		{"crossunder(close, mean)", "close 101.5 does not cross below mean 101 (before: 100.5 and 100)"},
		{"rsi(2) < bottom", "rsi(2) 100 >= bottom 30"},
		{"sma(200) > close and close > 1", "sma(200) is not known"},
		{"profit > 2% and in_position", "profit 5 > 2%, in_position"},
		{"not in_position", "in_position"},
		{"(high - low) / close > 0.01", "(high - low) / close 0.01478 > 0.01"},
		{"equity > 1000", "equity 2000 > 1000"},
		{"between(\"08:00\", \"16:00\")", "60 * hour + minute 630 >= 480, 60 * hour + minute 630 < 960"},
	} {
		p, err := Compile([]Rule{{"entry", c.text, Condition}}, map[string]float64{"bottom": 30},
			[]Let{{"mean", "sma(2)"}}, market.Interval1h)
		require.NoError(t, err, c.text)
		s := p.New(aMarket())
		for i := range market.Price(3) {
			s.Push(market.Candle{Open: 9900 + 100*i, High: 9950 + 100*i + 50, Low: 9850 + 100*i, Close: 9950 + 100*i,
				Volume: 250_000_000, Market: 1, Interval: market.Interval1h})
		}
		in := &Inputs{InPosition: true, Profit: 5, Equity: 200_000, Time: market.Time(630 * 60e9)}
		require.Equal(t, c.want, s.Explain(0, in), c.text)
	}
}

func TestAMissIsTheOnePartThatWasFalse(t *testing.T) {
	for _, c := range []struct {
		text, part, is string
		distance       float64
	}{
		{"close > 100 and volume > 3 and close < 110", "volume > 3", "volume 2.5 <= 3", 0.5 / 3},
		{"close > 110 and volume > 3", "", "", 0},   // two
		{"close > 110 and sma(200) > 3", "", "", 0}, // one is not known
		{"close > 110 or close < 50", "close > 110 or close < 50", "close 101.5 <= 110, close 101.5 >= 50", 1},
		{"close > 0 and dear", "dear", "close 101.5 <= 200", 98.5 / 200},
		{"close crosses above 101.5", "close crosses above 101.5",
			"close 101.5 does not cross above 101.5 (before: 100.5 and 101.5)", 0},
	} {
		p, err := Compile([]Rule{{"entry", c.text, Condition}}, nil, []Let{{"dear", "close > 200"}}, market.Interval1h)
		require.NoError(t, err, c.text)
		s := p.New(aMarket())
		for i := range market.Price(3) {
			s.Push(market.Candle{Open: 9900 + 100*i, High: 9950 + 100*i + 50, Low: 9850 + 100*i, Close: 9950 + 100*i,
				Volume: 250_000_000, Market: 1, Interval: market.Interval1h})
		}
		s.Watch(0)
		s.Missed(&Inputs{}, 7)
		met := Miss{}
		for _, m := range s.Misses() {
			if m.Times > 0 {
				met = m
			}
		}
		require.InDelta(t, c.distance, met.Distance, 1e-12, c.text)
		require.Equal(t, [2]string{c.part, c.is}, [2]string{met.Part, met.Is}, c.text)
	}
}

func TestExplainOfAPriceShowsIt(t *testing.T) {
	p, err := Compile([]Rule{{"stop", "close - 2 * tr", Price}}, nil, nil, market.Interval1h)
	require.NoError(t, err)
	s := p.New(aMarket())
	for range 2 {
		s.Push(market.Candle{Open: 10000, High: 10100, Low: 9900, Close: 10000, Market: 1, Interval: market.Interval1h})
	}
	require.Equal(t, "close - 2 * tr 96", s.Explain(0, nil))
}
