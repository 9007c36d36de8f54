package runner

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// refusing answers every request that names a market as the exchange does after a delisting.
type refusing struct{ exchange.Trading }

func (refusing) Order(context.Context, market.ID, uuid.UUID, uuid.UUID) (exchange.Record, error) {
	return exchange.Record{}, exchange.Invalid("market")
}

func (refusing) OpenOrdersIn(context.Context, market.ID) ([]exchange.Record, error) {
	return nil, exchange.Invalid("market")
}

func (refusing) Trades(context.Context, market.ID, market.Time) ([]exchange.Trade, bool, error) {
	return nil, false, exchange.Invalid("market")
}

func (refusing) Send(context.Context, *exchange.Intent) (exchange.Record, error) {
	return exchange.Record{}, exchange.Invalid("market")
}

func TestInAMarketThatHasGoneTheExchangeKnowsNoOrder(t *testing.T) {
	d := &delistings{Trading: refusing{}}
	code := func(err error) int {
		var refused *exchange.Error
		require.ErrorAs(t, err, &refused)
		return refused.Code
	}
	ask := func() error {
		_, err := d.Order(t.Context(), 1, uuid.New(), uuid.Nil)
		return err
	}
	require.Equal(t, exchange.CodeInvalid, code(ask()), "a market that is listed: the refusal says nothing")
	d.note(1, market.Delisted)
	require.Equal(t, exchange.CodeNotFound, code(ask()))
	open, err := d.OpenOrdersIn(t.Context(), 1)
	require.NoError(t, err)
	require.Empty(t, open)
	trades, more, err := d.Trades(t.Context(), 1, 1)
	require.NoError(t, err)
	require.Empty(t, trades)
	require.False(t, more)
	_, err = d.Send(t.Context(), &exchange.Intent{Command: market.CommandCancel, Market: 1})
	require.Equal(t, exchange.CodeNotFound, code(err))
	_, err = d.Send(t.Context(), &exchange.Intent{Command: market.CommandPlace, Market: 1})
	require.Equal(t, exchange.CodeInvalid, code(err), "a place is refused")
	_, err = d.Trading.OpenOrdersIn(t.Context(), 2)
	require.Equal(t, exchange.CodeInvalid, code(err), "another market")
	d.note(1, market.Trading)
	require.Equal(t, exchange.CodeInvalid, code(ask()), "it is back")
}
