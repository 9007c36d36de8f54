// Package rest speaks to an exchange that has the specification's API: requests, answers, and what they may cost. It never decides what to
// trade and keeps no orders. Start at Budget for what is spent, at Ledger for how.
package rest

import (
	"context"
	"net/http"
)

// Lane is what a request is for. A smaller one is more urgent: it is served first and may spend points that later ones may not.
type Lane uint8

// The lanes, the most urgent first.
const (
	Cancel     Lane = iota + 1 // takes an order away
	Protective                 // places or moves what limits a loss
	Order                      // places or updates any other order
	Reconcile                  // finds out what became of orders, balances
	MarketData                 // prices, candles, markets
)

// String returns the lane's name.
func (l Lane) String() string {
	switch l {
	case Cancel:
		return "cancel"
	case Protective:
		return "protective"
	case Order:
		return "order"
	case Reconcile:
		return "reconcile"
	case MarketData:
		return "market data"
	}
	return "no lane"
}

// Budget is asked before each request and told of each answer. It is safe for concurrent use.
type Budget interface {
	// Acquire returns when a request of that weight may be sent, or ctx's error. signed says that it carries credentials, so that the key
	// pays and not the IP address.
	Acquire(ctx context.Context, lane Lane, weight int, signed bool) error
	// Observe takes an answer's headers, status and, where the status is no success, body.
	Observe(h http.Header, status int, body []byte)
}
