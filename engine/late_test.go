package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// answered is an engine that has sent two limit buys of 1 BTC at 50, and hears of them by hand.
func answered(t *testing.T, calls *journal) (*bench, *snapshotCache) {
	s := &script{
		candle: once(func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
			d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
		}),
		order: func(_ *strategy.Desk, o market.Order, r market.Report) { calls.add("order %d %q", o.ID, r.Exec) },
		fill:  func(_ *strategy.Desk, f market.Fill) { calls.add("fill %d", f.ID[15]) },
	}
	book := &snapshotCache{ended: map[market.OrderID]bool{}, t: t}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, observer: book})
	b.step(&market.Event{Kind: market.KindCandles, At: start,
		Candles: []market.Candle{candleOf(1, 100, 100, 100, 100)}})
	*calls = nil
	return b, book
}

// reported makes a report of one of the orders.
func reported(id market.OrderID, updated market.Time, status market.Status, filled market.Qty) *market.Report {
	o := market.Order{ID: id, Market: 1, OrderState: market.OrderState{Status: status, Amount: btc,
		AmountRemaining: btc - filled, FilledAmount: filled, Price: 50 * at1, Updated: updated}}
	r := market.ReportOf(&o, market.ExecTrade)
	return &r
}

func fillNumbered(n byte, id market.OrderID, amount market.Qty) market.Fill {
	return market.Fill{ID: [16]byte{15: n}, Order: id, Market: 1, Strategy: 1, Side: market.Buy, Settled: true,
		Price: 50 * at1, Amount: amount}
}

func TestOfAnOvertakenReportOnlyTheFillsAreHeard(t *testing.T) {
	var calls journal
	b, book := answered(t, &calls)
	whole, part := reported(1, 2, market.StatusFilled, btc), reported(1, 1, market.StatusPartiallyFilled, btc/2)
	b.step(&market.Event{Kind: market.KindReport, At: start, Report: whole,
		Fills: []market.Fill{fillNumbered(2, 1, btc/2)}})
	b.step(&market.Event{Kind: market.KindReport, At: start, Report: part,
		Fills: []market.Fill{fillNumbered(1, 1, btc/2)}})
	b.step(&market.Event{Kind: market.KindReport, At: start, Report: part,
		Fills: []market.Fill{fillNumbered(1, 1, btc/2)}})
	require.Equal(t, journal{"fill 2", `order 1 "trade"`, "fill 1"}, calls)
	require.True(t, book.ended[1]) // and the ledger itself requires: once
	require.Equal(t, btc, book.bought)
}

func TestFillsWithoutAReportAreHeardOnce(t *testing.T) {
	var calls journal
	b, book := answered(t, &calls)
	fills := []market.Fill{fillNumbered(1, 2, btc/4), fillNumbered(2, 2, btc/4)}
	b.step(&market.Event{Kind: market.KindFill, At: start, Fills: fills})
	b.step(&market.Event{Kind: market.KindFill, At: start, Fills: append(fills, fillNumbered(3, 2, btc/4))})
	require.Equal(t, journal{"fill 1", "fill 2", "fill 3"}, calls)
	require.Equal(t, btc*3/4, book.bought)
}

func TestReportsOfStrangersAreHeardByNobody(t *testing.T) {
	var calls journal
	b, _ := answered(t, &calls)
	b.step(&market.Event{Kind: market.KindReport, At: start, Report: reported(99, 1, market.StatusNew, 0)})
	b.step(&market.Event{Kind: market.KindReport, At: start, Report: reported(0, 1, market.StatusNew, 0)})
	require.Empty(t, calls)
	require.Equal(t, int64(1), b.account.Foreign())
}

func TestAnOutcomeThatIsUnknownKeepsTheOrderAndItsHold(t *testing.T) {
	var calls journal
	b, book := answered(t, &calls)
	unknown := &market.Report{Exec: market.ExecUnknown, Command: market.CommandPlace, Order: 1, Market: 1}
	b.step(&market.Event{Kind: market.KindReport, At: start, Report: unknown})
	require.NotNil(t, b.account.Order(1))
	_, held := b.account.Balance(1, 1)
	require.Equal(t, 100*eur, held, "nobody knows: both still hold")
	absent := &market.Report{Exec: market.ExecRejected, Command: market.CommandPlace, Order: 1, Market: 1}
	b.step(&market.Event{Kind: market.KindReport, At: start, Report: absent})
	require.Nil(t, b.account.Order(1))
	require.True(t, book.ended[1])
	require.Equal(t, journal{`order 1 "unknown"`, `order 1 "rejected"`}, calls)
}
