package sim

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// AccountID names an account of a venue. New opens account 0; over Path liquidity it is the only
// one.
type AccountID int32

// accounts are the clients of a venue.
type accounts struct {
	catalog *market.Catalog
	list    []*account // by AccountID
	solo    *account   // account 0
}

// account is one client of the venue.
type account struct {
	id       AccountID
	balances []Balance   // by market.AssetID
	markets  []inAccount // by market.ID
}

// inAccount is the state of an account in one market.
type inAccount struct {
	fees exchange.Fees
	open int             // open orders
	held [sides]*Balance // by market.Side: a buy holds quote, a sell base
}

// sides is the length of a list by market.Side.
const sides = market.Sell + 1

// Balance is an account's balance of an asset. Available is Total − Held.
type Balance struct {
	Total, Held market.Money
}

// Available is the amount that new orders may hold.
func (b Balance) Available() market.Money { return b.Total - b.Held }

// fees are the rates of the order's account in its market.
func (o *order) fees() exchange.Fees { return o.in.fees }

// belongTo makes an order one of an account.
func (o *order) belongTo(a *account) { o.account, o.in = a, &a.markets[o.Market] }

// OpenAccount opens one more account, with its fees by market; nil: none.
func (a *accounts) OpenAccount(fees func(*market.Market) exchange.Fees) AccountID {
	one := &account{
		id:       AccountID(len(a.list)),
		balances: make([]Balance, len(a.catalog.Assets())+1),
		markets:  make([]inAccount, len(a.catalog.Markets())+1),
	}
	for _, m := range a.catalog.Markets() {
		one.markets[m.ID].held = [sides]*Balance{market.Buy: &one.balances[m.Quote], market.Sell: &one.balances[m.Base]}
	}
	a.list = append(a.list, one)
	a.SetFees(one.id, fees)
	return one.id
}

// SetFees gives an account other fees from now on. Open orders keep their holds.
func (a *accounts) SetFees(id AccountID, fees func(*market.Market) exchange.Fees) {
	for _, m := range a.catalog.Markets() {
		in := &a.list[id].markets[m.ID]
		if in.fees = (exchange.Fees{}); fees != nil {
			in.fees = fees(m)
		}
	}
}

// Transfer adds money to an account's balance, or takes it where negative. It cannot take money
// that orders hold.
func (a *accounts) Transfer(id AccountID, asset market.AssetID, money market.Money) error {
	balance := &a.list[id].balances[asset]
	total, err := market.Add(balance.Total, money)
	switch {
	case err != nil:
		return fmt.Errorf("transfer: %w", err)
	case total < balance.Held && money < 0:
		return fmt.Errorf("transfer of %d: only %d of %d are not held", money, balance.Total-balance.Held,
			balance.Total)
	}
	balance.Total = total
	return nil
}

// BalanceOf returns an account's balance of an asset.
func (a *accounts) BalanceOf(id AccountID, asset market.AssetID) Balance {
	return a.list[id].balances[asset]
}

// Order returns an order while it is open, and within the sink also one that has just ended;
// otherwise nil. The order is the venue's own: do not change it, and copy it to keep it.
func (v *Venue) Order(id market.OrderID) *market.Order {
	if o := v.orders.Get(id); o != nil {
		return &o.Order
	}
	return nil
}

// Owner returns the account of an order for which Order returns one.
func (v *Venue) Owner(id market.OrderID) AccountID { return v.orders.Get(id).account.id }
