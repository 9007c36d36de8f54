package lang

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// author writes random rules that are well formed.
type author struct{ *rand.Rand }

func (a author) one(texts ...string) string { return texts[a.IntN(len(texts))] }
func (a author) n() int                     { return 1 + a.IntN(12) }

// series is one of the functions of a length over a series.
func (a author) over(words string, series string) string {
	interval := a.one("", "", "", `, "4h"`)
	return fmt.Sprintf("%s(%s, %d%s)", a.one(strings.Fields(words)...), series, a.n(), interval)
}

func (a author) price(depth int) string {
	if depth <= 0 {
		return a.one("open", "high", "low", "close", "hl2", `close("4h")`)
	}
	p := func() string { return a.price(depth - 1) }
	switch a.IntN(9) {
	case 0, 1, 2:
		return a.over("sma ema wma rma highest lowest median", p())
	case 3:
		return fmt.Sprintf("(%s)[%d]", p(), a.IntN(5))
	case 4:
		return fmt.Sprintf("(%s + %s)", p(), a.distance(depth-1))
	case 5:
		return fmt.Sprintf("%s(%s, %s)", a.one("min", "max"), p(), p())
	case 6:
		return fmt.Sprintf("(%s ? %s : %s)", a.condition(depth-1), p(), p())
	case 7:
		return fmt.Sprintf("valuewhen(%s, %s, %d)", a.condition(depth-1), p(), a.IntN(3))
	}
	return p()
}

func (a author) distance(depth int) string {
	if depth <= 0 {
		return a.one("(high - low)", "tr", fmt.Sprintf("atr(%d)", a.n()))
	}
	switch a.IntN(5) {
	case 0:
		return fmt.Sprintf("(%s - %s)", a.price(depth-1), a.price(depth-1))
	case 1:
		return fmt.Sprintf("abs(%s)", a.distance(depth-1))
	case 2:
		return a.over("stdev mom", a.price(depth-1))
	case 3:
		return fmt.Sprintf("%.2f * %s", a.Float64()*3, a.distance(depth-1))
	}
	return fmt.Sprintf("sma(%s, %d)", a.distance(depth-1), a.n())
}

func (a author) scale(depth int) string {
	if depth <= 0 {
		return fmt.Sprintf("rsi(%d)", a.n())
	}
	switch a.IntN(3) {
	case 0:
		return a.over("sma highest lowest", a.scale(depth-1))
	case 1:
		return fmt.Sprintf("(%s)[%d]", a.scale(depth-1), a.IntN(4))
	}
	return a.over("rsi", a.price(depth-1))
}

func (a author) condition(depth int) string {
	d := depth - 1
	sign := a.one("<", ">", "<=", ">=", "crosses above", "crosses below")
	switch n := a.IntN(13); {
	case depth <= 0 || n < 3:
		return fmt.Sprintf("%s %s %s", a.price(d), sign, a.price(d))
	case n == 3:
		return fmt.Sprintf("%s %s %d", a.scale(d), sign, 20+a.IntN(60))
	case n == 4:
		return fmt.Sprintf("%s %s %s", a.distance(d), sign, a.distance(d))
	case n == 5:
		return fmt.Sprintf("not (%s)", a.condition(d))
	case n == 6:
		return fmt.Sprintf("count(%s, %d) >= %d", a.condition(d), a.n(), a.IntN(5))
	case n == 7:
		return fmt.Sprintf("barssince(%s) < %d", a.condition(d), a.n())
	case n == 8:
		return fmt.Sprintf("any(%s, %d)", a.condition(d), a.n())
	case n == 10:
		return fmt.Sprintf("%s %% %d >= %d", fmt.Sprintf("barssince(%s)", a.condition(d)), a.n(), a.IntN(4))
	case n == 9:
		return fmt.Sprintf("%s(%s, %d)", a.one("rising", "falling"), a.price(d), 1+a.IntN(3))
	}
	return fmt.Sprintf("(%s) %s (%s)", a.condition(d), a.one("and", "or"), a.condition(d))
}

// merged are the 4h candles of 1h candles, those that have ended.
func merged(list []market.Candle) (out []market.Candle) {
	for _, c := range list {
		start := market.Interval4h.Floor(c.Start)
		if n := len(out); n == 0 || out[n-1].Start != start {
			c.Start, c.Interval = start, market.Interval4h
			out = append(out, c)
			continue
		}
		last := &out[len(out)-1]
		last.High, last.Low, last.Close = max(last.High, c.High), min(last.Low, c.Low), c.Close
		last.Volume += c.Volume
	}
	for len(out) > 0 && out[len(out)-1].End() > list[len(list)-1].End() {
		out = out[:len(out)-1]
	}
	return out
}

// played is the value of a rule after each candle, NaN where it is undefined. The 4h candle comes
// behind the hour that ends with it, as the engine delivers them.
func played(s *State, list, long []market.Candle) (values []float64) {
	for _, c := range list {
		s.Push(c)
		for len(long) > 0 && long[0].End() <= c.End() {
			s.PushOf(market.Interval4h, long[0])
			long = long[1:]
		}
		v, ok := s.Eval(0, &Inputs{})
		if !ok {
			v = math.NaN()
		}
		values = append(values, v)
	}
	return values
}

func TestCodeAndNaiveTwinAgree(t *testing.T) {
	compared, trues, shaky := 0, 0, 0
	for seed := range uint64(3000) {
		r := author{rand.New(rand.NewPCG(seed, 28))}
		text, want := r.condition(3), Condition
		switch seed % 4 {
		case 0:
			text, want = r.price(3), Price
		case 1:
			text, want = r.distance(3), Distance
		}
		p, err := Compile([]Rule{{"rule", text, want}}, nil, nil, market.Interval1h)
		var fault *Error
		if errors.As(err, &fault) && (strings.Contains(fault.Message, "holds the present candle") ||
			strings.Contains(fault.Message, "different series")) {
			continue
		}
		require.NoError(t, err, text)
		list := walk(seed, 120)
		long := merged(list)
		s := p.New(aMarket())
		got := played(&s, list, long)
		n := naive{streams: [][]market.Candle{list, long}}
		wanted := n.eval(parse(text), 0).at(&n)
		if n.shaky {
			shaky++
			continue
		}
		for i := range got {
			same := math.Abs(wanted[i]-got[i]) < 1e-3 || math.IsNaN(wanted[i]) && math.IsNaN(got[i])
			require.True(t, same, "seed %d, candle %d: the twin has %v, the code %v: %s", seed, i, wanted[i],
				got[i], text)
			trues += int(truth(got[i] == 1))
		}
		compared++
	}
	t.Logf("%d rules compared, %d true candles, %d decided by a rounding", compared, trues, shaky)
	require.Greater(t, compared, 2000)
	require.Greater(t, trues, 10_000)
}
