package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Equity is the value of all balances in currency at the latest prices: each asset through its
// market against currency, rounded down by asset. An asset without such a market, or before its
// first price, counts nothing.
func (a *Account) Equity(currency market.AssetID) (market.Money, error) {
	_, equity, err := a.CashAndEquity(currency)
	return equity, err
}

// EquityOf is Equity of the allocation of a strategy alone; strategies without one share theirs.
func (a *Account) EquityOf(s market.StrategyID, currency market.AssetID) (market.Money, error) {
	if len(a.allocations) == 1 {
		return a.Equity(currency)
	}
	balances := a.balances[s]
	equity := balances[currency].Total
	for _, m := range a.catalog.Markets() {
		held := balances[m.Base].Total
		if held == 0 || m.Quote != currency {
			continue
		}
		value, err := m.Notional(a.marks[m.ID].price, market.Qty(held))
		if err == nil {
			equity, err = market.Add(equity, value)
		}
		if err != nil {
			return 0, fmt.Errorf("equity: %w", err)
		}
	}
	return equity, nil
}

// Profit is what a strategy has earned in the markets of a currency, after fees: by sales, and by
// what it holds at the latest prices. It is rounded down by market.
func (a *Account) Profit(s market.StrategyID, currency market.AssetID) (sum market.Money, err error) {
	for _, m := range a.catalog.Markets() {
		if m.Quote != currency {
			continue
		}
		p := a.Position(s, m.ID)
		worth, err := m.Value(a.marks[m.ID].price, p.Amount)
		if err == nil {
			worth, err = worth.Sub(p.Cost)
		}
		if err == nil {
			worth, err = worth.Add(p.Realised)
		}
		var money market.Money
		if err == nil {
			money, err = worth.FloorMoney(m.MoneyDrop())
		}
		if err != nil {
			return 0, fmt.Errorf("profit: %w", err)
		}
		sum += money
	}
	return sum, nil
}

// CashAndEquity returns the balance in currency and the equity of which it is part.
func (a *Account) CashAndEquity(currency market.AssetID) (cash, equity market.Money, err error) {
	if len(a.stale) > 0 {
		if err := a.revalue(currency); err != nil {
			return 0, 0, fmt.Errorf("equity: %w", err)
		}
	}
	cash = a.sum(currency)
	total := a.values.total[currency]
	total.add(int64(cash))
	sum, err := total.sum()
	if err != nil {
		return 0, 0, fmt.Errorf("equity: %w", err)
	}
	return cash, market.Money(sum), nil
}

// Worth is the part of the equity that is the base of a market, as CashAndEquity last computed it.
func (a *Account) Worth(m market.ID) market.Money { return a.values.of[m] }

// values are the values of all base assets at the latest prices, each through the markets in which
// it is the base. Only a market whose price or base has changed is valued again.
type values struct {
	of    []market.Money // by market: part of total
	total []amounts      // by quote asset
	based [][]market.ID  // by asset: the markets whose base it is
}

func newValues(catalog *market.Catalog) values {
	v := values{of: make([]market.Money, len(catalog.Markets())+1), total: make([]amounts, len(catalog.Assets())+1),
		based: make([][]market.ID, len(catalog.Assets())+1)}
	for _, m := range catalog.Markets() {
		v.based[m.Base] = append(v.based[m.Base], m.ID)
	}
	return v
}

// outdate notes that the balance of the base of some markets has changed.
func (a *Account) outdate(markets []market.ID) {
	for _, m := range markets {
		if k := &a.marks[m]; !k.stale {
			k.stale = true
			a.stale = append(a.stale, m)
		}
	}
}

// outdateAll lets every market be valued again.
func (a *Account) outdateAll() {
	a.stale = a.stale[:0]
	for _, m := range a.catalog.Markets() {
		a.marks[m.ID].stale = true
		a.stale = append(a.stale, m.ID)
	}
}

// revalue values the stale markets. A market whose value overflows stays stale; that is an
// error if it quotes in currency.
func (a *Account) revalue(currency market.AssetID) (err error) {
	kept := 0
	for _, id := range a.stale {
		if overflow := a.revalueMarket(id); overflow != nil {
			a.stale[kept] = id
			kept++
			if a.catalog.Market(id).Quote == currency && err == nil {
				err = overflow
			}
		}
	}
	a.stale = a.stale[:kept]
	return err
}

// revalueMarket values the base of one market. On an error nothing has changed.
func (a *Account) revalueMarket(id market.ID) (err error) {
	m, k, of := a.catalog.Market(id), &a.marks[id], &a.values.of[id]
	value, total := market.Money(0), a.sum(m.Base)
	k.held = total != 0
	if k.held {
		if value, err = m.Notional(k.price, market.Qty(total)); err != nil {
			return err
		}
	}
	if value != *of {
		a.values.total[m.Quote].add(int64(value - *of))
		*of = value
	}
	k.stale = false
	return nil
}

// PricedSince reports whether every asset in the equity has had a price after a time.
func (a *Account) PricedSince(currency market.AssetID, since market.Time) bool {
	for _, m := range a.catalog.Markets() {
		if m.Quote == currency && a.marks[m.ID].at <= since && a.sum(m.Base) != 0 {
			return false
		}
	}
	return true
}

// sum is the balance of an asset over all allocations.
func (a *Account) sum(asset market.AssetID) (total market.Money) {
	for i := range a.allocations {
		total += a.allocations[i][asset].Total
	}
	return total
}
