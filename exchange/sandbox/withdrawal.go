package sandbox

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/door"
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
func (ex *Exchange) postWithdrawal(c *door.Call) *exchange.Error {
	v := ex.assetNamed(c.Text("symbol"))
	amount, refused := v.checkWithdrawal(c)
	if refused != nil {
		return refused
	}
	total := amount
	if c.Flag("addWithdrawalFee", false) {
		var err error
		if total, err = market.Add(amount, v.withdrawalFee); err != nil {
			return exchange.ErrCode(exchange.CodeAmountTooLarge)
		}
	}
	balance := ex.venue.BalanceOf(ex.caller(c).id, v.ID)
	switch {
	case !v.open():
		return exchange.ErrCode(410)
	case amount < v.withdrawalMin || total <= v.withdrawalFee:
		return exchange.ErrCode(406)
	case total > balance.Total-balance.Held:
		return exchange.ErrCode(408)
	}
	ex.withdraw(ex.caller(c), v, total, c.Text("address"), c.Text("paymentId"), c.Now)
	w := wire.Writer{Dst: c.Out}
	w.Open('{')
	w.Key("success")
	w.Dst = append(w.Dst, "true"...)
	w.Text("symbol", v.Symbol)
	w.Fixed("amount", int64(total), v.Digits)
	w.Close('}')
	c.Out = w.Dst
	return nil
}

// checkWithdrawal reads the amount and makes the checks that need no state of the exchange.
func (v *assetRules) checkWithdrawal(c *door.Call) (market.Money, *exchange.Error) {
	if c.Flag("internal", false) {
		return 0, exchange.Invalid("internal")
	}
	amount, refused := v.amount(c.Text("amount"))
	address, payment := c.Text("address"), c.Text("paymentId")
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
		return 0, exchange.Invalid("paymentId")
	}
	return amount, nil
}

// withdraw takes total from the balance and sends total less the fee. The caller has checked the
// balance.
func (ex *Exchange) withdraw(a *account, v *assetRules, total market.Money, address, payment string, at market.Time) {
	if err := ex.transfer(a.id, v.ID, -total); err != nil {
		panic(fmt.Sprintf("sandbox: withdraw %d of %s from %s: %s", total, v.Symbol, a.name, err))
	}
	t := &transfer{
		ID: ex.nextID(), Account: a.id, Asset: v.ID, Amount: total - v.withdrawalFee, Fee: v.withdrawalFee,
		Address: address, PaymentID: payment, Listed: at,
	}
	ex.startStage(t, transferAwaitingProcessing, at)
	a.withdrawals = ex.list(a.withdrawals, t, &a.withdrawalsListed)
	ex.addTransaction(a, transaction{
		ID: t.ID, At: at, Type: typeWithdrawal, Sent: share{v.ID,
			total}, Fees: market.ValueOf(int64(t.Fee)), FeesAsset: v.ID, Address: address,
	})
}

// giveBack cancels a withdrawal and returns its amount and fee to the balance.
func (ex *Exchange) giveBack(t *transfer, at market.Time) error {
	total := t.Amount + t.Fee
	if err := ex.transfer(t.Account, t.Asset, total); err != nil {
		return err
	}
	t.Status = transferCanceled
	ex.addTransaction(ex.accounts[t.Account], transaction{ID: ex.nextID(), At: at, Type: typeWithdrawalCancelled,
		Received: share{t.Asset, total}, FeesAsset: t.Asset, Address: t.Address})
	return nil
}

// getWithdrawalHistory answers GET /withdrawalHistory, by the time of the request.
func (ex *Exchange) getWithdrawalHistory(c *door.Call) *exchange.Error {
	ex.listTransfers(c, ex.caller(c).withdrawals)
	return nil
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
