package shipped_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// startMaker has quotes of 100 EUR that stand 1 % around the middle, shifted by at most 0.5 %, and
// move by 0.1 %; the position may be worth 400 EUR.
func startMaker(t *testing.T, more map[string]any) *stage {
	return begin(t, 2, 2, 1000_00).with(shipped.Maker, market.Interval1m, map[string]any{"half_spread_bps": "100",
		"skew_bps": "50", "move_bps": "10", "money": "100", "max_money": "400"}, more)
}

func (s *stage) book(bid, ask market.Price, want ...string) {
	s.Helper()
	s.Book(s.strategy, s.desk, market.OrderBook{Market: s.market.ID, Bids: []market.Level{{Price: bid}},
		Asks: []market.Level{{Price: ask}}})
	require.Equal(s, want, s.Asked())
}

// hold gives the strategy a position at 100.
func (s *stage) hold(amount market.Qty) {
	s.Deposit(s.market, market.Money(amount)*100)
	id, err := s.desk.In(s.market.ID).Buy(strategy.Amount(amount))
	require.NoError(s, err)
	s.Fill(id, 100_00, amount)
	s.Asked()
}

func TestWithoutAPositionOnlyTheBuyIsQuoted(t *testing.T) {
	s := startMaker(t, nil)
	s.book(99_90, 100_10, "buy 1 at 99.49 post-only (bid)") // 100 · 1.005 · 0.99 = 99.495
}

func TestAtHalfTheLimitNothingIsShifted(t *testing.T) {
	s := startMaker(t, nil)
	s.hold(2_00)
	// upwards from nothing: the sell first
	s.book(99_90, 100_10, "sell 1 at 101 post-only (ask)", "buy 1 at 99 post-only (bid)")
}

func TestAtTheLimitBothQuotesLeanDownAndNothingIsBought(t *testing.T) {
	s := startMaker(t, nil)
	s.hold(4_00)
	s.book(99_90, 100_10, "sell 1 at 100.5 post-only (ask)") // 100 · 0.995 · 1.01 = 100.495
}

func TestQuotesMoveByUpdateFromTheThresholdOn(t *testing.T) {
	s := startMaker(t, nil)
	s.hold(2_00)
	s.book(99_90, 100_10, "sell 1 at 101 post-only (ask)", "buy 1 at 99 post-only (bid)")
	s.book(99_95, 100_15) // 0.05 %
	// 100 EUR are less base now
	s.book(100_90, 101_10, "update 2 price 102.01 amount 0.99", "update 3 price 99.99 amount 0.99")
	// downwards: the buy first
	s.book(98_90, 99_10, "update 3 price 98.01", "update 2 price 99.99")
}

func TestAMovePutsBackWhatPartialFillsTook(t *testing.T) {
	s := startMaker(t, map[string]any{"skew_bps": "0"})
	s.book(99_90, 100_10, "buy 1 at 99 post-only (bid)")
	s.Fill(1, 99_00, 30)
	s.book(99_90, 100_10, "sell 0.3 at 101 post-only (ask)") // the buy stays: the price has not moved
	s.book(98_90, 99_10, "update 1 price 98.01 amount 1.31", "update 2 price 99.99")
}

func TestTheLimitCancelsARestingBuy(t *testing.T) {
	s := startMaker(t, map[string]any{"skew_bps": "0"})
	s.Pending = true
	s.book(99_90, 100_10, "buy 1 at 99 post-only (bid)")
	s.hold(4_00)
	s.book(99_90, 100_10, "cancel 1", "sell 1 at 101 post-only (ask)")
	s.book(99_90, 100_10) // the cancel is on its way
	s.Drop(1)
	s.book(99_90, 100_10)
}

func TestAQuoteNeverReachesTheOtherSide(t *testing.T) {
	s := startMaker(t, map[string]any{"half_spread_bps": "1", "skew_bps": "200"})
	s.hold(4_00)
	s.book(99_90, 100_10, "sell 1 at 99.91 post-only (ask)")

	s = startMaker(t, map[string]any{"half_spread_bps": "1", "skew_bps": "200"})
	s.market.TickSize = 10
	s.book(99_90, 100_10, "buy 1 at 100 post-only (bid)")
}

func TestARefusedMoveCancelsTheQuote(t *testing.T) {
	s := startMaker(t, nil)
	s.book(99_90, 100_10, "buy 1 at 99.49 post-only (bid)")
	s.Refuse = func(c *market.Command) error {
		if c.Kind == market.CommandUpdate {
			return errors.New("too many orders a minute")
		}
		return nil
	}
	s.book(98_90, 99_10, "update 1 price 98.49 refused", "cancel 1")
	s.book(98_90, 99_10, "buy 1.01 at 98.49 post-only (bid)")
}

func TestARefusedQuoteWaitsForAnotherPrice(t *testing.T) {
	s := startMaker(t, nil)
	s.Refuse = func(*market.Command) error { return errors.New("collar") }
	s.book(99_90, 100_10, "buy 1 at 99.49 post-only (bid)"+" refused")
	s.book(99_90, 100_10)
	s.Refuse = nil
	s.book(99_91, 100_11)
	s.book(100_90, 101_10, "buy 0.99 at 100.48 post-only (bid)")
}

func TestAQuoteWithoutAnAnswerIsLeftAlone(t *testing.T) {
	s := startMaker(t, nil)
	s.book(99_90, 100_10, "buy 1 at 99.49 post-only (bid)")
	s.Change(1, func(o *market.Order) { o.Status = 0 })
	s.book(98_90, 99_10)
}

// answer tells the strategy that the exchange refused a command.
func (s *stage) answer(id market.OrderID, command market.CommandKind) {
	o, open := s.desk.Order(id)
	require.True(s, open)
	s.strategy.(strategy.OrderHandler).OnOrder(s.desk, o,
		market.Report{Exec: market.ExecRejected, Order: o.ID, Market: o.Market, Command: command})
}

func TestAMoveOnItsWayIsWaitedForUntilItIsRejected(t *testing.T) {
	s := startMaker(t, nil)
	s.book(99_90, 100_10, "buy 1 at 99.49 post-only (bid)")
	s.book(98_90, 99_10, "update 1 price 98.49")
	s.Change(1, func(o *market.Order) { o.Price = 99_49 }) // the exchange has not moved it yet
	s.book(97_90, 98_10)
	s.answer(1, market.CommandUpdate)
	s.book(97_90, 98_10, "update 1 price 97.5")
}

func TestAMoveThatTheExchangeNeverHeardOfIsAskedForAgainAfterARestart(t *testing.T) {
	s := startMaker(t, nil)
	s.book(99_90, 100_10, "buy 1 at 99.49 post-only (bid)")
	s.book(98_90, 99_10, "update 1 price 98.49")
	// the bot was killed; in the end the order is told as it is, and it is as it was
	s.Change(1, func(o *market.Order) { o.Price = 99_49 })
	o, _ := s.desk.Order(1)
	s.strategy.(strategy.OrderHandler).OnOrder(s.desk, o,
		market.Report{Exec: market.ExecUpdated, Order: o.ID, Market: o.Market})
	s.book(98_90, 99_10, "update 1 price 98.49")
}

func TestARejectedCancelIsAskedForAgain(t *testing.T) {
	s := startMaker(t, nil)
	s.Pending = true
	s.book(99_90, 100_10, "buy 1 at 99.49 post-only (bid)")
	s.Refuse = func(c *market.Command) error {
		if c.Kind == market.CommandUpdate {
			return errors.New("collar")
		}
		return nil
	}
	s.book(98_90, 99_10, "update 1 price 98.49 refused", "cancel 1")
	s.book(98_90, 99_10)
	s.answer(1, market.CommandCancel)
	s.book(98_90, 99_10, "update 1 price 98.49 refused", "cancel 1")
}

func TestARejectedQuoteWaitsForAnotherPrice(t *testing.T) {
	s := startMaker(t, nil)
	s.book(99_90, 100_10, "buy 1 at 99.49 post-only (bid)")
	s.answer(1, market.CommandPlace)
	s.Drop(1)
	s.book(99_90, 100_10)
	s.book(98_90, 99_10, "buy 1.01 at 98.49 post-only (bid)")
}

func TestTheBuyIsNoLargerThanTheCash(t *testing.T) {
	s := startMaker(t, nil)
	s.Deposit(s.market, -950_00)
	s.book(99_90, 100_10, "buy 0.49 at 99.49 post-only (bid)") // 99 % of 50 EUR
}

func TestTickersQuoteUntilABookIsSeen(t *testing.T) {
	s := startMaker(t, nil)
	ticker := market.Ticker{Market: s.market.ID, Bid: 99_90, Ask: 100_10}
	s.strategy.OnTicker(s.desk, market.Ticker{Market: s.market.ID, Last: 100_00})
	require.Empty(t, s.Asked()) // no bid, no ask
	s.strategy.OnTicker(s.desk, ticker)
	require.Equal(t, []string{"buy 1 at 99.49 post-only (bid)"}, s.Asked())
	s.book(98_90, 99_10, "update 1 price 98.49")
	s.strategy.OnTicker(s.desk, ticker)
	require.Empty(t, s.Asked())
}

func TestAnEmptySideOfTheBookChangesNothing(t *testing.T) {
	s := startMaker(t, nil)
	s.Book(s.strategy, s.desk, market.OrderBook{Market: s.market.ID, Bids: []market.Level{{Price: 99_90}}})
	require.Empty(t, s.Asked())
}

func TestItAsksForABookUnlessToldNotTo(t *testing.T) {
	needs, err := shipped.Maker.Needs(nil)
	require.NoError(t, err)
	require.Equal(t, strategy.Needs{Ticker: true, Book: true}, needs)
	needs, err = shipped.Maker.Needs(map[string]any{"book": false})
	require.NoError(t, err)
	require.Equal(t, strategy.Needs{Ticker: true}, needs)
	var bench strategytest.Bench
	bench.Market("BTC-EUR", 2, 4, 1000_00)
	_, err = shipped.Maker.New(map[string]any{"money": int64(2000)}, bench.Setup(market.Interval1h))
	require.EqualError(t, err, "strategy maker: parameter money: 2000 quote is above max_money, which is 1000 quote")
	_, err = shipped.Maker.New(map[string]any{"money": "5% equity"}, bench.Setup(market.Interval1h))
	require.EqualError(t, err,
		`strategy maker: parameter money: 5% equity: want an amount of money, such as "25 quote"`)
}
