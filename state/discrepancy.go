package state

import "github.com/tidemark-trading/tidemark/market"

// Discrepancy is a value that differs between the exchange and the account, and the conclusion.
type Discrepancy struct {
	What       string // "balance EUR", "order …"
	Ours       string
	Theirs     string
	Conclusion string // "explained by a deposit", "halted"
	Order      market.OrderID
}
