package lang

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/rules/rulestest"
)

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
		r := rulestest.Author{Rand: rand.New(rand.NewPCG(seed, 28))}
		text, want := r.Condition(3), Condition
		switch seed % 4 {
		case 0:
			text, want = r.Price(3), Price
		case 1:
			text, want = r.Distance(3), Distance
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
