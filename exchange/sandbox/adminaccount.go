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
func (ex *Exchange) adminDeposit(c *api.Call) *exchange.Error {
	t, refused := ex.deposit(c.Text("account"), c.Text("symbol"), c.Text("amount"), c.Now)
	if refused != nil {
		return refused
	}
	w := wire.Writer{Dst: c.Out}
	ex.appendUnderWay(&w, t, typeDeposit)
	c.Out = w.Dst
	return nil
}

// adminTransfers answers GET /admin/transfers: the transfers under way, by the time of their next
// status.
func (ex *Exchange) adminTransfers(c *api.Call) *exchange.Error {
	rows := slices.SortedFunc(slices.Values(ex.inFlight), func(a, b *transfer) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), strings.Compare(string(a.ID[:]), string(b.ID[:])))
	})
	w := wire.Writer{Dst: c.Out}
	w.Open('[')
	for _, t := range rows {
		ex.appendUnderWay(&w, t, t.way())
	}
	w.Close(']')
	c.Out = w.Dst
	return nil
}

// adminCancelTransfer answers POST /admin/cancelTransfer with the canceled transfer; 205: it is too
// late.
func (ex *Exchange) adminCancelTransfer(c *api.Call) *exchange.Error {
	id := c.UUID("transactionId")
	place := slices.IndexFunc(ex.inFlight, func(t *transfer) bool { return t.ID == id })
	if place < 0 {
		return exchange.Invalid("transactionId")
	}
	t := ex.inFlight[place]
	way := t.way()
	if refused := ex.cancelTransfer(id, c.Now); refused != nil {
		return refused
	}
	w := wire.Writer{Dst: c.Out}
	ex.appendUnderWay(&w, t, way)
	c.Out = w.Dst
	return nil
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
func (ex *Exchange) appendUnderWay(w *wire.Writer, t *transfer, way string) {
	v := ex.assets[t.Asset-1]
	w.Open('{')
	w.Text("transactionId", t.ID.String())
	w.Text("account", ex.accounts[t.Account].name)
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
