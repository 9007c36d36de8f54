package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func ticker(last, bid, ask market.Price) market.Event {
	return market.Event{Kind: market.KindTicker, Ticker: &market.Ticker{Market: 1, Last: last, Bid: bid, Ask: ask}}
}

func bookOf(bid, ask market.Price) market.Event {
	return market.Event{Kind: market.KindBook,
		Book: &market.OrderBook{Market: 1, Bids: []market.Level{{Price: bid, Amount: 1}},
			Asks: []market.Level{{Price: ask, Amount: 1}}}}
}

func candleOf(open, high, low, last market.Price) market.Event {
	start := market.FloorTo(boxNow(), market.Time(time.Minute)).Add(-time.Minute)
	return market.Event{Kind: market.KindCandles,
		Candles: []market.Candle{{Market: 1, Interval: market.Interval1m, Start: start, Open: open, High: high,
			Low: low, Close: last}}}
}

// doubted gives the loop an event and reports whether the gate is to trust no price after it.
func (p *play) doubted(ev market.Event) (doubted bool) {
	p.events <- ev
	synctest.Wait()
	require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) { doubted = p.account.Unreliable(1) }))
	return doubted
}

func TestPricesThatCannotBeTrueAreNotDeliveredAndDoubted(t *testing.T) {
	for name, event := range map[string]func() market.Event{
		"a ticker at 0":             func() market.Event { return ticker(0, 0, 0) },
		"a ticker without its last": func() market.Event { return ticker(0, 99_00, 101_00) },
		"a ticker below 0":          func() market.Event { return ticker(-100_00, 99_00, 101_00) },
		"a crossed ticker":          func() market.Event { return ticker(100_00, 102_00, 101_00) },
		"a ticker ten times higher": func() market.Event { return ticker(1000_00, 990_00, 1010_00) },
		"a ticker ten times lower":  func() market.Event { return ticker(10_00, 9_00, 11_00) },
		"an ask ten times higher":   func() market.Event { return ticker(100_00, 99_00, 1010_00) },
		"a bid ten times lower":     func() market.Event { return ticker(100_00, 9_00, 101_00) },
		"a crossed book":            func() market.Event { return bookOf(102_00, 101_00) },
		"a book at 0":               func() market.Event { return bookOf(0, 101_00) },
		"a book far away":           func() market.Event { return bookOf(990_00, 1010_00) },
		"a trade at 0": func() market.Event {
			return market.Event{Kind: market.KindTrade, Trade: &market.Trade{Market: 1, Amount: 1}}
		},
		"a trade far away": func() market.Event {
			return market.Event{Kind: market.KindTrade, Trade: &market.Trade{Market: 1, Price: 1000_00, Amount: 1}}
		},
		"a candle ten times higher":  func() market.Event { return candleOf(1000_00, 1010_00, 990_00, 1000_00) },
		"a candle at 0":              func() market.Event { return candleOf(0, 0, 0, 0) },
		"a candle below its own low": func() market.Event { return candleOf(100_00, 101_00, 99_00, 98_00) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := playing(t, nil)
				p.run()
				p.tick(3)
				heard := p.s.at
				require.True(t, p.doubted(event()))
				require.Equal(t, heard, p.s.at)
				require.Equal(t, market.Price(100_00), p.account.Last(1))
				require.False(t, p.doubted(ticker(100_00, 99_00, 101_00)), "the next price that is believed ends it")
				require.Equal(t, heard+1, p.s.at)
				p.end()
			})
		})
	}
}

// A market may move so far. Then its price stays there.
func TestAFarPriceIsBelievedWhenItStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil)
		p.run()
		p.tick(3)
		for range 10 {
			require.True(t, p.doubted(ticker(300_00, 299_00, 301_00)))
			time.Sleep(time.Second)
		}
		require.False(t, p.doubted(ticker(300_00, 299_00, 301_00)))
		require.Equal(t, market.Price(300_00), p.account.Last(1))
		p.end()
	})
}

func TestHonestCandlesPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &reader{}
		p := playing(t, nil)
		p.player = s
		p.begin()
		p.run()
		p.tick(3)
		require.False(t, p.doubted(candleOf(100_00, 104_00, 96_00, 101_00)))
		old := candleOf(10_00, 11_00, 9_00, 10_00)
		old.Candles[0].Start = old.Candles[0].Start.Add(-time.Hour) // of a time of which no price is known
		require.False(t, p.doubted(old))
		require.Len(t, s.late, 2)
		p.end()
	})
}
