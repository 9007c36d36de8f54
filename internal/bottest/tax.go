package bottest

import (
	"bytes"
	"context"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/tax"
	"github.com/tidemark-trading/tidemark/market"
)

// withTrades joins the history with the account's trades: each must have the other.
func (s *Books) withTrades(changes []tax.Transaction) []tax.Transaction {
	c := tax.Comparison{From: changes[0].At, Markets: tax.Markets(s.Units, changes, nil)}
	trades, err := tax.Trades(context.Background(), s.Auditor, s.Units, c.Markets, c.From,
		s.Auditor.Now().Std().Add(time.Second), func(float64) {})
	require.NoError(s.T, err)
	joined := c.Join(changes, trades)
	require.Equal(s.T, []int{len(trades), 0, 0, 0}, []int{c.Agree, c.Differ, c.Unconfirmed, c.Added},
		"trades, and rows of the history that agree, differ, have no trade, are added")
	require.Len(s.T, joined, len(changes))
	return joined
}

// sameLots compares what `bot export --tax` holds at its end with the account's balances at the
// exchange, to the last unit. What the account began with are opening lots.
func (s *Books) sameLots() {
	t, units := s.T, s.Units
	changes, err := tax.History(context.Background(), s.Auditor, time.Time{})
	require.NoError(t, err)
	if len(changes) > 0 {
		changes = s.withTrades(changes)
	}
	sums := map[string]decimal.Decimal{}
	for _, c := range changes {
		sums[c.Received.Asset] = sums[c.Received.Asset].Add(c.Received.Number)
		sums[c.Sent.Asset] = sums[c.Sent.Asset].Sub(c.Sent.Number)
	}
	want, now := map[string]string{}, s.Holdings()
	for _, asset := range units.Assets() {
		before := decimal.New(int64(s.Before[asset.ID]), -int32(asset.Digits))
		have := market.FormatFixed(int64(now[asset.ID]), asset.Digits)
		require.Equal(t, have, before.Add(sums[asset.Symbol]).String(), "history and balance of %s", asset.Symbol)
		if asset.Symbol == "EUR" {
			continue
		}
		if have != "0" {
			want[asset.Symbol] = have
		}
		if before.IsPositive() {
			opening := tax.Transaction{Type: "opening", Received: tax.Amount{Asset: asset.Symbol, Number: before}}
			changes = append([]tax.Transaction{opening}, changes...)
		}
	}
	var out bytes.Buffer
	summary, err := tax.Report(&out, changes, &tax.Options{Currency: "EUR", Zone: time.UTC})
	require.NoError(t, err)
	held := map[string]string{}
	for asset, amount := range summary.Holdings {
		held[asset] = amount.String()
	}
	require.Equal(t, want, held)
}
