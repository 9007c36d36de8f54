package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// trial is a comparison of two sides that exist in memory alone, with a log of the runs.
func trial(t *testing.T, pairs int) (c *comparison, out *bytes.Buffer) {
	out = &bytes.Buffer{}
	c = &comparison{stdout: out, stderr: io.Discard, pairs: pairs, core: -1, bound: 1.03, rows: regexp.MustCompile("")}
	c.old, c.new = &tree{name: "old", revision: "aaa"}, &tree{name: "new", revision: "bbb"}
	var err error
	c.interval, err = medianInterval(pairs, confidence)
	require.NoError(t, err)
	return c, out
}

// fake is a source whose figures are made up: figures returns those of a side's n-th run, the first
// of which is no pair's.
func fake(figures func(side string, n int) []figure) *source {
	runs := map[string]int{}
	return &source{
		name:    "fake",
		prepare: func(context.Context, *tree) error { return nil },
		measure: func(_ context.Context, t *tree) ([]figure, error) {
			n := runs[t.name]
			runs[t.name]++
			return figures(t.name, n), nil
		},
	}
}

// play tries the source on both sides, measures all pairs and returns the rows of the report by
// name.
func play(t *testing.T, c *comparison, s *source) map[string]rowJSON {
	was, err := c.try(t.Context(), s, c.old)
	require.NoError(t, err)
	is, err := c.try(t.Context(), s, c.new)
	require.NoError(t, err)
	var both []*source
	if c.join(was, is) {
		both = append(both, s)
	}
	require.NoError(t, c.measure(t.Context(), both))
	c.json = true
	require.NoError(t, c.report())
	var all comparisonJSON
	require.NoError(t, json.Unmarshal(c.stdout.(*bytes.Buffer).Bytes(), &all))
	rows := map[string]rowJSON{}
	for _, row := range all.Rows {
		rows[row.Row] = row
	}
	return rows
}

func TestTheSidesRunInTurnAndSwapTheirOrder(t *testing.T) {
	c, _ := trial(t, 5)
	var log []string
	play(t, c, fake(func(side string, _ int) []figure {
		log = append(log, side)
		return []figure{{"one", "ns", 100}}
	}))
	require.Equal(t, "old new", strings.Join(log[:2], " "), "the first run, which tells the rows")
	require.Equal(t, "old new new old old new new old old new", strings.Join(log[2:], " "))
}

func TestARowIsJudgedByItsWholeInterval(t *testing.T) {
	c, _ := trial(t, 15)
	rows := play(t, c, fake(func(side string, n int) []figure {
		if side == "old" {
			return []figure{
				{"same", "ns", 100}, {"slow", "ns", 100}, {"just", "ns", 100}, {"fast", "ns", 100},
				{"rate", "req/s", 100},
			}
		}
		noise := float64(n%5) - 2 // -2 to 2, three times each
		return []figure{
			{"same", "ns", 100 + noise}, {"slow", "ns", 106 + noise}, {"just", "ns", 104 + noise},
			{"fast", "ns", 90 + noise}, {"rate", "req/s", 90},
		}
	}))
	verdicts := map[string]string{}
	for name, row := range rows {
		verdicts[name] = row.Verdict
	}
	require.Equal(t, map[string]string{
		"same": same, "slow": slower, "just": same, "fast": faster, "rate": slower,
	}, verdicts)
	require.InDelta(t, 1.06, *rows["slow"].Ratio, 1e-9)
	require.InDelta(t, 1.05, *rows["slow"].Low, 1e-9)
	require.InDelta(t, 1.07, *rows["slow"].High, 1e-9)
	require.InDelta(t, 100.0/90, *rows["rate"].Ratio, 1e-9)
	require.Len(t, rows["slow"].Ratios, 15)
}

func TestARowOfOneSideIsShownAndNotJudged(t *testing.T) {
	c, _ := trial(t, 5)
	rows := play(t, c, fake(func(side string, _ int) []figure {
		return []figure{{"both", "ns", 7}, {"alone in " + side, "ns", 5}}
	}))
	require.Equal(t, onlyOld, rows["alone in old"].Verdict)
	require.Equal(t, onlyNew, rows["alone in new"].Verdict)
	require.Nil(t, rows["alone in new"].Ratio)
	require.InDelta(t, 5, *rows["alone in new"].New, 0)
	require.Equal(t, same, rows["both"].Verdict)
}

func TestASideWithoutTheSourceHasNoFigures(t *testing.T) {
	c, _ := trial(t, 5)
	s := fake(func(string, int) []figure { return []figure{{"one", "ns", 1}} })
	s.prepare = func(_ context.Context, t *tree) error {
		if t == c.old {
			return errAbsent
		}
		return nil
	}
	require.Equal(t, onlyNew, play(t, c, s)["one"].Verdict)
}

func TestARowThatComesAndGoesIsAnError(t *testing.T) {
	c, _ := trial(t, 5)
	s := fake(func(_ string, n int) []figure {
		if n == 3 {
			return nil
		}
		return []figure{{"one", "ns", 1}}
	})
	require.True(t, c.join([]figure{{"one", "ns", 1}}, []figure{{"one", "ns", 1}}))
	require.ErrorContains(t, c.measure(t.Context(), []*source{s}), `row "one": only 4 of 5 pairs`)
}

func TestAFigureOfNothingIsRefused(t *testing.T) {
	c, _ := trial(t, 5)
	s := fake(func(string, int) []figure { return []figure{{"one", "ns", 0}} })
	_, err := c.try(t.Context(), s, c.new)
	require.ErrorContains(t, err, `row "one" is 0`)
}

func TestTheTableIsMarkdownWithAlignedColumns(t *testing.T) {
	c, out := trial(t, 5)
	c.results = []*result{
		{row: "64 events in one commit", unit: "µs", old: slices.Repeat([]float64{2}, 5),
			new: slices.Repeat([]float64{1}, 5), ratios: slices.Repeat([]float64{0.5}, 5)},
		{row: "new one", unit: "ns", new: []float64{12345.6}},
	}
	require.NoError(t, c.report())
	require.Equal(t, `old: aaa
new: bbb
5 pairs on no particular core; ratio: cost of new divided by cost of old, the median of the pairs
interval: contains the true median in 93.8 % of comparisons; slower: the whole interval is above 1.03

| row                     | unit | old | new       | ratio | 90 % interval  | verdict     |
|-------------------------|------|-----|-----------|-------|----------------|-------------|
| 64 events in one commit | µs   | 2   | 1         | 0.500 | 0.500 to 0.500 | faster      |
| new one                 | ns   |     | 1.235e+04 |       |                | only in new |
`, out.String())
}

func TestBadUsageHasItsOwnExitCode(t *testing.T) {
	for _, args := range [][]string{
		{}, {"a", "b", "c"}, {"a", "--pairs", "4"}, {"a", "--pairs", "many"}, {"a", "--rows", "("},
		{"a", "--bound", "0.9"}, {"a", "--nonsense"},
	} {
		var out, errs bytes.Buffer
		require.Equal(t, exitUsage, execute(t.Context(), args, &out, &errs), "%q", args)
		require.Contains(t, errs.String(), "Usage:", "%q", args)
	}
	require.False(t, errors.Is(errSlower, errUsage))
}
