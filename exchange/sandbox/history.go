package sandbox

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// The types of transactions that happen here; the others of transactionTypes never do.
const (
	typeSell                = "sell"
	typeBuy                 = "buy"
	typeDeposit             = "deposit"
	typeWithdrawal          = "withdrawal"
	typeWithdrawalCancelled = "withdrawal_cancelled"
)

// transaction is one change of an account's balances: they lost Sent and gained Received, fees
// included. A complete history adds up to the balances.
type transaction struct {
	ID             uuid.UUID
	At             market.Time
	Type           string
	Market         market.ID    // of a trade; 0: none
	Price          market.Price // of a trade
	Sent, Received share        // asset 0: nothing
	Fees           market.Value // at the market's ValueDigits, or the asset's Digits where there is no market
	FeesAsset      market.AssetID
	Address        string // "": none
}

// share is an amount of an asset.
type share struct {
	Asset market.AssetID
	Money market.Money
}

// traded books a fill of an account: the volume for its tier, and its transaction. The venue has
// moved the money already.
func (b *bank) traded(a *account, f *market.Fill) {
	m := b.catalog.Market(f.Market)
	b.addTurnover(a, m, f)
	cash, err := cashOf(m, f)
	if err != nil {
		panic(fmt.Sprintf("sandbox: fill %s of order %d in %s: %s", f.ID, f.Order, m.Name, err))
	}
	t := transaction{ID: b.nextID(), At: f.Time, Market: m.ID, Price: f.Price, Fees: f.Fee, FeesAsset: m.Quote}
	base, quote := share{m.Base, market.Money(f.Amount)}, share{m.Quote, cash}
	if f.Side == market.Buy {
		t.Type, t.Sent, t.Received = typeBuy, quote, base
	} else {
		t.Type, t.Sent, t.Received = typeSell, base, quote
	}
	// the house has what the account sent, and has given what it received; of a trade between two
	// accounts the fees remain
	b.liquidity = addMoney(b.liquidity, t.Sent.Asset, t.Sent.Money)
	b.liquidity = addMoney(b.liquidity, t.Received.Asset, -t.Received.Money)
	b.addTransaction(a, t)
}

// cashOf returns the quote that a fill moved: price times amount, and the fee that a buyer pays on
// top or a seller goes without.
func cashOf(m *market.Market, f *market.Fill) (market.Money, error) {
	exact, err := m.Value(f.Price, f.Amount)
	if err != nil {
		return 0, err
	}
	if f.Side == market.Buy {
		exact, err = exact.Add(f.Fee)
	} else {
		exact, err = exact.Sub(f.Fee)
	}
	if err != nil {
		return 0, err
	}
	return exact.ExactMoney(m.MoneyDrop())
}

// addTransaction adds a transaction to an account's history.
func (b *bank) addTransaction(a *account, t transaction) {
	a.transactions = remember(a.transactions, t, b.config.Retention.Transactions)
	a.transactionRows.total++
	b.store.markAccount(a)
}

// getHistory answers GET /account/history: a page of the transactions of one type or all, from
// fromDate up to toDate, newest first. There is always a first page.
func (b *bank) getHistory(c *api.Call) *exchange.Error {
	page, size := c.Integer("page", 1), c.Integer("maxItems", 100)
	from, to := c.Integer("fromDate", 0), c.Integer("toDate", lastMillis)
	rows := latest(b.accounts.caller(c).transactions, b.config.Retention.Transactions)
	return object(c, func(w *wire.Writer) {
		w.Key("items")
		w.Open('[')
		first, count := (page-1)*size, int64(0)
		for i := len(rows) - 1; i >= 0; i-- {
			t := &rows[i]
			if at := t.At.Millis(); at < from || at > to || c.Has("type") && c.Text("type") != t.Type {
				continue
			}
			if count >= first && count < first+size {
				b.appendTransaction(w, t)
			}
			count++
		}
		w.Close(']')
		w.Integer("currentPage", page)
		w.Integer("totalPages", max(1, (count+size-1)/size))
		w.Integer("maxItems", size)
	})
}

// appendTransaction writes one item. Price, sent and received depend on its type; all other fields
// are always there.
func (b *bank) appendTransaction(w *wire.Writer, t *transaction) {
	w.Open('{')
	w.Text("transactionId", t.ID.String())
	w.Text("executedAt", t.At.Std().Format(isoMillis))
	w.Text("type", t.Type)
	digits := b.catalog.Asset(t.FeesAsset).Digits
	if t.Market != 0 {
		m := b.catalog.Market(t.Market)
		digits = m.ValueDigits
		w.Text("priceCurrency", b.catalog.Asset(m.Quote).Symbol)
		w.Fixed("priceAmount", int64(t.Price), m.PriceDigits)
	}
	b.appendShare(w, "sentCurrency", "sentAmount", t.Sent)
	b.appendShare(w, "receivedCurrency", "receivedAmount", t.Received)
	w.Text("feesCurrency", b.catalog.Asset(t.FeesAsset).Symbol)
	w.Text("feesAmount", t.Fees.Format(digits))
	if t.Address == "" {
		w.Null("address")
	} else {
		w.Text("address", t.Address)
	}
	w.Close('}')
}

func (b *bank) appendShare(w *wire.Writer, currency, amount string, s share) {
	if s.Asset == 0 {
		return
	}
	asset := b.catalog.Asset(s.Asset)
	w.Text(currency, asset.Symbol)
	w.Fixed(amount, int64(s.Money), asset.Digits)
}
