package sandbox

import (
	"container/heap"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// treasury is the exchange's data beside the venue's balances: the rules of its assets, the fee
// schedule, and the transfers under way.
type treasury struct {
	assets         []*assetRules // by market.AssetID, from 1
	assetsBySymbol []*assetRules // by symbol
	tiers          []tier
	currency       market.AssetID // of the tiers; 0: the exchange does not have it
	currencyDigits uint8
	rated          []*market.Market // by market.ID, from 1: QUOTE-EUR, or nil
	nextTierUpdate market.Time      // time of the next computation of the tiers
	inFlight       inFlight
	number         int64 // of the transfers and transactions so far
}

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

// openTreasury reads the config's assets and fee schedule. It needs config, catalog, venue and
// accounts, and adds its duties.
func (ex *Exchange) openTreasury(now market.Time) error {
	for _, asset := range ex.catalog.Assets() {
		v, err := ex.openAssetRules(asset)
		if err != nil {
			return fmt.Errorf("asset %s: %w", asset.Symbol, err)
		}
		ex.assets = append(ex.assets, v)
	}
	ex.assetsBySymbol = slices.SortedFunc(slices.Values(ex.assets),
		func(a, b *assetRules) int { return strings.Compare(a.Symbol, b.Symbol) })
	ex.schedule = append(ex.schedule, &transferSchedule{ex})
	return ex.openTiers(now)
}

// stageDuration returns how long a transfer of the asset is in a status.
func (ex *Exchange) stageDuration(v *assetRules, status transferState) market.Duration {
	switch status {
	case transferConfirming:
		return v.blocks(v.config.Confirmations)
	case transferInMempool:
		return v.blocks(1)
	case transferProcessed:
		return v.blocks(v.config.Confirmations - 1)
	}
	if ex.config.Rules.WithdrawalStage == 0 {
		return defaultWithdrawalStage
	}
	return max(ex.config.Rules.WithdrawalStage, 0)
}

// nextID names a transfer or a transaction: as the venue names orders and trades, with a kind of
// its own and no market.
func (ex *Exchange) nextID() (id uuid.UUID) {
	const kind = 2
	ex.number++
	id[8] = kind
	for i := range 6 {
		id[15-i] = byte(ex.number >> (8 * i))
	}
	return id
}

// startStage begins a status of a transfer.
func (ex *Exchange) startStage(t *transfer, status transferState, at market.Time) {
	t.Status, t.Due = status, at.Add(ex.stageDuration(ex.assets[t.Asset-1], status))
	heap.Push(&ex.inFlight, t)
	ex.store.markTransfer(t)
}

// transferSchedule brings transfers to their next status when it is due.
type transferSchedule struct{ ex *Exchange }

func (c *transferSchedule) due() market.Time {
	if len(c.ex.inFlight) == 0 {
		return never
	}
	return c.ex.inFlight[0].Due
}

func (c *transferSchedule) run(at market.Time) {
	c.ex.nextStage(heap.Pop(&c.ex.inFlight).(*transfer), at)
}

// nextStage brings a transfer to its next status.
func (ex *Exchange) nextStage(t *transfer, at market.Time) {
	v, next := ex.assets[t.Asset-1], nextStatus[t.Status]
	if v.fiat && next == transferInMempool {
		next = transferProcessed
	}
	switch {
	case t.Status == transferConfirming:
		ex.credit(t, at)
	case next == transferCompleted:
		t.Status, t.Due = next, never
		ex.store.markTransfer(t)
	default:
		if next == transferSending && !v.fiat {
			t.TxID = digest("transaction", t.ID.String())
		}
		ex.startStage(t, next, at)
	}
}

// cancelTransfer ends a transfer before it has arrived or been sent: a deposit is not credited, a
// withdrawal is given back. Only the operator can do it; 205: no transfer of that id can be
// canceled any more.
func (ex *Exchange) cancelTransfer(id uuid.UUID, at market.Time) *exchange.Error {
	place := slices.IndexFunc(ex.inFlight, func(t *transfer) bool { return t.ID == id })
	if place < 0 {
		return exchange.Invalid("transactionId")
	}
	t := ex.inFlight[place]
	switch t.Status {
	case transferConfirming:
		ex.listDeposit(t, transferCanceled, at)
	case transferAwaitingProcessing, transferApproved:
		if err := ex.giveBack(t, at); err != nil {
			return exchange.Invalid("transactionId") // the balance has no room for it
		}
	default:
		return exchange.Invalid("transactionId")
	}
	heap.Remove(&ex.inFlight, place)
	t.Due = never
	ex.store.markTransfer(t)
	return nil
}

// kept returns the number of rows that an account's lists keep.
func (ex *Exchange) kept() int {
	if ex.config.Retention.Transactions == 0 {
		return defaultRetention
	}
	return ex.config.Retention.Transactions
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
func (ex *Exchange) list(rows []*transfer, t *transfer, listed *uint64) []*transfer {
	*listed++
	t.Place = *listed
	ex.store.markTransfer(t)
	if gone := len(rows) - ex.kept(); gone >= 0 {
		ex.store.markTransfer(rows[gone])
	}
	return remember(rows, t, ex.kept())
}

// latest returns the last rows, at most limit.
func latest[T any](rows []T, limit int) []T { return rows[max(0, len(rows)-limit):] }

// listTransfers answers a history: newest first, of one asset or all, between two times.
func (ex *Exchange) listTransfers(c *api.Call, rows []*transfer) {
	limit, start, end := c.Integer("limit", 500), c.Integer("start", 0), c.Integer("end", lastMillis)
	w := wire.Writer{Dst: c.Out}
	w.Open('[')
	rows = latest(rows, ex.kept())
	for i, count := len(rows)-1, 0; i >= 0 && count < int(limit); i-- {
		t, v := rows[i], ex.assets[rows[i].Asset-1]
		if at := t.Listed.Millis(); at < start || at > end || c.Has("symbol") && c.Text("symbol") != v.Symbol {
			continue
		}
		writeTransfer(&w, t, v)
		count++
	}
	w.Close(']')
	c.Out = w.Dst
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
