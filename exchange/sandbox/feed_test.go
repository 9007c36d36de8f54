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

func TestTheNonceCountsEveryMovement(t *testing.T) {
	h := newHall(t, nil, scripted(50000, 50001, 50002))
	nonce := h.one("/ADA-EUR/book")["nonce"].(float64)
	for i := range 3 {
		h.pass(time.Duration(min(1, i)) * time.Second)
		nonce++
		require.Equal(t, nonce, h.one("/ADA-EUR/book")["nonce"])
	}
	h.pass(time.Hour)
	require.Equal(t, nonce, h.one("/ADA-EUR/book")["nonce"], "nothing has changed")
}

func TestAMarketThatDoesNotTradeStandsStill(t *testing.T) {
	h := newHall(t, nil, scripted(50000, 51000, 52000, 53000))
	h.pass(time.Second)
	h.listings[2].Status = market.Halted
	h.pass(time.Second)
	require.Equal(t, `{"market":"ADA-EUR","price":"0.51"}`, h.ok("/ticker/price?market=ADA-EUR"))
	require.EqualValues(t, 51000, h.venue.Last(2))
	require.EqualValues(t, 52000, h.listings[2].price, "what the source has come to is remembered")
	h.listings[2].Status = market.Trading
	h.pass(time.Second)
	require.Equal(t, `{"market":"ADA-EUR","price":"0.53"}`, h.ok("/ticker/price?market=ADA-EUR"))
	require.Len(t, h.rows("/ADA-EUR/trades"), 3)
}

func TestTheHistoryFillsTapeAndCandlesBeforeTheStart(t *testing.T) {
	h := newHall(t, prices.Synthetic{Price: "95000"}, nil, func(c *Config) { c.History = 3 * time.Hour })
	rows := h.rows("/BTC-EUR/trades?limit=1000")
	require.Len(t, rows, 1000)
	require.Less(t, rows[0]["timestamp"].(float64), float64(noon.Millis()))
	require.InDelta(t, 180, strings.Count(h.ok("/BTC-EUR/candles?interval=1m"), "[")-1, 15)
	last := h.listings[1].tape.last()
	require.Equal(t, last.price, h.venue.Last(1), "the last price of the history opens the market")
	id := counter(last.id)
	h.pass(time.Minute)
	require.Equal(t, id+1, counter(h.listings[1].tape.in(tradeRange{from: noon, to: never, final: 1 << 62})[0].id))

	other := newHall(t, prices.Synthetic{Price: "95000"}, nil, func(c *Config) { c.History = 3 * time.Hour })
	other.pass(time.Minute)
	require.Equal(t, h.ok("/BTC-EUR/trades"), other.ok("/BTC-EUR/trades"),
		"the same seed and times give the same trades")
}

func TestReplayedCandlesAreTheExchangesCandles(t *testing.T) {
	candle := market.Candle{Open: 95000_00, High: 95100_00, Low: 94900_00, Close: 95050_00, Volume: 12345678,
		Interval: market.Interval1m}
	next := candle
	next.Start, next.Volume = candle.End(), 999
	candles := []market.Candle{candle, next}
	h := newHall(t, prices.Replay{Candles: func() (c market.Candle, more bool, err error) {
		if len(candles) > 0 {
			c, candles, more = candles[0], candles[1:], true
		}
		return c, more, nil
	}}, nil)
	h.pass(time.Hour)
	require.Equal(t, `[[1772452860000,"95000","95100","94900","95050","0.00000999"],[1772452800000,"95000","95100","94900","95050","0.12345678"]]`,
		h.ok("/BTC-EUR/candles?interval=1m"))
}

func TestOrdersFillWhereTheSourceRunsThroughThem(t *testing.T) {
	h := newHall(t, scripted(95000_00, 94000_00), nil)
	h.pass(0)
	h.place(1, market.Buy, 10_000, 94500_00)
	h.pass(time.Second)
	rows := h.rows("/BTC-EUR/trades")
	require.Len(t, rows, 3)
	require.Equal(t, []any{"94500", "0.0001", "sell"}, []any{rows[1]["price"], rows[1]["amount"], rows[1]["side"]})
	require.Equal(t, []any{"94000", "0.01"}, []any{rows[0]["price"], rows[0]["amount"]})
}

func TestABrokenSourceStopsItsMarketAndIsTold(t *testing.T) {
	broken, reads := errors.New("disk"), 0
	candle := market.Candle{Open: 95000_00, High: 95100_00, Low: 94900_00, Close: 95050_00, Volume: 12345678,
		Interval: market.Interval1m}
	h := newHall(t, prices.Replay{Candles: func() (market.Candle, bool, error) {
		if reads++; reads > 1 {
			return market.Candle{}, false, broken
		}
		return candle, true, nil
	}}, nil)
	h.clock.Advance(time.Hour)
	h.advance(h.clock.Now())
	require.ErrorIs(t, h.Err(), broken)
	require.Equal(t, `{"market":"BTC-EUR","price":"95050"}`, h.ok("/ticker/price?market=BTC-EUR"))
}

func TestAPriceMayBeSetFromOutside(t *testing.T) {
	h := newHall(t, prices.Fixed("95000"), nil)
	h.pass(time.Second)
	h.place(1, market.Buy, 10_000, 94000_00)
	h.move(h.listings[1], &prices.Movement{At: h.clock.Now(), Price: 93000_00})
	require.EqualValues(t, 93000_00, h.venue.Last(1))
	require.Equal(t, `{"market":"BTC-EUR","price":"94000"}`, h.ok("/ticker/price?market=BTC-EUR"),
		"the order's trade; the movement had none")
	require.Contains(t, h.ok("/BTC-EUR/book?depth=1"), `"bids":[["92953.5",`)
}

func BenchmarkIdleSecondOfAMarket(b *testing.B) {
	h := newHall(b, prices.Synthetic{Price: "95000"}, nil)
	for b.Loop() {
		h.pass(time.Second)
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
