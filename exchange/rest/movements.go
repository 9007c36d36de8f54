package rest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// maxHistoryRows is the largest page of an account's history (venue-facts 1.4).
const maxHistoryRows = 100

// Movements lists the changes of the account's balances since a time, rounded down to milliseconds,
// without its trades: AccountHistory. Amounts with more decimals than their asset, which were seen
// in practice, are rounded to the nearest unit.
func (c *Client) Movements(ctx context.Context, since market.Time) (moved []exchange.Movement, err error) {
	d, err := c.directory()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{} // a new row moves the older ones to the next page
	for page := 1; ; page++ {
		h, err := c.AccountHistory(ctx, HistoryPage{From: since, Page: page, MaxItems: maxHistoryRows})
		if err != nil {
			return nil, err
		}
		for i := range h.Items {
			if id := h.Items[i].TransactionID; id != "" {
				if seen[id] {
					continue
				}
				seen[id] = true
			}
			if moved, err = h.Items[i].movements(d.cat, moved); err != nil {
				return nil, fmt.Errorf("%s: transaction %s: %w", endpoints[getHistory].name,
					clip([]byte(h.Items[i].TransactionID)), err)
			}
		}
		if page >= h.TotalPages {
			return moved, nil
		}
	}
}

// movements appends the movements of a transaction; a trade has none.
func (t *Transaction) movements(cat *market.Catalog, dst []exchange.Movement) ([]exchange.Movement, error) {
	if t.Type == "buy" || t.Type == "sell" {
		return dst, nil
	}
	stamp, err := time.Parse(time.RFC3339, t.ExecutedAt)
	if err != nil {
		return dst, fmt.Errorf("executedAt %q is no time", clip([]byte(t.ExecutedAt)))
	}
	at, err := market.TimeOf(stamp)
	if err != nil {
		return dst, err
	}
	for _, side := range [...]struct {
		symbol string
		amount Number
		sign   market.Money
	}{{t.ReceivedCurrency, t.ReceivedAmount, 1}, {t.SentCurrency, t.SentAmount, -1}} {
		asset := cat.AssetNamed(side.symbol)
		if asset == nil || side.amount == "" {
			continue
		}
		money, err := parseRounded(side.amount, asset.Digits)
		if err != nil {
			return dst, err
		}
		dst = append(dst, exchange.Movement{At: at, Kind: t.Type, Asset: asset.ID, Money: side.sign * money})
	}
	return dst, nil
}

// parseRounded reads an amount, rounded to the decimals of its asset.
func parseRounded(text Number, digits uint8) (market.Money, error) {
	if n, err := market.ParseFixed(string(text), digits); err == nil {
		return market.Money(n), nil
	}
	about, err := strconv.ParseFloat(string(text), 64) // more decimals than the asset has are those of a float
	if err != nil {
		return 0, fmt.Errorf("amount %q is no number", clip([]byte(text)))
	}
	n, err := market.ParseFixed(strconv.FormatFloat(about, 'f', int(digits), 64), digits)
	return market.Money(n), err
}
