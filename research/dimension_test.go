package research

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestValuesOfADimension(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"k=5:20:5", "5 10 15 20"},
		{"k=5:22:5", "5 10 15 20"},
		{"k=0.1:0.4:0.1", "0.1 0.2 0.3 0.4"}, // exact: no 0.30000000000000004
		{"k=-2:2:2", "-2 0 2"},
		{"k=1:1:1", "1"},
		{"k=0.05%:0.15%:0.05%", "0.05% 0.1% 0.15%"},
		{"k=1m:3m:1", "1m 2m 3m"},
		{"k=1:100:x3", "1 3 9 27 81"},
		{"k=0.001:0.01:x2", "0.001 0.002 0.004 0.008"},
		{"k=1:10:x1.5", "1 2 3 5 8"}, // whole numbers: 1, 1.5, 2.25, 3.375, 5.06, 7.59
		{"k=1:1000:log4", "1 10 100 1000"},
		{"k=0.001:0.1:log3", "0.001 0.01 0.1"},
		{"k=1:3:log9", "1 2 3"},
		{"k=true,false", "true false"},
		{"k=adaptive, ohlc", "adaptive ohlc"},
		{"k=x", "x"},
		{"a.b=2021-01-01T00:00:00Z,2022-01-01T00:00:00Z", "2021-01-01T00:00:00Z 2022-01-01T00:00:00Z"},
	} {
		d, err := ParseDimension(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, strings.Join(d.Values, " "), c.text)
	}
}

func TestBadDimensionsSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "no key with values"},
		{"k", "no key with values"},
		{"k=", "no key with values"},
		{"=1,2", "no key with values"},
		{"k=1,2,1", "1 is there twice"},
		{"k=1,,2", "value 2 is empty"},
		{"k=20:30", "a range needs a step: FROM:TO:STEP, such as 20:30:1"},
		{"k=9:1:2", "9 is above 1"},
		{"k=1:9:0", "the step 0 is not above 0"},
		{"k=1:9:-1", "the step -1 is not above 0"},
		{"k=1:9:y", "is no number"},
		{"k=a:9:1", "is no number"},
		{"k=1m:9h:1m", "different units"},
		{"k=1m:9m:1h", "another unit"},
		{"k=0:9:x2", "above 0"},
		{"k=1:9:x1", "no factor above 1"},
		{"k=1:9:xNaN", "no factor above 1"},
		{"k=1:9:log1", "number of values"},
		{"k=1:900000000:1", "more than 1000000"},
		{"k=1:2:x1.0000000001", "more than 1000000"},
	} {
		_, err := ParseDimension(c.text)
		require.ErrorContains(t, err, c.want, c.text)
	}
}

func FuzzParseDimension(f *testing.F) {
	f.Add("a.b=5:100:5")
	f.Add("k=0.001:0.1:x2")
	f.Add("k=1%:9%:log12")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, ":") == 2 && len(text) > 24 {
			return // a long list takes long
		}
		d, err := ParseDimension(text)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, v := range d.Values {
			require.False(t, seen[v], "%s is there twice", v)
			require.NotEmpty(t, v)
			seen[v] = true
		}
		require.NotEmpty(t, d.Values)
	})
}

func TestASetIsItsPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var dims []Dimension
		for i := range rapid.IntRange(1, 4).Draw(t, "dimensions") {
			d := Dimension{Key: string(rune('a' + i))}
			for v := range rapid.IntRange(1, 5).Draw(t, "values") {
				d.Values = append(d.Values, string(rune('A'+v)))
			}
			dims = append(dims, d)
		}
		s, err := NewSpace(dims...)
		require.NoError(t, err)
		set := rapid.Uint64Range(0, s.Size()-1).Draw(t, "set")
		at, point := s.Places(set), make([]float64, len(dims))
		for i, setting := range s.Settings(set) {
			require.Equal(t, Setting{dims[i].Key, dims[i].Values[at[i]]}, setting)
			point[i] = (float64(at[i]) + rapid.Float64Range(0.01, 0.99).Draw(t, "within")) /
				float64(len(dims[i].Values))
			if rapid.Bool().Draw(t, "mirrored") {
				point[i] = 2 - point[i]
			}
		}
		require.Equal(t, set, s.At(point))
	})
}

func TestASpaceIsNeverEmptyOrTwice(t *testing.T) {
	_, err := NewSpace()
	require.ErrorIs(t, err, ErrEmptySpace)
	a := Dimension{"a", []string{"1", "2"}}
	_, err = NewSpace(a, a)
	require.ErrorContains(t, err, "a is varied twice")
	_, err = NewSpace(a, Dimension{Key: "b"})
	require.ErrorIs(t, err, ErrEmptySpace)
	many := make([]string, 1<<20)
	_, err = NewSpace(Dimension{"a", many}, Dimension{"b", many}, Dimension{"c", many})
	require.ErrorContains(t, err, "2^53")
}
