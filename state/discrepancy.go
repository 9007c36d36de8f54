package state

import "github.com/tidemark-trading/tidemark/market"

// Discrepancy is a value in which the exchange's books and ours disagreed, and the conclusion that
// was drawn.
type Discrepancy struct {
	What       string // "balance EUR", "order …"
	Ours       string
	Theirs     string
	Conclusion string // "explained by a deposit", "halted"
	Order      market.OrderID
}
