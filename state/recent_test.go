package state

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// piece is one thing that the exchange tells: a fill without its fee, a fill with it, the fee
// alone, or the end of an order.
type piece struct {
	order int
	fill  int // −1: the end of the order
	fee   bool
}

// traded is what happened at the exchange: orders of one strategy, and their fills by time.
type traded struct {
	orders []market.Order
	fills  []market.Fill
	of     []int // by fill: its order
}

// drawTrades makes up orders and fills as an exchange settles them: the total of an order is
// rounded to whole cents.
func drawTrades(t *rapid.T, m *market.Market) traded {
	var w traded
	settled := map[int]*exchange.Settlement{}
	held := market.Qty(0)
	for i := range rapid.IntRange(1, 12).Draw(t, "fills") {
		side := market.Buy
		if held > 0 && rapid.Bool().Draw(t, "sells") {
			side = market.Sell
		}
		amount := market.Qty(rapid.Int64Range(1, 3e8).Draw(t, "amount"))
		if side == market.Sell {
			amount = min(amount, held)
		}
		o := len(w.orders)
		if n := o - 1; n >= 0 && w.orders[n].Side == side && rapid.Bool().Draw(t, "same order") {
			o = n
		} else {
			w.orders = append(w.orders, market.Order{ID: market.OrderID(o + 1), Strategy: 1, Market: m.ID,
				Type: market.TypeLimit, Side: side})
			settled[o] = &exchange.Settlement{}
		}
		f := market.Fill{ID: uuid.UUID{15: byte(i + 1)}, Order: market.OrderID(o + 1), Market: m.ID, Strategy: 1,
			Side: side, Settled: true,
			Amount: amount, Price: market.Price(rapid.Int64Range(1, 9_999_99).Draw(t, "price")), Time: market.Time(i/2 +
				1)}
		gross, err := m.Value(f.Price, f.Amount)
		require.NoError(t, err)
		rate := market.Rate(rapid.SampledFrom([]int64{250_000, 150_000, 0}).Draw(t, "rate"))
		_, f.Fee, err = settled[o].Fill(m, side, gross, rate, exchange.RoundOrder)
		require.NoError(t, err)
		w.orders[o].Amount += amount
		w.fills, w.of = append(w.fills, f), append(w.of, o)
		held += amount
		if side == market.Sell {
			held -= 2 * amount
		}
	}
	return w
}

// tell lets an account hear all of it in some order, with everything sent before anything is heard.
func (w *traded) tell(t require.TestingT, d *desk, pieces []piece) {
	for i := range w.orders {
		d.Send(&w.orders[i], 0)
	}
	w.tellOn(t, d, pieces)
}

// rich is an account with money and base of which no position knows.
func rich(t testing.TB) *desk {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 1e15)
	d.deposit(1, d.m.Base, 1e15)
	return d
}

// tellOn is tell for orders that have been sent.
func (w *traded) tellOn(t require.TestingT, d *desk, pieces []piece) {
	heard := make([]bool, len(w.fills))
	for _, p := range pieces {
		o := d.Known(market.OrderID(p.order + 1))
		if p.fill >= 0 {
			f := w.fills[p.fill]
			if p.fee = p.fee || heard[p.fill]; !p.fee {
				f.Settled, f.Fee = false, market.Value{}
			}
			heard[p.fill] = true
			_, err := d.Apply(&market.Event{Kind: market.KindFill, Fills: []market.Fill{f}})
			require.NoError(t, err)
		} else if o != nil {
			r := market.ReportOf(&w.orders[p.order], market.ExecTrade)
			r.Status, r.FilledAmount, r.Updated = market.StatusFilled, r.Amount, market.Time(len(w.fills)+1)
			_, err := d.Apply(&market.Event{Kind: market.KindReport, Report: &r})
			require.NoError(t, err)
		}
		require.NoError(t, d.Check())
	}
}

func (w *traded) inOrder() (pieces []piece) {
	for i := range w.fills {
		pieces = append(pieces, piece{order: w.of[i], fill: i, fee: true})
	}
	for i := range w.orders {
		pieces = append(pieces, piece{order: i, fill: -1})
	}
	return pieces
}

// twice is all of it with every fill told twice, so that its fee can come later than the fill.
func (w *traded) twice() (pieces []piece) {
	for i := range w.fills {
		pieces = append(pieces, piece{order: w.of[i], fill: i}, piece{order: w.of[i], fill: i, fee: true})
	}
	for i := range w.orders {
		pieces = append(pieces, piece{order: i, fill: -1})
	}
	return pieces
}

func TestBooksAreTheSameInWhateverOrderFillsFeesAndEndsArrive(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		inTime := rich(t)
		w := drawTrades(r, inTime.m)
		w.tell(r, inTime, w.inOrder())
		late := rich(t)
		late.KeepRecent(1000)
		w.tell(r, late, rapid.Permutation(w.twice()).Draw(r, "arrivals"))
		require.Equal(r, inTime.Position(1, 1), late.Position(1, 1))
		require.Equal(r, inTime.totals(1), late.totals(1))
	})
}

func TestFeesThatComeLateChangeNothingWhereFillsComeInTime(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		inTime := rich(t)
		w := drawTrades(r, inTime.m)
		w.tell(r, inTime, w.inOrder())
		late := rich(t)
		pieces := w.twice()
		fees := rapid.Permutation(slices.DeleteFunc(slices.Clone(pieces), func(p piece) bool { return !p.fee })).Draw(r,
			"fees")
		w.tell(r, late, append(slices.DeleteFunc(pieces, func(p piece) bool { return p.fee }), fees...))
		require.Equal(r, inTime.Position(1, 1), late.Position(1, 1))
		require.Equal(r, inTime.totals(1), late.totals(1))
		require.Nil(r, late.historyOf(1, 1), "nothing can change any more")
	})
}

func TestAPositionWithItsHistorySurvivesARestart(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		whole, cut := rich(t), rich(t)
		whole.KeepRecent(1000)
		cut.KeepRecent(1000)
		w := drawTrades(r, whole.m)
		pieces := rapid.Permutation(w.twice()).Draw(r, "arrivals")
		w.tell(r, whole, pieces)
		at := rapid.IntRange(0, len(pieces)).Draw(r, "restart")
		w.tell(r, cut, pieces[:at])
		saved := wholeText(r, cut.Account, []string{"one"})
		again := newDesk(t, 1, nil)
		again.KeepRecent(1000)
		require.NoError(r, restoreText(again.Account, saved, []string{"one"}))
		heard := make(map[int]bool)
		for _, p := range pieces[:at] {
			heard[p.fill] = true
		}
		rest := slices.Clone(pieces[at:])
		for i := range rest {
			rest[i].fee = rest[i].fee || heard[rest[i].fill]
		}
		w.tellOn(r, again, rest)
		require.Equal(r, whole.Position(1, 1), again.Position(1, 1))
		require.Equal(r, whole.totals(1), again.totals(1))
	})
}

func TestAHistoryIsBounded(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 1_000_000*eur)
	o := d.send(market.Buy, 2000, 10*at1, 0)
	first := market.Fill{}
	for i := range 2 * maxSteps {
		f := d.fillOf(o, 1, 10*at1, 0)
		f.ID, f.Settled, f.Time = uuid.UUID{13: byte(i >> 8), 14: byte(i), 15: 1}, false, market.Time(i+1)
		if i == 0 {
			first = f
		}
		d.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{f}})
	}
	require.Len(t, d.historyOf(1, 1).steps, maxSteps)
	first.Settled, first.Fee = true, market.ValueOf(7)
	d.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{first}})
	require.Equal(t, market.ValueOf(7), d.Position(1, 1).Fees)
}

// A sale of more than its strategy holds is covered from another strategy. The books hear of the
// sale after that, at an earlier time: what came is sold all the same, in either order.
func TestBaseThatCoversASaleIsSold(t *testing.T) {
	for name, saleFirst := range map[string]bool{"the sale is heard last": false, "the sale is heard first": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, 1, nil)
			d.KeepRecent(market.Duration(1e12))
			d.deposit(1, d.m.Quote, 1_000_000*eur)
			buy := d.send(market.Buy, 2000, at1, 0)
			bought := d.fillOf(buy, 10, at1, 0)
			bought.ID, bought.Time = uuid.UUID{1}, 1
			d.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{bought}})
			covers := market.Event{At: 9, Kind: market.KindTransfer, Asset: d.m.Base, Market: 1, Owner: 1, Money: 5,
				Price: at1}
			if !saleFirst {
				d.apply(covers)
			} else {
				d.deposit(1, d.m.Base, 5)
			}
			sale := d.send(market.Sell, 15, at1, 0)
			sold := d.fillOf(sale, 15, at1, 0)
			sold.ID, sold.Time = uuid.UUID{2}, 5
			d.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{sold}})
			if saleFirst {
				d.apply(covers)
			}
			require.Zero(t, d.Position(1, 1).Amount)
			require.Zero(t, d.Position(1, 1).Cost.Sign())
			require.NoError(t, d.Check())
		})
	}
}
