package live

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// inFills is the record of order 1 as filled in n equal parts.
func (p *play) inFills(n int) *exchange.WireOrder {
	o := p.account.Own(1).Order
	r := &exchange.WireOrder{}
	o.Status, o.FilledAmount, o.AmountRemaining, o.OnHold, o.Updated = market.StatusFilled, o.Amount, 0, 0, p.loop.now
	o.FilledAmountQuote, _ = p.account.Catalog().Market(o.Market).Value(o.Price, o.Amount)
	for i := range n {
		f := market.Fill{Market: o.Market, Side: o.Side, Price: o.Price, Amount: o.Amount / market.Qty(n),
			Time: o.Updated, Settled: true}
		binary.BigEndian.PutUint64(f.ID[:], uint64(i+1))
		r.Fills = append(r.Fills, f)
	}
	r.Order = o
	return r
}

// An answer brings twenty thousand fills of one order. They are booked in pages, and between two
// pages the loop hears what is asked of it.
func TestManyFillsOfOneAnswerAreBookedInPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many := 20_000
		if testing.Short() {
			many = 10_000
		}
		p := playing(t, nil, bid(80_00))
		p.run()
		p.tick(2)
		require.NoError(t, p.loop.Do(t.Context(), func(at market.Time) []market.Command {
			p.loop.receive(p.loop.queryOf(1), &reply{from: fromQuery, asked: at, record: p.inFills(many)})
			return nil
		}))
		heard := 0
		for fills := 0; fills < many; heard++ {
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
				fills = p.s.fills
				require.Equal(t, fills == many, p.loop.quiet(), "the balances are compared when all is booked")
			}))
		}
		_, open := p.own(1)
		require.False(t, open)
		p.stop()
		require.ErrorContains(t, <-p.done, unproven, "the exchange lists the order")
		require.Greater(t, heard, 5, "requests between the pages")
		require.Equal(t, maxFills, p.journal.largest, "fills of an event")
		require.NoError(t, p.account.Check())
		require.Equal(t, market.Qty(12500000), p.account.Position(1, 1).Amount)
		require.Greater(t, p.journal.commits, many/maxFills)
	})
}

// The answer comes again, and another with it, while its fills are being booked.
func TestAnAnswerThatComesAgainBooksNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.run()
		p.tick(2)
		var record *exchange.WireOrder
		require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) { record = p.inFills(1000) }))
		for range 3 {
			require.NoError(t, p.loop.Do(t.Context(), func(at market.Time) []market.Command {
				again := *record
				again.Fills = append([]market.Fill(nil), record.Fills...)
				p.loop.receive(p.loop.queryOf(1), &reply{from: fromQuery, asked: at, record: &again})
				return nil
			}))
		}
		p.tick(5)
		require.Equal(t, 1000, p.s.fills)
		require.Equal(t, market.Qty(12500000), p.account.Position(1, 1).Amount)
		for id, times := range p.journal.fills {
			require.Equal(t, 1, times, "fill %s is noted once", id)
		}
		p.stop()
		require.ErrorContains(t, <-p.done, unproven, "the exchange lists the order")
	})
}

// A process dies in the middle of the pages: the next one asks for the rest.
func TestFillsThatWereNotBookedYetAreKnownToBeMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		p.run()
		p.tick(2)
		require.NoError(t, p.loop.Do(t.Context(), func(at market.Time) []market.Command {
			p.loop.receive(p.loop.queryOf(1), &reply{from: fromQuery, asked: at, record: p.inFills(1000)})
			own := p.account.Known(1)
			require.NotNil(t, own, "more is expected of it")
			require.Equal(t, state.Filled, own.State)
			return nil
		}))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Nil(t, p.account.Known(1))
		p.stop()
		require.ErrorContains(t, <-p.done, unproven, "the exchange lists the order")
	})
}
