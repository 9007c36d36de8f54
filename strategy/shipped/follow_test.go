package shipped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

func startFollow(t *testing.T, values map[string]any) *stage {
	return begin(t, 0, 2, 1000_00).with(shipped.Follow, market.Interval1h, values)
}

// hears lets the strategy hear a signal a second later.
func (s *stage) hears(heard market.Signal, want ...string) {
	s.Helper()
	s.At += market.Time(time.Second)
	if heard.Time == 0 {
		heard.Time = s.At
	}
	s.Signal(s.strategy.(strategy.SignalHandler), s.desk, heard)
	require.Equal(s, want, s.Asked())
}

// ends fills the only open order, and tells the strategy.
func (s *stage) ends(price market.Price, want ...string) {
	s.Helper()
	o := s.desk.OpenOrders()[0]
	s.Fill(o.ID, price, o.AmountRemaining)
	o.Status = market.StatusFilled
	s.strategy.(strategy.OrderHandler).OnOrder(s.desk, o, market.Report{})
	require.Equal(s, want, s.Asked())
}

// stops sells everything, as a stop does.
func (s *stage) stops(price market.Price) {
	s.Helper()
	_, err := s.desk.In(1).Sell(strategy.PositionShare(100 * market.Percent))
	require.NoError(s, err)
	s.Asked()
	s.ends(price)
}

func act(a market.Action) market.Signal { return market.Signal{Source: "model", Market: 1, Action: a} }
func stand(p market.Stance) market.Signal {
	return market.Signal{Source: "model", Market: 1, Stance: p}
}
func weigh(w float64) market.Signal {
	return market.Signal{Source: "model", Market: 1, Target: w, HasTarget: true}
}

func TestActionsBuyAndLeave(t *testing.T) {
	s := startFollow(t, map[string]any{"size": "50% cash", "stop": "10%", "target": "20%"})
	s.closes(100)
	s.hears(act(market.ActSell)) // there is nothing to sell
	s.hears(act(market.ActBuy), "buy 5 stop 90 target 120 (signal)")
	s.hears(act(market.ActBuy)) // its order is open
	s.ends(100)
	s.hears(act(market.ActBuy)) // it holds
	s.closes(110)
	s.hears(act(market.ActExit), "close all (signal over)")
	s.hears(act(market.ActSell)) // one is under way
	s.hears(act(market.ActBuy))  // it waits for the end of the sale
	s.ends(110, "buy 4.77 stop 99 target 132 (signal)")
	s.closes(110)
}

func TestAStateIsDoneOnceAndWhenItCanBe(t *testing.T) {
	s := startFollow(t, map[string]any{"size": "50% cash", "limit": "5%"})
	s.hears(stand(market.StanceLong)) // there is no price
	s.closes(100, "buy 5.26 at 95 (signal)")
	s.hears(stand(market.StanceFlat), "close all (signal over)") // which cancels the buy
	s.closes(100)
	s.hears(stand(market.StanceLong), "buy 5.26 at 95 (signal)")
	s.ends(95)
	s.hears(stand(market.StanceLong))
	s.stops(80)
	s.closes(80)                                                 // the state does not buy again …
	s.hears(stand(market.StanceLong), "buy 6.05 at 76 (signal)") // … but the next one does
}

func TestATargetMovesThePositionByABandAtLeast(t *testing.T) {
	s := startFollow(t, map[string]any{"band": "10%"})
	s.closes(100)
	s.hears(weigh(0.5), "buy 5 (signal weight)")
	s.ends(100)
	s.hears(weigh(0.55))
	s.hears(weigh(0.3), "sell 2 (signal weight)")
	s.ends(100)
	s.hears(weigh(0), "close all (signal over)")
}

func TestWhatIsOldDoesNothing(t *testing.T) {
	s := startFollow(t, map[string]any{"size": "50% cash"})
	s.closes(100)
	revised := act(market.ActBuy)
	s.hears(stand(market.StanceFlat))
	revised.Time = 1
	s.hears(revised)
	s.hears(act(market.ActBuy), "buy 5 (signal)")
	s.ends(100)
	s.hears(act(market.ActSell), "close all (signal over)")
	short := act(market.ActBuy)
	short.Until = s.At + market.Time(time.Minute)
	s.hears(short)
	s.At += market.Time(time.Hour)
	s.ends(100) // it held for a minute
	require.Empty(t, s.desk.OpenOrders())
}

func TestASignalAboutNoMarketIsAboutAll(t *testing.T) {
	s := begin(t, 0, 2, 1000_00, 0).with(shipped.Follow, market.Interval1h, map[string]any{"size": "30% cash"})
	s.closes(100)
	s.hears(market.Signal{Source: "model", Stance: market.StanceLong}, "buy 3 on BTC-EUR (signal)",
		"buy 3 on ETH-EUR (signal)")
	needs, err := shipped.Follow.Needs(map[string]any{"source": "mood"})
	require.NoError(t, err)
	require.Equal(t, []string{"mood"}, needs.Signals)
}

// A sale that failed is tried again, unless a buy has come since.
func TestASaleThatFailedIsTriedAgain(t *testing.T) {
	s := startFollow(t, map[string]any{"size": "50% cash"})
	s.closes(100)
	s.hears(act(market.ActBuy), "buy 5 (signal)")
	s.ends(100)
	s.hears(act(market.ActSell), "close all (signal over)")
	s.Drop(s.desk.OpenOrders()[0].ID)
	s.strategy.(strategy.CloseHandler).OnCloseFailed(s.desk, strategy.CloseFailed{Market: 1})
	s.closes(100, "close all (signal over)")
}
