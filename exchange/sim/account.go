package sim

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// AccountID names an account of a venue. New opens account 0, which is the only one over Path liquidity.
type AccountID int32

// OpenAccount opens one more account, with its fees by market; nil: none.
func (v *Venue) OpenAccount(fees func(*market.Market) exchange.Fees) AccountID { panic("being written") }

// SetFees gives an account other fees from now on.
func (v *Venue) SetFees(a AccountID, fees func(*market.Market) exchange.Fees) { panic("being written") }

// Transfer adds money to an account's balance, or takes it where negative. What orders hold cannot be taken: an error.
func (v *Venue) Transfer(a AccountID, asset market.AssetID, money market.Money) error { panic("being written") }

// BalanceOf returns an account's balance of an asset.
func (v *Venue) BalanceOf(a AccountID, asset market.AssetID) Balance { panic("being written") }

// Order returns an order while it is open, and within the sink also one that has just ended; otherwise nil. It is the venue's own:
// read it, and copy it to keep it.
func (v *Venue) Order(id market.OrderID) *market.Order { panic("being written") }

// Owner returns the account of an order for which Order returns one.
func (v *Venue) Owner(id market.OrderID) AccountID { panic("being written") }

// Perform carries out an account's command at once, at a time that never decreases: it arrives, matches and rests or ends. The
// sink hears what became of it and of the orders it met. refused is why the exchange did not take it (the sink hears nothing then);
// err is the first arithmetic error, after which the venue stands still. Only for Book liquidity.
func (v *Venue) Perform(a AccountID, at market.Time, c *market.Command) (refused *exchange.Error, err error) {
	panic("being written")
}

// AppendDepth appends up to levels of each side of a market's book, best first, the house's levels included. A level's amount is
// what rests there in all.
func (v *Venue) AppendDepth(id market.ID, levels int, bids, asks []market.Level) ([]market.Level, []market.Level) {
	panic("being written")
}

// Best returns the best bid and ask of a market with their amounts; a zero price where a side is empty.
func (v *Venue) Best(id market.ID) (bid, ask market.Level) { panic("being written") }

// NextTradeID names a trade that happened outside the venue (the house with itself), in the sequence of the market's fills.
func (v *Venue) NextTradeID(id market.ID) uuid.UUID { panic("being written") }
