package sandbox

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// noon is when the tests of this package begin: 2026-03-02 12:00 UTC, a Monday.
const noon market.Time = 1772452800_000000000

// machine is a machine's clock that a test moves.
type machine struct{ at time.Time }

func (m *machine) now() time.Time { return m.at }

func (m *machine) pass(d time.Duration) { m.at = m.at.Add(d) }

func TestTheClockRunsNTimesAsFastAsTheMachines(t *testing.T) {
	for _, row := range []struct {
		speed float64
		want  market.Duration // After a minute of the machine's
	}{{1, time.Minute}, {60, time.Hour}, {0.5, 30 * time.Second}, {0, 0}, {-1, 0}, {math.NaN(), 0}, {math.Inf(1), 0}} {
		m := &machine{at: noon.Std()}
		c := newClock(m.now, noon, row.speed)
		require.Equal(t, noon, c.Now())
		m.pass(time.Minute)
		require.Equal(t, noon.Add(row.want), c.Now(), "speed %g", row.speed)
	}
}

func TestAClockWithoutAStartTellsTheMachinesTime(t *testing.T) {
	before := time.Now().UnixNano()
	now := NewClock(0, 1).Now()
	require.GreaterOrEqual(t, int64(now), before)
	require.LessOrEqual(t, int64(now), time.Now().UnixNano())
}

func TestTheClockStandsWhileTheMachinesIsSetBack(t *testing.T) {
	m := &machine{at: noon.Std()}
	c := newClock(m.now, 0, 1)
	m.pass(time.Hour)
	require.Equal(t, noon.Add(time.Hour), c.Now())
	m.pass(-30 * time.Minute)
	require.Equal(t, noon.Add(time.Hour), c.Now())
	m.pass(31 * time.Minute)
	require.Equal(t, noon.Add(time.Hour+time.Minute), c.Now())
}

func TestAManualClockGoesOnlyForward(t *testing.T) {
	c := ManualClock(noon)
	c.Advance(time.Second)
	c.Advance(-time.Hour)
	require.Equal(t, noon.Add(time.Second), c.Now())
	require.ErrorContains(t, c.Set(noon), "never goes back")
	require.NoError(t, c.Set(noon.Add(time.Second)), "where it stands already")
	require.NoError(t, c.Set(noon.Add(time.Minute)))
	require.Equal(t, noon.Add(time.Minute), c.Now())
	c.Advance(math.MaxInt64)
	require.Less(t, c.Now(), never, "the end of time is not reached")
}

func TestAManualClockMayStandAtNineteenSeventy(t *testing.T) {
	require.Zero(t, ManualClock(0).Now())
}

func TestTheClockKeepsItsTimeWhenItsSpeedChanges(t *testing.T) {
	m := &machine{at: noon.Std()}
	c := newClock(m.now, noon, 60)
	m.pass(time.Second)
	require.NoError(t, c.SetSpeed(0))
	m.pass(time.Hour)
	require.Equal(t, noon.Add(time.Minute), c.Now())
	require.NoError(t, c.SetSpeed(2))
	require.EqualValues(t, 2, c.Speed())
	m.pass(time.Second)
	require.Equal(t, noon.Add(time.Minute+2*time.Second), c.Now())
	c.Advance(time.Hour)
	m.pass(time.Second)
	require.Equal(t, noon.Add(time.Hour+time.Minute+4*time.Second), c.Now(), "it runs on from where it was moved to")
	for _, speed := range []float64{-1, math.NaN(), math.Inf(1)} {
		require.ErrorContains(t, c.SetSpeed(speed), "no speed")
	}
}

func TestManyMayReadAndMoveTheClock(t *testing.T) {
	c := NewClock(noon, 1000)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			last := c.Now()
			for range 500 {
				c.Advance(time.Microsecond)
				now := c.Now()
				if now < last {
					t.Errorf("%s after %s", now, last)
				}
				last = now
			}
		})
	}
	readers.Wait()
}
