package lang

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/rules/rulestest"
)

// A row has the values that Push and Eval have candle by candle, whatever its length and however
// many of its candles are passed at once; and so have the cells, which a rule is explained from.
func TestRowsHaveTheValuesOfSingleCandles(t *testing.T) {
	compared, trues, unknowns, misses := 0, 0, 0, 0
	for seed := range uint64(1000) {
		r := rulestest.Author{Rand: rand.New(rand.NewPCG(seed, 29))}
		rules := []Rule{{"a", r.Condition(3), Condition}, {"b", r.Condition(2), Condition}}
		if seed%8 == 0 {
			rules[1].Text = "sma(3) crosses above sma(8) or na(ema(5)) or (close > open ? (log(close / open - 1) > " +
				"-8 ? close : low) : (close < open ? high : open)) > 1.001 * ema(2) + atr(2)"
		}
		if seed%8 == 1 {
			rules[1].Text = "open crosses below close or close crosses above open[1]"
		}
		p, err := Compile(rules, nil, nil, market.Interval1h)
		if err != nil || !p.Rows(0, 1) {
			continue
		}
		list := walk(seed, 200)
		for i := range list { // gaps, and candles that stand still
			if list[i].Volume%3 == 0 {
				list[i].Close = list[i].Open
			}
			if list[i].Volume%7 == 0 {
				list[i].Open, list[i].High = list[i].Open+30_000, list[i].High+30_000
				list[i].Low, list[i].Close = list[i].Low+30_000, list[i].Close+30_000
			}
		}
		one, many := p.New(aMarket()), p.New(aMarket())
		one.Watch(0)
		many.Watch(0)
		for i := 0; i < len(list); {
			if r.IntN(3) == 0 { // one candle, ahead or not
				one.Push(list[i])
				many.Push(list[i])
				i++
				continue
			}
			ahead := many.Look(list[i:min(len(list), i+1+r.IntN(90))], 0, 1)
			var is, unknown [2]uint64
			for k := range is {
				is[k], unknown[k] = many.Ahead(k)
			}
			n := min(r.IntN(ahead+1), len(list)-i)
			watched := r.Uint64()
			many.MissedAhead(watched & (1<<n - 1) &^ is[0])
			for k := range n {
				one.Push(list[i+k])
				if v, known := one.Eval(0, nil); known && v == 0 && watched>>k&1 == 1 {
					one.Missed(nil, list[i+k].End())
				}
				for rule := range is {
					v, known := one.Eval(rule, nil)
					at := uint64(1) << k
					text := rules[rule].Text
					require.Equal(t, known, unknown[rule]&at == 0, "seed %d, candle %d: %s", seed, i+k, text)
					require.Equal(t, v == 1, is[rule]&at != 0, "seed %d, candle %d: %s", seed, i+k, text)
					trues += int(v)
					if !known {
						unknowns++
					}
				}
			}
			many.Pass(n)
			if i += n; n == 0 {
				continue
			}
			for _, one := range []int{0, 1} {
				v, known := many.Eval(one, nil)
				require.Equal(t, is[one]>>(n-1)&1 == 1, known && v == 1)
			}
			for cell := range one.cells {
				if read := cell >= temporaries && !unused(p, cell); read {
					require.Equal(t, math.Float64bits(one.cells[cell]), math.Float64bits(many.cells[cell]),
						"seed %d, candle %d, cell %d: %s and %s", seed, i, cell, rules[0].Text, rules[1].Text)
				}
			}
		}
		require.Equal(t, one.Misses(), many.Misses(), "seed %d: %s", seed, rules[0].Text)
		for _, m := range one.Misses() {
			misses += m.Times
		}
		compared++
	}
	t.Logf("%d pairs of rules, %d true, %d undefined, %d near misses", compared, trues, unknowns, misses)
	require.Greater(t, misses, 10_000)
	require.Greater(t, compared, 200)
	require.Greater(t, trues, 10_000)
	require.Greater(t, unknowns, 10_000)
}

// unused reports whether a cell is a field of the candle that no rule reads.
func unused(p *Program, cell int) bool {
	f := cell - p.streams[0].fields
	s := p.New(aMarket())
	return f >= 0 && f < fields && !s.newRow().reads[f]
}

func TestOnlyTheCandlesThatAreAheadMayCome(t *testing.T) {
	p, err := Compile([]Rule{{"a", "close > open", Condition}}, nil, nil, market.Interval1h)
	require.NoError(t, err)
	s, list := p.New(aMarket()), walk(1, 3)
	s.Look(list, 0)
	s.Push(list[0])
	other := list[1]
	other.Start++
	require.PanicsWithValue(t, "lang: the candle that starts at 2015-08-19T17:00:00Z was ahead, and not the one at "+
		"2015-08-19T17:00:00.000000001Z", func() { s.Push(other) })
}

func TestARowAllocatesNothing(t *testing.T) {
	list := walk(1, 300)
	for _, text := range texts {
		p, err := Compile([]Rule{{"rule", text, Condition}}, nil, nil, market.Interval1h)
		require.NoError(t, err)
		if !p.Rows(0) {
			continue
		}
		s, i := p.New(aMarket()), 0
		s.Look(list, 0)
		s.Pass(64)
		require.Zero(t, testing.AllocsPerRun(3, func() {
			i += 64
			n := s.Look(list[i:], 0)
			s.Pass(n)
		}), text)
	}
}
