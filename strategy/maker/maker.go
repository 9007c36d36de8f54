// Package maker quotes both sides of a market with post-only limit orders around the middle of its
// order book. It never takes liquidity, never sells more than it holds and holds no more than its
// limit. Start at Kind.
//
// # Rules
//
// At each order book (or ticker, in a market whose book was never seen) that shows both a bid and
// an ask:
//
//   - The middle between best bid and best ask is shifted by `skew_bps` times a factor that falls
//     evenly from +1 without a position to −1 at the limit of `max_money`: with little in hand both
//     quotes stand higher, to buy; with much, lower, to sell. At half the limit nothing is shifted.
//   - The buy stands `half_spread_bps` below the shifted middle, the sell as far above it. Neither
//     reaches the other side of the book: the buy stays below the best ask, the sell above the best
//     bid.
//   - Each quote is over `money`; the buy at most over what is missing to the limit and what 99 %
//     of the available cash pays (the fee is held too), the sell at most over the position. Below
//     the market's minimum a side has no quote.
//   - A quote that rests moves by Desk.Update, and only when it would move by `move_bps` or more;
//     the same update puts back what partial fills took, and takes away what is too much. The quote
//     on the side towards which prices move goes first, so that the two do not cross.
//   - A quote is cancelled where the limit or the position leaves nothing to quote, and where its
//     move was refused: it would rest at an old price.
//   - A quote that gate or exchange refused is asked for again when its price has moved by
//     `move_bps`. While the exchange has not answered a quote, its move or its cancel, it is left
//     alone; what the exchange refused to move or cancel is asked for again.
//
// When one side of the book is empty, the quotes stay. On candles alone the strategy does nothing:
// a backtest must make tickers or books, and the report says that they were made.
//
// Known limitation: a live book contains the own quotes. They move the middle only where they are
// the best prices.
//
// # Parameters
//
// All …_bps are hundredths of a percent of the middle, money and max_money amounts of the market's
// quote asset. book = false quotes from tickers alone and asks for no order book.
package maker

import (
	"fmt"
	"math/bits"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// The tags of its orders.
const (
	TagBid = "bid"
	TagAsk = "ask"
)

// Kind is the strategy as bot.Main takes it.
var Kind = strategy.Define("maker", "quotes both sides around the middle of the order book, post-only", needs, build)

// Params are the parameters.
type Params struct {
	HalfSpread decimal.Decimal `toml:"half_spread_bps" default:"25" min:"0.01" max:"5000" doc:"distance of each quote from the middle"`
	Skew       decimal.Decimal `toml:"skew_bps" default:"10" min:"0" max:"4000" doc:"shift of both quotes without and with a full position"`
	Move       decimal.Decimal `toml:"move_bps" default:"3" min:"0" max:"1000" doc:"smallest move of a quote"`
	Money      decimal.Decimal `toml:"money" default:"100" min:"0.00000001" doc:"quote money of each quote"`
	MaxMoney   decimal.Decimal `toml:"max_money" default:"1000" min:"0.00000001" doc:"largest value of the position"`
	Book       bool            `toml:"book" default:"true" doc:"quote from order books; false: from tickers"`
}

// Validate asks for a limit that at least one quote fits into.
func (p Params) Validate() error {
	if p.Money.Cmp(p.MaxMoney) > 0 {
		return fmt.Errorf("parameter money: %s is above max_money, which is %s", p.Money, p.MaxMoney)
	}
	return nil
}

func needs(p Params) strategy.Needs { return strategy.Needs{Ticker: true, Book: p.Book} }

// spendable is the part of the cash that a buy may use; the rest is for its fee.
const spendable = strategy.Whole / 100 * 99

type maker struct {
	strategy.Base
	setup            strategy.Setup
	half, skew, move market.Rate
	pairs            []pair // by market
}

// pair is the state of one market.
type pair struct {
	money, limit market.Money
	buy, sell    quote
	booked       bool // an order book was seen
}

func build(p Params, s strategy.Setup) (_ strategy.Strategy, err error) {
	k := &maker{setup: s, pairs: make([]pair, s.Slots())}
	if k.half, err = strategy.BpsOf(p.HalfSpread); err != nil {
		return nil, fmt.Errorf("parameter half_spread_bps: %w", err)
	}
	if k.skew, err = strategy.BpsOf(p.Skew); err != nil {
		return nil, fmt.Errorf("parameter skew_bps: %w", err)
	}
	if k.move, err = strategy.BpsOf(p.Move); err != nil {
		return nil, fmt.Errorf("parameter move_bps: %w", err)
	}
	for _, m := range s.Markets {
		if k.pairs[m.ID], err = newPair(p, m); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func newPair(p Params, m *market.Market) (pair, error) {
	money, err := market.FromDecimal(p.Money, m.QuoteDigits)
	if err != nil {
		return pair{}, fmt.Errorf("parameter money: %w in %s", err, m.Name)
	}
	limit, err := market.FromDecimal(p.MaxMoney, m.QuoteDigits)
	if err != nil {
		return pair{}, fmt.Errorf("parameter max_money: %w in %s", err, m.Name)
	}
	return pair{
		money: market.Money(money), limit: market.Money(limit),
		buy: quote{side: market.Buy, tag: TagBid}, sell: quote{side: market.Sell, tag: TagAsk},
	}, nil
}

// OnBook quotes around the best prices of the book.
func (k *maker) OnBook(d *strategy.Desk, b strategy.OrderBook) {
	id := b.Market()
	p := &k.pairs[id]
	p.booked = true
	if bid, ask, both := b.Best(); both {
		k.quote(d, p, id, bid.Price, ask.Price)
	}
}

// OnTicker quotes around the ticker's prices until the first book.
func (k *maker) OnTicker(d *strategy.Desk, t market.Ticker) {
	p := &k.pairs[t.Market]
	if !p.booked && t.Bid > 0 && t.Ask > 0 {
		k.quote(d, p, t.Market, t.Bid, t.Ask)
	}
}

// OnOrder handles confirmed moves and refusals of the exchange.
func (k *maker) OnOrder(_ *strategy.Desk, o market.Order, r market.Report) {
	p := &k.pairs[o.Market]
	switch r.Exec {
	case market.ExecUpdated:
		p.buy.settled(&o)
		p.sell.settled(&o)
	case market.ExecRejected:
		p.buy.rejected(&o, r.Command)
		p.sell.rejected(&o, r.Command)
	}
}

func (k *maker) quote(d *strategy.Desk, p *pair, id market.ID, bid, ask market.Price) {
	m, middle, held := d.Market(id), bid+(ask-bid)/2, d.Position(id).Amount
	limit := strategy.AffordableIn(&m, p.limit, strategy.Whole, middle)
	if limit == 0 {
		return
	}
	least := max(1, strategy.Fraction(middle, k.move))
	size := strategy.AffordableIn(&m, p.money, strategy.Whole, middle)
	middle += strategy.Fraction(middle, k.shift(held, limit))
	buy := market.FloorTo(min(strategy.Below(middle, k.half), ask-1), m.TickSize)
	sell := market.CeilTo(max(strategy.Above(middle, k.half), bid+1), m.TickSize)
	down, up := want{min(size, limit-held), buy, least}, want{min(size, held), sell, least}
	bought, sold := p.buy.now(d), p.sell.now(d)
	if !bought.open || bought.rest() <= 0 || p.buy.far(down) { // else the cash decides nothing
		down.amount = min(down.amount, bought.rest()+strategy.AffordableIn(&m, d.Cash(id), spendable, buy))
	}
	if buy > p.buy.price {
		p.sell.keep(d, &m, &sold, up)
		p.buy.keep(d, &m, &bought, down)
		return
	}
	p.buy.keep(d, &m, &bought, down)
	p.sell.keep(d, &m, &sold, up)
}

// shift is the skew for a position.
func (k *maker) shift(held, limit market.Qty) market.Rate {
	held = min(max(held, 0), limit)
	high, low := bits.Mul64(uint64(k.skew), uint64(held))
	down, _ := bits.Div64(high, low, uint64(limit)) // at most the skew, because held is at most limit
	return k.skew - 2*market.Rate(down)
}
