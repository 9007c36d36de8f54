package sandbox

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// transfer changes a balance from outside, and the books with it.
func (b *bank) transfer(id sim.AccountID, asset market.AssetID, money market.Money) error {
	if err := b.venue.Transfer(id, asset, money); err != nil {
		return err
	}
	b.transferred = addMoney(b.transferred, asset, money)
	return nil
}

// addMoney adds money to the line of an asset.
func addMoney(lines []market.Value, asset market.AssetID, money market.Money) []market.Value {
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

// sumOf returns the sum in the line of an asset, 0 without a line.
func sumOf(lines []market.Value, asset market.AssetID) market.Value {
	if int(asset) < len(lines) {
		return lines[asset]
	}
	return market.Value{}
}

// adminLedger answers GET /admin/ledger: accounts plus liquidity is transferred, of every asset at
// every moment.
func (b *bank) adminLedger(c *api.Call) *exchange.Error {
	return object(c, func(w *wire.Writer) {
		w.Key("accounts")
		w.Open('[')
		for _, a := range b.accounts {
			w.Open('{')
			w.Text("account", a.name)
			w.Key("balances")
			b.appendBalances(w, a, "")
			w.Close('}')
		}
		w.Close(']')
		w.Key("assets")
		w.Open('[')
		for _, v := range b.assetsBySymbol {
			total := market.Value{}
			for _, a := range b.accounts {
				total, _ = total.Add(market.ValueOf(int64(b.venue.BalanceOf(a.id, v.ID).Total))) // as in book
			}
			w.Open('{')
			w.Text("symbol", v.Symbol)
			w.Text("accounts", total.Format(v.Digits))
			w.Text("liquidity", sumOf(b.liquidity, v.ID).Format(v.Digits))
			w.Text("transferred", sumOf(b.transferred, v.ID).Format(v.Digits))
			w.Close('}')
		}
		w.Close(']')
	})
}
