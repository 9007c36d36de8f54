package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// scripted is a source that trades one ADA at each of some prices, one a second from the start on.
func scripted(prices ...market.Price) func(*Config) {
	return func(c *Config) { c.Markets[2].Source = script(prices) }
}

type script []market.Price

func (s script) Movements(start prices.Start) (prices.Movements, error) {
	place := 0
	return func(m *prices.Movement) (bool, error) {
		if place == len(s) {
			return false, nil
		}
		*m = prices.Movement{At: start.From.Add(time.Duration(place) * time.Second), Price: s[place], Amount: 1_000_000,
			Side: market.Sell}
		place++
		return true, nil
	}, nil
}

func TestMarketsAndAssetsTellTheirRules(t *testing.T) {
	s := newStage(t, func(c *Config) {
		c.Assets[1].Networks, c.Assets[1].Status, c.Assets[3].Name = []string{"BTC", "LN"}, "MAINTENANCE", `"€"`
		c.Assets[0].Networks = nil
	})
	ada := s.ex.listings[3]
	ada.Status, ada.MaxOrderInBase, ada.MaxOrderInQuote = market.CancelOnly, 5_000_000, 9900
	s.has(s.one("", "GET /markets market=ADA-EUR"), "status=cancelOnly", "maxOrderInBaseAsset=5.000000",
		"maxOrderInQuoteAsset=99.00")
	s.ex.listings[2].MaxOrderInBase, s.ex.listings[2].MaxOrderInQuote = 0, 0 // none
	s.has(s.one("", "GET /markets market=ETH-EUR"), "maxOrderInBaseAsset=1000000000",
		"maxOrderInQuoteAsset=1000000000")
	s.has(s.one("", "GET /assets symbol=BTC"), "depositStatus=MAINTENANCE", "withdrawalStatus=MAINTENANCE",
		`networks:=["BTC","LN"]`)
	s.has(s.one("", "GET /assets symbol=EUR"), `networks:=["SEPA"]`)
	s.has(s.one("", "GET /assets symbol=ADA"), `name="€"`, `networks:=["ADA"]`)
}

func TestTheTickerOfADayForgetsWhatIsOlder(t *testing.T) {
	s := newStage(t, scripted(50000, 52000, 49000, 51000))
	ticker := func() string { return s.get("/ticker/24h?market=ADA-EUR").ok(t).body }
	nulls := `"open":null,"openTimestamp":null,"high":null,"low":null,"last":null,"closeTimestamp":null,"bid":null,` +
		`"bidSize":null,"ask":null,"askSize":null,"volume":null,"volumeQuote":null}`
	s.pass(time.Hour)
	require.Equal(t, `{"market":"ADA-EUR","startTimestamp":1767531615000,"timestamp":1767618015000,"open":"0.5",`+
		`"openTimestamp":1767614415000,"high":"0.52","low":"0.49","last":"0.51","closeTimestamp":1767614418000,"bid":null,`+
		`"bidSize":null,"ask":null,"askSize":null,"volume":"4","volumeQuote":"2.02"}`, ticker())
	s.pass(23*time.Hour + 2500*time.Millisecond) // to the trade, while the tape remembers it
	s.has(s.one("", "GET /ticker/24h market=ADA-EUR"), "open=0.51", "openTimestamp:=1767614418000", "high=0.51",
		"low=0.51", "volume=1", "volumeQuote=0.51")
	s.pass(time.Second)
	require.True(t, strings.HasSuffix(ticker(), nulls))
}

func TestReportsNameOrdersAndCurrencies(t *testing.T) {
	s := newStage(t)
	for _, order := range []string{"amount=1 price=100", "amount=2 price=100", "amount=3 price=99"} {
		s.place("alice", "buy limit "+order)
	}
	const at = "=2026-01-05T12:00:15.000000Z"
	report := s.one("", "GET /report/BTC-EUR/book depth=4")
	s.has(report, "assetCode=BTC", "assetName=Bitcoin", "priceCurrency=EUR", "quantityCurrency=BTC",
		"publicationTimestamp"+at)
	s.has(report["bids"].([]any)[0].(map[string]any), "numOrders:=2", "quantity=3")
	s.has(report["bids"].([]any)[1].(map[string]any), "side=BUYI", "price=99", "quantity=3", "numOrders:=1")
	s.place("bob", "sell limit amount=1 price=100")
	s.has(s.rows("", "GET /report/BTC-EUR/trades")[0], "price=100", "quantity=1", "priceCurrency=EUR",
		"quantityCurrency=BTC", "transactTimestamp"+at)
}

func TestBookCandlesAndTradesAreWrittenWithoutGarbage(t *testing.T) {
	s := newStage(t, func(c *Config) {
		c.Markets[0].Source, c.History = prices.Synthetic{Price: "95000"}, 24*time.Hour
		c.Markets[0].Liquidity = Liquidity{Levels: 3, HalfSpread: 50_000, Size: "1"}
	})
	for _, path := range []string{"/{market}/book", "/{market}/candles", "/{market}/trades"} {
		e := s.ex.bind(endpoints).Named("GET " + path)
		c := &api.Call{Endpoint: e, Now: rigStart, Args: make(api.Arguments, len(e.Params)),
			Out: make([]byte, 0, 1<<20)}
		*c.Arg("market") = api.Argument{Set: true, Text: "BTC-EUR"}
		if path == "/{market}/candles" {
			*c.Arg("interval") = api.Argument{Set: true, Text: "1m"}
		}
		require.Zero(t, testing.AllocsPerRun(10, func() {
			c.Out = c.Out[:0]
			_ = c.Endpoint.Do(c)
		}), path)
		require.Greater(t, len(c.Out), 150, path)
	}
}
