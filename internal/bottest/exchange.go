package bottest

import (
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
)

// Exchange configures an exchange: a market that moves, with liquidity on both sides, and the
// account of the bot beside another.
func Exchange(seed uint64) sandbox.Config {
	keys := func(key, secret string, budget int) api.Key {
		return api.Key{Key: key, Secret: secret, Read: true, Trade: true, Budget: budget}
	}
	return sandbox.Config{
		Assets: []sandbox.Asset{{Symbol: "EUR", Decimals: 2}, {Symbol: "BTC", Decimals: 8}},
		Markets: []sandbox.Market{{Name: "BTC-EUR", PriceDigits: 2, TickSize: "1", QuantityDecimals: 8,
			NotionalDecimals: 2, MinOrderInBase: "0.0001", MinOrderInQuote: "5", MaxOrderInBase: "1000",
			MaxOrderInQuote: "1000000000", MaxOpenOrders: 100, FeeCategory: "A",
			Source: prices.Synthetic{Price: "30000",
				Volatility: 0.3}, Liquidity: sandbox.Liquidity{Levels: 20, HalfSpread: 5_000, Size: "0.05"}}},
		Accounts: []sandbox.Account{
			{Name: "bot", Balances: map[string]string{"EUR": "20000", "BTC": "1"},
				Keys: []api.Key{keys(BotKey, BotSecret, 0), keys(AuditorKey, "secret of the auditor", 1_000_000)}},
			{Name: "other", Balances: map[string]string{"EUR": "1000000", "BTC": "100"},
				Keys: []api.Key{keys(OtherKey, "secret of the other", 1_000_000)}},
		},
		Tiers: []sandbox.Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": {Maker: 150_000, Taker: 250_000}}}},
		Seed:  seed, History: time.Hour, Budget: api.Budget{PerIP: -1},
	}
}

// The keys of the exchange's accounts: two of the bot's account, of which no fault strikes the
// auditor's, and one of the other account.
const (
	BotKey     = "b0t-b0t-b0t-b0t-b0t-b0t-b0t-b0t-b0t-b0t-b0t-b0t-b0t-b0t-b0t-b0t-"
	AuditorKey = "aud1aud1aud1aud1aud1aud1aud1aud1aud1aud1aud1aud1aud1aud1aud1aud1"
	OtherKey   = "0th30th30th30th30th30th30th30th30th30th30th30th30th30th30th30th3"
)

// BotSecret belongs to BotKey. No file and no log may contain it.
const BotSecret = "the-secret-words-of-the-bot-that-must-not-be-seen-anywhere"
