package stream

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/market"
)

// withCandles is market data whose candles come from a stream.
type withCandles struct {
	*fakeData
	feed *Feed
}

// Candles asks the feed.
func (w withCandles) Candles(ctx context.Context, m *market.Market, interval market.Interval, start, end market.Time,
	limit int, dst []market.Candle) ([]market.Candle, error) {
	return w.feed.Candles(ctx, m, interval, start, end, limit, dst)
}

// candleStage is an exchange that trades now and then, and a feed of its candles.
type candleStage struct {
	mu     sync.Mutex
	traded map[Series][]market.Candle
	asked  int
	f      *Feed
	polled *poll.Feed
}

var candleSeries = []Series{{1, market.Interval1m}, {1, market.Interval5m}, {2, market.Interval1m}}

func newCandleStage(t *testing.T) *candleStage {
	s := &candleStage{traded: map[Series][]market.Candle{}}
	data := &fakeData{candlesFn: s.answer}
	cat := newCatalog(t)
	s.f = NewFeed(FeedConfig{On: closedConnection(t), Data: data, Catalog: cat, Log: zerolog.Nop(),
		Out: make(chan market.Event), Series: candleSeries})
	config := poll.Config{Data: withCandles{data, s.f}, Catalog: cat, Log: zerolog.Nop(), News: s.f.News(),
		Final: func(m market.ID, interval market.Interval, start market.Time) bool {
			return s.f.Final(Series{m, interval}, start)
		}}
	for _, one := range candleSeries {
		config.Series = append(config.Series, poll.Series{Market: one.Market, Interval: one.Interval})
	}
	s.polled = poll.New(config)
	return s
}

// answer is the exchange's answer over REST.
func (s *candleStage) answer(of Series, start, end market.Time) (got []market.Candle, err error) {
	time.Sleep(20 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	for _, c := range s.traded[of] {
		if start <= c.Start && c.Start < end {
			got = append(got, c)
		}
	}
	return got, nil
}

// trade trades in a market now, and returns the events.
func (s *candleStage) trade(m market.ID, price market.Price) (frames [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range candleSeries {
		if of.Market != m {
			continue
		}
		list, start := s.traded[of], of.Interval.Floor(machineTime())
		if len(list) == 0 || list[len(list)-1].Start != start {
			list = append(list, market.Candle{Open: price, High: price, Low: price, Start: start, Market: m,
				Interval: of.Interval})
		}
		c := &list[len(list)-1]
		c.High, c.Low, c.Close, c.Volume = max(c.High, price), min(c.Low, price), price, c.Volume+1
		s.traded[of] = list
		name := map[market.ID]string{1: "BTC-EUR", 2: "ETH-EUR"}[m]
		frames = append(frames, fmt.Appendf(nil, `{"event":"candle","market":"%s","interval":"%s","candle":`+
			`[[%d,"%s","%s","%s","%s","%s"]]}`, name, of.Interval, start.Millis(), market.FormatFixed(int64(c.Open), 2),
			market.FormatFixed(int64(c.High), 2), market.FormatFixed(int64(c.Low), 2),
			market.FormatFixed(int64(c.Close), 2), market.FormatFixed(int64(c.Volume), 2)))
	}
	return frames
}

// Candles from a stream that ends now and then are those of the exchange: each once, in order.
func TestCandlesOfAStreamComeOnceAndInOrder(t *testing.T) {
	minutes := 2000
	if testing.Short() {
		minutes = 300
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Now().Truncate(5 * time.Minute).Add(5*time.Minute + time.Second)))
		s := newCandleStage(t)
		chance := rand.New(rand.NewPCG(5, 6))
		ctx, cancel := context.WithCancel(t.Context())
		var beside sync.WaitGroup
		beside.Go(func() { s.polled.Run(ctx) })
		began, got, early := machineTime(), map[Series][]market.Candle{}, 0
		beside.Go(func() {
			for {
				select {
				case ev := <-s.polled.Events():
					for _, c := range ev.Candles {
						if ev.At.Sub(c.End()) < 2*time.Second {
							early++
						}
						got[Series{c.Market, c.Interval}] = append(got[Series{c.Market, c.Interval}], c)
					}
				case <-ctx.Done():
					return
				}
			}
		})
		s.f.candles.channel.Opened()
		open, ends := true, time.Now().Add(time.Duration(minutes)*time.Minute)
		for time.Now().Before(ends) {
			busy := 1 + time.Now().Minute()/10%2*40 // by turns: trades each second, and each minute
			time.Sleep(time.Duration(1+chance.IntN(2000*busy)) * time.Millisecond)
			for _, frame := range s.trade(market.ID(1+chance.IntN(2)), market.Price(100_00+chance.IntN(50))) {
				if open {
					require.NoError(t, s.f.candles.onEvent(frame))
				}
			}
			if chance.IntN(300) == 0 {
				if open = !open; open {
					s.f.candles.channel.Opened()
				} else {
					s.f.candles.channel.Closed()
				}
			}
		}
		time.Sleep(time.Minute)
		cancel()
		beside.Wait()
		for _, of := range candleSeries {
			want := slices.DeleteFunc(s.traded[of], func(c market.Candle) bool {
				return c.Start < of.Interval.Floor(began) || c.End().Add(10*time.Second) > market.Time(ends.UnixNano())
			})
			all := got[of]
			require.GreaterOrEqual(t, len(all), len(want))
			require.Equal(t, want, all[:len(want)], of)
		}
		require.Zero(t, s.f.Differences())
		require.Greater(t, early, minutes/8, "candles that are final do not wait")
		t.Log(s.asked, "questions over REST")
	})
}

func TestAQuietIntervalIsAskedForAtItsCloseAndAgainAtFourTimesItsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCandleStage(t)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { s.polled.Run(ctx) })
		s.f.candles.channel.Opened()
		time.Sleep(11 * time.Minute) // of 1m 10 + 10 candles without a trade, of 5m 2
		cancel()
		running.Wait()
		require.Equal(t, 20*2+2*3, s.asked)
	})
}

// The exchange lists a candle seconds after its end, and its event was lost: it comes all the same,
// before the next one, which the stream tells.
func TestACandleThatOnlyRESTShowsAndShowsLateIsDelivered(t *testing.T) {
	for _, delay := range []time.Duration{8, 20, 40, 55} {
		showsLate(t, delay*time.Second)
	}
}

func showsLate(t *testing.T, delay time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute + time.Second)))
		s, minute := newCandleStage(t), market.Interval1m
		ctx, cancel := context.WithCancel(t.Context())
		var beside sync.WaitGroup
		beside.Go(func() { s.polled.Run(ctx) })
		var got []market.Candle
		beside.Go(func() {
			for {
				select {
				case ev := <-s.polled.Events():
					got = append(got, ev.Candles...)
				case <-ctx.Done():
					return
				}
			}
		})
		s.f.candles.channel.Opened()
		time.Sleep(2*time.Minute - time.Second + delay) // so long after the end of the interval before this one
		lost := market.Candle{Open: 1, High: 1, Low: 1, Close: 1, Volume: 1, Market: 2, Interval: minute,
			Start: minute.StartOf(minute.Index(machineTime()) - 1)}
		s.mu.Lock()
		s.traded[Series{2, minute}] = append(s.traded[Series{2, minute}], lost)
		s.mu.Unlock()
		for _, frame := range s.trade(2, 2) {
			require.NoError(t, s.f.candles.onEvent(frame))
		}
		time.Sleep(time.Minute - delay + 100*time.Millisecond)
		for _, frame := range s.trade(2, 2) { // the candle before it is final at once
			require.NoError(t, s.f.candles.onEvent(frame))
		}
		time.Sleep(20 * time.Second)
		cancel()
		beside.Wait()
		var told []market.Candle
		for _, c := range got {
			if c.Market == 2 && c.Interval == minute {
				told = append(told, c)
			}
		}
		require.Len(t, told, 2, delay)
		lost.Late = true
		require.Equal(t, lost, told[0], delay)
		require.Equal(t, lost.End(), told[1].Start, delay)
	})
}

func TestRowsOfTheStreamThatCannotBeAreLeftOutAndSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCandleStage(t)
		var log bytes.Buffer
		s.f.Log = zerolog.New(&log)
		s.f.candles.channel.Opened()
		now := market.Interval1m.Floor(machineTime())
		for range 2 {
			for _, row := range []string{
				fmt.Sprintf(`[%d,"2","1","2","2","1"]`, now.Millis()),                // high below low
				fmt.Sprintf(`[%d,"1","1","1","1","1"]`, now.Add(time.Hour).Millis()), // an hour ahead
				fmt.Sprintf(`[%d,"1","1","1","1","1"]`, now.Millis()+1),              // within the minute
			} {
				require.NoError(t, s.f.candles.onEvent([]byte(`{"event":"candle","market":"ETH-EUR","interval":"1m","candle":[`+
					row+`]}`)))
			}
		}
		require.Empty(t, s.f.candles.of[Series{2, market.Interval1m}].told)
		require.Equal(t, 1, strings.Count(log.String(), "left out"), log.String())
		require.Contains(t, log.String(), `"market":"ETH-EUR","interval":"1m","row":1`)
	})
}
