package shipped

import (
	"fmt"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Maker quotes both sides of a market with post-only limit orders around the middle of its order
// book. It never takes liquidity, never sells more than it holds and holds no more than its limit.
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
var Maker = strategy.Define("maker", "quotes both sides around the middle of the order book, post-only",
	makerParams.needs, makerParams.build)

type makerParams struct {
	HalfSpread market.Rate   `toml:"half_spread_bps" default:"25" unit:"bps" min:"0.01" max:"5000" doc:"distance of each quote from the middle"`
	Skew       market.Rate   `toml:"skew_bps" default:"10" unit:"bps" min:"0" max:"4000" doc:"shift of both quotes without and with a full position"`
	Move       market.Rate   `toml:"move_bps" default:"3" unit:"bps" min:"0" max:"1000" doc:"smallest move of a quote"`
	Money      strategy.Size `toml:"money" default:"100" unit:"quote" doc:"quote money of each quote"`
	MaxMoney   strategy.Size `toml:"max_money" default:"1000" unit:"quote" doc:"largest value of the position"`
	Book       bool          `toml:"book" default:"true" doc:"quote from order books; false: from tickers"`
}

func (p makerParams) needs() strategy.Needs { return strategy.Needs{Ticker: true, Book: p.Book} }

// spendable is the part of the cash that a buy may use; the rest is for its fee.
const spendable = 99 * market.Percent

type maker struct {
	strategy.Base
	makerParams
	strategy.PerMarket[pair]
}

// pair is the state of one market.
type pair struct {
	Buy    quote `json:"buy"`
	Sell   quote `json:"sell"`
	Booked bool  `json:"booked"` // an order book was seen

	money, limit market.Money
}

func (p makerParams) build(s strategy.Setup) (strategy.Strategy, error) {
	for _, m := range s.Markets {
		if _, err := newPair(p, m); err != nil {
			return nil, err
		}
	}
	fresh := func(m market.Market) pair {
		made, _ := newPair(p, &m) // checked above
		return made
	}
	return &maker{makerParams: p, PerMarket: strategy.Each(s, fresh)}, nil
}

func newPair(p makerParams, m *market.Market) (pair, error) {
	money, err := p.Money.MoneyIn(m)
	if err != nil {
		return pair{}, fmt.Errorf("parameter money: %w", err)
	}
	limit, err := p.MaxMoney.MoneyIn(m)
	switch {
	case err != nil:
		return pair{}, fmt.Errorf("parameter max_money: %w", err)
	case money > limit:
		return pair{}, fmt.Errorf("parameter money: %s is above max_money, which is %s", p.Money, p.MaxMoney)
	}
	return pair{
		money: money, limit: limit,
		Buy: quote{side: market.Buy, tag: "bid"}, Sell: quote{side: market.Sell, tag: "ask"},
	}, nil
}

// OnBook quotes around the best prices of the book.
func (k *maker) OnBook(d *strategy.Desk, b strategy.OrderBook) {
	id := b.Market()
	p := k.In(id)
	p.Booked = true
	if bid, ask, both := b.Best(); both {
		k.quote(d, p, id, bid.Price, ask.Price)
	}
}

// OnTicker quotes around the ticker's prices until the first book.
func (k *maker) OnTicker(d *strategy.Desk, t market.Ticker) {
	p := k.In(t.Market)
	if !p.Booked && t.Bid > 0 && t.Ask > 0 {
		k.quote(d, p, t.Market, t.Bid, t.Ask)
	}
}

// OnOrder handles confirmed moves and refusals of the exchange.
func (k *maker) OnOrder(_ *strategy.Desk, o market.Order, r market.Report) {
	p := k.In(o.Market)
	switch r.Exec {
	case market.ExecUpdated:
		p.Buy.settled(&o)
		p.Sell.settled(&o)
	case market.ExecRejected:
		p.Buy.rejected(&o, r.Command)
		p.Sell.rejected(&o, r.Command)
	}
}

func (k *maker) quote(d *strategy.Desk, p *pair, id market.ID, bid, ask market.Price) {
	m, middle, held := d.In(id).Market(), bid+(ask-bid)/2, d.In(id).Position().Amount
	limit := m.RoundAmount(m.AmountFor(m.MoneyValue(p.limit), middle))
	if limit == 0 {
		return
	}
	least := max(1, middle.Part(k.Move))
	size := m.RoundAmount(m.AmountFor(m.MoneyValue(p.money), middle))
	middle += middle.Part(k.shift(held, limit))
	buy := m.RoundPrice(market.Buy, min(middle.Below(k.HalfSpread), ask-1))
	sell := m.RoundPrice(market.Sell, max(middle.Above(k.HalfSpread), bid+1))
	down, up := want{min(size, limit-held), buy, least}, want{min(size, held), sell, least}
	bought, sold := p.Buy.now(d), p.Sell.now(d)
	if !bought.open || bought.rest() <= 0 || p.Buy.far(down) { // else the cash decides nothing
		cash := m.MoneyValue(d.In(id).Cash()).Part(int64(spendable), int64(market.Whole))
		down.amount = min(down.amount, bought.rest()+m.RoundAmount(m.AmountFor(cash, buy)))
	}
	if buy > p.Buy.Price {
		p.Sell.keep(d, &m, &sold, up)
		p.Buy.keep(d, &m, &bought, down)
		return
	}
	p.Buy.keep(d, &m, &bought, down)
	p.Sell.keep(d, &m, &sold, up)
}

// shift is the skew for a position.
func (k *maker) shift(held, limit market.Qty) market.Rate {
	held = min(max(held, 0), limit)
	high, low := bits.Mul64(uint64(k.Skew), uint64(held))
	down, _ := bits.Div64(high, low, uint64(limit)) // at most the skew, because held is at most limit
	return k.Skew - 2*market.Rate(down)
}
