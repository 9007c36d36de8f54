package research

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// A set of these searches takes a second: 96,000 candles, and 4,000 for the set itself.
func TestATimeChoosesMethodAndSets(t *testing.T) {
	hour := market.Time(time.Hour)
	for _, c := range []struct {
		asked  Method
		number int
		within time.Duration
		want   Method
		sets   int
	}{
		{Grid, 0, 1000 * time.Second, Grid, 0},
		{Grid, 0, 999 * time.Second, Sobol, 999},
		{Grid, 0, 100 * time.Second, Sobol, 100},
		{Grid, 0, 99 * time.Second, Halving, 494}, // four rungs: 0.2 s a set
		{Grid, 0, 5 * time.Second, Halving, 0},    // too short
		{Random, 1000, 1000 * time.Second, Random, 1000},
		{Random, 1000, 30 * time.Second, Random, 30},
		{CMAES, 1000, 30 * time.Second, CMAES, 30},
		{Random, 1000, 9 * time.Second, Random, 9}, // too short
	} {
		p := Pace{Start: Start{Sets: 1000}, Candles: 96_000, runs: 1e-5,
			sweep: &sweep{candle: hour, job: Job{Method: c.asked, Sets: c.number, To: 96_000 * hour}}}
		method, sets, err := p.Fit(c.within)
		require.Equal(t, c.want, method, "%s within %s", c.asked, c.within)
		if c.within < 10*time.Second {
			require.ErrorIs(t, err, ErrTimeTooShort)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.sets, sets, "%s within %s", c.asked, c.within)
		if sets > 0 {
			require.LessOrEqual(t, p.Expect(method, sets), c.within)
			require.Greater(t, p.Expect(method, sets+1), c.within)
		}
	}
}
