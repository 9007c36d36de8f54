package sandbox

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
)

// adminDeposit answers POST /admin/deposit with the transfer that has begun.
func (b *bank) adminDeposit(c *api.Call) *exchange.Error {
	t, refused := b.deposit(c.Text("account"), c.Text("symbol"), c.Text("amount"), c.Now)
	if refused != nil {
		return refused
	}
	return respond(c, func(w *wire.Writer) { b.appendUnderWay(w, t, typeDeposit) })
}

// adminTransfers answers GET /admin/transfers: the transfers under way, by the time of their next
// status.
func (b *bank) adminTransfers(c *api.Call) *exchange.Error {
	rows := slices.SortedFunc(slices.Values(b.inFlight), func(a, b *transfer) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), strings.Compare(string(a.ID[:]), string(b.ID[:])))
	})
	return list(c, func(w *wire.Writer) {
		for _, t := range rows {
			b.appendUnderWay(w, t, t.way())
		}
	})
}

// adminCancelTransfer answers POST /admin/cancelTransfer with the canceled transfer; 205: it is too
// late.
func (b *bank) adminCancelTransfer(c *api.Call) *exchange.Error {
	id := c.UUID("transactionId")
	place := slices.IndexFunc(b.inFlight, func(t *transfer) bool { return t.ID == id })
	if place < 0 {
		return exchange.Invalid("transactionId")
	}
	t := b.inFlight[place]
	way := t.way()
	if refused := b.cancelTransfer(id, c.Now); refused != nil {
		return refused
	}
	return respond(c, func(w *wire.Writer) { b.appendUnderWay(w, t, way) })
}

// way returns the type of a transfer under way: only deposits wait for their confirmations.
func (t *transfer) way() string {
	if t.Status == transferConfirming {
		return typeDeposit
	}
	return typeWithdrawal
}

// appendUnderWay writes a transfer for the operator. due is when it goes on; Unix ms, null: it has
// ended.
func (b *bank) appendUnderWay(w *wire.Writer, t *transfer, way string) {
	v := b.assets[t.Asset-1]
	w.Open('{')
	w.Text("transactionId", t.ID.String())
	w.Text("account", b.accounts[t.Account].name)
	w.Text("type", way)
	w.Text("symbol", v.Symbol)
	w.Fixed("amount", int64(t.Amount), v.Digits)
	w.Fixed("fee", int64(t.Fee), v.Digits)
	w.Text("status", cmp.Or(transferStatuses[t.Status], "confirming"))
	if t.Due == never {
		w.Null("due")
	} else {
		w.Integer("due", t.Due.Millis())
	}
	w.Close('}')
}
