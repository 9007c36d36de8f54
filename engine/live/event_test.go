package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A strategy keeps the loop for half a minute, in which the feeds go on. What has waited is no news
// then.
func TestPricesThatHaveWaitedForTheLoopAreLetGoBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []market.Price
		tell := func(d *strategy.Desk) { seen = append(seen, d.In(1).Last()) }
		p := playing(t, nil, func(d *strategy.Desk) {
			tell(d)
			time.Sleep(30 * time.Second)
		}, tell, tell, tell, tell, tell)
		p.run()
		for i := range 6 { // at 0, 7, 14, 21, 28 and 35 s
			p.events <- market.Event{At: p.box.Now(), Kind: market.KindTicker,
				Ticker: &market.Ticker{Market: 1, Last: market.Price(100+i) * 100, Bid: 99_00, Ask: 101_00}}
			time.Sleep(7 * time.Second)
		}
		synctest.Wait()
		require.Equal(t, []market.Price{100_00, 103_00, 104_00, 105_00}, seen)
		p.end()
	})
}

// reader notes which candles it was told are late.
type reader struct {
	strategy.Base
	late []bool
}

func (s *reader) OnCandle(_ *strategy.Desk, c market.Candle) { s.late = append(s.late, c.Late) }

func TestACandleThatHasWaitedForTheLoopIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &reader{}
		p := playing(t, nil)
		p.player = s
		p.begin()
		now := p.loop.stamp()
		for _, waited := range []time.Duration{0, 10 * time.Second, 11 * time.Second} {
			c := market.Candle{Market: 1, Interval: market.Interval1m, Open: 1, High: 1, Low: 1, Close: 1}
			p.loop.onEvent(&market.Event{At: now.Add(-waited), Kind: market.KindCandles, Candles: []market.Candle{c}})
		}
		require.Equal(t, []bool{false, false, true}, s.late)
	})
}

// The clock had gone five minutes wrong, and is right again: the loop's time, which never goes
// back, is ahead. What comes now is new.
func TestPricesAreNotOldBecauseTheLoopsTimeIsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil)
		p.run()
		p.box.mu.Lock()
		p.box.shift = 5 * time.Minute
		p.box.mu.Unlock()
		p.tick(3)
		p.box.mu.Lock()
		p.box.shift = 0
		p.box.mu.Unlock()
		for range 3 {
			p.events <- market.Event{At: p.box.Now(), Kind: market.KindTicker,
				Ticker: &market.Ticker{Market: 1, Last: 100_00, Bid: 99_00, Ask: 101_00}}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		require.Equal(t, 6, p.s.at)
		p.end()
	})
}
