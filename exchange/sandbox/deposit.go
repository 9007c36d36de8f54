package sandbox

import (
	"errors"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// The bank account of the exchange: made up, with right check digits.
const (
	ownIBAN = "NL46TIDE0123456789"
	ownBIC  = "TIDENL2A"
)

// getDeposit answers GET /deposit with the account's address for deposits of an asset, always the
// same.
func (b *bank) getDeposit(c *api.Call) *exchange.Error {
	v := b.assetNamed(c.Text("symbol"))
	if !v.open() {
		return exchange.ErrCode(401)
	}
	address, reference := v.depositAddress(b.accounts.caller(c))
	return object(c, func(w *wire.Writer) {
		if v.fiat {
			w.Text("iban", address)
			w.Text("bic", ownBIC)
			w.Text("description", reference)
		} else {
			w.Text("address", address)
			w.Text("paymentId", reference)
		}
	})
}

// depositAddress returns the address of an account's deposits, and the reference that marks them as
// the account's: the description of a bank transfer, the paymentId of a coin.
func (v *assetRules) depositAddress(a *account) (address, reference string) {
	hash := digest("deposit", a.name, v.Symbol)[2:]
	if v.fiat {
		return ownIBAN, strings.ToUpper(hash[:10])
	}
	number, _ := strconv.ParseUint(hash[56:], 16, 32) // eight hexadecimal digits always are one
	return "0x" + hash[:40], strconv.FormatUint(number, 10)
}

// getDepositHistory answers GET /depositHistory. A deposit is in it from when it is credited or
// canceled, and that is its timestamp: its statuses know no other (venue-facts 1.4).
func (b *bank) getDepositHistory(c *api.Call) *exchange.Error {
	return b.listTransfers(c, b.accounts.caller(c).deposits)
}

// deposit lets an amount arrive for an account; the exchange keeps its fee. The rest is credited
// after the confirmations, at once if the asset needs none. Errors: 205 for an unknown account or
// asset and for an amount that is not above the fee, 429 for too many decimals, 401 for an asset
// that is not open.
func (b *bank) deposit(name, symbol, amount string, at market.Time) (*transfer, *exchange.Error) {
	a, asset := b.accounts.named(name), b.catalog.AssetNamed(symbol)
	switch {
	case a == nil:
		return nil, exchange.Invalid("account")
	case asset == nil:
		return nil, exchange.Invalid("symbol")
	}
	v := b.assets[asset.ID-1]
	money, refused := v.amount(amount)
	switch {
	case refused != nil:
		return nil, refused
	case !v.open():
		return nil, exchange.ErrCode(401)
	case money <= v.depositFee:
		return nil, exchange.Invalid("amount")
	}
	t := &transfer{ID: b.nextID(), Account: a.id, Asset: v.ID, Amount: money - v.depositFee, Fee: v.depositFee,
		Due: never, Deposit: true}
	t.Address, t.PaymentID = v.depositAddress(a)
	if v.fiat {
		t.PaymentID = ""
	} else {
		t.TxID = digest("transaction", t.ID.String())
	}
	if b.stageDuration(v, transferConfirming) > 0 {
		b.startStage(t, transferConfirming, at)
		return t, nil
	}
	b.credit(t, at)
	return t, nil
}

// credit adds a deposit to the balance. A deposit that would overflow the balance is canceled.
func (b *bank) credit(t *transfer, at market.Time) {
	if err := b.transfer(t.Account, t.Asset, t.Amount); err != nil {
		b.listDeposit(t, transferCanceled, at)
		return
	}
	b.listDeposit(t, transferCompleted, at)
	b.addTransaction(b.accounts[t.Account], transaction{
		ID: t.ID, At: at, Type: typeDeposit, Received: share{t.Asset,
			t.Amount}, Fees: market.ValueOf(int64(t.Fee)), FeesAsset: t.Asset, Address: t.Address,
	})
}

// listDeposit ends a deposit and adds it to its account's history.
func (b *bank) listDeposit(t *transfer, status transferState, at market.Time) {
	t.Status, t.Listed, t.Due = status, at, never
	a := b.accounts[t.Account]
	a.deposits = b.list(a.deposits, t, &a.depositsListed)
}

// amountError is the refusal of a transfer's amount: too many decimals, too large, not above zero.
func amountError(err error, n int64) *exchange.Error {
	switch {
	case errors.Is(err, market.ErrInexact):
		return exchange.TooManyDecimals("amount")
	case errors.Is(err, market.ErrOverflow):
		return exchange.ErrCode(exchange.CodeAmountTooLarge)
	case err != nil || n <= 0:
		return exchange.Invalid("amount")
	}
	return nil
}
