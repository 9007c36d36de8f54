package sandbox

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// newPaper is a stage whose first market is quoted from outside, with an endless house, and kept in
// a file.
func newPaper(t *testing.T) *stage {
	s := newStage(t, paperHouse, stateful(filepath.Join(t.TempDir(), "paper.db")))
	t.Cleanup(func() { _ = s.ex.store.db.Close() })
	return s
}

func paperHouse(c *Config) {
	for i := range c.Markets {
		c.Markets[i].Source, c.Markets[i].Liquidity = nil, Liquidity{Levels: 1, Endless: true}
	}
}

// quote moves BTC-EUR: prices in whole euros.
func (s *stage) quote(last, bid, ask market.Price) {
	s.t.Helper()
	require.NoError(s.t, s.ex.SetQuote("BTC-EUR", last*100, bid*100, ask*100))
}

func TestOrdersFillAtTheBidAndAskThatAreQuoted(t *testing.T) {
	s := newPaper(t)
	s.quote(30000, 29990, 30020)
	s.has(s.one("alice", "GET /ticker/book market=BTC-EUR"), "bid=29990", "ask=30020")
	s.has(s.place("alice", "buy market amount=3").fills()[0], "price=30020", "taker:=true")
	s.has(s.place("alice", "sell market amount=3").fills()[0], "price=29990", "taker:=true")
	resting := s.place("alice", "buy limit amount=1 price=30000 postOnly=true")
	s.has(resting, "status=new")
	s.quote(30000, 29990, 30001)
	s.has(s.again("alice", resting), "status=new")
	s.quote(30000, 29980, 30000) // somebody offers at our price, and nothing has been traded there
	s.has(s.again("alice", resting), "status=filled")
	s.has(s.again("alice", resting).fills()[0], "price=30000", "taker:=false")
}

func TestWhatAQuoteFilledOutlivesAKill(t *testing.T) {
	s := newPaper(t)
	s.quote(30000, 29990, 30010)
	o := s.place("alice", "buy limit amount=1 price=29950")
	s.quote(29950, 29940, 29960)
	filled := s.again("alice", o)
	s.has(filled, "status=filled")
	s.kill()
	require.NoError(t, s.reopen(paperHouse))
	require.Equal(t, filled, s.again("alice", o))
}

func TestStatusAndRulesOfAnotherExchangeAreTakenOver(t *testing.T) {
	s := newPaper(t)
	s.quote(30000, 29990, 30010)
	o := s.place("alice", "buy limit amount=1 price=29950")
	rules := *s.ex.catalog.MarketNamed("BTC-EUR")
	rules.Status, rules.TickSize, rules.MinOrderInQuote = market.Halted, 500, 50_00
	require.NoError(t, s.ex.SetRules("BTC-EUR", &rules))
	s.has(s.one("alice", "GET /markets market=BTC-EUR"), "status=halted", "tickSize=5.00", "minOrderInQuoteAsset=50.00")
	s.refuse("alice", orderLine("buy limit amount=1 price=29950"), 400, 423)
	s.quote(29900, 29890, 29900)
	s.has(s.again("alice", o), "status=new")
	rules.Status = market.Trading
	require.NoError(t, s.ex.SetRules("BTC-EUR", &rules))
	s.has(s.again("alice", o), "status=filled")
	require.ErrorContains(t, s.ex.SetQuote("NO-EUR", 1, 1, 1), "NO-EUR")
	require.NoError(t, s.ex.Close())
	require.ErrorIs(t, s.ex.SetQuote("BTC-EUR", 1, 0, 0), errClosed)
}

func TestAHouseHasASizeOrNoEnd(t *testing.T) {
	for _, house := range [...]Liquidity{{Levels: 1}, {Levels: 1, Size: "1", Endless: true}} {
		config := rigConfig()
		config.Markets[0].Liquidity = house
		_, err := New(config)
		require.ErrorContains(t, err, "want a size or no end")
	}
}
