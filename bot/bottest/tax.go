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

// sameLots compares what `bot export --tax` holds at its end with the account's balances at the
// exchange, to the last unit. What the account began with are opening lots.
func (s *Books) sameLots() {
	t, units := s.T, s.Units
	changes, err := tax.History(context.Background(), s.Auditor)
	require.NoError(t, err)
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
			changes = append([]tax.Change{{Type: "opening", Received: tax.Amount{Asset: asset.Symbol, Number: before}}},
				changes...)
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
