package sandbox

import (
	"cmp"
	"container/heap"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// transfers is an account's data beside its orders and balances.
type transfers struct {
	tier            int
	volume          market.Money // that gave the tier
	days            []dayVolume  // rising
	deposits        []*transfer  // by Listed
	withdrawals     []*transfer  // by Listed
	transactions    []transaction
	transactionRows rowCounter // of transactions

	depositsListed, withdrawalsListed uint64 // so far
}

// transfer is one deposit or withdrawal. Amount arrives, and the exchange keeps Fee: a deposit
// credits Amount, a withdrawal takes Amount and Fee from the balance.
type transfer struct {
	ID                       uuid.UUID
	Account                  sim.AccountID
	Asset                    market.AssetID
	Amount, Fee              market.Money
	Address, PaymentID, TxID string
	Status                   transferState
	Listed                   market.Time // its timestamp: of a withdrawal the request, of a deposit the end
	Due                      market.Time // of its next status; never: it has ended
	Deposit                  bool
	Place                    uint64 // in its account's list, from 1; 0: it is not listed yet
}

// transferState is where a transfer stands (venue-facts 1.4).
type transferState uint8

// The statuses. A withdrawal through the API needs no confirmation by e-mail (specification 5), and
// the simulated exchange inspects none: the statuses that wait for either do not occur.
const (
	transferConfirming transferState = iota + 1 // a deposit that lacks confirmations; no answer shows it
	transferAwaitingProcessing
	transferApproved
	transferSending
	transferInMempool
	transferProcessed
	transferCompleted
	transferCanceled
)

var transferStatuses = [...]string{transferAwaitingProcessing: "awaiting_processing", transferApproved: "approved",
	transferSending:   "sending",
	transferInMempool: "in_mempool", transferProcessed: "processed", transferCompleted: "completed",
	transferCanceled: "canceled"}

// nextStatus is the status after each, unless the transfer is canceled.
var nextStatus = [...]transferState{
	transferConfirming:         transferCompleted,
	transferAwaitingProcessing: transferApproved,
	transferApproved:           transferSending,
	transferSending:            transferInMempool,
	transferInMempool:          transferProcessed, // in its first block
	transferProcessed:          transferCompleted,
	transferCanceled:           0,
}

// stageDuration returns how long a transfer of the asset is in a status.
func (b *bank) stageDuration(v *assetRules, status transferState) market.Duration {
	switch status {
	case transferConfirming:
		return v.blocks(v.config.Confirmations)
	case transferInMempool:
		return v.blocks(1)
	case transferProcessed:
		return v.blocks(v.config.Confirmations - 1)
	}
	return max(cmp.Or(b.config.Rules.WithdrawalStage, defaultWithdrawalStage), 0)
}

// startStage begins a status of a transfer.
func (b *bank) startStage(t *transfer, status transferState, at market.Time) {
	t.Status, t.Due = status, at.Add(b.stageDuration(b.assets[t.Asset-1], status))
	heap.Push(&b.inFlight, t)
	b.store.markTransfer(t)
}

// transferSchedule brings transfers to their next status when it is due.
type transferSchedule struct{ *bank }

func (c *transferSchedule) due() market.Time {
	if len(c.inFlight) == 0 {
		return never
	}
	return c.inFlight[0].Due
}

func (c *transferSchedule) run(at market.Time) {
	c.nextStage(heap.Pop(&c.inFlight).(*transfer), at)
}

// nextStage brings a transfer to its next status.
func (b *bank) nextStage(t *transfer, at market.Time) {
	v, next := b.assets[t.Asset-1], nextStatus[t.Status]
	if v.fiat && next == transferInMempool {
		next = transferProcessed
	}
	switch {
	case t.Status == transferConfirming:
		b.credit(t, at)
	case next == transferCompleted:
		t.Status, t.Due = next, never
		b.store.markTransfer(t)
	default:
		if next == transferSending && !v.fiat {
			t.TxID = digest("transaction", t.ID.String())
		}
		b.startStage(t, next, at)
	}
}

// cancelTransfer ends a transfer before it has arrived or been sent: a deposit is not credited, a
// withdrawal is given back. Only the operator can do it; 205: no transfer of that id can be
// canceled any more.
func (b *bank) cancelTransfer(id uuid.UUID, at market.Time) *exchange.Error {
	place := slices.IndexFunc(b.inFlight, func(t *transfer) bool { return t.ID == id })
	if place < 0 {
		return exchange.Invalid("transactionId")
	}
	t := b.inFlight[place]
	switch t.Status {
	case transferConfirming:
		b.listDeposit(t, transferCanceled, at)
	case transferAwaitingProcessing, transferApproved:
		if err := b.giveBack(t, at); err != nil {
			return exchange.Invalid("transactionId") // the balance has no room for it
		}
	default:
		return exchange.Invalid("transactionId")
	}
	heap.Remove(&b.inFlight, place)
	t.Due = never
	b.store.markTransfer(t)
	return nil
}

// remember appends a row. The list holds between limit and 2·limit rows and is trimmed in bulk.
func remember[T any](rows []T, row T, limit int) []T {
	if len(rows) >= 2*limit {
		kept := copy(rows, rows[len(rows)-limit+1:])
		clear(rows[kept:])
		rows = rows[:kept]
	}
	return append(rows, row)
}

// list appends a transfer to a list of its account. The transfer that leaves the list for it may
// leave the file, too.
func (b *bank) list(rows []*transfer, t *transfer, listed *uint64) []*transfer {
	*listed++
	t.Place = *listed
	b.store.markTransfer(t)
	if gone := len(rows) - b.config.Retention.Transactions; gone >= 0 {
		b.store.markTransfer(rows[gone])
	}
	return remember(rows, t, b.config.Retention.Transactions)
}

// latest returns the last rows, at most limit.
func latest[T any](rows []T, limit int) []T { return rows[max(0, len(rows)-limit):] }

// listTransfers answers a history: newest first, of one asset or all, between two times.
func (b *bank) listTransfers(c *api.Call, rows []*transfer) *exchange.Error {
	limit, start, end := c.Integer("limit", 500), c.Integer("start", 0), c.Integer("end", lastMillis)
	rows = latest(rows, b.config.Retention.Transactions)
	return list(c, func(w *wire.Writer) {
		for i, count := len(rows)-1, 0; i >= 0 && count < int(limit); i-- {
			t, v := rows[i], b.assets[rows[i].Asset-1]
			if at := t.Listed.Millis(); at < start || at > end || c.Has("symbol") && c.Text("symbol") != v.Symbol {
				continue
			}
			writeTransfer(w, t, v)
			count++
		}
	})
}

func writeTransfer(w *wire.Writer, t *transfer, v *assetRules) {
	w.Open('{')
	w.Integer("timestamp", t.Listed.Millis())
	w.Text("symbol", v.Symbol)
	w.Fixed("amount", int64(t.Amount), v.Digits)
	w.Fixed("fee", int64(t.Fee), v.Digits)
	w.Text("status", transferStatuses[t.Status])
	if t.TxID != "" {
		w.Text("txId", t.TxID)
	}
	w.Text("address", t.Address)
	if t.PaymentID != "" {
		w.Text("paymentId", t.PaymentID)
	}
	w.Close('}')
}

// inFlight is a heap of transfers by the time of their next status, then by age.
type inFlight []*transfer

func (h inFlight) Len() int { return len(h) }

func (h inFlight) Less(i, j int) bool {
	if h[i].Due != h[j].Due {
		return h[i].Due < h[j].Due
	}
	return strings.Compare(string(h[i].ID[:]), string(h[j].ID[:])) < 0
}

func (h inFlight) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push and Pop are those of container/heap.
func (h *inFlight) Push(t any) { *h = append(*h, t.(*transfer)) }

func (h *inFlight) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}

// digest makes a text that looks like a hash of a blockchain, always the same for the same texts.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "/")))
	return "0x" + hex.EncodeToString(sum[:])
}
