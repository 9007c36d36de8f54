package backtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/footprint"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// recordedBook enters a book of one level on each side: amounts of 0.01.
func recordedBook(t *testing.T, s *Session, at market.Time, bid market.Price, amount market.Qty, ask market.Price) {
	enter(t, s, &market.Event{Kind: market.KindBook, At: at, Market: 1, Book: &market.OrderBook{Market: 1, Time: at,
		Bids: []market.Level{{Price: bid, Amount: amount}}, Asks: []market.Level{{Price: ask, Amount: amount}}}})
}

func recordedTrade(t *testing.T, s *Session, at market.Time, price market.Price, amount market.Qty, taker market.Side) {
	enter(t, s, &market.Event{Kind: market.KindTrade, At: at, Market: 1,
		Trade: &market.Trade{Market: 1, Time: at, Price: price, Amount: amount, Side: taker}})
}

func TestARestingOrderWaitsForItsTurnInTheRecordedBook(t *testing.T) {
	asked := false
	s := &told{onTicker: func(d *strategy.Desk, _ market.Ticker) {
		if !asked {
			_, err := d.In(1).Buy(strategy.Amount(1_000_000), strategy.At(99_90))
			require.NoError(t, err)
			asked = true
		}
	}}
	dir := t.TempDir()
	run := liveSession(t, s, func(p *Plan, o *SessionOptions) { p.Venue.LimitFill, o.Out = sim.Queue, dir })
	recordedBook(t, run, 9*second, 99_90, 5_000_000, 100_10)
	ticker(t, run, 10*second, 100_00, 99_90, 100_10)
	recordedTrade(t, run, 11*second, 99_90, 5_000_000, market.Sell)
	require.Empty(t, s.fills)
	recordedTrade(t, run, 12*second, 99_90, 400_000, market.Sell)
	recordedTrade(t, run, 13*second, 99_80, 9_000_000, market.Sell)
	require.Len(t, s.fills, 2)
	require.Equal(t, market.Qty(400_000), s.fills[0].Amount)
	require.Equal(t, market.Price(99_90), s.fills[1].Price)

	res, err := run.End(t.Context())
	require.NoError(t, err)
	require.Equal(t, &sim.QueueCounts{Orders: 1, Large: 1, Queued: 1, Through: 1}, res.Queue)
	require.Contains(t, res.Warnings, "1 of 1 orders were larger than a tenth of the displayed depth that they took "+
		"from or joined: what the market would have done because of them is not known")
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "<h2>Orders in recorded books</h2>")
	require.Contains(t, string(page), "<td>larger than a tenth of the depth</td><td>1</td>")
}

// The recorded bot had the same order in the book: the order of the session stands behind others
// alone.
func TestTheRecordedAccountIsNotInTheWay(t *testing.T) {
	for _, clean := range []bool{false, true} {
		asked := false
		s := &told{onTicker: func(d *strategy.Desk, _ market.Ticker) {
			if !asked {
				_, err := d.In(1).Buy(strategy.Amount(1_000_000), strategy.At(99_90))
				require.NoError(t, err)
				asked = true
			}
		}}
		run := liveSession(t, s, func(p *Plan, o *SessionOptions) {
			p.Venue.LimitFill = sim.Queue
			if clean {
				o.Others = footprint.New(p.Catalog)
				o.Others.Rest(footprint.Rest{At: 8 * second, Order: 77, Market: 1, Side: market.Buy, Price: 99_90,
					Amount: 1_000_000})
			}
		})
		recordedBook(t, run, 9*second, 99_90, 5_000_000, 100_10)
		ticker(t, run, 10*second, 100_00, 99_90, 100_10)
		recordedTrade(t, run, 11*second, 99_90, 5_000_000, market.Sell)
		require.Equal(t, clean, len(s.fills) == 1)
	}
}
