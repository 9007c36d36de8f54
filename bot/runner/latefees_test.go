package runner

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

func TestBooksEqualTheExchangesToTheLastUnitWhereFeesComeLate(t *testing.T) {
	bottest.Unraced(t)
	for _, later := range []time.Duration{3 * time.Second, 40 * time.Second} {
		t.Run(later.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 3, func(c *sandbox.Config) { c.Rules.SettleAfter = later })
				p := s.start()
				time.Sleep(3 * time.Minute)
				p.kill() // with fees outstanding
				p.bury()
				p = s.start()
				time.Sleep(2 * time.Minute)
				require.NoError(t, p.end())
				time.Sleep(later)
				p = s.start() // what ended with the last run and lacked a fee is asked for now
				time.Sleep(90 * time.Second)
				report, err := s.flatten(p)
				require.NoError(t, err)
				require.True(t, report.Done, "%+v", report)
				if later < time.Duration(feeTimeout) {
					require.Zero(t, report.Unsettled)
				}
				time.Sleep(later)
				time.Sleep(time.Minute)
				require.NoError(t, p.end())
				require.Positive(t, s.agree(p).Fills)
				require.Empty(t, s.concluded())
			})
		})
	}
}

func TestFlattenTellsWhatIsEarnedOnceTheFeesAreKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 5, func(c *sandbox.Config) { c.Rules.SettleAfter = 3 * time.Second })
		p := s.start()
		for held := market.Qty(0); held == 0; {
			time.Sleep(10 * time.Second)
			p.look(func() { held = p.account.Position(1, 1).Amount })
		}
		report, err := s.flatten(p)
		require.NoError(t, err)
		require.True(t, report.Done)
		told, err := operator.PositionsOf(p.store, noPrice)
		require.NoError(t, err)
		require.Len(t, told.Positions, 1)
		require.NoError(t, p.end())
		after, err := operator.PositionsOf(s.Stored(), noPrice)
		require.NoError(t, err)
		require.Equal(t, told.Positions, after.Positions, "nothing came behind what was told")
		s.agree(p)
	})
}

// flatten asks a running bot to sell all.
func (s *stage) flatten(p *process) (*operator.ActResult, error) {
	c := &control{r: p.runner, ctx: context.Background()}
	return c.act("flatten", &operator.Request{WaitMS: 60_000}, c.flatten)
}

func TestFlattenTellsWhatWasSoldAtWhatPrice(t *testing.T) {
	for _, c := range []struct {
		name    string
		later   time.Duration
		settled bool
	}{{"with the fees", 3 * time.Second, true}, {"before the fees are settled", 40 * time.Second, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 5, func(config *sandbox.Config) { config.Rules.SettleAfter = c.later })
				p := s.start()
				for ready := false; !ready; { // an own order that is open might sell first
					time.Sleep(time.Second)
					p.look(func() { ready = p.account.Position(1, 1).Amount > 0 && p.account.OpenBy(1) == 0 })
				}
				report, err := s.flatten(p)
				require.NoError(t, err)
				require.NotEmpty(t, report.Sales)
				s.compareSales(p, report.Sales, c.settled)
				again, err := s.flatten(p)
				require.NoError(t, err)
				require.Empty(t, again.Sales, "sales of an earlier call are told by that call alone")
				require.NoError(t, p.end())
			})
		})
	}
}

// compareSales compares what flatten told with the orders at the exchange, and with its words.
func (s *stage) compareSales(p *process, sales []operator.Sale, settled bool) {
	m := s.Market()
	for _, sale := range sales {
		row, err := p.store.Order(market.OrderID(sale.Order))
		require.NoError(s.T, err)
		require.True(s.T, engine.Liquidates(&row.Order))
		told, err := s.Auditor.Order(context.Background(), m.ID, row.ClientOrderID, row.ExchangeID)
		require.NoError(s.T, err)
		o := &told.Order
		require.Equal(s.T, m.FormatQty(o.FilledAmount), sale.Amount)
		require.Equal(s.T, m.FormatValue(o.FilledAmountQuote), sale.Value)
		average, err := o.FilledAmountQuote.FloorQuo(int64(o.FilledAmount), m.PriceDigits+m.AmountDigits-m.ValueDigits)
		require.NoError(s.T, err)
		require.Equal(s.T, market.FormatFixed(average, m.PriceDigits), sale.AveragePrice)
		fee := "fee not settled yet"
		if settled {
			fee = "fee " + m.FormatValue(o.FeePaid) + " EUR"
			require.Positive(s.T, o.FeePaid.Sign())
			require.Equal(s.T, m.FormatValue(o.FeePaid), sale.Fee)
		} else {
			require.Equal(s.T, sale.Fills, sale.Unsettled)
			require.Equal(s.T, "0", sale.Fee)
		}
		require.Equal(s.T, sale.String(),
			fmt.Sprintf("sold: restless %s BTC-EUR at %s on average for %s EUR, %s (order %d)", sale.Amount,
				sale.AveragePrice, sale.Value, fee, sale.Order))
	}
}

// noPrice knows no price.
func noPrice(market.ID) market.Price { return 0 }
