package state

import "github.com/tidemark-trading/tidemark/market"

// FoldFill folds a fill into a position, as Apply does: without a fee before it is settled. Fold
// the fills of a position in the order of their times, orders and ids. On an error the position has
// not changed.
func FoldFill(m *market.Market, p *market.Position, f *market.Fill) error {
	x := step{at: f.Time, side: f.Side, amount: f.Amount, price: f.Price, fee: feeOf(f)}
	return x.apply(m, p)
}

// FoldMove folds base that came at a price, or that left where amount is below zero, into a
// position, as Apply does with a transfer. Neither realises anything.
func FoldMove(m *market.Market, p *market.Position, at market.Time, amount market.Qty, price market.Price) error {
	x := step{at: at, amount: amount, price: price}
	return x.apply(m, p)
}
