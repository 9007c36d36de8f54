package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// defaultWithdrawalStage is the time of a withdrawal in each status up to sending.
const defaultWithdrawalStage = 10 * time.Second

// maxAddress is how many bytes an address or a paymentId may have.
const maxAddress = 128

// postWithdrawal answers POST /withdrawal. The fee is part of amount, or comes on top of it with
// addWithdrawalFee; the answer's amount leaves the balance at once. The
// checks come in this order: internal (205), amount (205, 429, 210), address (412, of a bank 409)
// and paymentId (205), the asset's status (410), its minimum (406), the balance (408).
func (b *bank) postWithdrawal(c *api.Call) *exchange.Error {
	if c.Flag("internal", false) {
		return exchange.Invalid("internal")
	}
	v := b.assetNamed(c.Text("symbol"))
	t, refused := b.startWithdrawal(c, v, c.Flag("addWithdrawalFee", false), "paymentId", uuid.Nil)
	if refused != nil {
		return refused
	}
	return object(c, func(w *wire.Writer) {
		w.Key("success")
		w.Dst = append(w.Dst, "true"...)
		w.Text("symbol", v.Symbol)
		w.Fixed("amount", int64(t.Amount+t.Fee), v.Digits)
	})
}

// The bounds of an idempotencyKey (websocket-facts 8).
const (
	minIdempotencyKey = 5
	maxIdempotencyKey = 50
)

// postCryptoWithdrawal answers POST /crypto/withdrawal (venue-facts 1.4) with 201. Names and types
// of the members are the facts'; the rest is inferred: the fee comes on top unless
// deductFeeFromAmount is true, the answer's amount is what arrives, a bank's asset and an unknown
// network are 205, and the other checks are those of POST /withdrawal. An idempotencyKey names the
// withdrawal: the same one again answers the first withdrawal while the account's list has it.
func (b *bank) postCryptoWithdrawal(c *api.Call) *exchange.Error {
	v, network := b.assetNamed(c.Text("asset")), c.Text("network")
	switch {
	case v.fiat:
		return exchange.Invalid("asset")
	case !slices.Contains(v.config.networks(v.Symbol), network):
		return exchange.Invalid("network")
	}
	var id uuid.UUID
	if key := c.Text("idempotencyKey"); c.Has("idempotencyKey") {
		if n := utf8.RuneCountInString(key); n < minIdempotencyKey || n > maxIdempotencyKey {
			return exchange.Invalid("idempotencyKey")
		}
		id = uuid.NewSHA1(uuid.Nil, []byte(b.accounts.caller(c).name+" withdraws "+key))
	}
	earlier := b.accounts.caller(c).withdrawals
	at := slices.IndexFunc(earlier, func(t *transfer) bool { return id != uuid.Nil && t.ID == id })
	var t *transfer
	if at >= 0 {
		t = earlier[at]
	} else {
		var refused *exchange.Error
		if t, refused = b.startWithdrawal(c, v, !c.Flag("deductFeeFromAmount", false), "memo", id); refused != nil {
			return refused
		}
	}
	w := wire.Writer{Dst: c.Out}
	w.Open('{')
	w.ID("id", t.ID)
	w.Text("asset", b.assets[t.Asset-1].Symbol)
	w.Text("network", network)
	w.Text("address", t.Address)
	w.Fixed("amount", int64(t.Amount), b.assets[t.Asset-1].Digits)
	w.Fixed("fee", int64(t.Fee), b.assets[t.Asset-1].Digits)
	w.Text("createdAt", c.Skewed(t.Listed).Std().UTC().Format(isoMillis))
	w.Close('}')
	c.Out, c.Status = w.Dst, http.StatusCreated
	return nil
}

// startWithdrawal checks a withdrawal and takes it from the balance, with the fee on top of its
// amount or inside. note is the parameter beside the address. The withdrawal gets an id, or the
// next one.
func (b *bank) startWithdrawal(c *api.Call, v *assetRules, onTop bool, note string,
	id uuid.UUID) (*transfer, *exchange.Error) {
	amount, refused := v.checkWithdrawal(c, note)
	if refused != nil {
		return nil, refused
	}
	total := amount
	if onTop {
		var err error
		if total, err = market.Add(amount, v.withdrawalFee); err != nil {
			return nil, exchange.ErrCode(exchange.CodeAmountTooLarge)
		}
	}
	balance := b.venue.BalanceOf(b.accounts.caller(c).id, v.ID)
	switch {
	case !v.open():
		return nil, exchange.ErrCode(410)
	case amount < v.withdrawalMin || total <= v.withdrawalFee:
		return nil, exchange.ErrCode(406)
	case total > balance.Total-balance.Held:
		return nil, exchange.ErrCode(408)
	}
	if id == uuid.Nil {
		id = b.nextID()
	}
	t := &transfer{ID: id, Account: b.accounts.caller(c).id, Asset: v.ID, Amount: total - v.withdrawalFee,
		Fee: v.withdrawalFee, Address: c.Text("address"), PaymentID: c.Text(note), Listed: c.Now}
	b.withdraw(b.accounts.caller(c), v, t)
	return t, nil
}

// checkWithdrawal reads the amount and makes the checks that need no state of the exchange.
func (v *assetRules) checkWithdrawal(c *api.Call, note string) (market.Money, *exchange.Error) {
	amount, refused := v.amount(c.Text("amount"))
	address, payment := c.Text("address"), c.Text(note)
	switch {
	case refused != nil:
		return 0, refused
	case v.tooMuch(amount):
		return 0, exchange.ErrCode(exchange.CodeAmountTooLarge)
	case v.fiat && !validIBAN(address):
		return 0, exchange.ErrCode(409)
	case !v.fiat && !validAddress(address):
		return 0, exchange.ErrCode(412, strings.ToLower(v.Symbol))
	case payment != "" && !validAddress(payment):
		return 0, exchange.Invalid(note)
	}
	return amount, nil
}

// withdraw takes a transfer's amount and fee from the balance and begins it. The caller has checked
// the balance.
func (b *bank) withdraw(a *account, v *assetRules, t *transfer) {
	total := t.Amount + t.Fee
	if err := b.transfer(a.id, v.ID, -total); err != nil {
		panic(fmt.Sprintf("sandbox: withdraw %d of %s from %s: %s", total, v.Symbol, a.name, err))
	}
	b.startStage(t, transferAwaitingProcessing, t.Listed)
	a.withdrawals = b.list(a.withdrawals, t, &a.withdrawalsListed)
	b.addTransaction(a, transaction{
		ID: t.ID, At: t.Listed, Type: typeWithdrawal, Sent: share{v.ID,
			total}, Fees: market.ValueOf(int64(t.Fee)), FeesAsset: v.ID, Address: t.Address,
	})
}

// giveBack cancels a withdrawal and returns its amount and fee to the balance.
func (b *bank) giveBack(t *transfer, at market.Time) error {
	total := t.Amount + t.Fee
	if err := b.transfer(t.Account, t.Asset, total); err != nil {
		return err
	}
	t.Status = transferCanceled
	b.addTransaction(b.accounts[t.Account], transaction{ID: b.nextID(), At: at, Type: typeWithdrawalCancelled,
		Received: share{t.Asset, total}, FeesAsset: t.Asset, Address: t.Address})
	return nil
}

// getWithdrawalHistory answers GET /withdrawalHistory, by the time of the request.
func (b *bank) getWithdrawalHistory(c *api.Call) *exchange.Error {
	return b.listTransfers(c, b.accounts.caller(c).withdrawals)
}

// validAddress reports whether a text can be the address of a coin: printable, without spaces, at
// most 128 bytes. What a real network would say is not checked.
func validAddress(text string) bool {
	if text == "" || len(text) > maxAddress || !utf8.ValidString(text) {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) })
}

// validIBAN reports whether a text is the number of a bank account in capitals and without spaces,
// with right check digits (ISO 13616: the first four characters moved to the end, letters as 10 to
// 35, the rest of a division by 97 is 1).
func validIBAN(text string) bool {
	if len(text) < 15 || len(text) > 34 {
		return false
	}
	for i := range 4 {
		if letter := text[i] >= 'A' && text[i] <= 'Z'; letter != (i < 2) || !letter &&
			(text[i] < '0' || text[i] > '9') {
			return false
		}
	}
	rest := 0
	for _, r := range text[4:] + text[:4] {
		switch {
		case r >= '0' && r <= '9':
			rest = (rest*10 + int(r-'0')) % 97
		case r >= 'A' && r <= 'Z':
			rest = (rest*100 + int(r-'A') + 10) % 97
		default:
			return false
		}
	}
	return rest == 1
}
