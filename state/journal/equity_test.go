package journal

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestEquityIsThinnedAsItAges(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	start := market.Time(1_699_920_000_000_000_000) // midnight
	day := market.Time(24 * time.Hour)
	const days = 3*365 + 10
	for hour := range 24 * days { // every half hour
		for half := range 2 {
			at := start + market.Time(hour)*market.Time(time.Hour) + market.Time(half)*market.Time(30*time.Minute)
			b.Equity(EquitySample{At: at, Equity: market.Money(1000 + hour), Low: market.Money(500 + hour - half),
				High: market.Money(2000 + hour)})
		}
		b.Equity(EquitySample{Strategy: "grid", At: start, Equity: 4})
		if hour%(24*30) == 0 { // one page that takes all samples would be moved for each
			require.NoError(t, s.Commit(b))
		}
	}
	require.NoError(t, s.Commit(b))
	curve, err := s.Equity("", 0, 0)
	require.NoError(t, err)
	require.Equal(t, 48*(3*365+1)+9, len(curve), "three years of half hours and the rest of a day, the days before")
	for i := 1; i < len(curve); i++ {
		require.Greater(t, curve[i].At, curve[i-1].At)
	}
	require.EqualValues(t, 499, curve[0].Low, "the lowest of its day")
	part, err := s.Equity("", start+(days-1)*day, start+days*day)
	require.NoError(t, err)
	require.Len(t, part, 48)
	other, err := s.Equity("grid", 0, 0)
	require.NoError(t, err)
	require.Equal(t, []EquitySample{{Strategy: "grid", At: start, Equity: 4, Low: 4, High: 4}}, other)
}

// sampler makes samples of two curves at random times: one about every minute, with gaps.
type sampler struct {
	chance *rand.Rand
	at     market.Time
	all    map[string][]EquitySample
}

func newSampler(seed uint64, at market.Time) *sampler {
	return &sampler{chance: rand.New(rand.NewPCG(seed, 1)), at: at, all: map[string][]EquitySample{}}
}

func (p *sampler) next() EquitySample {
	p.at += market.Time(p.chance.Int64N(int64(2 * time.Minute)))
	if p.chance.IntN(100) == 0 {
		p.at += market.Time(p.chance.Int64N(int64(3 * time.Hour)))
	}
	name := []string{"", "grid"}[p.chance.IntN(2)]
	s := EquitySample{Strategy: name, At: p.at, Equity: market.Money(p.chance.Int64N(2000) - 500),
		Exposure: market.Money(p.chance.Int64N(1000))}
	s.Low, s.High = s.Equity-1-market.Money(p.chance.Int64N(20)), s.Equity+market.Money(p.chance.Int64N(20))
	p.all[name] = append(p.all[name], s)
	return s
}

// naiveThinned is a curve by all its samples: minutes from the hour on that began two days ago, and
// quarters of an hour before.
func naiveThinned(all []EquitySample) (curve []EquitySample) {
	if len(all) == 0 {
		return nil
	}
	last := all[len(all)-1].At
	fresh := market.FloorTo(last.Add(-48*time.Hour), market.Time(time.Hour))
	spanOf := func(at market.Time) market.Time {
		if at >= fresh {
			return market.FloorTo(at, market.Time(time.Minute))
		}
		return market.FloorTo(at, market.Time(15*time.Minute))
	}
	for _, s := range all {
		if n := len(curve); n > 0 && spanOf(curve[n-1].At) == spanOf(s.At) {
			s.Low, s.High = min(s.Low, curve[n-1].Low), max(s.High, curve[n-1].High)
			curve[n-1] = s
			continue
		}
		curve = append(curve, s)
	}
	return curve
}

func TestAThinnedCurveIsThatOfATwinWhichHasAllSamples(t *testing.T) {
	for range 3 {
		seed := rand.Uint64()
		s, p := botStore(t), newSampler(seed, 1_700_000_000_000_000_000)
		b := s.NewBatch()
		for range 8 {
			for range 700 {
				b.Equity(p.next())
			}
			require.NoError(t, s.Commit(b))
			for name, all := range p.all {
				curve, err := s.Equity(name, 0, 0)
				require.NoError(t, err)
				require.Equal(t, naiveThinned(all), curve, "seed %d: curve of %q", seed, name)
			}
		}
		requireSound(t, s)
	}
}
