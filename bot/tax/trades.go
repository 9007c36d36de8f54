package tax

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Trade is one own trade as the exchange's list of trades has it.
type Trade struct {
	ID, Order   string
	At          time.Time
	Base, Quote string
	Buy         bool
	Amount      decimal.Decimal // of Base
	Price       decimal.Decimal
	Fee         Amount // no asset: it is not settled yet
}

// Trader gives the own trades in a market from a time on: a *rest.Client.
type Trader interface {
	TradesSince(ctx context.Context, m *market.Market, since market.Time, told func(market.Time)) ([]exchange.Trade,
		error)
}

// Trades reads the own trades of some markets in [since, until), the oldest of a market first. It
// asks for 1,000 trades at a time, the latest first: 5 weight points each. told hears which part of
// all has been read.
func Trades(ctx context.Context, from Trader, c *market.Catalog, markets []*market.Market, since, until time.Time,
	told func(part float64)) (trades []Trade, err error) {
	first, err := market.TimeOf(since)
	if err != nil {
		return nil, err
	}
	for i, m := range markets {
		list, err := from.TradesSince(ctx, m, first, func(at market.Time) {
			back := float64(until.Sub(at.Std())) / float64(until.Sub(since))
			told((float64(i) + min(1, max(0, back))) / float64(len(markets)))
		})
		if err != nil {
			return nil, err
		}
		for k := range list {
			if one := tradeOf(c, m, &list[k]); !one.At.Before(since) && one.At.Before(until) {
				trades = append(trades, one)
			}
		}
		told(float64(i+1) / float64(len(markets)))
	}
	return trades, nil
}

// tradeOf is a trade in decimals.
func tradeOf(c *market.Catalog, m *market.Market, t *exchange.Trade) Trade {
	one := Trade{ID: t.ID.String(), Order: t.ExchangeID.String(), At: t.Time.Std(), Base: c.Asset(m.Base).Symbol,
		Quote: c.Asset(m.Quote).Symbol, Buy: t.Side == market.Buy,
		Amount: decimal.New(int64(t.Amount), -int32(m.AmountDigits)),
		Price:  decimal.New(int64(t.Price), -int32(m.PriceDigits))}
	if t.Settled {
		one.Fee = Amount{c.Asset(t.FeeCurrency).Symbol, decimal.RequireFromString(m.FormatValue(t.Fee))}
	}
	return one
}

// moved is what a trade took from the account and brought to it, its fee included where it is
// known.
func (t *Trade) moved() (base, quote decimal.Decimal) {
	base, quote = t.Amount, t.Amount.Mul(t.Price)
	sign := decimal.NewFromInt(1) // a seller goes without the fee, a buyer pays it on top of the money
	if !t.Buy {
		sign = sign.Neg()
	}
	switch t.Fee.Asset {
	case t.Quote:
		quote = quote.Add(t.Fee.Number.Mul(sign))
	case t.Base:
		base = base.Sub(t.Fee.Number.Mul(sign))
	}
	return base, quote
}

// Markets are the markets that the trades of an account's history are of, and those of some names,
// each once, in the order of the catalog.
func Markets(c *market.Catalog, changes []Transaction, more []string) (list []*market.Market) {
	wanted := map[string]bool{}
	for _, name := range more {
		wanted[name] = true
	}
	for i := range changes {
		for _, name := range changes[i].markets() {
			wanted[name] = true
		}
	}
	for _, m := range c.Markets() {
		if wanted[m.Name] {
			list = append(list, m)
		}
	}
	return list
}

// markets are the two names that the market of a trade may have.
func (c *Transaction) markets() []string {
	if !c.traded() {
		return nil
	}
	return []string{c.Received.Asset + "-" + c.Sent.Asset, c.Sent.Asset + "-" + c.Received.Asset}
}
