package rest

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// TradesPage appends own trades in a market, newest first: GET /trades (specification 1,
// venue-facts 1.3). The page has 1 … 1000 rows, 500 by default, its end at most 24 hours after its
// start; From and To are trade ids; all ends count. A trade that is not settled has no fee yet.
// Fill.Order and Strategy are zero.
func (c *Client) TradesPage(ctx context.Context, m *market.Market, page Page, dst []exchange.Trade) ([]exchange.Trade,
	error) {
	d, err := c.directory()
	if err != nil {
		return dst, err
	}
	path := to("trades").with("market", m.Name).page(page, "tradeIdFrom", "tradeIdTo").String()
	return more(ctx, c, request{at: getTrades, path: path}, dst,
		func(dst []exchange.Trade, body []byte) ([]exchange.Trade, error) {
			return appendTrades(dst, body, m, d.cat)
		})
}

func appendTrades(dst []exchange.Trade, body []byte, m *market.Market, cat *market.Catalog) ([]exchange.Trade, error) {
	s := wire.NewScanner(body)
	for s.Array(); s.Element(); {
		trade := readTrade(&s, m, cat)
		if s.Err() == nil {
			dst = append(dst, trade)
		}
	}
	return dst, s.End()
}

// readTrade reads one trade. Without the field settled, a trade with a fee is settled, as in the
// fills of an order.
func readTrade(s *wire.Scanner, m *market.Market, cat *market.Catalog) exchange.Trade {
	t := exchange.Trade{Fill: market.Fill{Market: m.ID}}
	var both market.Trade
	var fee, currency, settled []byte
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "orderId":
			t.ExchangeID = s.ID("orderId")
		case "clientOrderId":
			t.ClientOrderID, _ = uuid.ParseBytes(s.Token())
		case "market":
			expect(s, "market", m.Name)
		case "taker":
			t.Taker = string(s.Token()) == "true"
		case "fee":
			fee = s.Token()
		case "feeCurrency":
			currency = s.Token()
		case "settled":
			settled = s.Token()
		default:
			readMember(s, m, &t.ID, &both)
		}
	}
	t.Time, t.Side, t.Amount, t.Price = both.Time, both.Side, both.Amount, both.Price
	t.Settled = fee != nil
	if settled != nil {
		t.Settled = string(settled) == "true"
	}
	if t.Settled && s.Err() == nil {
		readFee(s, &t, m, cat, fee, currency)
	}
	return t
}

// readFee parses fee and feeCurrency, by default the quote currency.
func readFee(s *wire.Scanner, t *exchange.Trade, m *market.Market, cat *market.Catalog, fee, currency []byte) {
	t.FeeCurrency = m.Quote
	if len(currency) > 0 && string(currency) != cat.Asset(m.Quote).Symbol {
		asset := cat.AssetNamed(string(currency))
		if asset == nil {
			s.Fail("feeCurrency", fmt.Errorf("asset %q is not in the catalog", clip(currency)))
			return
		}
		t.FeeCurrency = asset.ID
	}
	if fee == nil {
		return
	}
	var err error
	if n, small := market.ParseFixed(fee, m.ValueDigits); small == nil {
		t.Fee = market.ValueOf(n)
	} else if t.Fee, err = market.ParseValue(string(fee), m.ValueDigits); err != nil {
		s.Fail("fee", err)
	}
}
