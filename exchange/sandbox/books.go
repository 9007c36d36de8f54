package sandbox

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// books are what an exchange's money adds up to: the balances of the accounts and what the house
// has are what was transferred in.
type books struct {
	transferred []market.Value // by market.AssetID: what accounts brought, less what they took away
	// by market.AssetID: what trades took from all accounts together, fees included; negative: gave
	// them
	liquidity []market.Value
}

// transfer changes a balance from outside, and the books with it.
func (ex *Exchange) transfer(id sim.AccountID, asset market.AssetID, money market.Money) error {
	if err := ex.venue.Transfer(id, asset, money); err != nil {
		return err
	}
	ex.transferred = book(ex.transferred, asset, money)
	return nil
}

// bookTrade books a trade of one account: what it sent the house has, what it received the house
// has given. Of a trade between two accounts the fees remain.
func (ex *Exchange) bookTrade(sent, received share) {
	ex.liquidity = book(ex.liquidity, sent.Asset, sent.Money)
	ex.liquidity = book(ex.liquidity, received.Asset, -received.Money)
}

// book adds money to the line of an asset.
func book(lines []market.Value, asset market.AssetID, money market.Money) []market.Value {
	return addLine(lines, asset, market.ValueOf(int64(money)))
}

// addLine adds a sum of money to the line of an asset.
func addLine(lines []market.Value, asset market.AssetID, sum market.Value) []market.Value {
	for int(asset) >= len(lines) {
		lines = append(lines, market.Value{})
	}
	lines[asset], _ = lines[asset].Add(sum) // 2^64 of the largest fit
	return lines
}

// lineOf returns the line of an asset.
func lineOf(lines []market.Value, asset market.AssetID) market.Value {
	if int(asset) < len(lines) {
		return lines[asset]
	}
	return market.Value{}
}

// adminLedger answers GET /admin/ledger: accounts plus house is transferred, of every asset and at
// every moment.
func (ex *Exchange) adminLedger(c *api.Call) *exchange.Error {
	w := wire.Writer{Dst: c.Out}
	w.Open('{')
	w.Key("accounts")
	w.Open('[')
	for _, a := range ex.accounts {
		w.Open('{')
		w.Text("account", a.name)
		w.Key("balances")
		ex.appendBalances(&w, a, "")
		w.Close('}')
	}
	w.Close(']')
	w.Key("assets")
	w.Open('[')
	for _, v := range ex.assetsBySymbol {
		total := market.Value{}
		for _, a := range ex.accounts {
			total, _ = total.Add(market.ValueOf(int64(ex.venue.BalanceOf(a.id, v.ID).Total))) // as in book
		}
		w.Open('{')
		w.Text("symbol", v.Symbol)
		w.Text("accounts", total.Format(v.Digits))
		w.Text("liquidity", lineOf(ex.liquidity, v.ID).Format(v.Digits))
		w.Text("house", lineOf(ex.liquidity, v.ID).Format(v.Digits)) // its name before, for one release
		w.Text("transferred", lineOf(ex.transferred, v.ID).Format(v.Digits))
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
	c.Out = w.Dst
	return nil
}
