package sandbox

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// housed is a change of a config: BTC-EUR with a source, and a house of three levels around its
// price.
func housed(source prices.Source) func(*Config) {
	return func(c *Config) {
		c.Markets[0].Source = source
		c.Markets[0].Liquidity = Liquidity{Levels: 3, HalfSpread: 50_000, Size: "1"}
	}
}

func TestTheNonceCountsEveryMovement(t *testing.T) {
	s := newStage(t, scripted(50000, 50001, 50002))
	nonce := func() int64 { return wholeOf(s, s.one("", "GET /ADA-EUR/book")["nonce"]) }
	first := nonce()
	require.EqualValues(t, 2, first, "the first price is a movement")
	for i := range int64(2) {
		s.pass(time.Second)
		require.Equal(t, first+1+i, nonce())
	}
	s.pass(time.Hour)
	require.Equal(t, first+2, nonce(), "nothing has changed")
}

func TestAMarketThatDoesNotTradeStandsStill(t *testing.T) {
	s := newStage(t, scripted(50000, 51000, 52000, 53000))
	ada := s.ex.listings[3]
	price := func() string { return s.get("/ticker/price?market=ADA-EUR").ok(t).body }
	require.EqualValues(t, 50000, s.ex.venue.Last(3), "a source's first price opens its market")
	s.pass(time.Second)
	price()
	ada.Status = market.Halted
	s.pass(time.Second)
	require.Equal(t, `{"market":"ADA-EUR","price":"0.51"}`, price())
	require.EqualValues(t, 51000, s.ex.venue.Last(3))
	require.EqualValues(t, 52000, ada.price, "what the source has come to is remembered")
	ada.Status = market.Trading
	s.pass(time.Second)
	require.Equal(t, `{"market":"ADA-EUR","price":"0.53"}`, price())
	require.Len(t, s.rows("", "GET /ADA-EUR/trades"), 3)
}

func TestTheHistoryFillsTapeAndCandlesBeforeTheStart(t *testing.T) {
	before := func(c *Config) { c.History = 3 * time.Hour }
	s, other := newStage(t, housed(prices.Synthetic{Price: "95000"}), before), newStage(t,
		housed(prices.Synthetic{Price: "95000"}), before)
	rows := s.rows("", "GET /BTC-EUR/trades limit=1000")
	require.Len(t, rows, 1000)
	require.Less(t, wholeOf(s, rows[0]["timestamp"]), rigStart.Millis())
	require.InDelta(t, 180, strings.Count(s.get("/BTC-EUR/candles?interval=1m").body, "[")-1, 15)
	last := s.ex.listings[1].tape.last()
	require.Equal(t, last.price, s.ex.venue.Last(1), "the last price of the history opens the market")
	id := counter(last.id)
	for _, one := range []*stage{s, other} {
		one.pass(time.Minute)
	}
	require.Equal(t, s.get("/BTC-EUR/trades").ok(t).body, other.get("/BTC-EUR/trades").ok(t).body,
		"the same seed and times give the same trades")
	since := tradeRange{from: rigStart, to: never, final: 1 << 62}
	require.Equal(t, id+1, counter(s.ex.listings[1].tape.in(since)[0].id))
}

// replaying replays some candles, and then fails; nil: it ends.
func replaying(failed error, all ...market.Candle) prices.Source {
	return prices.Replay{Candles: func() (c market.Candle, more bool, err error) {
		if len(all) == 0 {
			return c, false, failed
		}
		c, all = all[0], all[1:]
		return c, true, nil
	}}
}

// A source that fails stops its market, and the exchange tells it.
func TestReplayedCandlesAreTheExchangesCandles(t *testing.T) {
	candle := market.Candle{Open: 95000_00, High: 95100_00, Low: 94900_00, Close: 95050_00, Volume: 12345678,
		Interval: market.Interval1m}
	next := candle
	next.Start, next.Volume = candle.End(), 999
	broken := errors.New("disk")
	for _, failed := range []error{nil, broken} {
		s := newStage(t, housed(replaying(failed, candle, next)), func(c *Config) {
			c.Clock = ManualClock(market.Interval1m.Floor(rigStart))
		})
		s.pass(time.Hour)
		require.Equal(t, `[[1767614460000,"95000","95100","94900","95050","0.00000999"],`+
			`[1767614400000,"95000","95100","94900","95050","0.12345678"]]`, s.get("/BTC-EUR/candles?interval=1m").body)
		require.Equal(t, `{"market":"BTC-EUR","price":"95050"}`, s.get("/ticker/price?market=BTC-EUR").body)
		require.ErrorIs(t, s.ex.Err(), failed)
	}
}

func TestOrdersFillWhereTheSourceRunsThroughThem(t *testing.T) {
	s := newStage(t, housed(script{95000_00, 94000_00}))
	s.place("alice", "buy limit amount=0.0001 price=94500")
	s.pass(time.Second)
	rows := s.rows("", "GET /BTC-EUR/trades")
	require.Len(t, rows, 3)
	s.has(rows[1], "price=94500", "amount=0.0001", "side=sell")
	s.has(rows[0], "price=94000", "amount=0.01")
}

func TestAPriceMayBeSetFromOutside(t *testing.T) {
	s := newStage(t, housed(prices.Fixed("95000")))
	s.place("alice", "buy limit amount=0.0001 price=94000")
	s.ex.move(s.ex.listings[1], &prices.Movement{At: s.ex.clock.Now(), Price: 93000_00})
	require.EqualValues(t, 93000_00, s.ex.venue.Last(1))
	price := s.get("/ticker/price?market=BTC-EUR").says(t, `"94000"`).body // the order's trade; the movement had none
	s.get("/BTC-EUR/book?depth=1").says(t, `"bids":[["92953.5",`)
	s.pass(25 * time.Hour)
	require.Equal(t, price, s.get("/ticker/price?market=BTC-EUR").body, "a fixed price stands")
}

func BenchmarkIdleSecondOfAMarket(b *testing.B) {
	s := newStage(b, housed(prices.Synthetic{Price: "95000"}))
	for b.Loop() {
		s.pass(time.Second)
		s.ex.Advance()
	}
}

func TestAHouseAroundAPriceThatStandsStillFillsUpAgain(t *testing.T) {
	for refill, full := range map[market.Duration]bool{time.Second: true, 0: false} {
		r := newRig(t, func(c *Config) {
			c.Markets[0].Source, c.Markets[0].Liquidity = prices.Steady{Price: "95000",
				Refill: refill}, Liquidity{Levels: 1,
				HalfSpread: 5_000, Size: "0.05"}
		})
		asks := func() string { return r.do(r.request("", "GET", "/BTC-EUR/book", "")).body }
		before := asks()
		r.do(r.request("bob", "POST", "/order",
			`{"market":"BTC-EUR","operatorId":1,"side":"buy","orderType":"market","amount":"0.01"}`)).ok(t)
		require.NotEqual(t, levels(before), levels(asks()), refill)
		r.pass(time.Second)
		require.Equal(t, full, levels(before) == levels(asks()), "%s\n%s", before, asks())
	}
}

// levels is what a book's text has of bids and asks.
func levels(book string) string {
	from, to := strings.Index(book, `"bids"`), strings.Index(book, `"timestamp"`)
	return book[from:max(from, to)]
}
