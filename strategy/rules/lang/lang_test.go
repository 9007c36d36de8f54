package lang

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// aMarket is the market of the tests.
func aMarket() *market.Market {
	return &market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, AmountDigits: 8, QuoteDigits: 2, VolumeDigits: 8}
}

// compiled compiles one text.
func compiled(text string, want Want) (*Program, error) {
	return Compile([]Rule{{"entry", text, want}}, map[string]float64{"bottom": 30, "n": 20, "half": 30.5},
		[]Let{{"trend", "close > ema(50)"}, {"mean", "sma(n)"},
			{"me", "1 + me"}, {"many", strings.Repeat("1 +", 60) + " 1"}}, market.Interval1h, "model")
}

func TestFaultsAreNamedWithTheirPlaceAndTheCure(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "column 1: the text is empty"},
		{"rsi(14) > close", "column 1: rsi(14) is 0 to 100, close is a price"},
		{"close > 3 and\nrsl(14) < 30", `line 2, column 1: unknown function "rsl"; the nearest is "rsi(s, n)"`},
		{"clos > 3", `column 1: unknown word "clos"; the nearest is "close"`},
		{"close = 3", `column 7: "=" sets nothing here; did you mean "=="?`},
		{"close > 3 & open > 3", `column 11: unknown sign "&"; did you mean "and"?`},
		{"1 < close < 3", "column 11: comparisons do not chain: write a < b and b < c"},
		{"rsi(half) < 3", "column 5: a length must be a whole number from 1 to 5000, half is 30.5"},
		{"rsi(0) < 3", "column 5: a length must be a whole number from 1 to 5000"},
		{"rsi(close) < 3", "column 5: a length must be a number or a param, close changes with the market"},
		{"close", "column 1: close is a price; a condition is wanted here"},
		{"close > atr(14)", "column 1: close is a price, atr(14) is a distance between prices"},
		{"profit[1] > 3", "column 1: profit has no history: position and clock are known for the present candle alone"},
		{"(close > 3", `column 11: the text ends too early; ")" is expected`},
		{"close > 3)", `column 10: unexpected ")"; the end or an operator is expected`},
		{"sma() > 3", "column 1: write sma(s, n), or sma(n) for that of close; here sma has 0 arguments"},
		{"macd(12, 26).hist > 0", "column 1: write macd(s, fast, slow, signal), or macd(fast, slow, signal) for that " +
			"of close; here macd has 2 arguments"},
		{"close > vwap", "column 9: write vwap(n); here vwap has 0 arguments"},
		{"RSI(14) < 30", `column 1: unknown function "RSI"; the nearest is "rsi(s, n)"`},
		{"bars_since_entry(3) > 2", "column 1: bars_since_entry takes no brackets"},
		{"close > sma(20, 1d)", `column 17: an interval stands in quotes: "1d"`},
		{"close > 3x", `column 9: "3x" is not a number, and no name: a name begins with a letter`},
		{"close > sma(20", `column 15: the text ends too early; "," or ")" is expected`},
		{"strategy.position_size > 0", `column 1: unknown word "strategy"; here it is in_position, position, ` +
			`entry_price or profit`},
		{"dayofweek == 1", `column 1: unknown word "dayofweek"; here it is weekday (Monday is 1)`},
		{"entry > 3", "column 1: entry is a rule, and rules read none: write its text as a let name, and read that " +
			"name in both"},
		{`close("1x") > 3`,
			`column 7: "1x" is no interval ([1m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 1W 1M]) ` +
				`and no market (such as "BTC-EUR")`},
		{"close + rsi(14) > 3", "column 1: close is a price, rsi(14) is 0 to 100"},
		{"close > 3 + (open < 3)", "column 13: + takes numbers; (open < 3) is a condition"},
		{"modle.value > 0.5", `column 1: modle is no source of signals; the nearest is "model"`},
		{"model.valeu > 0.5",
			`column 7: a signal has value, target, age, action, position; the nearest to "valeu" is "value"`},
		{`model.action == "bye"`, `column 17: model.action is never "bye"`},
		{"model.action > 3", "column 1: > takes numbers; model.action is a word"},
		{"model.value[1] > 3",
			"column 1: model.value has no history: position and clock are known for the present candle alone"},
		{"sar(0.2, 0.02, 0.1).up",
			"column 1: sar(0.2, 0.02, 0.1): it makes a parabolic line from 0.2 by 0.02 to 0.1"},
		{"me > 3", "let.me: column 5: me stands for itself"},
		{"many > 3 and many > 4",
			"let.many: column 40: more than 200 numbers, words and operators; let names count as what they stand for"},
		{"close < open - 2%", "column 9: 2% of what? Write open * (1 - 2%)"},
		{"close > 2%", "column 1: close is a price, 2% is a percentage"},
		{"1 / 0 > 3", "column 1: 1 / 0 has no result"},
		{"close % rsi(2) > 3", "column 1: close is a price, rsi(2) is 0 to 100"},
		{"pow(close, 2) > 3", "column 1: pow takes numbers without unit; close is a price: divide it by another first"},
		{"close > $3", "column 9: unknown sign '$'"},
		{"close ^ 2 > 3", `column 7: "^" is no sign here; write pow(a, b)`},
		{"close ** 2 > 3", `column 7: "**" is no sign here; write pow(a, b)`},
		{"close => open", `column 7: "=>" is no sign here; write >=`},
		{"close ≥ open", `column 7: "≥" is no sign here; write >=`},
		{"x := sma(20)", `column 3: ":=" is no sign here; write the text into [rules.let] and its name here`},
		{"close > highest(n)",
			"column 1: highest(n) holds the present candle: close cannot be above it; write highest(n)[1]"},
		{"lowest(n) > low", "column 1: lowest(n) holds the present candle: low cannot be below it; write lowest(n)[1]"},
		{"close crosses above donchian(2).upper",
			"column 1: donchian(2).upper holds the present candle: close cannot be above it; " +
				"write donchian(2).upper[1]"},
		{"supertrend(3, 10).up",
			"column 1: supertrend(n, k): the first number is larger than the second; here they are 3 and 10"},
		{"bb(20, 2) > close",
			"column 1: bb has the lines upper, middle, lower, width, percent: write bb(s, n, k).percent"},
		{"log(close) > 3", "column 1: log takes a number without unit; close is a price: divide it by another first"},
		{"close > \"a", "column 9: a text begins here and does not end"},
		{"close[501] > 3", "column 7: the number of candles ago must be a whole number from 0 to 500"},
	} {
		_, err := compiled(c.text, Condition)
		if !strings.HasPrefix(c.want, "let.") {
			c.want = "entry: " + c.want
		}
		require.EqualError(t, err, c.want, c.text)
	}
}

func TestEachWordHasAnExampleThatCompiles(t *testing.T) {
	for _, w := range Words() {
		p, err := Compile([]Rule{{w.Name, w.Example, Condition}}, nil, nil, market.Interval1h, "model")
		require.NoError(t, err, w.Name)
		require.Equal(t, w.Warmup, p.Warmup())
		require.Contains(t, w.Example, w.Name)
	}
}

func TestRulesReadSignals(t *testing.T) {
	in := &Inputs{Time: market.Time(10 * time.Minute), Signals: []market.Signal{
		{Source: "model", Value: 0.7, HasValue: true, Known: market.Time(4 * time.Minute), Action: market.ActBuy}, {}}}
	for _, c := range []struct {
		text      string
		v         float64
		isDefined bool
	}{
		{"model.value > 0.6", 1, true},
		{`model.action == "buy" and model.age <= 6`, 1, true},
		{`"sell" != model.action`, 1, true},
		{`model.position == "long"`, 0, false}, // it has none
		{"model.target > 0", 0, false},
		{"model.value > 0 and other.value > 0", 0, false}, // that was not heard
		{"na(other.value) and model.value > 0", 1, true},
	} {
		p, err := Compile([]Rule{{"entry", c.text, Condition}}, nil, nil, market.Interval1h, "other", "model")
		require.NoError(t, err, c.text)
		own := *in
		own.Signals = nil
		for _, name := range p.Signals() {
			own.Signals = append(own.Signals, in.Signals[map[string]int{"model": 0, "other": 1}[name]])
		}
		s := p.New(aMarket())
		v, ok := s.Eval(0, &own)
		require.Equal(t, c.v, v, c.text)
		require.Equal(t, c.isDefined, ok, c.text)
	}
}

func TestAProgramSaysWhatItReads(t *testing.T) {
	p, err := Compile([]Rule{
		{"entry", `crossover(close, sma(n, "4h")) and open("ETH-EUR") > 1 and uptrend`, Condition},
		{"exit", "profit > 5 or between(\"10:00\", \"11:00\") or nz(held, 1) > 2", Condition},
	}, map[string]float64{"n": 20, "unused": 1}, []Let{{"uptrend", "close > close[3]"}, {"held", "bars_since_entry"},
		{"never", "close"}}, market.Interval1h)
	require.NoError(t, err)
	require.Equal(t, []string{"held", "n", "uptrend"}, p.Names())
	require.Equal(t, map[market.Interval]int{market.Interval1h: 4, market.Interval4h: 20}, p.Intervals())
	require.Equal(t, []string{"ETH-EUR"}, p.Reads())
	require.Empty(t, p.Inputs(0))
	require.Equal(t, []string{"bars_since_entry", "hour", "minute", "profit"}, p.Inputs(p.Index("exit")))
	require.Equal(t, -1, p.Index("stop"))
}

func TestUnitsDecideWhereARuleFits(t *testing.T) {
	all := map[Want]string{Condition: "condition", Price: "price", Distance: "distance", Number: "number"}
	for _, c := range []struct {
		text string
		fits string
	}{
		{"close", "price"},
		{"close - open", "distance"},
		{"close - 2.5 * atr(14)", "price"},
		{"2.5 * atr(14)", "distance"},
		{"close * 1.02", "price distance"}, // 2 % more of a price, or 102 % as a distance
		{"(high + low) / 2", "price distance"},
		{"close / open", "number"},
		{"100", "price distance number"},
		{"close + 100", "price"},
		{"rsi(14) - 50", "number"},
		{"roc(10)", "number"},
		{"volume * close", ""},
		{"sqrt(variance(20))", "price distance"},
		{"bb(20, 2).percent", "number"},
		{"macd(12, 26, 9)", "distance"},
		{"max(close, open)", "price"},
		{"close > open ? high : low", "price"},
		{"close > open", "condition"},
		{"-atr(14)", "distance"},
		{"close - close(\"ETH-EUR\")", "distance"},
	} {
		for want, name := range all {
			_, err := Compile([]Rule{{"rule", c.text, want}}, nil, nil, market.Interval1h)
			require.Equal(t, strings.Contains(c.fits, name), err == nil, "%s as a %s: %v", c.text, name, err)
		}
	}
}

func TestNumbersTakeTheUnitsOfWhatStandsBesideThem(t *testing.T) {
	other := aMarket()
	other.ID, other.PriceDigits, other.VolumeDigits = 2, 5, 3
	in := &Inputs{InPosition: true, EntryPrice: 29, Profit: 2, Equity: 12_345, BarsSinceExit: -1}
	for _, text := range []string{
		"close == 0.29", "close == bottom", "close + 0.01 == 0.3", "close * volume == 0.725", "volume == 2.5",
		"profit == 2%", "profit == 1 * 2%", "close * (1 + 100%) == 0.58", "roc(1) == 0", "equity == 123.45",
		`close("ETH-EUR") == 0.29`, `volume("ETH-EUR") == 2.5`, `close == close("ETH-EUR")`,
		`sma("ETH-EUR", 1) == 1 or true`, `sma(close, 1, "ETH-EUR") * volume("ETH-EUR") == 0.725`,
		"bars_since_exit > 1000000", "entry_price == 0.29", "-close == -0.29", "min(close, 0.3, 0.4) == 0.29",
		"ta.sma(close, 1) == math.max(0.29, 0.2)", "!(close < 0.29) && close < 1 || false", "(close != 0.3) == true",
		"close > 0.2_5 and close > .25 and close < 29e-1", "1 + 2 * 3 - 4 / 2 == 5", "close[0] == close[1]",
		"close == (hour < 12 ? 0.29 : 1)", "5% == 0.05", "rsi(1) == 50%", "(hour < 12 ? 5% : 1) == 0.05",
		"(close > open ? 1 : 2)[1] == 2",
		"close * (hour < 12 ? 100% : 2) == 0.29", "2 * (hour < 12 ? 1 : 3) == 2", "min(5, hour < 12 ? 1 : 3) == 1",
		"profit == (hour < 12 ? 2% : 3%)", "-(hour < 12 ? 5% : 1) == -0.05", "abs(hour < 12 ? -5% : 1) == 0.05",
		"close * close == 0.0841", "sqrt(close * close) == 0.29",
	} {
		p, err := Compile([]Rule{{"rule", text, Condition}}, map[string]float64{"bottom": 0.29}, nil, market.Interval1h)
		if strings.HasPrefix(text, "sma(\"") {
			require.ErrorContains(t, err, "stands last in the brackets")
			continue
		}
		require.NoError(t, err, text)
		s := p.New(aMarket(), []*market.Market{other}[:len(p.Reads())]...)
		for range 2 {
			s.Push(market.Candle{Open: 29, High: 29, Low: 29, Close: 29, Volume: 250_000_000, Market: 1})
			s.PushOf(market.Interval1h, market.Candle{Open: 29, High: 29, Low: 29, Close: 29_000, Volume: 2_500,
				Market: 2})
		}
		v, ok := s.Eval(0, in)
		require.True(t, ok && v == 1, "%s: %s", text, s.Explain(0, in))
	}
}

func TestWordsOfThePositionAreNotKnownWithoutOne(t *testing.T) {
	for i, word := range inputs {
		p := anything(t, word.name)
		s := p.New(aMarket())
		in := Inputs{EntryPrice: 1, Cost: 1, HighestSinceEntry: 1, LowestSinceEntry: 1, Profit: 1, BarsSinceEntry: 1}
		_, ok := s.Eval(0, &in)
		require.Equal(t, i == 0 || i >= held, ok, word.name)
		in.InPosition = true
		_, ok = s.Eval(0, &in)
		require.True(t, ok, word.name)
	}
}

func TestRestsAndPowers(t *testing.T) {
	for text, want := range map[string]float64{"7 % 3": 1, "-7 % 3": -1, "7.5%2": math.NaN(), "pow(2, 10)": 1024,
		"pow(close / close, 0.5) + hour % 4": 3, "2 * 7 % 4": 2, "rsi(2) % 1": math.NaN(), "(close - 10) % 3": 1,
		"pow(close / close - 2, 0.5)": math.NaN()} {
		p, err := Compile([]Rule{{"rule", text, Figure}}, nil, nil, market.Interval1h)
		if text == "7.5%2" {
			require.ErrorContains(t, err, `unexpected "2"`, "a percentage, as it stands")
			continue
		}
		require.NoError(t, err, text)
		s := p.New(&market.Market{ID: 1})
		s.Push(market.Candle{Open: 11, High: 11, Low: 11, Close: 11, Market: 1})
		v, ok := s.Eval(0, &Inputs{Time: market.Time(6 * time.Hour)})
		if require.Equal(t, want == want, ok, text); ok {
			require.InDelta(t, want, v, 1e-12, text)
		}
	}
}
