package lang

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func FuzzCompile(f *testing.F) {
	for _, w := range Words() {
		f.Add(w.Example)
	}
	for _, text := range append(texts, "", "((((", "close = 3", `sma(200, "1d")[1] > 2%`, "not -1 < x ? y : z", "\xff",
		"1e999 > close", "0/0 > 0", "close[1][1][1] crosses above open", "a < b < c", "rsi(14).k") {
		f.Add(text)
	}
	list := walk(1, 30)
	long := merged(list)
	f.Fuzz(func(t *testing.T, text string) {
		began := time.Now()
		params := map[string]float64{"x": 3, "y": 0.5}
		lets := []Let{{"twice", "close + close"}, {"often", text}}
		p, err := Compile([]Rule{{"a", text, Condition}, {"b", "often", Price}}, params, lets, market.Interval1h)
		var fault *Error
		if err != nil {
			require.ErrorAs(t, err, &fault)
			require.NotEmpty(t, fault.Message)
			if fault.Line > 0 {
				require.LessOrEqual(t, fault.Line, 1+strings.Count(text, "\n"))
				require.LessOrEqual(t, fault.Column, 1+len(text))
			}
		}
		if p, err = Compile([]Rule{{"a", text, Condition}}, params, nil, market.Interval1h); err == nil {
			others := make([]*market.Market, len(p.Reads()))
			for i := range others {
				others[i] = aMarket()
				others[i].ID += market.ID(i + 1)
			}
			s := p.New(aMarket(), others...)
			played(&s, list, long)
			s.Explain(0, &Inputs{})
		}
		require.Less(t, time.Since(began), 5*time.Second, text)
	})
}

func TestHostileTextsAreRefusedAtOnce(t *testing.T) {
	nested := "close > 1"
	for range 40 {
		nested = "mom(" + strings.TrimSuffix(nested, " > 1") + ", 1) > 1"
	}
	lets := []Let{{"a0", "close"}}
	for i := range 30 { // each let doubles the one before
		last := lets[i].Name
		lets = append(lets, Let{fmt.Sprint("a", i+1), last + " + " + last})
	}
	for _, c := range []struct{ text, want string }{
		{strings.Repeat("(", 1_000_000), "the text has 1000000 bytes; the limit is 2000"},
		{strings.Repeat("(", 1_900), "more than 32 brackets in each other"},
		{strings.Repeat("-", 1_900), "more than 32 brackets in each other"},
		{strings.Repeat("not ", 400), "more than 32 brackets in each other"},
		{"close" + strings.Repeat("[1]", 500) + " > 1", "more than 200 numbers, words and operators"},
		{strings.Repeat("1+", 300) + "1 > 2", "more than 200 numbers, words and operators"},
		{nested, "more than 32 brackets in each other"},
		{"a30 > 1", "more than 200 numbers, words and operators"},
	} {
		began := time.Now()
		_, err := Compile([]Rule{{"entry", c.text, Condition}}, nil, lets, market.Interval1h)
		var fault *Error
		require.True(t, errors.As(err, &fault))
		require.Contains(t, fault.Message, c.want)
		require.Less(t, time.Since(began), time.Second)
	}
	deep := "close"
	for range 25 {
		deep = "mom(" + deep + ", 1)"
	}
	p, err := Compile([]Rule{{"entry", deep + " > 1", Condition}}, nil, nil, market.Interval1h)
	require.NoError(t, err)
	require.Less(t, len(p.code), 500, "an argument is computed once, however often a function reads it")
}
