package engine_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// naive is what a portfolio should trade, in fractions that lose nothing.
type naive struct {
	equity *big.Rat
	price  [3]*big.Rat
	held   [3]*big.Rat
	fee    *big.Rat
}

func rat(n int64, digits int64) *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(n), new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil))
}

// units is floor(r·10^digits).
func units(r *big.Rat, digits int64) int64 {
	scaled := new(big.Rat).Quo(r, rat(1, digits))
	return new(big.Int).Div(scaled.Num(), scaled.Denom()).Int64()
}

func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

func naiveOf(b *bench, prices [3]market.Price, fee market.Rate) naive {
	n := naive{fee: rat(int64(fee), 8)}
	equity, _ := b.account.EquityOf(1, 1)
	n.equity = rat(int64(equity), 2)
	for i := range n.price {
		n.price[i] = rat(int64(prices[i]*at1), 2)
		n.held[i] = rat(int64(b.account.Position(1, market.ID(i+1)).Amount), 8)
	}
	return n
}

// missing is how much a market lacks, negative for too much.
func (n *naive) missing(i int, p *strategy.Portfolio) market.Qty {
	weight, band := rat(int64(p.Weights[i].Share), 8), rat(int64(p.Band), 8)
	share := new(big.Rat).Quo(mul(n.held[i], n.price[i]), n.equity)
	wanted, off := weight, new(big.Rat).Sub(share, weight)
	if weight.Sign() > 0 && new(big.Rat).Abs(off).Cmp(band) < 0 {
		return 0
	}
	if p.ToEdge && weight.Sign() > 0 {
		if wanted = sub(weight, band); off.Sign() > 0 {
			wanted = add(weight, band)
		}
	}
	target := rat(units(new(big.Rat).Quo(mul(wanted, n.equity), n.price[i]), 8), 8)
	return market.Qty(units(sub(target, n.held[i]), 8))
}

// cost is what a buy costs in cents, rounded up.
func (n *naive) cost(i int, amount market.Qty) int64 {
	cost := mul(mul(n.price[i], rat(int64(amount), 8)), add(rat(1, 0), n.fee))
	return -units(new(big.Rat).Neg(cost), 2)
}

// sent are the terms that a portfolio's orders left with.
type sent struct {
	sold   [3]market.Qty
	bought [3]market.Money
	cash   market.Money // before the buys
}

func (l *sent) watch(b *bench) {
	b.after = func(commands []market.Command) {
		for i := range commands {
			o := &commands[i].Order
			switch {
			case commands[i].Kind != market.CommandPlace:
			case o.Side == market.Sell:
				l.sold[o.Market-1] = o.Amount
			default:
				l.bought[o.Market-1] = o.AmountQuote
				if l.cash == 0 {
					available, held := b.account.Balance(1, 1)
					l.cash = available + held
				}
			}
		}
	}
}

// check requires the sells of the naive plan, and its buys as far as the cash allows.
func (n *naive) check(t require.TestingT, p *strategy.Portfolio, cash market.Money, got *sent) {
	var costs [3]int64
	total, left := int64(0), rat(int64(cash), 2)
	for i := range costs {
		missing := n.missing(i, p)
		require.Equal(t, max(0, -missing), got.sold[i], "sold in market %d", i+1)
		if missing > 0 {
			costs[i] = n.cost(i, missing)
			total += costs[i]
		} else {
			proceeds := mul(mul(n.price[i], rat(int64(-missing), 8)), sub(rat(1, 0), n.fee))
			left = add(left, rat(units(proceeds, 2), 2))
		}
	}
	reserve := max(0, units(left, 2)-total)
	budget := max(0, int64(got.cash)-reserve)
	for i, cost := range costs {
		if total > budget {
			cost = units(new(big.Rat).Quo(mul(rat(cost, 0), rat(budget, 0)), rat(total, 0)), 0)
		}
		require.EqualValues(t, cost, got.bought[i], "spent in market %d", i+1)
	}
}

// drawPortfolio draws weights of at most 100 % and a band.
func drawPortfolio(r *rapid.T) (p strategy.Portfolio) {
	left := 100
	for m := range market.ID(3) {
		share := rapid.IntRange(0, left).Draw(r, "percent")
		left -= share
		p.Weights = append(p.Weights, strategy.Weight{Market: m + 1, Share: market.Rate(share) * market.Percent})
	}
	p.Band = market.Rate(rapid.IntRange(0, 20).Draw(r, "band")) * market.Percent / 2
	p.ToEdge = rapid.Bool().Draw(r, "to edge")
	return p
}

func TestAPortfolioTradesWhatTheNaivePlanSays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		fee := market.Rate(rapid.IntRange(0, 500_000).Draw(r, "fee"))
		a := &allocator{}
		b := newBench(t, setup{markets: 3, slots: []engine.StrategyConfig{{Strategy: a, Markets: []market.ID{1, 2, 3}}},
			venue: sim.Config{Fees: func(*market.Market) exchange.Fees {
				return exchange.Fees{Maker: fee,
					Taker: fee}
			}}})
		for range rapid.IntRange(1, 5).Draw(r, "portfolios") {
			var prices [3]market.Price
			var group [3]market.Candle
			for i := range prices {
				p := market.Price(rapid.IntRange(20, 500).Draw(r, "price"))
				prices[i], group[i] = p, candleOf(market.ID(i+1), p, p, p, p)
			}
			b.group(group[:]...)
			p, got := drawPortfolio(r), &sent{}
			n, equity := naiveOf(b, prices, fee), b.equity()
			cash, _ := b.account.Balance(1, 1)
			got.watch(b)
			a.next(p)
			b.group(group[:]...)
			b.group(group[:]...)
			n.check(r, &p, cash, got)
			b.checkConserved(r, got, equity, prices, fee)
		}
	})
}

func (b *bench) equity() market.Money {
	equity, err := b.account.EquityOf(1, 1)
	require.NoError(b.t, err)
	return equity
}

// checkConserved requires that the orders cost their fees and rounded cents, at prices that stand
// still. The account itself is compared with the venue's after each group.
func (b *bench) checkConserved(r *rapid.T, got *sent, before market.Money, prices [3]market.Price, fee market.Rate) {
	available, held := b.account.Balance(1, 1)
	require.Zero(r, held)
	require.GreaterOrEqual(r, available, market.Money(0))
	rate, paid := float64(fee)/1e8, 0.0
	for i := range prices {
		sold, err := b.catalog.Market(1).Notional(prices[i]*at1, got.sold[i])
		require.NoError(r, err)
		paid += float64(sold)*rate + float64(got.bought[i])*rate/(1+rate)
	}
	require.InDelta(r, float64(before)-paid, float64(b.equity()), 6, "what is missing are fees and cents")
}
