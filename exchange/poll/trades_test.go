package poll

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// tradeList is the public trades of an exchange.
type tradeList struct {
	*fake
	all []exchange.PublicTrade // the newest first
}

// TradesBetween lists them.
func (l *tradeList) TradesBetween(_ context.Context, _ *market.Market, from, to market.Time, limit int,
	dst []exchange.PublicTrade) ([]exchange.PublicTrade, error) {
	for _, t := range l.all {
		if t.Time >= from && (to == 0 || t.Time <= to) && len(dst) < limit {
			dst = append(dst, t)
		}
	}
	return dst, nil
}

func (l *tradeList) trade(at market.Time, price market.Price) {
	t := exchange.PublicTrade{ID: uuid.New(), Trade: market.Trade{Market: 1, Time: at, Price: price, Amount: 1}}
	l.all = append([]exchange.PublicTrade{t}, l.all...)
}

// A trade ahead of the exchange's clock waits until the clock has come, and takes none before it
// away.
func TestATradeAheadOfTheClockTakesNoneAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &tradeList{fake: newFake(t, 1)}
		f := New(Config{Catalog: l.catalog, Data: l.fake, TradeData: l, Log: zerolog.Nop(),
			Out: make(chan market.Event, 9)})
		round := f.trades(1)
		prices := func() (all []market.Price) {
			require.NoError(t, round(t.Context()))
			for len(f.Out) > 0 {
				ev := <-f.Out
				require.LessOrEqual(t, ev.Trade.Time, l.Now())
				all = append(all, ev.Trade.Price)
			}
			return all
		}
		time.Sleep(time.Second)
		l.trade(l.Now(), 1)
		l.trade(l.Now().Add(time.Hour), 2)
		require.Equal(t, []market.Price{1}, prices())
		time.Sleep(time.Minute)
		l.trade(l.Now(), 3)
		require.Equal(t, []market.Price{3}, prices())
		time.Sleep(time.Hour)
		l.trade(l.Now(), 4)
		require.Equal(t, []market.Price{2, 4}, prices())
		require.Empty(t, prices())
	})
}
