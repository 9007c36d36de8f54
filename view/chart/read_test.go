package chart_test

import (
	"encoding/json"
	"math"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/view/chart"
)

// readings are the values of a picture as its script reads them.
type readings struct {
	Panels []struct {
		Digits int
		Unit   string
		Series []struct {
			Name, Role, Kind string
			Rows             []string
			X                []float64
			Y                [][]*float64
		}
	}
	Zone string
}

func readingsOf(t *testing.T, c chart.Chart) (all readings) {
	found := regexp.MustCompile(` data-read='([^']*)'`).FindStringSubmatch(element(t, c))
	require.NotNil(t, found)
	require.NoError(t, json.Unmarshal([]byte(found[1]), &all))
	return all
}

func values(list []*float64) (out []any) {
	for _, v := range list {
		if v == nil {
			out = append(out, nil)
		} else {
			out = append(out, *v)
		}
	}
	return out
}

func TestTheValuesOfAPictureAreInIt(t *testing.T) {
	c := one(chart.Line{Name: "a 'b' <c>", Points: points(1.23456, math.NaN(), 90)},
		chart.Marks{Name: "bought", Role: chart.Third, Points: []chart.Point{{X: 2, Y: 5}, {X: 1, Y: 4}}},
		chart.Line{Points: points(3, 4)}) // without a name, beside others
	all := readingsOf(t, c)
	require.Len(t, all.Panels[0].Series, 2)
	line, marks := all.Panels[0].Series[0], all.Panels[0].Series[1]
	require.Equal(t, "a 'b' <c>", line.Name)
	require.Equal(t, []float64{0, 1, 2}, line.X)
	require.Equal(t, []any{1.23, nil, 90.0}, values(line.Y[0])) // a thousandth of the range
	require.Equal(t, []string{"third", "spot"}, []string{marks.Role, marks.Kind})
	require.Empty(t, all.Zone)

	// Candles have four rows, a gap, and an end. Times are steps.
	c = one(chart.Candles{Candles: []chart.Candle{{0, 60, 10, 12, 9, 11}, {120, 180, 11, 11, 8, 9}}})
	c.Times = true
	all = readingsOf(t, c)
	candles := all.Panels[0].Series[0]
	require.Equal(t, "UTC", all.Zone)
	require.Equal(t, []float64{0, 60, 60, 60}, candles.X)
	require.Equal(t, []any{12.0, nil, 11.0, nil}, values(candles.Y[1]))

	// A picture file has no script, and no values for it.
	file, err := c.SVG()
	require.NoError(t, err)
	require.NotContains(t, string(file), "data-read")
}

// However many points a line has, a picture has a value for each of its columns at most.
func TestTheValuesOfAPictureAreAsManyAsItsColumns(t *testing.T) {
	many := make([]float64, 100_000)
	for i := range many {
		many[i] = float64(i % 100)
	}
	line := readingsOf(t, one(chart.Line{Points: points(many...)})).Panels[0].Series[0]
	require.LessOrEqual(t, len(line.X), 240)
	require.Greater(t, len(line.X), 150)
	require.InDelta(t, 99_999, line.X[len(line.X)-1], 1)
}
