package rest

import (
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// skewed is a rig whose machine's clock is wrong by an offset.
func skewed(t *testing.T, wrong time.Duration) *rig {
	return newRig(t, func(_ *sandbox.Config, c *Config) {
		clock := c.Now
		c.Now = func() time.Time { return clock().Add(wrong) }
	})
}

func TestClockFiveMinutesWrongIsMadeGood(t *testing.T) {
	for _, wrong := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		r := skewed(t, wrong)
		require.NoError(t, r.Sync(t.Context()))
		require.Equal(t, -wrong, r.Offset())
		require.Equal(t, rigStart, r.Now())
		require.Equal(t, market.StatusNew, r.send(r.limit(market.Buy, "0.5", "29000")).Order.Status)
	}
}

func TestShortestRoundTripCounts(t *testing.T) {
	r := newRig(t, nil)
	trips := []time.Duration{400 * time.Millisecond, 90 * time.Millisecond, 20 * time.Millisecond,
		300 * time.Millisecond, 50 * time.Millisecond}
	asked := 0
	r.wire.after = func(_ *http.Request, a *http.Response) (*http.Response, error) {
		r.clock.Advance(trips[asked]) // the way back alone takes time: the estimate is half of it off
		asked++
		return a, nil
	}
	require.NoError(t, r.Sync(t.Context()))
	require.Equal(t, len(trips), asked)
	require.Equal(t, 20*time.Millisecond, r.RoundTrip())
	require.Equal(t, -10*time.Millisecond, r.Offset())
}

func TestAnAnswerThatTookLongIsNotWhatTheTimeIsToldBy(t *testing.T) {
	r := newRig(t, nil)
	trips, fail := []time.Duration{3 * time.Second, 0, 20 * time.Millisecond, 30 * time.Millisecond,
		40 * time.Millisecond}, []bool{false, true, false, false, false}
	asked := 0
	r.wire.after = func(_ *http.Request, a *http.Response) (*http.Response, error) {
		r.clock.Advance(trips[asked%len(trips)])
		asked++
		if fail[(asked-1)%len(fail)] {
			return nil, errors.New("broken")
		}
		return a, nil
	}
	require.NoError(t, r.Sync(t.Context()))
	require.Equal(t, 20*time.Millisecond, r.RoundTrip(), "one that fails ends nothing")

	before := r.Offset()
	trips, fail, asked = []time.Duration{5 * time.Second}, []bool{false}, 0
	require.ErrorContains(t, r.Sync(t.Context()), "the fastest answer took 5s")
	require.Equal(t, before, r.Offset(), "what was known is kept")
}

func TestMeasuringAgainTellsHowFarTheClockHadGoneWrong(t *testing.T) {
	slow := time.Duration(0)
	r := newRig(t, func(_ *sandbox.Config, c *Config) {
		clock := c.Now
		c.Now = func() time.Time { return clock().Add(-slow) }
	})
	require.NoError(t, r.Sync(t.Context()))
	slow = 3 * time.Second
	moved, err := r.Remeasure(t.Context())
	require.NoError(t, err)
	require.Equal(t, slow, moved)
	require.Equal(t, rigStart, r.Now())
}

func TestWrongClockIsNoticedByTheAnswer(t *testing.T) {
	r := skewed(t, -time.Minute)
	_, err := r.Balances(t.Context(), "")
	require.NoError(t, err, "asked again with the right time")
	require.Equal(t, 2, r.wire.count("GET", "/balance"))
	require.Equal(t, time.Minute, r.Offset())

	r = skewed(t, -time.Minute)
	intent := r.intent(r.limit(market.Buy, "0.5", "29000"))
	_, err = r.Send(t.Context(), intent)
	require.ErrorIs(t, err, exchange.ErrCode(304))
	require.Equal(t, exchange.Rejected, exchange.OutcomeOf(err))
	require.Equal(t, 1, r.wire.count("POST", "/order"), "a write is never repeated")
	require.Equal(t, time.Minute, r.Offset())
	command := r.limit(market.Buy, "0.5", "29000")
	r.send(command)
	_, err = r.Order(t.Context(), r.btc.ID, intent.ClientOrderID, uuid.Nil)
	require.ErrorIs(t, err, exchange.ErrCode(exchange.CodeNotFound))
}

// lying is a rig whose GET /time tells another time from now on, and whose header Date may too.
func (r *rig) lying(byTime, byDate time.Duration) {
	r.wire.after = func(sent *http.Request, a *http.Response) (*http.Response, error) {
		if sent.URL.Path != "/v2/time" {
			return a, nil
		}
		date, err := http.ParseTime(a.Header.Get("Date"))
		require.NoError(r.t, err)
		told := answered(200, `{"timeNs":`+strconv.FormatInt(date.Add(byTime).UnixNano(), 10)+`}`)
		told.Header = http.Header{"Date": {date.Add(byDate).UTC().Format(http.TimeFormat)}}
		return told, nil
	}
}

func TestATimeThatCannotBeTrueIsNotBelieved(t *testing.T) {
	const year, day = 365 * 24 * time.Hour, 24 * time.Hour
	once := func(_ *sandbox.Config, c *Config) { c.Tries = 1 }
	for name, c := range map[string]struct {
		byTime, byDate time.Duration
		first, later   bool // is it believed by the first measurement, and by another one?
	}{
		"years ahead":                    {10 * year, 0, false, false},
		"years behind":                   {-10 * year, 0, false, false},
		"hours behind":                   {-3 * time.Hour, 0, false, false},
		"hours ahead":                    {3 * time.Hour, 0, false, false},
		"with the header, ahead":         {day, day, true, true},    // this machine's clock is wrong, or it has slept
		"with the header, behind":        {-day, -day, true, false}, // a clock that was measured does not go back
		"minutes":                        {5 * time.Minute, 0, true, true},
		"the header says something else": {day, -day, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, once)
			r.lying(c.byTime, c.byDate)
			err := r.Sync(t.Context())
			require.Equal(t, c.first, err == nil, "%v", err)

			r = newRig(t, once)
			require.NoError(t, r.Sync(t.Context()))
			r.clock.Advance(time.Minute)
			known := r.Now()
			r.lying(c.byTime, c.byDate)
			moved, err := r.Remeasure(t.Context())
			if c.later {
				require.NoError(t, err)
				require.InDelta(t, float64(c.byTime), float64(moved), float64(time.Second))
				return
			}
			require.ErrorIs(t, err, ErrFalseTime)
			require.Equal(t, known, r.Now(), "it goes on by what it knew")
			require.Regexp(t, `GET /time says \d{4}-\d\d-\d\d .*, its answer has the Date \d{4}-.*, by this machine it is \d{4}-`, err.Error())
		})
	}
}

// A machine has slept for a night: its uptime stood still, its own clock did not.
func TestAMachineThatHasSleptIsItsOwnWitness(t *testing.T) {
	start := time.Now()
	r := newRig(t, nil)
	local := start
	r.Client.clock.now = func() time.Time { return local }
	r.Client.clock.start(r.Client.clock.now)
	require.NoError(t, r.Sync(t.Context()))
	r.clock.Advance(8 * time.Hour)
	local = local.Round(0).Add(8 * time.Hour) // no monotonic reading: by the machine's clock alone
	r.lying(0, 100*24*time.Hour)
	require.NoError(t, r.Sync(t.Context()))
}

func TestStubbornWindowRefusalIsTold(t *testing.T) {
	r := newRig(t, nil)
	r.wire.after = func(sent *http.Request, a *http.Response) (*http.Response, error) {
		if sent.URL.Path == "/v2/balance" {
			return answered(403, `{"errorCode":304,"error":"window"}`), nil
		}
		return a, nil
	}
	_, err := r.Balances(t.Context(), "")
	require.ErrorIs(t, err, exchange.ErrCode(304))
	require.Equal(t, 2, r.wire.count("GET", "/balance"))
}

func TestMachineThatIsSetDoesNotMoveTheExchangesClock(t *testing.T) {
	start := time.Now() // with a monotonic reading, as the machine's clock has
	r := newRig(t, nil)
	local := start
	r.Client.clock.now = func() time.Time { return local }
	require.NoError(t, r.Sync(t.Context()))
	before := r.Now()
	local = start.Add(3 * time.Second)
	require.Equal(t, before.Add(3*time.Second), r.Now())
}

func TestTimeIsReadInNanosecondsWhereTold(t *testing.T) {
	cases := []struct {
		body string
		want market.Time
	}{
		{`{"time":1791028462976,"timeNs":1791028462976364819}`, 1791028462976364819},
		{`{"timeNs":"1791028462976364819"}`, 1791028462976364819},
		{`{"time":1791028462976}`, 1791028462976500000},
		{`{"time":1791028462976,"timeNs":null}`, 1791028462976500000},
	}
	for _, c := range cases {
		got, err := parseTime([]byte(c.body))
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	for _, body := range []string{`{}`, `{"time":0}`, `[]`, ``, `{"time":` + strconv.FormatInt(market.MaxMillis*2, 10) +
		`}`, `{"time":1.5}`} {
		_, err := parseTime([]byte(body))
		require.Error(t, err, body)
	}
}
